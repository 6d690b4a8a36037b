package emit_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/kernels/emit"
	"heddle/kernels/emit/emittest"
	"heddle/kernels/ir"
)

// computed is f of every one of some numbers.
func computed(t *testing.T, f func(k *emit.Kernel, x ir.Value) ir.Value, of []float32) []float32 {
	t.Helper()
	k := emit.New("test")
	k.Strided(k.Count("n"), func(i ir.Value) { k.Store(k.Addr("out"), i, f(k, k.Load(ir.F32, k.Addr("in"), i))) })
	kernel, err := k.Build()
	require.NoError(t, err)
	m := emittest.New(1, 2, 4)
	words := make([]uint32, len(of))
	for i, x := range of {
		words[i] = math.Float32bits(x)
	}
	in, out := m.Place(words), m.Place(make([]uint32, len(of)))
	m.Run(t, kernel, map[string]uint32{"n": uint32(len(of)), "in": in, "out": out})
	got := make([]float32, len(of))
	for i, w := range m.Words(out, len(of)) {
		got[i] = math.Float32frombits(w)
	}
	return got
}

// TestLog: every 61st number of the octaves around 1, where cancellation is worst, and some of every other.
func TestLog(t *testing.T) {
	var of []float32
	for bits := uint32(0x3F000000); bits < 0x40800000; bits += 61 {
		of = append(of, math.Float32frombits(bits))
	}
	for bits := uint32(0x00800000); bits < 0x7F800000; bits += 16381 {
		of = append(of, math.Float32frombits(bits))
	}
	of = append(of, 1, math.SmallestNonzeroFloat32*(1<<23), math.MaxFloat32, math.Nextafter32(1, 0),
		math.Nextafter32(1, 2))
	worst := 0.0
	for i, got := range computed(t, (*emit.Kernel).Log, of) {
		want := math.Log(float64(of[i]))
		if want == 0 {
			require.Zero(t, got)
			continue
		}
		off := math.Abs(float64(got)/want - 1)
		require.LessOrEqual(t, off, float64(emit.LogError), "log %v = %v, and not %v", of[i], got, want)
		worst = max(worst, off)
	}
	t.Logf("%d numbers, off by at most %.2f roundings", len(of), worst*0x1p24)
	require.Greater(t, worst, 0x1p-25)
}

func TestExp(t *testing.T) {
	of := []float32{0, float32(math.Copysign(0, -1)), -87, -87.00001, -1000, float32(math.Inf(-1)), -0x1p-100,
		-math.Ln2 / 2, -math.Ln2}
	for x := 0.0; x > -87; x -= 0.000173 {
		of = append(of, float32(x))
	}
	worst := 0.0
	for i, got := range computed(t, (*emit.Kernel).Exp, of) {
		if of[i] < -87 {
			require.Zero(t, got, of[i])
			continue
		}
		off := math.Abs(float64(got)/math.Exp(float64(of[i])) - 1)
		require.LessOrEqual(t, off, float64(emit.ExpError), "exp %v = %v", of[i], got)
		worst = max(worst, off)
	}
	t.Logf("%d numbers, off by at most %.2f roundings", len(of), worst*0x1p24)
	require.Greater(t, worst, 0x1p-25)
}
