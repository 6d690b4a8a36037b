package architecture

import (
	"fmt"
	"go/ast"
	source "go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// unordered are functions that may sum floats in a map's order.
var unordered = []string{
	"experiment/explain/explain.go newStack", // whole numbers of cycles
	"experiment/forecast.go left",            // host time
	"rtl/area/stat.go add",                   // quarters
}

// sumsInMapOrder lists the functions with a float that the loop over a map adds to or multiplies: the order of a map
// differs from run to run, and with it the last digits of such a sum.
func sumsInMapOrder(fset *token.FileSet, files []*ast.File, info *types.Info, top string) (found []string) {
	for _, f := range files {
		name := fset.Position(f.Pos()).Filename
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		within, err := filepath.Rel(top, name)
		if err != nil {
			within = name
		}
		within = filepath.ToSlash(within)
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if r, ok := n.(*ast.RangeStmt); ok && ofMap(r.X, info) && sums(r, info) {
					found = append(found, fmt.Sprintf("%s %s", within, fn.Name.Name))
				}
				return true
			})
		}
	}
	return found
}

// ofMap reports whether a range visits a map or one of package maps' iterators.
func ofMap(x ast.Expr, info *types.Info) bool {
	if _, ok := info.TypeOf(x).Underlying().(*types.Map); ok {
		return true
	}
	call, ok := x.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of := info.Uses[sel.Sel]
	return of != nil && of.Pkg() != nil && of.Pkg().Path() == "maps"
}

// sums reports whether a loop changes a float that outlives an iteration, and is not the element of its key.
func sums(loop *ast.RangeStmt, info *types.Info) (found bool) {
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Tok == token.DEFINE {
			return true
		}
		for i, to := range a.Lhs {
			if info.TypeOf(to) == nil { // the blank identifier
				continue
			}
			b, ok := info.TypeOf(to).Underlying().(*types.Basic)
			if !ok || b.Info()&types.IsFloat == 0 {
				continue
			}
			again := a.Tok != token.ASSIGN
			if !again && len(a.Rhs) == len(a.Lhs) {
				_, sum := a.Rhs[i].(*ast.BinaryExpr)
				again = sum && mentions(a.Rhs[i], to)
			}
			found = found || again && !ownElement(to, loop, info) && !within(to, loop, info)
		}
		return true
	})
	return found
}

// mentions reports whether an expression holds another, by their text.
func mentions(in, what ast.Expr) (found bool) {
	ast.Inspect(in, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		found = found || ok && types.ExprString(e) == types.ExprString(what)
		return !found
	})
	return found
}

// ownElement reports whether a target is indexed by the key of the loop.
func ownElement(to ast.Expr, loop *ast.RangeStmt, info *types.Info) bool {
	key, ok := loop.Key.(*ast.Ident)
	if !ok {
		return false
	}
	return mentionsObject(to, info.ObjectOf(key), info)
}

func mentionsObject(in ast.Expr, what types.Object, info *types.Info) (found bool) {
	ast.Inspect(in, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && what != nil && info.ObjectOf(id) == what
		return !found
	})
	return found
}

// within reports whether a target's variable is declared in the loop.
func within(to ast.Expr, loop *ast.RangeStmt, info *types.Info) bool {
	id, ok := to.(*ast.Ident)
	return ok && loop.Pos() <= info.ObjectOf(id).Pos() && info.ObjectOf(id).Pos() < loop.Body.End()
}

// TestSumsInMapOrderAreSeen: the check that TestMacOS makes of all files tells loops apart.
func TestSumsInMapOrderAreSeen(t *testing.T) {
	const around = `package p
import ("maps"; "slices")
var _, _ = maps.Keys[map[int]int], slices.Sorted[int]
func f(m, other map[int]float64, list []float64) {
	n, s, x := 0, 0.0, struct{ part float64 }{}
	%s
	_, _, _ = n, s, x
}`
	for body, seen := range map[string]bool{
		"for _, v := range m { s += v }":                                       true,
		"for _, v := range m { s = s + v }":                                    true,
		"for v := range maps.Values(m) { s *= v }":                             true,
		"for k, v := range m { other[k] += v }":                                false,
		"for _, v := range m { s = max(s, v) }":                                false,
		"for _, v := range m { own := 0.0; own += v; _ = own }":                false,
		"for range m { n++ }":                                                  false,
		"for _, v := range list { s += v }":                                    false,
		"for _, k := range slices.Sorted(maps.Keys(m)) { s += m[k] }":          false,
		"for _, v := range m { for range list { x.part, n = x.part+v, n+1 } }": true,
	} {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, "p.go", fmt.Sprintf(around, body), parser.SkipObjectResolution)
		require.NoError(t, err)
		info := typesInfo()
		_, err = (&types.Config{Importer: source.ForCompiler(fset, "source", nil)}).Check("p", fset, []*ast.File{f}, info)
		require.NoError(t, err, body)
		require.Equal(t, seen, sumsInMapOrder(fset, []*ast.File{f}, info, "") != nil, body)
	}
}

func typesInfo() *types.Info {
	return &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{}}
}
