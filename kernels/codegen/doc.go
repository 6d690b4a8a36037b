// Package codegen compiles kernels of package ir to programs of the simulated machine.
//
// It has three steps. Passes rewrite the kernel; passes.go lists them with their purposes and the reasons for their
// order. Lowering translates it to instructions on virtual registers, and decides which branches are plain, which are
// split/join, and which loops narrow the thread mask. Allocation assigns every virtual register a register or a slot on
// the lane's stack. After every pass, ir.Run can still interpret the kernel.
//
// The package knows nothing of graphs, schedules, algorithms or time.
package codegen
