package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc64"
	"math"
)

// digest gathers what a row says, for its checksum.
type digest []byte

func (d *digest) text(list ...string) *digest {
	for _, s := range list {
		*d = append(binary.AppendUvarint(*d, uint64(len(s))), s...)
	}
	return d
}

func (d *digest) ints(list ...int64) *digest {
	for _, n := range list {
		*d = binary.AppendVarint(*d, n)
	}
	return d
}

func (d *digest) floats(list ...float64) *digest {
	for _, x := range list {
		if x == 0 {
			x = 0 // SQLite does not keep its sign
		}
		*d = binary.LittleEndian.AppendUint64(*d, math.Float64bits(x))
	}
	return d
}

func (d *digest) truths(list ...bool) *digest {
	for _, b := range list {
		n := int64(0)
		if b {
			n = 1
		}
		d.ints(n)
	}
	return d
}

var polynomial = crc64.MakeTable(crc64.ECMA)

// sum is the checksum as SQLite has numbers.
func (d *digest) sum() int64 { return int64(crc64.Checksum(*d, polynomial)) }

// damaged is the error of rows that are not as they were written.
func damaged(format string, args ...any) error {
	return fmt.Errorf("damaged: %s is not what was stored (its checksum is another one)", fmt.Sprintf(format, args...))
}
