package compose

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"heddle/graph"
	"heddle/isa"
	"heddle/isa/asm"
	"heddle/isa/emu"
	"heddle/kernels/codegen"
	"heddle/kernels/direction"
	"heddle/kernels/host"
	"heddle/kernels/ir"
)

// driver is the host's part of a run as a RISC-V program: all warps go from kernel to kernel with device-wide barriers
// between them, while lane 0 of warp 0 on core 0 ("the lane" below) exchanges the active set, decides the next step,
// and writes the parameters that change.
//
// Argument blocks. Each call of a kernel has a block for every state of the arrays whose roles rotate with an active
// set (see bank). The word at -4 of a block is the return site of the call.
//
// Registers. Kernels preserve nothing; mscratch holds the address of the argument block when a kernel is entered.
// Between a call of singleLane and dispatch, only the lane runs, with
//
//	s0      address of the control words
//	s1      loadAdded: number of vertices that were added; goingBack: depth; after decided: the next step
//	s2, s3  loadAdded: end of the stack now and at the last exchange
//	s4      address of the argument blocks of the bank's next state (the next word at its base)
//	s5      super-steps done, if they are counted
//	s6      whether the last super-step changed no more than the tolerance, if the plan has a residual
//	t0–t6, ft0, ft1  scratch: any helper may change them
//
// Labels. superstep, sift, back and take begin the kernels that dispatch can choose; exchange, refill, over and deeper
// are steps of the lane; decided joins all lanes again, and advanced is where the other warps wait meanwhile. 1 is
// local.
type driver struct {
	*run
	shape    host.Shape
	begins   uint32 // address; the kernels follow
	bytes    int    // largest size
	members  []member
	programs map[*ir.Kernel]*codegen.Compiled
	body     body              // all super-steps of a run, or the loop of a program
	earlier  map[string]uint32 // addresses of its arrays from an earlier launch of the loop
	text     strings.Builder
	labels   int // numbered so far

	calls   []*call
	*bank           // the one whose set's exchange is being written
	banks   []*bank // a hybrid with two sets has two
	control uint32  // address of the control words
	ends    uint32  // address of the ends of the super-steps' vertices on the stack, for the way back

	barrierID int  // a barrier of a core at which no thread block waits
	limit     int  // largest number of super-steps; 0: no limit
	endless   bool // exceeding limit is a failure
	exported  bool // the program runs without a host, on a machine whose caches are coherent at fences only
	verdict   verdict
}

// bank holds the argument blocks of the kernels that name arrays of an active set, in all states of those arrays, or of
// kernels that name none. The control word at base holds the address of the current state's blocks.
type bank struct {
	of         *run                // whose active set it is
	phases     int                 // number of states
	stride     uint32              // bytes of the argument blocks of a state
	blocks     uint32              // address of the argument blocks
	changes    map[string][]uint32 // offsets of each changing parameter in the blocks of a state
	base, step int                 // control words: the current state's blocks, and the parameter step
}

// use makes a bank the one whose set is exchanged.
func (d *driver) use(b *bank) { d.bank, d.run = b, b.of }

// body is the part of a driver between entry and dispatch: wholeRun or a *FusedLoop.
type body interface {
	title(d *driver) string
	array(name string) string      // name in the image of an array of the driver's
	changes(parameter string) bool // reports whether the body writes a parameter beyond those in changing
	emit(d *driver)                // writes the kernels of a super-step, and the lane's decision about the next one
	refill(d *driver)              // writes the search for more vertices, after none was added to the active set
	takes() bool                   // reports whether the lane takes buckets out of a queue
	counts() bool                  // reports whether the number of super-steps is known in advance
	controls() int                 // bytes of control words
	control(words []uint32)        // sets control words of its own
	// copies tells the parameters of a kernel that the lane copies from another bank, of which exports makes blocks;
	// nil: none.
	copies(k *ir.Kernel) func(parameter string) bool
	exports(d *driver)
	enters(d *driver) // writes the jumps to parts of its own
}

// wholeRun is the body of a driver that runs an algorithm from the init kernel to the way back.
type wholeRun struct{}

