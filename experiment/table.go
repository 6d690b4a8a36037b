package experiment

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	terminal "heddle/internal/fit"
	"heddle/sim/stats"
)

// Speedup returns the baseline's cycles over the point's. ok is false without a baseline, without a result of either,
// or if their runs ended early for different reasons.
func Speedup(points []Point, outcomes []Outcome, i int) (speedup float64, ok bool) {
	b := points[i].Baseline
	if b < 0 || !outcomes[i].Counts() || !outcomes[b].Counts() || outcomes[i].Partial != outcomes[b].Partial ||
		outcomes[i].Cycles == 0 {
		return 0, false
	}
	return float64(outcomes[b].Cycles) / float64(outcomes[i].Cycles), true
}

// speedupHalf returns half the 95 % confidence interval of a speedup between sampled points, assuming the worst case of
// opposite errors; 0: it is exact.
func speedupHalf(points []Point, outcomes []Outcome, i int) float64 {
	s, ok := Speedup(points, outcomes, i)
	if !ok {
		return 0
	}
	a, b := &outcomes[i], &outcomes[points[i].Baseline]
	if i == points[i].Baseline {
		return 0
	}
	return s * (a.Half/float64(a.Cycles) + b.Half/float64(b.Cycles))
}

// Cycles formats cycles, with their confidence interval if they are sampled.
func Cycles(n uint64, half float64) string { return Thousands(n) + Within(half, float64(n)) }

// Within formats half a confidence interval relative to the value of; "" if the value is exact.
func Within(half, of float64) string {
	if half == 0 || of == 0 {
		return ""
	}
	return fmt.Sprintf(" ±%.1f %%", 100*half/of)
}

// column is a column of statistics.
type column struct {
	title string
	value func(stats.Tree) string
	// of is the statistic whose change measures how much the column explains, 1 less it if missing is set; "": the column
	// is kept as long as possible. weight is how much a change of it explains.
	of      string
	missing bool
	weight  float64
}

// columns lists the table's columns of statistics, with stalls of so many causes.
func columns(stalls int) []column {
	title := "top stalls of the schedulers"
	if stalls == 1 {
		title = "top stall"
	}
	return []column{
		{"IPC", ratio("ipc", "%.3f", 1), "ipc", false, 0.3},
		{"SIMD", ratio("simd_efficiency", "%.1f %%", 100), "simd_efficiency", false, 1},
		{"edges/cycle", ratio("edges_per_cycle", "%.3f", 1), "edges_per_cycle", false, 0.1},
		{"L1D hit", ratio("l1d.hit_rate", "%.1f %%", 100), "l1d.hit_rate", true, 1},
		{"DRAM B/cycle", ratio("dram.bytes_per_cycle", "%.2f", 1), "dram.bytes_per_cycle", false, 0.5},
		{"lane/warp/core max:mean", imbalance, "imbalance.lanes", false, 1},
		{title, func(t stats.Tree) string { return TopStalls(t, stalls) }, "", false, 0},
	}
}

// columnsOf lists the columns for points: those of tasks, if all machines are of Swarm tiles, or besides the others.
func columnsOf(points []Point, stalls int) []column {
	tiles, others := false, false
	for i := range points {
		if points[i].Config.Machine.Swarm != nil {
			tiles = true
		} else {
			others = true
		}
	}
	aborted := column{"aborted", ratio("swarm.abort_rate", "%.1f %%", 100), "swarm.abort_rate", false, 1}
	switch {
	case !tiles:
		return columns(stalls)
	case others:
		return append(columns(stalls), aborted)
	}
	return []column{
		{"IPC", ratio("ipc", "%.3f", 1), "ipc", false, 0.3},
		{"tasks/cycle", ratio("swarm.tasks_per_cycle", "%.3f", 1), "swarm.tasks_per_cycle", false, 0.3},
		aborted,
		{"edges/cycle", ratio("edges_per_cycle", "%.3f", 1), "edges_per_cycle", false, 0.1},
		{"core-cycles", func(t stats.Tree) string { return coreCycles(t, stalls+1) }, "", false, 0},
	}
}

