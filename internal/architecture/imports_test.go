// Package architecture holds the test that keeps the import directions.
package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "heddle/"

// rules say which of our packages a package may import. The first rule whose
// prefix matches counts, where * is any folder; a package without a rule may not exist.
var rules = []struct {
	pkg string
	may []string // prefixes; "=" means exactly
}{
	{"register", nil},
	{"internal/plain", nil},
	{"internal/suggest", nil},
	{"internal/enum", nil},
	{"internal/resources", nil},
	{"internal/version", nil},
	{"internal/tolerance", nil},
	{"=isa", nil},
	{"isa/micro", []string{"=isa", "isa/asm"}},
	{"isa/elf", []string{"=isa", "internal/plain"}},
	{"isa/emu/emutest", []string{"=isa", "=isa/emu"}},
	{"isa/", []string{"=isa"}},
	// A unit never sees another unit, the machine around it, or its users.
	{"components/clock", nil},
	// But its row may, which says what others ask of it, and its schedules.
	{"components/*/unit", []string{
		"=isa", "isa/emu", "components/", "=units", "=kernels/schedule",
		"=kernels/ir", "=kernels/activeset", "=kernels/layout",
	}},
	{"components/mem", nil},
	{"components/probe", nil},
	{"components/count", nil},
	{"components/queue", nil},
	// A worklist is a GraphPEG in its vertex-list mode, and says so.
	{"components/hwwl", []string{
		"isa/emu", "components/clock", "components/accel", "components/balance", "components/count",
		"components/graphpeg", "components/probe",
	}},
	{"components/balance", []string{"components/clock"}},
	{"components/accel", []string{"=isa", "isa/emu", "components/clock", "components/count", "components/mem", "components/probe"}},
	{"components/", []string{
		"internal/enum", "=isa", "isa/emu", "components/clock", "components/count",
		"components/accel", "components/balance", "components/mem", "components/probe", "components/queue",
	}},
	{"units/all", []string{"components/*/unit"}},
	{"units", []string{"=isa", "components/accel", "=kernels/schedule"}},
	{"configs/schema", []string{"internal/files", "internal/fit", "internal/plain", "internal/suggest"}},
	// Names of what is registered are keys' values.
	{"configs", []string{
		"=isa", "units", "components/", "graph/graphspec", "internal/files", "internal/tolerance", "configs/schema", "register",
		"=kernels/schedule", "=kernels/layout", "=kernels/algorithm", "=kernels/feature",
	}},
	// Files of signals and the choice of names know no machine.
	{"sim/vcd", nil},
	{"sim/choose", nil},
	{"sim", []string{"=isa", "isa/", "configs", "=units", "components/", "sim", "internal/suggest"}},
	// The compiler of kernels knows no graphs, schedules or algorithms.
	{"kernels/ir", []string{"=isa", "isa/emu", "=kernels/ir"}},
	{"kernels/codegen", []string{"=isa", "isa/emu", "=kernels/ir"}},
	{"graph/graphspec", []string{"internal/enum", "configs/schema"}},
	{"kernels", []string{"=isa", "isa/", "configs", "=units", "components/", "sim", "kernels", "internal/enum", "internal/files", "internal/tolerance", "register"}},
	// The language of GraphIt programs knows no graphs and no machine.
	{"=graphit", nil},
	{"graphit/programs", nil},
	{"graphit/graphir", []string{"=graphit"}},
	{"graphit/eval", []string{"=graphit", "graphit/graphir", "=graph", "internal/tolerance"}},
	{"graphit/cpu/rt", nil},
	{"graphit/cpu", []string{"=graphit", "graphit/", "=graph"}},
	{"graphit/lower", []string{"=graphit", "graphit/", "configs", "kernels", "sim"}},
	{"traces", []string{"=isa", "isa/", "configs", "components/", "sim", "traces", "internal/files", "internal/plain"}},
	// What programs in Go use: machines, kernels on them.
	{"=machine", []string{
		"=isa", "isa/", "components/accel", "=components/core", "configs", "units", "register", "sim", "=kernels/host", "internal/files",
	}},
	{"=kernel", []string{"configs", "units", "register", "kernels", "=machine"}},
	{"=experiment", []string{"configs", "experiment", "experiment/store", "internal/version", "sim"}},
	// Of another module, to whom nothing internal is there.
	{"examples/", []string{"=cmd", "=isa", "isa/", "components/", "=kernel", "=machine", "=experiment", "=register"}},
	{"cmd", []string{""}},
	{"experiment", []string{"=isa", "isa/", "configs", "=graphit", "graphit/", "components/", "sim", "kernels", "traces", "experiment/checkpoint", "internal/files", "internal/resources", "internal/version", "configs/schema", "experiment/store", "internal/fit", "internal/live", "internal/plain"}},
	{"experiment/store", []string{"sim/stats", "internal/files"}},
	// Where a run's time went, by what its machine has counted.
	{"report/hotspots", []string{"=isa", "=sim", "components/core", "experiment", "internal/files", "internal/plain"}},
	// Pages draw what was sampled over time from the store: summaries do not hold it.
	{"report", []string{"configs", "configs/schema", "report/echarts", "experiment", "internal/files", "report/hotspots", "experiment/store"}},
	// The monitor shows machines, and knows nothing of who runs them.
	{"report/monitor", []string{"=sim", "sim/stats", "report/echarts"}},
	{"report/echarts", nil},
	{"internal/live", []string{"internal/plain"}},
	{"graph/fetch", []string{"internal/files"}},
	{"internal/fit", []string{"internal/plain"}},
	{"internal/documents", []string{"configs"}},
	{"report/diagram", []string{"configs", "=units", "components/"}},
	{"internal/chromium", []string{"internal/tools"}}, // of tests
	{"report/reproduce", []string{"configs", "experiment", "internal/files", "internal/fit", "report", "internal/tolerance"}},
	{"experiment/tune", []string{"configs", "=graphit", "graphit/", "kernels", "=units", "experiment", "internal/files", "internal/fit"}},
	// Of those who develop heddle: they run its program, and lay out what it is given.
	{"experiment/checkpoint", []string{"internal/files"}},
	{"experiment/samplecheck", []string{"configs", "experiment", "internal/resources", "internal/tolerance"}},
	{"tools/hostcost", []string{"internal/commits", "internal/resources"}},
	{"tools/samecycles", []string{
		"=units", "=kernels/schedule", "isa/micro", "sim/parity", "configs",
		"configs/schema", "experiment", "internal/commits", "internal/resources",
	}},
	{"internal/", nil},
}

