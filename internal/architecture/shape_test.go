package architecture

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	root       = "../.."
	maxColumns = 120 // of a line; a tab is one
	maxLines   = 60  // of a function's body
)

// shape is the layout of one file. Rows of tables may be long, and do not count as lines of a function: fields with
// tags, and the elements of a literal that has several lines. So may text in back quotes, which cannot be broken.
type shape struct {
	files *token.FileSet
	file  *ast.File
	rows  map[int]bool // by line
}

func shapeOf(name string, text []byte) (*shape, error) {
	s := &shape{files: token.NewFileSet(), rows: map[int]bool{}}
	var err error
	if s.file, err = parser.ParseFile(s.files, name, text, parser.ParseComments); err != nil {
		return nil, err
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			if n.Tag != nil {
				s.addRows(n)
			}
		case *ast.CompositeLit:
			if s.line(n.Lbrace) < s.line(n.Rbrace) {
				for _, e := range n.Elts {
					s.addRows(e)
				}
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING && n.Value[0] == '`' {
				s.addRows(n)
			}
		}
		return true
	})
	return s, nil
}

func (s *shape) line(p token.Pos) int { return s.files.Position(p).Line }

func (s *shape) addRows(n ast.Node) {
	for l := s.line(n.Pos()); l <= s.line(n.End()); l++ {
		s.rows[l] = true
	}
}

// wide returns the numbers of lines that are too long.
func (s *shape) wide(text []byte) (lines []int) {
	for i, l := range bytes.Split(text, []byte("\n")) {
		if utf8.RuneCount(l) > maxColumns && !s.rows[i+1] {
			lines = append(lines, i+1)
		}
	}
	return lines
}

// long returns the names of functions that are too long.
func (s *shape) long() (names []string) {
	for _, d := range s.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		n := 0
		for l := s.line(f.Body.Lbrace) + 1; l < s.line(f.Body.Rbrace); l++ {
			if !s.rows[l] {
				n++
			}
		}
		if n > maxLines {
			names = append(names, f.Name.Name)
		}
	}
	return names
}

// TestLinesAndFunctionsAreShort: no line has over 120 columns, and no function outside tests over 60 lines, but for
// tables and generated files.
func TestLinesAndFunctionsAreShort(t *testing.T) {
	files := 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && strings.HasPrefix(e.Name(), ".") && path != root:
			return filepath.SkipDir
		case e.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || bytes.HasPrefix(text, []byte("// Code generated")) {
			return err
		}
		s, err := shapeOf(path, text)
		if err != nil {
			return nil // an input of a test
		}
		for _, l := range s.wide(text) {
			t.Errorf("%s:%d: over %d columns", path, l, maxColumns)
		}
		for _, f := range s.long() {
			if !strings.HasSuffix(path, "_test.go") {
				t.Errorf("%s: %s has over %d lines besides tables", path, f, maxLines)
			}
		}
		files++
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, files, 500)
}

// TestShapesAreSeen: long lines and functions are found, and rows of tables are not.
func TestShapesAreSeen(t *testing.T) {
	wide := strings.Repeat("x", maxColumns)
	text := "package p\n\nvar " + wide + " = 1\n\nvar t = []string{\n\t\"" + wide + "\",\n}\n\n" +
		"type s struct {\n\tA int `key:\"" + wide + "\"`\n}\n\nfunc short() {\n" + strings.Repeat("\tf()\n", maxLines) +
		"}\n\nfunc table() {\n\tf([]int{\n" + strings.Repeat("\t\t1,\n", 2*maxLines) + "\t})\n}\n\n" +
		"func long() {\n" + strings.Repeat("\tf()\n", maxLines+1) + "}\n"
	s, err := shapeOf("p.go", []byte(text))
	require.NoError(t, err)
	assert.Equal(t, []int{3}, s.wide([]byte(text)))
	assert.Equal(t, []string{"long"}, s.long())
}