// coreCycles names the n states in which the cores of tiles spend most cycles, with their shares.
func coreCycles(t stats.Tree, n int) string {
	const prefix = "swarm.core_cycles."
	type state struct {
		name   string
		cycles float64
	}
	var list []state
	total := 0.0
	for _, s := range t {
		if name, ok := strings.CutPrefix(s.Name, prefix); ok {
			list, total = append(list, state{name, s.Float()}), total+s.Float()
		}
	}
	slices.SortStableFunc(list, func(a, b state) int { return cmp.Compare(b.cycles, a.cycles) })
	var parts []string
	for _, s := range list[:min(n, len(list))] {
		parts = append(parts, fmt.Sprintf("%s %.0f %%", s.name, 100*s.cycles/total))
	}
	return strings.Join(parts, ", ")
}

// stallsFor returns the number of causes in the column of stalls for which there is room; 0 columns: unlimited.
func stallsFor(columns int) int {
	if columns > 0 && columns < 120 {
		return 1
	}
	return 3
}

// explains returns how much a column changes between the points and the baselines, or the first point, on average.
func (c *column) explains(points []Point, outcomes []Outcome) float64 {
	if c.of == "" {
		return math.Inf(1)
	}
	value := func(i int) float64 {
		s, _ := outcomes[i].Stats.Get(c.of)
		if c.missing {
			return 1 - s.Float() + 0.01
		}
		return s.Float() + 0.01
	}
	sum := 0.0
	for i := range points {
		if b := max(0, points[i].Baseline); outcomes[i].Counts() && outcomes[b].Counts() {
			sum += math.Abs(math.Log(value(i) / value(b)))
		}
	}
	return c.weight * sum
}

// imbalance formats the largest load over the mean, for lanes, warps and cores.
func imbalance(t stats.Tree) string {
	lanes := ratio("imbalance.lanes", "%.1f", 1)(t)
	if lanes == "–" || lanes == "0.0" {
		return "–"
	}
	return lanes + "/" + ratio("imbalance.warps", "%.1f", 1)(t) + "/" + ratio("imbalance.cores", "%.1f", 1)(t)
}

func ratio(name, format string, times float64) func(stats.Tree) string {
	return func(t stats.Tree) string {
		s, ok := t.Get(name)
		if !ok {
			return "–"
		}
		return fmt.Sprintf(format, times*s.Float()) + Within(s.Half, s.Float())
	}
}

// TopStalls names the n most frequent causes for which schedulers issued nothing, with their share of all
// scheduler-cycles.
func TopStalls(t stats.Tree, n int) string {
	const prefix = "core.scheduler."
	type stall struct {
		name  string
		share float64
	}
	var stalls []stall
	total := 0.0
	for _, s := range t {
		if cause, ok := strings.CutPrefix(s.Name, prefix); ok {
			total += s.Float()
			if cause != "issued" && s.Float() > 0 {
				cause = strings.TrimPrefix(cause, "stall.")
				stalls = append(stalls, stall{strings.TrimPrefix(cause, "scoreboard."), s.Float()})
			}
		}
	}
	slices.SortStableFunc(stalls, func(a, b stall) int { return cmp.Compare(b.share, a.share) })
	var parts []string
	for _, s := range stalls[:min(n, len(stalls))] {
		parts = append(parts, fmt.Sprintf("%s %.0f %%", s.name, 100*s.share/total))
	}
	return strings.Join(parts, ", ")
}

