package compose

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"heddle/isa"
	"heddle/isa/asm"
	"heddle/isa/emu"
	"heddle/kernels/activeset"
	"heddle/kernels/ir"
)

// driver is what the host does in a run, as a program: it goes from kernel to kernel with barriers of the device between
// them, exchanges the active set, ends the super-steps, and compares the result.
type driver struct {
	*exporter
	text strings.Builder

	blocks      map[*ir.Kernel]uint32 // argument blocks, one for each state of the rotating arrays
	phases      int                   // how many such states there are
	stepAt      []uint32              // words that hold the number of the super-step
	sizeAt      []uint32              // words that hold the size of the active set
	control     uint32                // the driver's own words
	from        uint32                // least values of the result; of integers, the values
	to          uint32                // greatest values, of floats
	freeBarrier int                   // a core's, that no thread block waits at
	verdict     uint32                // a word for each lane that compares
}

// Words of control.
const (
	phaseWord = 4 * iota // which state the rotating arrays are in
	doneWord             // 0: not yet; 1: the super-steps have ended; 2: there were too many
	stepWord             // super-steps done
	controlWords
)

// lay places what the driver needs.
func (d *driver) lay(values []uint32) (err error) {
	r := d.run
	d.phases = 1
	for _, a := range r.set.Arrays() {
		d.phases = lcm(d.phases, len(a.Roles))
	}
	if d.blocks, err = d.layBlocks(); err != nil {
		return err
	}
	if d.control, err = d.put("driver.control", make([]uint32, controlWords/4)); err != nil {
		return err
	}
	if d.verdict, err = d.put("driver.verdict", make([]uint32, d.shape.Threads)); err != nil {
		return err
	}
	least, greatest := values, []uint32(nil)
	if f := r.Plan.Algorithm.Range; f != nil {
		least, greatest = floatRange(f(&r.problem, d.steps))
	}
	if d.from, err = d.put("driver.expected", least); err != nil || greatest == nil {
		return err
	}
	d.to, err = d.put("driver.greatest", greatest)
	return err
}

// layBlocks writes the argument blocks as the host would before each launch.
func (d *driver) layBlocks() (map[*ir.Kernel]uint32, error) {
	r, blocks := d.run, map[*ir.Kernel]uint32{}
	for _, k := range r.kernels.All() {
		var words []uint32
		for r.turn = range d.phases {
			words = append(words, r.block(k)...)
		}
		at, err := d.put("driver.arguments."+k.Name, words)
		if err != nil {
			return nil, err
		}
		blocks[k] = at
		for phase := range d.phases {
			for i, p := range k.Params {
				word := at + uint32(4*(phase*len(k.Params)+i))
				switch p.Name {
				case "step":
					d.stepAt = append(d.stepAt, word)
				case "active.size":
					d.sizeAt = append(d.sizeAt, word)
				}
			}
		}
	}
	r.turn = 0
	return blocks, nil
}

// floatRange returns the least and the greatest float32 within a bound of the reference.
func floatRange(want, bound []float64) (least, greatest []uint32) {
	for i, w := range want {
		lo, hi := float32(w-bound[i]), float32(w+bound[i])
		if float64(lo) < w-bound[i] {
			lo = math.Nextafter32(lo, float32(math.Inf(1)))
		}
		if float64(hi) > w+bound[i] {
			hi = math.Nextafter32(hi, float32(math.Inf(-1)))
		}
		least, greatest = append(least, math.Float32bits(lo)), append(greatest, math.Float32bits(hi))
	}
	return least, greatest
}

func lcm(a, b int) int {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x * b
}

// remaining is the word by which the host knows whether a vertex is active in the next super-step.
func remaining(s activeset.State) (addr uint32, ok bool) {
	for _, a := range s.Arrays() {
		if slices.Contains([]string{"next.some", "next.size", "next.count"}, a.Role(0)) {
			return a.Addr, true
		}
	}
	return 0, false
}

func (d *driver) line(format string, args ...any) { fmt.Fprintf(&d.text, format+"\n", args...) }

