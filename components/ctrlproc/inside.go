package ctrlproc

// Inside is the visible state of a processor after a cycle, for comparison with the SystemVerilog. Bits are cores.
type Inside struct {
	Polling   bool
	Unread    int // cores that have not answered the poll
	Drained   uint64
	Giving    [numKinds]uint64 // donors, and receivers, of donations in progress: of edges, of vertices
	Receiving [numKinds]uint64
}

// Inside returns the visible state of a processor of up to 64 cores.
func (p *Processor) Inside() (s Inside) {
	s.Polling, s.Unread = p.polling, p.unread
	for i := range p.cores {
		c, bit := &p.cores[i], uint64(1)<<i
		if c.drained {
			s.Drained |= bit
		}
		for k := range numKinds {
			if c.receiver[k] >= 0 {
				s.Giving[k] |= bit
			}
			if c.donor[k] >= 0 {
				s.Receiving[k] |= bit
			}
		}
	}
	return s
}

// Done reports whether the launch's work has ended.
func (p *Processor) Done() bool { return p.done }

// Epoch returns the number of launches.
func (p *Processor) Epoch() uint32 { return p.epoch }