// member is a kernel that the driver runs. The order of members is that of the jumps at the beginning of the driver.
type member struct {
	run    *run // the source of its arguments
	kernel *ir.Kernel
	bank   int // of its arguments
}

// call is a launch of a kernel by the driver.
type call struct {
	member
	number int    // number of the launch, if the schedule has several for a gather
	index  int    // index of the member
	at     uint32 // offset of its argument block
	bank   *bank
}

// name returns the name of the part of the program that ends after the call.
func (c *call) name() string { return fmt.Sprintf("k%d.%d", c.index, c.number) }

// loopPart is the name of the parts in which the lane takes the host's place.
const loopPart = KernelLoop

// Byte offsets of the control words.
const (
	baseWord      = 4 * iota // address of the argument blocks of the current state
	nextWord                 // the next part: toSuperStep and so on
	stepsWord                // super-steps done
	stepWord                 // the parameter step
	topWord                  // top of the stack at the last exchange of the active set
	endWord                  // address at which the next end is stored
	depthWord                // super-step of the way back
	roundWord                // parameter round
	leftWord                 // number of vertices that have not been active yet
	thresholdWord            // near-far's threshold
	periodWord
	pileWord  // address of the pile that takes vertices
	otherWord // address of the other pile
	controlWords
)

// Values of nextWord. goOn and dispatch rely on toSuperStep being 0.
const (
	toSuperStep = iota
	toEnd
	toSift
	toBack
	unfinished // the end, after too many super-steps
	toTake
	toFirstSide // of a hybrid in a loop
	toSecondSide
)

// layOut allocates and writes the driver's arrays. The first active set must have been made.
func (d *driver) layOut() (err error) {
	r := d.run
	if d.banks == nil {
		d.banks = []*bank{{of: r, base: baseWord, step: stepWord}}
	}
	d.use(d.banks[0])
	d.listCalls()
	d.body.exports(d)
	for _, b := range d.banks {
		if err := d.layBlocks(b); err != nil {
			return err
		}
	}
	control := make([]uint32, max(controlWords, d.body.controls())/4)
	for _, b := range d.banks {
		control[b.base/4], control[b.step/4] = b.blocks, uint32(b.of.exchanges+1)
	}
	d.body.control(control)
	if r.kernels.Back != nil {
		if err := d.layEnds(control); err != nil {
			return err
		}
	}
	control[roundWord/4], control[leftWord/4] = r.round, uint32(r.unvisited)
	if r.waiting != nil {
		control[thresholdWord/4], control[periodWord/4] = r.waiting.Words()["far.threshold"],
			r.waiting.Words()["far.period"]
		control[pileWord/4], control[otherWord/4] = r.waiting.Places()["far.next"], r.waiting.Places()["far.queue"]
	}
	d.control, err = d.allocate("driver.control", control)
	return err
}

// allocate allocates an array, unless an earlier launch of the loop has, and writes it.
func (d *driver) allocate(name string, words []uint32) (uint32, error) {
	if at, placed := d.earlier[name]; placed {
		d.WriteWords(at, words)
		return at, nil
	}
	a, err := d.image.Place(d.body.array(name), words)
	d.WriteWords(a.Addr, words)
	if d.earlier != nil {
		d.earlier[name] = a.Addr
	}
	d.Layout = append(d.Layout, graph.Region{Name: a.Name, Addr: a.Addr, Size: a.Bytes()})
	return a.Addr, err
}

// runs returns the runs whose kernels it calls.
func (d *driver) runs() (list []*run) {
	for _, m := range d.members {
		if !slices.Contains(list, m.run) {
			list = append(list, m.run)
		}
	}
	return list
}

// listCalls lists the calls of all members.
func (d *driver) listCalls() {
	for i, m := range d.members {
		times := 1
		if ks := &m.run.kernels; m.kernel == ks.Back || slices.Contains(ks.Gather[:], m.kernel) {
			times = max(1, len(m.run.Plan.Schedule.Launches))
		}
		for n := range times {
			d.calls = append(d.calls, &call{member: m, number: n, index: i, bank: d.banks[m.bank]})
		}
	}
}

// callsOf returns the calls of a kernel.
func (d *driver) callsOf(k *ir.Kernel) (list []*call) {
	for _, c := range d.calls {
		if c.kernel == k {
			list = append(list, c)
		}
	}
	return list
}

