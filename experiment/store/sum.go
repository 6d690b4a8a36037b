package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc64"
	"math"
)

// digest accumulates the fields of a row for its checksum.
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
			x = 0 // SQLite does not keep the sign of -0
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

// sum returns the checksum as a signed integer, since SQLite has no unsigned ones.
func (d *digest) sum() int64 { return int64(crc64.Checksum(*d, polynomial)) }

// damaged returns the error of a row with a wrong checksum.
func damaged(format string, args ...any) error {
	return fmt.Errorf("damaged: %s differs from its checksum", fmt.Sprintf(format, args...))
}
