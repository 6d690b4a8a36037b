// Package eval gives GraphIt programs their meaning: it runs the host program, statement by statement, over a Backend
// that applies functions to edges and vertices. Reference is the plain, sequential backend; machines and goroutines
// have others.
//
// Integers have C++'s types, and are computed in 64 bits: int has 32, and what it does not hold is refused, as is
// dividing by 0; uint wraps. float and double are computed in float64 by the reference, which carries along how far a
// computation in float32 may be from it: the tolerance with which other backends' results are compared follows from the
// program, and has no other constant.
//
// Functions of edges run in no order. So min=, max= and += give what any order gives. An assignment that several edges
// race for may leave any of their values: the reference remembers all of them. A program may compare such a value where
// all of them give the same answer (parent[v] == -1); what depends on them in another way is refused when it is met, as
// is a condition that roundings decide. A filter, to(f), is asked for a vertex once an operator, before anything is
// changed there.
package eval
