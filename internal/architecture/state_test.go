package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stateful are the packages whose state a checkpoint holds: everything reachable from a run through fields. Captured
// variables and package variables are not reached, so they must not hold mutable state.
var stateful = []string{
	"components/*", "isa", "isa/emu", "sim", "sim/stats", "kernels/activeset", "kernels/compose", "kernels/direction", "kernels/host", "kernels/pagerank",
}

// harmless are functions that modify captured variables, by file and variable: none is kept while a machine runs.
var harmless = []string{
	"components/count/stats.go found", "components/count/stats.go counts", // while a structure is walked
	"components/eghw/dump.go all", "sim/signals.go all", // while a list is made
	"sim/machine.go req", "sim/machine.go rsp", // while a machine is assembled
	"kernels/compose/meanings.go list", "kernels/compose/plan.go plans", "kernels/compose/plan.go found",
	"sim/stats/packed.go found", "sim/stats/packed.go rest", "sim/stats/packed.go t", // while statistics are unpacked
}

// registered are variables of packages that a function sets, all before a machine is made.
var registered = []string{"components/accel/kind.go kinds", "components/ctrlproc/circuit.go newCircuit",
	"components/graphpeg/circuit.go newCircuit",
	"components/weaver/circuit.go newCircuit", "isa/decode.go decoder", "isa/extend.go extensions",
	"isa/isa.go all", "isa/isa.go byName", "sim/stats/derived.go derived"}

func TestStateIsInFields(t *testing.T) {
	files := token.NewFileSet()
	var found, vars []string
	for _, pattern := range stateful {
		dirs, err := filepath.Glob("../../" + pattern)
		require.NoError(t, err)
		require.NotEmpty(t, dirs, pattern)
		for _, dir := range dirs {
			f, v := changes(t, files, dir)
			found, vars = append(found, f...), append(vars, v...)
		}
	}
	for _, f := range found {
		assert.Contains(t, harmless, f, "a function that is kept would have state that no checkpoint holds: make it a field")
	}
	for _, h := range harmless {
		assert.Contains(t, found, h, "is no more")
	}
	assert.ElementsMatch(t, registered, slices.Compact(slices.Sorted(slices.Values(vars))),
		"variables of packages that change: no checkpoint holds them")
}

// changes lists captured variables that function literals change, and variables of the package that functions do.
func changes(t *testing.T, files *token.FileSet, dir string) (captured, global []string) {
	names, err := filepath.Glob(dir + "/*.go")
	require.NoError(t, err)
	var all []*ast.File
	outside := map[string]bool{} // variables of the package
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(files, name, nil, 0)
		require.NoError(t, err)
		all = append(all, f)
		for _, d := range f.Decls {
			if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.VAR {
				for _, s := range d.Specs {
					for _, id := range s.(*ast.ValueSpec).Names {
						outside[id.Name] = true
					}
				}
			}
		}
	}
	for _, f := range all {
		at := strings.TrimPrefix(filepath.ToSlash(files.Position(f.Pos()).Filename), "../../")
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			changed(fn.Body, func(id *ast.Ident) {
				local := id.Obj != nil && fn.Pos() <= id.Obj.Pos() && id.Obj.Pos() < fn.End()
				if id.Name != "_" && outside[id.Name] && !local && fn.Name.Name != "init" {
					global = append(global, at+" "+id.Name)
				}
			})
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if lit, ok := n.(*ast.FuncLit); ok {
					changed(lit.Body, func(id *ast.Ident) {
						if id.Obj != nil && id.Obj.Kind == ast.Var &&
							(id.Obj.Pos() < lit.Pos() || lit.End() <= id.Obj.Pos()) && !outside[id.Name] {
							captured = append(captured, at+" "+id.Name)
						}
					})
				}
				return true
			})
		}
	}
	return captured, global
}

// changed has f see the variables that statements assign to, whole or in part.
func changed(body ast.Node, f func(id *ast.Ident)) {
	target := func(e ast.Expr) {
		for {
			switch x := e.(type) {
			case *ast.IndexExpr:
				e = x.X
				continue
			case *ast.ParenExpr:
				e = x.X
				continue
			case *ast.Ident:
				f(x)
			}
			return
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				for _, e := range s.Lhs {
					target(e)
				}
			}
		case *ast.IncDecStmt:
			target(s.X)
		}
		return true
	})
}
