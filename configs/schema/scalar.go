package schema

import (
	"encoding"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/plain"
)

// scalar is the type of a leaf, or of the elements of a list.
type scalar interface {
	// parse accepts exactly the values that expected describes.
	parse(text string) (reflect.Value, bool)
	// text is the one way in which a value is written; parse reads it.
	text(v reflect.Value) string
	expected() string
	// name is the type in documentation, span its range.
	name() string
	span() string
	// values are the allowed names of an enumeration.
	values() []string
	// quotable reports whether YAML may quote it: names and strings, not numbers.
	quotable() bool
}

// maxNumber is the length of the longest number worth parsing.
const maxNumber = 80

// integer is any integer type of Go; big.Int covers int64 and uint64 alike.
type integer struct {
	typ      reflect.Type
	lo, hi   *big.Int
	full     bool     // lo..hi is the type's whole range
	multiple *big.Int // nil: any
	pow2     bool
	unit     string
}

func (s *integer) bytes() bool { return s.unit == "bytes" }

// sizes are the suffixes of bytes. K is KiB: no cache has 16,000 bytes, and the ambiguous KB is refused.
var sizes = []struct {
	suffix, short string
	shift         uint
}{{"GiB", "G", 30}, {"MiB", "M", 20}, {"KiB", "K", 10}}

func (s *integer) parseNumber(text string) (*big.Int, bool) {
	if len(text) > maxNumber {
		return nil, false
	}
	shift := uint(0)
	if s.bytes() {
		text, shift = cutSize(text)
	}
	// 010 is 8 to some readers and 10 to others.
	if digits := strings.TrimLeft(text, "+-"); len(digits) > 1 && digits[0] == '0' && digits[1] <= '9' {
		return nil, false
	}
	n, ok := new(big.Int).SetString(text, 0)
	if !ok {
		return nil, false
	}
	return n.Lsh(n, shift), true
}

func cutSize(text string) (string, uint) {
	for _, z := range sizes {
		for _, suffix := range []string{z.suffix, z.short} {
			if number, ok := strings.CutSuffix(text, suffix); ok && !strings.HasPrefix(text, "0x") {
				return strings.TrimRight(number, " "), z.shift
			}
		}
	}
	return text, 0
}

func (s *integer) parse(text string) (reflect.Value, bool) {
	n, ok := s.parseNumber(text)
	if !ok || !s.allows(n) {
		return reflect.Value{}, false
	}
	v := reflect.New(s.typ).Elem()
	if v.CanInt() {
		v.SetInt(n.Int64())
	} else {
		v.SetUint(n.Uint64())
	}
	return v, true
}

func (s *integer) allows(n *big.Int) bool {
	if n.Cmp(s.lo) < 0 || n.Cmp(s.hi) > 0 {
		return false
	}
	if s.pow2 && (n.Sign() <= 0 || n.TrailingZeroBits() != uint(n.BitLen()-1)) {
		return false
	}
	return s.multiple == nil || new(big.Int).Mod(n, s.multiple).Sign() == 0
}

func (s *integer) text(v reflect.Value) string {
	switch {
	case v.CanInt() && !s.bytes():
		return strconv.FormatInt(v.Int(), 10)
	case v.CanInt():
		return s.format(big.NewInt(v.Int()))
	case !s.bytes():
		return strconv.FormatUint(v.Uint(), 10)
	}
	return s.format(new(big.Int).SetUint64(v.Uint()))
}

func (s *integer) format(n *big.Int) string {
	if s.bytes() && n.Sign() != 0 {
		for _, z := range sizes {
			if n.TrailingZeroBits() >= z.shift {
				return new(big.Int).Rsh(n, z.shift).String() + z.suffix
			}
		}
	}
	return n.String()
}

func (s *integer) span() string {
	var parts []string
	if !s.full {
		parts = append(parts, s.format(s.lo)+".."+s.format(s.hi))
	}
	if s.pow2 {
		parts = append(parts, "power of two")
	}
	if s.multiple != nil {
		parts = append(parts, "multiple of "+s.format(s.multiple))
	}
	return strings.Join(parts, ", ")
}

func (s *integer) name() string {
	if s.bytes() {
		return "size"
	}
	return "integer"
}

func (s *integer) expected() string {
	what := "an integer"
	if s.bytes() {
		what = "a size such as 4096 or 64KiB,"
	}
	if s.full && !s.pow2 && s.multiple == nil {
		what = strings.TrimSuffix(what, ",") + fmt.Sprintf(" of %d bits", s.typ.Bits())
	}
	return what + spaced(s.span()) + unitText(s.unit)
}

