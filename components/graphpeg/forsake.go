package graphpeg

import (
	"heddle/components/accel"
	"heddle/components/clock"
)

var _ accel.Forsaken = (*PEG)(nil)

// Forsake announces that no warp of the core will pop before the next launch. The unit then drains itself, as its edges
// would otherwise keep the pops of other cores waiting.
func (p *PEG) Forsake(now clock.Cycle) {
	p.engine.Forsaken(now)
	p.ClockHandle().Wake()
}

// discard drops everything that a pop could take, after Forsake.
func (e *Engine) discard() {
	if e.noMorePops == 0 || e.self.Now < e.noMorePops || !e.configured {
		return
	}
	n := e.available()
	if n == 0 {
		return
	}
	e.moved = true
	if e.setup.VertexMode {
		for range n {
			e.lists[e.setup.In].take()
		}
		e.VerticesForgotten += uint64(n)
		return
	}
	for range n {
		e.buffer.pop()
	}
	e.EdgesAbandoned += uint64(n)
	e.gatheredAbandoned += uint64(n)
}

// Forsaken announces the same to a unit without a clock.
func (e *Engine) Forsaken(now uint64) { e.noMorePops = now + 1 }
