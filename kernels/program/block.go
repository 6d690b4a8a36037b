package program

import (
	"bytes"
	"fmt"
	"strings"
)

// Word is a word of the argument block of a launch, whose address is in mscratch.
type Word struct {
	Name  string
	CType string // its type in C, ending in a space or star
	Doc   string
}

// Words of the block that all programs share, in order.
const (
	wordSize = iota
	wordVertices
	wordEdges
	wordStep
	wordSource
	wordKernel
	wordArrays // the first array of the graph

	// OwnWords is the index of a program's first own word: its parameters and then its arrays, in the order of their
	// declarations. It stays the same when shared words are added before it.
	OwnWords = 32
)

const pointer = "const unsigned *"

// words are the block's shared words. Arrays that a program does not request are null.
var words = []Word{
	wordSize:     {"size", "unsigned ", "Bytes of the block."},
	wordVertices: {"vertices", "unsigned ", "Of the graph."},
	wordEdges:    {"edges", "unsigned ", "Of the graph."},
	wordStep:     {"step", "unsigned ", "The super-step, from 1; 0 before the first."},
	wordSource:   {"source", "unsigned ", "workload.algorithm.source, or the vertex drawn for it; 0 if none could be drawn."},
	wordKernel:   {"kernel", "void (*", "The kernel that is launched; 0 if workload.host.steps names none."},
	{"csr_offsets", pointer, "csr: where the out-edges of each vertex begin, and one more."},
	{"csr_ids", pointer, "csr: where each out-edge goes."},
	{"csr_weights", "const void *", "csr and weights: unsigned or float, an edge."},
	{"csc_offsets", pointer, "csc: where the in-edges of each vertex begin, and one more."},
	{"csc_ids", pointer, "csc: where each in-edge comes from."},
	{"csc_weights", "const void *", "csc and weights."},
	{"coo_sources", pointer, "coo: where each edge comes from, ascending."},
	{"coo_destinations", pointer, "coo: where it goes."},
	{"coo_weights", "const void *", "coo and weights."},
	{"out_degrees", pointer, "degrees: a word a vertex."},
	{"in_degrees", pointer, "degrees."},
}

// Words returns the block's shared words; word n is at byte 4·n.
func Words() []Word { return words }

// prefix of the names of the block's words in assembly
const prefix = "hd_block_"

// own returns the program's own words.
func (h *Host) own() (list []Word) {
	for _, p := range h.parameters {
		list = append(list, Word{p.name, p.kind.cType() + " ", "workload.host.parameters"})
	}
	for _, a := range h.arrays {
		list = append(list, Word{a.name, a.kind.cType() + " *", "workload.host.arrays"})
	}
	return list
}

// HeaderName is the name of the header that a C program includes.
const HeaderName = "heddle_block.h"

// Header returns the block as a C header, with which a program of the experiment is built.
func (h *Host) Header() []byte {
	var b bytes.Buffer
	b.WriteString("/* What heddle hands a program at each launch: hd_block() points to it.\n" +
		" * Written by heddle from workload.host of an experiment. */\n" +
		"#ifndef HEDDLE_BLOCK_H\n#define HEDDLE_BLOCK_H\n\n#include \"heddle.h\"\n\nstruct hd_block {\n")
	line := func(w Word) {
		decl := w.CType + w.Name
		if strings.HasSuffix(w.CType, "(*") {
			decl += ")(void *)"
		}
		fmt.Fprintf(&b, "\t%-32s /* %s */\n", decl+";", w.Doc)
	}
	for _, w := range words {
		line(w)
	}
	fmt.Fprintf(&b, "\t%-32s /* for words to come */\n", fmt.Sprintf("unsigned reserved[%d];", OwnWords-len(words)))
	for _, w := range h.own() {
		line(w)
	}
	b.WriteString("};\n\n" +
		"HD_INLINE const struct hd_block *hd_block(void) { return (const struct hd_block *)hd_arg(); }\n\n#endif\n")
	return b.Bytes()
}

// Symbols returns the block's words as assembly symbols: their offsets, in bytes.
func (h *Host) Symbols() map[string]int64 {
	out := map[string]int64{}
	for i, w := range words {
		out[prefix+w.Name] = int64(4 * i)
	}
	for i, w := range h.own() {
		out[prefix+w.Name] = int64(4 * (OwnWords + i))
	}
	return out
}

// Include returns the block as assembly source. When heddle itself assembles a program it defines the symbols directly.
func (h *Host) Include() []byte {
	var b bytes.Buffer
	b.WriteString("# What heddle hands a program at each launch, at the address in mscratch: offsets in bytes.\n" +
		"# Written by heddle from workload.host of an experiment, which defines them itself for the .s file that it " +
		"assembles.\n")
	for i, w := range words {
		fmt.Fprintf(&b, ".equ %-28s %4d  # %s\n", prefix+w.Name+",", 4*i, w.Doc)
	}
	for i, w := range h.own() {
		fmt.Fprintf(&b, ".equ %-28s %4d  # %s\n", prefix+w.Name+",", 4*(OwnWords+i), w.Doc)
	}
	return b.Bytes()
}
