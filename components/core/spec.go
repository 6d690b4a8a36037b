// Package core is one SIMT core, cycle by cycle: fetch, issue, execution, the
// load-store unit with its coalescer, and the scratchpad. Stages, buffers and
// names are those of Vortex's RTL (2025-10); a buffer of the RTL is a queue
// here, and each takes a cycle.
//
// What instructions do is emu's: the core decides when. The load-store unit and
// the scratchpad are part of the component, since nothing else talks to them.
//
// This package knows no cache: it sends requests into links.
package core

import (
	"cmp"
	"fmt"
	"strings"

	"heddle/isa"
	"heddle/isa/emu"
)

// Spec holds the user-configurable parameters of a core. A value of 0, where it is allowed,
// follows from the others as in the RTL.
type Spec struct {
	Warps   int `key:"warps" default:"4" min:"1" max:"64" unit:"warps" doc:"Warps of a core. RTL: NUM_WARPS."`
	Threads int `key:"threads" default:"4" min:"1" max:"32" pow2:"true" unit:"lanes" doc:"Lanes of a warp. RTL: NUM_THREADS."`

	Schedule   Schedule `key:"schedule" doc:"Which warps are fetched for."`
	FetchWidth int      `key:"fetch_width" default:"1" min:"1" max:"8" unit:"warps" doc:"Warps that are scheduled, fetched for and decoded in a cycle. Each has a port of its own to the L1I, which needs banks to serve them. RTL: 1."`
	FetchBlock int      `key:"fetch_instructions" default:"1" min:"1" max:"16" pow2:"true" unit:"instructions"`
	FetchRoom  bool     `key:"fetch_room" default:"false" doc:"A warp is fetched for only while its instruction buffer has slots for what a fetch brings. false: one that is full blocks decode, of all warps, as in the RTL."`
	Issue      Issue    `key:"issue" doc:"Which warps issue, and how many instructions."`

	ALULanes int `key:"alu_lanes" default:"0" min:"0" max:"32" unit:"lanes"`
	FPULanes int `key:"fpu_lanes" default:"0" min:"0" max:"32" unit:"lanes" doc:"Lanes of a slice's FPU; a packet takes an entry of fpu_queue. 0: threads. RTL: NUM_FPU_LANES."`
	SFULanes int `key:"sfu_lanes" default:"0" min:"0" max:"32" unit:"lanes" doc:"Lanes of the SFU: CSRs and warp control, which acts with its last packet. Graph units take warps whole. 0: threads. RTL: NUM_SFU_LANES."`

	LSULanes int `key:"lsu_lanes" default:"0" min:"0" max:"32" unit:"lanes"`

	Collectors    int `key:"collectors" default:"0" min:"0" max:"16" unit:"collectors" doc:"Operand collectors of a slice. 0: max(1, warps/(4·slices)), as RTL's NUM_OPCS."`
	IBuffer       int `key:"ibuffer" default:"4" min:"1" max:"64" unit:"instructions" doc:"Decoded instructions a warp holds. RTL: IBUF_SIZE."`
	FPUQueue      int `key:"fpu_queue" default:"0" min:"0" max:"64" unit:"operations" doc:"Operations an FPU block holds, from execution to commit. 0: 2 · threads / fpu_lanes, as RTL's FPUQ_SIZE."`
	LSUQueue      int `key:"lsu_queue" default:"0" min:"0" max:"64" unit:"loads" doc:"Outstanding warp loads, or packets of them with lsu_lanes. 0: 2 · threads / lsu_lanes, as RTL's LSUQ_IN_SIZE."`
	CoalescerTags int `key:"coalescer_tags" default:"0" min:"0" max:"256" unit:"batches" doc:"Outstanding batches of merged requests. 0: max(lsu_queue, channel_bytes / 4), as RTL's LSUQ_OUT_SIZE."`
	ChannelBytes  int `key:"channel_bytes" default:"0" min:"0" max:"128" unit:"bytes"`

	BatchInterval int `key:"batch_interval" default:"2" min:"1" max:"2" unit:"cycles" doc:"Least time between two batches of requests of the coalescer, to the channels of the L1D. 1: a batch a cycle. RTL: 2, the states of VX_mem_coalescer."`

	Gather bool `key:"gather_answers" default:"false"`

	Forwarding int `key:"forwarding" default:"0" min:"0" max:"7" unit:"cycles"`

	IDiv Divider `key:"idiv" default:"dpi" oneof:"dpi,serial"`

	Fence Fence `key:"fence" default:"flush" oneof:"flush,wait" doc:"flush: a fence walks the caches, sets and all, as in the RTL. wait: it ends when the core has its loads and atomics back and the L1D has taken its stores, as in SimX."`

	OrderedBarrier bool `key:"ordered_barrier" default:"true"`

	DeviceBarrier DeviceBarrier `key:"device_barrier" default:"flush" oneof:"flush,signal"`

	// BarrierRegisters are the registers between a core and the barrier unit, and back. The machine sets it.
	BarrierRegisters int `key:"-"`

	KeepL1I bool `key:"keep_l1i" default:"false" doc:"The L1I keeps its lines from launch to launch, as in GPGPU-Sim. false: every launch but the first empties it (ours: the host may have loaded other code)."`

	ArgumentRegisters int `key:"argument_registers" default:"0" min:"0" max:"24" unit:"words"`

	Zba bool `key:"zba" default:"false"`

	SilentExit bool `key:"silent_exit" default:"false"`

	// Atomics is set by the machine, whose caches must agree with it.
	Atomics Atomics `key:"-"`

	Scratchpad bool `key:"scratchpad" default:"true" doc:"The core has a scratchpad. false: none, nor the registers of the switch between it and the L1D; a program that uses it fails. RTL: LMEM_DISABLE."`

	ScratchpadBroadcast bool `key:"scratchpad_broadcast" default:"false"`

	ScratchpadBytes int `key:"scratchpad_bytes" default:"16KiB" min:"4" max:"64KiB" unit:"bytes" doc:"Scratchpad of a core, a multiple of 4, for what kernels share. RTL: LMEM_LOG_SIZE 14."`

	Latency Latency `key:"latency" doc:"Cycles from execution to the commit arbiter, by class of instruction."`

	BarrierLatency int `key:"barrier_latency" default:"0" min:"0" max:"100000" unit:"cycles"`
}

