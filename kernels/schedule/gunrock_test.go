package schedule_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/kernels/direction"
	"heddle/kernels/emit/emittest"
	"heddle/kernels/schedule"
)

// TestGunrockKeepsOutputs: under Gunrock's edge a thread has every n-th edge of the list, of n threads, and keeps the
// destinations of up to eight (of an edge that does not count, all bits set); the queue becomes as long as the list.
func TestGunrockKeepsOutputs(t *testing.T) {
	const none = ^uint32(0)
	each(t, func(t *testing.T, x test) {
		if !slices.Contains(x.variants(), schedule.Gunrock) {
			return
		}
		x.of = schedule.Gunrock
		var destinations []uint32
		for e, v := range x.edges() {
			src, dst := v[0], v[1]
			if destinations = append(destinations, dst); someKept()[x.base(src, dst)] == 0 {
				destinations[e] = none
			}
		}
		for _, shape := range append(emittest.Shapes(), [3]int{2, 6, 4}) {
			for _, x.scan = range schedule.Scans() {
				x.warps = shape[1]
				for x.block = 1; x.block <= x.warps; x.block++ {
					if x.warps%x.block == 0 {
						x.checkOutputs(t, shape, destinations)
					}
				}
			}
		}
	})
}

func (x test) checkOutputs(t *testing.T, shape [3]int, destinations []uint32) {
	cores, warps, lanes := shape[0], shape[1], shape[2]
	m := emittest.New(cores, warps, lanes)
	x.run(t, m, someKept(), false)
	require.EqualValues(t, len(destinations), m.Words(x.args["edge.count"], 1)[0], "%v in blocks of %d", shape, x.block)
	threads := cores * warps * lanes
	want := make([]uint32, 8*threads)
	for i := range threads {
		core, warp, lane := i/lanes%cores, i/lanes/cores, i%lanes
		block, kept := warp/x.block*cores+core, want[8*lanes*(i/lanes)+lane:]
		first := (block*x.block+warp%x.block)*lanes + lane
		for n := 0; first+n*threads < len(destinations); n++ {
			kept[n%8*lanes] = destinations[first+n*threads]
		}
	}
	require.Equal(t, want, m.Words(x.args["edge.outputs"], len(want)), "%v in blocks of %d", shape, x.block)
}

// edges lists the ends of the edges in the order of the direction's list.
func (x test) edges() (ends [][2]uint32) {
	rows := x.g.CSR()
	if x.d == direction.Pull {
		rows = x.g.CSC()
	}
	for row := range x.g.Vertices() {
		for _, other := range rows.Row(row) {
			if x.d == direction.Push {
				ends = append(ends, [2]uint32{uint32(row), other})
			} else {
				ends = append(ends, [2]uint32{other, uint32(row)})
			}
		}
	}
	return ends
}
