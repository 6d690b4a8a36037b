// Package emutest has checkers that tests attach to functional runs of programs.
//
// Only tests may import it.
package emutest

import (
	"fmt"
	"math/bits"

	"heddle/isa"
	"heddle/isa/emu"
)

// Races finds data races in scratchpads: two warps of a core access a byte, at least one with a store, without
// synchronisation between them. Whether the program's result was right does not matter, as the order of warps is this
// machine's choice. Two atomics are no race. Lanes of a warp are in lock-step.
//
// It keeps a vector clock for each warp (Mattern, Virtual Time and Global States of Distributed Systems, 1989), joined
// by barriers and wspawn, as in FastTrack (Flanagan and Freund, PLDI 2009). Accesses by graph units are not observed.
type Races struct {
	machine *emu.Machine
	warps   int
	cores   []watched
	found   []string
	seen    map[[2]uint32]bool // pairs of instructions with a race
}

// watched is a core.
type watched struct {
	clocks   [][]uint32        // by warp: for each warp, the epoch that precedes its current work
	cells    map[uint32]*cell  // by word
	waiting  map[uint32]uint64 // by barrier: the warps that have arrived and not gone on
	ended    uint64            // warps
	spawner  int               // warp whose wspawn is in progress; -1: none
	spawnsAt uint32
}

// access is the kind of an access.
type access uint8

const (
	reads access = iota
	writes
	updates // atomically
	accesses
)

// cell is a word: each warp's last accesses.
type cell struct {
	warps [accesses]uint64 // that have had one
	last  [accesses][]event
}

// event is an access: its warp's clock, bytes and instruction.
type event struct {
	epoch uint32
	bytes uint8
	pc    uint32
}

// Watch makes the Trace of a configuration look for races; Of must be called with the machine.
func Watch(cfg *emu.Config) *Races {
	r := &Races{warps: cfg.Warps, cores: make([]watched, cfg.Cores), seen: map[[2]uint32]bool{}}
	cfg.Trace = r.step
	for i := range r.cores {
		c := &r.cores[i]
		*c = watched{cells: map[uint32]*cell{}, waiting: map[uint32]uint64{}, ended: ^uint64(0), spawner: -1}
		for range r.warps {
			c.clocks = append(c.clocks, make([]uint32, r.warps))
		}
	}
	return r
}

// Of sets the machine created from the configuration.
func (r *Races) Of(m *emu.Machine) { r.machine = m }

// Found returns the races, one line for each pair of instructions.
func (r *Races) Found() []string { return r.found }

func (r *Races) step(s *emu.Step) {
	c := &r.cores[s.Core]
	c.goOn(s)
	last := bits.Len32(s.Mask) - 1
	reg := func(x isa.Reg) uint32 { return r.machine.Core(s.Core).Warp(s.Warp).Reg(x, last) }
	switch {
	case s.Inst.Name == "bar":
		if reg(s.Inst.Rs2) > 1 || reg(s.Inst.Rs1)>>31 != 0 {
			c.waiting[reg(s.Inst.Rs1)] |= 1 << s.Warp
		}
	case s.Inst.Name == "wspawn":
		c.spawner, c.spawnsAt = s.Warp, reg(s.Inst.Rs2)
	case s.Addrs != nil:
		r.access(s)
	}
	if s.NextMask == 0 {
		c.ended |= 1 << s.Warp
	}
}

// goOn records that a warp executes: its wait is over, and that of all warps that waited for the same.
func (c *watched) goOn(s *emu.Step) {
	for id, set := range c.waiting {
		if set>>s.Warp&1 != 0 {
			c.join(set)
			delete(c.waiting, id)
		}
	}
	spawned := c.spawner >= 0 && (s.Warp == c.spawner || s.PC == c.spawnsAt && c.ended>>s.Warp&1 != 0)
	if launched := ^c.ended == 0; launched || spawned {
		c.join(1<<len(c.clocks) - 1)
		c.spawner = -1
	}
	c.ended &^= 1 << s.Warp
}

// join orders all past work of a set of warps before all their future work.
func (c *watched) join(set uint64) {
	all := make([]uint32, len(c.clocks))
	for s := set; s != 0; s &= s - 1 {
		for i, epoch := range c.clocks[bits.TrailingZeros64(s)] {
			all[i] = max(all[i], epoch)
		}
	}
	for s := set; s != 0; s &= s - 1 {
		w := bits.TrailingZeros64(s)
		copy(c.clocks[w], all)
		c.clocks[w][w]++
	}
}

// access checks the lanes' accesses to the scratchpad.
func (r *Races) access(s *emu.Step) {
	how := reads
	switch s.Inst.Class {
	case isa.ClassStore:
		how = writes
	case isa.ClassAtomic:
		how = updates
	}
	for lanes := s.Mask; lanes != 0; lanes &= lanes - 1 {
		if at := s.Addrs[bits.TrailingZeros32(lanes)]; at >= emu.ScratchpadBase {
			r.touch(s, at, how)
		}
	}
}

// bytesOf returns the bytes of the word at an address that an instruction accesses.
func bytesOf(in *isa.Inst, at uint32) uint8 {
	n := uint8(0b1111)
	switch in.Name {
	case "lb", "lbu", "sb":
		n = 0b1
	case "lh", "lhu", "sh":
		n = 0b11
	}
	return n << (at & 3)
}

// touch is an access by one lane.
func (r *Races) touch(s *emu.Step, at uint32, how access) {
	c := &r.cores[s.Core]
	word := c.cells[at&^3]
	if word == nil {
		word = &cell{}
		for i := range word.last {
			word.last[i] = make([]event, r.warps)
		}
		c.cells[at&^3] = word
	}
	clock, bytes := c.clocks[s.Warp], bytesOf(s.Inst, at)
	for other := range accesses {
		if how == reads && other == reads || how == updates && other == updates {
			continue
		}
		for set := word.warps[other] &^ (1 << s.Warp); set != 0; set &= set - 1 {
			w := bits.TrailingZeros64(set)
			if e := word.last[other][w]; e.epoch > clock[w] && e.bytes&bytes != 0 {
				r.report(s, at, e, w)
			}
		}
	}
	e := &word.last[how][s.Warp]
	if e.epoch != clock[s.Warp] {
		e.bytes = 0
	}
	word.warps[how] |= 1 << s.Warp
	*e = event{epoch: clock[s.Warp], bytes: e.bytes | bytes, pc: s.PC}
}

func (r *Races) report(s *emu.Step, at uint32, e event, w int) {
	pair := [2]uint32{e.pc, s.PC}
	if r.seen[pair] {
		return
	}
	r.seen[pair] = true
	r.found = append(r.found, fmt.Sprintf("core %d, scratchpad byte %d: %s of warp %d after pc 0x%08x of warp %d, "+
		"without a barrier between them",
		s.Core, at-emu.ScratchpadBase, s.Inst.Name+fmt.Sprintf(" at 0x%08x", s.PC), s.Warp, e.pc, w))
}
