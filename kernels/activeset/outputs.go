package activeset

import (
	"fmt"

	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// outputs has a word for each edge that a super-step has walked, of which a kernel lists the active vertices before the
// next: Gunrock's frontier (its V_Q, filled by oprtr/LB_advance and compacted by oprtr/CULL_filter, which looks labels
// up where this kernel has the dedup).
var outputs = &Choice{
	Name: "outputs",
	Doc: "a word for each edge that a super-step has walked, its vertex or none, of which a kernel makes a list of " +
		"active vertices, without those that the dedup drops (Gunrock)",
	Queue: true, Outputs: true,
	set:   func(k *emit.Kernel, d *Dedup) Set { return outputsSet{k, d} },
	state: newOutputs,
}

// keptOutputs appends each super-step's vertices to those of all before it.
var keptOutputs = &Choice{
	Name: outputs.Name, Doc: outputs.Doc, Queue: true, Outputs: true, kept: true, set: outputs.set,
	state: func(vertices, edges int, d *Dedup) State {
		return &keptOutputsState{newOutputArrays(vertices, edges, d), newStack(vertices, d, false).(*stackState)}
	},
}

// NoOutput is the word of an edge that activates no vertex.
const NoOutput = ^uint32(0)

// Output stores what an edge with a number has activated, or NoOutput.
func Output(k *emit.Kernel, number, v ir.Value) { k.Store(k.Addr("next.outputs"), number, v) }

// CountOutputs stores the number of edges that the super-step walks.
func CountOutputs(k *emit.Kernel, edges ir.Value) {
	k.Store(k.Addr("next.outputs.size"), k.U32(0), edges)
}

// outputsSet is traversed when it has been compacted, and filled by Output or, outside of gathers, by Add.
type outputsSet struct {
	*emit.Kernel
	dedup *Dedup
}

func (s outputsSet) Places() ir.Value               { return s.Count("vertices") }
func (s outputsSet) Vertex(place ir.Value) ir.Value { return place }
func (s outputsSet) Holds(ir.Value) ir.Value        { return nil }
func (s outputsSet) Clear()                         { s.dedup.clear(s.Kernel) }

func (s outputsSet) Add(v ir.Value) {
	Output(s.Kernel, s.AtomicAdd(s.Addr("next.outputs.size"), s.U32(0), s.U32(1)), v)
}

// filterOutputs emits the kernel that lists the vertices among the outputs.
func filterOutputs(k *emit.Kernel, d *Dedup, to listed) {
	size := k.Count("outputs.size")
	k.For(k.SpreadWarp(), size, k.NumThreads(), func(from ir.Value) {
		at := k.Add(from, k.LaneID())
		v := k.Load(ir.U32, k.Addr("next.outputs"), k.Min(at, k.Sub(size, k.U32(1))))
		first := k.Var(k.Bool(false)).Named("first")
		k.When(k.And(k.Lt(at, size), k.Ne(v, k.U32(NoOutput))), func() {
			d.once(k, v, func() { first.Set(k.Bool(true)) })
		})
		to.add(k, first.Get(), v)
	})
}

// outputArrays is the host's part of the outputs.
type outputArrays struct {
	words, size *Array
	valid       []uint32 // the active vertices, some perhaps several times, until they are listed
	taken       uint32   // words of the super-step
	isListed    bool     // a kernel has made the list of them
}

// severalTimes is how often the outputs have room for each edge if the dedup lets vertices be listed several times. A
// vertex is listed up to once for each time that its value has changed, which is about the logarithm of its edges for
// shortest paths.
const severalTimes = 8

func newOutputArrays(vertices, edges int, d *Dedup) outputArrays {
	words := max(vertices, edges)
	if !d.exact {
		words = vertices + severalTimes*edges
	}
	return outputArrays{
		words: &Array{Name: "outputs", Words: words, Roles: []string{"next.outputs"}},
		size:  &Array{Name: "outputs.size", Words: 1, Roles: []string{"next.outputs.size"}},
	}
}

// Start makes outputs of the first active vertices.
func (o *outputArrays) Start(m Memory, active []uint32) error {
	m.WriteWords(o.words.Addr, active)
	o.valid, o.taken = active, uint32(len(active))
	return nil
}

// Next takes a super-step's outputs and returns the number of those with a vertex.
func (o *outputArrays) Next(m Memory) (uint32, error) {
	o.isListed = false
	o.taken = take(m, o.size)
	words := make([]uint32, o.taken)
	m.ReadWords(o.words.Addr, words)
	o.valid = words[:0]
	for _, v := range words {
		if v != NoOutput {
			o.valid = append(o.valid, v)
		}
	}
	return uint32(len(o.valid)), nil
}

// fits returns an error for more listed vertices than a list has room for, or for more of their edges than the outputs.
func (o *outputArrays) fits(size, room int, edges uint64) error {
	if size > room {
		return &Overflow{Size: size, Room: room}
	}
	if room := uint64(o.words.Words); edges > room {
		return fmt.Errorf("vertices are listed so often that the super-step has %d edges, and room for the outputs of %d: "+
			"give workload.frontier.dedup bitmap or monotonic", edges, room)
	}
	return nil
}

// Walked is the state of a set that has a place for each edge which a super-step walks.
type Walked interface {
	// Fits returns an error if there is no room for the vertices that have been listed, or for so many edges of theirs.
	Fits(edges uint64) error
}

// outputsState is the host side.
type outputsState struct {
	outputArrays
	queue, count *Array
	dedup        []*Array
	size         uint32
}

func newOutputs(vertices, edges int, d *Dedup) State {
	return &outputsState{
		outputArrays: newOutputArrays(vertices, edges, d),
		queue:        &Array{Name: "queue", Words: d.room(vertices, edges), Roles: []string{"active.queue"}},
		count:        &Array{Name: "queue.size", Words: 1, Roles: []string{"compact.size"}},
		dedup:        d.arrays(vertices),
	}
}

func (s *outputsState) Arrays() []*Array {
	return append([]*Array{s.outputArrays.size, s.words, s.queue, s.count}, s.dedup...)
}

func (s *outputsState) Words() map[string]uint32 {
	return map[string]uint32{"active.size": s.size, "outputs.size": s.taken}
}

func (s *outputsState) Fits(edges uint64) error { return s.fits(int(s.size), s.queue.Words, edges) }

func (s *outputsState) Compacted(m Memory) { s.size, s.isListed = take(m, s.count), true }

func (s *outputsState) Active(m Memory) []uint32 {
	if !s.isListed {
		return s.valid
	}
	v := make([]uint32, s.size)
	m.ReadWords(s.queue.Addr, v)
	return v
}

// keptOutputsState is the host side if the vertices of all super-steps are kept.
type keptOutputsState struct {
	outputArrays
	stack *stackState
}

func (s *keptOutputsState) Arrays() []*Array {
	return append(s.stack.Arrays(), s.outputArrays.size, s.words)
}

func (s *keptOutputsState) Words() map[string]uint32 {
	words := s.stack.Words()
	words["outputs.size"] = s.taken
	return words
}

func (s *keptOutputsState) Fits(edges uint64) error {
	return s.fits(int(s.stack.ends[s.stack.at]), s.stack.vertices.Words, edges)
}

func (s *keptOutputsState) Compacted(m Memory) {
	s.stack.push(m)
	s.isListed = true
}

func (s *keptOutputsState) Active(m Memory) []uint32 {
	if !s.isListed {
		return s.valid
	}
	return s.stack.Active(m)
}

func (s *keptOutputsState) Again(step int) { s.stack.Again(step) }