// Docs has the long descriptions of keys.
func (Spec) Docs() map[string]string {
	return map[string]string{
		"fetch_instructions": "Instructions that a fetch brings: those of its aligned block from its address on, up to a " +
			"control instruction or as many as the instruction buffer has slots for. RTL: 1.",
		"alu_lanes": "Lanes of a slice's integer unit, multiplier and divider; with fewer than threads a warp " +
			"goes through in packets, one a cycle for each group of lanes with an active one, which " +
			"commit one by one. 0: threads. RTL: NUM_ALU_LANES.",
		"lsu_lanes": "Lanes of the load-store unit, and banks of the scratchpad; with fewer than threads a " +
			"warp's access goes through in packets, one a cycle for each group of lanes with an active " +
			"one, each of which takes an entry of lsu_queue; a fence is one. 0: threads. RTL: " +
			"NUM_LSU_LANES.",
		"channel_bytes": "What one request to the L1D covers: lanes of a channel are merged when they fall into one " +
			"aligned block of that size. 4: nothing is merged. 0: min(4·lsu_lanes, 64), as RTL's " +
			"LSU_LINE_SIZE.",
		"gather_answers": "The load-store unit takes the answers of all channels in a cycle, and a load's result " +
			"passes on when it is whole. false: those that belong to one batch and arrive together, each " +
			"such part of a load taking a turn at write-back. RTL: false.",
		"forwarding": "Cycles from the issue of an integer or float operation, other than a division, square " +
			"root, vote or shuffle, to the issue of an instruction that reads its result, which is " +
			"forwarded, as where a compiler sets stall counts; no less than its latency. A busy unit " +
			"delays both instructions. 0: results are read after write-back. RTL: 0.",
		"idiv": "Integer division. dpi: pipelined, as in RTL's simulation model. serial: iterative, one " +
			"division at a time in a slice, as synthesised; what comes behind a division that waits for " +
			"the divider waits too. RTL: IDIV_DPI, VX_serial_div.",
		"scratchpad_broadcast": "Lanes of a load from one word of the scratchpad are served at once, as on NVIDIA's GPUs " +
			"(CUDA C++ Programming Guide, shared memory). false: a bank serves a lane a cycle. RTL: false.",
		"ordered_barrier": "A barrier opens when the load-store unit's queue has its warps' earlier accesses, behind " +
			"which come those of the warps that it lets go: what __syncthreads promises of the scratchpad and of the " +
			"L1D. false: at once, as in the RTL, so that with several issue slices, or collectors, an access may be " +
			"overtaken by another warp's from behind the barrier, and the program go wrong. RTL: false.",
		"device_barrier": "What a barrier over several cores does to memory. flush (ours, and what kernels need): a " +
			"core arrives when all it has sent has ended and its L1D has forgotten its lines. signal: " +
			"nothing, as in the RTL; programs need a fence before it, and kernels that read behind one " +
			"what other cores have stored (workload.compiler.fusion, schedule strict) are refused on " +
			"several cores.",
		"barrier_latency": "Added to a core's arrival at a barrier over several cores. CUDA's (grid.sync) is made of " +
			"atomics and polls of a word: 1.0 µs in all on an H200, with 30 to 264 blocks " +
			"(docs/results/silicon/barrier.cu). RTL: 0.",
		"argument_registers": "Words at mscratch, which kernels' arguments begin with, that a launch writes to registers " +
			"of all lanes, in no time: word i to x31 - i. Compiled kernels use them in place of loads. " +
			"GPUs have a kernel's arguments at hand: AMD's preload some in scalar registers (LLVM, User " +
			"Guide for AMDGPU Backend, Preloaded Kernel Arguments), NVIDIA's are operands in constant " +
			"bank 0 (CUDA Binary Utilities, c[0x0][…]). RTL: 0.",
		"zba": "The core has RISC-V's shifted additions, Zba, each of which takes as long as an addition; " +
			"compiled kernels compute addresses by them. GPUs have such instructions: NVIDIA's LEA (CUDA " +
			"Binary Utilities), AMD's v_lshl_add_u32 (RDNA 3 ISA, VOP3). RTL: false.",
		"silent_exit": "A program that ends without an exit code has succeeded; compiled kernels store none. GPUs' " +
			"kernels return nothing, and a thread ends by one instruction, EXIT or s_endpgm. RTL: false.",
	}
}