// WriteTable writes the outcomes as a table, with means over seeds and geometric means over the sweep. On a terminal, a
// sweep of two axes or more that takes many rows is a matrix of speedups or cycles instead, if that fits.
func WriteTable(w io.Writer, points []Point, outcomes []Outcome) {
	if text, ok := matrix(points, outcomes, terminal.Columns(w)); ok {
		io.WriteString(w, text) //nolint:errcheck // as the rows below
		return
	}
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Options.SeparateRows = false
	t.Style().Format.Header = text.FormatDefault
	var header table.Row
	keys, stats := shownAxes(points), columnsOf(points, stallsFor(terminal.Columns(w)))
	shown := newAxes(keys, settingsOf(points))
	for _, title := range shown.titles {
		header = append(header, title)
	}
	if seeded(points) {
		header = append(header, "seeds")
	}
	header = append(header, "cycles")
	compared, means := compares(points), seeded(points) // computed once, as there may be many rows
	if compared {
		header = append(header, "speedup")
	}
	first := len(header)
	for _, c := range stats {
		header = append(header, c.title)
	}
	header = append(header, "verified")
	t.AppendHeader(header)
	verdicts := 0
	for _, g := range Groups(points) {
		row := shown.row(points[g[0]].Axes)
		if means {
			row = groupRow(row, stats, points, outcomes, g, compared)
		} else {
			row = pointRow(row, stats, points, outcomes, g[0], compared)
		}
		verdicts = max(verdicts, utf8.RuneCountInString(fmt.Sprint(row[len(row)-1])))
		t.AppendRow(row)
	}
	geomeans := Geomeans(points, outcomes)
	for i, m := range geomeans {
		if i == 0 {
			t.AppendSeparator()
		}
		t.AppendRow(geomeanRow(&shown, points, &m))
	}
	n := len(keys)
	f := fitted(t, header, rightAligned(n+1, len(header)-1), &shown)
	f.Words = append(f.Words, make([]int, len(header)-n)...)
	f.Words[len(header)-1], f.Widths[len(header)-1] = verdicts, verdicts
	f.Drop = droppable(stats, first, points, outcomes)
	f.Drop = slices.Insert(f.Drop, len(f.Drop)-keptLonger, shown.implied...)
	f.Render(w)
	if means && compared && anyAlike(points, outcomes) {
		fmt.Fprintln(w, alikeNote)
	}
	for _, line := range meansOver(geomeans) {
		fmt.Fprintln(w, line)
	}
}

