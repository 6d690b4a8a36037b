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

// driver is the host's part of a run as a program: it goes from kernel to kernel with barriers of the device between
// them, and one lane exchanges the active set, chooses what comes next, and writes the parameters that change.
type driver struct {
	*run
	shape    host.Shape
	base     uint32 // where it lies; the kernels follow
	bytes    int    // how many it may have
	members  []member
	programs map[*ir.Kernel]*codegen.Compiled
	loop     *FusedLoop        // of a program that it is of; nil: it is of all super-steps
	placed   map[string]uint32 // its arrays that have their places already
	text     strings.Builder

	calls   []*call
	phases  int                 // states of the arrays that pass their roles on
	stride  uint32              // bytes of the argument blocks of a state
	blocks  uint32              // where they begin
	changes map[string][]uint32 // where a parameter that changes is in the blocks of a state, by its name
	control uint32              // the lane's own words
	ends    uint32              // where the vertices of each super-step end on the stack, if that is gone back through

	barrierID int  // a core's, that no thread block waits at
	limit     int  // super-steps at most; 0: no limit
	endless   bool // more than limit are a failure
	exported  bool // for a machine that sees what others have written behind fences only, and that has no host
	verdict   verdict
}

// member is a kernel that the driver runs, in the order of their jumps.
type member struct {
	run    *run // whose arrays and numbers it is handed
	kernel *ir.Kernel
}

// call is a place where the driver runs a kernel.
type call struct {
	member
	number int // of the launch, of a schedule that has several for a gather
	index  int // of the kernel
	at     uint32
}

// name is that of the part of the program which ends behind the call.
func (c *call) name() string { return fmt.Sprintf("k%d.%d", c.index, c.number) }

// loopPart is the name of a part in which one lane does what the host does otherwise.
const loopPart = KernelLoop

// Words of control, in bytes from its beginning.
const (
	baseWord      = 4 * iota // where the argument blocks are of the state that comes
	nextWord                 // what comes next
	stepsWord                // super-steps done
	stepWord                 // the parameter step
	topWord                  // of the stack, when the active set was exchanged
	endWord                  // where its next end is noted
	depthWord                // the super-step that the way back is at
	roundWord                // the round
	leftWord                 // vertices that have not been active
	thresholdWord            // of near-far
	periodWord
	pileWord  // the pile that is added to
	otherWord // the other one
	controlWords
)

// What comes next.
const (
	toSuperStep = iota
	toEnd
	toSift
	toBack
	unfinished // the end: there were too many super-steps
	toTake
)

// lay places what the driver needs. The active set of the first super-step has been made.
func (d *driver) lay() (err error) {
	r := d.run
	d.phases, d.changes = 1, map[string][]uint32{}
	for _, a := range r.set.Arrays() {
		d.phases = lcm(d.phases, len(a.Roles))
	}
	d.listCalls()
	if err := d.layBlocks(); err != nil {
		return err
	}
	control := make([]uint32, controlWords/4)
	control[baseWord/4], control[stepWord/4] = d.blocks, uint32(r.turn+1)
	if r.kernels.Back != nil {
		if err := d.layEnds(control); err != nil {
			return err
		}
	}
	control[roundWord/4], control[leftWord/4] = r.round, uint32(r.left)
	if r.far != nil {
		control[thresholdWord/4], control[periodWord/4] = r.far.Words()["far.threshold"], r.far.Words()["far.period"]
		control[pileWord/4], control[otherWord/4] = r.far.Places()["far.next"], r.far.Places()["far.queue"]
	}
	d.control, err = d.put("driver.control", control)
	return err
}

// put places an array and writes it.
func (d *driver) put(name string, words []uint32) (uint32, error) {
	if at, placed := d.placed[name]; placed {
		d.WriteWords(at, words)
		return at, nil
	}
	own := name
	if d.loop != nil {
		own = d.loop.Name + " " + name
	}
	a, err := d.image.Place(own, words)
	d.WriteWords(a.Addr, words)
	if d.placed != nil {
		d.placed[name] = a.Addr
	}
	d.Layout = append(d.Layout, graph.Region{Name: a.Name, Addr: a.Addr, Size: a.Bytes()})
	return a.Addr, err
}

// runs are those whose kernels it runs.
func (d *driver) runs() (list []*run) {
	for _, m := range d.members {
		if !slices.Contains(list, m.run) {
			list = append(list, m.run)
		}
	}
	return list
}

