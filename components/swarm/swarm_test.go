package swarm

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
	"heddle/isa"
	"heddle/isa/asm"
	"heddle/isa/emu"
)

// drawProgram writes a program of tasks that conflict on purpose: they read and write few words at addresses that
// depend on what they have read, and enqueue tasks with timestamps and arguments that do too. With unique timestamps
// the result does not depend on the order of equal ones.
func drawProgram(draw *rand.Rand) string {
	var s strings.Builder
	words := 1 << (1 + draw.IntN(8))
	stride := []int{2, 2, 4, 6}[draw.IntN(4)] // words of one line, or of different ones
	roots, functions, depth := 1+draw.IntN(30), 1+draw.IntN(4), draw.IntN(5)
	fmt.Fprintf(&s, "_start:\n\tlui s11, 0x10000\n")
	for range roots {
		fmt.Fprintf(&s, "\tli a0, %d\n\tli a1, %d\n\tli a5, %d\n\tli t0, %d\n\tla t1, f%d\n\tswarm.enqueue t1, t0\n",
			draw.IntN(1000), draw.IntN(1000), draw.IntN(depth+1), draw.IntN(40), draw.IntN(functions))
	}
	fmt.Fprintf(&s, "\tswarm.finish\n")
	for f := range functions {
		drawFunction(&s, draw, f, functions, words, stride)
	}
	return s.String()
}

func drawFunction(s *strings.Builder, draw *rand.Rand, f, functions, words, stride int) {
	fmt.Fprintf(s, "f%d:\n\tlui s11, 0x10000\n\tmv s0, a0\n\tmv s1, a1\n\tadd s2, a0, a6\n\tli s3, %d\n", f,
		draw.IntN(100))
	reg := func() string { return fmt.Sprintf("s%d", draw.IntN(4)) }
	for range 1 + draw.IntN(8) {
		fmt.Fprintf(s, "\tandi t0, %s, %d\n\tslli t0, t0, %d\n\tadd t0, t0, s11\n", reg(), words-1, stride)
		switch draw.IntN(5) {
		case 0, 1:
			fmt.Fprintf(s, "\tlw %s, 0(t0)\n", reg())
		case 2:
			fmt.Fprintf(s, "\tsw %s, 0(t0)\n", reg())
		case 3:
			fmt.Fprintf(s, "\tamoadd.w %s, %s, (t0)\n", reg(), reg())
		case 4:
			fmt.Fprintf(s, "\tsb %s, %d(t0)\n", reg(), draw.IntN(4))
		}
		fmt.Fprintf(s, "\t%s %s, %s, %s\n", []string{"add", "xor", "sub", "mul"}[draw.IntN(4)], reg(), reg(), reg())
		for range draw.IntN(3) * 5 {
			fmt.Fprintf(s, "\taddi s3, s3, 1\n")
		}
	}
	if draw.IntN(4) == 0 { // a loop whose length depends on memory
		fmt.Fprintf(s, "\tandi t3, s0, 63\nl%d:\taddi t3, t3, -1\n\tbgtz t3, l%d\n", f, f)
	}
	if draw.IntN(6) == 0 { // the console
		fmt.Fprintf(s, "\tandi t3, s1, 15\n\taddi t3, t3, 65\n\tli t4, 64\n\tsb t3, 0(t4)\n\tli t3, 10\n\tsb t3, 0(t4)\n")
	}
	fmt.Fprintf(s, "\tbeqz a5, e%d\n\taddi a5, a5, -1\n", f)
	for range draw.IntN(4) {
		fmt.Fprintf(s, "\tmv a0, %s\n\tmv a1, %s\n\tandi t0, %s, %d\n\tadd t0, t0, a6\n", reg(), reg(), reg(),
			[]int{0, 1, 7, 31}[draw.IntN(4)])
		fmt.Fprintf(s, "\tla t1, f%d\n\tswarm.enqueue t1, t0\n", draw.IntN(functions))
	}
	fmt.Fprintf(s, "e%d:\tswarm.finish\n", f)
}

// shaped is a machine's parameters.
type shaped struct {
	Spec
	tiles, cores int // and of each
}

