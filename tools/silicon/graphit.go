package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"heddle/graphit"
	"heddle/graphit/cuda"
	"heddle/graphit/lower"
	"heddle/graphit/programs"
	"heddle/kernels/host"
	"heddle/kernels/workload"
)

// sourceWord is the argument that stands for a graph's vertex of most edges.
const sourceWord = "SOURCE"

// program is a GraphIt program of the campaign.
type program struct {
	file      string // or the name of one of heddle's
	schedule  string // a file; "": the program's own
	fused     bool   // the loop labelled loop is one launch
	settings  []string
	arguments []string
}

// readProgram reads a line of points: gt PROGRAM, and behind it in any order a schedule's file (.gt), fused, keys of
// workload with their values, and arguments.
func readProgram(words []string) *program {
	p := &program{file: words[1]}
	for _, w := range words[2:] {
		switch {
		case strings.HasSuffix(w, ".gt"):
			p.schedule = w
		case w == "fused":
			p.fused = true
		case strings.Contains(w, "="):
			p.settings = append(p.settings, w)
		default:
			p.arguments = append(p.arguments, w)
		}
	}
	return p
}

// standardPrograms are all of heddle's programs × software schedules, and again with the loop as one launch.
func standardPrograms() (list []point) {
	arguments := map[string][]string{"bfs": {sourceWord}, "sssp": {sourceWord}, "delta_stepping": {sourceWord},
		"bc": {sourceWord}, "pagerank": {"10"}, "pagerank_delta": {"10"}}
	fuses := map[string]bool{"bfs": true, "cc": true, "sssp": true, "pagerank": true, "delta_stepping": true,
		"k_core": true}
	for _, name := range programs.Names() {
		for _, fused := range []bool{false, true} {
			for _, s := range schedules {
				if fused && !fuses[name] {
					continue
				}
				p := &program{file: name, fused: fused, settings: []string{"schedule=" + s}, arguments: arguments[name]}
				list = append(list, point{program: p})
			}
		}
	}
	return list
}

// base is the program's name without folder and ending.
func (p *program) base() string { return strings.TrimSuffix(filepath.Base(p.file), ".gt") }

func (p *program) name() string {
	parts := []string{"gt", p.base()}
	if p.schedule != "" {
		parts = append(parts, strings.TrimSuffix(filepath.Base(p.schedule), ".gt"))
	}
	if p.fused {
		parts = append(parts, "fused")
	}
	for _, s := range p.settings {
		_, value, _ := strings.Cut(s, "=")
		parts = append(parts, value)
	}
	return strings.Join(parts, "-")
}

// parse reads and checks the program.
func (p *program) parse() (*graphit.File, error) {
	src, err := programs.Source(p.file)
	if err != nil {
		if src, err = os.ReadFile(p.file); err != nil {
			return nil, err
		}
	}
	if p.fused {
		text := string(src)
		if !strings.Contains(text, "\nschedule:") {
			text += "\nschedule:\n"
		}
		src = []byte(text + "\nSimpleGPUSchedule fuse;\nfuse.configKernelFusion(ENABLED);\n" +
			"program->applyGPUSchedule(\"loop\", fuse);\n")
	}
	f, err := graphit.Parse(p.base(), src)
	if err != nil {
		return nil, err
	}
	if p.schedule != "" {
		text, err := os.ReadFile(p.schedule)
		if err != nil {
			return nil, err
		}
		if f.Schedule, err = graphit.ParseSchedule(p.schedule, text); err != nil {
			return nil, err
		}
	}
	return f, graphit.Check(f)
}

// on returns the arguments on a graph.
func (p *program) on(g measured) []string {
	list := make([]string, len(p.arguments))
	for i, a := range p.arguments {
		if list[i] = a; a == sourceWord {
			list[i] = strconv.Itoa(g.source)
		}
	}
	return list
}

// writeGraphIt exports a GraphIt program, which runs on any graph, and its reference result on each. It returns its
// lines of points.txt.
func (o *options) writeGraphIt(ctx context.Context, s host.Shape, p *program, graphs []measured) (string, error) {
	f, err := p.parse()
	if err != nil {
		return "", err
	}
	w, err := workload.Parse(p.settings)
	if err != nil {
		return "", err
	}
	args := append([]string{p.base(), "graph"}, p.on(graphs[0])...)
	x, err := cuda.Export(s, graphs[0].graph, f, lower.Options{Args: args, Workload: w})
	if err != nil {
		return "", err
	}
	if x.Arrays != nil {
		return "", fmt.Errorf("its arrays are of one graph: expected layout csr, csc, csr-csc or coo")
	}
	if err := write(filepath.Join(o.out, "programs", p.name(), "program.cu"), x.Text); err != nil {
		return "", err
	}
	var lines strings.Builder
	for _, g := range graphs {
		own := p.on(g)
		expected := strings.Join(append([]string{p.base()}, own...), "-") + "-" + g.name + ".bin"
		fmt.Fprintf(&lines, "%s\t%s\t-\t%s\t%s\n", p.name(), g.name, expected, strings.Join(own, " "))
		name := filepath.Join(o.out, "expected", expected)
		if _, err := os.Stat(name); err == nil || o.unchecked {
			continue
		}
		data, err := x.Expected(ctx, g.graph, append([]string{p.base(), "graph"}, own...))
		if err != nil {
			return "", fmt.Errorf("on %s: %w", g.name, err)
		}
		if err := write(name, data); err != nil {
			return "", err
		}
	}
	return lines.String(), nil
}
