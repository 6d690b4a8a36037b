package eval

import (
	"math"

	"heddle/graphit"
)

// functionError is the relative error of the machine's logarithms, and no less than that of a C library's functions.
const functionError, wideError = 2 * u, 6 * u64

// functions are the language's functions of real numbers: their values for operands whose errors are known, before the
// result is rounded.
var functions = map[string]func(x, y Value) Value{
	"floor": func(x, _ Value) Value { return monotone(math.Floor, x) },
	"ceil":  func(x, _ Value) Value { return monotone(math.Ceil, x) },
	"log": func(x, _ Value) Value {
		if x.F <= 0 || x.F-x.E <= 0 {
			return Value{F: math.Log(x.F), E: math.Inf(1)}
		}
		return monotone(math.Log, x)
	},
	"exp": func(x, _ Value) Value { return monotone(math.Exp, x) },
	"pow": func(x, y Value) Value {
		f, e := math.Pow(x.F, y.F), 0.0
		for _, a := range []float64{x.F - x.E, x.F + x.E} {
			for _, b := range []float64{y.F - y.E, y.F + y.E} {
				e = max(e, math.Abs(math.Pow(a, b)-f))
			}
		}
		return Value{F: f, E: e}
	},
}

// monotone is a function that only rises, or only falls.
func monotone(f func(float64) float64, x Value) Value {
	y := f(x.F)
	return Value{F: y, E: max(math.Abs(f(x.F+x.E)-y), math.Abs(f(x.F-x.E)-y))}
}

// computed compiles one of the functions.
func (s *scope) computed(x *graphit.Call) code {
	t, f := x.TypeOf(), functions[x.Name]
	var args [2]code
	for i, a := range x.Args {
		args[i] = s.as(a, t)
	}
	wide, off := s.wide(t), functionError
	if wide {
		off = wideError
	}
	whole := x.Name == "floor" || x.Name == "ceil"
	return func(fr *frame) Value {
		v, w := args[0](fr), Value{}
		if args[1] != nil {
			w = args[1](fr)
		}
		y := f(v, w)
		switch {
		case math.IsNaN(y.F) || math.IsInf(y.E, 1):
			fail(x.Pos, "%s, of %v, is not a number, or may be none by roundings", graphit.Source(x), v.F)
		case whole:
			return y
		case y.E == 0 && (y.F == 0 && v.F == 1 || y.F == 1 && (v.F == 0 || w.F == 0 && args[1] != nil)): // log(1), exp(0)
			return y
		}
		return round(wide, y.F, y.E+off*math.Abs(y.F))
	}
}
