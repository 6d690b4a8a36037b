package tolerance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWithin(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		got, want, bound float64
		is               bool
	}{
		{1, 1, 0, true}, {1, 1.5, 0.5, true}, {1, 1.5, 0.49, false}, {1.5, 1, 0.5, true}, {0, math.Copysign(0, -1), 0, true},
		{1, 1, nan, true}, {1, 2, nan, false}, {1, 2, -1, false}, {1, 2, inf, false}, {1, 1, inf, true},
		{0, inf, 1, false}, {0, inf, inf, false}, {inf, inf, 0, true}, {inf, inf, nan, true}, {-inf, inf, inf, false}, {inf, -inf, inf, false},
		{inf, 0, 1, false}, {inf, 0, inf, false}, {math.MaxFloat64, -math.MaxFloat64, inf, false}, {math.MaxFloat64, inf, inf, false},
		{nan, nan, 0, true}, {nan, nan, nan, true}, {nan, 0, inf, false}, {0, nan, inf, false}, {nan, inf, inf, false}, {inf, nan, inf, false},
	} {
		assert.Equal(t, c.is, Within(c.got, c.want, c.bound), "Within(%v, %v, %v)", c.got, c.want, c.bound)
	}
}

func TestSmall(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		difference, bound float64
		is                bool
	}{
		{0, 0, true}, {-1, 1, true}, {1, 0.9, false}, {inf, inf, false}, {-inf, inf, false}, {0, inf, false},
		{nan, 1, false}, {nan, inf, false}, {0, nan, false},
	} {
		assert.Equal(t, c.is, Small(c.difference, c.bound), "Small(%v, %v)", c.difference, c.bound)
	}
}

// TestNoComparisonIsWrittenOut looks for comparisons of an absolute difference outside of this package. The listed ones
// do not compare a result with an expected value.
func TestNoComparisonIsWrittenOut(t *testing.T) {
	others := map[string]string{
		"graphit/eval/value.go": "comparisons of the program's own, which errors may leave undecided",
		"experiment/seeds.go":   "a mean beside its interval's half width",
		"sim/parity/parity.go":  "ratios of two cycle counts above 0, counted by how far they are from 1",
	}
	files := token.NewFileSet()
	checked := 0
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(filepath.ToSlash(path), "../../")
		switch _, listed := others[name]; {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || len(d.Name()) > 2 && d.Name()[0] == '.'):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || listed ||
			strings.HasPrefix(name, "internal/tolerance/"):
			return nil
		}
		checked++
		f, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if b, ok := n.(*ast.BinaryExpr); ok && writtenOut(b) {
				t.Errorf("%s compares an absolute difference: expected tolerance.Within or tolerance.Small",
					files.Position(b.Pos()))
			}
			return true
		})
		return nil
	}))
	assert.Greater(t, checked, 300)
}

// writtenOut reports whether an expression is the absolute value of a difference, or of an element of a list of such,
// compared with something.
func writtenOut(b *ast.BinaryExpr) bool {
	switch b.Op {
	case token.LEQ, token.GEQ, token.LSS, token.GTR:
	default:
		return false
	}
	for _, side := range []ast.Expr{b.X, b.Y} {
		call, ok := side.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			continue
		}
		if f, ok := call.Fun.(*ast.SelectorExpr); !ok || f.Sel.Name != "Abs" {
			continue
		}
		switch of := call.Args[0].(type) {
		case *ast.BinaryExpr:
			return of.Op == token.SUB
		case *ast.IndexExpr:
			return true
		}
	}
	return false
}
