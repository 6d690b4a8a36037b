package dram

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// The source and the measured part of the reference runs, as the data's README defines them.
const (
	regionBytes   = 64 << 20
	firstMeasured = 10_000
	endMeasured   = 110_000
	writePercent  = 33 // of the mix mix67
)

// lineStream yields the lines of a pattern.
type lineStream struct {
	lines  uint64 // of the region
	stride uint64 // in lines; 0 is random
	at     uint64 // lines strided over so far
	random lcg
}

func newLineStream(s Spec, pattern string) lineStream {
	lineBytes := uint64(s.LineBytes)
	stride := map[string]uint64{
		"seq": 1, "s256": 256 / lineBytes, "s4k": 4096 / lineBytes, "rand": 0,
		"srow": uint64(s.Columns * s.Channels), "sbank": regionStride(s),
	}[pattern]
	return lineStream{lines: regionBytes / lineBytes, stride: stride, random: 1}
}

// regionStride is the lines from a row to the next of its bank.
func regionStride(s Spec) uint64 {
	return uint64(s.Columns * s.Channels * s.Ranks * s.BankGroups * s.Banks)
}

func (l *lineStream) next() uint64 {
	if l.stride == 0 {
		return l.random.next() % l.lines
	}
	p := l.at
	l.at += l.stride
	return (p%l.lines + p/l.lines%l.stride) % l.lines
}

// load is one reference run: an open loop of so many requests a clock, or a
// closed loop of a window.
type load struct {
	spec    Spec
	pattern string
	writes  bool
	perMyri uint64 // open loop: requests per 10 000 clocks
	window  int    // closed loop
}

// loadResult is the measurement of a run.
type loadResult struct {
	readLatency, throughput, rowHitRate float64
}

// loadRun is a load being played.
type loadRun struct {
	load
	channels []*Channel
	wakes    []uint64 // of the channels
	stepAll  bool     // tick every clock, to prove that skipping changes nothing
	mapper   Mapper
	lines    lineStream
	mix      lcg

	head        Request // the next request to hand over
	index       uint64  // its number
	outstanding int

	arrivals     []uint64 // by request number, of those in flight
	left         int      // measured requests that are not done
	reads        int      // measured reads done
	latency      uint64   // their sum
	first, last  uint64   // arrivals of the requests firstMeasured, endMeasured
	before, stop Stats    // then
}

func (l load) start(t testing.TB) *loadRun {
	r := &loadRun{
		load: l, mapper: NewMapper(l.spec), lines: newLineStream(l.spec, l.pattern), mix: 2,
		arrivals: make([]uint64, 1<<16), left: endMeasured - firstMeasured,
		wakes: make([]uint64, l.spec.Channels),
	}
	for range l.spec.Channels {
		r.channels = append(r.channels, newChannel(t, l.spec))
	}
	r.generate()
	return r
}

// run plays the load until every measured request is done.
func (r *loadRun) run(t testing.TB) loadResult {
	for clock := uint64(0); r.left > 0 || r.index <= endMeasured; clock = r.nextClock(clock) {
		for i, c := range r.channels {
			if r.wakes[i] <= clock || r.stepAll {
				r.step(c, clock)
				r.wakes[i] = c.NextEvent(clock)
			}
		}
		r.offer(clock)
		require.Less(t, clock, uint64(1)<<40, "no progress")
	}
	column := func(s Stats) uint64 { return s.Commands[RD] + s.Commands[WR] }
	return loadResult{
		readLatency: float64(r.latency) / float64(r.reads),
		throughput:  float64(endMeasured-firstMeasured) / float64(r.last-r.first),
		rowHitRate:  1 - float64(r.stop.Commands[ACT]-r.before.Commands[ACT])/float64(column(r.stop)-column(r.before)),
	}
}

func (r *loadRun) nextClock(clock uint64) uint64 {
	if r.stepAll {
		return clock + 1
	}
	at := uint64(math.MaxUint64)
	for _, w := range r.wakes {
		at = min(at, w)
	}
	if want := r.wantedAt(); r.window == 0 && want > clock {
		at = min(at, want)
	}
	return at
}

// step ticks a channel and books its completions.
func (r *loadRun) step(c *Channel, clock uint64) {
	issued := c.stats.Commands[WR]
	c.Tick(clock)
	r.outstanding -= int(c.stats.Commands[WR] - issued)
	for d, ok := c.PopDone(clock); ok; d, ok = c.PopDone(clock) {
		if !d.Write {
			r.outstanding--
		}
		r.finish(d)
	}
}

func (r *loadRun) finish(d Done) {
	if d.ID < firstMeasured || d.ID >= endMeasured {
		return
	}
	r.left--
	if !d.Write {
		r.reads++
		r.latency += d.Clock - r.arrivals[d.ID%uint64(len(r.arrivals))]
	}
}

// wantedAt is when the open loop's head wants to be sent.
func (r *loadRun) wantedAt() uint64 {
	if r.window > 0 {
		return 0
	}
	return 10_000 * r.index / r.perMyri
}

// offer hands over requests until the source has no more to send or its head is
// refused.
func (r *loadRun) offer(clock uint64) {
	for r.wantedAt() <= clock && (r.window == 0 || r.outstanding < r.window) {
		i := r.mapper.Channel(r.head.Line)
		c := r.channels[i]
		merged := c.stats.Merged
		if !c.Enqueue(clock, r.head) {
			return
		}
		r.wakes[i] = c.NextEvent(clock)
		r.outstanding += 1 - int(c.stats.Merged-merged)
		r.arrive(clock)
		r.generate()
	}
}

func (r *loadRun) arrive(clock uint64) {
	r.arrivals[r.index%uint64(len(r.arrivals))] = clock
	switch r.index {
	case firstMeasured:
		r.first, r.before = clock, r.total(clock)
	case endMeasured:
		r.last, r.stop = clock, r.total(clock)
	}
	r.index++
}

func (r *loadRun) generate() {
	r.head = Request{ID: r.index, Line: r.lines.next()}
	if r.writes {
		r.head.Write = r.mix.next()%100 < writePercent
	}
}

// total sums the commands of the channels.
func (r *loadRun) total(clock uint64) Stats {
	var sum Stats
	for _, c := range r.channels {
		for cmd, n := range c.Stats(clock).Commands {
			sum.Commands[cmd] += n
		}
	}
	return sum
}

// TestSource holds the request generator to the values that the data's README
// gives.
func TestSource(t *testing.T) {
	random := newLineStream(Spec{LineBytes: 64}, "rand")
	var sum uint64
	for i := range endMeasured {
		line := random.next()
		if first := []uint64{767958, 279385, 880844, 109286, 80730, 49395, 481946, 1026294}; i < len(first) {
			require.Equal(t, first[i], line)
		}
		sum += line
	}
	require.Equal(t, uint64(57_629_880_996), sum)

	mix, text := lcg(2), ""
	for range 40 {
		if mix.next()%100 < writePercent {
			text += "W"
		} else {
			text += "R"
		}
	}
	require.Equal(t, "RRRWRRWRRWRWRRRRRWRRRRRRWWWRRRRRWRRRRRWW", text)
}
