package graphspec

import (
	"fmt"
	"slices"
	"strings"

	"heddle/configs/schema"
)

// Like stands in for a graph that papers use and that cannot be had here: a random graph with its published counts.
type Like struct {
	Name   string `key:"name" required:"true" doc:"The graph that is stood in for, as heddle graph fetch lists it."`
	Shrink int    `key:"shrink" default:"1" min:"1" max:"1048576" unit:""`
	Seed   uint64 `key:"seed" default:"1" unit:"" doc:"Seed."`

	MaxDegree int     `key:"max_degree" default:"0" min:"0" max:"1073741824" unit:"edges"`
	Gini      float64 `key:"gini" default:"0.6" min:"0" max:"0.95" unit:""`
}

// Docs has the long descriptions of keys.
func (Like) Docs() map[string]string {
	return map[string]string{
		"shrink": "Divides vertices and edges; the mean degree, and the law of degrees, stay. 1: the " +
			"published size.",
		"max_degree": "Largest degree of the original. 0: as the paper prints it, else unknown. A road network has none.",
		"gini": "Gini coefficient of the degrees, log-logistic and cut at the largest degree and at a quarter of all " +
			"vertices, which may leave less of a dense graph: its name then says how much. Of thirteen real graphs, none " +
			"a mesh, it is 0.44 to 0.77, 0.62 in the mean. 0: degrees fall as the power of the rank that the largest " +
			"degree gives, an exponent of 3 where it is unknown, of which the coefficient is 0.33. A road network has none.",
	}
}

// Degrees is the distribution of a stand-in's degrees.
type Degrees uint8

// Distributions of degrees.
const (
	// PowerLaw is a Chung–Lu graph: ends of edges are drawn in proportion to weights that fall with the rank as
	// rank^-a, a = 1 / (exponent - 1).
	PowerLaw Degrees = iota
	// Road is a lattice with diagonals: a random spanning tree, and random edges besides.
	Road
)

// Original is a graph as papers print it.
type Original struct {
	Name            string
	Vertices, Edges int // directed edges, as the paper counts them: of an undirected graph, both directions
	MaxDegree       int // 0: the paper prints none, and the stand-in does not say; the exponent is then assumed to be 3
	Directed        bool
	Degrees         Degrees
	Source          string // of the counts
	Get             string // where the original is
}

const (
	ofUGF   = "UGF, Table 6.1"
	ofPEG   = "GraphPEG, Table 3"
	ofSW    = "SparseWeaver, Table III"
	netRepo = "https://networkrepository.com/"
	matrix  = "https://sparse.tamu.edu/"
)

// Originals lists the graphs that can be stood in for, by name.
var Originals = []Original{
	{"COLLAB", 372475, 49144316, 0, false, PowerLaw, ofSW, netRepo + "COLLAB.php"},
	{"NACA0015", 1000000, 5200000, 9, false, Road, ofPEG + ", rounded there", matrix + "DIMACS10/NACA0015"},
	{"USA-road-d.CAL", 1800000, 4600000, 7, false, Road, ofPEG + ", rounded there", "http://www.diag.uniroma1.it/challenge9/download.shtml"},
	{"amazon0601", 400000, 4800000, 2752, false, PowerLaw, ofPEG + ", rounded there", "https://snap.stanford.edu/data/amazon0601.html"},
	{"bio-human-gene1", 22284, 24691926, 0, false, PowerLaw, ofSW, netRepo + "bio-human-gene1.php"},
	{"bio-mouse-gene", 45102, 29012392, 0, false, PowerLaw, ofSW, netRepo + "bio-mouse-gene.php"},
	{"cit-Patents", 3800000, 16500000, 0, true, PowerLaw, "ONYX, Table 7.1, rounded there", "https://snap.stanford.edu/data/cit-Patents.html"},
	{"coPapersCiteseer", 400000, 32000000, 1188, false, PowerLaw, ofPEG + ", rounded there", matrix + "DIMACS10/coPapersCiteseer"},
	{"com-amazon", 300000, 1800000, 549, false, PowerLaw, ofPEG + ", rounded there", "https://snap.stanford.edu/data/com-Amazon.html"},
	{"delaunay_n24", 16800000, 100600000, 0, false, Road, "ONYX, Table 7.1, rounded there; each edge once there", matrix + "DIMACS10/delaunay_n24"},
	{"hollywood-2009", 1139905, 112751422, 0, false, PowerLaw, ofUGF, matrix + "LAW/hollywood-2009"},
	{"hollywood-2011", 2180653, 228985632, 0, false, PowerLaw, ofSW, netRepo + "web-hollywood-2011.php"},
	{"indochina-2004", 7414865, 301969638, 0, false, PowerLaw, ofUGF, matrix + "LAW/indochina-2004"},
	{"roadNet-CA", 1971281, 5533214, 0, false, Road, ofUGF + "; SparseWeaver's Table III prints a tenth of the edges", "https://snap.stanford.edu/data/roadNet-CA.html"},
	{"road_central", 14081816, 33866826, 0, false, Road, ofUGF + "; SparseWeaver's Table III prints a tenth of the edges", matrix + "DIMACS10/road_central"},
	{"road_usa", 23947347, 57708624, 0, false, Road, ofUGF, matrix + "DIMACS10/road_usa"},
	{"soc-LiveJournal1", 4847571, 85702474, 0, false, PowerLaw, ofUGF + ", symmetric", "https://snap.stanford.edu/data/soc-LiveJournal1.html"},
	{"soc-orkut", 2997166, 212698418, 0, false, PowerLaw, ofUGF, netRepo + "soc-orkut.php"},
	{"soc-sinaweibo", 58655849, 522642066, 0, false, PowerLaw, ofUGF, netRepo + "soc-sinaweibo.php"},
	{"soc-twitter-2010", 21297772, 530051090, 0, false, PowerLaw, ofUGF, netRepo + "soc-twitter-2010.php"},
	{"web-uk-2005", 129633, 23488098, 0, false, PowerLaw, ofSW, netRepo + "web-uk-2005.php"},
	{"web-wikipedia", 2936414, 104673033, 0, true, PowerLaw, ofSW, netRepo + "web-wikipedia2009.php"},
}