// listCalls lists where kernels are called.
func (d *driver) listCalls() {
	for i, m := range d.members {
		times := 1
		if ks := &m.run.kernels; m.kernel == ks.Back || slices.Contains(ks.Gather[:], m.kernel) {
			times = max(1, len(m.run.Plan.Schedule.Launches))
		}
		for n := range times {
			d.calls = append(d.calls, &call{member: m, number: n, index: i})
		}
	}
}

// callsOf are those of a kernel.
func (d *driver) callsOf(k *ir.Kernel) (list []*call) {
	for _, c := range d.calls {
		if c.kernel == k {
			list = append(list, c)
		}
	}
	return list
}

// changing are the parameters that the driver writes between kernels. All others stay, or follow from the state of the
// arrays.
var changing = []string{
	"step", "active.size", "stack.first", "stack.size", "round", "depth", "far.threshold", "far.before", "far.size",
	"far.period", "far.next", "far.queue",
}

// layBlocks writes the argument blocks as the host would before each launch: those of a state of the arrays together,
// and before each a word that says where the driver goes on.
func (d *driver) layBlocks() (err error) {
	r := d.run
	for _, c := range d.calls {
		c.at = d.stride + 4
		for i, p := range c.kernel.Params {
			if slices.Contains(changing, p.Name) || d.loop.changes(p.Name) {
				d.changes[p.Name] = append(d.changes[p.Name], c.at+uint32(4*i))
			}
		}
		d.stride += uint32(4 * (1 + len(c.kernel.Params)))
	}
	var words []uint32
	first := r.turn
	for ; r.turn < first+d.phases; r.turn++ {
		for _, c := range d.calls {
			c.run.number = uint32(c.number)
			words = append(append(words, 0), c.run.block(c.kernel)...)
			c.run.number = 0
		}
	}
	r.turn = first
	d.blocks, err = d.put("driver.arguments", words)
	return err
}

