package codegen

import "heddle/isa"

// Within a stretch of code in which the thread mask is constant and nothing waits for other warps, instructions are
// ordered such that they wait little for each other's results, since a warp issues in order and few warps do not hide
// its latencies. This is list scheduling before allocation: of the instructions whose arguments are available, the one
// at the beginning of the longest remaining path goes first.

// waits holds the approximate cycles from the issue of an instruction to that of a dependent one on an idle Vortex
// core. Other classes take as long as the ALU's.
var waits = map[isa.Class]int{
	isa.ClassLoad: 40, isa.ClassAtomic: 60, isa.ClassDiv: 35, isa.ClassMul: 9, isa.ClassFMA: 9, isa.ClassFNCP: 7,
	isa.ClassFCvt: 10,
	isa.ClassFDiv: 20, isa.ClassFSqrt: 15, isa.ClassCSR: 7,
}

const waitALU = 5

func (i *inst) wait() int {
	if w, ok := waits[i.row.Class]; ok {
		return w
	}
	return waitALU
}

// stays reports whether nothing may move across an instruction. The operand of wspawn is an address relative to auipc.
func (i *inst) stays() bool {
	if i.row == nil || i.row.Name == "auipc" {
		return true
	}
	switch i.row.Class {
	case isa.ClassBranch, isa.ClassWarp, isa.ClassUnit, isa.ClassFence:
		return true
	}
	return false
}

// reordered is the code in a better order.
func (c *code) reordered() *code {
	d := *c
	d.insts = nil
	begin := 0
	for n := range c.insts {
		if c.insts[n].stays() {
			d.insts = append(append(d.insts, reorder(c.insts[begin:n], &c.insts[n])...), c.insts[n])
			begin = n + 1
		}
	}
	d.insts = append(d.insts, reorder(c.insts[begin:], nil)...)
	return &d
}

// node is an instruction of a stretch.
type node struct {
	next   []edgeTo
	before int // number of outstanding instructions that must precede it
	from   int // earliest cycle
	height int // length of the longest path to the end, in cycles
	done   bool
}

type edgeTo struct{ to, wait int }

// stretch computes the dependences of a stretch.
type stretch struct {
	list   []inst
	nodes  []node
	def    map[reg]int // last writer of each register
	use    map[reg][]int
	stored int   // last writer of memory; -1: none
	loaded []int // readers of memory since then
}

func (s *stretch) order(first, then, wait int) {
	s.nodes[first].next = append(s.nodes[first].next, edgeTo{then, wait})
	s.nodes[then].before++
}

func (s *stretch) add(n int) {
	i := &s.list[n]
	i.eachUse(func(r reg) {
		if d, ok := s.def[r]; ok {
			s.order(d, n, s.list[d].wait())
		}
		s.use[r] = append(s.use[r], n)
	})
	if r := i.def(); r != 0 {
		for _, u := range s.use[r] {
			if u != n {
				s.order(u, n, 0)
			}
		}
		if d, ok := s.def[r]; ok {
			s.order(d, n, 1)
		}
		s.def[r], s.use[r] = n, nil
	}
	s.memory(n)
}

// memory adds the dependences of a memory access: loads may pass loads, and nothing else may pass anything.
func (s *stretch) memory(n int) {
	class := s.list[n].row.Class
	if class.Unit() != isa.LSU {
		return
	}
	if s.stored >= 0 {
		s.order(s.stored, n, 0)
	}
	if class == isa.ClassLoad {
		s.loaded = append(s.loaded, n)
		return
	}
	for _, l := range s.loaded {
		s.order(l, n, 0)
	}
	s.stored, s.loaded = n, nil
}

// reorder orders a straight stretch of code; then is the code that follows it.
func reorder(list []inst, then *inst) []inst {
	if len(list) < 2 {
		return list
	}
	s := stretch{list: list, nodes: make([]node, len(list)), def: map[reg]int{}, use: map[reg][]int{}, stored: -1}
	for n := range list {
		s.add(n)
	}
	if then != nil {
		then.eachUse(func(r reg) {
			if d, ok := s.def[r]; ok {
				s.nodes[d].height = waitALU
			}
		})
	}
	for n := len(list) - 1; n >= 0; n-- {
		k := &s.nodes[n]
		for _, e := range k.next {
			k.height = max(k.height, s.nodes[e.to].height)
		}
		k.height += list[n].wait()
	}
	var out []inst
	for now := 0; len(out) < len(list); now++ {
		best := s.best(now)
		now = max(now, s.nodes[best].from)
		s.take(best, now)
		out = append(out, list[best])
	}
	return out
}

// best returns the next instruction: the highest of those that are ready or, if there is none, the first to become
// ready.
func (s *stretch) best(now int) int {
	best := -1
	for n := range s.nodes {
		k := &s.nodes[n]
		if k.done || k.before > 0 {
			continue
		}
		if best < 0 || s.sooner(k, &s.nodes[best], now) {
			best = n
		}
	}
	return best
}

func (s *stretch) sooner(a, b *node, now int) bool {
	if x, y := max(a.from, now), max(b.from, now); x != y {
		return x < y
	}
	return a.height > b.height
}

func (s *stretch) take(n, now int) {
	s.nodes[n].done = true
	for _, e := range s.nodes[n].next {
		k := &s.nodes[e.to]
		k.before--
		k.from = max(k.from, now+e.wait)
	}
}
