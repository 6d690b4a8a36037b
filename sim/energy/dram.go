package energy

import (
	"fmt"
	"slices"

	"heddle/components/dram"
	"heddle/configs"
)

// openRanks is the statistic of ranks in active standby.
const openRanks = "dram.open_ranks"

// commands are the energies of a part's commands in pJ, of one rank, and its standby powers in mW.
type commands struct {
	activate, read, write, refresh Range // ACT with its PRE; RD; WR; REF of all banks
	open, closed                   Range // a rank with a row open; precharged
	bit                            Range // between chip and DRAM
}

// energies returns the energies of a part's commands, with the timing of the simulated DRAM.
func (p *Part) energies(s *dram.Spec) (c commands, err error) {
	if p.Method == "currents" {
		c, err = p.fromCurrents(s)
	} else {
		row := float64(s.Columns*s.LineBytes) / p.RowBytes
		bits := float64(8 * s.LineBytes)
		c = commands{
			activate: rangeOf(p.ActPJ).Times(row), read: rangeOf(p.ReadPJ).Times(bits),
			write: rangeOf(p.WritePJ).Times(bits), refresh: rangeOf(p.RefreshPJ),
			open: rangeOf(p.OpenMW), closed: rangeOf(p.ClosedMW),
		}
	}
	c.bit = rangeOf(p.IOPJ)
	return c, err
}

// fromCurrents follows the data sheets' currents, as Micron's TN-40-07 and DRAMPower do. Standby is counted for the
// whole time, and a command's energy is the energy beyond standby:
//
//	ACT and PRE  VDD (IDD0 tRC − IDD3N tRAS − IDD2N (tRC − tRAS))
//	RD, WR       VDD (IDD4R − IDD3N) burst, VDD (IDD4W − IDD3N) burst
//	REF          VDD (IDD5 − IDD2N) tRFC: all banks are precharged
//	standby      VDD IDD3N with a row open, else VDD IDD2N
//
// A current in mA times ns is a charge in pC. Energies below 0, which currents of different grades give, are refused.
func (p *Part) fromCurrents(s *dram.Spec) (c commands, err error) {
	t, ns := &s.Timing, float64(s.TCKps)/1000
	rc, ras, burst, rfc := float64(t.RC)*ns, float64(t.RAS)*ns, float64(t.BL)*ns, float64(t.RFC)*ns
	volts := p.Volts * float64(p.Devices) * p.Share
	for _, e := range []struct {
		to   *Range
		what string
		v    float64
	}{
		{&c.activate, "ACT and PRE: idd0 tRC - idd3n tRAS - idd2n (tRC - tRAS)", p.IDD0*rc - p.IDD3N*ras - p.IDD2N*(rc-ras)},
		{&c.read, "RD: idd4r - idd3n", (p.IDD4R - p.IDD3N) * burst},
		{&c.write, "WR: idd4w - idd3n", (p.IDD4W - p.IDD3N) * burst},
		{&c.refresh, "REF: idd5 - idd2n", (p.IDD5 - p.IDD2N) * rfc},
		{&c.open, "active standby: idd3n", p.IDD3N},
		{&c.closed, "precharged standby: idd2n", p.IDD2N},
	} {
		if !(e.v >= 0) {
			return c, fmt.Errorf("dram part of %v: %s is %.4g: an energy is not negative; are the currents of one data sheet, "+
				"and of the simulated part's speed?", p.Presets, e.what, e.v)
		}
		v := e.v * volts
		*e.to = Range{v * p.Factor[0], v, v * p.Factor[1]}
	}
	return c, nil
}

// dramCounts are the statistics of a DRAM's energy.
type dramCounts struct{ act, read, write, refresh, open, bytes counted }

// counted is a count, and half its 95 % confidence interval.
type counted struct{ n, half float64 }

// dramCounts reads the statistics.
func (c *counter) dramCounts() (d dramCounts, err error) {
	for _, x := range []struct {
		to    *counted
		names []string
	}{
		{&d.act, []string{"dram.commands.act"}}, {&d.read, []string{"dram.commands.rd", "dram.commands.rda"}},
		{&d.write, []string{"dram.commands.wr", "dram.commands.wra"}}, {&d.refresh, []string{"dram.commands.ref"}},
		{&d.open, []string{openRanks}}, {&d.bytes, []string{"dram.bytes"}},
	} {
		var sum []term
		for _, name := range x.names {
			sum = append(sum, term{factor: 1, stat: name})
		}
		if x.to.n, x.to.half, err = c.of(sum); err != nil {
			return d, err
		}
	}
	return d, nil
}

// dramItems adds the energy of a run's DRAM.
func (t *Table) dramItems(c *counter, r *Result) error {
	preset := c.machine.Memory.Preset
	if preset == configs.Harness || preset == "ideal" {
		r.NotModelled = append(r.NotModelled, "DRAM: memory.preset "+preset+" stands for no part")
		return nil
	}
	spec, err := c.machine.Memory.Spec()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(t.DRAM, func(p Part) bool { return p.is(preset) })
	if at < 0 {
		return fmt.Errorf("%s has no DRAM part for memory.preset %s: expected one below dram", t.File, preset)
	}
	part := &t.DRAM[at]
	e, err := part.energies(&spec)
	if err != nil {
		return fmt.Errorf("%s: %w", t.File, err)
	}
	n, err := c.dramCounts()
	if err != nil {
		return err
	}
	clock := dramClock(c.machine, &spec) / r.ClockMHz * 1e3 // ns; the part's own, unless the table sets the cores' clock
	all := float64(spec.Channels*spec.Ranks) * r.Seconds * 1e9
	open := min(n.open.n*clock, all)
	for _, x := range []struct {
		event, unit, source string
		count               counted
		each                Range
	}{
		{"ACT and PRE", "pJ", part.Source, n.act, e.activate},
		{"RD", "pJ", part.Source, n.read, e.read},
		{"WR", "pJ", part.Source, n.write, e.write},
		{"REF", "pJ", part.Source, n.refresh, e.refresh},
		{"standby, a row open", "mW·ns", part.Source, counted{open, n.open.half * clock}, e.open},
		{"standby, precharged", "mW·ns", part.Source, counted{all - open, 0}, e.closed},
		{"bits to and from the chip", "pJ", part.IOSource, counted{8 * n.bytes.n, 8 * n.bytes.half}, e.bit},
	} {
		r.Items = append(r.Items, Item{Part: "DRAM", Event: preset + " " + x.event, Unit: x.unit, Count: x.count.n,
			Half: x.count.half, Factor: 1, Each: x.each, Source: x.source})
	}
	return nil
}

// dramClock returns the core cycles of a DRAM clock.
func dramClock(m *configs.Machine, s *dram.Spec) float64 {
	if m.Memory.ClockRatio > 0 {
		return m.Memory.ClockRatio
	}
	return float64(s.TCKps) / 1000
}

// clockMHz returns the cores' clock: the one at which the DRAM's has its part's period.
func clockMHz(m *configs.Machine) float64 {
	const unscaled = 1000
	if m.Memory.ClockRatio == 0 || m.Memory.Preset == configs.Harness {
		return unscaled
	}
	s, err := m.Memory.Spec()
	if err != nil {
		return unscaled
	}
	return m.Memory.ClockRatio / float64(s.TCKps) * 1e6
}
