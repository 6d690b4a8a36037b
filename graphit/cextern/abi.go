package cextern

import (
	"fmt"
	"strings"

	"heddle/graphit"
)

// cType returns the C type of a type's values; "": C has none.
func cType(t *graphit.Type) string {
	switch {
	case t.Kind == graphit.Uint && t.Wide:
		return "unsigned long long"
	case t.Kind == graphit.Int:
		return "int"
	case t.Kind == graphit.Uint, t.Kind == graphit.Vertex:
		return "unsigned"
	case t.Kind == graphit.Float:
		return "float"
	case t.Kind == graphit.Double:
		return "double"
	case t.Kind == graphit.Bool:
		return "_Bool"
	case t.Kind == graphit.String:
		return "const char *"
	case t.Kind == graphit.VertexSet:
		return "gt_set"
	}
	return ""
}

// bytes is the size of a value in memory.
func bytesOf(t *graphit.Type) uint32 {
	switch t.Kind {
	case graphit.Bool:
		return 1
	case graphit.Double:
		return 8
	}
	if t.Wide {
		return 8
	}
	return 4
}

// Prototype is an extern function's declaration in C.
func Prototype(fn *graphit.Func) string {
	result := "void "
	if fn.Result != nil {
		result = spaced(cType(fn.Result.Type))
	}
	var params []string
	for _, p := range fn.Params {
		params = append(params, spaced(cType(p.Type))+p.Name)
	}
	if len(params) == 0 {
		params = []string{"void"}
	}
	return result + fn.Name + "(" + strings.Join(params, ", ") + ");"
}

func spaced(t string) string {
	if strings.HasSuffix(t, "*") {
		return t
	}
	return t + " "
}

// header declares a program's functions and its vectors for C, so that gcc finds what does not fit.
func header(f *graphit.File, decls []*graphit.Func) (string, error) {
	var b strings.Builder
	b.WriteString("#include \"graphit.h\"\n")
	for _, fn := range decls {
		if err := passes(fn); err != nil {
			return "", &graphit.Error{File: f.Name, Pos: fn.Pos, Msg: err.Error()}
		}
		b.WriteString(Prototype(fn) + "\n")
	}
	for _, v := range f.Globals {
		if t := element(v); t != "" {
			fmt.Fprintf(&b, "extern %s*%s;\n", spaced(t), v.Name)
		}
	}
	return b.String(), nil
}

// element is the C type of a vector's elements; "": C does not know the variable.
func element(v *graphit.Var) string {
	if v.Type.Kind != graphit.Vector || v.Type.Width > 1 || v.Type.Of.Kind == graphit.Vector {
		return ""
	}
	return cType(v.Type.Of)
}

// glue defines the pointers that functions know vectors and the graph by. A file may have variables of these names.
func glue(f *graphit.File) string {
	var b strings.Builder
	b.WriteString("#define WEAK __attribute__((weak))\n")
	for _, v := range f.Globals {
		if element(v) != "" {
			fmt.Fprintf(&b, "WEAK void *%s;\n", v.Name)
		}
	}
	b.WriteString("unsigned gt_vertices, *gt_begin, *gt_neighbour;\nint *gt_weight, gt_priority;\n")
	return b.String()
}

// passes returns an error if C cannot be given a function's arguments.
func passes(fn *graphit.Func) error {
	list := fn.Params
	if fn.Result != nil {
		list = append(list[:len(list):len(list)], fn.Result)
	}
	for _, p := range list {
		if cType(p.Type) == "" || p.Type.Wide && p.Type.Kind == graphit.Uint {
			return fmt.Errorf("%s: %s cannot be given to a C function: expected int, uint, float, double, bool, "+
				"Vertex, vertexset or string", graphit.Signature(fn), p.Type)
		}
	}
	if r := fn.Result; r != nil && r.Type.Kind == graphit.String {
		return fmt.Errorf("%s: a C function cannot return a string", graphit.Signature(fn))
	}
	_, err := arguments(fn)
	return err
}

// arguments places a function's arguments, all of which must be in registers.
func arguments(fn *graphit.Func) (list []Argument, err error) {
	ints, floats := uint32(0), uint32(0)
	for _, p := range fn.Params {
		a := Argument{Type: p.Type, Words: 1}
		switch {
		case p.Type.Kind == graphit.Float && floats < argumentRegisters:
			a.Float, a.Offset = true, FloatsAt+4*floats
			floats++
		default:
			if k := p.Type.Kind; k == graphit.Double || k == graphit.VertexSet {
				a.Words = 2
			}
			a.Offset = 4 * ints
			ints += a.Words
		}
		list = append(list, a)
	}
	if ints > argumentRegisters {
		return nil, fmt.Errorf("%s: a C function has %d words of arguments at most (a double has two)",
			graphit.Signature(fn), argumentRegisters)
	}
	return list, nil
}
