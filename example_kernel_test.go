package heddle_test

import (
	"context"
	"fmt"

	"heddle"
)

// A kernel of one's own: written, compiled, launched.
func ExampleNewKernel() {
	cfg, err := heddle.LoadMachine("vortex-1c4w4t")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := heddle.NewMachine(cfg, heddle.MachineOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	k := heddle.NewKernel("axpy")
	n, a, x, y := k.Count("n"), k.Float("a"), k.Addr("x"), k.Addr("y")
	k.Strided(n, func(i heddle.Value) {
		k.Store(y, i, k.FMA(a, k.Load(heddle.F32, x, i), k.Load(heddle.F32, y, i)))
	})
	c, err := heddle.CompileKernel(k, m)
	if err != nil {
		fmt.Println(err)
		return
	}
	const half, one, two = 0x3F000000, 0x3F800000, 0x40000000 // floats as their bits
	arg, at, err := c.Place(m, map[string][]uint32{"x": {one, one, two}, "y": {0, half, one}},
		map[string]uint32{"n": 3, "a": two})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err = m.Launch(context.Background(), c.Program, arg); err != nil {
		fmt.Println(err)
		return
	}
	words, err := m.ReadWords(at["y"], 3)
	fmt.Printf("%#x %v\n", words, err) // 2, 2.5 and 5
	// Output: [0x40000000 0x40200000 0x40a00000] <nil>
}

// A graph program composed of choices, run and checked.
func ExampleRun() {
	cfg, err := heddle.LoadMachine("vortex-1c4w4t", "core.weaver={}")
	if err != nil {
		fmt.Println(err)
		return
	}
	g, err := heddle.NewGraph(6, [][2]uint32{{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, schedule := range []string{"warp", "weaver", "peg"} {
		m, err := heddle.NewMachine(cfg, heddle.MachineOptions{})
		if err != nil {
			fmt.Println(err)
			return
		}
		r, err := heddle.Run(context.Background(), m, g, "algorithm=bfs", "source=0", "schedule="+schedule)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(r.Plan.Name(), len(r.Steps), "super-steps, verified:", r.Verified)
		fmt.Println(int32(r.Values[4]), int32(r.Values[5]))
	}
	// Output:
	// bfs/warp/csr/push/queue+none/shuffle 4 super-steps, verified: true
	// 3 -1
	// bfs/weaver/csr/push/queue+none 4 super-steps, verified: true
	// 3 -1
	// bfs/peg/csr/push/list+none: the schedule needs a machine whose cores have a GraphPEG
}

func ExampleLoadGraph() {
	g, err := heddle.LoadGraph("erdos_renyi.vertices=100", "erdos_renyi.edges=500", "weights.from=random")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.Vertices(), g.Edges(), g.WeightKind())
	_, err = heddle.LoadGraph("file=no-such-graph")
	fmt.Println(err != nil)
	_, err = heddle.LoadGraph("erdos_renyi.vertexes=100")
	fmt.Println(err)
	// Output:
	// 100 1000 int
	// true
	// --set erdos_renyi.vertexes: erdos_renyi.vertexes: unknown key; did you mean erdos_renyi.vertices?
}

func ExampleChoices() {
	fmt.Println(heddle.Choices("schedule"))
	// Output: [vertex edge warp cta twc twce strict shard weaver peg hwwl eghw]
}
