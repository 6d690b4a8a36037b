package cuda

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"heddle/graph"
	"heddle/isa/emu"
	"heddle/kernels/compose"
	"heddle/kernels/host"
	"heddle/kernels/workload"
)

// Exported is a program and its origin.
type Exported struct {
	*Program
	Outline *compose.Outline
	Shape   host.Shape
}

// Export writes the program of a workload on machines of a shape. Where the program has no reference of its own, the
// workload is executed functionally, for the result that the program compares with.
func Export(ctx context.Context, s host.Shape, g *graph.Graph, w workload.Workload) (*Exported, error) {
	o, err := compose.NewOutline(s, g, w)
	if err != nil {
		return nil, err
	}
	var expected *compose.Result
	if natives[o.Plan.Algorithm.Name] == nil {
		d, err := host.NewFunctional(emu.Config{Cores: s.Cores, Warps: s.Warps, Threads: s.Threads,
			ScratchpadBytes: s.ScratchpadBytes}, nil)
		if err != nil {
			return nil, err
		}
		ran, err := compose.Run(ctx, d, g, w)
		if err != nil {
			return nil, fmt.Errorf("%s, run without time: %w", o.Plan.Name(), err)
		}
		expected = &ran
	}
	p, err := New(o, s, expected)
	if err != nil {
		return nil, err
	}
	return &Exported{p, o, s}, nil
}

// Write writes the program into a folder, which it creates, with the graph and everything that make needs.
func (x *Exported) Write(ctx context.Context, dir string) error {
	if err := x.WriteText(dir); err != nil {
		return err
	}
	return x.Outline.Graph.WriteFile(ctx, filepath.Join(dir, GraphFile))
}

// WriteText is Write without the graph.
func (x *Exported) WriteText(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	contents := map[string][]byte{ProgramFile: x.Text, ArraysFile: x.Arrays}
	for _, name := range Library {
		contents[name] = LibraryFile(name)
	}
	for name, data := range contents {
		if data == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			return err
		}
	}
	return nil
}
