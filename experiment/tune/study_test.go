package tune_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
	"heddle/experiment/tune"
)

// solved is a solution by its cycles: the best for each of the schedules vertex and edge, and the result.
func solved(variant string, vertex, edge, best uint64) *tune.Solution {
	ranked := func(schedule, layout string, cycles uint64) tune.Ranked {
		return tune.Ranked{Kernel: "bfs/" + schedule + "/" + layout, Cycles: cycles,
			Speedup: float64(vertex) / float64(cycles),
			Choices: map[string]string{tune.ScheduleKey: schedule, tune.LayoutKey: layout}}
	}
	second, worst := ranked("vertex", "csr", vertex), ranked("edge", "coo", edge)
	return &tune.Solution{Variant: variant, Outcome: tune.Outcome{
		First: ranked("vertex", "csr", vertex), Best: ranked("warp", "coo", best), Second: &second, Worst: &worst,
		Schedules: []tune.Ranked{ranked("vertex", "csr", vertex), ranked("edge", "coo", edge)},
	}}
}

func study() *tune.Study {
	problem := func(algorithm string, of ...*tune.Solution) *tune.Problem {
		return &tune.Problem{Axes: []experiment.Setting{{Key: "workload.algorithm", Value: algorithm}}, Of: of}
	}
	return &tune.Study{Name: "s", Variants: []string{"software", "unit"}, Problems: []*tune.Problem{
		problem("bfs", solved("software", 1000, 800, 400), solved("unit", 900, 900, 200)),
		problem("cc", solved("software", 1000, 4000, 500), solved("unit", 900, 900, 1000)),
	}}
}

// TestStudySpeedups: speedups are over their named baselines, and means over their named axes.
func TestStudySpeedups(t *testing.T) {
	s := study()
	bfs, cc := s.Problems[0], s.Problems[1]
	require.InDelta(t, 2.5, bfs.Over(0), 1e-9)
	require.InDelta(t, 5, bfs.Over(1), 1e-9)
	require.InDelta(t, 2, bfs.OverBest(1), 1e-9)
	require.InDelta(t, 4, bfs.OverFixed(1), 1e-9, "edge is the better schedule")
	require.InDelta(t, 0.5, cc.OverBest(1), 1e-9)
	require.InDelta(t, 1, cc.OverFixed(1), 1e-9, "vertex is the better schedule")
	require.InDelta(t, 1, s.Geomean(func(p *tune.Problem) float64 { return p.OverBest(1) }, nil), 1e-9)
	require.InDelta(t, 2, s.Geomean(func(p *tune.Problem) float64 { return p.OverBest(1) },
		func(p *tune.Problem) bool { return p == bfs }), 1e-9)
	o := s.Options()
	require.InDelta(t, 2.2360679, o.Second, 1e-6, "of 2.5 and 2")
	require.InDelta(t, 2.5, o.MostSecond, 1e-9)
	require.InDelta(t, 1, o.Layouts, 1e-9)
	require.InDelta(t, 4, o.Worst, 1e-9, "of 2 and 8")
	text := s.Markdown()
	require.NotContains(t, text, "budget")
	require.Contains(t, text, "| the tuned best of software | all 2 | 1.00 | 1.00 |")
	require.Contains(t, text, "| bfs | 1 | 2.50 | 5.00 (2.00) |")
	require.Contains(t, text, "| cc | 1.00 | 0.25 | 2.00 |")
}

// TestReadStudy: a written study is found by its axes and variant, and other files are refused by name.
func TestReadStudy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "study.json")
	text, err := json.Marshal(study())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	s, err := tune.ReadStudy(path)
	require.NoError(t, err)
	q, x := s.Find([]experiment.Setting{{Key: "workload.algorithm", Value: "cc"}}, "unit")
	require.Equal(t, uint64(1000), x.Outcome.Best.Cycles)
	require.Len(t, q.Of, 2)
	_, x = s.Find([]experiment.Setting{{Key: "workload.algorithm", Value: "sssp"}}, "unit")
	require.Nil(t, x)
	_, x = (*tune.Study)(nil).Find(nil, "unit")
	require.Nil(t, x)
	for _, bad := range []string{"", "[]", `{"problems": [null]}`, `{"problems": [{"of": [null]}]}`} {
		require.NoError(t, os.WriteFile(path, []byte(bad), 0o600))
		_, err = tune.ReadStudy(path)
		require.ErrorContains(t, err, path+": expected the study.json of a study")
	}
}

// TestStudySaysWhatItIsOf: each graph once, and how many searches a budget has ended.
func TestStudySaysWhatItIsOf(t *testing.T) {
	s := study()
	for _, p := range s.Problems {
		p.Graph = experiment.GraphSummary{Source: "graphs/wiki-Vote.txt.gz", Vertices: 7115, Edges: 201524,
			MaxInDegree: 1065}
	}
	s.Problems[1].Of[0].Outcome.Spent = true
	s.Problems[1].Of[1].Outcome.Quick = true
	text := s.Markdown()
	require.Equal(t, 1, strings.Count(text, "| wiki-Vote | 7,115 | 201,524 | 28.3 | 1,065 |"))
	require.Contains(t, text, "1 of 4 searches were ended by their budget")
	require.Contains(t, text, "1 of 4 searches were quick ones")
	require.Equal(t, []string{"bfs/warp/coo"}, s.BestOf("unit"), "once")
	require.Empty(t, s.BestOf("none"))
	var b strings.Builder
	s.Write(&b)
	require.Contains(t, b.String(), "1 of 4 searches were ended by their budget")
}
