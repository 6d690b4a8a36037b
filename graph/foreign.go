package graph

import (
	"bytes"
	"fmt"
	"slices"
)

// signature is the magic number of a file type.
type signature struct {
	what   string
	offset int
	magic  string
}

// foreignBinaries are formats that are not supported, so that an error can name the format. As some signatures are
// words, the contents must have control characters, too.
var foreignBinaries = []signature{
	{"a PNG image", 0, "\x89PNG\r\n\x1a\n"},
	{"a JPEG image", 0, "\xff\xd8\xff"},
	{"a GIF image", 0, "GIF87a"},
	{"a GIF image", 0, "GIF89a"},
	{"an ELF program or library", 0, "\x7fELF"},
	{"a Mach-O program", 0, "\xcf\xfa\xed\xfe"},
	{"a Windows program", 0, "MZ\x90\x00"},
	{"a Java class", 0, "\xca\xfe\xba\xbe"},
	{"WebAssembly", 0, "\x00asm"},
	{"HDF5 data", 0, "\x89HDF\r\n\x1a\n"},
	{"HDF4 data", 0, "\x0e\x03\x13\x01"},
	{"NetCDF data", 0, "CDF\x01"},
	{"NetCDF data", 0, "CDF\x02"},
	{"a Parquet table", 0, "PAR1"},
	{"an ORC table", 0, "ORC"},
	{"an Avro table", 0, "Obj\x01"},
	{"Arrow data", 0, "ARROW1"},
	{"a Feather table", 0, "FEA1"},
	{"a NumPy array", 0, "\x93NUMPY"},
	{"a MATLAB file", 0, "MATLAB 5.0 MAT-file"},
	{"an R data file", 0, "RDX3\n"},
	{"an R data file", 0, "RDX2\n"},
	{"a SQLite database", 0, "SQLite format 3\x00"},
	{"a zip archive (.zip, .npz, .xlsx, .pt)", 0, "PK\x03\x04"},
	{"an empty zip archive", 0, "PK\x05\x06"},
	{"a 7-Zip archive", 0, "7z\xbc\xaf\x27\x1c"},
	{"a RAR archive", 0, "Rar!\x1a\x07"},
	{"a tar archive", 257, "ustar"},
	{"a Debian package or Unix library", 0, "!<arch>\n"},
	{"LZ4 data", 0, "\x04\x22\x4d\x18"},
	{"LZMA data", 0, "\x5d\x00\x00"},
	{"lzip data", 0, "LZIP"},
	{"compress (.Z) data", 0, "\x1f\x9d"},
	{"a Python pickle", 0, "\x80\x02"},
	{"a Python pickle", 0, "\x80\x03"},
	{"a Python pickle", 0, "\x80\x04\x95"},
	{"a Python pickle", 0, "\x80\x05\x95"},
	{"text in UTF-16 (save it as UTF-8)", 0, "\xff\xfe"},
	{"text in UTF-16 (save it as UTF-8)", 0, "\xfe\xff"},
}

// foreignTexts are known by their first words, in small or capital letters.
var foreignTexts = []signature{
	{"a PDF document", 0, "%PDF-"},
	{"an XML document (GraphML, GEXF, …)", 0, "<?xml"},
	{"an XML document (GraphML)", 0, "<graphml"},
	{"an HTML page, perhaps in place of a download", 0, "<!doctype html"},
	{"an HTML page, perhaps in place of a download", 0, "<html"},
	{"a Git LFS pointer, in place of the file", 0, "version https://git-lfs"},
	{"JSON", 0, "{"},
	{"JSON", 0, "["},
	{"a GML graph", 0, "graph ["},
	{"a GML graph", 0, "graph\n["},
	{"a Graphviz graph", 0, "digraph "},
	{"a Graphviz graph", 0, "digraph{"},
	{"a Graphviz graph", 0, "strict digraph"},
	{"a Graphviz graph", 0, "graph {"},
	{"a Pajek network", 0, "*Vertices"},
	{"a Pajek network", 0, "*Network"},
	{"a Ligra hypergraph", 0, "AdjacencyHypergraph"},
	{"a Ligra hypergraph", 0, "WeightedAdjacencyHypergraph"},
}

// detectPeek is the number of bytes inspected to detect a format.
const detectPeek = 512

// nameForeign names an unsupported format; ok is false if the contents match none.
func nameForeign(start []byte) (what string, ok bool) {
	signatures := foreignTexts
	if isBinary(start) {
		signatures = foreignBinaries
	}
	for _, f := range signatures {
		if len(start) >= f.offset && hasFold(start[f.offset:], f.magic) {
			return f.what, true
		}
	}
	for _, p := range packings {
		if p.is(start) {
			return p.name + " data, compressed once more", true
		}
	}
	return "", false
}

// isBinary reports whether the bytes are binary: text has no control characters other than blanks.
func isBinary(start []byte) bool { return bytes.ContainsFunc(start, control) }

func control(c rune) bool { return c < ' ' && !slices.Contains([]rune("\t\n\v\f\r"), c) || c == 0x7f }

// firstBytes shows bytes that must not get to a terminal as they are.
func firstBytes(start []byte) string {
	return fmt.Sprintf("first bytes % x", start[:min(len(start), 8)])
}
