// Package fetch downloads public graphs: their addresses, published properties, and checksums.
package fetch

import "strings"

// Graph is a public graph.
type Graph struct {
	Name   string
	URL    string
	File   string // its file name here
	Member string // of a tar archive; "": the file is the download
	// Vertices and Lines are the published counts of vertices and of edges as the file lists them, which need not be
	// directed edges.
	Vertices, Lines int
	About           string
	Cite            string
}

// Licence is the licence of every graph of the catalogue: their pages state none.
const Licence = "none is stated on the graph's page; its collection asks for the citation above"

const (
	snap       = "https://snap.stanford.edu/data/"
	snapCite   = "J. Leskovec, A. Krevl, SNAP Datasets: Stanford Large Network Dataset Collection, 2014"
	sparse     = "https://sparse.tamu.edu/MM/"
	sparseCite = "T. Davis, Y. Hu, The University of Florida Sparse Matrix Collection, ACM TOMS 38(1), 2011"
)

func ofSNAP(file string, vertices, lines int, about, cite string) Graph {
	name := file[strings.LastIndexByte(file, '/')+1:]
	stem, _, _ := strings.Cut(name, ".")
	if cite != "" {
		cite += "; "
	}
	return Graph{Name: stem, URL: snap + file, File: name, Vertices: vertices, Lines: lines, About: about,
		Cite: cite + snapCite}
}

func ofSuiteSparse(group, name string, vertices, lines int, about string) Graph {
	return Graph{
		Name: name, URL: sparse + group + "/" + name + ".tar.gz", File: name + ".mtx",
		Member:   name + "/" + name + ".mtx",
		Vertices: vertices, Lines: lines, About: about, Cite: sparseCite,
	}
}

// Catalogue lists the graphs, by name. Counts are those that SNAP and the SuiteSparse collection print; 0: not checked.
var Catalogue = []Graph{
	ofSNAP("cit-HepPh.txt.gz", 34546, 421578, "citations of high-energy physics papers, directed",
		"J. Leskovec, J. Kleinberg, C. Faloutsos, Graphs over Time, KDD 2005"),
	ofSNAP("bigdata/communities/com-amazon.ungraph.txt.gz", 334863, 925872,
		"products bought together, undirected, each edge once",
		"J. Yang, J. Leskovec, Defining and Evaluating Network Communities based on Ground-truth, ICDM 2012"),
	ofSNAP("bigdata/communities/com-orkut.ungraph.txt.gz", 3072441, 117185083,
		"social network, undirected, each edge once",
		"J. Yang, J. Leskovec, Defining and Evaluating Network Communities based on Ground-truth, ICDM 2012"),
	ofSuiteSparse("DIMACS10", "delaunay_n16", 65536, 196575, "Delaunay triangulation of random points, undirected"),
	ofSNAP("email-Enron.txt.gz", 36692, 367662, "e-mail, undirected, each edge in both directions",
		"B. Klimt, Y. Yang, Introducing the Enron Corpus, CEAS 2004"),
	ofSNAP("facebook_combined.txt.gz", 4039, 88234, "friendships, undirected, each edge once",
		"J. McAuley, J. Leskovec, Learning to Discover Social Circles in Ego Networks, NIPS 2012"),
	ofSuiteSparse("LAW", "hollywood-2009", 1139905, 0, "actors in common films, undirected"),
	ofSuiteSparse("DIMACS10", "luxembourg_osm", 114599, 119666, "roads of Luxembourg, undirected"),
	ofSNAP("p2p-Gnutella31.txt.gz", 62586, 147892, "peer-to-peer network, directed",
		"M. Ripeanu, I. Foster, A. Iamnitchi, Mapping the Gnutella Network, IEEE Internet Computing, 2002"),
	ofSNAP("roadNet-CA.txt.gz", 1965206, 5533214, "roads of California, undirected, each edge in both directions",
		"J. Leskovec, K. Lang, A. Dasgupta, M. Mahoney, Community Structure in Large Networks, Internet Mathematics 6(1), 2009"),
	ofSNAP("soc-LiveJournal1.txt.gz", 4847571, 68993773, "social network, directed",
		"L. Backstrom et al., Group Formation in Large Social Networks, KDD 2006"),
	ofSNAP("soc-Slashdot0902.txt.gz", 82168, 948464, "social network, directed, with self-loops",
		"J. Leskovec, K. Lang, A. Dasgupta, M. Mahoney, Community Structure in Large Networks, Internet Mathematics 6(1), 2009"),
	ofSuiteSparse("Gleich", "usroads", 129164, 165435, "roads of the USA, undirected"),
	ofSNAP("web-Google.txt.gz", 875713, 5105039, "web pages, directed",
		"J. Leskovec, K. Lang, A. Dasgupta, M. Mahoney, Community Structure in Large Networks, Internet Mathematics 6(1), 2009"),
	ofSNAP("wiki-Vote.txt.gz", 7115, 103689, "votes on Wikipedia's administrators, directed",
		"J. Leskovec, D. Huttenlocher, J. Kleinberg, Signed Networks in Social Media, CHI 2010"),
}

// Lookup finds a graph by its name.
func Lookup(name string) (Graph, bool) {
	for _, g := range Catalogue {
		if g.Name == name {
			return g, true
		}
	}
	return Graph{}, false
}

// ByHand is a graph of the shipped experiments that is not fetched: its publisher offers no file that can be read as it
// is at an address that is known to last.
type ByHand struct {
	Name            string
	Page            string // the publisher's
	Take            string // the member to extract, and its file name here
	Vertices, Lines int
	Cite            string
}

const repositoryCite = "R. Rossi, N. Ahmed, The Network Data Repository with Interactive Graph Analytics and " +
	"Visualization, AAAI 2015"

// NotFetched lists the graphs that must be downloaded manually, by name.
var NotFetched = []ByHand{
	{
		"bio-CE-CX", "https://networkrepository.com/bio-CE-CX.php",
		"bio-CE-CX.edges of the zip archive, compressed with gzip, as bio-CE-CX.edges.gz", 15229, 245952,
		"A. Cho et al., WormNet v3, Nucleic Acids Research 42, 2014; " + repositoryCite,
	},
	{
		"Pubmed-Diabetes", "https://linqs.org/datasets",
		"data/Pubmed-Diabetes.DIRECTED.cites.tab of the archive, compressed with gzip, as Pubmed-Diabetes.DIRECTED.cites.tab.gz",
		19717, 44338,
		"P. Sen et al., Collective Classification in Network Data, AI Magazine 29(3), 2008",
	},
	{
		"web-sk-2005", "https://networkrepository.com/web-sk-2005.php",
		"web-sk-2005.mtx of the zip archive, compressed with gzip, as web-sk-2005.mtx.gz", 121422, 334419,
		repositoryCite,
	},
}
