// Package cpu runs GraphIt programs on the host's own processors: Generate translates a program's GraphIR to a program
// in Go, and Run compiles it with the Go toolchain, runs it, and compares its results with the reference.
//
// The generated program is self-contained: it includes the runtime in file rt, and imports only Go's standard library.
// Every operator becomes a loop for one worker, without atomics, and one for several, with atomics wherever the
// operator's accesses may conflict; small inputs take the first.
//
// It has what the machine has, and refuses by name: extern functions in Go and in C, applyUpdatePriorityExtern, queues
// with higher priorities first, lists of numbers, applyUpdatePriority of a function that changes no priority, and
// intersections by bits or hash tables (those by merging and searching run).
package cpu
