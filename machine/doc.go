// Package machine is the simulated GPU for programs in Go: a configuration by the name of a preset or from YAML, with
// settings over it; a program from assembly or ELF; memory written and read; launches; and statistics. It also adds
// graph units and statistics of other modules to heddle.
//
//	cfg, err := machine.Load("vortex-1c4w4t", "core.warps=8")
//	m, err := machine.New(cfg, machine.Options{})
//	p, err := machine.Assemble("add.s", text, nil)
//	err = m.WriteWords(0x10000000, words)
//	r, err := m.Launch(ctx, p, 0x10000000) // mscratch has the address at the start
//	fmt.Println(r.Cycles, m.Statistics())
//
// Addresses are 32 bits; a machine's memory is zero until it is written, and sparse. A program may have everything that
// docs/guide/programs.md leaves it: it begins at its entry on warp 0, lane 0 of every core, ends when no warp is left,
// and stores 0 at address 0x88 to say that it succeeded. Cycles are those of the cores' clock, counted from the launch
// until the last core is done. The same program on the same configuration takes the same cycles and comes to the same
// statistics on any host and any number of Threads.
//
// Errors name what is wrong (a file, a line, a key and what was expected); nothing here panics on what a user gives.
package machine
