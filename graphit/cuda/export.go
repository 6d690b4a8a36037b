package cuda

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"heddle/graph"
	"heddle/graphit"
	"heddle/graphit/eval"
	"heddle/graphit/graphir"
	"heddle/graphit/lower"
	"heddle/kernels/cuda"
	"heddle/kernels/host"
)

// ExpectedFile is the name of the file with what a program's vectors should hold.
const ExpectedFile = "expected.bin"

// headerFile is the header that GraphIt programs share beyond the library of all exported programs.
const headerFile = "graphit.h"

// Library are the files that every program includes, and its Makefile.
var Library = append([]string{headerFile}, cuda.Library...)

// Program is an exported program.
type Program struct {
	Program *graphir.Program
	Text    []byte // program.cu
	Arrays  []byte // arrays.bin; nil: the program runs on any graph
	Plans   []string
	graph   *graph.Graph // nil: none
	options lower.Options
	file    *graphit.File
}

// Export writes a checked program for machines of a shape. g is the graph that comes with it; nil: none, and then it
// can have no layout whose arrays do not follow from the graph alone.
func Export(s host.Shape, g *graph.Graph, f *graphit.File, o lower.Options) (*Program, error) {
	s.BarriersSignal = false // blocks see each other's writes behind a barrier of the grid
	threads, err := cuda.Threads(s, o.Workload.WarpsPerCore)
	if err != nil {
		return nil, err
	}
	laid := g
	if g == nil {
		if laid, err = standIn(f); err != nil {
			return nil, err
		}
	} else if o.Args, err = eval.ArgumentsOn(g, f, o.Schedule, o.Args); err != nil {
		return nil, err
	}
	x, err := lower.NewOutline(s, laid, f, o)
	if err != nil {
		return nil, err
	}
	w := newWriter(x, s, threads, o.Workload.WarpsPerCore, o.Args)
	if err := w.program(f, laid); err != nil {
		return nil, err
	}
	p := &Program{Program: x.Program, Text: w.text.Bytes(), Plans: w.plans(), graph: g, options: o, file: f}
	if p.Arrays = cuda.ArraysOf(laid, w.extra); p.Arrays != nil && g == nil {
		return nil, errors.New(f.Name + ": a layout of its schedule has arrays of one graph: give the graph behind the " +
			"program")
	}
	return p, nil
}

// Expected returns the file with what the program's vectors should hold on a graph with arguments from argv[0] on,
// computed by the evaluator. max bounds the operators over edges; 0: more than any program needs.
func (p *Program) Expected(ctx context.Context, g *graph.Graph, args []string) ([]byte, error) {
	schedule := p.options.Schedule
	if schedule == nil {
		schedule = p.file.Schedule
	}
	ir, err := lower.Build(p.file, schedule.Unfused(), p.options.Float)
	if err != nil {
		return nil, err
	}
	ir.Narrow = true
	if args, err = eval.ArgumentsOn(g, p.file, p.options.Schedule, args); err != nil {
		return nil, err
	}
	x, err := eval.Expect(ctx, ir, g, eval.Options{Args: args, MaxSteps: p.options.MaxSteps})
	if err != nil {
		return nil, err
	}
	return expectedFile(g, args, &x), nil
}

// Write writes the program into a folder, which it creates, with its graph, what its vectors should hold if check is
// set, and everything that make needs.
func (p *Program) Write(ctx context.Context, dir string, check bool) error {
	contents := map[string][]byte{cuda.ProgramFile: p.Text, cuda.ArraysFile: p.Arrays}
	for _, name := range Library {
		contents[name] = cuda.LibraryFile(name)
	}
	if p.graph != nil && check {
		expected, err := p.Expected(ctx, p.graph, p.options.Args)
		if err != nil {
			return err
		}
		contents[ExpectedFile] = expected
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for name, data := range contents {
		if data == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			return err
		}
	}
	if p.graph == nil {
		return nil
	}
	return p.graph.WriteFile(ctx, filepath.Join(dir, cuda.GraphFile))
}
