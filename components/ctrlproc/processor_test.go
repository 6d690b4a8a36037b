package ctrlproc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/balance"
	"heddle/components/graphpeg"
	"heddle/isa/emu"
)

// network plays units with given loads, which answer reads at once.
type network struct {
	*Processor
	now   uint64
	loads []uint32
	got   [][]balance.Command // by core, without reads
}

func newNetwork(s Spec, loads ...uint32) *network {
	n := &network{Processor: NewProcessor(s, len(loads)), loads: loads, got: make([][]balance.Command, len(loads))}
	n.Launch(0)
	return n
}

// run is some cycles.
func (n *network) run(cycles int) {
	for range cycles {
		n.Cycle(n.now)
		n.now++
		for i := range n.cores {
			for _, c := range n.cores[i].out {
				if c.Order == balance.Read {
					n.Report(i, balance.Report{Event: balance.Value, Epoch: n.epoch, Edges: n.loads[i]})
					continue
				}
				n.got[i] = append(n.got[i], c)
			}
			n.cores[i].out = n.cores[i].out[:0]
		}
	}
}

func (n *network) says(i int, ev balance.Event, r balance.Range) {
	n.Report(i, balance.Report{Event: ev, Epoch: n.epoch, Range: r})
}

func (n *network) orders(i int) (out []balance.Order) {
	for _, c := range n.got[i] {
		out = append(out, c.Order)
	}
	return out
}

// TestThresholds from both sides.
func TestThresholds(t *testing.T) {
	for _, c := range []struct {
		name     string
		spec     Spec
		loads    []uint32
		size     uint32 // 0: nothing is moved
		from, to int
	}{
		{"absolute, at it", Spec{Policy: "ef", Interval: 10, Threshold: 512}, []uint32{100, 612, 300}, 256, 1, 0},
		{"absolute, below", Spec{Policy: "ef", Interval: 10, Threshold: 512}, []uint32{100, 611, 300}, 0, 0, 0},
		{"shift 4, at it", Spec{Policy: "ef", Interval: 10, ThresholdShift: 4}, []uint32{1600, 1550, 1500}, 50, 0, 2},
		{"shift 4, below", Spec{Policy: "ef", Interval: 10, ThresholdShift: 4}, []uint32{1600, 1550, 1501}, 0, 0, 0},
		{"shift 2, at it", Spec{Policy: "ef", Interval: 10, ThresholdShift: 2}, []uint32{1600, 1200}, 200, 0, 1},
		{"shift 2, below", Spec{Policy: "ef", Interval: 10, ThresholdShift: 2}, []uint32{1600, 1201}, 0, 0, 0},
		{"a difference of one", Spec{Policy: "ef", Interval: 10, ThresholdShift: 4}, []uint32{1, 0}, 0, 0, 0},
		{"nothing anywhere", Spec{Policy: "ef", Interval: 10, ThresholdShift: 4}, []uint32{0, 0}, 0, 0, 0},
		{"no balancing", Spec{Policy: "none", Interval: 10, ThresholdShift: 4}, []uint32{1000, 0}, 0, 0, 0},
	} {
		n := newNetwork(c.spec, c.loads...)
		n.run(16)
		if c.size == 0 {
			require.Zero(t, n.Offers, c.name)
			continue
		}
		require.EqualValues(t, 1, n.Offers, c.name)
		require.Equal(t, []balance.Command{{Order: balance.Donate, Epoch: 1, Edges: c.size, Vertices: c.size}},
			n.got[c.from], c.name)
		require.Equal(t, []balance.Order{balance.Standby}, n.orders(c.to), c.name)
	}
}

// TestPollsAreAnIntervalApart, or as far as the slowest answer takes; one core is read a cycle.
func TestPollsAreAnIntervalApart(t *testing.T) {
	n := newNetwork(Spec{Policy: "ef", Interval: 100}, 0, 0, 0, 0)
	n.run(100)
	require.Zero(t, n.Polls)
	n.run(1)
	require.EqualValues(t, 1, n.Polls)
	require.EqualValues(t, 1, n.Commands)
	n.run(99)
	require.EqualValues(t, 4, n.Commands)
	n.run(1)
	require.EqualValues(t, 2, n.Polls)

	late := NewProcessor(Spec{Policy: "ef", Interval: 10}, 2)
	late.Launch(0)
	for now := range uint64(100) {
		late.Cycle(now)
	}
	require.EqualValues(t, 1, late.Polls, "no core has answered")
}

