// Package heddle simulates, cycle by cycle, a Vortex-like RISC-V SIMT GPU for graph processing, with graph units in its
// cores. It is the library behind the command heddle, for programs in Go: experiments, machines, kernels, and parts of
// your own.
//
// # Experiments
//
// A YAML file is loaded and laid out as points; each runs on a machine of its own and is checked against a reference,
// and its results are stored in a directory or kept in memory. Results of earlier runs are opened.
//
//	e, err := heddle.LoadExperiment("my.yaml", "workload.algorithm.damping=0.9") // settings override the file's, as
//	--set does
//	r, err := e.Run(ctx, heddle.ExperimentOptions{Dir: "results/my"})  // goes on where a killed run stopped
//	for _, p := range r.Points { fmt.Println(p.Label(), p.Cycles, p.Verified) }
//	r, err = heddle.OpenResults("results/my")                          // later, in any program
//
// The files of a directory are those of heddle run: heddle report, heddle results and pandas read them
// (docs/guide/results.md, docs/guide/python.md). The keys of an experiment are in docs/reference/configuration.md. The
// same experiment has the same cycles and statistics on any host, for any Jobs and Threads.
//
// # Graph programs
//
// A graph program is composed of an algorithm, a schedule, a layout, a frontier and a direction, compiled for a
// machine, run on a graph and checked.
//
//	cfg, err := heddle.LoadMachine("vortex-1c4w4t", "core.weaver={}")
//	m, err := heddle.NewMachine(cfg, heddle.MachineOptions{})
//	g, err := heddle.LoadGraph("erdos_renyi.vertices=100", "erdos_renyi.edges=500")
//	r, err := heddle.Run(ctx, m, g, "algorithm=bfs", "schedule=weaver", "direction=push")
//
// # Machines
//
// A machine runs any program, from assembly, from ELF or compiled from a kernel of your own:
//
//	p, err := heddle.Assemble("add.s", text, heddle.ProgramOptions{})
//	err = m.WriteWords(0x10000000, words)
//	r, err := m.Launch(ctx, p, 0x10000000) // the CSR mscratch holds this address at the start
//	fmt.Println(r.Cycles, m.Statistics())
//
// Addresses have 32 bits; memory is sparse, and zero until it is written. A program begins at its entry on warp 0, lane
// 0 of every core, ends when no warp is left, and stores 0 at address 0x88 to report success (docs/guide/programs.md).
// Cycles are those of the cores' clock, from the launch until the last core is done.
//
// # Kernels
//
// A kernel is written with a builder and compiled to RISC-V. It describes the work of one lane; all lanes of all warps
// of all cores run it.
//
//	k := heddle.NewKernel("double")
//	n, a := k.Count("n"), k.Addr("array")
//	k.Strided(n, func(i heddle.Value) {
//		x := k.Load(heddle.U32, a, i)
//		k.Store(a, i, k.Add(x, x))
//	})
//	c, err := heddle.CompileKernel(k, m)
//
// Its methods emit code: Go's own if and for run while the kernel is written, k.If and k.For when it runs. Values have
// 32 bits: U32, I32, F32, and Pred, which is true or false. A mistake in a kernel (types that do not match, a value
// used outside its block) is an error of CompileKernel, or of the run that it would have been compiled for.
//
// # Parts of your own
//
// WithSchedule, WithAlgorithm, WithFeatures, WithLayout, WithUnit and WithStatistic make entries; cmd.Main takes them
// and is the command heddle with these parts, and Register adds them in a program with a command line of its own
// (docs/guide/extending.md).
//
// Errors name what is wrong: a file, a line, a key, and what was expected. No input of a user makes this package panic.
package heddle
