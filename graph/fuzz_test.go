package graph

import (
	"bytes"
	"errors"
	"testing"

	"heddle/graph/graphspec"
)

// fuzzRead requires that no input panics, that errors are of our own type and name the file, and that an accepted file
// yields a canonical graph that survives writing in the same format.
func fuzzRead(f *testing.F, name, ext string, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := Read(name, bytes.NewReader(data), ReadOptions{})
		if err != nil {
			var ours *ParseError
			if !errors.As(err, &ours) || ours.File != name {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		checkCanonical(t, g)
		if ext == ".txt" && g.Edges() == 0 { // an edge list has one at least
			return
		}
		var b bytes.Buffer
		if err := g.Write(&b, ext); err != nil {
			if ext == ".gr" && g.kind == FloatWeights { // the bytes were another format
				return
			}
			t.Fatal(err)
		}
		again, err := Read("again"+ext, &b, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if ext == ".gr" && g.kind == NoWeights {
			again.weigh(graphspec.Weights{From: graphspec.UnitWeights})
		}
		if g.Edges() > 0 && g.Hash() != again.Hash() {
			t.Fatalf("%s\nis not\n%s", list(g), list(again))
		}
	})
}

func checkCanonical(t *testing.T, g *Graph) {
	a := g.CSR()
	if a.Offsets[0] != 0 || int(a.Offsets[g.Vertices()]) != g.Edges() {
		t.Fatal("offsets")
	}
	for v := range g.Vertices() {
		row := a.Row(v)
		for i, u := range row {
			if int(u) >= g.Vertices() || i > 0 && row[i-1] > u {
				t.Fatalf("row %d: %v", v, row)
			}
		}
	}
}

func FuzzReadEdgeList(f *testing.F) {
	fuzzRead(f, "g", ".txt", "# Nodes: 4 Edges: 3\n0\t1\r\n2 0\n", "1,2,5\n2,3,-7\n", "1 2 0.5\n2 1 3\n",
		"%\n4294967294 0 1e5 7", "# Nodes: 3\n1 2\n3 1\n")
}

func FuzzReadMatrixMarket(f *testing.F) {
	const head = "%%MatrixMarket matrix coordinate "
	fuzzRead(f, "g.mtx", ".mtx", head+"pattern general\n%\n3 3 1\n1 2\n", head+"real symmetric\n2 2 2\n2 1 .5\n1 1 4\n",
		head+"integer skew-symmetric\n2 2 1\n2 1 -3\n", head+"pattern symmetric\n2 2 0\n", head+"real general\n1 1 0\n")
}

func FuzzReadDIMACS(f *testing.F) {
	fuzzRead(f, "g.gr", ".gr", "c x\np sp 3 2\na 1 2 3\na 2 1 -4\n", "p sp 1 0\n", "c\nc\np sp 2 1\nc\na 2 2 0")
}

func FuzzReadLINQS(f *testing.F) {
	fuzzRead(f, "g.cites.tab", ".txt", "#DIRECTED\tcites\n#NO_FEATURES\n1\tpaper:5\t|\tpaper:7\n",
		"#UNDIRECTED\nNO_FEATURES\n1 a:1 | b:1\n")
}

func FuzzReadGzip(f *testing.F) {
	fuzzRead(f, "g.gz", ".txt", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x33\x50\x30\xe4\x02\x00"+
		"\x9d\x6e\x4c\x0b\x04\x00\x00\x00", "\x1f\x8b", "\x1f\x8b\x08")
}