// assemble writes the driver and assembles it.
func (d *driver) assemble() (*isa.Program, error) {
	ks := d.run.kernels
	order := ks.All()
	d.line(".text\n.globl _start\n_start:\n j main")
	for i := range order {
		d.line(" j returned%d", i)
	}
	d.start()
	d.call(ks.Init)
	d.line("superstep:")
	d.call(ks.Gather[d.run.Plan.Direction.Uses[0]])
	if ks.Apply != nil {
		d.call(ks.Apply)
	}
	if err := d.advance(); err != nil {
		return nil, err
	}
	d.finish()
	return asm.Assemble("the driver of "+d.run.Plan.Name(), []byte(d.text.String()), asm.Options{Base: emu.CodeBase})
}

// start brings all warps and lanes to work, if the machine is the one that the kernels are for.
func (d *driver) start() {
	d.line("main:\n %s\n la t1, all\n wspawn t0, t1\nall:\n li t0, -1\n tmc t0\n li a0, %d", d.warpsTo("t0"), ExitShape)
	for _, c := range []struct {
		csr  string
		want int
	}{{"vx_num_cores", d.shape.Cores}, {"vx_num_warps", d.shape.Warps}, {"vx_num_threads", d.shape.Threads}} {
		d.line(" csrr t0, %s\n li t1, %d\n beq t0, t1, 1f\n j report\n1:", c.csr, c.want)
	}
}

// warpsTo puts how many warps of a core run the program in a register.
func (d *driver) warpsTo(register string) string {
	if n := d.run.Plan.Warps; n > 0 {
		return fmt.Sprintf("li %s, %d", register, n)
	}
	return "csrr " + register + ", vx_num_warps"
}

// call runs a kernel on all warps, and waits for all of them and for what they wrote.
func (d *driver) call(k *ir.Kernel) {
	n := slices.Index(d.run.kernels.All(), k)
	d.line(" li t0, 0x%x\n lw t1, %d(t0)\n li t2, %d\n mul t1, t1, t2", d.control, phaseWord, 4*len(k.Params))
	d.line(" li t0, 0x%x\n add t0, t0, t1\n csrrw x0, mscratch, t0", d.blocks[k])
	d.line(" li t1, 0x%x\n jr t1\nreturned%d:\n li t0, -1\n tmc t0", kernelAt(n), n)
	d.barrier()
}

// barrier waits until everything that any warp of the device wrote is there for all to see: each core's warps, then the
// core's writes, then the cores. The fence also makes the core forget what others may write from now on.
func (d *driver) barrier() {
	d.line(" %s\n li t0, %d\n bar t0, t1\n csrr t0, vx_wid\n bnez t0, 1f\n fence\n1:", d.warpsTo("t1"), d.freeBarrier)
	if d.shape.Cores > 1 {
		d.line(" csrr t1, vx_num_cores\n li t0, 0x80000001\n bar t0, t1")
		return
	}
	d.line(" li t0, 1\n bar t0, t1")
}

// advance does what the host does between super-steps, on one lane of the device, and goes on or falls through.
func (d *driver) advance() error {
	d.line(" csrr t0, vx_cid\n csrr t1, vx_wid\n or t0, t0, t1\n bnez t0, advanced\n li t0, 1\n tmc t0")
	d.line(" li s0, 0x%x\n lw s1, %d(s0)\n addi s1, s1, 1\n sw s1, %d(s0)", d.control, stepWord, stepWord)
	if d.run.Plan.Algorithm.Dense {
		d.line(" li t0, %d\n blt s1, t0, 1f\n li t1, 1\n sw t1, %d(s0)\n1:", d.steps, doneWord)
	} else if err := d.exchange(); err != nil {
		return err
	}
	d.line(" li t0, -1\n tmc t0\nadvanced:")
	d.barrier()
	d.line(" li s0, 0x%x\n lw s1, %d(s0)\n bnez s1, 1f\n j superstep\n1:", d.control, doneWord)
	return nil
}