// drawSpec draws a small machine: tiny queues, caches and signatures as often as those of the paper.
func drawSpec(draw *rand.Rand) (s shaped) {
	s.Spec = DefaultSpec()
	of := func(list ...int) int { return list[draw.IntN(len(list))] }
	s.cores, s.tiles = of(1, 2, 4), of(1, 2, 3, 4, 9)
	s.TaskQueue, s.CommitQueue = of(2, 2, 3, 8, 64), of(1, 1, 2, 16)
	s.TaskOp, s.CommitInterval, s.PreemptAfter = of(1, 5), of(1, 20, 200, 500), of(1, 8)
	s.Mapping = []Mapping{MapRandom, MapRandom, MapHint, MapLocal}[draw.IntN(4)]
	s.Seed = draw.IntN(1000)
	s.Signatures = []Signatures{Bloom, Bloom, Exact}[draw.IntN(3)]
	s.SignatureWays = of(1, 2, 8)
	s.SignatureBits = s.SignatureWays * of(1, 8, 256)
	s.SpillAt, s.SpillTasks = of(1, 50, 85, 100), of(1, 2, 15)
	s.LineBytes = of(4, 16, 64)
	s.L1Ways, s.L2Ways, s.L3Ways = of(1, 2, 8), of(1, 4), of(1, 4, 16)
	s.L1Bytes = s.LineBytes * s.L1Ways * of(1, 2, 32)
	s.L2Bytes = s.LineBytes * s.L2Ways * of(1, 8, 512)
	s.L3Bytes = s.LineBytes * s.L3Ways * of(1, 8, 512)
	s.LinkBytes, s.MemoryControllers = of(8, 32), of(1, 4)
	return s
}

// ran is a run of a program on an engine.
type ran struct {
	e      *Engine
	p      *isa.Program
	before Before
}

const cycleLimit = 20_000_000

func start(t testing.TB, spec shaped, text string) ran {
	t.Helper()
	p, err := asm.Assemble("tasks.s", []byte(text), asm.Options{})
	require.NoError(t, err)
	m, err := emu.New(emu.Config{Cores: spec.tiles * spec.cores, Warps: 1, Threads: 1})
	require.NoError(t, err)
	m.Mem.Load(p)
	e, err := NewEngine(spec.Spec, spec.tiles, spec.cores, m)
	require.NoError(t, err)
	r := ran{e, p, e.Remember()}
	require.NoError(t, e.Launch(p, 0))
	return r
}

func (r *ran) run() error {
	ctx := context.Background()
	if err := r.e.Run(ctx, Limits{Cycles: cycleLimit}); err != nil {
		return err
	}
	if err := r.e.CheckInvariants(); err != nil {
		return err
	}
	return r.e.Verify(ctx, r.p, 0, r.before)
}

// Random programs on random machines: memory and console are those of the tasks one after another, accesses that are
// not checked have no conflict, the counts add up, nothing is left over, and the smallest queues do not deadlock.
func TestRandomPrograms(t *testing.T) {
	var sum Stats
	for seed := range uint64(testenv.Cases(t, 400, 20000)) {
		draw := rand.New(rand.NewPCG(seed, 44))
		spec, text := drawSpec(draw), drawProgram(draw)
		r := start(t, spec, text)
		r.e.auditing = true
		if err := r.run(); err != nil {
			_ = os.WriteFile("/dev/stderr", []byte(text), 0)
			require.NoError(t, err, "seed %d: %+v", seed, spec)
		}
		add(&sum, &r.e.Stats)
	}
	eachCount(reflect.ValueOf(&sum).Elem(), reflect.Value{}, func(name string, n, _ reflect.Value) {
		assert.NotZero(t, n.Uint(), "%s never moves", name)
	})
}

// eachCount calls f with the counts of two statistics.
func eachCount(a, b reflect.Value, f func(name string, a, b reflect.Value)) {
	for i := range a.NumField() {
		other := reflect.Value{}
		if b.IsValid() {
			other = b.Field(i)
		}
		if a.Field(i).Kind() == reflect.Struct {
			eachCount(a.Field(i), other, f)
			continue
		}
		f(a.Type().Field(i).Name, a.Field(i), other)
	}
}

