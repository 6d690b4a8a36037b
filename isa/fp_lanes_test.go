package isa

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
)

// drawnFloat draws floats of every kind, close ones often: sums then cancel, and results lie between two floats.
func drawnFloat(r *rand.Rand, like uint32) uint32 {
	switch r.IntN(10) {
	case 0:
		return r.Uint32()
	case 1:
		return [...]uint32{0, signBit, 1, 0x7FFFFF, 0x800000, 0x800001, 0x1000000, 0x7F7FFFFF, 0x7F800000, 0xFF800000,
			0x7FC00000, 0x7F800001, 0x3F800000, 0xBF800000}[r.IntN(14)]
	case 2:
		return like ^ signBit
	case 3:
		return like + uint32(r.IntN(5)) - 2
	case 4:
		return math.Float32bits(float32(r.IntN(64) - 32)) // exact most of the time
	case 5:
		return like&^0x7FFFFF | 1<<r.IntN(23) | 1<<r.IntN(23)
	case 6, 7:
		return uint32(r.IntN(2))<<31 | (uint32(100+r.IntN(54)) << 23) | 1<<r.IntN(24)&0x7FFFFF
	default:
		return uint32(r.IntN(2))<<31 | uint32(120+r.IntN(14))<<23 | r.Uint32()&0x7FFFFF
	}
}

func TestFPLoopsEqualTheScalarFunction(t *testing.T) {
	if !vectors {
		t.Skip("this processor has no vector instructions that are used")
	}
	r := rand.New(rand.NewPCG(9, 10))
	for _, row := range All() {
		loop := row.ToNearest()
		if loop == nil {
			continue
		}
		lanes, done := 0, 0
		for range testenv.Cases(t, 30_000, 100_000) {
			var d, a, b, c Lanes
			for l := range a {
				a[l] = drawnFloat(r, a[max(l-1, 0)])
				b[l] = drawnFloat(r, a[l])
				c[l] = drawnFloat(r, math.Float32bits(math.Float32frombits(a[l])*math.Float32frombits(b[l])))
				d[l] = r.Uint32()
			}
			mask := drawnMask(r)
			x, dd := checkFPLoop(t, row, loop, d, &a, &b, &c, mask)
			lanes, done = lanes+x, done+dd
		}
		require.Greater(t, float64(done)/float64(lanes), 0.5, "%s: lanes that are done", row.Name)
	}
}

func checkFPLoop(t *testing.T, row *Row, loop FPLoop, d Lanes, a, b, c *Lanes, mask uint32) (lanes, did int) {
	got := d
	done, inexact := loop(&got, a, b, c, mask)
	if done&^mask != 0 || inexact&^done != 0 {
		t.Fatalf("%s: done 0x%x, inexact 0x%x, mask 0x%x", row.Name, done, inexact, mask)
	}
	for l := range d {
		want, flags := d[l], uint8(0)
		if done>>l&1 != 0 {
			var e FP
			want = row.Sem.(FPOp)(&e, a[l], b[l], c[l])
			flags = e.Flags
		}
		if got[l] != want || flags != uint8(inexact>>l&1)*NX {
			t.Fatalf("%s 0x%x, 0x%x, 0x%x: 0x%x, inexact %d; expected 0x%x, flags 0x%x", row.Name, a[l], b[l], c[l],
				got[l], inexact>>l&1, want, flags)
		}
	}
	return bits.OnesCount32(mask), bits.OnesCount32(done)
}

// The usual lanes are done: numbers of a program, of which none is extreme, exact sums and zeros among them.
func TestFPLoopsDoUsualLanes(t *testing.T) {
	if !vectors {
		t.Skip("this processor has no vector instructions that are used")
	}
	var a, b, c Lanes
	for l := range a {
		a[l], b[l], c[l] = math.Float32bits(float32(l)), math.Float32bits(1/float32(l+1)),
			math.Float32bits(float32(l*l)/3)
	}
	for _, row := range All() {
		if loop := row.ToNearest(); loop != nil {
			var d Lanes
			done, _ := loop(&d, &a, &b, &c, 1<<32-1)
			require.Equal(t, uint32(1<<32-1), done, row.Name)
		}
	}
}
