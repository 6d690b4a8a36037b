// Package architecture holds the test that keeps the import directions.
package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "heddle" // and the name here of the package at the top

// layers lists the folders of the repository from the top down. A package imports packages of its own folder and of the
// folders below it, never of one above: docs/design/architecture.md has the same table, which a test compares.
var layers = []struct{ folder, contents string }{
	{"examples", "a module of its own: a schedule, algorithms, a layout, a unit and a statistic"},
	{"tools", "for developing heddle: host cost, equal cycles, Vortex's simulators alongside"},
	{"cmd", "the command line, also for programs that add parts of their own; `cmd/heddle` is the command"},
	{"heddle", "the Go library, in the folder at the top: experiments, machines, kernels, parts of your own"},
	{"report", "pages and figures; `monitor`, `hotspots`, `diagram`; `reproduce`: packs of published figures"},
	{"experiment", "points, runs, tables; `config`: experiments in YAML; `store`, `checkpoint`, `tune`, `slurm`"},
	{"traces", "instruction traces: recording, replay, import"},
	{"graphit", "GraphIt programs: language, GraphIR (`graphir`), reference (`eval`), kernels (`lower`), `cpu`, `cuda`"},
	{"kernels", "kernels composed of choices (`workload`, `compose`), their compiler, programs, references"},
	{"graph", "graphs: formats, cleaning, generators; `fetch`: catalogues of graphs"},
	{"sim", "machines, assembled and run; `window`, `inspect`: looking inside; `sampled`; `stats`"},
	{"rtl", "graph units in SystemVerilog, in lockstep with their models; `area`: their hardware cost"},
	{"configs", "a machine's keys, the presets of all kinds; `schema`: from structs to configurations"},
	{"components", "hardware units, a folder each; `clock`: time and links; `accel`: socket and kinds of units"},
	{"isa", "every instruction once: encoding, text, semantics; `asm`, `elf`, `emu` (functional execution)"},
	{"internal", "small helpers that know nothing of heddle, and tests of the whole"},
}

func layerOf(pkg string) int {
	folder, _, _ := strings.Cut(pkg, "/")
	return slices.IndexFunc(layers, func(l struct{ folder, contents string }) bool { return l.folder == folder })
}

// rules restrict packages further, within their folder and below it. The first rule whose prefix matches counts; "="
// means exactly that package.
var rules = []struct {
	pkg string
	may []string
}{
	{"=isa", []string{"internal/"}},
	{"isa/micro", []string{"=isa", "isa/asm"}},
	{"isa/elf", []string{"=isa", "internal/plain"}},
	{"isa/emu/emutest", []string{"=isa", "=isa/emu"}},
	{"isa/", []string{"=isa"}},
	// A unit knows no other unit, nor the machine around it.
	{"components/all", []string{"components/"}},
	{"components/clock", nil},
	{"components/mem", nil},
	{"components/probe", nil},
	{"components/count", nil},
	{"components/queue", nil},
	// A worklist is a GraphPEG in its vertex-list mode.
	{"components/hwwl", []string{
		"=isa", "isa/emu", "components/clock", "components/accel", "components/balance", "components/count",
		"components/graphpeg", "components/probe",
	}},
	{"components/balance", []string{"components/clock"}},
	{"components/accel", []string{"=isa", "isa/emu", "components/clock", "components/count", "components/mem", "components/probe"}},
	{"components/", []string{
		"internal/enum", "=isa", "isa/emu", "components/clock", "components/count",
		"components/accel", "components/balance", "components/mem", "components/probe", "components/queue",
	}},
	{"configs/schema", []string{"internal/"}},
	// Files of signals and the choice of names know no machine.
	{"sim/vcd", nil},
	{"sim/choose", nil},
	// The compiler of kernels knows no graphs, schedules or algorithms.
	{"kernels/ir", []string{"=isa", "isa/emu", "=kernels/ir"}},
	{"kernels/codegen", []string{"=isa", "isa/emu", "=kernels/ir"}},
	// Choices know nothing of how they are composed and run.
	{"kernels/workload", []string{
		"=kernels/algorithm", "=kernels/feature", "=kernels/layout", "=kernels/schedule", "components/accel", "configs/", "internal/",
	}},
	// The language of GraphIt programs knows no graphs and no machine.
	{"=graphit", nil},
	{"graphit/programs", nil},
	{"graphit/graphir", []string{"=graphit"}},
	{"graphit/eval", []string{"=graphit", "graphit/graphir", "=graph", "internal/tolerance"}},
	{"graphit/cpu/rt", nil},
	// The store knows no machine, and its readers need no runner.
	{"experiment/store", []string{"sim/stats", "internal/files"}},
	{"experiment/checkpoint", []string{"internal/files"}},
	{"graph/graphspec", []string{"internal/enum", "configs/schema"}},
	// The monitor shows machines, and knows nothing of their runner.
	{"report/monitor", []string{"=sim", "sim/stats", "report/echarts"}},
	// The module of examples sees the public library alone.
	{"examples/", []string{"=heddle", "=cmd", "=isa", "isa/", "components/"}},
	{"", []string{""}},
}

