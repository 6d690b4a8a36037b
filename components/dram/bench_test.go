package dram

import "testing"

// BenchmarkTick drives a channel with random lines, a third of them writes, at
// saturation: its queues are kept full. It ticks every clock. An op is a
// completed request.
func BenchmarkTick(b *testing.B) {
	benchmarkPresets(b, func(*Channel) bool { return true })
}

// BenchmarkSkip is the same, skipping clocks up to NextEvent.
func BenchmarkSkip(b *testing.B) {
	benchmarkPresets(b, func(c *Channel) bool { return false })
}

func benchmarkPresets(b *testing.B, everyClock func(*Channel) bool) {
	for _, name := range Presets() {
		b.Run(name, func(b *testing.B) {
			s := preset(b, name)
			s.Channels = 1
			c := newChannel(b, s)
			b.ReportAllocs()
			b.ResetTimer()
			clocks := saturate(c, b.N, everyClock(c))
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
			b.ReportMetric(float64(clocks)/float64(b.N), "clocks/request")
		})
	}
}

// saturate completes n requests and returns the clocks it took.
func saturate(c *Channel, n int, everyClock bool) uint64 {
	lines, mix := lcg(1), lcg(2)
	head := Request{Line: lines.next()}
	clock := uint64(0)
	for done := 0; done < n; {
		c.Tick(clock)
		for _, ok := c.PopDone(clock); ok; _, ok = c.PopDone(clock) {
			done++
		}
		for c.Enqueue(clock, head) {
			head = Request{ID: head.ID + 1, Line: lines.next(), Write: mix.next()%100 < writePercent}
		}
		if everyClock {
			clock++
		} else {
			clock = c.NextEvent(clock)
		}
	}
	return clock
}