// TestGroups: each balances among its own cores while, by their sums, one donates to another; who takes part in
// that is left alone.
func TestGroups(t *testing.T) {
	spec := Spec{Policy: "ef", Interval: 100, ThresholdShift: 4, Group: 3}
	// Sums: 1110, 690, 30 and, of a last group that is short, 500.
	n := newNetwork(spec, 900, 200, 10, 300, 300, 90, 10, 20, 0, 400, 100)
	n.run(101)
	require.EqualValues(t, 4, n.Commands, "the first core of each")
	n.run(3)
	require.EqualValues(t, 1, n.Polls)
	require.EqualValues(t, 5, n.Offers)
	size := func(i int) uint32 {
		require.Equal(t, balance.Donate, n.got[i][0].Order, "core %d", i)
		return n.got[i][0].Edges
	}
	require.EqualValues(t, (1110-30)/2, size(0), "between groups")
	require.Equal(t, []balance.Order{balance.Standby}, n.orders(8))
	require.EqualValues(t, (200-10)/2, size(1), "core 0 is a donor already")
	require.EqualValues(t, (300-90)/2, size(3))
	require.EqualValues(t, (20-10)/2, size(7), "core 8 is a receiver already")
	require.EqualValues(t, (400-100)/2, size(9))
	require.EqualValues(t, 900, n.LoadMax)
	require.EqualValues(t, 2330, n.LoadSum)

	one := newNetwork(Spec{Policy: "ef", Interval: 100, ThresholdShift: 4, Group: 64}, 900, 200, 10)
	one.run(105)
	require.EqualValues(t, 1, one.Offers, "a single group has no other to give to")
	require.Equal(t, uint32(445), one.got[0][0].Edges)
}

// TestRefused: the receiver is let go, and the next poll may choose both again.
func TestRefused(t *testing.T) {
	n := newNetwork(Spec{Policy: "ef", Interval: 10, Threshold: 512}, 900, 100)
	n.run(14)
	n.says(0, balance.Refused, balance.Range{})
	n.run(1)
	require.Equal(t, []balance.Order{balance.Standby, balance.Release}, n.orders(1))
	n.run(20)
	require.EqualValues(t, 2, n.Offers)
	require.EqualValues(t, 1, n.Refused)
}

// TestPendingReceiverIsLeftAlone until its piece is in the table; and nothing is done while a donation is open.
func TestPendingReceiverIsLeftAlone(t *testing.T) {
	n := newNetwork(Spec{Policy: "ef", Interval: 10, Threshold: 512}, 900, 100)
	n.run(14)
	n.says(0, balance.Donated, balance.Range{Start: 5, End: 30, Base: 7})
	n.says(0, balance.Drained, balance.Range{})
	n.says(1, balance.Drained, balance.Range{})
	n.run(60)
	require.Equal(t, []balance.Order{balance.Standby, balance.Receive}, n.orders(1))
	require.Equal(t, balance.Range{Start: 5, End: 30, Base: 7}, n.got[1][1].Range)
	require.EqualValues(t, 1, n.Offers)
	require.NotZero(t, n.Busy)
	require.False(t, n.done, "both are drained, but the piece is on its way")
	n.says(1, balance.NotDrained, balance.Range{})
	n.says(1, balance.Inserted, balance.Range{})
	n.run(1)
	require.False(t, n.done)
	n.says(1, balance.Drained, balance.Range{})
	n.run(2)
	require.True(t, n.done)
	require.Equal(t, balance.Done, n.got[0][len(n.got[0])-1].Order)
}

