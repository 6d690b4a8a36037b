package dram

import "fmt"

// checkInvariants returns an error if the counts of a channel contradict each other, or the clocks that have passed.
func (c *Channel) checkInvariants(now uint64) error {
	s := c.Stats(now)
	if buses, last := c.pins(); buses > 0 && s.DataBusClocks > buses*(now+last) {
		return fmt.Errorf("invariant violated: data moved ≤ capacity of the pins: %d clocks of data on %d buses in %d clocks",
			s.DataBusClocks, buses, now)
	}
	if c.spec.Standard == Ideal {
		return nil
	}
	if want := s.Columns() * uint64(c.spec.Timing.BL); s.DataBusClocks != want {
		return fmt.Errorf("invariant violated: data bus clocks = RD and WR × burst: %d, %d", s.DataBusClocks, want)
	}
	queued := uint64(c.reads.len() + c.writes.len() + c.active.len())
	if got, want := s.Columns()+s.Forwarded+s.Merged+queued, s.Reads+s.Writes; got != want {
		return fmt.Errorf("invariant violated: requests accepted = served + still queued: %d, %d", want, got)
	}
	return nil
}

// pins returns the number of data buses, 0 if they do not limit, and the number of clocks of data that may be counted
// before they pass.
func (c *Channel) pins() (buses, last uint64) {
	s := &c.spec
	t := &s.Timing
	switch s.Standard {
	case Ideal:
		return uint64(min(s.IdealInterval, 1)), uint64(s.IdealLatency + s.IdealInterval*(s.ReadQueue+s.WriteQueue))
	}
	return s.dataBuses(), uint64(max(t.CL, t.CWL) + t.BL)
}

func checkChannels(name string, channels []*Channel, now uint64) error {
	for i, c := range channels {
		if err := c.checkInvariants(now); err != nil {
			return fmt.Errorf("%s channel %d: %w", name, i, err)
		}
	}
	return nil
}

// CheckInvariants returns an error if the counts contradict each other, or the time that has passed.
func (m *Memory) CheckInvariants() error {
	return checkChannels(m.Name(), m.channels, m.ClockHandle().Domain().Cycle())
}

// CheckInvariants returns an error if the counts contradict each other, or the time that has passed.
func (h *Harness) CheckInvariants() error {
	return checkChannels(h.Name(), h.channels, h.ClockHandle().Domain().Cycle())
}

// Bursts returns the number of requests to the channels per line.
func (m *Memory) Bursts() int { return m.bursts }

// Bursts returns the number of requests to the channels per line.
func (h *Harness) Bursts() int { return harnessPieces }
