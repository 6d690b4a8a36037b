package core

import (
	"math/bits"

	"heddle/isa"
)

// Dump is the pipeline's state, for display.
type Dump struct {
	Warps    []WarpDump   `json:"warps"`
	Sync     string       `json:"sync"` // progress of L1 invalidation
	Accesses []AccessDump `json:"accesses"`
	Loads    int          `json:"loads"`   // warp loads outstanding in the load-store unit
	Batches  int          `json:"batches"` // batches of the coalescer without an answer
	Fence    bool         `json:"fence"`
}

// WarpDump is the pipeline's view of a warp.
type WarpDump struct {
	Warp       int        `json:"warp"`
	State      string     `json:"state"` // the statistic's name for the state; empty: not active
	FetchPC    uint32     `json:"fetch_pc"`
	Stalled    bool       `json:"stalled"` // not fetched for
	IBuffer    []string   `json:"ibuffer"`
	Staged     string     `json:"staged"` // the instruction at the scoreboard
	Scoreboard []HeldDump `json:"scoreboard"`
	InFlight   int        `json:"in_flight"`
}

// HeldDump is a register with an outstanding write.
type HeldDump struct {
	Reg string `json:"reg"`
	By  string `json:"by"`
}

// AccessDump is a memory access between dispatch and its last answer.
type AccessDump struct {
	Warp  int      `json:"warp"`
	PC    uint32   `json:"pc"`
	Inst  string   `json:"inst"`
	Lanes uint32   `json:"lanes"`
	Addrs []uint32 `json:"addrs"` // of the lanes in Lanes
}

var hazardNames = [numHazards]string{"memory", "scratchpad", "alu", "fpu", "sfu", "unit"}

// Dump returns the pipeline's state.
func (c *Core) Dump() Dump {
	d := Dump{Sync: syncNames[c.sync.state], Loads: c.lsu.loads,
		Batches: len(c.lsu.coalescer.tags) - len(c.lsu.coalescer.free), Fence: c.lsu.fence, Accesses: c.dumpAccesses()}
	for i := range c.warps {
		d.Warps = append(d.Warps, c.dumpWarp(i))
	}
	return d
}

func (c *Core) dumpWarp(i int) WarpDump {
	w := &c.warps[i]
	d := WarpDump{Warp: i, State: c.WarpState(i), FetchPC: w.fetchPC, Stalled: c.stalled>>i&1 != 0, InFlight: w.pending}
	for k := range w.ibuffer.Len() {
		d.IBuffer = append(d.IBuffer, (*w.ibuffer.At(k)).Name)
	}
	if w.issueHead != nil {
		d.Staged = w.issueHead.Name
	}
	for by, set := range w.board.busy {
		for ; set != 0; set &= set - 1 {
			d.Scoreboard = append(d.Scoreboard, HeldDump{isa.Reg(bits.TrailingZeros64(set)).String(), hazardNames[by]})
		}
	}
	return d
}

func (c *Core) dumpAccesses() (all []AccessDump) {
	free := make([]bool, len(c.lsu.accesses))
	for _, i := range c.lsu.free {
		free[i] = true
	}
	for i := range c.lsu.accesses {
		if free[i] {
			continue
		}
		a := &c.lsu.accesses[i]
		_, warp, pc := a.Where()
		d := AccessDump{Warp: warp, PC: pc, Inst: a.Op().Text(pc), Lanes: a.Mask}
		for m := a.Mask; m != 0; m &= m - 1 {
			d.Addrs = append(d.Addrs, a.Addr[bits.TrailingZeros32(m)])
		}
		all = append(all, d)
	}
	return all
}
