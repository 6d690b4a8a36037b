package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Evidence is a quantity of both runs that bears on a finding.
type Evidence struct {
	Key     string  `json:"key"`
	Name    string  `json:"name"`
	A       float64 `json:"a"`
	B       float64 `json:"b"`
	Finding string  `json:"finding,omitempty"` // key of the finding that it bears on; "": the whole

	format string  // of a value
	scale  float64 // of a value, as it is printed
	change float64 // |ln(B/A)| after smoothing
}

// quantity is a quantity that can be evidence: a quotient of sums of statistics.
type quantity struct {
	key, name   string
	over, under []string // names of statistics; all of both have to be there
	format      string
	scale       float64 // of the printed value; 0: 1
	// small is the least value that matters, in the unit of the quotient: changes below it are no evidence.
	small float64
	// of lists the findings that it bears on: those it makes worse as it grows, or better if grows is -1.
	of    []string
	grows int
	// last marks a consequence, which is evidence only where no cause of it has changed.
	last bool
}

const (
	memoryKey = "stall.scoreboard.memory"
	queueKey  = "stall.lsu_queue"
	drained   = "drained"
)

var memory = []string{memoryKey, queueKey}

// quantities lists the statistics that can be evidence.
var quantities = []quantity{
	{"simd", "lanes active", list("thread_instrs"), list("warp_instrs"), "%.1f", 1, 0.1,
		list(instructionsKey), -1, false},
	{"instructions", "warp instructions", list("core.issue.instructions"), nil, "%.0f", 1, 1,
		list(instructionsKey), 1, true},
	{"l1d.misses", "L1D misses", list("l1d.read_misses"), list("l1d.reads"), "%.1f %%", 100, 0.01, memory, 1, false},
	{"l2.misses", "L2 misses", list("l2.read_misses"), list("l2.reads"), "%.1f %%", 100, 0.01, memory, 1, false},
	{"dram.read", "DRAM clocks a read", list("dram.read_latency"), list("dram.reads"), "%.0f", 1, 4, memory, 1, false},
	{"requests", "L1D requests an access", list("lsu.requests"), list("warp_instrs.load", "warp_instrs.store",
		"warp_instrs.atomic"), "%.1f", 1, 0.1, memory, 1, false},
	{"l1d.mshr", "L1D refusals for want of an MSHR, a read", list("l1d.stall.mshr"), list("l1d.reads"), "%.2f", 1,
		0.2, memory, 1, false},
	{"l2.mshr", "L2 refusals for want of an MSHR, a read", list("l2.stall.mshr"), list("l2.reads"), "%.2f", 1, 0.2,
		memory, 1, false},
	{"l1d.conflicts", "L1D bank conflicts a request", list("l1d.bank_conflicts"), list("lsu.requests"), "%.2f", 1,
		0.1, memory, 1, false},
	{"atomics.wait", "cycles an atomic waits at the L2", list("l2.atomics.wait_cycles"), list("l2.atomics"), "%.0f",
		1, 4, memory, 1, false},
	{"load.wait", "cycles a warp waits for an access", list("core.warps.long_scoreboard"), list("warp_instrs.load",
		"warp_instrs.atomic"), "%.1f", 1, 1, memory, 1, true},
	{"l1i.misses", "L1I misses", list("l1i.read_misses"), list("l1i.reads"), "%.1f %%", 100, 0.01,
		list("stall.ibuffer"), 1, false},
	{"branches", "branches and warp control an instruction", list("warp_instrs.branch", "warp_instrs.warp"),
		list("warp_instrs"), "%.2f", 1, 0.02, list("stall.ibuffer"), 1, false},
	{"barriers", "arrivals at barriers", list("barriers"), nil, "%.0f", 1, 1, list("stall.barrier"), 1, false},
	{"bank.conflicts", "cycles of scratchpad conflicts an access", list("core.scratchpad.conflict_cycles"),
		list("scratchpad.accesses"), "%.2f", 1, 0.05, list("stall.scoreboard.scratchpad"), 1, false},
	{"warps.idle", "warp slots occupied", list("achieved_occupancy"), nil, "%.1f %%", 100, 0.01,
		list(drained), -1, false},
	{"imbalance.warps", "edges of the busiest warp over the mean", list("imbalance.warps"), nil, "%.1f", 1, 0.1,
		list(drained), 1, false},
	{"imbalance.cores", "edges of the busiest core over the mean", list("imbalance.cores"), nil, "%.2f", 1, 0.02,
		list(idleKey), 1, false},
	{"launches", "launches", list("launch.count"), nil, "%.0f", 1, 1, list(launchesKey, launchKey), 1, false},
}

func list(names ...string) []string { return names }

// value returns the quantity of a run; ok is false if a statistic is missing, or there is nothing to divide by.
func (q *quantity) value(r *Run) (v float64, ok bool) {
	over, there := total(r, q.over)
	if !there || len(q.under) == 0 {
		return over, there
	}
	under, there := total(r, q.under)
	return over / under, there && under > 0
}

func total(r *Run, names []string) (sum float64, ok bool) {
	for _, name := range names {
		v, ok := r.Stats[name]
		if !ok {
			return 0, false
		}
		sum += v
	}
	return sum, true
}

// evidence lists quantities that changed by at least a tenth in the direction of the finding that they bear on, by
// finding, the largest change first.
func evidence(a, b *Run, findings []Finding) (all []Evidence) {
	for _, f := range findings {
		var of []Evidence
		for i := range quantities {
			q := &quantities[i]
			va, okA := q.value(a)
			vb, okB := q.value(b)
			if !okA || !okB || !slices.Contains(q.of, f.Key) {
				continue
			}
			change := math.Log((vb + q.small) / (va + q.small))
			if float64(q.grows)*change*f.Cycles <= 0 || math.Abs(change) < 0.1 {
				continue
			}
			if q.last && len(of) > 0 {
				continue
			}
			of = append(of, Evidence{q.key, q.name, va, vb, f.Key, q.format, cmp.Or(q.scale, 1), math.Abs(change)})
		}
		slices.SortStableFunc(of, func(a, b Evidence) int { return cmp.Compare(b.change, a.change) })
		all = append(all, of...)
	}
	return all
}

// printed formats a change: "L1D misses 6.9 % → 17.6 %".
func (e *Evidence) printed() string {
	return fmt.Sprintf("%s %s → %s", e.Name, e.valueText(e.A), e.valueText(e.B))
}

func (e *Evidence) valueText(v float64) string {
	text := fmt.Sprintf(e.format, e.scale*v)
	if e.format == "%.0f" {
		return grouped(e.scale * v)
	}
	return text
}

// grouped formats a number without decimals, with commas between thousands and a true minus sign.
func grouped(v float64) string {
	digits := fmt.Sprintf("%.0f", math.Abs(v))
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if v < 0 && strings.Trim(digits, "0") != "" {
		return "−" + digits
	}
	return digits
}
