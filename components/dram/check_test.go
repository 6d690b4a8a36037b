package dram

import (
	"fmt"
	"heddle/internal/testenv"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// point is one value of check.csv.
type point struct {
	config, pattern, mix, mode, amount string // amount: load or window
	metric, value                      string
	tolerance                          float64
	relative                           bool
}

// run is the reference run that measured the point.
func (p point) run() string {
	return strings.Join([]string{p.config, p.pattern, p.mix, p.mode, p.amount}, " ")
}

// everyNth run of a configuration is played, from another on in each (every second one of these without
// testenv.LongVariable), unless testenv.Long asks for all.
const everyNth = 40

// tally is how near a configuration comes to its points.
type tally struct {
	points, exact, near, within int // near: a fifth of the tolerance
	worst                       float64
	worstPoint                  string
}

// TestLoads holds the mean read latencies, throughputs and row-hit rates of
// loaded runs to Ramulator's.
func TestLoads(t *testing.T) {
	byConfig := map[string][]point{}
	var configs []string
	for _, p := range readPoints(t) {
		if byConfig[p.config] == nil {
			configs = append(configs, p.config)
		}
		byConfig[p.config] = append(byConfig[p.config], p)
	}
	require.Equal(t, 12, len(configs))
	for i, config := range configs {
		t.Run(config, func(t *testing.T) {
			t.Parallel()
			checkPoints(t, byConfig[config], 3*i)
		})
	}
}

func checkPoints(t *testing.T, points []point, first int) {
	var sum tally
	results := map[string]loadResult{}
	runs, nth := 0, everyNth
	if !testenv.Slow() {
		nth *= 2
	}
	for _, p := range points {
		r, ok := results[p.run()]
		if !ok {
			runs++
			if testenv.Long(t) == 0 && (runs+first)%nth != 0 {
				results[p.run()] = loadResult{}
				continue
			}
			r = p.load(t).start(t).run(t)
			results[p.run()] = r
		}
		if r == (loadResult{}) {
			continue
		}
		got := p.measured(r)
		share := sum.add(p, got)
		assert.LessOrEqual(t, share, 1.0, "%s %s: %.4f, expected %s", p.run(), p.metric, got, p.value)
	}
	t.Logf("%-20s points %4d  exact %4d  within 1%% %4d  within 5%% %4d  outside %d  worst %.2f%%  %s",
		points[0].config,
		sum.points, sum.exact, sum.near, sum.within, sum.points-sum.within, sum.worst*5, sum.worstPoint)
}

// add books a measured value and returns its deviation as a share of the
// tolerance.
func (s *tally) add(p point, got float64) float64 {
	expected, _ := strconv.ParseFloat(p.value, 64)
	share := math.Abs(got-expected) / p.tolerance
	if p.relative {
		share /= expected
	}
	s.points++
	decimals := len(p.value) - strings.Index(p.value, ".") - 1
	if fmt.Sprintf("%.*f", decimals, got) == p.value {
		s.exact++
	}
	if share <= 0.2 {
		s.near++
	}
	if share <= 1 {
		s.within++
	}
	if share > s.worst {
		s.worst, s.worstPoint = share, fmt.Sprintf("%s %s %.4f, expected %s", p.run(), p.metric, got, p.value)
	}
	return share
}

func (p point) load(t testing.TB) load {
	l := load{spec: configSpec(t, p.config), pattern: p.pattern, writes: p.mix == "mix67"}
	amount, err := strconv.ParseFloat(p.amount, 64)
	require.NoError(t, err)
	if p.mode == "open" {
		l.perMyri = uint64(math.Round(10_000 * amount))
	} else {
		l.window = int(amount)
	}
	return l
}

func (p point) measured(r loadResult) float64 {
	return map[string]float64{
		"read_lat_mean": r.readLatency, "throughput_req_per_clk": r.throughput, "row_hit_rate": r.rowHitRate,
	}[p.metric]
}

func readPoints(t *testing.T) []point {
	var all []point
	for _, f := range readCSV(t, "check.csv") {
		p := point{config: f[0], pattern: f[1], mix: f[2], mode: f[3], amount: f[4], metric: f[5], value: f[6]}
		switch f[7] {
		case "5%":
			p.tolerance, p.relative = 0.05, true
		case "0.02 abs":
			p.tolerance = 0.02
		}
		require.NotZero(t, p.tolerance, f[7])
		all = append(all, p)
	}
	return all
}
