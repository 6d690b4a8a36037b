package softfloat_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
	"heddle/kernels/emit"
	"heddle/kernels/emit/emittest"
	"heddle/kernels/ir"
	"heddle/kernels/softfloat"
)

// operation is an operation with Go's result.
type operation struct {
	emit func(b *ir.Builder, x, y softfloat.Double) softfloat.Double
	want func(x, y float64) float64
}

var operations = map[string]operation{
	"multiply": {softfloat.Mul, func(x, y float64) float64 { return x * y }},
	"divide":   {softfloat.Div, func(x, y float64) float64 { return x / y }},
	"root":     {func(b *ir.Builder, x, _ softfloat.Double) softfloat.Double { return softfloat.Sqrt(b, x) }, func(x, _ float64) float64 { return math.Sqrt(x) }},
	"inverse": {func(b *ir.Builder, x, _ softfloat.Double) softfloat.Double {
		return softfloat.Div(b, softfloat.One(b), x)
	}, func(x, _ float64) float64 { return 1 / x }},
	"add":      {softfloat.Add, func(x, y float64) float64 { return x + y }},
	"subtract": {softfloat.Sub, func(x, y float64) float64 { return x - y }},
	"floor":    {func(b *ir.Builder, x, _ softfloat.Double) softfloat.Double { return softfloat.Floor(b, x) }, floor},
	"equal":    compared(softfloat.Eq, func(x, y float64) bool { return x == y }),
	"less":     compared(softfloat.Lt, func(x, y float64) bool { return x < y }),
	"at most":  compared(softfloat.Le, func(x, y float64) bool { return x <= y }),
	"from int": {
		func(b *ir.Builder, x, _ softfloat.Double) softfloat.Double {
			return softfloat.FromI32(b, b.AsI32(x.Lo))
		},
		func(x, _ float64) float64 { return float64(int32(math.Float64bits(x))) },
	},
	"to int": {
		func(b *ir.Builder, x, y softfloat.Double) softfloat.Double {
			return softfloat.Double{Hi: b.U32(0), Lo: b.AsU32(softfloat.ToI32(b, within(b, x)))}
		},
		func(x, _ float64) float64 {
			bits := math.Float64bits(x)
			e := 1000 + bits>>52%54
			x = math.Float64frombits(bits&(1<<63|1<<52-1) | e<<52)
			return math.Float64frombits(uint64(uint32(int32(x))))
		},
	},
	"convert": {
		func(b *ir.Builder, x, _ softfloat.Double) softfloat.Double {
			return softfloat.FromU32(b, b.Max(x.Lo, b.U32(1)))
		},
		func(x, _ float64) float64 { return float64(max(uint32(math.Float64bits(x)), 1)) },
	},
	"extend": {
		func(b *ir.Builder, x, _ softfloat.Double) softfloat.Double {
			return softfloat.FromF32(b, softfloat.ToF32(b, x))
		},
		func(x, _ float64) float64 { return float64(float32(x)) },
	},
	"truncate": {
		func(b *ir.Builder, x, _ softfloat.Double) softfloat.Double {
			return softfloat.Double{Hi: b.U32(0), Lo: b.AsU32(softfloat.ToF32(b, x))}
		},
		func(x, _ float64) float64 {
			if math.IsNaN(x) {
				return math.Float64frombits(notANumber32)
			}
			return math.Float64frombits(uint64(math.Float32bits(float32(x))))
		},
	},
}

// within gives a number an exponent with which an i32 holds it.
func within(b *ir.Builder, x softfloat.Double) softfloat.Double {
	e := b.Add(b.Rem(b.Shr(x.Hi, b.U32(20)), b.U32(54)), b.U32(1000))
	return softfloat.Double{Hi: b.Or(b.And(x.Hi, b.U32(1<<31|1<<20-1)), b.Shl(e, b.U32(20))), Lo: x.Lo}
}

func floor(x, _ float64) float64 { return math.Floor(x) }

// compared is a comparison, as 1 or 0.
func compared(emit func(b *ir.Builder, x, y softfloat.Double) ir.Value, want func(x, y float64) bool) operation {
	return operation{
		func(b *ir.Builder, x, y softfloat.Double) softfloat.Double {
			return softfloat.Double{Hi: b.U32(0), Lo: b.ToU32(emit(b, x, y))}
		},
		func(x, y float64) float64 {
			if want(x, y) {
				return math.Float64frombits(1)
			}
			return 0
		},
	}
}