// changing lists the parameters that the driver writes between kernels. All others are constant, or follow from the
// state of the arrays.
var changing = []string{
	"step", "active.size", "stack.first", "stack.size", "round", "depth", "far.threshold", "far.before", "far.size",
	"far.period", "far.next", "far.queue",
}

// layBlocks writes a bank's argument blocks for all states as the host would before each launch, with room for the
// return site before each block.
func (d *driver) layBlocks(b *bank) (err error) {
	r := b.of
	b.phases, b.changes = 1, map[string][]uint32{}
	for _, a := range r.set.Arrays() {
		b.phases = lcm(b.phases, len(a.Roles))
	}
	for _, c := range d.calls {
		if c.bank != b {
			continue
		}
		c.at = b.stride + 4
		for i, p := range c.kernel.Params {
			if slices.Contains(changing, p.Name) || d.body.changes(p.Name) {
				b.changes[p.Name] = append(b.changes[p.Name], c.at+uint32(4*i))
			}
		}
		b.stride += uint32(4 * (1 + len(c.kernel.Params)))
	}
	var words []uint32
	first := r.exchanges
	for ; r.exchanges < first+b.phases; r.exchanges++ {
		for _, c := range d.calls {
			if c.bank != b {
				continue
			}
			c.run.launchNumber = uint32(c.number)
			words = append(append(words, 0), c.run.blockBut(c.kernel, d.body.copies(c.kernel))...)
			c.run.launchNumber = 0
		}
	}
	r.exchanges = first
	name := "driver.arguments"
	if b != d.banks[0] {
		name += "'"
	}
	b.blocks, err = d.allocate(name, words)
	return err
}

// layEnds allocates the ends of the super-steps' vertices on the stack, which holds those of the first super-step.
func (d *driver) layEnds(control []uint32) (err error) {
	words := make([]uint32, d.problem.Graph.Vertices()+2)
	words[0] = uint32(len(d.start()))
	d.ends, err = d.allocate("driver.ends", words)
	control[topWord/4], control[endWord/4] = words[0], d.ends
	return err
}

func lcm(a, b int) int {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x * b
}

// label returns a number for labels.
func (d *driver) label() int { d.labels++; return d.labels }

func (d *driver) line(format string, args ...any) { fmt.Fprintf(&d.text, format+"\n", args...) }

// assemble writes the text of the driver and assembles it. The first instructions are jumps at fixed addresses, to
// which the kernels return.
func (d *driver) assemble() (*isa.Program, error) {
	d.line(".text\n.globl _start\n_start:\n j main")
	for i := range d.members {
		d.line(" j returned%d", i)
	}
	d.enter()
	d.body.emit(d)
	d.dispatch()
	p, err := asm.Assemble("the driver of "+d.body.title(d), []byte(d.text.String()), asm.Options{Base: d.begins})
	if err == nil {
		d.writeSites(p)
	}
	return p, err
}

func (wholeRun) title(d *driver) string   { return d.Plan.Name() }
func (wholeRun) array(name string) string { return name }
func (wholeRun) changes(string) bool      { return false }
func (wholeRun) takes() bool              { return false }
func (wholeRun) counts() bool             { return false }
func (wholeRun) controls() int            { return controlWords }
func (wholeRun) control([]uint32)         {}
func (wholeRun) exports(*driver)          {}
func (wholeRun) enters(*driver)           {}

func (wholeRun) copies(*ir.Kernel) func(string) bool { return nil }

func (wholeRun) emit(d *driver) {
	ks := &d.kernels
	d.runKernel(ks.Init)
	if d.beginsWithRound() {
		d.singleLane("advanced")
		d.line(" li s0, 0x%x\n lw s4, %d(s0)\n j refill", d.control, baseWord)
	}
	d.line("superstep:")
	d.pass(ks.Topology[d.direction()], ks.Lists[d.direction()], ks.Gather[d.direction()])
	if ks.Apply != nil {
		d.runKernel(ks.Apply)
	}
	d.singleLane("advanced")
	d.advance()
	d.sifting()
	d.goingBack()
}

