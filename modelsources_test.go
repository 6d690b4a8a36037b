package heddle

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/version"
)

// noModel lists the packages, and files of package experiment, that take part in a run without an effect on its cycles
// and statistics.
var noModel = map[string]string{
	"configs/schema":        "reads configurations; a point's identity has what they come to",
	"experiment/config":     "the keys of an experiment: the same",
	"graph/graphspec":       "the keys of a graph: its content is in the identity",
	"graphit/programs":      "programs, whose text is in the identity",
	"experiment/checkpoint": "a resumed run has the cycles of one that was not interrupted, or fails",
	"experiment/store":      "keeps results",
	"isa/micro":             "programs for validation",
	"sim/parity":            "names what is validated",
	"sim/energy":            "computes from statistics",
	"internal/enum":         "names of values",
	"internal/files":        "reads and writes files",
	"internal/fit":          "text for terminals",
	"internal/live":         "text for terminals",
	"internal/plain":        "text for terminals",
	"internal/registry":     "names of parts",
	"internal/resources":    "what the host has",
	"internal/suggest":      "text of errors",
	"internal/version":      "names builds",

	"experiment/about.go":      "summaries",
	"experiment/baseline.go":   "summaries",
	"experiment/book.go":       "keeps results",
	"experiment/bounds.go":     "observes accesses, and changes none",
	"experiment/checkpoint.go": "as above",
	"experiment/collect.go":    "keeps results",
	"experiment/cost.go":       "estimates for the user",
	"experiment/differ.go":     "summaries",
	"experiment/energy.go":     "computes from statistics",
	"experiment/failure.go":    "names failures",
	"experiment/files.go":      "summaries",
	"experiment/footprint.go":  "memory of the host",
	"experiment/forecast.go":   "estimates for the user",
	"experiment/geomean.go":    "summaries",
	"experiment/graphs.go":     "caches graphs",
	"experiment/handled.go":    "warnings",
	"experiment/identity.go":   "identifies points",
	"experiment/known.go":      "keeps results",
	"experiment/layout.go":     "lays out points, whose configurations are in their identities",
	"experiment/ledger.go":     "keeps results",
	"experiment/memory.go":     "memory of the host",
	"experiment/phases.go":     "tables",
	"experiment/pivot.go":      "tables",
	"experiment/pivotwrite.go": "tables",
	"experiment/points.go":     "lays out points",
	"experiment/progress.go":   "text for terminals",
	"experiment/recheck.go":    "compares results",
	"experiment/record.go":     "writes traces, which are identified by content",
	"experiment/seeds.go":      "summaries",
	"experiment/shard.go":      "divides and merges points",
	"experiment/short.go":      "tables",
	"experiment/table.go":      "tables",
	"experiment/validated.go":  "names what is validated",
	"experiment/vet.go":        "refuses points before they run",
}

// TestModelSources walks over all that package experiment imports: each of our files is digested, or excluded for a
// reason.
func TestModelSources(t *testing.T) {
	digested := map[string]bool{}
	require.NoError(t, fs.WalkDir(modelSources, ".", func(name string, d fs.DirEntry, err error) error {
		digested[name] = err == nil && !d.IsDir()
		return err
	}))
	excluded, seen, todo := map[string]bool{}, map[string]bool{"experiment": true}, []string{"experiment"}
	for ; len(todo) > 0; todo = todo[1:] {
		names, err := filepath.Glob(todo[0] + "/*.go")
		require.NoError(t, err)
		require.NotEmpty(t, names, todo[0])
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			name = filepath.ToSlash(name)
			for _, key := range []string{name, path.Dir(name)} {
				if noModel[key] != "" {
					excluded[key] = true
				}
			}
			isExcluded := noModel[name] != "" || noModel[path.Dir(name)] != ""
			require.NotEqual(t, isExcluded, digested[name], "%s: add it to modelSources, or here with the reason", name)
			for _, p := range importsOf(t, name) {
				if !seen[p] {
					seen[p] = true
					todo = append(todo, p)
				}
			}
		}
	}
	require.Equal(t, slices.Sorted(maps.Keys(noModel)), slices.Sorted(maps.Keys(excluded)), "listed, and not there")
	require.Regexp(t, "^[0-9a-f]{24}$", version.Model())
}

// importsOf returns the packages of ours that a file imports.
func importsOf(t *testing.T, file string) (list []string) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	require.NoError(t, err)
	for _, i := range f.Imports {
		name, err := strconv.Unquote(i.Path.Value)
		require.NoError(t, err)
		if own, ok := strings.CutPrefix(name, version.Module+"/"); ok {
			list = append(list, own)
		}
	}
	return list
}
