package core

import (
	"math/bits"
	"strings"
)

// SharedStalls counts the issue slots that were left empty by cause, like Causes, with each slot shared evenly by all
// warps of its slice that have not ended: a slot in which three warps wait for memory and one for the ALU counts three
// quarters for memory. Causes instead gives the slot to the warp furthest along. The counts are whole slots: together
// they are the slots that Causes has as not issued, and fractions are carried on until they make a whole.
type SharedStalls [numCauses - 1]uint64 // without issued

// Describe returns the name and the description of a cause's statistic.
func (*SharedStalls) Describe(i int) (name, doc string) {
	of := causeDocs[i+1][0]
	name = strings.TrimPrefix(of, "stall.")
	return name, "Of the slots without an instruction, the share of warps with the cause core.scheduler." +
		of + "; with stats.shared_stalls."
}

// whole is the fixed denominator of carried fractions: the least common multiple of 1 to 32, by which the shares of up
// to 32 warps are exact. Those of more are rounded to a multiple of 1/whole.
const whole = 144_403_552_893_600

// sharing is the state of a slice's SharedStalls.
type sharing struct {
	counts Causes
	owed   [numCauses]int64 // exact count less counts, in units of 1/whole
	warps  [numCauses]uint8 // by cause, in the cycles that are not counted yet
	seen   func(*slice)     // a test's, called in every cycle; nil: none
}

// ShareStalls makes the core count SharedStalls from now on. It changes no cycle.
func (c *Core) ShareStalls() {
	c.settleAll()
	c.observed = true
	for i := range c.slices {
		c.slices[i].sharing = &sharing{}
	}
}

// SharedStalls returns the counts up to the core's last settling; ok is false if it does not count them.
func (c *Core) SharedStalls() (s SharedStalls, ok bool) {
	for i := range c.slices {
		x := c.slices[i].sharing
		if x == nil {
			return s, false
		}
		for k, n := range x.counts[issued+1:] {
			s[k] += n
		}
	}
	return s, true
}

// share records the causes of the slice's warps, from this cycle on.
func (sl *slice) share() {
	if w := sl.warpsByCause(); w != sl.sharing.warps {
		sl.settle()
		sl.sharing.warps = w
	}
	if sl.sharing.seen != nil {
		sl.sharing.seen(sl)
	}
}

// warpsByCause counts the slice's warps by the cause for which each does not issue. Without warps, that is drained.
func (sl *slice) warpsByCause() (n [numCauses]uint8) {
	count := func(warps uint64) uint8 { return uint8(bits.OnesCount64(warps)) }
	in := sl.active & sl.members
	if in == 0 {
		n[drained] = 1
		return n
	}
	n[sl.booked.cause] = count(sl.ready & in)
	for k, warps := range sl.hazard {
		n[waitsMemory+cause(k)] += count(warps & in)
	}
	rest := in &^ sl.atIssue
	n[barrier] += count(rest & sl.atBarrier)
	n[waitsUnit] += count(rest &^ sl.atBarrier & sl.awaitingUnit)
	n[ibufferEmpty] += count(rest &^ (sl.atBarrier | sl.awaitingUnit))
	return n
}

// add counts empty slots, which the warps share.
func (s *sharing) add(slots uint64) {
	of := uint64(0)
	for _, n := range s.warps {
		of += uint64(n)
	}
	if slots == 0 || of == 0 {
		return
	}
	left := slots
	for k, n := range s.warps {
		if n == 0 {
			continue
		}
		share := slots * uint64(n)
		s.counts[k] += share / of
		left -= share / of
		s.owed[k] += int64(share % of * whole / of)
	}
	for ; left > 0; left-- { // to the cause that is owed most
		most := 0
		for k, x := range s.owed {
			if x > s.owed[most] {
				most = k
			}
		}
		s.counts[most]++
		s.owed[most] -= whole
	}
}