// direction returns the direction of all super-steps: fused runs never change it.
func (d *driver) direction() direction.Direction { return d.Plan.Direction.Uses[0] }

// beginsWithRound reports whether no vertex is active before the first round.
func (d *driver) beginsWithRound() bool {
	return d.kernels.Seed != nil && !d.Plan.Algorithm.CountsFirst
}

// enter activates all warps and lanes. An exported program ends if the machine has another shape than the kernels.
func (d *driver) enter() {
	d.line("main:\n %s\n la t1, all\n wspawn t0, t1\nall:\n li t0, -1\n tmc t0", d.warpsTo("t0"))
	if !d.exported {
		return
	}
	d.line(" li a0, %d", ExitShape)
	for _, c := range []struct {
		csr  string
		want int
	}{{"vx_num_cores", d.shape.Cores}, {"vx_num_warps", d.shape.Warps}, {"vx_num_threads", d.shape.Threads}} {
		d.line(" csrr t0, %s\n li t1, %d\n beq t0, t1, 1f\n j report\n1:", c.csr, c.want)
	}
}

// warpsTo returns an instruction that loads the number of a core's warps that run the program into a register.
func (d *driver) warpsTo(register string) string {
	if n := d.Plan.Warps; n > 0 {
		return fmt.Sprintf("li %s, %d", register, n)
	}
	return "csrr " + register + ", vx_num_warps"
}

// pass runs the kernels of a traversal of edges in order: the layout's and the schedule's own, if any, and the gather.
func (d *driver) pass(list ...*ir.Kernel) {
	for _, k := range list {
		if k != nil {
			d.runKernel(k)
		}
	}
}

// runKernel writes the launches of a kernel on all warps, each followed by a barrier. A kernel that is launched several
// times has one return address, from which the word before the argument block leads to the site of the call.
func (d *driver) runKernel(k *ir.Kernel) {
	calls := d.callsOf(k)
	for _, c := range calls {
		d.line(" li t0, 0x%x\n lw t0, %d(t0)\n addi t0, t0, %d\n csrrw x0, mscratch, t0", d.control, c.bank.base, c.at)
		d.line(" li t1, 0x%x\n jr t1", d.programs[k].Program.Entry)
		if len(calls) == 1 {
			d.line("returned%d:", c.index)
		}
		d.line("site%d_%d:\n li t0, -1\n tmc t0", c.index, c.number)
		d.barrier(c.name())
	}
	if len(calls) > 1 {
		d.line(" j behind%d\nreturned%d:\n csrr t0, mscratch\n lw t0, -4(t0)\n jr t0\nbehind%d:", calls[0].index,
			calls[0].index, calls[0].index)
	}
}

// writeSites stores the return site before each argument block.
func (d *driver) writeSites(p *isa.Program) {
	for _, c := range d.calls {
		site, _ := p.Symbol(fmt.Sprintf("site%d_%d", c.index, c.number))
		for phase := range uint32(c.bank.phases) {
			d.WriteWords(c.bank.blocks+phase*c.bank.stride+c.at-4, []uint32{site})
		}
	}
}

// barrier waits for all warps of the device, makes all of their writes visible, and ends a part. A device-wide barrier
// has that effect by itself. A single core synchronises, executes a fence, and synchronises again. Barriers of Vortex
// do not affect memory, so an exported program has each core execute a fence, which also invalidates its cache.
func (d *driver) barrier(part string) {
	alone := d.shape.Cores == 1
	if (alone || d.exported) && (part != loopPart || d.exported) {
		d.line(" %s\n li t0, %d\n bar t0, t1\n csrr t0, vx_wid\n bnez t0, 1f\n fence\n1:", d.warpsTo("t1"), d.barrierID)
	}
	switch {
	case alone && part != loopPart &&
		!d.exported: // the load waits for the fence, which a warp does not, and the barrier for the load
		d.line(" li t0, 0x%x\n lw t0, 0(t0)\n and t0, t0, zero\n addi t0, t0, %d\n %s", d.control, d.barrierID,
			d.warpsTo("t1"))
	case alone:
		d.line(" %s\n li t0, %d", d.warpsTo("t1"), d.barrierID)
	default:
		d.line(" csrr t1, vx_num_cores\n li t0, 0x80000000")
	}
	d.line("%s%s:\n bar t0, t1", emu.PartPrefix, part)
}

