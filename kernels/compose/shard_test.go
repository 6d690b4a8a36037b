package compose

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
	"heddle/kernels/host"
	"heddle/kernels/ir"
)

// byShard are the plans of schedule shard.
func byShard(plans []*Plan) (list []*Plan) {
	for _, p := range plans {
		if p.Schedule.Shards {
			list = append(list, p)
		}
	}
	return list
}

// TestShards: thread blocks of any size with shards of any size compute the right result, on graphs without edges, with
// self-loops, with parallel edges, and of one vertex, on the functional machine and, of every sixteenth, on the timed.
func TestShards(t *testing.T) {
	plans := slices.Concat(byShard(legal()), byShard(fusable()))
	for i := range int(testenv.Cases(t, 60, 3000)) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(i), 42))
			p := plans[r.IntN(len(plans))]
			w, g := workloadOf(p), degenerate(t, r, p)
			if w.Source = r.IntN(g.Vertices()); p.Algorithm.Target {
				if g.Vertices() == 1 {
					return
				}
				w.Target = (w.Source + 1) % g.Vertices()
			}
			w.CTAThreads = threads * divisor(r, warps, warps)
			w.ShardVertices = of(r, 1, 2, 3, 5+r.IntN(40), 4096/(warps*threads/w.CTAThreads))
			var d host.Device = functional(t, p)
			if i%16 == 0 {
				d = timed(t, p)
			}
			res, err := Run(t.Context(), d, g, w)
			require.NoError(t, err, "%s, blocks of %d threads, shards of %d on %d vertices, %d edges", p.Name(),
				w.CTAThreads, w.ShardVertices, g.Vertices(), g.Edges())
			require.True(t, res.Verified)
		})
	}
}

// atomics counts the atomics of a kernel on the scratchpad and on arrays in memory.
func atomics(k *ir.Kernel) (local, memory int) {
	k.Body.Walk(func(i *ir.Instr) {
		if i.Op < ir.OpAtomicAdd || i.Op > ir.OpAtomicAddF {
			return
		}
		if i.Args[0].Op == ir.OpParam {
			memory++
		} else {
			local++
		}
	})
	return local, memory
}

// TestShardsSumInScratchpad: the gather's only atomics are on the scratchpad, and a destination is stored once a
// super-step; under schedule edge, of the same layout, every edge has an atomic in memory.
func TestShardsSumInScratchpad(t *testing.T) {
	for _, set := range []string{"layout=gshard", "layout=gshard-windows"} {
		p, err := NewPlan(choose("algorithm=pagerank", "schedule=shard", "direction=push", set))
		require.NoError(t, err)
		ks, err := p.Build(coreOf(host.Shape{Warps: warps, Threads: threads}))
		require.NoError(t, err)
		local, memory := atomics(ks.Gather[0])
		require.Equal(t, []int{1, 0}, []int{local, memory}, ks.Gather[0].Text())
		_, memory = atomics(ks.Topology[0])
		require.Zero(t, memory)
		require.Equal(t, 1, len(ks.Topology[0].Shared), "what a vertex contributes is computed once")
	}
	p, err := NewPlan(choose("algorithm=pagerank", "schedule=edge", "direction=push", "layout=gshard"))
	require.NoError(t, err)
	ks, err := p.Build(coreOf(host.Shape{Warps: warps, Threads: threads}))
	require.NoError(t, err)
	_, memory := atomics(ks.Gather[0])
	require.Equal(t, 1, memory)
}
