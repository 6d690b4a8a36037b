package energy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"heddle/components/dram"
	"heddle/configs"
	"heddle/internal/testenv"
	"heddle/sim/stats"
)

func machine(t *testing.T, name string, set ...string) *configs.Machine {
	t.Helper()
	l, err := configs.LoadMachine(name, nil, set)
	require.NoError(t, err)
	return &l.Value
}

// counts makes statistics from NAME=N.
func counts(t *testing.T, texts ...string) (tree stats.Tree) {
	for _, text := range texts {
		name, value, _ := strings.Cut(text, "=")
		var n uint64
		_, err := fmt.Sscan(value, &n)
		require.NoError(t, err)
		tree = append(tree, stats.Count(name, "", "a count", n))
	}
	return tree
}

// micron has the energies of commands by the datasheet's formula for ddr4-3200: 8 devices of 1.2 V, a clock of 0.625
// ns, tRC 74, tRAS 52, a burst of 4 and tRFC 576 clocks, IDD0 57, IDD2N 37, IDD3N 52, IDD4R 168, IDD4W 150, IDD5 250
// mA.
var micron = struct{ act, read, write, refresh, open, closed float64 }{
	4200,   // 9.6 V (57 × 46.25 − 52 × 32.5 − 37 × 13.75 = 437.5 pC)
	2784,   // 9.6 V × 116 mA × 2.5 ns
	2352,   // 9.6 V × 98 mA × 2.5 ns
	736128, // 9.6 V × 213 mA × 360 ns
	499.2,  // mW
	355.2,  // mW
}

// TestDatasheet compares commands' energies with values of the formula, written out above.
func TestDatasheet(t *testing.T) {
	table, err := Load("vortex-45nm")
	require.NoError(t, err)
	spec, err := dram.Preset("ddr4-3200")
	require.NoError(t, err)
	for i := range table.DRAM {
		p := table.DRAM[i]
		if !p.is("ddr4-3200") {
			continue
		}
		c, err := p.energies(&spec)
		require.NoError(t, err)
		for _, x := range []struct {
			want float64
			got  Range
		}{
			{micron.act, c.activate}, {micron.read, c.read}, {micron.write, c.write}, {micron.refresh, c.refresh},
			{micron.open, c.open}, {micron.closed, c.closed},
		} {
			require.InEpsilon(t, x.want, x.got.Nominal, 1e-12)
			require.InEpsilon(t, 0.6*x.want, x.got.Low, 1e-12)
			require.InEpsilon(t, 1.1*x.want, x.got.High, 1e-12)
		}
		p.IDD0 = 40 // less than standby
		_, err = p.energies(&spec)
		require.ErrorContains(t, err, "ACT and PRE: idd0 tRC - idd3n tRAS - idd2n (tRC - tRAS) is -348.8: an energy is not "+
			"negative")
		return
	}
	t.Fatal("no part ddr4-3200")
}

// small is a table with one event, one access to a memory and one power.
const small = `title: small
nm: 45
volts: 0.9
lines:
  - {part: A, event: sums, count: 2*thread_instrs.alu + machine.threads*core.cycles, low: 1, nominal: 2, high: 4, source: s}
  - {part: L1D, event: reads, count: l1d.reads, low: 8, nominal: 16, high: 16, of: l1d, width: request, bytes: 4096, source: s}
  - {part: L3, event: reads, count: l3.reads, low: 8, nominal: 16, high: 16, of: l3, width: request, source: s}
  - {part: leakage, event: cores, count: 3*machine.cores, unit: mW, low: 1, nominal: 5, high: 9, source: s}
`

