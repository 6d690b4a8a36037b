// Package cpu runs GraphIt programs on the host's own processors: Generate makes a program in Go of a program's
// GraphIR, and Run compiles it with the Go toolchain, runs it, and compares what it computes with the reference.
//
// What is generated stands alone: the file rt has its runtime, and all of it imports only Go's standard library. Every
// operator becomes a loop for one worker, without atomics, and one for several, which has them where the operator's
// accesses say that workers may meet; small inputs take the first.
package cpu
