package config

import (
	"fmt"
	"strings"

	"heddle/configs/schema"
)

// Stop ends a run before it is done.
type Stop struct {
	MaxEdges uint64 `key:"max_edges" default:"0" unit:"edges" doc:"The run ends once that many edges have been handled, in all super-steps (looked at every 100 cycles). What it came to is marked as partial: nothing is verified, and speedups compare cycles up to there, with other partial points only. 0: it ends when it is done."`
}

// Host is how an experiment is run on the host. It is no part of a point: results are the same.
type Host struct {
	Threads int `key:"threads" default:"0" min:"0" max:"64" unit:"processors" doc:"Host processors that simulate one point: its sockets are dealt out to them. Cycles and statistics are the same for any number. With more than there are sockets and one, the others have nothing to do. 0: what processors the points that run at the same time leave; one, on machines of fewer than 16 sockets. --threads says it for one run."`

	Checkpoint float64 `key:"checkpoint" default:"10" min:"0" max:"100000" unit:"minutes" doc:"Host time between checkpoints of a point. One is written at the beginning of a super-step, when the last one, or the point's beginning, is longer ago than that, into checkpoints/ beside the results; a point whose run was killed goes on from its last one, and comes to the same cycles and statistics. It is removed when the point ends. 0: none. --checkpoint says it for one run."`
}

// Report is how results are shown. It is no part of a point: results are the same.
type Report struct {
	Labels []string `key:"labels" default:"" doc:"What keys, values, variants and statistics are called in figures: a list of NAME=TEXT, where a key may be its last part, such as st_entries=entries of the ST."`

	Figures []string `key:"figures" default:"" doc:"Figures for a paper, which heddle report draws into the directory figures beside its page, and shows in the page first: a list, each the flags of heddle figure, such as --value l1d.hit_rate --x st_entries --width 3.33in --out hits.pdf. Text with blanks is quoted as in a shell."`
}

// Validate checks the labels; the figures are checked by who draws them.
func (r Report) Validate() error {
	for _, l := range r.Labels {
		if name, _, ok := strings.Cut(l, "="); !ok || name == "" {
			return &schema.FieldError{Key: "labels", Msg: fmt.Sprintf("%q: expected NAME=TEXT", l)}
		}
	}
	return nil
}

// Region is the part of a run that is counted.
type Region struct {
	From    int     `key:"from" default:"0" min:"0" max:"1000000" unit:"super-step" doc:"The first super-step whose cycles and statistics count; super-steps are numbered from 1. A run that ends before it fails. 0: all from the beginning, with what comes before the first super-step: the init kernel."`
	To      int     `key:"to" default:"0" min:"0" max:"1000000" unit:"super-step" doc:"The last one that counts. 0, or more than there are: to the end."`
	Verify  bool    `key:"verify" default:"true" doc:"The run goes on behind the region to its end, and its result is compared with the reference. false: it ends with the region and is marked as partial."`
	Outside Outside `key:"outside" default:"untimed" oneof:"untimed,timed" doc:"How the super-steps outside the region are run. untimed: executed without time, which takes a small part of the host's; caches, open rows of the DRAM and the tables of graph units are then warm, and warps go on in the order of an estimate of time, so that what depends on their order (a queue's, a float sum's) can differ from a whole run's. timed: simulated in the same way as the region, whose cycles are then those of a whole run."`
}

// Outside is how super-steps outside a region are run.
type Outside string

// They are executed without time, or simulated.
const (
	Untimed Outside = "untimed"
	Timed   Outside = "timed"
)

// Whole reports whether all of a run counts.
func (r Region) Whole() bool { return r.From == 0 && r.To == 0 }

// Validate refuses a region with its end before its beginning.
func (r Region) Validate() error {
	switch {
	case r.To > 0 && r.To < r.From:
		return &schema.FieldError{Key: "to", Msg: fmt.Sprintf("%d: is before from = %d", r.To, r.From)}
	case !r.Verify && r.To == 0:
		return &schema.FieldError{Key: "verify", Msg: "false: expected to, where the run ends"}
	}
	return nil
}

// Sampling asks for the statistics of every interval of a run. It changes no cycles.
type Sampling struct {
	Interval uint64   `key:"interval" default:"0" max:"1000000000000" unit:"cycles" doc:"Statistics are also stored for every so many cycles of the machine's clock (the launches, without the host's overhead between them), as a timeline. Counts of all intervals add up to the point's. 0: they are not."`
	Keys     []string `key:"keys" default:"warp_instrs, edges, ipc, simd_efficiency, achieved_occupancy, edges_per_cycle, l1d.hit_rate, dram.bytes_per_cycle, dram.bytes, core.cycles, core.scheduler.*" doc:"Which: names as heddle stats describe lists them; * stands for any part of one. A ratio is that of the interval."`
	MaxRows  int      `key:"max_rows" default:"1000" min:"2" max:"100000" unit:"intervals" doc:"Of a point that would have as many, neighbours are put together and the interval doubles, as often as it takes; the run says so."`
}