// singleLane leaves a single lane of the device running; all other warps jump to others.
func (d *driver) singleLane(others string) {
	d.line(" csrr t0, vx_cid\n csrr t1, vx_wid\n or t0, t0, t1\n beqz t0, 1f\n j %s\n1:\n li t0, 1\n tmc t0", others)
}

// advance writes the host's work between super-steps, which ends with the decision in nextWord.
func (d *driver) advance() {
	a := d.Plan.Algorithm
	d.line(" li s0, 0x%x\n lw s4, %d(s0)", d.control, baseWord)
	if a.Dense || d.limit > 0 || a.Back != nil {
		d.line(" lw s5, %d(s0)\n addi s5, s5, 1\n sw s5, %d(s0)", stepsWord, stepsWord)
	}
	if d.Plan.Residual {
		d.line(" li t0, 0x%x\n flw ft0, 0(t0)\n sw zero, 0(t0)\n li t1, 0x%x\n fmv.w.x ft1, t1\n fle.s s6, ft0, ft1",
			d.addresses["residual"], math.Float32bits(floatNotAbove(d.workload.Tolerance)))
	}
	if a.Dense {
		d.dense()
		return
	}
	d.exchange()
}

// settledEnds ends the run if the last super-step has changed no more than the tolerance.
func (d *driver) settledEnds() {
	if d.Plan.Residual {
		d.line(" beqz s6, 1f\n j over\n1:")
	}
}

// dense decides for algorithms in which all vertices are active: the run ends after limit super-steps, or when ranks
// have converged.
func (d *driver) dense() {
	d.settledEnds()
	if d.limit > 0 {
		d.line(" li t0, %d\n bne s5, t0, 1f\n j over\n1:", d.limit)
	}
	d.decide(toSuperStep)
	d.line("over:")
	d.decide(toEnd)
}

// floatNotAbove returns the largest float32 that is at most x, so that comparing a float32 with either has the same
// result.
func floatNotAbove(x float64) float32 {
	f := float32(x)
	if float64(f) > x {
		f = math.Nextafter32(f, float32(math.Inf(-1)))
	}
	return f
}

// decide stores the next step, and ends the lane's part.
func (d *driver) decide(next int) {
	if next == toSuperStep || next == toBack {
		d.zeroArrays()
	}
	if next == 0 {
		d.line(" sw zero, %d(s0)\n j decided", nextWord)
		return
	}
	d.line(" li t0, %d\n sw t0, %d(s0)\n j decided", next, nextWord)
}

// zeroArrays zeroes the arrays of schedules that must be zero when a gather begins, and the numbers of listed rows.
func (d *driver) zeroArrays() {
	for _, r := range d.runs() {
		d.zeroArraysOf(r)
	}
}

func (d *driver) zeroArraysOf(r *run) {
	if at, ok := r.addresses[rowsSize]; ok {
		d.line(" li t0, 0x%x\n sw zero, 0(t0)", at)
	}
	for _, name := range slices.Sorted(maps.Keys(r.addresses)) {
		a, at := r.Plan.Schedule.Array(name), r.addresses[name]
		n := 0
		if a != nil && a.Zero {
			n = a.Words(r.maxWalk, d.shape.Cores*d.shape.Warps)
		}
		switch {
		case n == 0:
		case n <= 16:
			d.line(" li t0, 0x%x", at)
			for i := range n {
				d.line(" sw zero, %d(t0)", 4*i)
			}
		default:
			d.line(" li t0, 0x%x\n li t1, 0x%x\n1:\n sw zero, 0(t0)\n addi t0, t0, 4\n bne t0, t1, 1b", at,
				at+uint32(4*n))
		}
	}
}

// set stores a register as a parameter in the blocks of the next state (s4).
func (d *driver) set(name, register string) {
	for _, at := range d.changes[name] {
		d.line(" sw %s, %d(s4)", register, at)
	}
}

// farthest is the largest offset of a store.
const farthest = 2047

// setAlways stores a register as a parameter in the blocks of all states.
func (d *driver) setAlways(name, register string) {
	for _, b := range d.banks {
		d.setIn(b, name, register)
	}
}

