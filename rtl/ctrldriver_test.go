package rtl

import (
	"math/rand/v2"
	"slices"

	"heddle/components/balance"
	"heddle/components/ctrlproc"
)

// ctrlConfig is a control processor of a number of cores.
type ctrlConfig struct {
	spec  ctrlproc.Spec
	cores int
}

// ctrlMost is the number of cores that the bench has ports for.
const ctrlMost = 24

// ctrlInput is the state of the processor's inputs in a cycle, by core.
type ctrlInput struct {
	launch  bool
	ready   uint64
	reports [ctrlMost]*balance.Report
}

// ctrlOutput is the state of its outputs, and its state after the cycle.
type ctrlOutput struct {
	Done     bool // before
	Valid    uint64
	Commands [ctrlMost]balance.Command
	Inside   ctrlproc.Inside
}

// ctrlDriver plays the cores' units to a Go model, and records.
type ctrlDriver struct {
	r      *rand.Rand
	config ctrlConfig
	p      *ctrlproc.Processor
	now    uint64
	units  []ctrlUnit

	scale  uint32 // of loads
	delay  int    // of answers, at most
	stall  int    // cycles that a core takes nothing, at most; 0: it always takes
	busy   int    // one cycle in so many a drained unit gets work
	drains int    // one cycle in so many a unit is drained
	aborts int    // one cycle in so many a launch follows in the middle
	same   bool   // all loads are nearly equal

	ins  []ctrlInput
	outs []ctrlOutput
}

// ctrlUnit is a unit as the control processor sees it.
type ctrlUnit struct {
	load    [2]uint32
	says    []ctrlSaid
	drained bool
	ended   bool
	stalled uint64 // takes no command before that cycle
}

type ctrlSaid struct {
	at uint64
	r  balance.Report
}

// recordCtrl plays launches to the Go model, and returns what happened in each cycle, and the model.
func recordCtrl(c ctrlConfig, seed uint64, cycles int) ([]ctrlInput, []ctrlOutput, *ctrlproc.Processor) {
	r := rand.New(rand.NewPCG(seed, 45))
	d := &ctrlDriver{r: r, config: c, p: ctrlproc.NewProcessor(c.spec, c.cores), units: make([]ctrlUnit, c.cores)}
	d.redraw()
	for len(d.ins) < cycles {
		d.launch()
	}
	return d.ins, d.outs, d.p
}

// redraw draws how the units behave.
func (d *ctrlDriver) redraw() {
	d.scale = []uint32{3, 2000, 20_000, 1<<32 - 1}[d.r.IntN(4)]
	d.delay, d.stall = 1+d.r.IntN(2)*d.r.IntN(60), d.r.IntN(3)*d.r.IntN(150)
	d.busy, d.drains, d.aborts = 1+d.r.IntN(200), 1+d.r.IntN(400), []int{300, 4000, 4000}[d.r.IntN(3)]
	d.same = d.r.IntN(4) == 0
}

// launch plays a launch until some cycles after its end, or until the next one.
func (d *ctrlDriver) launch() {
	if d.r.IntN(3) == 0 {
		d.redraw()
	}
	d.now++
	d.ins = append(d.ins, ctrlInput{launch: true, ready: d.r.Uint64()})
	d.outs = append(d.outs, ctrlOutput{Done: d.p.Done()})
	d.p.Launch(d.now)
	for i := range d.units {
		d.units[i].drained, d.units[i].ended = false, false
	}
	for left := d.r.IntN(20); left >= 0; {
		d.cycle()
		if d.p.Done() {
			left--
		}
		if d.r.IntN(d.aborts) == 0 {
			return
		}
	}
}

