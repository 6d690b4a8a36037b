package cmd

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The time left is estimated from the work that all tasks have done since they were first seen to run.
func TestThroughput(t *testing.T) {
	p := &throughput{work: []float64{1, 1, 2, 4}}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	points := func(list ...int) map[int]bool {
		m := map[int]bool{}
		for _, i := range list {
			m[i] = true
		}
		return m
	}
	require.Equal(t, "1 of 4 points have ended", p.text(now, points(0), false), "all wait")
	now = now.Add(time.Hour)
	require.Equal(t, "1 of 4 points have ended", p.text(now, points(0), true), "they begin")
	now = now.Add(10 * time.Second)
	require.Equal(t, "1 of 4 points have ended", p.text(now, points(0), true))
	now = now.Add(10 * time.Second)
	require.Equal(t, "2 of 4 points have ended, about 2m0s left in all", p.text(now, points(0, 1), true),
		"6 of 8 are left, at 1 in 20 s")
	now = now.Add(10 * time.Second)
	require.Equal(t, "3 of 4 points have ended, about 40s left in all", p.text(now, points(0, 1, 2), true))
	require.Equal(t, "4 of 4 points have ended", p.text(now, points(0, 1, 2, 3), false))
}