func add(sum, s *Stats) {
	eachCount(reflect.ValueOf(sum).Elem(), reflect.ValueOf(s).Elem(), func(_ string, a, b reflect.Value) {
		a.SetUint(a.Uint() + b.Uint())
	})
}

// A defect of the conflict check, the aborts or the filters before the check is found by the comparison with the tasks
// one after another.
func TestDefectsAreFound(t *testing.T) {
	for name, f := range map[string]faults{
		"readers are not checked":       {ignoreReaders: true},
		"writers are not checked":       {ignoreWriters: true},
		"the own tile is not checked":   {ignoreTile: true},
		"other tiles are not checked":   {ignoreOthers: true},
		"canaries are ignored":          {ignoreCanary: true},
		"dependents are not aborted":    {keepDependents: true},
		"children are not discarded":    {keepChildren: true},
		"the L1 is not cleared":         {keepL1: true},
		"the undo log is not restored":  {keepWrites: true},
		"commits are before their time": {commitEarly: true},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(2000) {
				draw := rand.New(rand.NewPCG(seed, 45))
				spec, text := drawSpec(draw), drawProgram(draw)
				r := start(t, spec, text)
				r.e.faults = f
				if found(&r) {
					return
				}
			}
			t.Error("no program finds it")
		})
	}
}

// found reports whether a run shows a defect by its result.
func found(r *ran) (yes bool) {
	defer func() {
		if p := recover(); p != nil {
			yes = true
		}
	}()
	ctx := context.Background()
	if err := r.e.Run(ctx, Limits{Cycles: 1_000_000}); err != nil {
		return !strings.Contains(err.Error(), "cycle limit")
	}
	return r.e.Verify(ctx, r.p, 0, r.before) != nil
}

// With one task for each timestamp, memory is that of the plain sequential execution.
func TestUniqueTimestamps(t *testing.T) {
	const text = `
_start:	lui s11, 0x10000
	li s0, 200
next:	mv a0, s0
	la t1, f
	swarm.enqueue t1, s0
	addi s0, s0, -1
	bgtz s0, next
	swarm.finish
f:	lui s11, 0x10000
	lw t0, 0(s11)
	li t1, 31
	mul t0, t0, t1
	add t0, t0, a0
	sw t0, 0(s11)
	andi t2, a0, 63
	slli t2, t2, 6
	add t2, t2, s11
	lw t3, 64(t2)
	add t3, t3, t0
	sw t3, 64(t2)
	swarm.finish
`
	spec := shaped{DefaultSpec(), 4, 4}
	r := start(t, spec, text)
	plain, err := emu.New(emu.Config{Cores: 1, Warps: 1, Threads: 1})
	require.NoError(t, err)
	plain.Mem = r.before.memory.Snapshot()
	require.NoError(t, r.run())
	_, err = plain.RunTasks(context.Background(), r.p, nil)
	require.NoError(t, err)
	_, differ := plain.Mem.FirstDifference(r.e.arch.Mem)
	assert.False(t, differ)
	assert.NotZero(t, r.e.Stats.Aborts.Conflict)
}

// Two runs are equal to the cycle and to the count.
func TestSameCycles(t *testing.T) {
	for seed := range uint64(20) {
		var first Stats
		for i := range 2 {
			draw := rand.New(rand.NewPCG(seed, 46))
			spec, text := drawSpec(draw), drawProgram(draw)
			r := start(t, spec, text)
			require.NoError(t, r.run())
			if i == 0 {
				first = r.e.Stats
			}
			require.Equal(t, first, r.e.Stats)
		}
	}
}