// layEnds has room for where the vertices of each super-step end on the stack; those of the first are on it.
func (d *driver) layEnds(control []uint32) (err error) {
	words := make([]uint32, d.problem.Graph.Vertices()+2)
	words[0] = uint32(len(d.start()))
	d.ends, err = d.put("driver.ends", words)
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

func (d *driver) line(format string, args ...any) { fmt.Fprintf(&d.text, format+"\n", args...) }

// assemble writes the driver and assembles it.
func (d *driver) assemble() (*isa.Program, error) {
	d.line(".text\n.globl _start\n_start:\n j main")
	for i := range d.members {
		d.line(" j returned%d", i)
	}
	d.enter()
	if d.loop != nil {
		d.round()
	} else {
		d.superSteps()
	}
	d.dispatch()
	p, err := asm.Assemble("the driver of "+d.name(), []byte(d.text.String()), asm.Options{Base: d.base})
	if err == nil {
		d.writeSites(p)
	}
	return p, err
}

// superSteps are those of the algorithm, from its first kernel to its last.
func (d *driver) superSteps() {
	ks := &d.kernels
	d.run1(ks.Init)
	if d.beginsWithRound() {
		d.lead("advanced")
		d.line(" li s0, 0x%x\n lw s4, %d(s0)\n j refill", d.control, baseWord)
	}
	d.line("superstep:")
	d.pass(ks.Topology[d.direction()], ks.Lists[d.direction()], ks.Gather[d.direction()])
	if ks.Apply != nil {
		d.run1(ks.Apply)
	}
	d.lead("advanced")
	d.advance()
	d.sifting()
	d.goingBack()
}

// name is the loop's, or the plan's.
func (d *driver) name() string {
	if d.loop != nil {
		return d.loop.Name
	}
	return d.Plan.Name()
}

// direction is that of all super-steps.
func (d *driver) direction() direction.Direction { return d.Plan.Direction.Uses[0] }

// beginsWithRound reports whether nothing is active before a round has begun.
func (d *driver) beginsWithRound() bool {
	return d.kernels.Seed != nil && !d.Plan.Algorithm.CountsFirst
}

// enter brings all warps and lanes to work, if the machine is the one that the kernels are for.
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

// warpsTo puts how many warps of a core run the program in a register.
func (d *driver) warpsTo(register string) string {
	if n := d.Plan.Warps; n > 0 {
		return fmt.Sprintf("li %s, %d", register, n)
	}
	return "csrr " + register + ", vx_num_warps"
}

// pass handles edges: the layout's and the schedule's own kernels, if there are any, and then all launches of the
// gather.
func (d *driver) pass(list ...*ir.Kernel) {
	for _, k := range list {
		if k != nil {
			d.run1(k)
		}
	}
}

// run1 runs a kernel on all warps, as often as it is launched, and waits for all of them and for what they wrote each
// time.
func (d *driver) run1(k *ir.Kernel) {
	calls := d.callsOf(k)
	for _, c := range calls {
		d.line(" li t0, 0x%x\n lw t0, %d(t0)\n addi t0, t0, %d\n csrrw x0, mscratch, t0", d.control, baseWord, c.at)
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

// writeSites says before each argument block where the driver goes on behind the kernel.
func (d *driver) writeSites(p *isa.Program) {
	for _, c := range d.calls {
		site, _ := p.Symbol(fmt.Sprintf("site%d_%d", c.index, c.number))
		for phase := range uint32(d.phases) {
			d.WriteWords(d.blocks+phase*d.stride+c.at-4, []uint32{site})
		}
	}
}

// barrier waits until everything that any warp of the device wrote is there for all to see, and ends a part. A
// device-wide barrier does that by itself; a core alone meets, has what it wrote be there, and meets again. Vortex's
// barriers know nothing of memory: there each core has its fence, which also makes it forget what others may write from
// now on.
func (d *driver) barrier(part string) {
	alone := d.shape.Cores == 1
	if (alone || d.exported) && (part != loopPart || d.exported) {
		d.line(" %s\n li t0, %d\n bar t0, t1\n csrr t0, vx_wid\n bnez t0, 1f\n fence\n1:", d.warpsTo("t1"), d.barrierID)
	}
	switch {
	case alone && part != loopPart && !d.exported: // a load waits for the fence, and the barrier for what it brings: a warp does not
		d.line(" li t0, 0x%x\n lw t0, 0(t0)\n and t0, t0, zero\n addi t0, t0, %d\n %s", d.control, d.barrierID,
			d.warpsTo("t1"))
	case alone:
		d.line(" %s\n li t0, %d", d.warpsTo("t1"), d.barrierID)
	default:
		d.line(" csrr t1, vx_num_cores\n li t0, 0x80000000")
	}
	d.line("%s%s:\n bar t0, t1", emu.PartPrefix, part)
}

// lead has all but one lane of the device go on elsewhere.
func (d *driver) lead(others string) {
	d.line(" csrr t0, vx_cid\n csrr t1, vx_wid\n or t0, t0, t1\n beqz t0, 1f\n j %s\n1:\n li t0, 1\n tmc t0", others)
}

// advance does what the host does between super-steps, on one lane, and leaves what comes next in its word.
func (d *driver) advance() {
	a := d.Plan.Algorithm
	d.line(" li s0, 0x%x\n lw s4, %d(s0)", d.control, baseWord)
	if a.Dense || d.limit > 0 || a.Back != nil {
		d.line(" lw s5, %d(s0)\n addi s5, s5, 1\n sw s5, %d(s0)", stepsWord, stepsWord)
	}
	if d.Plan.Residual {
		d.line(" li t0, 0x%x\n flw ft0, 0(t0)\n sw zero, 0(t0)\n li t1, 0x%x\n fmv.w.x ft1, t1\n fle.s s6, ft0, ft1",
			d.places["residual"], math.Float32bits(floatNotAbove(d.workload.Tolerance)))
	}
	if a.Dense {
		d.dense()
		return
	}
	d.exchange()
}

// settledEnds ends the super-steps when the last one has changed no more than the tolerance.
func (d *driver) settledEnds() {
	if d.Plan.Residual {
		d.line(" beqz s6, 1f\n j over\n1:")
	}
}

// dense ends when all super-steps have been done, or ranks have converged.
func (d *driver) dense() {
	d.settledEnds()
	if d.limit > 0 {
		d.line(" li t0, %d\n bne s5, t0, 1f\n j over\n1:", d.limit)
	}
	d.goOn(toSuperStep)
	d.line("over:")
	d.goOn(toEnd)
}

// floatNotAbove is the largest float32 that is not above x: what is not above the one is not above the other.
func floatNotAbove(x float64) float32 {
	f := float32(x)
	if float64(f) > x {
		f = math.Nextafter32(f, float32(math.Inf(-1)))
	}
	return f
}

// goOn says what comes next, and ends what one lane does.
func (d *driver) goOn(next int) {
	if next == toSuperStep || next == toBack {
		d.zeroArrays()
	}
	if next == 0 {
		d.line(" sw zero, %d(s0)\n j decided", nextWord)
		return
	}
	d.line(" li t0, %d\n sw t0, %d(s0)\n j decided", next, nextWord)
}

// zeroArrays zeroes the schedule's arrays that are to be when a gather begins, and the number of rows that a layout
// lists.
func (d *driver) zeroArrays() {
	for _, r := range d.runs() {
		d.zeroArraysOf(r)
	}
}

func (d *driver) zeroArraysOf(r *run) {
	if at, ok := r.places[rowsSize]; ok {
		d.line(" li t0, 0x%x\n sw zero, 0(t0)", at)
	}
	for _, name := range slices.Sorted(maps.Keys(r.places)) {
		a, at := r.Plan.Schedule.Array(name), r.places[name]
		n := 0
		if a != nil && a.Zero {
			n = a.Words(r.room, d.shape.Cores*d.shape.Warps)
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

// set writes a register to a parameter, in the blocks of the state that comes.
func (d *driver) set(name, register string) {
	for _, at := range d.changes[name] {
		d.line(" sw %s, %d(s4)", register, at)
	}
}

// farthest is how far a store reaches.
const farthest = 2047

// setAlways writes a register to a parameter, in the blocks of all states.
func (d *driver) setAlways(name, register string) {
	if len(d.changes[name]) == 0 {
		return
	}
	d.line(" li t6, 0x%x", d.blocks)
	base := uint32(0)
	for phase := range uint32(d.phases) {
		for _, at := range d.changes[name] {
			offset := phase*d.stride + at
			if offset-base > farthest {
				base = offset
				d.line(" li t6, 0x%x", d.blocks+base)
			}
			d.line(" sw %s, %d(t6)", register, offset-base)
		}
	}
}

// exchange makes the next active set the active one, and goes on if it is not empty.
func (d *driver) exchange() {
	d.line("exchange:")
	if d.phases > 1 {
		d.line(" addi s4, s4, %d\n li t0, 0x%x\n bne s4, t0, 1f\n li s4, 0x%x\n1:\n sw s4, %d(s0)", d.stride,
			d.blocks+uint32(d.phases)*d.stride, d.blocks, baseWord)
	}
	d.taken()
	if len(d.changes["step"]) > 0 {
		d.line(" lw t0, %d(s0)\n addi t0, t0, 1\n sw t0, %d(s0)", stepWord, stepWord)
		d.set("step", "t0")
	}
	d.set("active.size", "s1")
	if stop := d.Plan.Algorithm.Stop; stop != "" {
		d.line(" li t0, 0x%x\n lw t0, 0(t0)\n beqz t0, 1f\n j over\n1:", d.places[stop])
	}
	d.settledEnds()
	if d.counts() {
		d.untilCounted()
		return
	}
	d.line(" bnez s1, 1f\n j refill\n1:")
	if d.kernels.Seed != nil {
		d.line(" lw t0, %d(s0)\n sub t0, t0, s1\n sw t0, %d(s0)", leftWord, leftWord)
	}
	d.checkLimit()
	d.goOn(toSuperStep)
	d.line("refill:")
	d.refill()
	d.line("over:")
	if d.kernels.Back != nil {
		d.line(" addi s1, s5, -2\n j deeper")
		return
	}
	d.goOn(toEnd)
}

// taken has in s1 how many vertices have been added, or whether there are any, and sees to it that the next are counted
// from none.
func (d *driver) taken() {
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

// checkLimit ends the program when there have been too many super-steps.
func (d *driver) checkLimit() {
	if d.limit > 0 {
		d.line(" li t0, %d\n blt s5, t0, 1f", d.limit)
		if d.endless {
			d.goOn(unfinished)
		} else {
			d.goOn(toEnd)
		}
		d.line("1:")
	}
}

// refill looks for vertices to go on with, when none is active.
func (d *driver) refill() {
	switch {
	case d.loop != nil:
		d.nextBucket()
	case d.far != nil:
		d.rise()
	case d.kernels.Seed != nil:
		d.line(" lw t0, %d(s0)\n bnez t0, 1f\n j over\n1:", leftWord)
		d.line(" lw t1, %d(s0)\n li t0, %d\n blt t1, t0, 1f\n j over\n1:", roundWord, d.problem.Graph.Edges())
		d.line(" addi t1, t1, 1\n sw t1, %d(s0)", roundWord)
		d.setAlways("round", "t1")
		d.goOn(toSift)
	}
}

// rise raises near-far's threshold, if the far pile is not empty.
func (d *driver) rise() {
	for _, a := range d.far.Arrays() {
		if a.Name == "far.count" {
			d.line(" li t0, 0x%x\n lw s1, 0(t0)\n sw zero, 0(t0)\n bnez s1, 1f\n j over\n1:", a.Addr)
		}
	}
	d.setAlways("far.size", "s1")
	d.line(
		" lw t1, %d(s0)\n li t0, 0x%x\n add t2, t1, t0\n sltu t3, t2, t1\n neg t3, t3\n or t2, t2, t3\n sw t2, %d(s0)",
		thresholdWord, d.far.Delta(), thresholdWord)
	d.setAlways("far.before", "t1")
	d.setAlways("far.threshold", "t2")
	d.line(" lw t1, %d(s0)\n addi t1, t1, 1\n sw t1, %d(s0)\n lw t2, %d(s0)\n lw t3, %d(s0)\n sw t3, %d(s0)\n sw t2, %d(s0)",
		periodWord, periodWord, pileWord, otherWord, pileWord, otherWord)
	d.setAlways("far.period", "t1")
	d.setAlways("far.next", "t3")
	d.setAlways("far.queue", "t2")
	d.goOn(toSift)
}

// sifter is the kernel that looks for vertices to go on with; nil: there is none.
func (d *driver) sifter() *ir.Kernel {
	if d.kernels.Split != nil {
		return d.kernels.Split
	}
	return d.kernels.Seed
}

// sifting runs it, and exchanges the active set again.
func (d *driver) sifting() {
	if d.sifter() == nil {
		return
	}
	d.line("sift:")
	d.run1(d.sifter())
	d.lead("advanced")
	d.line(" li s0, 0x%x\n lw s4, %d(s0)", d.control, baseWord)
	if d.limit > 0 {
		d.line(" lw s5, %d(s0)", stepsWord)
	}
	d.line(" j exchange")
}

// goingBack goes back through the super-steps. s1 is the one that comes.
func (d *driver) goingBack() {
	if d.kernels.Back == nil {
		return
	}
	d.line("back:")
	d.pass(d.kernels.TopologyBack, d.kernels.Again, d.kernels.Back)
	d.lead("advanced")
	d.line(" li s0, 0x%x\n lw s4, %d(s0)", d.control, baseWord)
	d.line(" lw s1, %d(s0)\n addi s1, s1, -1\ndeeper:\n sw s1, %d(s0)\n bgtz s1, 1f", depthWord, depthWord)
	d.goOn(toEnd)
	d.line("1:")
	d.set("depth", "s1")
	if len(d.changes["stack.first"]) > 0 {
		d.line(" li t0, 0x%x\n slli t1, s1, 2\n add t0, t0, t1\n lw t1, -4(t0)\n lw t2, 0(t0)\n sub t2, t2, t1", d.ends)
		d.set("stack.first", "t1")
		d.set("stack.size", "t2")
	}
	d.goOn(toBack)
}

// dispatch has all warps go on with what comes next.
func (d *driver) dispatch() {
	d.line("decided:\n li t0, -1\n tmc t0\nadvanced:")
	d.barrier(loopPart)
	d.line(" li s0, 0x%x\n lw s1, %d(s0)\n bnez s1, 1f\n j superstep\n1:", d.control, nextWord)
	if d.sifter() != nil || d.takes() {
		d.line(" li t0, %d\n bne s1, t0, 1f\n j sift\n1:", toSift)
	}
	if d.kernels.Back != nil {
		d.line(" li t0, %d\n bne s1, t0, 1f\n j back\n1:", toBack)
	}
	if d.takes() {
		d.line(" li t0, %d\n bne s1, t0, 1f\n j take\n1:", toTake)
	}
	if d.exported {
		d.check()
		return
	}
	d.line(" csrr t0, vx_cid\n csrr t1, vx_wid\n or t0, t0, t1\n bnez t0, 1f\n li t0, 1\n tmc t0\n sw zero, %d(zero)\n1:\n tmc zero", emu.ExitAddr)
}