func (d *driver) setIn(b *bank, name, register string) {
	if len(b.changes[name]) == 0 {
		return
	}
	d.line(" li t6, 0x%x", b.blocks)
	base := uint32(0)
	for phase := range uint32(b.phases) {
		for _, at := range b.changes[name] {
			offset := phase*b.stride + at
			if offset-base > farthest {
				base = offset
				d.line(" li t6, 0x%x", b.blocks+base)
			}
			d.line(" sw %s, %d(t6)", register, offset-base)
		}
	}
}

// turn makes the next active set of the bank the active one. s1 tells how many vertices it has, or whether any.
func (d *driver) turn() {
	if d.phases > 1 {
		d.line(" addi s4, s4, %d\n li t0, 0x%x\n bne s4, t0, 1f\n li s4, 0x%x\n1:\n sw s4, %d(s0)", d.stride,
			d.blocks+uint32(d.phases)*d.stride, d.blocks, d.base)
	}
	d.loadAdded()
	if len(d.changes["step"]) > 0 {
		d.line(" lw t0, %d(s0)\n addi t0, t0, 1\n sw t0, %d(s0)", d.step, d.step)
		d.set("step", "t0")
	}
	d.set("active.size", "s1")
}

// exchange makes the next active set the active one, and continues if it is not empty.
func (d *driver) exchange() {
	d.line("exchange:")
	d.turn()
	if stop := d.Plan.Algorithm.Stop; stop != "" {
		d.line(" li t0, 0x%x\n lw t0, 0(t0)\n beqz t0, 1f\n j over\n1:", d.addresses[stop])
	}
	d.settledEnds()
	if d.body.counts() {
		d.untilCounted()
		return
	}
	d.line(" bnez s1, 1f\n j refill\n1:")
	if d.kernels.Seed != nil {
		d.line(" lw t0, %d(s0)\n sub t0, t0, s1\n sw t0, %d(s0)", leftWord, leftWord)
	}
	d.checkLimit()
	d.decide(toSuperStep)
	d.line("refill:")
	d.body.refill(d)
	d.line("over:")
	if d.kernels.Back != nil {
		d.line(" addi s1, s5, -2\n j deeper")
		return
	}
	d.decide(toEnd)
}

// loadAdded loads into s1 the number of vertices that were added, or whether there are any, and resets the counter.
func (d *driver) loadAdded() {
	for _, a := range d.run.set.Arrays() {
		switch role := a.Role(0); {
		case slices.Contains([]string{"next.some", "next.size", "next.count"}, role):
			d.line(" li t0, 0x%x\n lw s1, 0(t0)\n sw zero, 0(t0)", a.Addr)
		case role == "stack.top":
			d.line(" li t0, 0x%x\n lw s2, 0(t0)\n lw s3, %d(s0)\n sub s1, s2, s3\n sw s2, %d(s0)", a.Addr, topWord,
				topWord)
			d.line(" lw t0, %d(s0)\n addi t0, t0, 4\n sw s2, 0(t0)\n sw t0, %d(s0)", endWord, endWord)
			d.set("stack.first", "s3")
			d.set("stack.size", "s1")
		}
	}
}

// checkLimit ends the program after limit super-steps.
func (d *driver) checkLimit() {
	if d.limit > 0 {
		d.line(" li t0, %d\n blt s5, t0, 1f", d.limit)
		if d.endless {
			d.decide(unfinished)
		} else {
			d.decide(toEnd)
		}
		d.line("1:")
	}
}

// refill looks for waiting vertices when none is active.
func (wholeRun) refill(d *driver) {
	switch {
	case d.waiting != nil:
		d.raiseThreshold()
	case d.kernels.Seed != nil:
		d.line(" lw t0, %d(s0)\n bnez t0, 1f\n j over\n1:", leftWord)
		d.line(" lw t1, %d(s0)\n li t0, %d\n blt t1, t0, 1f\n j over\n1:", roundWord, d.problem.Graph.Edges())
		d.line(" addi t1, t1, 1\n sw t1, %d(s0)", roundWord)
		d.setAlways("round", "t1")
		d.decide(toSift)
	}
}