// The time of a single task is that of the Spec: dispatch, an instruction a cycle, misses, finish, the next update.
func TestTimesOfOneTask(t *testing.T) {
	for _, c := range []struct {
		code string
		want uint64 // beyond dispatch and finish
	}{
		{"nop; nop; nop", 3},
		{"lui t0, 0x10000; lw t1, 0(t0)", 2 + 2 + 5 + 7 + 9 + 120},
		{"lui t0, 0x10000; lw t1, 0(t0); lw t2, 4(t0)", 3 + 143},
		{"lui t0, 0x10000; lw t1, 0(t0); sw t1, 4(t0)", 3 + 143 + 2 + 5 + 7 + 9}, // the right to write
	} {
		spec := shaped{DefaultSpec(), 1, 1}
		r := start(t, spec, "_start: "+c.code+"; swarm.finish")
		require.NoError(t, r.run())
		assert.Equal(t, 5+c.want+5, r.e.Stats.Cycles.Committed, c.code)
		assert.Equal(t, (5+c.want+5+199)/200*200, r.e.Cycles(), c.code)
	}
}

// A trap of a task that would not execute in order is none.
func TestTrapsOfTheEarliestTaskOnly(t *testing.T) {
	// the second task loads a pointer that the first, which takes long, sets
	text := `
_start:	la a1, slow
	li t0, 1
	swarm.enqueue a1, t0
	la a1, use
	li t0, 2
	swarm.enqueue a1, t0
	swarm.finish
slow:	li t0, 500
l:	addi t0, t0, -1
	bgtz t0, l
	lui t1, 0x10000
	sw t1, 0(t1)
	swarm.finish
use:	lui t1, 0x10000
	lw t2, 0(t1)
	lw t3, 0(t2)
	swarm.finish
`
	spec := shaped{DefaultSpec(), 1, 4}
	r := start(t, spec, text)
	require.NoError(t, r.run())
	assert.NotZero(t, r.e.Stats.Cycles.Stalled)

	r = start(t, spec, strings.Replace(text, "sw t1, 0(t1)", "nop", 1))
	var trap *emu.Trap
	require.ErrorAs(t, r.e.Run(context.Background(), Limits{}), &trap)
	assert.Equal(t, "use+0x8", trap.Symbol)
}

// A window's cycles are given once each, whatever the order of the requests.
func TestCalendar(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	var c calendar
	at := map[uint64]uint64{}
	for range 200 {
		want, n := uint64(draw.IntN(800)), uint64(1+draw.IntN(8))
		got := c.reserve(want, n)
		require.GreaterOrEqual(t, got, want)
		at[got/windowCycles] += n
	}
	for w, n := range at {
		assert.LessOrEqual(t, n, uint64(windowCycles)+8, "window %d", w)
	}
	assert.Equal(t, uint64(10_000), c.reserve(10_000, 3))
	assert.Equal(t, uint64(9984+3), c.reserve(9984, 3))
}

// BenchmarkTasks measures committed tasks a second, on 16 cores: short tasks of which few conflict.
func BenchmarkTasks(b *testing.B) {
	const text = `
_start:	lui s11, 0x10000
	li s0, 64
next:	mv a0, s0
	li a5, %d
	la t1, f
	swarm.enqueue t1, s0
	addi s0, s0, -1
	bgtz s0, next
	swarm.finish
f:	lui s11, 0x10000
	li t1, 1103515245
	mul t0, a0, t1
	addi t0, t0, 1234
	srli t2, t0, 8
	lui t3, 0x40
	addi t3, t3, -4
	and t2, t2, t3
	add t2, t2, s11
	lw t4, 0(t2)
	addi t4, t4, 1
	sw t4, 0(t2)
	mv a0, t0
	beqz a5, end
	addi a5, a5, -1
	addi t5, a6, 1
	la t1, f
	swarm.enqueue t1, t5
end:	swarm.finish
`
	spec := shaped{DefaultSpec(), 4, 4}
	for range b.N {
		r := start(b, spec, fmt.Sprintf(text, 3000))
		b.ResetTimer()
		require.NoError(b, r.e.Run(context.Background(), Limits{}))
		b.StopTimer()
		s := &r.e.Stats
		b.ReportMetric(float64(s.Committed)*float64(b.N)/b.Elapsed().Seconds(), "tasks/s")
		b.ReportMetric(float64(s.Aborts.Total())/float64(s.Committed), "aborts/task")
		b.ReportMetric(float64(r.e.Cycles())/float64(s.Committed), "cycles/task")
		b.ReportMetric(float64(s.Instrs)/float64(s.Committed), "instrs/task")
		b.StartTimer()
	}
}
