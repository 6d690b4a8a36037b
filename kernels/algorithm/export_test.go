package algorithm

import (
	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// Word loads a word of a vertex.
var Word = word

// Compute emits a coefficient.
func (c *Coefficient) Compute(k *emit.Kernel, out, in func() ir.Value) ir.Value {
	return c.emit(k, out, in)
}