// TestRun compares a whole run's energy with a written-out sum.
func TestRun(t *testing.T) {
	table, err := Parse("small.yaml", []byte(small))
	require.NoError(t, err)
	require.NoError(t, table.addParts())
	m := machine(t, "vortex-1c4w4t", "memory.preset=ddr4-3200", "l1d.bytes=16KiB")
	r, err := table.Of(m, counts(t, "cycles=2000", "thread_instrs.alu=100", "core.cycles=1500", "l1d.reads=10",
		"dram.commands.act=3", "dram.commands.rd=5", "dram.commands.rda=1", "dram.commands.wr=2", "dram.commands.wra=0",
		"dram.commands.ref=1", "dram.open_ranks=800", "dram.bytes=512"))
	require.NoError(t, err)
	require.Equal(t, 1000.0, r.ClockMHz)
	require.InEpsilon(t, 2e-6, r.Seconds, 1e-12)
	require.Len(t, r.Items, 3+7, "the machine has no L3")
	want := 2*(2*100.0+4*1500) + // A
		10*16*2*2 + // L1D: 16 bytes are twice 64 bits, and 16 KiB are 4 times 4, to the power of 0.5
		3*5*2000.0 + // leakage: mW times ns
		3*micron.act + 6*micron.read + 2*micron.write + micron.refresh +
		micron.open*500 + micron.closed*1500 + // ns: 800 of 3,200 clocks of one rank
		15*8*512
	require.InEpsilon(t, want*1e-12, r.Total().Nominal, 1e-12)
	require.InEpsilon(t, want*1e-12/2e-6, r.Watts(r.Total().Nominal), 1e-12)
	require.InEpsilon(t, (want-3*5*2000-micron.open*500-micron.closed*1500)*1e-12, r.Dynamic(), 1e-12)
	sum := Range{}
	for _, p := range r.Parts() {
		sum = sum.Plus(p.Joules)
	}
	require.InEpsilon(t, r.Total().Nominal, sum.Nominal, 1e-12)
	require.InEpsilon(t, r.Total().Low, sum.Low, 1e-12)
	require.InEpsilon(t, r.Total().High, sum.High, 1e-12)
	low, high := r.Interval()
	require.Less(t, r.Total().Low, low)
	require.Less(t, low, r.Total().Nominal)
	require.Greater(t, high, r.Total().Nominal)
	require.Greater(t, r.Total().High, high)
}

// TestClock: DRAM clocks are those of the part, whatever the cores' clock.
func TestClock(t *testing.T) {
	require.InDelta(t, 1979.06, clockMHz(machine(t, "gpu-60sm")), 0.01)
	require.Equal(t, 1000.0, clockMHz(machine(t, "vortex-1c4w4t")))
	require.Equal(t, 1000.0, clockMHz(machine(t, "vortex-rtl-a")))
}

// TestShippedTables load, have a source for every line, and fit every machine that heddle ships.
func TestShippedTables(t *testing.T) {
	for _, name := range Names() {
		table, err := Load(name)
		require.NoError(t, err)
		require.NotEmpty(t, table.For)
		for i := range table.Lines {
			l := &table.Lines[i]
			require.NoError(t, table.scaled(l).check(), l.name())
			require.Greater(t, len(l.Source), 10, "%s: %s", name, l.name())
		}
		for i := range table.DRAM {
			for _, preset := range table.DRAM[i].Presets {
				spec, err := dram.Preset(preset)
				require.NoError(t, err)
				c, err := table.DRAM[i].energies(&spec)
				require.NoError(t, err)
				for _, r := range []Range{c.activate, c.read, c.write, c.refresh, c.open, c.closed, c.bit} {
					require.NoError(t, r.check(), preset)
				}
				require.LessOrEqual(t, c.closed.Nominal, c.open.Nominal, preset)
			}
		}
	}
	for _, name := range configs.MachineNames() {
		_, err := DefaultName(machine(t, name))
		require.NoError(t, err, name)
	}
}

