package sampled

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa/emu"
	"heddle/sim"
	"heddle/sim/stats"
)

// truth is a launch whose cycles, estimated cycles and number of counted events are known at each instruction. A
// sampled launch is cut out of it.
type truth struct {
	r       *rand.Rand
	instrs  int
	cpi     func(at float64) float64 // simulated
	factor  func(at float64) float64 // the truth over the estimate
	scatter float64                  // of the factor of an interval
}

const (
	warmUp  = 100
	measure = 200
	begin   = 500
)

// cut is the launch with stretches of a length.
func (t *truth) cut(stretch int) (s sim.Sampled, cycles float64) {
	at := 0
	span := func(n int, estimated bool) sim.Pace {
		sum := 0.0
		n = min(n, t.instrs-at)
		for k := range n {
			x := float64(at+k) / float64(t.instrs)
			c := t.cpi(x)
			cycles += c
			if estimated {
				c /= t.factor(x)
			}
			sum += c
		}
		at += n
		return sim.Pace{Cycles: uint64(math.Round(sum)), WarpInstrs: uint64(n)}
	}
	measured := func(n int) (p sim.Pace, counts stats.Part) {
		p = span(n, false)
		return p, stats.PackPart(stats.Tree{
			stats.Count("cycles", "cycles", "", p.Cycles),
			stats.Count("warp_instrs", "warp instructions", "", p.WarpInstrs),
			stats.Count("events", "events", "", 3*p.WarpInstrs), stats.Count("stalls", "cycles", "", p.Cycles/2),
			stats.Ratio("ipc", "", "", float64(p.WarpInstrs), float64(p.Cycles)), stats.Constant("peak", "", "", 7),
		})
	}
	s.Begin.Pace, s.Begin.Counts = measured(begin)
	for at < t.instrs {
		p := span(stretch, true)
		near := sim.Stretch{Pace: p, First: p, Last: p}
		if at == t.instrs {
			s.Rest = near
			break
		}
		v := sim.Interval{Before: near, Warm: span(warmUp, false)}
		noise := math.Exp(t.r.NormFloat64() * t.scatter)
		v.Pace, v.Counts = measured(measure)
		v.Cycles = uint64(math.Round(float64(v.Cycles) * noise))
		s.Intervals = append(s.Intervals, v)
	}
	s.Result = sim.Result{Cycles: s.Begin.Cycles, Stats: emu.Stats{WarpInstrs: uint64(t.instrs), Edges: 5}}
	return s, cycles
}

func flat(v float64) func(float64) float64 { return func(float64) float64 { return v } }

// An estimate that is wrong by a factor is put right by it, however large, and so are counts.
func TestAFactorIsFound(t *testing.T) {
	for _, f := range []float64{0.3, 1, 4} {
		l := truth{r: rand.New(rand.NewPCG(1, 1)), instrs: 200_000, cpi: flat(2), factor: flat(f)}
		s, want := l.cut(5000)
		var e Estimator
		got := e.Launch(0, &s)
		require.InEpsilon(t, want, got.Cycles, 0.002)
		require.LessOrEqual(t, math.Abs(want-got.Cycles), got.Half)
		doubt := max(0, math.Abs(math.Log(f))-trusted)
		require.InEpsilon(t, stats.Student95(1000)*math.Hypot(ModelError, doubt), got.Half/got.Cycles, 0.1)
		for name, v := range map[string]float64{"events": 600_000, "warp_instrs": 200_000, "cycles": want,
			"stalls": want / 2, "ipc": 0.5, "peak": 7} {
			x, _ := got.Counts.Get(name)
			require.InEpsilon(t, v, x.Float(), 0.01, name)
		}
		exact, _ := got.Counts.Get("warp_instrs")
		require.Zero(t, exact.Half)
		n, _ := exact.Uint()
		require.EqualValues(t, 200_000, n)
	}
}

// A launch that slows down at its end, and whose factor drifts, is estimated as well.
func TestATailIsFollowed(t *testing.T) {
	l := truth{
		r: rand.New(rand.NewPCG(1, 2)), instrs: 400_000,
		cpi: func(x float64) float64 {
			if x > 0.97 {
				return 12
			}
			return 0.4
		},
		factor: func(x float64) float64 { return 0.9 + 0.2*x },
	}
	s, want := l.cut(10_000)
	var e Estimator
	got := e.Launch(0, &s)
	require.InEpsilon(t, want, got.Cycles, 0.03)
	plain := float64(s.Begin.Cycles)
	var c, n float64
	for _, v := range s.Intervals {
		c, n = c+float64(v.Cycles), n+float64(v.WarpInstrs)
	}
	plain += c / n * float64(s.WarpInstrs-s.Begin.WarpInstrs)
	require.Greater(t, math.Abs(plain-want), 3*math.Abs(got.Cycles-want), "by instructions alone it is further off")
}

// Of many launches with factors that scatter, the confidence intervals hold the truth in 95 % and more.
func TestCoverage(t *testing.T) {
	held, of := 0, 300
	for seed := range of {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		l := truth{r: r, instrs: 20_000 + r.IntN(100_000), cpi: flat(1 + r.Float64()), factor: flat(0.5 + r.Float64()),
			scatter: 0.2 * r.Float64()}
		s, want := l.cut(1000 + r.IntN(8000))
		var e Estimator
		if got := e.Launch(0, &s); math.Abs(got.Cycles-want) <= got.Half {
			held++
		}
	}
	require.GreaterOrEqual(t, float64(held)/float64(of), 0.95)
}

