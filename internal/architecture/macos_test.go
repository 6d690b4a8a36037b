package architecture

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
// What is checked has types, so it also looks for sums in the order of a map.
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
	top, err := filepath.Abs(root)
	require.NoError(t, err)
	own, sums := 0, map[string]bool{}
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
		info := typesInfo()
		pkg, files, err := checkFor(fset, &p, ours, checked, info)
		if ours {
			own++
			require.NoError(t, err, "%s does not compile for macOS", p.ImportPath)
			for _, at := range sumsInMapOrder(fset, files, info, top) {
				sums[at] = true
			}
		}
		checked[p.ImportPath] = pkg
	}
	require.NoError(t, cmd.Wait())
	require.Greater(t, own, 100, "packages of heddle")
	require.ElementsMatch(t, unordered, slices.Collect(maps.Keys(sums)),
		"floats are summed in a map's order, so that the last digits differ from run to run: sort the keys")
}

// checkFor type-checks a package whose imports have been. Of a dependency only declarations count.
func checkFor(fset *token.FileSet, p *listed, bodies bool, checked map[string]*types.Package,
	info *types.Info) (pkg *types.Package, files []*ast.File, err error) {
	for _, name := range p.GoFiles {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, err
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
	pkg, err = conf.Check(p.ImportPath, fset, files, info)
	return pkg, files, err
}

type importer func(string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }
