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

// An instruction's destination may be one of its sources.
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
	for name := range vectorAtomics {
		require.Contains(t, laneAtomics, name)
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
			written := table
			for l := range d {
				if mask>>l&1 != 0 {
					binary.LittleEndian.PutUint32(written[a[l]%TableBytes&^3:], d[l])
				}
			}
			into := table
			d.Scatter(&into, &a, mask)
			require.True(t, written == into, "mask 0x%x", mask)
			care, same := r.Uint32()|r.Uint32()|r.Uint32()|r.Uint32(), uint32(0)
			for l := range a {
				same |= flag(a[l]&care == d[0]&care) << l
			}
			require.Equal(t, same, a.Equal(d[0], care))
			if mask != 0 {
				checkSum(t, &a, v, mask)
			}
		}
	})
}

// Consecutive words, as in most stores, anywhere in the table.
func TestScatterOfRuns(t *testing.T) {
	everyImplementation(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(15, 16))
		var before [TableBytes]byte
		for first := uint32(0); first < 2*TableBytes; first += 4 {
			d, at := drawnLanes(r, &Lanes{}), Lanes{}
			for l := range at {
				at[l] = first + 4*uint32(l)
			}
			if first%3 == 0 {
				at[r.IntN(len(at))] ^= 4 << r.IntN(10)
			}
			want, got := before, before
			for l := range d {
				binary.LittleEndian.PutUint32(want[at[l]%TableBytes:], d[l])
			}
			d.Scatter(&got, &at, 1<<32-1)
			require.True(t, want == got, "from 0x%x", first)
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

func TestAMOLoopsEqualTheScalarFunction(t *testing.T) {
	everyImplementation(t, func(t *testing.T) { checkAMOLoops(t, rand.New(rand.NewPCG(11, 12))) })
}

func checkAMOLoops(t *testing.T, r *rand.Rand) {
	for _, row := range All() {
		f, ok := row.Sem.(AMO)
		if !ok {
			continue
		}
		for range 1000 {
			var table, want [TableBytes]byte
			d := drawnLanes(r, &Lanes{})
			src := drawnLanes(r, &d)
			at, mask, dst := drawnLanes(r, &src), drawnMask(r), d
			for l := range at {
				at[l] = at[l]&^0xFF0 | 0x340 // lanes that meet at one word
				binary.LittleEndian.PutUint32(table[at[l]%TableBytes&^3:], drawnFloat(r, src[l]))
			}
			want = table
			for l := range d {
				if mask>>l&1 != 0 {
					w := want[at[l]%TableBytes&^3:]
					dst[l] = binary.LittleEndian.Uint32(w)
					binary.LittleEndian.PutUint32(w, f(dst[l], src[l]))
				}
			}
			row.Atomics()(&d, &table, &at, &src, mask)
			require.Equal(t, dst, d, row.Name)
			require.True(t, want == table, row.Name)
		}
	}
}

// amofadd is FP.Add.
func TestFloatAtomic(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for range 1_000_000 {
		a := drawnFloat(r, r.Uint32())
		b := drawnFloat(r, a)
		require.Equal(t, (&FP{}).Add(a, b), amofadd(a, b), "0x%x + 0x%x", a, b)
	}
}
