// Package eval defines the semantics of GraphIt programs: it runs the host program, statement by statement, over a
// Backend that applies functions to edges and vertices. Reference is the plain, sequential backend; machines and
// goroutines have others.
//
// Integers have C++'s types, and are computed in 64 bits: int has 32, and values outside its range are refused, as is
// division by 0; uint wraps. The reference computes float and double in float64, together with the error bound of a
// computation in float32: the tolerance with which other backends' results are compared follows from the program, and
// has no other constant.
//
// Functions of edges run in no particular order. min=, max= and += therefore have the same result in every order. An
// assignment for which several edges race may leave any of their values: the reference keeps all of them. A program may
// compare such a value if all of them give the same answer (parent[v] == -1); any other dependence on them is refused
// when it occurs, as is a condition that depends on rounding. A filter, to(f), is evaluated for a vertex once per
// operator, before the operator changes anything.
package eval
