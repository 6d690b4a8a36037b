package silicon

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// bruteTau is tau-b as its definition has it: concordant less discordant pairs, over the geometric mean of the pairs
// that do not tie in one ranking and in the other.
func bruteTau(a, b []float64) float64 {
	var concordant, discordant, tiesA, tiesB, pairs float64
	for i := range a {
		for j := i + 1; j < len(a); j++ {
			pairs++
			switch {
			case a[i] == a[j] && b[i] == b[j]:
				tiesA, tiesB = tiesA+1, tiesB+1
			case a[i] == a[j]:
				tiesA++
			case b[i] == b[j]:
				tiesB++
			case (a[i] < a[j]) == (b[i] < b[j]):
				concordant++
			default:
				discordant++
			}
		}
	}
	return (concordant - discordant) / math.Sqrt((pairs-tiesA)*(pairs-tiesB))
}

func TestTau(t *testing.T) {
	for _, c := range []struct {
		a, b []float64
		want float64
	}{
		{[]float64{1, 2, 3, 4}, []float64{10, 20, 30, 40}, 1},
		{[]float64{1, 2, 3, 4}, []float64{4, 3, 2, 1}, -1},
		{[]float64{1, 2, 3}, []float64{1, 3, 2}, 1.0 / 3},
		{[]float64{1, 2, 2}, []float64{1, 2, 3}, 2 / math.Sqrt(6)}, // 2 concordant, one tie in a
		{[]float64{1, 1, 2, 2}, []float64{1, 1, 2, 2}, 1},          // ties in both take nothing away
	} {
		require.InDelta(t, c.want, Tau(c.a, c.b), 1e-12, "%v %v", c.a, c.b)
	}
	require.True(t, math.IsNaN(Tau([]float64{1, 1}, []float64{1, 2})), "a ranking of ties alone")
	require.True(t, math.IsNaN(Tau([]float64{1}, []float64{1})))
	require.True(t, math.IsNaN(Tau(nil, nil)))
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		n := 2 + r.IntN(9)
		a, b := make([]float64, n), make([]float64, n)
		for i := range a {
			a[i], b[i] = float64(r.IntN(6)), float64(r.IntN(6)) // many ties
		}
		want := bruteTau(a, b)
		if got := Tau(a, b); math.IsNaN(want) {
			require.True(t, math.IsNaN(got), "%v %v", a, b)
		} else {
			require.InDelta(t, want, got, 1e-12, "%v %v", a, b)
			require.InDelta(t, got, Tau(b, a), 1e-12, "symmetric")
		}
	}
}

func TestOrder(t *testing.T) {
	truth := []float64{100, 109.9, 110, 200}
	// the pairs of 100 with 110 and 200, and those of 200 with both others: four that count
	require.Equal(t, Pairs{4, 4}, Order(truth, truth, truth))
	require.Equal(t, Pairs{0, 4}, Order(truth, truth, []float64{4, 3, 2, 1}))
	require.Equal(t, Pairs{3, 4}, Order(truth, truth, []float64{2, 1, 2, 3}), "a tie is not the same order")
	require.Equal(t, Pairs{4, 4}, Order(truth, truth, []float64{2, 1, 3, 4}), "9.9 % do not count")
	require.Equal(t, Pairs{1, 1}, Order([]float64{1, 2}, []float64{5, 4}, []float64{9, 3}),
		"two rankings that agree against the truth")
	require.True(t, math.IsNaN(Pairs{}.Share()))
	require.InDelta(t, 0.75, Pairs{3, 4}.Share(), 0)
}

func TestRegret(t *testing.T) {
	truth := []float64{30, 20, 10}
	for _, c := range []struct {
		ranking []float64
		regret  float64
		pick    int
	}{
		{[]float64{3, 2, 1}, 1, 2}, {[]float64{1, 2, 3}, 3, 0}, {[]float64{2, 1, 3}, 2, 1},
		{[]float64{9, 1, 1}, 2, 1}, {[]float64{1, 1, 1}, 3, 0}, // of a tie, the slowest
	} {
		regret, pick := Regret(truth, c.ranking)
		require.InDelta(t, c.regret, regret, 1e-12)
		require.Equal(t, c.pick, pick)
	}
	regret, pick := Regret(nil, nil)
	require.True(t, math.IsNaN(regret))
	require.Equal(t, -1, pick)
}

func TestScaleAndErrors(t *testing.T) {
	truth, cycles := []float64{1, 4, 16}, []float64{200, 800, 3200}
	require.InDelta(t, 0.005, Scale(truth, cycles), 1e-15)
	e := ErrorsOf(truth, cycles, 0.005)
	require.InDelta(t, 0, float64(e.MAPE), 1e-12)
	require.InDelta(t, 0, float64(e.WMAPE), 1e-12)
	require.InDelta(t, 1, float64(e.Pearson), 1e-12)

	// scaled 2, 4, 8; errors 1, 0, 8
	e = ErrorsOf(truth, []float64{2, 4, 8}, Scale(truth, []float64{2, 4, 8}))
	require.InDelta(t, (1.0+0+0.5)/3, float64(e.MAPE), 1e-12)
	require.InDelta(t, 9.0/21, float64(e.WMAPE), 1e-12)
	require.InDelta(t, 1, float64(e.Pearson), 1e-12, "a power law is a line of logarithms")
	require.InDelta(t, -1, float64(ErrorsOf(truth, []float64{16, 4, 1}, 1).Pearson), 1e-12)
	require.False(t, ErrorsOf(truth, []float64{2, 2, 2}, 1).Pearson.OK(), "of a constant")

	// a factor changes neither correlation nor, rescaled, errors
	a, b := ErrorsOf(truth, []float64{3, 5, 9}, Scale(truth, []float64{3, 5, 9})),
		ErrorsOf(truth, []float64{30, 50, 90}, Scale(truth, []float64{30, 50, 90}))
	require.InDelta(t, float64(a.MAPE), float64(b.MAPE), 1e-12)
	require.InDelta(t, float64(a.Pearson), float64(b.Pearson), 1e-12)
}

func TestMeans(t *testing.T) {
	require.InDelta(t, 2, mean([]float64{1, math.NaN(), 3}), 0)
	require.InDelta(t, 2, geomean([]float64{1, 4}), 1e-12)
	require.True(t, math.IsNaN(mean(nil)))
	require.True(t, math.IsNaN(geomean([]float64{math.NaN()})))
}
