// Package ir is the language in which kernels are built: a small typed intermediate representation with structured
// control flow, written by Go code through a Builder.
//
// A kernel describes the work of one lane. All lanes of all warps of all cores run it; lanes diverge at If and in loops
// and reconverge after them. Uniformity is not declared: Analyse infers which values are the same in all lanes of a
// warp, and the compiler (package codegen) selects branches and masks accordingly.
//
// Every operation is one row of the table in ops.go: its name, its types and, if it is pure, its semantics. Run
// interprets kernels and is the reference for compiled ones.
//
// This package knows no registers, instruction encodings or time, and no graphs, schedules or algorithms.
package ir