// Schedule is the choice at fetch.
type Schedule struct {
	Policy Policy `key:"policy" default:"vortex"`
	Active int    `key:"active_warps" default:"8" min:"1" max:"64" unit:"warps" doc:"Active set of two-level, of the core."`
}

// Docs has the long descriptions of keys.
func (Schedule) Docs() map[string]string {
	return map[string]string{
		"policy": "vortex: the lowest ready warp. rr: round robin. gto: one warp, until it is away, then the " +
			"one started first. two-level: round robin in an active set; a warp leaves it when it is " +
			"away. Away: ended, waiting for memory or a graph unit, or held by a barrier.",
	}
}

// Issue is the choice at issue.
type Issue struct {
	Slices   int    `key:"slices" default:"0" min:"0" max:"64" unit:"slices"`
	ALUs     int    `key:"alu_blocks" default:"0" min:"0" max:"64" unit:"ALUs" doc:"Integer units, a divisor of slices: slice s uses unit s mod alu_blocks, and slices of one unit take turns in groups. 0: one a slice, as RTL's NUM_ALU_BLOCKS."`
	FPUs     int    `key:"fpu_blocks" default:"0" min:"0" max:"64" unit:"FPUs" doc:"Floating-point units, as alu_blocks. 0: one a slice, as RTL's NUM_FPU_BLOCKS."`
	Policy   Policy `key:"policy" default:"vortex"`
	Active   int    `key:"active_warps" default:"8" min:"1" max:"64" unit:"warps" doc:"Active set of two-level, of each slice."`
	Dispatch int    `key:"dispatch_per_slice" default:"1" min:"1" max:"4" unit:"instructions" doc:"Instructions a slice may issue, send to units and write back in a cycle: each of another warp, and to or from another unit's port. RTL: 1."`
}

// Docs has the long descriptions of keys.
func (Issue) Docs() map[string]string {
	return map[string]string{
		"slices": "Issue slices (schedulers); warp w belongs to slice w mod slices. 0: max(1, warps/16), as " +
			"RTL's ISSUE_WIDTH. All share an LSU and an SFU: other NUM_LSU_BLOCKS than the RTL's default " +
			"are not modelled.",
		"policy": "vortex: warps are preferred in turn; if the preferred one is not ready, the lowest. rr, " +
			"two-level: as at fetch, of the warps of a slice whose head has its registers. gto: the same " +
			"warp while it can issue, then the one started first. Of a two-level set whose warps cannot " +
			"issue, those without an instruction leave too.",
	}
}

