// Package graph holds the graphs that kernels run on: readers and generators,
// clean-up, layouts in arrays, and their place in the simulated address space.
//
//	g, err := graph.Load(spec)              // graphspec.Graph → Graph, with a Record of its preparation
//	im := graph.NewImage(graph.ArrayBase, lineBytes, graph.Reserved(harts, program)...)
//	csc, err := im.PlaceAdjacency("csc", g.CSC())
//	im.Write(device)
//
// A Graph is canonical: its rows are sorted, so that equal graphs have equal
// arrays and an equal Hash, whatever file, format or order they came from.
//
// This package must not know kernels, schedules or machines beyond the memory
// map of isa/emu.
package graph
