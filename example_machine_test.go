package heddle_test

import (
	"context"
	"fmt"

	"heddle"
)

// double has every lane of the first warp double a word of the array whose address is in mscratch.
const double = `
_start:	li t0, -1
	tmc t0                  # all lanes
	csrr a0, mscratch
	csrr a1, vx_tid
	slli a1, a1, 2
	add a0, a0, a1
	lw a2, 0(a0)
	add a2, a2, a2
	sw a2, 0(a0)
	li t0, 1
	tmc t0                  # lane 0
	sw zero, 0x88(zero)     # exit code 0
	tmc zero                # none: the warp ends
`

func ExampleNewMachine() {
	cfg, err := heddle.LoadMachine("vortex-1c4w4t")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := heddle.NewMachine(cfg, heddle.MachineOptions{MaxCycles: 100_000, Check: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := heddle.Assemble("double.s", double, heddle.ProgramOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	const at = 0x10000000
	if err := m.WriteWords(at, []uint32{1, 2, 3, 4}); err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		r, err := m.Launch(context.Background(), p, at)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d warp instructions, and more cycles: %v\n", r.WarpInstrs, r.Cycles > r.WarpInstrs)
	}
	words, err := m.ReadWords(at, 4)
	fmt.Println(words, err)
	stores, _ := m.Statistics().Get("warp_instrs.store")
	fmt.Println(stores.Name, stores, stores.Unit)
	fmt.Println(m.CheckInvariants())
	// Output:
	// 13 warp instructions, and more cycles: true
	// 13 warp instructions, and more cycles: true
	// [4 8 12 16] <nil>
	// warp_instrs.store 4 warp instructions
	// <nil>
}

func ExampleLoadMachine() {
	cfg, err := heddle.LoadMachine("vortex-1c4w4t", "core.warps=8", "l1d.bytes=32KiB")
	fmt.Println(cfg.Core.Warps, cfg.L1D.Bytes, err)
	_, err = heddle.LoadMachine("vortex-1c4w4t", "core.wraps=8")
	fmt.Println(err)
	// Output:
	// 8 32768 <nil>
	// --set core.wraps: core.wraps: unknown key; did you mean core.warps?
}

func ExampleParseMachine() {
	cfg, err := heddle.ParseMachine("mine.yaml", []byte("extends: vortex-1c4w4t\ncore: {weaver: {}}\n"))
	fmt.Println(cfg.Core.Unit.Is("weaver"), err)
	_, err = heddle.ParseMachine("mine.yaml", []byte("extends: vortex-1c4w4t\ncore: {warps: 0}\n"))
	fmt.Println(err)
	// Output:
	// true <nil>
	// mine.yaml:2:15: core.warps: expected an integer 1..64 (warps); found 0
}

func ExampleNewFunctionalMachine() {
	cfg, err := heddle.LoadMachine("vortex-1c4w4t")
	if err != nil {
		fmt.Println(err)
		return
	}
	console := func(line []byte) { fmt.Printf("it says %q\n", line) }
	m, err := heddle.NewFunctionalMachine(cfg, heddle.MachineOptions{Console: console})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := heddle.Assemble("hello.s", `
_start:	li a0, 'h'
	sb a0, 0x40(zero)
	li a0, 'i'
	sb a0, 0x40(zero)
	li a0, '\n'
	sb a0, 0x40(zero)
	li a0, 3
	sw a0, 0x88(zero)
	tmc zero
`, heddle.ProgramOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = m.Launch(context.Background(), p, 0)
	fmt.Println(err)
	code, ok := m.ExitCode()
	fmt.Println(code, ok)
	// Output:
	// it says "hi\n"
	// hello.s: the program returned 3
	// 3 true
}

func ExampleAssemble() {
	_, err := heddle.Assemble("x.s", "_start:\n\taddi a0, a1\n", heddle.ProgramOptions{})
	fmt.Println(err)
	// Output: x.s:2:13: addi needs rd, rs1, imm
}
