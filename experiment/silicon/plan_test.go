package silicon

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/graph/graphspec"
)

// TestExperiment: every algorithm and schedule has a point for each unrolling, which its configuration identifies.
func TestExperiment(t *testing.T) {
	l, err := config.ParseWith("e", []byte(Experiment("vortex-6c32w32t", 1024, 1024, &Graph{Name: "g"},
		"file: facebook_combined", 107)), nil)
	require.NoError(t, err)
	points, err := experiment.Points(l, nil)
	require.NoError(t, err)
	seen := map[Key]bool{}
	for i := range points {
		p := &points[i]
		seen[KeyOf("m", "g", p)] = true
		require.Equal(t, 107, p.Config.Workload.Source)
		require.EqualValues(t, "registers", p.Config.Workload.Spill)
		require.True(t, p.Config.Graph.Clean.Symmetrise)
	}
	require.Len(t, seen, len(points))
	require.NotContains(t, Experiment("m", 1024, 1024, &Graph{Name: "g"}, "file: f", 0), "cta_threads")
	require.Contains(t, Experiment("m", 2048, 1024, &Graph{Name: "g"}, "file: f", 0), "cta_threads: 1024")
	require.Contains(t, Experiment("m", 1024, 256, &Graph{Name: "g"}, "file: f", 0), "cta_threads: 256")
	for _, a := range algorithmNames() {
		for _, s := range Schedules {
			for _, u := range Unrollings {
				require.True(t, seen[Key{"m", u, "g", a, s}], "%s %s %s", a, s, u)
			}
		}
	}
}

func TestSource(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"web-sk-2005.mtx.gz", "cora.cites.gz", "facebook_small.txt", "two.txt", "two.mtx",
		"road", "road-NY.gr"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	for name, want := range map[string]string{
		"web-sk-2005": "web-sk-2005.mtx.gz", "cora": "cora.cites.gz", "facebook": "facebook_small.txt", "road": "road-NY.gr",
	} {
		got, err := Source(dir, &Graph{Name: name})
		require.NoError(t, err)
		require.Equal(t, `file: "`+filepath.Join(dir, want)+`"`, got)
	}
	_, err := Source(dir, &Graph{Name: "two"})
	require.ErrorContains(t, err, "two.mtx and two.txt: expected one file of two")
	_, err = Source(dir, &Graph{Name: "co"})
	require.ErrorAs(t, err, new(*AbsentError), "cora begins with it, and is another")
	got, err := Source(filepath.Join(dir, "absent"), &Graph{Name: "facebook"})
	require.NoError(t, err)
	require.Equal(t, "file: facebook_combined", got)
	for m, want := range map[int]string{955_246: "8", 1 << 20: "8", 1<<20 + 2: "16", 2: "1"} {
		got, err = Source(dir, &Graph{Name: "rmat16", Edges: m})
		require.NoError(t, err)
		require.Equal(t, "rmat: {scale: 16, edge_factor: "+want+"}", got)
	}
	_, err = Source(dir, &Graph{Name: "rmat28"})
	require.ErrorAs(t, err, new(*AbsentError))
}

// TestCheck: the generated graph of the recorded campaign is the one that was measured.
func TestCheck(t *testing.T) {
	c := recorded(t, "h100.csv")
	clean := graphspec.Clean{Symmetrise: true, DropDuplicates: true, DropSelfLoops: true}
	for i := range c.Graphs {
		g := &c.Graphs[i]
		switch g.Name {
		case "facebook":
			from, err := c.Check(g, graphspec.Graph{File: "facebook_combined", Clean: clean})
			require.NoError(t, err)
			require.Equal(t, 107, from)
			_, err = c.Check(g, graphspec.Graph{File: "facebook_combined"})
			require.ErrorContains(t, err, "facebook has n = 4039 and m = 176468")
			require.ErrorContains(t, err, "4039 vertices and 88234 edges")
		case "rmat16":
			l, err := config.ParseWith("e", []byte(Experiment("vortex-6c32w32t", 1024, 1024, g,
				"rmat: {scale: 16, edge_factor: 8}", 0)), nil)
			require.NoError(t, err)
			_, err = c.Check(g, l.Value.Graph)
			require.NoError(t, err)
		}
	}
}
