package config

import (
	"fmt"
	"slices"
	"strings"

	"heddle/configs/schema"
	"heddle/internal/suggest"
	"heddle/sim/energy"
)

// Stop holds the conditions that end a run early.
type Stop struct {
	MaxEdges uint64 `key:"max_edges" default:"0" unit:"edges"`
}

// Docs describes the keys.
func (Stop) Docs() map[string]string {
	return map[string]string{
		"max_edges": "The run ends once so many edges have been handled in all super-steps (checked every 100 " +
			"cycles). Its result is marked as partial: it is not verified, and speedups compare the cycles up to " +
			"there, with other partial points only. 0: no limit.",
	}
}

// Host configures the execution on the host. It is not part of a point, since results do not depend on it.
type Host struct {
	Threads int `key:"threads" default:"0" min:"0" max:"64" unit:"processors"`

	Checkpoint float64 `key:"checkpoint" default:"10" min:"0" max:"100000" unit:"minutes"`
}

// Docs describes the keys.
func (Host) Docs() map[string]string {
	return map[string]string{
		"threads": "Host processors that simulate one point, among which its sockets are distributed. Cycles and " +
			"statistics do not depend on it. Processors beyond the number of sockets plus one are idle. 0: the " +
			"processors that concurrently running points leave, or one on machines of fewer than 16 sockets. " +
			"--threads overrides it for one run.",
		"checkpoint": "Host time between checkpoints of a point. One is written to checkpoints/ in the results " +
			"directory when a super-step begins and the last checkpoint, or the start of the point, is longer ago " +
			"than that. A point whose run was killed resumes from its last checkpoint, with the same cycles and " +
			"statistics. The checkpoint is deleted when the point ends. 0: none. --checkpoint overrides it for one " +
			"run.",
	}
}

// Report configures the presentation of results. It is not part of a point, since results do not depend on it.
type Report struct {
	Labels []string `key:"labels" default:""`

	Figures []string `key:"figures" default:""`

	Energy string `key:"energy" default:"none"`
}

// Docs describes the keys.
func (Report) Docs() map[string]string {
	return map[string]string{
		"labels": "Names of keys, values, variants and statistics in figures: a list of NAME=TEXT, where the last " +
			"part of a key is enough, such as st_entries=entries of the ST.",
		"figures": "Figures for a paper, which heddle report draws into the directory figures beside its page, and " +
			"shows first in the page: a list of flags of heddle figure, such as --value l1d.hit_rate --x st_entries " +
			"--width 3.33in --out hits.pdf. Text with blanks is quoted as in a shell.",
		"energy": "Show the energy of all points (heddle energy) below the table of heddle run, and its parts in the " +
			"page of heddle report: by a table of energies or a file of one, or by machine, the one for each machine's " +
			"memory. none: no energy.",
	}
}

// NoEnergy and EnergyByMachine are values of Report.Energy, which is empty in points.
const (
	NoEnergy        = "none"
	EnergyByMachine = "machine"
)

// Validate checks the labels and the name of a table of energies. Figures are checked by package report, which draws
// them.
func (r Report) Validate() error {
	known := append([]string{NoEnergy, EnergyByMachine}, energy.Names()...)
	if r.Energy != "" && !strings.ContainsAny(r.Energy, `/\\.`) && !slices.Contains(known, r.Energy) {
		return &schema.FieldError{Key: "energy", Msg: fmt.Sprintf("%q: expected a file, or one of %s%s", r.Energy,
			strings.Join(known, ", "), suggest.DidYouMean(r.Energy, known))}
	}
	for _, l := range r.Labels {
		if name, _, ok := strings.Cut(l, "="); !ok || name == "" {
			return &schema.FieldError{Key: "labels", Msg: fmt.Sprintf("%q: expected NAME=TEXT", l)}
		}
	}
	return nil
}

// Region is the part of a run that is counted.
type Region struct {
	From    int     `key:"from" default:"0" min:"0" max:"1000000" unit:"super-step"`
	To      int     `key:"to" default:"0" min:"0" max:"1000000" unit:"super-step"`
	Verify  bool    `key:"verify" default:"true"`
	Outside Outside `key:"outside" default:"functional" oneof:"functional,timed"`

	WarmRuns int `key:"warm_runs" default:"0" min:"0" max:"10" unit:"runs"`
}

