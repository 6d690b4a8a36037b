package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/isa/micro"
	"heddle/sim/parity"
)

// job is a run by both programs.
type job struct {
	name string
	args []string // arguments of heddle; for a point, the file of its configuration is appended
	yaml string   // a point's configuration; empty: args is all
}

// Sizes of the quick list.
const (
	quickPoints = 4      // points per pack
	quickEdges  = 4000   // edges per point
	quickCycles = 40_000 // cycles per launch, in case no edge is handled for long
	quickDrawn  = 40
	allDrawn    = 200
)

// microJobs returns the micro-programs on the machines for which the RTL reference has cycles.
func microJobs() (list []job) {
	for _, r := range micro.References() {
		machine, ok := parity.Preset(r.Machine)
		if text, err := filepath.Glob(filepath.Join("isa", "micro", "programs", r.Program+".s")); !ok || err != nil ||
			len(text) == 0 {
			continue // of a configuration, or a mix
		}
		list = append(list, job{
			name: fmt.Sprintf("%s ×%d on %s", r.Program, r.Iters, machine),
			args: []string{
				"exec", filepath.Join("isa", "micro", "programs", r.Program+".s"), "-D", fmt.Sprint("ITERS=", r.Iters),
				"--machine", machine, "--check", "--json",
			},
		})
	}
	return list
}

// packJobs returns the points of all packs' quick variants; if quick, only some of them, and only their beginnings.
func packJobs(quick bool) (list []job, err error) {
	for _, name := range config.PackNames() {
		points, err := packPoints(name)
		if err != nil {
			return nil, err
		}
		step := 1
		if quick {
			step = max(1, len(points)/quickPoints)
		}
		for i := 0; i < len(points); i += step {
			p := &points[i]
			j := pointJob(fmt.Sprintf("%s: %s: %s", name, p.Config.Name, experiment.Label(p.Axes)), p.YAML())
			if quick {
				j.args = append(j.args, "--max-cycles", fmt.Sprint(quickCycles), "--set",
					fmt.Sprint("stop.max_edges=", quickEdges))
			}
			list = append(list, j)
		}
	}
	return list, nil
}

// packPoints lays out the quick variant of a pack.
func packPoints(name string) (points []experiment.Point, err error) {
	p, err := config.LoadPack(name)
	if err != nil || !p.Has(config.Quick) {
		return nil, err
	}
	list, _, err := p.Experiments(config.Quick, config.PackOptions{Exists: config.FileExists})
	if err != nil {
		return nil, err
	}
	for _, l := range list {
		some, err := experiment.Points(l, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		points = append(points, some...)
	}
	return points, nil
}

// pointJob runs a point's configuration.
func pointJob(name, yaml string) job {
	return job{name: name, yaml: yaml, args: []string{"run", "--fresh", "--json", "--jobs", "1", "--heartbeat",
		"1000h"}}
}

// command returns a job's complete arguments, with its files in a separate directory.
func (j *job) command(dir string, keys map[string]bool) ([]string, error) {
	if j.yaml == "" {
		return j.args, nil
	}
	file := filepath.Join(dir, "point.yaml")
	if err := os.WriteFile(file, []byte(known(j.yaml, keys)), 0o644); err != nil {
		return nil, err
	}
	return append(append([]string{}, j.args...), "--out", dir, file), nil
}

// known removes from a configuration the keys that a program does not have: it has nothing that they could change. A
// line of a resolved configuration holds one key; sections are indented by two spaces.
func known(yaml string, keys map[string]bool) string {
	var path []string
	var kept strings.Builder
	for line := range strings.Lines(yaml) {
		text := strings.TrimLeft(line, " ")
		depth := (len(line) - len(text)) / 2
		key, _, isKey := strings.Cut(text, ":")
		if !isKey || depth > len(path) {
			kept.WriteString(line)
			continue
		}
		if path = append(path[:depth], key); keys[strings.Join(path, ".")] {
			kept.WriteString(line)
		}
	}
	return kept.String()
}