// Latency is, by class, the cycles from execution to the commit arbiter.
type Latency struct {
	ALU       int `key:"alu" default:"2" min:"2" max:"30" unit:"cycles" doc:"Integer operations, branches; pipelined. A branch is resolved with its result. RTL: register, switch."`
	Vote      int `key:"vote" default:"0" min:"0" max:"60" unit:"cycles" doc:"Votes and shuffles; pipelined beside the integer unit. 0: in it, and as long as alu, as in the RTL."`
	Mul       int `key:"mul" default:"5" min:"2" max:"60" unit:"cycles" doc:"Multiplication. RTL: LATENCY_IMUL 4, switch."`
	Div       int `key:"div" default:"5" min:"2" max:"60" unit:"cycles" doc:"Division with idiv: dpi, pipelined beside the multiplier."`
	DivSerial int `key:"div_serial" default:"35" min:"2" max:"200" unit:"cycles" doc:"Division with idiv: serial; the divider is free for the next after a cycle less. RTL: a step a bit, load and store, switch."`
	FMA       int `key:"fma" default:"5" min:"1" max:"60" unit:"cycles" doc:"fadd, fsub, fmul, fused multiply-add. RTL: LATENCY_FMA 4, arbiter."`
	FNCP      int `key:"fncp" default:"3" min:"1" max:"60" unit:"cycles" doc:"fsgnj, fmin, fmax, compare, move, classify. RTL: LATENCY_FNCP 2, arbiter."`
	FCvt      int `key:"fcvt" default:"6" min:"1" max:"60" unit:"cycles" doc:"Conversions. RTL: LATENCY_FCVT 5, arbiter."`
	FDiv      int `key:"fdiv" default:"16" min:"1" max:"60" unit:"cycles" doc:"fdiv. RTL: LATENCY_FDIV 15, arbiter."`
	FSqrt     int `key:"fsqrt" default:"11" min:"1" max:"60" unit:"cycles" doc:"fsqrt. RTL: LATENCY_FSQRT 10, arbiter."`
	CSR       int `key:"csr" default:"3" min:"1" max:"60" unit:"cycles" doc:"CSR instructions."`
	Warp      int `key:"warp" default:"3" min:"1" max:"60" unit:"cycles" doc:"tmc, wspawn, split, join, bar, pred: their write-back; see the pipeline for when the warp goes on."`
}

// table is the latency by class; div depends on the divider.
func (l *Latency) table(d Divider) (t [isa.NumClasses]uint64) {
	div := l.Div
	if d == DividerSerial {
		div = l.DivSerial
	}
	for k, v := range map[isa.Class]int{
		isa.ClassALU: l.ALU, isa.ClassBranch: l.ALU, isa.ClassVote: cmp.Or(l.Vote, l.ALU),
		isa.ClassMul: l.Mul, isa.ClassDiv: div,
		isa.ClassFMA: l.FMA, isa.ClassFNCP: l.FNCP, isa.ClassFCvt: l.FCvt,
		isa.ClassFDiv: l.FDiv, isa.ClassFSqrt: l.FSqrt,
		isa.ClassCSR: l.CSR, isa.ClassWarp: l.Warp, isa.ClassUnit: l.Warp,
	} {
		t[k] = uint64(v)
	}
	return t
}

// Derivation describes the value for which 0 of a key stands.
type Derivation struct {
	Key, Formula string
	RTL          string // its name in the RTL's VX_config.vh; empty: ours
	field        func(*Spec) *int
	value        func(*Spec) int
}

