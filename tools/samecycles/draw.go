package main

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"heddle/components/accel"
	"heddle/configs"
	"heddle/configs/schema"
	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/kernels/schedule"
)

// drawnCycles ends a launch on a drawn machine, which may be very slow.
const drawnCycles = 300_000

// drawn returns points on machines drawn at random from the schema, each with a schedule, an algorithm and a tiny
// graph. The same seed draws the same points, as long as the schema is the same.
func drawn(dir string, n int, seed uint64) (list []job, err error) {
	empty := filepath.Join(dir, "drawn.yaml")
	if err := os.WriteFile(empty, []byte("name: drawn\n"), 0o644); err != nil {
		return nil, err
	}
	for i := range n {
		d := drawer{rand.New(rand.NewPCG(seed, uint64(i))), empty}
		set, point := d.point()
		j := pointJob(fmt.Sprintf("drawn %d: %s", i, strings.Join(set, " ")), point.YAML())
		j.args = append(j.args, "--check", "--max-cycles", fmt.Sprint(drawnCycles))
		list = append(list, j)
	}
	return list, nil
}

type drawer struct {
	*rand.Rand
	file string // an experiment with all keys at their defaults
}

// machine returns the base machine of a draw, for a schedule: a small one, with the graph unit that the schedule needs.
func (d drawer) machine(of *schedule.Schedule) []string {
	if of.Unit == nil {
		names := []string{"vortex-1c4w4t", "vortex-6c32w32t", "vortex-6c32w32t-sharedl1", "vortex-rtl-m6",
			"kepler-15sm"}
		return []string{"machine=" + pick(d, names...)}
	}
	u, names := accel.KindNamed(of.Unit.Name), []string(nil)
	for _, name := range configs.MachinesWith(u) {
		if strings.HasPrefix(name, "vortex-1c4w4t") || strings.HasPrefix(name, "vortex-6c32w32t") {
			names = append(names, name)
		}
	}
	if names == nil {
		return []string{"machine=" + pick(d, "vortex-1c4w4t", "vortex-6c32w32t"), "machine.core." + u.Key + "={}"}
	}
	return []string{"machine=" + pick(d, names...)}
}

// point draws settings until they form a legal configuration: first the workload, then keys of the machine, each kept
// if it is legal with those before it.
func (d drawer) point() (set []string, p *experiment.Point) {
	for p == nil {
		set = d.workload()
		p = d.lay(set)
	}
	fields := machineKeys()
	for range 3 + d.IntN(12) {
		f := fields[d.IntN(len(fields))]
		more := append(slices.Clip(set), f.Path+"="+d.value(f))
		if next := d.lay(more); next != nil {
			set, p = more, next
		}
	}
	return set, p
}

// workload draws a graph, a workload on it, and a base machine with a small number of cores.
func (d drawer) workload() []string {
	schedules := schedule.All()
	schedule := schedules[d.IntN(len(schedules))]
	set := append(d.machine(schedule),
		fmt.Sprint("machine.sockets=", 1+d.IntN(4)),
		"workload.schedule="+schedule.Name,
		"workload.algorithm="+pick(d,
			"pagerank", "bfs", "bfs-parents", "sssp", "cc", "spmv", "in-degree", "spmm", "graphsum", "k-core",
			"colouring"),
		fmt.Sprint("graph.weights.from=", pick(d, "random", "unit")),
		"graph.clean.drop_self_loops=true", "graph.clean.symmetrise=true", "workload.algorithm.width=4",
	)
	return append(set, d.graph()...)
}

func (d drawer) graph() []string {
	seed := fmt.Sprint(d.IntN(1000))
	switch d.IntN(3) {
	case 0:
		return []string{fmt.Sprint("graph.rmat.scale=", 3+d.IntN(6)), "graph.rmat.edge_factor=4",
			"graph.rmat.seed=" + seed}
	case 1:
		n := 5 + d.IntN(200)
		return []string{fmt.Sprint("graph.erdos_renyi.vertices=", n),
			fmt.Sprint("graph.erdos_renyi.edges=", d.IntN(2*n)), "graph.erdos_renyi.seed=" + seed}
	}
	return []string{
		fmt.Sprint("graph.grid.width=", 1+d.IntN(20)), fmt.Sprint("graph.grid.height=", 1+d.IntN(20)),
		"graph.grid.remove=0.2", "graph.grid.seed=" + seed,
	}
}

func pick(d drawer, of ...string) string { return of[d.IntN(len(of))] }

// lay returns the point of these settings; nil if they are refused.
func (d drawer) lay(set []string) *experiment.Point {
	l, err := config.Load(d.file, nil, set)
	if err != nil {
		return nil
	}
	points, err := experiment.Points(l, set)
	if err != nil || len(points) != 1 {
		return nil
	}
	return &points[0]
}

// machineKeys returns the leaves of a machine that a draw may change. The number of sockets is drawn separately.
func machineKeys() (list []*schema.Field) {
	for _, f := range config.Schema.Fields() {
		leaf := f.Range() != "" || f.Values() != nil
		if leaf && strings.HasPrefix(f.Path, "machine.") && f.Path != "machine.sockets" {
			list = append(list, f)
		}
	}
	return list
}

// value draws a value of a key: a name, a boolean, or a number in its range; small ones are more likely, so that
// machines stay quick to simulate.
func (d drawer) value(f *schema.Field) string {
	if v := f.Values(); v != nil {
		return pick(d, v...)
	}
	words := strings.SplitN(f.Range(), ", ", 2)
	lo, hi, _ := strings.Cut(words[0], "..")
	least, most := number(lo), number(hi)
	if f.Type() == "number" {
		return strconv.FormatFloat(float64(least)+float64(d.IntN(17))/16*float64(min(most-least, 4)), 'g', -1, 64)
	}
	n := least + d.upTo(min(most-least, max(64, 16*least)))
	switch rule := strings.Join(words[1:], ""); {
	case strings.HasPrefix(rule, "power of two"):
		n = 1 << (bits.Len64(n|1) - 1)
	case strings.HasPrefix(rule, "multiple of "):
		m := number(strings.TrimPrefix(rule, "multiple of "))
		n = max(1, n/m) * m
	}
	return strconv.FormatUint(n, 10)
}

// upTo draws from 0..most, each order of magnitude equally likely.
func (d drawer) upTo(most uint64) uint64 {
	if most == 0 {
		return 0
	}
	return min(most, d.Uint64N(1<<(1+d.IntN(bits.Len64(most)))))
}

// number parses an end of a range, such as 64KiB; negative and fractional ends count as 0.
func number(text string) uint64 {
	for i, suffix := range []string{"KiB", "MiB", "GiB"} {
		if digits, ok := strings.CutSuffix(text, suffix); ok {
			return number(digits) << (10 * (i + 1))
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 0 {
		return 0
	}
	return uint64(min(n, 1<<40))
}
