package compose

import (
	"math"
	"strings"

	"heddle/isa"
	"heddle/isa/emu"
)

// verdict holds the addresses of the expected result, with which an exported program compares its own.
type verdict struct {
	from uint32 // least values of the result, or for integers the exact ones
	to   uint32 // greatest values, for floats; 0: none
	lane uint32 // a word for the verdict of each lane
}

// layVerdict writes the expected result.
func (d *driver) layVerdict(values []uint32, steps int) (err error) {
	v := &d.verdict
	if v.lane, err = d.allocate("driver.verdict", make([]uint32, d.shape.Threads)); err != nil {
		return err
	}
	least, greatest := values, []uint32(nil)
	if f := d.Plan.Algorithm.Range; f != nil {
		least, greatest = floatRange(f(&d.problem, steps))
	}
	if v.from, err = d.allocate("driver.expected", least); err != nil || greatest == nil {
		return err
	}
	v.to, err = d.allocate("driver.greatest", greatest)
	return err
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

// check compares the result on the lanes of the first warp, and ends all warps. s1 is the next step.
func (d *driver) check() {
	d.line(" csrr t0, vx_cid\n csrr t1, vx_wid\n or t0, t0, t1\n bnez t0, end\n li a0, %d\n li t0, %d\n beq s1, t0, "+
		"report", ExitUnfinished, unfinished)
	d.compare()
	// With a wrong shape, all warps get here with a code; otherwise one with the verdict.
	d.line(
		"report:\n csrr t0, vx_cid\n csrr t1, vx_wid\n or t0, t0, t1\n bnez t0, end\n li t0, 1\n tmc t0\n li t0, "+
			"0x%x\n sw a0, 0(t0)\n fence\nend:\n tmc zero",
		emu.ExitAddr)
}

// compare sets the exit code in a0.
func (d *driver) compare() {
	n, v := d.Plan.Algorithm.Size(d.Plan.Algorithm.Result, &d.problem), &d.verdict
	d.line(" csrr s0, vx_tid\n li s1, %d\n li s2, 0x%x\n li s3, 0x%x\n li s4, 0x%x\n li s5, %d\n li s6, 0", n-1,
		d.addresses[d.Plan.Algorithm.Result], v.from, v.to, (n+d.shape.Threads-1)/d.shape.Threads)
	// A lane beyond the last value compares the last one.
	d.line("compare:\n sltu t0, s1, s0\n neg t0, t0\n xor t1, s0, s1\n and t1, t1, t0\n xor t1, t1, s0\n slli t1, " +
		"t1, 2")
	d.line(" add t2, s2, t1\n add t3, s3, t1\n add t4, s4, t1")
	if v.to == 0 {
		d.line(" lw t2, 0(t2)\n lw t3, 0(t3)\n xor t2, t2, t3")
	} else {
		d.line(" flw ft0, 0(t2)\n flw ft1, 0(t3)\n flw ft2, 0(t4)\n fle.s t2, ft1, ft0\n fle.s t3, ft0, ft2\n and " +
			"t2, t2, t3\n xori t2, t2, 1")
	}
	d.line(" or s6, s6, t2\n addi s0, s0, %d\n addi s5, s5, -1\n bnez s5, compare", d.shape.Threads)
	d.line(" csrr t0, vx_tid\n slli t0, t0, 2\n li t1, 0x%x\n add t0, t0, t1\n sw s6, 0(t0)\n li t0, 1\n tmc t0",
		v.lane)
	d.line(" li s5, %d\n li a0, 0\n1:\n lw t0, 0(t1)\n or a0, a0, t0\n addi t1, t1, 4\n addi s5, s5, -1\n bnez s5, "+
		"1b\n snez a0, a0", d.shape.Threads)
}

// optional reports whether configurations of Vortex can lack an instruction.
func optional(r *isa.Row) bool {
	for _, prefix := range []string{"amo", "lr.", "sc.", "vote", "shfl"} {
		if strings.HasPrefix(r.Name, prefix) {
			return true
		}
	}
	return r.Class == isa.ClassUnit
}