// rightAligned aligns the columns from first on and before end, which are counted from 1.
func rightAligned(first, end int) (columns []table.ColumnConfig) {
	for i := first; i < end; i++ {
		columns = append(columns, table.ColumnConfig{Number: i, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	return columns
}

// anyAlike reports whether the speedup of a group of seeds may be none.
func anyAlike(points []Point, outcomes []Outcome) bool {
	return slices.ContainsFunc(Groups(points), func(g Group) bool {
		e := g.speedup(points, outcomes)
		return e.alike()
	})
}

// manyRows is the number of rows from which on a matrix is easier to read.
const manyRows = 13

// matrix returns the outcomes as a matrix; ok is false if there are few points or no second axis, or it does not fit.
func matrix(points []Point, outcomes []Outcome, columns int) (text string, ok bool) {
	if columns == 0 || len(Groups(points)) < manyRows {
		return "", false
	}
	value, verdicts, counts := "cycles", []string{}, map[string]int{}
	if compares(points) {
		value = "speedup"
	}
	var list []Valued
	for i := range points {
		o := &outcomes[i]
		v := Valued{Axes: points[i].Axes, Value: math.NaN()}
		if s, has := Speedup(points, outcomes, i); has && value == "speedup" {
			v.Value, v.Half = s, speedupHalf(points, outcomes, i)
		} else if o.Counts() && value == "cycles" {
			v.Value, v.Half = float64(o.Cycles), o.Half
		}
		if list = append(list, v); counts[o.verdict()] == 0 {
			verdicts = append(verdicts, o.verdict())
		}
		counts[o.verdict()]++
	}
	p, err := NewPivot(list, value, nil, nil)
	if err != nil || len(p.RowKeys) == 0 || len(p.ColumnKeys) == 0 || len(p.Columns) < 2 {
		return "", false
	}
	var b strings.Builder
	if err := p.Write(terminal.Writer{Writer: &b, Columns: columns}, "table", nil); err != nil ||
		strings.Contains(b.String(), terminal.NoRoom) {
		return "", false
	}
	for i, v := range verdicts {
		verdicts[i] = fmt.Sprintf("%s %d", v, counts[v])
	}
	fmt.Fprintf(&b, "verified: %s\nall points with their cycles: heddle results list %s\n", strings.Join(verdicts, ", "),
		points[0].Config.Name)
	return b.String(), true
}

// keptLonger is the number of columns of statistics that are more telling than axes that follow from others.
const keptLonger = 2

// droppable returns the columns of statistics, from the first, in the order in which they are left out: those that
// explain the differences between points least come first.
func droppable(list []column, first int, points []Point, outcomes []Outcome) (order []int) {
	explains := make([]float64, len(list))
	for i := range list {
		explains[i] = list[i].explains(points, outcomes)
		order = append(order, len(list)-1-i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(explains[a], explains[b]) })
	for i := range order {
		order[i] += first
	}
	return order
}

// fitted returns a table that fits the terminal by wrapping the axes' values.
func fitted(t table.Writer, header table.Row, right []table.ColumnConfig, shown *axes) *terminal.Table {
	f := &terminal.Table{Writer: t, Configs: right, Widths: make([]int, len(header)), Words: shown.longest()}
	for i, name := range header {
		f.Names = append(f.Names, fmt.Sprint(name))
		if i < len(shown.keys) {
			f.Widths[i] = f.Words[i]
		}
	}
	return f
}

// settingsOf returns the settings of points on their axes.
func settingsOf(points []Point) (list [][]Setting) {
	for i := range points {
		list = append(list, points[i].Axes)
	}
	return list
}

// meansOver names the keys that means and ranges are taken over, each list of keys once.
func meansOver(means []Geomean) (list []string) {
	for i := range means {
		if over := strings.Join(means[i].Over, ", "); over != "" {
			if line := fmt.Sprintf("%-7s  over %s", means[i].kind(), over); !slices.Contains(list, line) {
				list = append(list, line)
			}
		}
	}
	return list
}

// shownAxes returns the keys of axes in which points differ, except the seed, over which means are taken.
func shownAxes(points []Point) []string {
	return slices.DeleteFunc(varyingKeys(settingsOf(points)), func(key string) bool { return key == SeedKey })
}

// axisKeys returns the keys of all points' axes in the order of the experiment, the seed last.
func axisKeys(points []Point) (keys []string) {
	seen := map[string]bool{}
	for i := range points {
		for _, s := range points[i].Axes {
			if !seen[s.Key] {
				seen[s.Key] = true
				keys = append(keys, s.Key)
			}
		}
	}
	if i := slices.Index(keys, SeedKey); i >= 0 {
		keys = append(slices.Delete(keys, i, i+1), SeedKey)
	}
	return keys
}

// compares reports whether there are speedups to show.
func compares(points []Point) bool {
	return slices.ContainsFunc(points, func(p Point) bool { return p.Baseline >= 0 })
}

// groupRow returns the row of points that differ in their seed alone: means with their 95 % confidence intervals.
func groupRow(r table.Row, list []column, points []Point, outcomes []Outcome, g Group, compared bool) table.Row {
	r = append(r, len(g), g.cycles(outcomes).text(countText))
	if compared {
		e := g.speedup(points, outcomes)
		text := e.text(speedupText)
		if e.alike() {
			text = alikeMark + text
		}
		r = append(r, text)
	}
	r = append(r, columnsRow(list, g.stats(outcomes))...)
	return append(r, g.verdict(outcomes))
}

// verdict returns the common verdict of verified points, or else the last verdict other than verified, with a count.
func (g Group) verdict(outcomes []Outcome) string {
	others, verdict, first := 0, verified, outcomes[g[0]].verdict()
	alike := outcomes[g[0]].Verified
	for _, i := range g {
		v := outcomes[i].verdict()
		if alike = alike && v == first; v != verified {
			others, verdict = others+1, v
		}
	}
	if alike {
		return first
	}
	return fmt.Sprintf("%s (%d of %d)", verdict, others, len(g))
}

func columnsRow(list []column, t stats.Tree) (r table.Row) {
	for _, c := range list {
		if t == nil {
			r = append(r, "–")
			continue
		}
		r = append(r, c.value(t))
	}
	return r
}

func pointRow(r table.Row, list []column, points []Point, outcomes []Outcome, i int, compared bool) table.Row {
	o := &outcomes[i]
	cycles, speedup := "–", "–"
	if o.Cycles > 0 {
		cycles = Cycles(o.Cycles, o.Half)
	}
	if s, ok := Speedup(points, outcomes, i); ok {
		speedup = speedupText(s) + Within(speedupHalf(points, outcomes, i), s)
	}
	r = append(r, cycles)
	if compared {
		r = append(r, speedup)
	}
	return append(append(r, columnsRow(list, o.Stats.Tree())...), o.verdict())
}

const verified = "yes"

// verdict returns the text for the column verified.
func (o *Outcome) verdict() string {
	return Verdict(o.Verified && o.Err == nil, o.Replay, o.Partial, Class(o.Err))
}

// Verdict returns a short text on the correctness of a result.
func Verdict(right bool, replay, partial, failure string) string {
	steps, stopped := strings.CutPrefix(partial, partialSteps)
	switch {
	case right && stopped:
		return verified + " (stopped after " + steps + ")"
	case right:
		return verified
	case failure != "":
		return "NO: " + failure
	case replay != "" && stopped:
		return replay + " (stopped after " + steps + ")"
	case partial != "":
		return "partial: " + partial
	case replay != "":
		return replay
	}
	return "NO: "
}

// StoppedText describes how far a run came that max_iterations stopped; "": it was complete.
func (o *Outcome) StoppedText() string {
	steps, stopped := strings.CutPrefix(o.Partial, partialSteps)
	if !stopped {
		return ""
	}
	left, _ := o.Stats.Get(leftName)
	n, _ := left.Uint()
	return fmt.Sprintf(" as far as it went, stopped after %s super-steps with %s vertices active", steps, Thousands(n))
}

// Thousands formats a count with commas.
func Thousands(n uint64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func describeMachine(w io.Writer, p *Point) {
	m := &p.Config.Machine
	caches := fmt.Sprintf("L1D %s", sizeText(m.L1D.Bytes))
	if m.L2 != nil {
		caches += ", L2 " + sizeText(m.L2.Bytes)
	}
	if s := m.Swarm; s != nil {
		fmt.Fprintf(w, "machine  %d Swarm tiles × %d cores, %d task and %d commit queue entries a core\n", m.Sockets,
			m.CoresPerSocket, s.TaskQueue, s.CommitQueue)
	} else {
		fmt.Fprintf(w, "machine  %d cores × %d warps × %d threads, %s, memory %s\n",
			m.Sockets*m.CoresPerSocket, m.Core.Warps, m.Core.Threads, caches, m.Memory.Preset)
	}
	if sum := p.work().identity(); sum != "" {
		fmt.Fprintf(w, "program  %s, sha256 %.12s…\n", p.Config.Workload.Program, sum)
	}
	if part := Part(&p.Config); part != "" {
		fmt.Fprintf(w, "part     %s\n", part)
	}
	if s := &p.Config.Sample; s.Steps > 0 {
		fmt.Fprintf(w,
			"sample   one of %d super-steps that are alike is simulated; cycles and statistics are estimates,\n"+
				"         ± half their 95 %% confidence intervals (docs/guide/sampling.md)\n", s.Steps)
	} else if s.On() {
		fmt.Fprintf(w,
			"sample   %d of every %d warp instructions a warp are measured; cycles and statistics are estimates,\n"+
				"         ± half their 95 %% confidence intervals (docs/guide/sampling.md)\n",
			s.Interval, s.Period)
	}
}

// DescribePoint loads the graph or trace of a point, and writes a description of it and of the machine.
func (r *Runner) DescribePoint(w io.Writer, i int) error {
	p := &r.Points[i]
	if p.work().graph() != noGraph {
		g, err := r.graphs.describe(p.Config.Graph)
		if err == nil {
			describeMachine(w, p)
			a := &g.about
			mean := float64(a.Edges) / float64(max(a.Vertices, 1))
			fmt.Fprintf(w, "graph    %s, sha256 %.12s…\n         %s vertices, %s edges, in-degree mean %.1f, max %s\n",
				a.Source, g.hash, Thousands(uint64(a.Vertices)), Thousands(uint64(a.Edges)), mean,
				Thousands(uint64(a.MaxInDegree)))
		}
		return err
	}
	l, err := r.graphs.trace(p.Config.Workload.Trace)
	if err == nil {
		describeMachine(w, p)
		fmt.Fprintf(w, "graph    of %s, trace sha256 %.12s…\n         %s vertices, %s edges\n", l.about.Source, l.hash,
			Thousands(uint64(l.about.Vertices)), Thousands(uint64(l.about.Edges)))
	}
	return err
}

func sizeText(bytes int) string {
	if bytes >= 1<<20 && bytes%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d KiB", bytes>>10)
}
