package isa

import "fmt"

// IPDOM is a warp's divergence stack. Each entry is a split whose sides have
// not both arrived at their join.
type IPDOM struct {
	stack []ipdomEntry // capacity is the limit; never reallocated
}

type ipdomEntry struct {
	all   uint32 // lanes that meet again at the join
	other uint32 // lanes of the side that runs second
	pc    uint32 // where that side starts
	half  bool   // the first side has arrived
}

// NewIPDOM makes a stack of at most depth entries. Vortex has threads-1.
func NewIPDOM(depth int) IPDOM { return IPDOM{make([]ipdomEntry, 0, depth)} }

// Depth returns the number of open splits: split's result and join's argument.
func (s *IPDOM) Depth() int { return len(s.stack) }

// Reset forgets all entries.
func (s *IPDOM) Reset() { s.stack = s.stack[:0] }

// Push opens a divergent split.
func (s *IPDOM) Push(all, other, pc uint32) error {
	if len(s.stack) == cap(s.stack) {
		return fmt.Errorf("IPDOM stack overflow: %d splits are open and the stack has %d entries (threads-1)", len(s.stack),
			cap(s.stack))
	}
	s.stack = append(s.stack, ipdomEntry{all: all, other: other, pc: pc})
	return nil
}

// Join arrives at the join of the split that returned depth. It gives the
// mask the warp goes on with and, when jump, where. A split that was not
// divergent pushed nothing, so depth is still the current one: nothing to do.
func (s *IPDOM) Join(mask, depth uint32) (next, pc uint32, jump bool, err error) {
	n := len(s.stack)
	if depth == uint32(n) {
		return mask, 0, false, nil
	}
	if n == 0 || depth != uint32(n-1) {
		return 0, 0, false, fmt.Errorf("join of depth %d does not match: %d splits are open, so it must be %d or %d", depth,
			n, max(n-1, 0), n)
	}
	top := &s.stack[n-1]
	if top.half {
		all := top.all
		s.stack = s.stack[:n-1]
		return all, 0, false, nil
	}
	top.half = true
	return top.other, top.pc, true, nil
}

// Split is an entry of the stack, to be shown.
type Split struct {
	All   uint32 `json:"all"`   // lanes that meet again at the join
	Other uint32 `json:"other"` // lanes of the side that runs second
	PC    uint32 `json:"pc"`    // where that side starts
	Half  bool   `json:"half"`  // the first side has arrived
}

// Splits returns the open splits, the outermost first.
func (s *IPDOM) Splits() (all []Split) {
	for _, e := range s.stack {
		all = append(all, Split{e.all, e.other, e.pc, e.half})
	}
	return all
}
