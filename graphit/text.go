package graphit

import (
	"strings"
)

// Source is an expression as a program has it, with the parentheses that it needs.
func Source(x Expr) string { return source(x, 0) }

// precedence of binary operators, the loosest first.
var precedence = map[string]int{"or": 1, "and": 2, "xor": 3, "==": 4, "!=": 4, "<": 4, ">": 4, "<=": 4, ">=": 4, "+": 6,
	"-": 6, "*": 7, "/": 7}

func source(x Expr, outer int) string {
	switch x := x.(type) {
	case nil:
		return ""
	case *Name:
		return x.Name
	case *Number:
		return x.Text
	case *Text:
		return `"` + x.Value + `"`
	case *Truth:
		if x.Value {
			return "true"
		}
		return "false"
	case *Unary:
		if x.Op == "not" {
			return closed("not "+source(x.X, 5), 5, outer)
		}
		return closed(x.Op+source(x.X, 8), 8, outer)
	case *Binary:
		p := precedence[x.Op]
		return closed(source(x.X, p)+" "+x.Op+" "+source(x.Y, p+1), p, outer)
	case *Index:
		s := source(x.X, 9) + "[" + source(x.I, 0) + "]"
		if x.J != nil {
			s += "[" + source(x.J, 0) + "]"
		}
		return s
	case *Bind:
		return x.Name + "[" + sources(x.Args) + "]"
	case *Braces:
		return "{" + sources(x.List) + "}"
	case *Call:
		if len(x.Captures) > 0 {
			return x.Name + "[" + sources(x.Captures) + "](" + sources(x.Args) + ")"
		}
		return x.Name + "(" + sources(x.Args) + ")"
	case *Method:
		return source(x.X, 9) + "." + x.Name + "(" + sources(x.Args) + ")"
	case *New:
		return "new " + x.Of.String() + "(" + sources(x.Args) + ")"
	case *Load:
		return "load(" + source(x.Arg, 0) + ")"
	}
	return "?"
}

func closed(s string, p, outer int) string {
	if p < outer {
		return "(" + s + ")"
	}
	return s
}

func sources(list []Expr) string {
	var out []string
	for _, x := range list {
		out = append(out, source(x, 0))
	}
	return strings.Join(out, ", ")
}

// SourceOf is a simple statement as a program has it.
func SourceOf(s Stmt) string {
	switch s := s.(type) {
	case *VarStmt:
		if s.Var.Init == nil {
			return "var " + s.Var.Name + " : " + s.Var.Type.String()
		}
		return "var " + s.Var.Name + " : " + s.Var.Type.String() + " = " + Source(s.Var.Init)
	case *Assign:
		return Source(s.X) + " " + s.Op + " " + Source(s.Value)
	case *ExprStmt:
		return Source(s.X)
	case *Print:
		return "print " + sources(s.Args)
	case *Delete:
		return "delete " + Source(s.X)
	case *Break:
		return "break"
	case *If:
		return "if " + Source(s.Cond)
	case *While:
		return "while " + Source(s.Cond)
	case *For:
		return "for " + s.Var.Name + " in " + Source(s.From) + ":" + Source(s.To)
	}
	return "?"
}
