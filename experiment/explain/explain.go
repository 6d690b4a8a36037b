// Package explain explains why one simulated point takes fewer cycles than another: it splits the difference of their
// cycles into parts that sum to it, and finds the kernel, phase and super-step in which most of it lies.
//
// The parts follow from the conservation of scheduler-cycles. In every cycle of a core, each issue slot of each of its
// slices either issues or is empty for one cause, so the counts of all causes, divided by the issue slots of the
// machine, sum to the cycles in which cores ran. In a point's remaining cycles cores wait for the last one to
// end, or the host launches kernels. The package knows stored statistics, and no machine, kernel or runner.
package explain

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

// Run is one of the two points that are compared.
type Run struct {
	Name   string // the settings that distinguish it from the other
	Point  int    // its number in the experiment, from 1
	Cycles uint64
	Half   float64            // half the 95 % confidence interval of the cycles; 0: they are exact
	Stats  map[string]float64 // statistics by name, as heddle stats describe lists them
	Steps  []Launch           // launches in the order of the run; none: where the difference lies is known by kernel
}

// Launch holds the cycles of one launch in a super-step, from 1; 0: before the first.
type Launch struct {
	Step   int
	Kernel string
	Cycles uint64
	Causes map[string]float64 // scheduler-cycles by cause, as in Parts; none: they are not stored
}

// Part is a part of both runs' cycles. All parts of a run sum to its cycles.
type Part struct {
	Key  string `json:"key"`  // the cause in the statistics, or idle, launch or unattributed
	Name string `json:"name"` // for people
	// A and B are the part's cycles in the runs: scheduler-cycles over the issue slots of the machine.
	A float64 `json:"a"`
	B float64 `json:"b"`
	// Difference is B - A, and the sum of ByCount and ByEach.
	Difference float64 `json:"difference"`
	// ByCount is the difference due to the number of instructions, or of launches, at the mean of both runs' cycles
	// of this part per instruction.
	ByCount float64 `json:"by_count"`
	// ByEach is the difference due to the cycles of this part per instruction, at the mean number of instructions.
	ByEach float64 `json:"by_each"`
}

// Finding is a reason for the difference. All findings of an explanation sum to the difference of the cycles.
type Finding struct {
	Key    string  `json:"key"` // instructions, launches, or the key of a part
	Name   string  `json:"name"`
	Cycles float64 `json:"cycles"` // negative: B is faster by so many
}

// Explanation is the difference between the cycles of two runs, in parts.
type Explanation struct {
	A, B       Run
	Parts      []Part     // the largest difference first
	Findings   []Finding  // those in the direction of the difference, the largest first; then those against it
	Evidence   []Evidence // statistics that changed, with those of the first finding first
	Kernels    []Place    // by kernel, the largest difference first
	Phases     []Place    // by phase of the kernels
	Warps      []Place    // by the state of all warps, in cycles of a core
	Shared     []Place    // by cause, each empty slot shared by all warps; none: a run does not count that
	Sharing    bool       // the parts are those of Shared, instead of one cause a slot
	SuperSteps []Step     // in both runs, in order
	Unmatched  []Step     // super-steps of one run alone, in order
}

// Place is a part of a program, and the cycles that both runs spend there.
type Place struct {
	Name       string  `json:"name"`
	A          float64 `json:"a"`
	B          float64 `json:"b"`
	Difference float64 `json:"difference"`
}

// Step is a super-step, and the causes of its cycles in both runs, which sum to them; none: not stored.
type Step struct {
	Place
	Causes []Place `json:"causes,omitempty"` // the largest difference first
}

// Explain explains the difference between two runs, both of whose statistics must be complete: errors name the
// statistic that is missing.
func Explain(a, b *Run) (*Explanation, error) { return explain(a, b, false) }

// ExplainShared is Explain with each empty issue slot shared by all warps, which the runs must have counted
// (stats.shared_stalls).
func ExplainShared(a, b *Run) (*Explanation, error) { return explain(a, b, true) }