// Original returns the graph that is stood in for, with the largest degree that the stand-in is to have.
func (g *Like) Original() (Original, bool) {
	i := slices.IndexFunc(Originals, func(o Original) bool { return o.Name == g.Name })
	if i < 0 {
		return Original{}, false
	}
	o := Originals[i]
	if g.MaxDegree > 0 {
		o.MaxDegree = g.MaxDegree
	}
	return o, true
}

// Size returns the stand-in's vertices, and its edges: pairs of an undirected graph.
func (g *Like) Size() (vertices, edges int) {
	o, _ := g.Original()
	edges = o.Edges / g.Shrink
	if !o.Directed {
		edges /= 2
	}
	return o.Vertices / g.Shrink, edges
}

// leastLike is the least number of vertices of a stand-in.
const leastLike = 16

// Validate returns an error for an unknown graph, or one that would be too small or too large.
func (g *Like) Validate() error {
	o, ok := g.Original()
	if !ok {
		var names []string
		for _, o := range Originals {
			names = append(names, o.Name)
		}
		return &schema.FieldError{Key: "name", Msg: fmt.Sprintf("no graph %q to stand in for: expected one of %s "+
			"(of Kronecker graphs, rmat is the generator itself)", g.Name, strings.Join(names, ", "))}
	}
	n, m := g.Size()
	if mean := (o.Edges + o.Vertices - 1) / o.Vertices; g.MaxDegree > 0 && o.Degrees == Road {
		return &schema.FieldError{Key: "max_degree", Msg: fmt.Sprintf("expected none: %s is a road network, whose "+
			"stand-in is a lattice", o.Name)}
	} else if g.MaxDegree > 0 && (g.MaxDegree < mean || g.MaxDegree >= o.Vertices) {
		return &schema.FieldError{Key: "max_degree", Msg: fmt.Sprintf("%d: expected %d, the mean of %s, to %d, its "+
			"other vertices", g.MaxDegree, mean, o.Name, o.Vertices-1)}
	}
	directed := m
	if !o.Directed {
		directed *= 2
	}
	switch {
	case n < leastLike:
		return &schema.FieldError{Key: "shrink", Msg: fmt.Sprintf("%d vertices are left: expected at least %d, shrink "+
			"at most %d", n, leastLike, o.Vertices/leastLike)}
	case m > n*(n-1)/8:
		return &schema.FieldError{Key: "shrink", Msg: fmt.Sprintf("%d edges between %d vertices: expected at most a "+
			"quarter of all pairs: shrink it less, or leave it whole", m, n)}
	case n > MaxVertices || directed > MaxEdges:
		return &schema.FieldError{Key: "shrink", Msg: fmt.Sprintf("%d vertices and %d edges: expected at most %d and "+
			"%d: shrink it", n, directed, MaxVertices, MaxEdges)}
	}
	return nil
}
