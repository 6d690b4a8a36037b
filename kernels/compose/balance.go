package compose

import "heddle/kernels/host"

// Balance is the imbalance of a super-step: the most edges that a lane, warp or core handled over the mean. 1 is even;
// 0: there were no edges.
type Balance struct{ Lanes, Warps, Cores float64 }

// Meter measures the balance of launches, one after the other.
type Meter struct{ before, after []uint64 }

type laneEdges interface{ LaneEdges(n []uint64) []uint64 }

// Begin begins a measurement on a device, or on what stands in for one.
func (m *Meter) Begin(d laneEdges) { m.before = d.LaneEdges(m.before) }

// End returns the balance since Begin. running is the number of warps of a core that ran.
func (m *Meter) End(d laneEdges, s host.Shape, running int) Balance {
	m.after = d.LaneEdges(m.after)
	return balanceOf(m.before, m.after, s, running)
}

// balanceOf computes the balance of a launch from the edges that each lane has handled before and after it.
func balanceOf(before, after []uint64, s host.Shape, running int) Balance {
	var lanes, warps, cores largest
	for core := 0; core < len(after); core += s.Warps * s.Threads {
		ofCore := uint64(0)
		for w := range running {
			at := core + w*s.Threads
			from, to, ofWarp := before[at:at+s.Threads], after[at:at+s.Threads], uint64(0)
			for i, n := range to {
				n -= from[i]
				lanes.most = max(lanes.most, n)
				ofWarp += n
			}
			warps.most = max(warps.most, ofWarp)
			ofCore += ofWarp
		}
		cores.most = max(cores.most, ofCore)
		cores.sum, cores.n = cores.sum+ofCore, cores.n+1
	}
	warps.sum, warps.n = cores.sum, cores.n*running
	lanes.sum, lanes.n = cores.sum, warps.n*s.Threads
	return Balance{lanes.overMean(), warps.overMean(), cores.overMean()}
}

// largest is the largest of n counts, and their sum.
type largest struct {
	most, sum uint64
	n         int
}

func (l largest) overMean() float64 {
	if l.sum == 0 {
		return 0
	}
	return float64(l.most) * float64(l.n) / float64(l.sum)
}
