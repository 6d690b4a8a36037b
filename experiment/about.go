package experiment

import (
	"maps"
	"regexp"

	"heddle/graph"
)

// About makes a summary readable without this program: it describes the statistics and the graphs.
type About struct {
	Statistics []StatisticSummary      `json:"statistics"` // in declared order; not those of single units
	Graphs     map[string]GraphSummary `json:"graphs"`     // by content hash
}

// StatisticSummary describes a statistic.
type StatisticSummary struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	Doc  string `json:"doc"`
}

// GraphSummary describes a graph by its source and size.
type GraphSummary struct {
	Source      string `json:"source"`
	Vertices    int    `json:"vertices"`
	Edges       int    `json:"edges"`
	MaxInDegree int    `json:"max_in_degree"`
}

// instance matches the names of statistics that belong to one of several equal units.
var instance = regexp.MustCompile(`^(core\d+|socket\d+|concentrator\d+|dram\.ch\d+)\b`)

// Single reports whether a statistic belongs to a single unit rather than being a sum over all units of a kind.
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
