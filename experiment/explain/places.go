package explain

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// between returns the part of a statistic's name between a prefix and a suffix; ok is false for other names.
func between(name, prefix, suffix string) (part string, ok bool) {
	name, starts := strings.CutPrefix(name, prefix)
	name, ends := strings.CutSuffix(name, suffix)
	return name, starts && ends
}

// phaseTimes returns a run's scheduler-cycles by phase.
func phaseTimes(r *Run) map[string]float64 {
	times := map[string]float64{}
	for name, v := range r.Stats {
		if phase, ok := between(name, "core.phase.", ".scheduler_cycles"); ok {
			times[phase] = v
		}
	}
	return times
}

// phases compares the phases of kernels. Together they make the cycles in which cores ran.
func phases(a, b *stack) []Place {
	of := func(s *stack) map[string]float64 {
		times := phaseTimes(s.run)
		for name := range times {
			times[name] /= s.phaseSlots
		}
		return times
	}
	if a.phaseSlots == 0 || b.phaseSlots == 0 {
		return nil
	}
	return compared(of(a), of(b))
}

// kernels compares kernels. Together with the launches by the host they make all cycles.
func kernels(a, b *Run) []Place {
	of := func(r *Run) map[string]float64 {
		cycles := map[string]float64{}
		for name, v := range r.Stats {
			if kernel, ok := between(name, "kernel.", ".cycles"); ok {
				cycles[kernel] = v
			}
		}
		return cycles
	}
	return compared(of(a), of(b))
}

// compared pairs values by name, the largest difference first.
func compared(a, b map[string]float64) (list []Place) {
	for _, name := range keysOf(a, b) {
		if p := (Place{name, a[name], b[name], b[name] - a[name]}); p.A != 0 || p.B != 0 {
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b Place) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Difference), math.Abs(a.Difference)), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// superSteps compares super-steps by number: those of both runs, and those of one alone. Cycles are those of all
// launches in a super-step; the host's between them are left out.
func superSteps(a, b *stack) (both, alone []Step) {
	ca, lastA := a.steps()
	cb, lastB := b.steps()
	if lastA < 0 || lastB < 0 {
		return nil, nil
	}
	for n := 0; n <= max(lastA, lastB); n++ {
		va, inA := ca[n]
		vb, inB := cb[n]
		s := Step{Place: Place{fmt.Sprint(n), va.cycles, vb.cycles, vb.cycles - va.cycles}}
		if (!inA || va.causes != nil) && (!inB || vb.causes != nil) {
			s.Causes = compared(va.causes, vb.causes)
			for i := range s.Causes {
				s.Causes[i].Name = nameOf(s.Causes[i].Name)
			}
		}
		switch {
		case inA && inB:
			both = append(both, s)
		case inA || inB:
			alone = append(alone, s)
		}
	}
	return both, alone
}

// stepCycles is a super-step's cycles, and these by cause; nil: not stored.
type stepCycles struct {
	cycles float64
	causes map[string]float64
}

// steps returns a run's super-steps by number, and the last number; -1: there are none. Cycles that no scheduler counts
// are those in which cores have ended and wait for the last one.
func (s *stack) steps() (steps map[int]stepCycles, last int) {
	steps, last = map[int]stepCycles{}, -1
	unknown := map[int]bool{}
	for _, l := range s.run.Steps {
		x := steps[l.Step]
		if x.causes == nil {
			x.causes = map[string]float64{}
		}
		x.cycles += float64(l.Cycles)
		idle := float64(l.Cycles)
		for _, key := range slices.Sorted(maps.Keys(l.Causes)) {
			v := l.Causes[key] / s.slots
			x.causes[key] += v
			idle -= v
		}
		x.causes[idleKey] += idle
		unknown[l.Step] = unknown[l.Step] || len(l.Causes) == 0
		steps[l.Step], last = x, max(last, l.Step)
	}
	for n := range unknown {
		if x := steps[n]; unknown[n] {
			x.causes = nil
			steps[n] = x
		}
	}
	return steps, last
}

// most returns the place with the largest difference in the direction of the whole; ok is false if there is none.
func most(list []Place, difference float64) (found Place, ok bool) {
	for _, p := range list {
		if p.Difference*difference > 0 && math.Abs(p.Difference) > math.Abs(found.Difference) {
			found, ok = p, true
		}
	}
	return found, ok
}

// places returns the super-steps as places.
func places(steps ...Step) (list []Place) {
	for i := range steps {
		list = append(list, steps[i].Place)
	}
	return list
}

// states names the states of warps in words.
var states = map[string]string{
	"selected": "issuing", "not_selected": "another issuing", "no_instruction": "fetch", "long_scoreboard": "memory",
	"short_scoreboard": "scratchpad or SFU", "lg_throttle": "load-store unit full", "mio_throttle": "SFU full",
	"math_pipe_throttle": "ALU or FPU full", "wait": "ALU or FPU", "dispatch": "operand collectors",
	"branch_resolving": "branches", "barrier": "barrier", "membar": "fence", "unit_wait": "graph unit",
}

// warps compares the states of all resident warps, in cycles of a core: the share of the warps' time in each state
// times the cycles in which cores ran. Unlike causes of schedulers they count every warp.
func warps(a, b *stack) []Place {
	of := func(s *stack) map[string]float64 {
		cycles, resident := map[string]float64{}, s.run.Stats["core.warps.resident"]
		for state, name := range states {
			if v := s.run.Stats["core.warps."+state]; resident > 0 {
				cycles[name] = v / resident * s.active
			}
		}
		return cycles
	}
	return compared(of(a), of(b))
}
