package accel

import (
	"math/bits"
	"strings"

	"heddle/components/probe"
)

// Kinds are the events that a socket reports for any unit.
var Kinds = []probe.Kind{
	{Name: "take", Doc: "the unit takes a request from its queue: the instruction and its lanes"},
	{Name: "answer", Doc: "an answer goes to the core: what each lane gets"},
}

// Watch makes the socket report to w the requests that the unit takes and its answers.
func (s *Socket) Watch(w probe.Watch) { s.watch = w }

func (s *Socket) tell(kind string, t Tag) {
	c := s.calls[t]
	if kind == "take" {
		s.watch(kind, c.Warp, "%s, lanes %08x", c.Op().Name, c.Mask)
		return
	}
	s.watch(kind, c.Warp, "%s:%v", c.Op().Name, words{c.Mask, c.Out})
}

// words formats the words that lanes receive.
type words struct {
	mask uint32
	out  []uint32
}

func (w words) String() string {
	var b strings.Builder
	for m := w.mask; m != 0; m &= m - 1 {
		b.WriteByte(' ')
		b.WriteString(probe.Signed(w.out[bits.TrailingZeros32(m)]))
	}
	return b.String()
}