func matches(pkg, prefix string) bool {
	if begin, end, ok := strings.Cut(prefix, "*"); ok {
		return strings.HasPrefix(pkg, begin) && strings.HasSuffix(pkg, end)
	}
	if exact, ok := strings.CutPrefix(prefix, "="); ok {
		return pkg == exact
	}
	return strings.HasPrefix(pkg, prefix)
}

func allowed(pkg, imported string) bool {
	for _, r := range rules {
		if !matches(pkg, r.pkg) {
			continue
		}
		for _, p := range r.may {
			if matches(imported, p) {
				return true
			}
		}
		return false
	}
	return false
}

func hasRule(pkg string) bool {
	for _, r := range rules {
		if matches(pkg, r.pkg) {
			return true
		}
	}
	return false
}

// imports returns, for each package of ours, those of ours that it imports. Files are read here, not by `go list`, so that
// a cached result of this test does not outlive a change of theirs.
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
		all[pkg] = append(all[pkg], ours(f)...)
		return nil
	}))
	return all
}

// ours are the imports of this module.
func ours(f *ast.File) (list []string) {
	for _, i := range f.Imports {
		if imported, ok := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module); ok {
			list = append(list, imported)
		}
	}
	return list
}

func TestImportDirections(t *testing.T) {
	all := imports(t)
	require.Greater(t, len(all), 5)
	for pkg, list := range all {
		assert.True(t, hasRule(pkg), "%s has no rule: say in this test what it may import", pkg)
		for _, imported := range list {
			assert.True(t, allowed(pkg, imported), "%s must not import %s", pkg, imported)
		}
	}
}

func TestRulesRefuse(t *testing.T) {
	for pkg, imported := range map[string]string{
		"isa": "isa/emu", "isa/emu": "components/weaver", "components/weaver": "components/graphpeg",
		"components/core": "sim", "sim": "kernels/host", "configs": "sim", "sim/stats": "traces",
	} {
		assert.False(t, allowed(pkg, imported), "%s → %s", pkg, imported)
	}
}