func matches(pkg, prefix string) bool {
	if exact, ok := strings.CutPrefix(prefix, "="); ok {
		return pkg == exact
	}
	return strings.HasPrefix(pkg, prefix)
}

// allowed reports whether a package may import another: whether it is not in a folder above, and no rule is against it.
func allowed(pkg, imported string) bool {
	if layerOf(pkg) > layerOf(imported) {
		return false
	}
	for _, r := range rules {
		if matches(pkg, r.pkg) {
			return slices.ContainsFunc(r.may, func(prefix string) bool { return matches(imported, prefix) })
		}
	}
	return false
}

// imports returns, for each package of ours, those of ours that it imports. Files are read here, not by `go list`, so
// that a cached result of this test does not outlive a change of theirs.
func imports(t *testing.T) map[string][]string {
	all, files := map[string][]string{}, token.NewFileSet()
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || len(d.Name()) > 2 && d.Name()[0] == '.'):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(files, path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../../")
		if pkg == "../.." {
			pkg = "heddle"
		}
		all[pkg] = append(all[pkg], ours(f)...)
		return nil
	}))
	return all
}

// ours are the imports of this module.
func ours(f *ast.File) (list []string) {
	for _, i := range f.Imports {
		path := strings.Trim(i.Path.Value, `"`)
		if imported := strings.TrimPrefix(path, module+"/"); path == module || imported != path {
			list = append(list, imported)
		}
	}
	return list
}

func TestImportsRunDown(t *testing.T) {
	all := imports(t)
	require.Greater(t, len(all), 5)
	for pkg, list := range all {
		assert.GreaterOrEqual(t, layerOf(pkg), 0,
			"%s is in a folder that layers lacks: add it there, with its contents", pkg)
		for _, imported := range list {
			assert.True(t, allowed(pkg, imported), "%s must not import %s", pkg, imported)
		}
	}
}

func TestRulesRefuse(t *testing.T) {
	for pkg, imported := range map[string]string{
		"isa": "isa/emu", "isa/emu": "components/weaver", "components/weaver": "components/graphpeg",
		"components/core": "sim", "sim": "kernels/host", "configs": "sim", "sim/stats": "traces", "configs/schema": "kernels/workload",
		"graph": "kernels/compose", "experiment": "heddle", "internal/files": "configs", "examples/mine": "experiment",
	} {
		assert.False(t, allowed(pkg, imported), "%s → %s", pkg, imported)
	}
}

// TestDocumentHasLayers: the table of docs/design/architecture.md is the table by which imports are checked.
func TestDocumentHasLayers(t *testing.T) {
	page, err := os.ReadFile("../../docs/design/architecture.md")
	require.NoError(t, err)
	var table strings.Builder
	table.WriteString("| folder | contents |\n|---|---|\n")
	for _, l := range layers {
		fmt.Fprintf(&table, "| `%s` | %s |\n", l.folder, l.contents)
	}
	require.Contains(t, string(page), table.String())
}