// say queues a report of a unit. Fields that mean nothing have any value.
func (d *ctrlDriver) say(u *ctrlUnit, ev balance.Event) {
	r := balance.Report{Event: ev, Epoch: d.p.Epoch(), Edges: u.load[0], Vertices: u.load[1], Addr: d.r.Uint32(),
		Range: balance.Range{Start: d.r.Uint32(), Base: d.r.Uint32()}}
	r.Range.End = r.Range.Start + d.r.Uint32N(1000)
	if ev == balance.DonatedVertices {
		r.Vertices = d.r.Uint32N(3) * d.r.Uint32N(500)
	}
	at := d.now + 1 + uint64(d.r.IntN(d.delay))
	if n := len(u.says); n > 0 {
		at = max(at, u.says[n-1].at)
	}
	u.says = append(u.says, ctrlSaid{at, r})
}

// told handles a command.
func (d *ctrlDriver) told(u *ctrlUnit, c balance.Command) {
	switch c.Order {
	case balance.Read:
		for k := range u.load {
			u.load[k] = uint32(d.r.Uint64N(uint64(d.scale) + 1))
			if d.same {
				u.load[k] = d.scale - d.r.Uint32N(min(d.scale, 3))
			}
		}
		d.say(u, balance.Value)
	case balance.Donate:
		d.say(u, []balance.Event{balance.Donated, balance.Donated, balance.Refused}[d.r.IntN(3)])
	case balance.Receive:
		if u.drained {
			u.drained = false
			d.say(u, balance.NotDrained)
		}
		d.say(u, balance.Inserted)
	case balance.DonateVertices:
		d.say(u, balance.DonatedVertices)
	case balance.ReceiveVertices:
		d.say(u, balance.InsertedVertices)
	case balance.Done:
		u.ended = true
	}
}

// cycle is one cycle.
func (d *ctrlDriver) cycle() {
	d.now++
	var in ctrlInput
	out := ctrlOutput{Done: d.p.Done()}
	for i := range d.units {
		u := &d.units[i]
		if !u.ended && d.r.IntN(d.drains) == 0 && !u.drained || u.drained && !u.ended && d.r.IntN(100*d.busy) == 0 {
			u.drained = !u.drained
			d.say(u, []balance.Event{balance.NotDrained, balance.Drained}[count(u.drained)])
		}
		if len(u.says) > 0 && u.says[0].at <= d.now {
			in.reports[i] = &u.says[0].r
			d.p.Report(i, u.says[0].r)
			u.says = slices.Clone(u.says[1:])
		}
	}
	d.p.Cycle(d.now)
	for i := range d.units {
		u := &d.units[i]
		if d.stall > 0 && d.now >= u.stalled && d.r.IntN(20) == 0 {
			u.stalled = d.now + uint64(d.r.IntN(d.stall))
		}
		ready := d.now >= u.stalled
		if ready {
			in.ready |= 1 << i
		}
		c, ok := d.p.Next(i)
		if !ok {
			continue
		}
		out.Valid |= 1 << i
		out.Commands[i] = c
		if ready {
			d.p.Left(i)
			d.told(u, c)
		}
	}
	out.Inside = d.p.Inside()
	d.ins, d.outs = append(d.ins, in), append(d.outs, out)
}

// ctrlSpec is a spec of a policy.
func ctrlSpec(policy string, interval, shift, threshold, group int) ctrlproc.Spec {
	return ctrlproc.Spec{Policy: policy, Interval: interval, ThresholdShift: shift, Threshold: threshold, Group: group,
		Latency: 12}
}

// chosenCtrls are configurations that, together, have each path of the SystemVerilog.
var chosenCtrls = []ctrlConfig{
	{ctrlSpec("ef+vl", 20, 3, 0, 3), 7}, // a last group that is short; the one that CI builds
	{ctrlSpec("ef", 16, 4, 0, 1), 4},
	{ctrlSpec("ef+vl", 9, 2, 0, 1), 6},
	{ctrlSpec("ef", 30, 0, 50, 4), 8},
	{ctrlSpec("vl", 1, 4, 0, 1), 5},
	{ctrlSpec("none", 5, 4, 0, 1), 3},
	{ctrlSpec("ef", 7, 31, 0, 1), 1},
	{ctrlSpec("ef+vl", 40, 4, 0, 64), 7}, // one group
}
