package compose

import "heddle/kernels/host"

// Balance is the imbalance of a super-step: the most edges that a lane, warp or core handled over the mean. 1 is even;
// 0: there were no edges.
type Balance struct{ Lanes, Warps, Cores float64 }

// BalanceOf computes the balance of a launch from the edges that each lane has handled before and after it. running is
// the number of warps of a core that ran it.
func BalanceOf(before, after []uint64, s host.Shape, running int) Balance {
	lanes := make([]uint64, 0, len(after))
	for core := 0; core < len(after); core += s.Warps * s.Threads {
		for i := core; i < core+running*s.Threads; i++ {
			lanes = append(lanes, after[i]-before[i])
		}
	}
	s.Warps = running
	warps := groups(lanes, s.Threads)
	return Balance{mostOverMean(lanes), mostOverMean(warps), mostOverMean(groups(warps, s.Warps))}
}

// groups sums groups of n neighbours.
func groups(x []uint64, n int) []uint64 {
	sums := make([]uint64, len(x)/n)
	for i := range sums {
		for _, v := range x[i*n : (i+1)*n] {
			sums[i] += v
		}
	}
	return sums
}

func mostOverMean(x []uint64) float64 {
	most, sum := uint64(0), uint64(0)
	for _, v := range x {
		most, sum = max(most, v), sum+v
	}
	if sum == 0 {
		return 0
	}
	return float64(most) * float64(len(x)) / float64(sum)
}