// raiseThreshold raises near-far's threshold if the far pile is not empty.
func (d *driver) raiseThreshold() {
	for _, a := range d.waiting.Arrays() {
		if a.Name == "far.count" {
			d.line(" li t0, 0x%x\n lw s1, 0(t0)\n sw zero, 0(t0)\n bnez s1, 1f\n j over\n1:", a.Addr)
		}
	}
	d.setAlways("far.size", "s1")
	d.line(
		" lw t1, %d(s0)\n li t0, 0x%x\n add t2, t1, t0\n sltu t3, t2, t1\n neg t3, t3\n or t2, t2, t3\n sw t2, %d(s0)",
		thresholdWord, d.waiting.Delta(), thresholdWord)
	d.setAlways("far.before", "t1")
	d.setAlways("far.threshold", "t2")
	d.line(" lw t1, %d(s0)\n addi t1, t1, 1\n sw t1, %d(s0)\n lw t2, %d(s0)\n lw t3, %d(s0)\n sw t3, %d(s0)\n sw "+
		"t2, %d(s0)",
		periodWord, periodWord, pileWord, otherWord, pileWord, otherWord)
	d.setAlways("far.period", "t1")
	d.setAlways("far.next", "t3")
	d.setAlways("far.queue", "t2")
	d.decide(toSift)
}

// sifter returns the kernel that selects waiting vertices, or the seeds of a round; nil: none.
func (d *driver) sifter() *ir.Kernel {
	if d.kernels.Split != nil {
		return d.kernels.Split
	}
	return d.kernels.Seed
}

// sifting runs the sifter's kernel, and then exchanges the active set again.
func (d *driver) sifting() {
	if d.sifter() == nil {
		return
	}
	d.line("sift:")
	d.runKernel(d.sifter())
	d.singleLane("advanced")
	d.line(" li s0, 0x%x\n lw s4, %d(s0)", d.control, baseWord)
	if d.limit > 0 {
		d.line(" lw s5, %d(s0)", stepsWord)
	}
	d.line(" j exchange")
}

// goingBack traverses the super-steps in reverse. s1 is the next one.
func (d *driver) goingBack() {
	if d.kernels.Back == nil {
		return
	}
	d.line("back:")
	d.pass(d.kernels.TopologyBack, d.kernels.Again, d.kernels.Back)
	d.singleLane("advanced")
	d.line(" li s0, 0x%x\n lw s4, %d(s0)", d.control, baseWord)
	d.line(" lw s1, %d(s0)\n addi s1, s1, -1\ndeeper:\n sw s1, %d(s0)\n bgtz s1, 1f", depthWord, depthWord)
	d.decide(toEnd)
	d.line("1:")
	d.set("depth", "s1")
	if len(d.changes["stack.first"]) > 0 {
		d.line(" li t0, 0x%x\n slli t1, s1, 2\n add t0, t0, t1\n lw t1, -4(t0)\n lw t2, 0(t0)\n sub t2, t2, t1", d.ends)
		d.set("stack.first", "t1")
		d.set("stack.size", "t2")
	}
	d.decide(toBack)
}

// dispatch makes all warps continue with the next step.
func (d *driver) dispatch() {
	d.line("decided:\n li t0, -1\n tmc t0\nadvanced:")
	d.barrier(loopPart)
	d.line(" li s0, 0x%x\n lw s1, %d(s0)\n bnez s1, 1f\n j superstep\n1:", d.control, nextWord)
	if d.sifter() != nil || d.body.takes() {
		d.line(" li t0, %d\n bne s1, t0, 1f\n j sift\n1:", toSift)
	}
	if d.kernels.Back != nil {
		d.line(" li t0, %d\n bne s1, t0, 1f\n j back\n1:", toBack)
	}
	if d.body.takes() {
		d.line(" li t0, %d\n bne s1, t0, 1f\n j take\n1:", toTake)
	}
	d.body.enters(d)
	if d.exported {
		d.check()
		return
	}
	d.line(" csrr t0, vx_cid\n csrr t1, vx_wid\n or t0, t0, t1\n bnez t0, 1f\n li t0, 1\n tmc t0\n sw zero, "+
		"%d(zero)\n1:\n tmc zero", emu.ExitAddr)
}
