package graphit

import "strconv"

// Rounds returns the end of the first n rounds of a loop that counts from one expression to below another: the lesser
// of from + n and to. Both have been checked.
func Rounds(from, to Expr, n int64) Expr {
	at := node{Pos: from.Position(), Type: tInt}
	sum := &Binary{at, "+", from, &Number{node: at, Text: strconv.FormatInt(n, 10), Int: n, Val: float64(n)}}
	return &Call{node: at, Name: "min", Args: []Expr{sum, to}}
}

// Copied is a statement that gives a variable of main the value of another.
func Copied(to, from *Var) Stmt {
	at := node{Pos: to.Pos, Type: to.Type}
	return &Assign{stmt{Pos: to.Pos}, &Name{node: at, Name: to.Name, Var: to}, "=",
		&Name{node: node{Pos: to.Pos, Type: from.Type}, Name: from.Name, Var: from}}
}