// TestExtends: a table inherits missing values from the table that it extends, scaled from that table's process.
func TestExtends(t *testing.T) {
	file := filepath.Join(t.TempDir(), "my.yaml")
	write := func(text string) {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	write("extends: vortex-45nm\nnm: 28\nlines:\n  - {part: execution, event: integer multiplications, count: " +
		"thread_instrs.mul, low: 1, nominal: 2, high: 3, source: mine}\n")
	mine, err := Load(file)
	require.NoError(t, err)
	base, err := Load("vortex-45nm")
	require.NoError(t, err)
	require.Len(t, mine.Lines, len(base.Lines))
	require.Equal(t, 28.0, mine.NM)
	require.Equal(t, base.Title, mine.Title)
	for i := range mine.Lines {
		is, was := mine.scaled(&mine.Lines[i]), base.scaled(&base.Lines[i])
		switch l := &mine.Lines[i]; {
		case l.Source == "mine":
			require.Equal(t, Range{1, 2, 3}, is)
		case l.Unit == "mW":
			require.Equal(t, was, is, l.name())
		default:
			require.InDelta(t, was.Nominal*math.Cbrt(28.0/45), is.Nominal, 1e-9, l.name())
			require.InDelta(t, was.Low*28/45, is.Low, 1e-9, l.name())
			require.Equal(t, was.High, is.High, l.name())
		}
	}
	write("extends: my.yaml\n")
	_, err = Load(file)
	require.ErrorContains(t, err, "more than 8 tables extend each other")
}

// TestScalingRule: the mean exponent of the pairs that Jouppi et al. print for 45 and 7 nm (ISCA 2021, Table 2) is the
// one for nominal values, and none is far outside the bounds'.
func TestScalingRule(t *testing.T) {
	sum := 0.0
	pairs := [][2]float64{{0.1, 0.03}, {3.1, 1.48}, {0.9, 0.38}, {3.7, 1.31}, {10, 7.5}, {20, 8.5}, {100, 14}}
	for _, p := range pairs {
		supply := (0.75 / 0.9) * (0.75 / 0.9)
		exponent := math.Log(p[1]/p[0]/supply) / math.Log(7.0/45)
		require.InDelta(t, 0.5, exponent, 0.55)
		sum += exponent / float64(len(pairs))
		r := scale(Range{p[0], p[0], p[0]}, 45, 0.9, 7, 0.75)
		require.Less(t, r.Low, p[1])
		require.Greater(t, 1.1*r.High, p[1])
	}
	require.InDelta(t, meanShrink, sum, 0.01)
	up := scale(Range{1, 1, 1}, 7, 0.75, 45, 0.75)
	require.NoError(t, up.check())
}

// TestBadTables: each is refused, with file, line and key.
func TestBadTables(t *testing.T) {
	line := func(text string) string { return "title: t\nnm: 45\nvolts: 0.9\nlines:\n  - {" + text + "}\n" }
	const good = "part: A, event: e, count: l1d.reads, low: 1, nominal: 2, high: 3, source: s"
	part := func(text string) string { return line(good) + "dram:\n  - {" + text + "}\n" }
	for text, want := range map[string]string{
		"":                                  "my.yaml: expected an energy table",
		"- 1":                               "my.yaml: expected an energy table",
		"title: t\nnm: 45\nvolts: 0.9\n":    "my.yaml: lines: missing",
		"title: t\nvolts: 0.9\nlines: []\n": "my.yaml:1:1: nm: missing",
		"title: t\nnm: -1\nvolts: 0.9\nlines: []\n":                                 "my.yaml:2:5: nm: expected a number",
		"title: t\nnm: 45\nvolts: 0.9\nlines: 3\n":                                  "my.yaml:4:8: lines: expected a list of at most 500 sections",
		"title: t\nnm: 45\nvolts: 0.9\nwatts: 1\nlines: []\n":                       "my.yaml:4:1: watts: unknown key",
		"lines: []\nlines: []\n":                                                    "my.yaml",
		strings.Replace(line(good), "low: 1", "low: -1", 1):                         "my.yaml:5:48: lines[0].low: expected a number",
		strings.Replace(line(good), "low: 1", "low: 1e300", 1):                      "lines[0].low: expected a number",
		strings.Replace(line(good), "low: 1", "low: .nan", 1):                       "lines[0].low: expected a number",
		strings.Replace(line(good), "low: 1", "low: 4", 1):                          "lines[0].nominal: low 4, nominal 2, high 3: expected 0 <= low <= nominal <= high",
		strings.Replace(line(good), ", source: s", "", 1):                           "lines[0].source: missing",
		strings.Replace(line(good), "l1d.reads", "l1d.reads - l1d.writes", 1):       `lines[0].count: "l1d.reads - l1d.writes": expected statistics, numbers and the signs + and *`,
		strings.Replace(line(good), "l1d.reads", "-2*l1d.reads", 1):                 "lines[0].count: -2: expected a number of 0 or more",
		strings.Replace(line(good), "l1d.reads", "inf*l1d.reads", 1):                "expected a number of 0 or more",
		strings.Replace(line(good), "l1d.reads", "l1d.reads*l1d.writes", 1):         "expected one statistic in a product",
		strings.Replace(line(good), "l1d.reads", "machine.core*l1d.reads", 1):       "machine.core: expected one of machine.chip",
		strings.Replace(line(good), "l1d.reads", "machine.cores", 1):                "expected a statistic in each summand",
		line(good + ", unit: mW"):                                                   "a power lasts for the whole time",
		line(good + ", width: line"):                                                "expected its name in of",
		line(good) + "  - {" + good + "}\n":                                         "A: e stands twice",
		"extends: [1]\n":                                                            "my.yaml:1:10: extends: expected the name of a table",
		"extends: vortex-45\n":                                                      "no energy table \"vortex-45\"; did you mean vortex-45nm?",
		part("presets: [ddr5], method: currents, source: s"):                        `my.yaml:7:15: dram[0]: presets: no DRAM preset "ddr5"`,
		part("presets: [gddr5], method: energies, source: s"):                       "act_pj []: expected LOW, NOMINAL, HIGH",
		part("presets: [gddr5], method: currents, source: s, factor: [2, 3]"):       "factor [2 3]: expected two numbers, LOW <= 1 and HIGH >= 1",
		part("presets: [gddr5], method: currents, source: s, idd0: -4"):             "dram[0].idd0: expected a number",
		part("presets: [gddr5], method: currents, source: s, io_pj_bit: [3, 2, 1]"): "io_pj_bit: low 3, nominal 2, high 1",
	} {
		_, err := Parse("my.yaml", []byte(text))
		assert.ErrorContains(t, err, want, text)
	}
	table, err := Parse("my.yaml", []byte(strings.Replace(line(good), "l1d.reads", "l1d.raeds", 1)))
	require.NoError(t, err)
	m := machine(t, "vortex-1c4w4t", "memory.preset=ideal")
	_, err = table.Of(m, counts(t, "cycles=1", "l1d.reads=1"))
	require.ErrorContains(t, err, "my.yaml: A: e: the result has no statistic l1d.raeds; did you mean l1d.reads?")
	table.Lines[0].count[0].stat = "weaver.table.st_rows" // of a unit that the machine does not have
	r, err := table.Of(m, counts(t, "cycles=1", "l1d.reads=1"))
	require.NoError(t, err)
	require.Zero(t, r.Total().High)
	require.Contains(t, r.NotModelled, "DRAM: memory.preset ideal stands for no part")
}

// drawn makes a result with random values and counts.
func drawn(random *rand.Rand, each []Range) *Result {
	r := &Result{Seconds: 1 + random.Float64()}
	for i, e := range each {
		if random.IntN(4) == 0 {
			continue
		}
		r.Items = append(r.Items, Item{Part: "P", Event: fmt.Sprint(i), Unit: "pJ", Each: e,
			Count: float64(1 + random.IntN(1000)), Factor: 0.5 + random.Float64()})
	}
	return r
}

// TestBounds compares the extremes of ratios with those of all combinations of bounds, and draws with them.
func TestBounds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 40))
	for range testenv.Cases(t, 100, 400) {
		each := make([]Range, 7)
		for i := range each {
			low := random.Float64() * float64(random.IntN(3))
			each[i] = Range{low, low + 0.1 + random.Float64(), low + 1.2 + 3*random.Float64()}
		}
		a, b := drawn(random, each), drawn(random, each)
		if len(a.Items) == 0 || len(b.Items) == 0 {
			continue
		}
		least, most := math.Inf(1), 0.0
		for corner := range 1 << len(each) {
			place := map[string]float64{}
			for i := range each {
				place["P: "+fmt.Sprint(i)] = float64(corner >> i & 1)
			}
			x := a.at(place) / b.at(place)
			least, most = min(least, x), max(most, x)
		}
		if math.IsInf(most, 0) || math.IsNaN(most) || least == 0 {
			continue
		}
		c := Compare(a, b, false)
		require.InEpsilon(t, least, c.Bounds[0], 1e-9)
		require.InEpsilon(t, most, c.Bounds[1], 1e-9)
		require.LessOrEqual(t, c.Bounds[0], c.Interval[0])
		require.GreaterOrEqual(t, c.Bounds[1], c.Interval[1])
		require.Equal(t, c.Order == Less, c.Bounds[1] < 1)
		require.Equal(t, c.Order == More, c.Bounds[0] > 1)
		delay := Compare(a, b, true)
		require.InEpsilon(t, c.Nominal*a.Seconds/b.Seconds, delay.Nominal, 1e-12)
	}
}

// TestCommonErrorsCancel: a ratio of runs with equal shares of events is exact, however uncertain their values.
func TestCommonErrorsCancel(t *testing.T) {
	item := Item{Part: "P", Event: "e", Each: Range{1, 10, 100}, Count: 300, Factor: 1}
	a, b := &Result{Items: []Item{item}}, &Result{Items: []Item{item}}
	b.Items[0].Count = 400
	c := Compare(a, b, false)
	require.InEpsilon(t, 0.75, c.Interval[0], 1e-12)
	require.InEpsilon(t, 0.75, c.Interval[1], 1e-12)
	require.Equal(t, Less, c.Order)
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte("extends: gpu-5nm\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		table, err := Parse("my.yaml", text)
		if err != nil {
			return
		}
		for i := range table.Lines {
			require.NoError(t, table.scaled(&table.Lines[i]).check())
		}
	})
}
