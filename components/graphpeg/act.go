package graphpeg

import (
	"fmt"

	"heddle/components/accel"
)

var _ accel.Hand = Host{}

// Actions of the host, identified by their first word. The following words are: a set-up and the size in words of the
// memory of its lists; list, deal and vertices; two lists; nothing.
const (
	actConfigure uint32 = iota
	actFill
	actSwap
	actForget
)

// Watch makes the units report the host's actions to f, as words that Act accepts.
func (h Host) Watch(f func(act []uint32)) { h.Units[0].watch = f }

// tell reports an action to the watcher, if there is one.
func (h Host) tell(words ...uint32) {
	if len(h.Units) > 0 && h.Units[0].watch != nil {
		h.Units[0].watch(words)
	}
}

// Act repeats an action reported by Watch, on these units or another machine's.
func (h Host) Act(words []uint32) error {
	kind, args := ^uint32(0), []uint32(nil)
	if len(words) > 0 {
		kind, args = words[0], words[1:]
	}
	switch {
	case kind == actConfigure && len(args) == setupRegisters+1:
		return h.reconfigure(args)
	case kind == actFill && len(args) >= 2 && args[1] <= 1:
		return h.Fill(int(args[0]), args[2:], Deal(args[1] != 0))
	case kind == actSwap && len(args) == 2:
		if n := len(h.Units[0].lists); max(args[0], args[1]) >= uint32(n) {
			return fmt.Errorf("vertex-lists %d and %d: there are %d (vertex_lists)", args[0], args[1], n)
		}
		h.Swap(int(args[0]), int(args[1]))
	case kind == actForget && len(args) == 0:
		h.Forget()
	default:
		return fmt.Errorf(
			"what the host did to the graphpeg units has %d words that begin with %d: expected 0 a set-up, 1 vertices, 2 two "+
				"lists, 3",
			len(words), kind)
	}
	return nil
}

// reconfigure writes the registers. The lists of these units must not have more memory than the recorded ones: the
// memory after it belongs to something else.
func (h Host) reconfigure(args []uint32) error {
	if need := h.RegionBytes() / 4; need > uint64(args[setupRegisters]) {
		return fmt.Errorf(
			"the vertex-lists have %d bytes of memory, and those of this machine need %d: expected no longer list_region, and "+
				"no more vertex_lists",
			4*uint64(args[setupRegisters]), 4*need)
	}
	return h.Configure(setupOf([setupRegisters]uint32(args)))
}

// Arrays returns the arrays of the graph, if the units gather edges.
func (h Host) Arrays() (all []accel.Array) {
	e := h.Units[0]
	s := &e.setup
	if !e.configured || s.VertexMode {
		return nil
	}
	all = []accel.Array{{Addr: s.Offsets, Words: uint64(s.Vertices) + 1}, {Addr: s.Neighbours, Words: uint64(s.Edges)}}
	if s.Fields&FieldWt != 0 {
		all = append(all, accel.Array{Addr: s.Weights, Words: uint64(s.Edges)})
	}
	return all
}