// Derivations are the derived defaults, those that others need first.
var Derivations = []Derivation{
	{"issue.slices", "max(1, warps / 16)", "ISSUE_WIDTH", func(s *Spec) *int { return &s.Issue.Slices },
		func(s *Spec) int { return max(1, s.Warps/16) }},
	{"issue.alu_blocks", "issue.slices", "NUM_ALU_BLOCKS", func(s *Spec) *int { return &s.Issue.ALUs }, issueSlices},
	{"issue.fpu_blocks", "issue.slices", "NUM_FPU_BLOCKS", func(s *Spec) *int { return &s.Issue.FPUs }, issueSlices},
	{"collectors", "max(1, warps / (4 · issue.slices))", "NUM_OPCS", func(s *Spec) *int { return &s.Collectors },
		func(s *Spec) int { return max(1, s.Warps/(4*s.Issue.Slices)) }},
	{"alu_lanes", "threads", "NUM_ALU_LANES", func(s *Spec) *int { return &s.ALULanes }, threads},
	{"fpu_lanes", "threads", "NUM_FPU_LANES", func(s *Spec) *int { return &s.FPULanes }, threads},
	{"sfu_lanes", "threads", "NUM_SFU_LANES", func(s *Spec) *int { return &s.SFULanes }, threads},
	{"lsu_lanes", "threads", "NUM_LSU_LANES", func(s *Spec) *int { return &s.LSULanes }, threads},
	{"channel_bytes", "min(4 · lsu_lanes, 64)", "LSU_LINE_SIZE", func(s *Spec) *int { return &s.ChannelBytes },
		func(s *Spec) int { return min(4*s.LSULanes, 64) }},
	{"fpu_queue", "2 · threads / fpu_lanes", "FPUQ_SIZE", func(s *Spec) *int { return &s.FPUQueue },
		func(s *Spec) int { return 2 * s.Threads / max(1, s.FPULanes) }},
	{"lsu_queue", "2 · threads / lsu_lanes", "LSUQ_IN_SIZE", func(s *Spec) *int { return &s.LSUQueue },
		func(s *Spec) int { return 2 * s.Threads / max(1, s.LSULanes) }},
	{"coalescer_tags", "max(lsu_queue, channel_bytes / 4)", "LSUQ_OUT_SIZE",
		func(s *Spec) *int { return &s.CoalescerTags },
		func(s *Spec) int { return max(s.LSUQueue, s.ChannelBytes/4) }},
}

func threads(s *Spec) int     { return s.Threads }
func issueSlices(s *Spec) int { return s.Issue.Slices }

// Derived returns the spec with every 0 replaced by the value that it stands for.
func (s Spec) Derived() Spec {
	for i := range Derivations {
		if d := &Derivations[i]; *d.field(&s) == 0 {
			*d.field(&s) = d.value(&s)
		}
	}
	return s
}

// StandsFor returns the value for which 0 of a key stands and its formula; empty: 0 itself.
func (s Spec) StandsFor(key string) string {
	full := s.Derived()
	for i := range Derivations {
		if d := &Derivations[i]; d.Key == key && *d.field(&s) == 0 {
			return fmt.Sprintf("%d = %s, RTL's %s", *d.field(&full), d.Formula, d.RTL)
		}
	}
	return ""
}

// narrow returns the lanes of the units that take a warp in packets, or that are fewer than slices, else 0: those have
// a register before and one behind them (RTL: PARTIAL_BW).
func (s *Spec) narrow() (lanes [isa.NumUnits]int) {
	for u, n := range map[isa.Unit]int{
		isa.ALU: s.ALULanes, isa.FPU: s.FPULanes, isa.SFU: s.SFULanes, isa.LSU: s.LSULanes,
	} {
		if n < s.Threads || s.blocks()[u] != 0 {
			lanes[u] = n
		}
	}
	return lanes
}

// blocks returns the number of units of each kind that slices share in turns, and 0 where each slice has its own.
func (s *Spec) blocks() (n [isa.NumUnits]int) {
	if s.Issue.ALUs < s.Issue.Slices {
		n[isa.ALU] = s.Issue.ALUs
	}
	if s.Issue.FPUs < s.Issue.Slices {
		n[isa.FPU] = s.Issue.FPUs
	}
	return n
}

