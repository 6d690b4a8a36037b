package experiment

import (
	"maps"
	"regexp"

	"heddle/graph"
)

// About explains the numbers of a summary to a reader without this program.
type About struct {
	Statistics []StatisticSummary      `json:"statistics"` // in declared order; not those of single units
	Graphs     map[string]GraphSummary `json:"graphs"`     // by content hash
}

// StatisticSummary says what a statistic is.
type StatisticSummary struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	Doc  string `json:"doc"`
}

// GraphSummary says what a graph is like.
type GraphSummary struct {
	Source      string `json:"source"`
	Vertices    int    `json:"vertices"`
	Edges       int    `json:"edges"`
	MaxInDegree int    `json:"max_in_degree"`
}

// instance matches the statistics of one of several units of a kind.
var instance = regexp.MustCompile(`^(core\d+|socket\d+|concentrator\d+|dram\.ch\d+)\b`)

// Single reports whether a statistic is one unit's, and not a sum over all of its kind.
func Single(name string) bool { return instance.MatchString(name) }

func (r *Runner) about(outcomes []Outcome) About {
	a := About{Statistics: []StatisticSummary{}, Graphs: r.graphs.summaries()}
	maps.Copy(a.Graphs, r.Known)
	known := map[string]bool{}
	for i := range outcomes {
		if i > 0 && outcomes[i].Stats.SameNames(outcomes[i-1].Stats) {
			continue
		}
		for _, s := range outcomes[i].Stats.Tree() {
			if !known[s.Name] && !Single(s.Name) {
				known[s.Name] = true
				a.Statistics = append(a.Statistics, StatisticSummary{s.Name, s.Unit, s.Doc})
			}
		}
	}
	return a
}

func aboutGraph(g *graph.Graph) GraphSummary {
	return GraphSummary{Source: g.Record.Source, Vertices: g.Vertices(), Edges: g.Edges(), MaxInDegree: maxInDegree(g)}
}

func maxInDegree(g *graph.Graph) int {
	most, in := uint32(0), make([]uint32, g.Vertices())
	for _, v := range g.CSR().IDs {
		in[v]++
		most = max(most, in[v])
	}
	return int(most)
}