func explain(a, b *Run, share bool) (*Explanation, error) {
	sa, err := newStack(a)
	if err != nil {
		return nil, fmt.Errorf("point %d: %w", a.Point, err)
	}
	sb, err := newStack(b)
	if err != nil {
		return nil, fmt.Errorf("point %d: %w", b.Point, err)
	}
	e := &Explanation{A: *a, B: *b, Kernels: kernels(a, b), Phases: phases(sa, sb),
		Warps: warps(sa, sb), Sharing: share}
	sharedA, okA := sa.shared()
	sharedB, okB := sb.shared()
	switch {
	case okA && okB:
		e.Shared = compared(sharedA.cycles, sharedB.cycles)
		for i := range e.Shared {
			e.Shared[i].Name = nameOf(e.Shared[i].Name)
		}
	case share:
		return nil, fmt.Errorf("point %d has no statistics %s*: expected points that were simulated with "+
			"stats.shared_stalls: true (heddle run NAME --set stats.shared_stalls=true)", pick(okA, b, a).Point,
			sharing)
	}
	e.SuperSteps, e.Unmatched = superSteps(sa, sb)
	if share {
		sa, sb = sharedA, sharedB
	}
	e.Parts = parts(sa, sb)
	e.Findings = findings(e.Parts, e.difference())
	e.Evidence = evidence(a, b, e.Findings)
	return e, nil
}

// difference returns the cycles of B less those of A.
func (e *Explanation) difference() float64 { return float64(e.B.Cycles) - float64(e.A.Cycles) }

// Speedup returns the cycles of A over those of B.
func (e *Explanation) Speedup() float64 { return float64(e.A.Cycles) / float64(e.B.Cycles) }

// Keys of parts that are no causes of schedulers, and of the findings that gather parts.
const (
	idleKey         = "idle"
	launchKey       = "launch"
	restKey         = "unattributed"
	instructionsKey = "instructions"
	launchesKey     = "launches"
)

// schedulers is the prefix of the statistics that count scheduler-cycles by cause.
const schedulers = "core.scheduler."

const issuedKey = "issued"

// causes lists the causes of schedulers in words, in the order of the statistics. Causes that are not listed, as later
// programs may add, go by their statistic.
var causes = []struct{ key, name string }{
	{issuedKey, "instructions issued"},
	{"stall.operands", "operand collectors"},
	{"stall.alu_busy", "ALU busy"},
	{"stall.fpu_busy", "FPU busy"},
	{"stall.sfu_busy", "SFU or unit busy"},
	{"stall.lsu_queue", "load-store unit full"},
	{"stall.scoreboard.memory", "waiting for memory"},
	{"stall.scoreboard.scratchpad", "wait for scratchpad"},
	{"stall.scoreboard.alu", "waiting for ALU"},
	{"stall.scoreboard.fpu", "waiting for FPU"},
	{"stall.scoreboard.sfu", "waiting for SFU"},
	{"stall.scoreboard.unit", "waiting for unit"},
	{"stall.ibuffer", "fetch and branches"},
	{"stall.inactive", "kept out by policy"},
	{"stall.barrier", "barrier"},
	{"drained", "slice's warps ended"},
	{idleKey, "other cores run on"},
	{launchKey, "launches by the host"},
	{restKey, "not attributed"},
}

func nameOf(key string) string {
	for _, c := range causes {
		if c.key == key {
			return c.name
		}
	}
	return key
}

// stack is a run's cycles by part.
type stack struct {
	run          *Run
	cycles       map[string]float64 // by the key of the part
	instructions float64
	launches     float64
	active       float64 // cycles in which a core ran, the mean of all cores
	phaseSlots   float64 // scheduler-cycles of phases to a cycle of the machine
	slots        float64 // issue slots of the machine
}

var (
	coreCycles = regexp.MustCompile(`^core\d+\.cycles$`)
	errOld     = errors.New("expected that of a run of the whole machine, stored by this or an earlier program")
)

