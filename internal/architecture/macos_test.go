package architecture

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
)

// listed is go list's description of a package.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	TestGoFiles     []string
	ImportMap       map[string]string
	Module          *struct{ Path string }
	Standard        bool
	Error           *struct{ Err string }
}

// TestMacOS type-checks every package and its tests for macOS from source, dependencies by their declarations only.
// go vet under GOOS=darwin would compile all of them for that system first, minutes on a machine without a cache.
func TestMacOS(t *testing.T) {
	testenv.NeedLong(t, "it type-checks everything from source, some 20 s of processor time")
	cmd := exec.Command("go", "list", "-deps", "-test", "-pgo=off",
		"-json=ImportPath,Dir,GoFiles,ImportMap,Module,Standard,Error", "./...")
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "GOOS=darwin", "GOARCH=arm64", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())

	checked := map[string]*types.Package{"unsafe": types.Unsafe}
	fset := token.NewFileSet()
	own := 0
	for in := json.NewDecoder(out); ; {
		var p listed
		if err := in.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			require.NoError(t, err)
		}
		require.Nil(t, p.Error, p.ImportPath)
		ours := p.Module != nil && p.Module.Path == "heddle"
		if p.ImportPath == "unsafe" || filepath.Ext(p.ImportPath) == ".test" {
			continue // .test: go test's main
		}
		pkg, err := checkFor(fset, &p, ours, checked)
		if ours {
			own++
			require.NoError(t, err, "%s does not compile for macOS", p.ImportPath)
		}
		checked[p.ImportPath] = pkg
	}
	require.NoError(t, cmd.Wait())
	require.Greater(t, own, 100, "packages of heddle")
}

// checkFor type-checks a package whose imports have been. Of a dependency only declarations count.
func checkFor(fset *token.FileSet, p *listed, bodies bool, checked map[string]*types.Package) (*types.Package, error) {
	var files []*ast.File
	for _, name := range p.GoFiles {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	conf := types.Config{
		IgnoreFuncBodies: !bodies,
		Importer: importer(func(path string) (*types.Package, error) {
			if mapped, ok := p.ImportMap[path]; ok {
				path = mapped
			}
			pkg := checked[path]
			if pkg == nil {
				return nil, errors.New("not listed: " + path)
			}
			return pkg, nil
		}),
		Sizes: types.SizesFor("gc", "arm64"),
	}
	if !bodies {
		conf.Error = func(error) {} // declarations missing here are in assembly or cgo
	}
	return conf.Check(p.ImportPath, fset, files, nil)
}

type importer func(string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }
