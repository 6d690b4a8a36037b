// Package codegen compiles kernels of package ir to programs of the simulated machine.
//
// It goes in three steps: passes rewrite the kernel (passes.go lists them, each with
// what it is for and why it comes where it comes); lowering turns it into instructions
// on virtual registers, and decides which branches are plain ones, which are split/join
// and which loops narrow the thread mask; allocation gives every virtual register a
// register or a place on the lane's stack. The kernel after every pass is still one
// that ir.Run interprets.
//
// This package knows no graphs, schedules or algorithms, and no time.
package codegen
