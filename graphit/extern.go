package graphit

import (
	"errors"
	"fmt"
	"sync"
)

// Extern is a Go function that the extern functions with its name and types are, of programs that have no other.
type Extern struct {
	// Signature is the function's first line, as "func distance(a : Vertex, b : Vertex) -> d : int".
	Signature string
	// Value computes the result from numbers, as the reference and main do: a whole number exactly, and a real one with
	// a relative error of at most Error. nil: only Main is there.
	Value func(args []float64) float64
	Error float64
	// Main does what the function does when main calls it: to vectors, with sets, with a file. The reference and the
	// machine's host each call it. It returns the number, or nothing, or by Return a set. nil: Value is there.
	Main func(c ExternCall) float64

	// Call and Code are those of a function in C, which is a program's own: how the reference and main call it, and what
	// a machine is given.
	Call func(c ExternC) float64
	Code any

	fn *Func
}

// ExternC is a call of a function in C, by main or by a function of edges or vertices.
type ExternC interface {
	ExternCall
	Main() bool                // main calls it
	Queued() bool              // the program has a queue by now
	Weights(v uint32) []uint32 // of a vertex's edges, as an int; nil: they have none
	// Exactly is Get, with whether the value does not depend on roundings.
	Exactly(vector string, n int) (x float64, exact bool)
	// Instance is State for the functions in C.
	Instance(fresh func() any) any
	Fail(format string, args ...any)
}

// ExternCall is a call of an extern function by main.
type ExternCall interface {
	Number(i int) float64  // an argument
	Text(i int) string     // one that is a string
	Set(i int) []uint32    // one that is a vertexset, ascending
	Return(set []uint32)   // the result, if that is a vertexset
	Vertices() int         // of the graph
	Row(v uint32) []uint32 // a vertex's neighbours, along its edges
	// Len, Get and Put are a vector of the program, by its name.
	Len(vector string) int
	Get(vector string, n int) float64
	Put(vector string, n int, x float64)
	// Priority is the present one of the program's queue.
	Priority() int64
	// State keeps what fresh returns from one call to the next, for all extern functions of a run. The reference and
	// the machine have one each.
	State(fresh func() any) any
}

var (
	externsMu sync.Mutex
	externs   = map[string]*Extern{}
)

// AddExtern registers a Go function.
func AddExtern(x *Extern) (name string, err error) {
	f, err := Parse("extern", []byte("extern "+x.Signature+";"))
	if err != nil {
		return "", fmt.Errorf("its signature: %w", err)
	}
	if len(f.Funcs) != 1 || len(f.Funcs[0].Captures) > 0 {
		return "", errors.New("its signature: expected one function, as func f(a : Vertex) -> b : int")
	}
	x.fn = f.Funcs[0]
	name = x.fn.Name
	switch numbers := x.numbers(); {
	case (x.Value == nil) == (x.Main == nil):
		return name, errors.New("expected one of Value and Main")
	case x.Value != nil && !numbers:
		return name, errors.New("a Value is for numbers alone: expected Main")
	case x.Error < 0:
		return name, fmt.Errorf("its Error is %v: expected 0 or more", x.Error)
	}
	externsMu.Lock()
	defer externsMu.Unlock()
	if externs[name] != nil || builtins[name] != nil {
		return name, errors.New("there is one of that name already: expected another name")
	}
	externs[name] = x
	return name, nil
}

// numbers reports whether a function's parameters and its result are numbers.
func (x *Extern) numbers() bool {
	for _, p := range x.fn.Params {
		if !p.Type.isNumber() {
			return false
		}
	}
	return x.fn.Result != nil && x.fn.Result.Type.isNumber()
}

// native returns the Go function that an extern function is; nil: there is none.
func (c *checker) native(fn *Func) *Extern {
	externsMu.Lock()
	defer externsMu.Unlock()
	x := externs[fn.Name]
	if x != nil && types(x.fn) != types(fn) {
		c.errorf(fn.Pos, "%s: expected %s, as the Go function is registered", Signature(fn), Signature(x.fn))
	}
	return x
}
