// Package kernel is the making of graph kernels for programs in Go: kernels written with a builder and compiled to
// RISC-V programs; graph programs composed of an algorithm, a schedule, a layout, an active set and a direction, run on
// a machine and checked against a reference; and schedules, algorithms and layouts of other modules, added to those
// that heddle has.
//
//	k := kernel.New("double")                   // one kernel, for package machine
//	n, a := k.Count("n"), k.Addr("array")
//	k.Strided(n, func(i kernel.Value) { k.Store(a, i, k.Add(k.Load(kernel.U32, a, i), k.Load(kernel.U32, a, i))) })
//	c, err := kernel.Compile(k, m)
//
//	g, err := kernel.LoadGraph("erdos_renyi.vertices=100", "erdos_renyi.edges=500")
//	r, err := kernel.Run(ctx, m, g, "algorithm=bfs", "schedule=warp", "direction=push")
//
// A kernel says what one lane does; all lanes of all warps of all cores run it. Its methods emit code: Go's own if and
// for run while the kernel is written, k.If and k.For when it runs. Values are 32 bits: U32, I32, F32, and Pred, which
// is true or false. A mistake in a kernel (types that do not go together, a value used outside its block) is an error
// of Compile, or of the run that it would have been compiled for.
package kernel
