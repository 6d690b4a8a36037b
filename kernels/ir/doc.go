// Package ir is the language kernels are built in: a small typed intermediate
// representation with structured control flow, written by Go code through a Builder.
//
// A kernel says what one lane does. All lanes of all warps of all cores run it; lanes
// part at If and in loops and meet again behind them. Nothing says which values are
// the same in all lanes of a warp: Analyse finds out, and the compiler (package
// codegen) chooses branches and masks by it.
//
// Every operation is one row of the table in ops.go: its name, its types and, if it
// only computes, its meaning. Run interprets kernels and is the reference for what
// compiled ones do.
//
// This package knows no registers, no instructions' encodings and no time; nor does it
// know what graphs, schedules or algorithms are.
package ir
