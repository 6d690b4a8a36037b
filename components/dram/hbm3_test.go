package dram

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestHBM3 compares the share of the peak that streams reach with an H100's, whose five stacks have a peak of
// 3.35 TB/s: 2.08 TB/s of random 64-byte blocks (docs/results/silicon). Streams lose the time of refreshes, which take
// RFC of every REFI, random blocks also the cost of FAW and of busy banks.
func TestHBM3(t *testing.T) {
	for _, c := range []struct {
		pattern     string
		channels    int
		least, most float64 // share of the peak
	}{
		{"seq", 16, 0.88, 0.93}, {"seq", 10, 0.88, 0.93}, {"rand", 16, 0.55, 0.7}, {"rand", 80, 0.55, 0.7},
	} {
		s := preset(t, "hbm3-5.2gbps")
		s.Channels = c.channels
		got := load{spec: s, pattern: c.pattern, window: 64 * c.channels}.start(t).run(t)
		share := got.throughput * float64(s.LineBytes) / s.PeakBytes()
		t.Logf("%-4s %2d channels: %.3f of the peak, read latency %.0f clocks", c.pattern, c.channels, share,
			got.readLatency)
		assert.True(t, share > c.least && share < c.most, "%s, %d channels: %.3f of the peak", c.pattern, c.channels, share)
	}
}
