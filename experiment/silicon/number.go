package silicon

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// Number is a float64 that may be missing: NaN, which JSON has as null.
type Number float64

// OK reports whether there is a number.
func (n Number) OK() bool { return !math.IsNaN(float64(n)) && !math.IsInf(float64(n), 0) }

// MarshalJSON is json.Marshaler's.
func (n Number) MarshalJSON() ([]byte, error) {
	if !n.OK() {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(n), 'g', 6, 64), nil
}

// UnmarshalJSON is json.Unmarshaler's.
func (n *Number) UnmarshalJSON(text []byte) error {
	if bytes.Equal(text, []byte("null")) {
		*n = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(text, (*float64)(n))
}

// text writes a number with some decimals; – if there is none.
func (n Number) text(decimals int) string {
	if !n.OK() {
		return "–"
	}
	return strconv.FormatFloat(float64(n), 'f', decimals, 64)
}

// percent writes a share of 1.
func (n Number) percent() string {
	if !n.OK() {
		return "–"
	}
	return strconv.FormatFloat(100*float64(n), 'f', 0, 64) + " %"
}
