package isa

import (
	"encoding/binary"
	"go/format"
	"math/bits"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLaneLoopsAreCurrent(t *testing.T) {
	want, err := format.Source([]byte(generateLaneLoops()))
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile("lanes_gen.go", want, 0o644))
	}
	got, err := os.ReadFile("lanes_gen.go")
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "run go test ./isa -run LaneLoops -update")
}

// everyImplementation runs a test with vector instructions, if there are any, and without.
func everyImplementation(t *testing.T, test func(t *testing.T)) {
	t.Run("portable", func(t *testing.T) {
		defer useVectors(false)()
		test(t)
	})
	if vectors {
		t.Run("vectors", test)
	}
}

// drawnLanes draws values of every size, equal ones often.
func drawnLanes(r *rand.Rand, like *Lanes) (x Lanes) {
	for l := range x {
		switch r.IntN(8) {
		case 0:
			x[l] = like[l]
		case 1:
			x[l] = [...]uint32{0, 1, 1 << 31, 1<<31 - 1, 1<<32 - 1}[r.IntN(5)]
		default:
			x[l] = r.Uint32() >> r.IntN(32)
		}
	}
	return x
}

// drawnMask draws masks of all lanes, of the first, and any.
func drawnMask(r *rand.Rand) uint32 {
	return [...]uint32{1<<32 - 1, 1<<r.IntN(33) - 1, r.Uint32(), r.Uint32() & r.Uint32() & r.Uint32()}[r.IntN(4)]
}

func TestLaneLoopsEqualTheScalarFunction(t *testing.T) {
	everyImplementation(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, row := range All() {
			f, ok := row.Sem.(IntOp)
			if !ok {
				continue
			}
			for range 2000 {
				d := drawnLanes(r, &Lanes{})
				a := drawnLanes(r, &d)
				b, mask, want := drawnLanes(r, &a), drawnMask(r), d
				for l := range want {
					if mask>>l&1 != 0 {
						want[l] = f(a[l], b[l])
					}
				}
				got := d
				row.Lanes()(&got, &a, &b, mask)
				require.Equal(t, want, got, "%s, mask 0x%x", row.Name, mask)
			}
		}
	})
}

// An instruction may write what it reads.
func TestLaneLoopsOnOneRegister(t *testing.T) {
	everyImplementation(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, row := range All() {
			if _, ok := row.Sem.(IntOp); !ok {
				continue
			}
			a := drawnLanes(r, &Lanes{})
			b, mask := drawnLanes(r, &a), drawnMask(r)
			want := a
			row.Lanes()(&want, &a, &b, mask)
			x := a
			row.Lanes()(&x, &x, &b, mask)
			require.Equal(t, want, x, row.Name)
			want, x = b, b
			row.Lanes()(&want, &a, &b, mask)
			row.Lanes()(&x, &a, &x, mask)
			require.Equal(t, want, x, row.Name)
		}
	})
}

func TestLaneTestsEqualTheScalarFunction(t *testing.T) {
	everyImplementation(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for _, row := range All() {
			f, ok := row.Sem.(Branch)
			if !ok {
				continue
			}
			for range 2000 {
				a := drawnLanes(r, &Lanes{})
				b, want := drawnLanes(r, &a), uint32(0)
				for l := range a {
					want |= flag(f(a[l], b[l])) << l
				}
				require.Equal(t, want, row.Test()(&a, &b), row.Name)
			}
		}
	})
}

// Rows that have a name in a table of loops have one in the table of the scalar functions.
func TestVectorLoopsHaveScalarFunctions(t *testing.T) {
	for name := range vectorLoops {
		require.Contains(t, laneLoops, name)
	}
	for name := range vectorTests {
		require.Contains(t, laneTests, name)
	}
}

func TestLanesEqualTheirLoops(t *testing.T) {
	everyImplementation(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		var table [TableBytes]byte
		for i := range table {
			table[i] = byte(r.Uint32())
		}
		for range 5000 {
			d := drawnLanes(r, &Lanes{})
			a := drawnLanes(r, &d)
			v, mask, odd := r.Uint32(), drawnMask(r), uint32(0)
			filled, taken, gathered := d, d, d
			for l := range d {
				odd |= a[l] & 1 << l
				if mask>>l&1 != 0 {
					filled[l], taken[l] = v, a[l]
					gathered[l] = binary.LittleEndian.Uint32(table[a[l]%TableBytes&^3:])
				}
			}
			require.Equal(t, odd, a.Odd())
			x := d
			x.Fill(v, mask)
			require.Equal(t, filled, x)
			x = d
			x.Take(&a, mask)
			require.Equal(t, taken, x)
			x = d
			x.Gather(&table, &a, mask)
			require.Equal(t, gathered, x)
			if mask != 0 {
				checkSum(t, &a, v, mask)
			}
		}
	})
}

func checkSum(t *testing.T, base *Lanes, offset, mask uint32) {
	want, differed := Lanes{}, uint32(0)
	sum := base[bits.TrailingZeros32(mask)] + offset
	for l := range want {
		if want[l] = sum; mask>>l&1 != 0 {
			want[l] = base[l] + offset
		}
		differed |= want[l] ^ sum
	}
	var got Lanes
	first, differ := got.Sum(base, offset, mask)
	require.Equal(t, want, got)
	require.Equal(t, sum, first)
	require.Equal(t, differed, differ)
}
