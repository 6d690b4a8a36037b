package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// between returns what lies in a statistic's name between a prefix and a suffix; ok is false for other names.
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
func superSteps(a, b *Run) (both, alone []Place) {
	of := func(r *Run) (cycles map[int]float64, last int) {
		cycles, last = map[int]float64{}, -1
		for _, l := range r.Steps {
			cycles[l.Step] += float64(l.Cycles)
			last = max(last, l.Step)
		}
		return cycles, last
	}
	ca, lastA := of(a)
	cb, lastB := of(b)
	if lastA < 0 || lastB < 0 {
		return nil, nil
	}
	for step := 0; step <= max(lastA, lastB); step++ {
		va, inA := ca[step]
		vb, inB := cb[step]
		p := Place{fmt.Sprint(step), va, vb, vb - va}
		switch {
		case inA && inB:
			both = append(both, p)
		case inA || inB:
			alone = append(alone, p)
		}
	}
	return both, alone
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

// states names the states of warps in words.
var states = map[string]string{
	"selected": "issuing", "not_selected": "another issuing", "no_instruction": "fetch", "long_scoreboard": "memory",
	"short_scoreboard": "scratchpad or SFU", "lg_throttle": "load-store unit full", "mio_throttle": "SFU full",
	"math_pipe_throttle": "ALU or FPU full", "wait": "ALU or FPU", "dispatch": "operand collectors",
	"branch_resolving": "branches", "barrier": "barrier", "membar": "fence", "unit_wait": "graph unit",
}

// warps compares the states of all resident warps, in cycles of a core: the share of the warps' time in each state
// times the cycles in which cores ran. Unlike causes of schedulers they count what every warp waits for.
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
