package algorithm

import (
	"fmt"

	"heddle/kernels/emit"
	"heddle/kernels/ir"
	"heddle/kernels/softfloat"
)

// Coefficient is a way to compute a graph convolution's coefficient, 1/√(outdegree·indegree), in f32. An edge's ends
// have degrees of 1 or more.
type Coefficient struct {
	Name, Doc string

	// emit reads the degrees where it uses them.
	emit func(k *emit.Kernel, out, in func() ir.Value) ir.Value
	// inDouble is set if the computation is in double, with a single final rounding to f32.
	inDouble bool
}

// Hardware is the default.
var Hardware = &Coefficient{
	Name: "hardware",
	Doc:  "graphsum's coefficient is computed in f32, by the core's unit",
	emit: func(k *emit.Kernel, out, in func() ir.Value) ir.Value { return k.Div(k.F32(1), rootInF32(k, out, in)) },
}

// coefficients holds every way to compute the coefficient.
var coefficients = []*Coefficient{Hardware, {
	Name: "software-division",
	Doc: "graphsum's coefficient is 1.0 / sqrtf(x) to the letter: the root in f32 by the core's unit, the division " +
		"in double by integer instructions, and the result rounded to f32",
	emit: func(k *emit.Kernel, out, in func() ir.Value) ir.Value {
		return inverse(k, softfloat.FromF32(k.Builder, rootInF32(k, out, in)))
	},
}, {
	Name: "software",
	Doc: "graphsum's coefficient is 1.0 / sqrt(x): degrees, their product, its root and the division in double " +
		"by integer instructions, and the result rounded to f32",
	inDouble: true,
	emit: func(k *emit.Kernel, out, in func() ir.Value) ir.Value {
		product := softfloat.Mul(k.Builder, softfloat.FromU32(k.Builder, out()), softfloat.FromU32(k.Builder, in()))
		return inverse(k, softfloat.Sqrt(k.Builder, product))
	},
}}

func rootInF32(k *emit.Kernel, out, in func() ir.Value) ir.Value {
	return k.Sqrt(k.Mul(k.ToF32(out()), k.ToF32(in())))
}

func inverse(k *emit.Kernel, x softfloat.Double) ir.Value {
	return softfloat.ToF32(k.Builder, softfloat.Div(k.Builder, softfloat.One(k.Builder), x))
}

// Coefficients returns every way to compute the coefficient.
func Coefficients() []*Coefficient { return coefficients }

// CoefficientByName returns the one with that name.
func CoefficientByName(name string) (*Coefficient, error) {
	for _, c := range coefficients {
		if c.Name == name {
			return c, nil
		}
	}
	return nil, fmt.Errorf("no coefficient %q", name)
}