// Docs describes the keys.
func (Region) Docs() map[string]string {
	return map[string]string{
		"from": "The first super-step whose cycles and statistics count; super-steps are numbered from 1. A run that " +
			"ends earlier fails. 0: from the beginning, including the init kernel.",
		"to": "The last super-step that counts. 0, or more than there are: to the end.",
		"verify": "true: the run continues after the region, and its result is compared with the reference. false: " +
			"it ends with the region and is marked as partial.",
		"outside": "Execution of the super-steps outside the region. functional: without timing, at a small part of the " +
			"host time; caches, open DRAM rows and the tables of graph units are warm when the region begins, and " +
			"warps proceed in the order of estimated times, so that results which depend on their order (of a " +
			"queue, of a sum of floats) can differ from those of a complete run. timed: simulated like the region, " +
			"whose cycles then equal those in a complete run.",
		"warm_runs": "Runs of the whole workload before the one that counts, on the same machine and executed as " +
			"outside says, so that caches and open DRAM rows are warm, as where a benchmark repeats its run. Such a " +
			"point has no checkpoints.",
	}
}

// Outside is the execution of super-steps outside the region.
type Outside string

// Executions outside the region: functional, or simulated in time.
const (
	Functional Outside = "functional"
	Timed      Outside = "timed"
)

// Former returns untimed for functional, which was called so before.
func (Outside) Former(name string) string {
	if name == string(Functional) {
		return "untimed"
	}
	return name
}

// Alias returns functional for untimed.
func (Outside) Alias(text string) string {
	if text == "untimed" {
		return string(Functional)
	}
	return text
}

// Whole reports whether the region is all that the machine executes.
func (r Region) Whole() bool { return r.From == 0 && r.To == 0 && r.WarmRuns == 0 }

// Validate returns an error for a region that ends before it begins, or an unverified one without an end.
func (r Region) Validate() error {
	switch {
	case r.To > 0 && r.To < r.From:
		return &schema.FieldError{Key: "to", Msg: fmt.Sprintf("%d: is before from = %d", r.To, r.From)}
	case !r.Verify && r.To == 0:
		return &schema.FieldError{Key: "verify", Msg: "false: expected to, where the run ends"}
	}
	return nil
}

// Sampling configures further statistics: the timeline, and shared stalls. It does not affect cycles.
type Sampling struct {
	Interval uint64   `key:"interval" default:"0" max:"1000000000000" unit:"cycles"`
	Keys     []string `key:"keys" default:"warp_instrs, edges, ipc, simd_efficiency, achieved_occupancy, edges_per_cycle, l1d.hit_rate, dram.bytes_per_cycle, dram.bytes, core.cycles, core.scheduler.*"`
	MaxRows  int      `key:"max_rows" default:"1000" min:"2" max:"100000" unit:"intervals"`
	Shared   bool     `key:"shared_stalls" default:"false"`
}

// Docs describes the keys.
func (Sampling) Docs() map[string]string {
	return map[string]string{
		"interval": "Length of the intervals for which statistics are stored as a timeline, in cycles of the " +
			"machine's clock (launches, without the host's overhead between them). Counts of all intervals add up " +
			"to those of the point. 0: no timeline.",
		"keys": "Statistics of the timeline, by their names in heddle stats describe, where * stands for any part of " +
			"a name. A ratio is that of the interval.",
		"max_rows": "Largest number of intervals of a point. At that number, neighbouring intervals are merged and " +
			"the interval doubles, repeatedly if need be; the run reports it.",
		"shared_stalls": "Also count stalls shared by all warps: core.shared_stalls.CAUSE has an empty issue slot in " +
			"which three warps wait for memory and one for the ALU as three quarters and one, where " +
			"core.scheduler.stall.CAUSE has it under the cause of the warp furthest along. heddle explain and the " +
			"report then show both. A point takes some 20 % longer; its cycles are the same.",
	}
}