// TestEarlierLaunchesAreVoid.
func TestEarlierLaunchesAreVoid(t *testing.T) {
	n := newNetwork(Spec{Policy: "none", Interval: 10}, 0, 0)
	n.Launch(0)
	for i := range 2 {
		n.Report(i, balance.Report{Event: balance.Drained, Epoch: 1})
	}
	n.Report(0, balance.Report{Event: balance.Donated, Epoch: 1, Range: balance.Range{Start: 1, End: 4}})
	n.run(3)
	require.False(t, n.done)
	require.EqualValues(t, 3, n.EdgesAbandoned)
	n.says(0, balance.Drained, balance.Range{})
	n.says(1, balance.Drained, balance.Range{})
	n.run(1)
	require.True(t, n.done)
}

// TestThePapersExample is the walk-through of GraphPEG §3.3.2: of the donor's entries the second is
// the largest; 448 edges from 1304 on change the core, and it goes on at 1752.
func TestThePapersExample(t *testing.T) {
	const lines = 64
	mem := emu.NewMemory()
	spec := graphpeg.DefaultSpec().Derived(4, 6)
	donor := graphpeg.NewEngine(spec, graphpeg.Shape{Cores: 2, Warps: 4, Threads: 32, LineBytes: lines})
	receiver := graphpeg.NewEngine(spec, graphpeg.Shape{Core: 1, Cores: 2, Warps: 4, Threads: 32, LineBytes: lines})
	host := graphpeg.Host{Units: []*graphpeg.Engine{donor, receiver}}
	// vertices 0, 1, 2: 804, 1000 and 96 edges; 512 of the first fill the buffer
	offsets := []uint32{500, 1304, 2304, 2400}
	for i, o := range offsets {
		mem.Store32(0x1000+uint32(4*i), o)
	}
	donor.UseMemory(mem)
	receiver.UseMemory(mem)
	require.NoError(t, host.Configure(graphpeg.Setup{Fields: graphpeg.FieldDst, Vertices: 3, Offsets: 0x1000,
		Edges: 2400, Neighbours: 0x10000, Out: 1, Regions: 0x4000_0000}))
	donor.Launch()
	receiver.Launch()
	require.NoError(t, host.Fill(0, []uint32{0, 1, 2, 2, 2, 2}, graphpeg.Block)) // the last three are the receiver's
	answer := func(e *graphpeg.Engine, now uint64) {
		if s := e.Cycle(now, nil, true, true); s.HasRequest && s.Request.Addr < 0x10000 { // only offsets are answered
			e.Arrive(s.Request.Tag)
		}
	}
	for now := range uint64(80) {
		answer(donor, now)
	}
	require.EqualValues(t, 1900, donor.EFS(), "with those that the buffer has reserved")

	p := NewProcessor(Spec{Policy: "ef", Interval: 1, Threshold: 512}, 2)
	p.Launch(0)
	p.Report(0, balance.Report{Event: balance.Value, Epoch: 1, Edges: 1900})
	p.Report(1, balance.Report{Event: balance.Value, Epoch: 1, Edges: 1900 - 2*448})
	p.balance(edges)
	require.Equal(t, []balance.Command{{Order: balance.Donate, Epoch: 1, Edges: 448, Vertices: 448}}, p.cores[0].out)
	require.Equal(t, []balance.Command{{Order: balance.Standby, Epoch: 1}}, p.cores[1].out)
	before := receiver.EFS()
	receiver.Command(p.cores[1].out[0])
	donor.Command(p.cores[0].out[0])
	report := lastReport(donor)
	require.Equal(t, balance.Donated, report.Event)
	require.EqualValues(t, 448, report.Range.End-report.Range.Start)
	require.EqualValues(t, 1, report.Range.Base)
	require.Equal(t, [2]uint32{1304, 1752}, [2]uint32{report.Range.Start, report.Range.End}, "R_BW0, R_BW1")
	require.EqualValues(t, 1900-448, donor.EFS())
	p.cores[1].out = nil
	p.Report(0, report)
	receiver.Command(p.cores[1].out[0])
	receiver.Cycle(100, nil, true, true)
	require.EqualValues(t, before+448, receiver.EFS())
	require.Equal(t, balance.Inserted, lastReport(receiver).Event)
}

// lastReport empties the unit's reports.
func lastReport(e *graphpeg.Engine) (last balance.Report) {
	for r, ok := e.Report(); ok; r, ok = e.Report() {
		last = r
		e.Reported()
	}
	return last
}
