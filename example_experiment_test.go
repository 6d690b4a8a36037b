package heddle_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"heddle"
)

const text = `
name: small
machine: {extends: vortex-1c4w4t, core: {weaver: {}}}
graph: {rmat: {scale: 5, edge_factor: 4}}
workload: {algorithm: bfs, source: 0}
compare: {workload.schedule: [vertex, weaver]}
sweep: {workload.direction: [push, pull]}
`

func Example() {
	e, err := heddle.ParseExperiment("small.yaml", []byte(text))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range e.Points() {
		fmt.Println(p.Label(), "is", p.Kernel())
	}
	results, err := e.Run(context.Background(), heddle.ExperimentOptions{Jobs: 2, Check: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range results.Points {
		steps, _ := r.Stat("super_steps")
		fmt.Println(r.Axis("workload.schedule"), steps, "super-steps; verified, with cycles and a speedup:", r.Verified,
			r.Cycles > 0, r.Speedup > 0)
	}
	// Output:
	// schedule=vertex direction=push is bfs/vertex/csr/push/queue+none
	// schedule=weaver direction=push is bfs/weaver/csr/push/queue+none
	// schedule=vertex direction=pull is bfs/vertex/csc/pull/bytemap
	// schedule=weaver direction=pull is bfs/weaver/csc/pull/bytemap
	// vertex 6 super-steps; verified, with cycles and a speedup: true true true
	// weaver 6 super-steps; verified, with cycles and a speedup: true true true
	// vertex 6 super-steps; verified, with cycles and a speedup: true true true
	// weaver 6 super-steps; verified, with cycles and a speedup: true true true
}

// An interrupted run resumes where it stopped; its results are opened later.
func ExampleExperiment_Run() {
	dir, err := os.MkdirTemp("", "heddle")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir) //nolint:errcheck // of a temporary directory
	dir = filepath.Join(dir, "small")
	e, err := heddle.ParseExperiment("small.yaml", []byte(text))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	_, err = e.Run(ctx, heddle.ExperimentOptions{Dir: dir, Finished: func(int, heddle.PointResult) { stop() }})
	fmt.Println(err)
	done, err := heddle.OpenResults(dir)
	fmt.Println(len(done.Points), "of", len(e.Points()), "points are stored", err)

	ran := 0
	results, err := e.Run(context.Background(), heddle.ExperimentOptions{Dir: dir,
		Finished: func(int, heddle.PointResult) { ran++ }})
	fmt.Println(ran, "points more, and", len(results.Points), "in all", err)
	for _, s := range results.Points[0].Steps[:3] {
		fmt.Println(s.Step, s.Kernel, s.Cycles > 0)
	}
	// Output:
	// not every point has a result: 3 of 4: point schedule=weaver direction=push: context canceled
	// 1 of 4 points are stored <nil>
	// 3 points more, and 4 in all <nil>
	// 0 init true
	// 1 gather-push true
	// 2 gather-push true
}

func ExampleLoadExperiment() {
	e, err := heddle.LoadExperiment("quickstart", "workload.max_iterations=2")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Name(), len(e.Points()), "points")
	_, err = heddle.LoadExperiment("quickstart", "workload.schedule=weavr")
	fmt.Println(err != nil)
	_, err = heddle.ParseExperiment("e.yaml", []byte("name: e\nmachine: vortex-1c4w4t\ngraph: {rmat: {scale: "+
		"5}}\nworklaod: {}\n"))
	fmt.Println(err)
	// Output:
	// quickstart 3 points
	// true
	// e.yaml:4:1: worklaod: unknown key; did you mean workload?
}