// TestLog: logarithms are as near as LogError says, and exact for 1.
func TestLog(t *testing.T) {
	built := kernel(t, operation{emit: func(b *ir.Builder, x, _ softfloat.Double) softfloat.Double {
		return softfloat.Log(b, x)
	}})
	m, r := emittest.New(2, 3, 4), rand.New(rand.NewPCG(4, 3))
	x := make([]float64, 4000)
	for i := range x {
		x[i] = math.Exp(r.Float64()*1400 - 700)
		if i%2 == 0 {
			x[i] = 1 + float64(r.IntN(1<<20)-1<<19)*math.Exp2(-float64(21+r.IntN(30)))
		}
	}
	x[0] = 1
	out := m.Place(make([]uint32, 2*len(x)))
	m.Run(t, built, map[string]uint32{"n": uint32(len(x)), "x": m.Place(words(x)), "y": m.Place(words(x)), "out": out})
	got := m.Words(out, 2*len(x))
	worst := 0.0
	for i := range x {
		g, want := math.Float64frombits(uint64(got[2*i+1])<<32|uint64(got[2*i])), math.Log(x[i])
		if want == 0 {
			require.Zero(t, g)
			continue
		}
		worst = max(worst, math.Abs(g-want)/math.Abs(want))
	}
	require.LessOrEqual(t, worst, softfloat.LogError)
	require.Greater(t, worst, 0.0, "which would be another function")
	t.Logf("largest relative error %.2g", worst)
}

// The canonical NaNs.
const notANumber, notANumber32 = 0x7FF80000_00000000, 0x7FC00000

// kernel computes out[i] of x[i] and y[i].
func kernel(t testing.TB, op operation) *ir.Kernel {
	k := emit.New("test")
	k.Strided(k.Count("n"), func(i ir.Value) {
		at := k.Shl(i, k.U32(1))
		load := func(array string) softfloat.Double {
			return softfloat.Double{Hi: k.Load(ir.U32, k.Addr(array), k.Add(at, k.U32(1))),
				Lo: k.Load(ir.U32, k.Addr(array), at)}
		}
		r := op.emit(k.Builder, load("x"), load("y"))
		k.Store(k.Addr("out"), at, r.Lo)
		k.Store(k.Addr("out"), k.Add(at, k.U32(1)), r.Hi)
	})
	built, err := k.Build()
	require.NoError(t, err)
	return built
}

// TestOperations: every operation gives the bits that Go's gives.
func TestOperations(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 6))
	for name, op := range operations {
		t.Run(name, func(t *testing.T) {
			built := kernel(t, op)
			m := emittest.New(2, 3, 4)
			n := testenv.Cases(t, 15_000, 100_000)
			x, y := make([]float64, n), make([]float64, n)
			for i := range x {
				x[i], y[i] = draw(r), draw(r)
				switch i % 4 {
				case 0: // high words that are nearly the same, which a division tries in vain
					y[i] = math.Float64frombits(math.Float64bits(x[i])&^(1<<63) + r.Uint64N(1<<r.IntN(34)) - r.Uint64N(1<<r.IntN(34)))
				case 2: // those that are no numbers to compute with, together
					if i < 1000 {
						x[i], y[i] = special(r), special(r)
					}
				case 1: // a product of 53 to 55 bits, which may lie between two numbers
					n := 1 + r.IntN(51)
					x[i], y[i] = float64(1<<n+r.Uint64N(1<<n)), float64(1<<(53-n)+r.Uint64N(1<<(53-n)))
				}
			}
			out := m.Place(make([]uint32, 2*len(x)))
			m.Run(t, built, map[string]uint32{"n": uint32(len(x)), "x": m.Place(words(x)), "y": m.Place(words(y)),
				"out": out})
			got := m.Words(out, 2*len(x))
			for i := range x {
				bits := uint64(got[2*i+1])<<32 | uint64(got[2*i])
				want := op.want(x[i], y[i])
				if math.IsNaN(want) {
					want = math.Float64frombits(notANumber)
				}
				require.Equal(t, math.Float64bits(want), bits, "%x, %x", x[i], y[i])
			}
		})
	}
}

// draw returns any number. Its exponent is near 1's, or any, and its fraction has few bits, many zeros, many ones, or
// any.
func draw(r *rand.Rand) float64 {
	const width = 52
	fraction := r.Uint64() >> (64 - width)
	n := r.IntN(width + 1)
	switch r.IntN(6) {
	case 0:
		fraction = fraction >> n << n
	case 1:
		fraction >>= n
	case 2:
		fraction |= (1<<width - 1) >> n
	case 3:
		fraction |= (1<<width - 1) >> n << n
	case 4:
		fraction = 0
	}
	exponent := uint64(1023 - 60 + r.IntN(121))
	switch r.IntN(8) {
	case 0:
		exponent = r.Uint64N(2048)
	case 1:
		exponent = []uint64{0, 1, 2, 53, 870, 871, 872, 873, 874, 896, 897, 1150, 1151, 2045, 2046, 2047}[r.IntN(16)]
	}
	x := math.Float64frombits(exponent<<width | fraction)
	return math.Copysign(x, float64(r.IntN(2))-0.5)
}

func special(r *rand.Rand) float64 {
	list := []float64{0, math.Inf(1), math.NaN(), 1, math.SmallestNonzeroFloat64, math.MaxFloat64}
	return math.Copysign(list[r.IntN(len(list))], float64(r.IntN(2))-0.5)
}

func words(x []float64) (list []uint32) {
	for _, f := range x {
		b := math.Float64bits(f)
		list = append(list, uint32(b), uint32(b>>32))
	}
	return list
}