// exchange makes the next active set the active one, and ends the super-steps when it is empty.
func (d *driver) exchange() error {
	left, ok := remaining(d.run.set)
	if !ok {
		return fmt.Errorf("%s cannot be exported: active set %s is the host's", d.run.Plan.Name(), d.run.Plan.Set.Name)
	}
	d.line(" li t0, 0x%x\n lw s2, 0(t0)\n sw zero, 0(t0)\n bnez s2, 1f\n li t1, 1\n sw t1, %d(s0)\n1:", left, doneWord)
	most, end := d.run.problem.Graph.Vertices()+2, 2 // a vertex's value settles in one less at most
	if d.run.Plan.Algorithm.Cut {
		most, end = d.steps, 1 // whose ranks the image has
	}
	d.line(" li t0, %d\n blt s1, t0, 1f\n li t1, %d\n sw t1, %d(s0)\n1:", most, end, doneWord)
	d.line(" lw t0, %d(s0)\n addi t0, t0, 1\n li t1, %d\n blt t0, t1, 1f\n li t0, 0\n1:\n sw t0, %d(s0)\n addi s1, s1, 1", phaseWord, d.phases, phaseWord)
	d.store("s1", d.stepAt)
	d.store("s2", d.sizeAt)
	return nil
}

// store writes a register to words.
func (d *driver) store(register string, words []uint32) {
	for _, at := range words {
		d.line(" li t0, 0x%x\n sw %s, 0(t0)", at, register)
	}
}

// finish compares the result on the lanes of the first warp, and ends all warps.
func (d *driver) finish() {
	d.line(" csrr t0, vx_cid\n csrr t1, vx_wid\n or t0, t0, t1\n bnez t0, end\n li a0, %d\n li t0, 2\n beq s1, t0, report", ExitUnfinished)
	d.compare()
	// All warps come here with a code when the shape is wrong, one with the verdict.
	d.line("report:\n csrr t0, vx_cid\n csrr t1, vx_wid\n or t0, t0, t1\n bnez t0, end\n li t0, 1\n tmc t0\n li t0, 0x%x\n sw a0, 0(t0)\n fence\nend:\n tmc zero", emu.ExitAddr)
}

// compare leaves the exit code in a0.
func (d *driver) compare() {
	r := d.run
	n := r.Plan.Algorithm.Size(r.Plan.Algorithm.Result, &r.problem)
	d.line(" csrr s0, vx_tid\n li s1, %d\n li s2, 0x%x\n li s3, 0x%x\n li s4, 0x%x\n li s5, %d\n li s6, 0", n-1,
		r.places[r.Plan.Algorithm.Result], d.from, d.to, (n+d.shape.Threads-1)/d.shape.Threads)
	// A lane beyond the last value compares the last one.
	d.line("compare:\n sltu t0, s1, s0\n neg t0, t0\n xor t1, s0, s1\n and t1, t1, t0\n xor t1, t1, s0\n slli t1, t1, 2")
	d.line(" add t2, s2, t1\n add t3, s3, t1\n add t4, s4, t1")
	if d.to == 0 {
		d.line(" lw t2, 0(t2)\n lw t3, 0(t3)\n xor t2, t2, t3")
	} else {
		d.line(" flw ft0, 0(t2)\n flw ft1, 0(t3)\n flw ft2, 0(t4)\n fle.s t2, ft1, ft0\n fle.s t3, ft0, ft2\n and t2, t2, t3\n xori t2, t2, 1")
	}
	d.line(" or s6, s6, t2\n addi s0, s0, %d\n addi s5, s5, -1\n bnez s5, compare", d.shape.Threads)
	d.line(" csrr t0, vx_tid\n slli t0, t0, 2\n li t1, 0x%x\n add t0, t0, t1\n sw s6, 0(t0)\n li t0, 1\n tmc t0", d.verdict)
	d.line(" li s5, %d\n li a0, 0\n1:\n lw t0, 0(t1)\n or a0, a0, t0\n addi t1, t1, 4\n addi s5, s5, -1\n bnez s5, 1b\n snez a0, a0", d.shape.Threads)
}

// optional reports whether a configuration of Vortex may lack an instruction.
func optional(r *isa.Row) bool {
	for _, prefix := range []string{"amo", "lr.", "sc.", "vote", "shfl"} {
		if strings.HasPrefix(r.Name, prefix) {
			return true
		}
	}
	return r.Class == isa.ClassUnit
}