// Validate checks the spec.
func (s Spec) Validate() error {
	s = s.Derived()
	for _, c := range []struct {
		name      string
		v, lo, hi int
	}{
		{"warps", s.Warps, 1, 64}, {"threads", s.Threads, 1, 32}, {"issue.slices", s.Issue.Slices, 1, s.Warps},
		{"issue.alu_blocks", s.Issue.ALUs, 1, s.Issue.Slices}, {"issue.fpu_blocks", s.Issue.FPUs, 1, s.Issue.Slices},
		{"schedule.policy", int(s.Schedule.Policy), 0, len(policies) - 1},
		{"schedule.active_warps", s.Schedule.Active, 1, 64},
		{"issue.policy", int(s.Issue.Policy), 0, len(policies) - 1}, {"issue.active_warps", s.Issue.Active, 1, 64},
		{"issue.dispatch_per_slice", s.Issue.Dispatch, 1, maxDispatch}, {"fetch_width", s.FetchWidth, 1, 8},
		{"fetch_instructions", s.FetchBlock, 1, 16},
		{"idiv", int(s.IDiv), 0, len(dividerNames.List()) - 1}, {"fence", int(s.Fence), 0, len(fenceNames.List()) - 1},
		{"device_barrier", int(s.DeviceBarrier), 0, len(barrierNames.List()) - 1},
		{"alu_lanes", s.ALULanes, 1, s.Threads}, {"fpu_lanes", s.FPULanes, 1, s.Threads},
		{"sfu_lanes", s.SFULanes, 1, s.Threads}, {"lsu_lanes", s.LSULanes, 1, s.Threads},
		{"collectors", s.Collectors, 1, 16}, {"ibuffer", s.IBuffer, 1, 64}, {"fpu queue", s.FPUQueue, 1, 64},
		{"lsu queue", s.LSUQueue, 1, 64}, {"coalescer tags", s.CoalescerTags, 1, 256},
		{"channel bytes", s.ChannelBytes, 4, 128}, {"latency.alu", s.Latency.ALU, 0, maxALULatency},
		{"latency.vote", s.Latency.Vote, 0, 60},
		{"batch_interval", s.BatchInterval, 1, 2},
		{"forwarding", s.Forwarding, 0, maxForwarding},
		{"scratchpad_bytes", s.ScratchpadBytes, 0, emu.MaxScratchpadBytes},
		{"barrier_latency", s.BarrierLatency, 0, maxBarrierLatency},
	} {
		if c.v < c.lo || c.v > c.hi {
			return fmt.Errorf("core %s = %d: expected %d..%d", c.name, c.v, c.lo, c.hi)
		}
	}
	for u, n := range s.narrow() {
		if n != 0 && s.Threads%n != 0 {
			return fmt.Errorf("core %s_lanes = %d: expected a divisor of %d threads",
				strings.ToLower(isa.Unit(u).String()), n, s.Threads)
		}
	}
	if s.Warps%s.Issue.Slices != 0 {
		return fmt.Errorf("core issue.slices = %d: expected a divisor of %d warps", s.Issue.Slices, s.Warps)
	}
	if s.Issue.Slices%s.Issue.ALUs != 0 {
		return fmt.Errorf("core issue.alu_blocks = %d: expected a divisor of %d slices", s.Issue.ALUs, s.Issue.Slices)
	}
	if s.Issue.Slices%s.Issue.FPUs != 0 {
		return fmt.Errorf("core issue.fpu_blocks = %d: expected a divisor of %d slices", s.Issue.FPUs, s.Issue.Slices)
	}
	if s.ScratchpadBytes%4 != 0 {
		return fmt.Errorf("core scratchpad_bytes = %d: expected a multiple of 4", s.ScratchpadBytes)
	}
	if s.FetchBlock&(s.FetchBlock-1) != 0 {
		return fmt.Errorf("core fetch_instructions = %d: expected a power of two", s.FetchBlock)
	}
	if s.ChannelBytes&(s.ChannelBytes-1) != 0 {
		return fmt.Errorf("core channel bytes = %d: expected a power of two", s.ChannelBytes)
	}
	return nil
}

// maxDispatch is the maximum of issue.dispatch_per_slice.
const maxDispatch = 4

// Fixed parts of the RTL's pipeline, in cycles.
const (
	commitToRelease = 2  // commit arbiter → write-back → the scoreboard sees it
	executeToUnlock = 2  // execution of control → the warp can be scheduled
	csrToUnlock     = 1  // execution of a float CSR instruction → the warp can be scheduled
	switchToUnlock  = 2  // a branch passes the switch behind the ALU → the warp can be scheduled
	spawnDelay      = 1  // more for warps that wspawn starts
	bigArbiter      = 12 // arbiters with more inputs have two levels, a cycle more
)