func (*integer) values() []string { return nil }
func (*integer) quotable() bool   { return false }

type float struct {
	typ    reflect.Type
	lo, hi float64
	unit   string
}

func (s *float) parse(text string) (reflect.Value, bool) {
	if len(text) > maxNumber {
		return reflect.Value{}, false
	}
	x, err := strconv.ParseFloat(text, s.typ.Bits())
	// Hexadecimal floats and underscores are Go's, not YAML's.
	if err != nil || strings.ContainsAny(text, "xX_") || !(x >= s.lo && x <= s.hi) || math.IsInf(x, 0) {
		return reflect.Value{}, false
	}
	v := reflect.New(s.typ).Elem()
	v.SetFloat(x)
	return v, true
}

func (s *float) text(v reflect.Value) string { return s.format(v.Float()) }
func (s *float) format(x float64) string     { return strconv.FormatFloat(x, 'g', -1, s.typ.Bits()) }
func (s *float) expected() string            { return "a number " + s.span() + unitText(s.unit) }
func (s *float) span() string                { return s.format(s.lo) + ".." + s.format(s.hi) }
func (*float) name() string                  { return "number" }
func (*float) values() []string              { return nil }
func (*float) quotable() bool                { return false }

type boolean struct{ typ reflect.Type }

func (s *boolean) parse(text string) (reflect.Value, bool) {
	v := reflect.New(s.typ).Elem()
	v.SetBool(text == "true")
	return v, text == "true" || text == "false"
}

func (*boolean) text(v reflect.Value) string { return strconv.FormatBool(v.Bool()) }
func (*boolean) expected() string            { return "true or false" }
func (*boolean) span() string                { return "" }
func (*boolean) name() string                { return "boolean" }
func (*boolean) values() []string            { return []string{"false", "true"} }
func (*boolean) quotable() bool              { return false }

// freeText is any text that is shown as it is written: names of files and results go to terminals.
type freeText struct {
	typ   reflect.Type
	lines bool // there may be several
}

func (s *freeText) parse(text string) (reflect.Value, bool) {
	v := reflect.New(s.typ).Elem()
	v.SetString(text)
	if s.lines {
		text = strings.ReplaceAll(text, "\n", " ")
	}
	return v, plain.Is(text)
}

func (*freeText) text(v reflect.Value) string { return v.String() }
func (*freeText) expected() string            { return "a string" }
func (*freeText) span() string                { return "" }
func (*freeText) name() string                { return "string" }
func (*freeText) values() []string            { return nil }
func (*freeText) quotable() bool              { return true }

// enum is a string type, or a type that reads and writes itself as text.
type enum struct {
	typ    reflect.Type
	names  []string
	alias  func(text string) string // the name that another stands for, or the text itself; nil: there is none
	former func(name string) string // the name that Schema.Canonical writes; nil: the same
}

// aliased is a type of names some of which may be written otherwise. They are stored and printed under their own name.
type aliased interface{ Alias(text string) string }

// renamed is a type of names some of which had another one: Former returns it, or the name itself. Schema.Canonical
// writes it, so that hashes of configurations from before the change stand. Alias must accept it.
type renamed interface{ Former(name string) string }

func (s *enum) parse(text string) (reflect.Value, bool) {
	if s.alias != nil {
		text = s.alias(text)
	}
	if !slices.Contains(s.names, text) {
		return reflect.Value{}, false
	}
	v := reflect.New(s.typ)
	if u, ok := v.Interface().(encoding.TextUnmarshaler); ok {
		return v.Elem(), u.UnmarshalText([]byte(text)) == nil
	}
	v.Elem().SetString(text)
	return v.Elem(), true
}

func (s *enum) text(v reflect.Value) string {
	m, ok := v.Interface().(encoding.TextMarshaler)
	if !ok {
		return v.String()
	}
	b, err := m.MarshalText()
	if err != nil { // the schema's own names were tried when it was built
		return fmt.Sprintf("!%v", err)
	}
	return string(b)
}

func (s *enum) expected() string { return "one of " + strings.Join(s.names, ", ") }
func (s *enum) values() []string { return s.names }
func (*enum) span() string       { return "" }
func (*enum) name() string       { return "name" }
func (*enum) quotable() bool     { return true }

func spaced(s string) string {
	if s == "" {
		return ""
	}
	return " " + s
}

func unitText(unit string) string {
	if unit == "" {
		return ""
	}
	return " (" + unit + ")"
}