// A launch without an interval is estimated by those of the kernel before; the first of a kernel is hardly known.
func TestAKernelIsRemembered(t *testing.T) {
	l := truth{r: rand.New(rand.NewPCG(1, 4)), instrs: 100_000, cpi: flat(2), factor: flat(1.1), scatter: 0.01}
	long, _ := l.cut(4000)
	l.instrs = 3000
	short, want := l.cut(4000)
	require.Empty(t, short.Intervals)
	var e Estimator
	first := e.Launch("other", &short)
	e.Launch("kernel", &long)
	known := e.Launch("kernel", &short)
	require.InEpsilon(t, want, known.Cycles, 0.02)
	require.Greater(t, first.Half/first.Cycles, 5*known.Half/known.Cycles)
}

func TestWholeLaunchesAreExact(t *testing.T) {
	l := truth{r: rand.New(rand.NewPCG(1, 5)), instrs: 400, cpi: flat(2), factor: flat(3)}
	s, want := l.cut(1)
	require.True(t, s.Whole())
	var e Estimator
	got := e.Launch(0, &s)
	require.Equal(t, want, got.Cycles)
	require.Zero(t, got.Half)
	require.Equal(t, s.Begin.Counts.Tree(), got.Counts)
}

// TestWhatIsNotSeenIsNotExact: an event that occurs in the beginning only, or never, is not known to be absent from the
// rest.
func TestWhatIsNotSeenIsNotExact(t *testing.T) {
	l := truth{r: rand.New(rand.NewPCG(1, 7)), instrs: 100_000, cpi: flat(2), factor: flat(1)}
	s, _ := l.cut(4000)
	early, never := stats.Count("early", "events", "", 40), stats.Count("never", "events", "", 0)
	s.Begin.Counts = stats.PackPart(append(s.Begin.Counts.Tree(), early, never))
	for i := range s.Intervals {
		v := &s.Intervals[i]
		v.Counts = stats.PackPart(append(v.Counts.Tree(), stats.Count("early", "events", "", 0), never))
	}
	var e Estimator
	got := e.Launch(0, &s)
	x, _ := got.Counts.Get("early")
	require.Equal(t, 40.0, x.Float())
	require.Greater(t, x.Half, 40.0, "most was not looked at")
	y, _ := got.Counts.Get("never")
	require.Zero(t, y.Float())
	require.Positive(t, y.Half)
	require.Less(t, y.Half, x.Half)
	exact, _ := got.Counts.Get("warp_instrs")
	require.Zero(t, exact.Half)
}

// Calibrated weights have the rest's cycles and instructions.
func TestCalibrate(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	for range 200 {
		var p stats.Parts
		cycles, instrs := 0.0, 0.0
		for range 3 + r.IntN(20) {
			c, n, w := 100+900*r.Float64(), 100+900*r.Float64(), 1+9*r.Float64()
			p.Cycles, p.Instrs, p.Weights = append(p.Cycles, c), append(p.Instrs, n), append(p.Weights, w)
			cycles, instrs = cycles+w*c, instrs+w*n
		}
		p.Rest = cycles * (0.95 + 0.1*r.Float64())
		want := instrs * (0.95 + 0.1*r.Float64())
		calibrate(&p, want)
		gotC, gotN := 0.0, 0.0
		for i, w := range p.Weights {
			require.GreaterOrEqual(t, w, 0.0)
			gotC, gotN = gotC+w*p.Cycles[i], gotN+w*p.Instrs[i]
		}
		if math.Abs(gotC-cycles) > 1e-6 { // it has changed them
			require.InEpsilon(t, p.Rest, gotC, 1e-9)
			require.InEpsilon(t, want, gotN, 1e-9)
		}
	}
}

// TestNothingBehind: a launch in which time was switched off for cycles of no instruction, and all that is left ended
// meanwhile, has an estimate.
func TestNothingBehind(t *testing.T) {
	cycles := stats.Tree{stats.Count("cycles", "cycles", "", 100)}
	begin := sim.Interval{Pace: sim.Pace{Cycles: 100, WarpInstrs: 40}, Counts: stats.PackPart(cycles)}
	s := sim.Sampled{Begin: begin, Rest: sim.Stretch{Pace: sim.Pace{Cycles: 7}},
		Result: sim.Result{Cycles: 100, Stats: emu.Stats{WarpInstrs: 50}}}
	var e Estimator
	got := e.Launch("kernel", &s)
	require.InDelta(t, 100+7+10*2.5, got.Cycles, 1e-9)
	require.False(t, math.IsInf(got.Half, 0) || math.IsNaN(got.Half))
}

// TestShortIntervalsOfPhases: where a varying pace made intervals longer, the short ones before do not count; elsewhere
// all count.
func TestShortIntervalsOfPhases(t *testing.T) {
	l := truth{r: rand.New(rand.NewPCG(1, 8)), instrs: 100_000, cpi: flat(2), factor: flat(1)}
	s, want := l.cut(4000)
	wrong := 0
	for i := range s.Intervals {
		v := &s.Intervals[i]
		v.Length = measure
		if i%2 == 0 {
			v.Length, v.Cycles = measure/4, 2*v.Cycles
			wrong++
		}
	}
	require.Greater(t, wrong, 5)
	var e Estimator
	got := e.Launch(0, &s)
	require.InEpsilon(t, want, got.Cycles, 0.05)
	for i := range s.Intervals {
		s.Intervals[i].Length = measure
	}
	e = Estimator{}
	require.Greater(t, e.Launch(0, &s).Cycles, 1.1*want)
}
