package main

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"

	"heddle/internal/commits"
)

// buildUnpreempted builds the work tree's program for counting, and returns its path.
func buildUnpreempted(ctx context.Context, root, dir string, flags ...string) (string, error) {
	program, err := commits.Build(ctx, root, dir, flags...)
	if err != nil {
		return "", err
	}
	return program, unpreempted(program)
}

// preempt is the function of Go's runtime that asks a goroutine to give way.
const preempt = "runtime.preemptone"

// refusals are machine code that returns false.
var refusals = map[elf.Machine][]byte{
	elf.EM_X86_64:  {0x31, 0xc0, 0xc3},                               // xor eax, eax; ret
	elf.EM_AARCH64: {0xe0, 0x03, 0x1f, 0x2a, 0xc0, 0x03, 0x5f, 0xd6}, // mov w0, wzr; ret
}

// unpreempted changes a program so that its goroutines run until they block. By default Go preempts one after 10 ms,
// which callgrind, seeing only another stack, takes for the simulation's return: instructions after that were not
// counted on a busy machine. No setting prevents it. The machine code is changed, since with a changed source of the
// runtime all packages, of Go too, would have to be compiled again.
func unpreempted(program string) (err error) {
	f, err := os.OpenFile(program, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	e, err := elf.NewFile(f)
	if err != nil {
		return fmt.Errorf("%s: expected a program of Linux, where callgrind runs: %w", program, err)
	}
	code, ok := refusals[e.Machine]
	if !ok {
		return fmt.Errorf("%s: expected a program for x86-64 or AArch64, not %v", program, e.Machine)
	}
	symbols, err := e.Symbols()
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	for _, s := range symbols {
		if s.Name != preempt || s.Size < uint64(len(code)) || int(s.Section) >= len(e.Sections) {
			continue
		}
		in := e.Sections[s.Section]
		_, err = f.WriteAt(code, int64(in.Offset+s.Value-in.Addr))
		return err
	}
	return fmt.Errorf("%s: no function %s any more: find the one by which Go preempts", program, preempt)
}