// newStack attributes a run's cycles. A missing statistic is an error, because a stack without it would not sum.
func newStack(r *Run) (*stack, error) {
	s := &stack{run: r, cycles: map[string]float64{}}
	cores, total, spent := 0.0, 0.0, 0.0
	for name, v := range r.Stats {
		if coreCycles.MatchString(name) {
			cores++
		}
		if key, ok := strings.CutPrefix(name, schedulers); ok {
			s.cycles[key] = v
			total += v
		}
	}
	active, device := r.Stats["core.cycles"], r.Stats["device_cycles"]
	if cores == 0 || total == 0 || active == 0 || device == 0 {
		return nil, fmt.Errorf("no statistics core0.cycles, %sissued, core.cycles or device_cycles: %w", schedulers, errOld)
	}
	s.instructions, s.active = s.cycles[issuedKey], active/cores
	s.slots = total / active * cores
	for _, key := range slices.Sorted(maps.Keys(s.cycles)) { // sums have the same last digits in each run
		s.cycles[key] /= s.slots
		spent += s.cycles[key]
	}
	s.cycles[idleKey] = device - s.active
	s.cycles[launchKey] = r.Stats["launch.overhead_cycles"]
	s.launches = r.Stats["launch.count"]
	if rest := float64(r.Cycles) - spent - s.cycles[idleKey] - s.cycles[launchKey]; math.Abs(rest) > 0.5 {
		s.cycles[restKey] = rest
	}
	timed := 0.0
	for _, t := range phaseTimes(r) {
		timed += t
	}
	s.phaseSlots = timed / active * cores
	return s, nil
}

// sharing is the prefix of the statistics that count empty slots shared by all warps.
const sharing = "core.shared_stalls."

// shared returns the stack with the shared causes for the schedulers'; ok is false if the run has not counted them.
func (s *stack) shared() (of *stack, ok bool) {
	x := *s
	x.cycles = maps.Clone(s.cycles)
	perSlot := s.cycles[issuedKey] / s.instructions
	for name, v := range s.run.Stats {
		cause, is := strings.CutPrefix(name, sharing)
		if !is {
			continue
		}
		ok = true
		if cause != drained {
			cause = "stall." + cause
		}
		x.cycles[cause] = v * perSlot
	}
	return &x, ok
}

// parts lists all parts that are not zero in both runs.
func parts(a, b *stack) (list []Part) {
	for _, key := range keysOf(a.cycles, b.cycles) {
		p := Part{Key: key, Name: nameOf(key), A: a.cycles[key], B: b.cycles[key]}
		p.Difference = p.B - p.A
		na, nb := a.instructions, b.instructions
		switch key {
		case launchKey:
			na, nb = a.launches, b.launches
		case restKey:
			na, nb = 0, 0
		}
		if na > 0 && nb > 0 {
			p.ByCount = (nb - na) * (p.A/na + p.B/nb) / 2
		}
		p.ByEach = p.Difference - p.ByCount
		if p.A != 0 || p.B != 0 {
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b Part) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Difference), math.Abs(a.Difference)), cmp.Compare(b.A, a.A))
	})
	return list
}

// keysOf returns the keys of parts, in the order of causes, the others behind them.
func keysOf(a, b map[string]float64) (keys []string) {
	rest := map[string]bool{}
	for _, m := range []map[string]float64{a, b} {
		for key := range m {
			rest[key] = true
		}
	}
	for _, c := range causes {
		if rest[c.key] {
			keys = append(keys, c.key)
			delete(rest, c.key)
		}
	}
	others := len(keys)
	for key := range rest {
		keys = append(keys, key)
	}
	slices.Sort(keys[others:])
	return keys
}

// findings lists the reasons for a difference: the number of instructions as one, and each part's cycles per
// instruction.
func findings(parts []Part, difference float64) (list []Finding) {
	instructions := Finding{Key: instructionsKey, Name: "number of instructions"}
	for _, p := range parts {
		if p.Key == launchKey {
			list = append(list, Finding{launchesKey, "number of launches", p.ByCount}, Finding{p.Key, p.Name, p.ByEach})
			continue
		}
		instructions.Cycles += p.ByCount
		list = append(list, Finding{p.Key, p.Name, p.ByEach})
	}
	list = slices.DeleteFunc(append(list, instructions), func(f Finding) bool { return math.Abs(f.Cycles) < 0.5 })
	with := func(f Finding) float64 {
		if difference < 0 {
			return -f.Cycles
		}
		return f.Cycles
	}
	slices.SortStableFunc(list, func(a, b Finding) int {
		wa, wb := with(a), with(b)
		if wa < 0 && wb < 0 { // both are against it: the largest first
			return cmp.Compare(wa, wb)
		}
		return cmp.Compare(wb, wa)
	})
	return list
}
