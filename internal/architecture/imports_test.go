// Package architecture holds the test that keeps the import directions.
package architecture

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "heddle/"

// rules say which of our packages a package may import. The first rule whose
// prefix matches counts; a package without a rule may not exist.
var rules = []struct {
	pkg string
	may []string // prefixes; "=" means exactly
}{
	{"=isa", nil},
	{"isa/micro", []string{"=isa", "isa/asm"}},
	{"isa/", []string{"=isa"}},
	// A unit never sees another unit, the machine around it, or its users.
	{"components/clock", nil},
	{"components/mem", nil},
	// A worklist is a GraphPEG in its vertex-list mode, and says so.
	{"components/hwwl", []string{"components/clock", "components/accel", "components/graphpeg"}},
	{"components/balance", []string{"components/clock"}},
	{"components/accel", []string{"=isa", "isa/emu", "components/clock", "components/mem"}},
	{"components/", []string{"=isa", "isa/emu", "components/clock", "components/accel", "components/balance", "components/mem"}},
	{"configs", []string{"=isa", "components/", "internal/schema"}},
	{"sim", []string{"=isa", "isa/", "configs", "components/", "sim"}},
	// The compiler of kernels knows no graphs, schedules or algorithms.
	{"kernels/ir", []string{"=isa", "isa/emu", "=kernels/ir"}},
	{"kernels/codegen", []string{"=isa", "isa/emu", "=kernels/ir"}},
	{"kernels", []string{"=isa", "isa/", "configs", "components/", "sim", "kernels"}},
	{"traces", []string{"=isa", "isa/", "configs", "components/", "sim", "traces"}},
	{"cmd/", []string{""}},
	{"internal/experiment", []string{"=isa", "isa/", "configs", "components/", "sim", "kernels", "traces", "internal/schema", "internal/store"}},
	{"internal/store", []string{"sim/stats"}},
	{"internal/report", []string{"internal/experiment"}},
	{"internal/reproduce", []string{"configs", "internal/experiment", "internal/report"}},
	{"internal/", nil},
}

func matches(pkg, prefix string) bool {
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

func TestImportDirections(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"...").Output()
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	require.Greater(t, len(lines), 5)
	for _, line := range lines {
		words := strings.Fields(line)
		pkg := strings.TrimPrefix(words[0], module)
		assert.True(t, hasRule(pkg), "%s has no rule: say in this test what it may import", pkg)
		for _, w := range words[1:] {
			if imported, ours := strings.CutPrefix(w, module); ours {
				assert.True(t, allowed(pkg, imported), "%s must not import %s", pkg, imported)
			}
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
