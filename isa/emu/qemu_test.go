package emu_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
	"heddle/internal/tools"
	"heddle/isa"
	"heddle/isa/asm"
	"heddle/isa/elf"
	"heddle/isa/emu"
)

// Layout shared with testdata/qemu_guest.s.
const (
	guestBase  = 0x10000
	batchCases = 256
	regsAddr   = 0x100
	dataAddr   = 0x400
	casesAddr  = 0x20000
	caseBytes  = 640
	codeOffset = 512
	codeWords  = 32
	bodyWords  = codeWords - 2 // between the load of x31 and the jump back
)

// state is the initial or the final state of a case.
type state struct {
	Fcsr uint32
	X    [32]uint32 // X[0] is not used
	F    [32]uint32
	Data [64]uint32
}

// testCase is a state and straight code to run on it; branches go forward only.
type testCase struct {
	Init state
	Body [bodyWords]uint32
}

func (s *state) words() [128]uint32 {
	var w [128]uint32
	copy(w[:32], s.X[:])
	w[0] = s.Fcsr
	copy(w[32:64], s.F[:])
	copy(w[64:], s.Data[:])
	return w
}

func stateOf(w [128]uint32) (s state) {
	copy(s.X[:], w[:32])
	s.X[0], s.Fcsr = 0, w[0]
	copy(s.F[:], w[32:64])
	copy(s.Data[:], w[64:])
	return s
}

func encode(t testing.TB, in isa.Inst) uint32 {
	w, err := isa.Encode(&in)
	if err != nil { // require's bookkeeping would take most of a long run
		t.Fatal(err)
	}
	return w
}

// code returns the words of the case at slot of a batch, ready to run.
func (c *testCase) code(t testing.TB, slot int, back uint32) (w [codeWords]uint32) {
	w[0] = encode(t, isa.Inst{Row: isa.Lookup("lw"), Rd: 31, Imm: regsAddr + 31*4})
	copy(w[1:], c.Body[:])
	pc := codeAddr(slot) + 4*(codeWords-1)
	w[codeWords-1] = encode(t, isa.Inst{Row: isa.Lookup("jal"), Imm: int32(back - pc)})
	return w
}

func codeAddr(slot int) uint32 { return casesAddr + uint32(slot)*caseBytes + codeOffset }

// qemu is a guest that stays alive over many batches.
type qemu struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  io.Reader
	back uint32
}

func startQEMU(t testing.TB) *qemu {
	t.Helper()
	path := tools.Need(t, "qemu-riscv32")
	src, err := os.ReadFile("testdata/qemu_guest.s")
	require.NoError(t, err)
	p, err := asm.Assemble("qemu_guest.s", src, asm.Options{Base: guestBase})
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, elf.Write(&file, p))
	guest := filepath.Join(t.TempDir(), "guest.elf")
	require.NoError(t, os.WriteFile(guest, file.Bytes(), 0o755))

	q := &qemu{cmd: exec.Command(path, guest)}
	q.back, _ = p.Symbol("back")
	q.in, err = q.cmd.StdinPipe()
	require.NoError(t, err)
	q.out, err = q.cmd.StdoutPipe()
	require.NoError(t, err)
	q.cmd.Stderr = os.Stderr
	require.NoError(t, q.cmd.Start())
	t.Cleanup(func() {
		_ = q.in.Close()
		_ = q.cmd.Wait()
	})
	return q
}

// run executes one batch.
func (q *qemu) run(t testing.TB, cases []testCase) []state {
	t.Helper()
	q.send(t, cases)
	return q.receive(t, len(cases))
}

// send starts a batch; missing cases are empty ones.
func (q *qemu) send(t testing.TB, cases []testCase) {
	t.Helper()
	var in bytes.Buffer
	nop := encode(t, isa.Inst{Row: isa.Lookup("addi")})
	for slot := range batchCases {
		c := testCase{}
		for i := range c.Body {
			c.Body[i] = nop
		}
		if slot < len(cases) {
			c = cases[slot]
		}
		put(&in, c.Init.words())
		put(&in, c.code(t, slot, q.back))
	}
	_, err := q.in.Write(in.Bytes())
	require.NoError(t, err)
}

// receive returns the first n results of the batch that was sent.
func (q *qemu) receive(t testing.TB, n int) []state {
	t.Helper()
	out := make([]byte, batchCases*512)
	_, err := io.ReadFull(q.out, out)
	require.NoError(t, err, "the guest stopped: an instruction of this batch is illegal there")
	states := make([]state, n)
	for i := range states {
		var w [128]uint32
		for j := range w {
			w[j] = binary.LittleEndian.Uint32(out[i*512+j*4:])
		}
		states[i] = stateOf(w)
	}
	return states
}

func put[A [128]uint32 | [codeWords]uint32](b *bytes.Buffer, a A) {
	_ = binary.Write(b, binary.LittleEndian, a)
}

// ours runs cases on the functional machine, at the addresses they have in QEMU.
type ours struct{ m *emu.Machine }

func newOurs(t testing.TB, back uint32) *ours {
	m, err := emu.New(emu.Config{Cores: 1, Warps: 1, Threads: 1, MaxInstrs: 10_000})
	require.NoError(t, err)
	m.Mem.Store32(back, encode(t, isa.Inst{Row: isa.Lookup("tmc")})) // ends the warp
	return &ours{m}
}

func (o *ours) run(t testing.TB, slot int, c *testCase, back uint32) (state, error) {
	m, w := o.m, o.m.Core(0).Warp(0)
	for i, v := range c.Init.words() {
		a := uint32(regsAddr + i*4)
		if i >= 64 {
			a = dataAddr + uint32(i-64)*4
		}
		m.Mem.Store32(a, v)
	}
	for i, v := range c.code(t, slot, back) {
		m.Mem.Store32(codeAddr(slot)+uint32(i)*4, v)
	}
	m.Launch(codeAddr(slot))
	for r := range isa.Reg(32) {
		w.SetReg(r, 0, c.Init.X[r])
		w.SetReg(isa.F+r, 0, c.Init.F[r])
	}
	w.SetFcsr(c.Init.Fcsr)
	err := m.Run(context.Background())
	s := state{Fcsr: w.Fcsr()}
	for r := range isa.Reg(32) {
		s.X[r], s.F[r] = w.Reg(r, 0), w.Reg(isa.F+r, 0)
	}
	for i := range s.Data {
		s.Data[i] = m.Mem.Load32(dataAddr + uint32(i)*4)
	}
	return s, err
}

// listing shows a case for a failure message.
func (c *testCase) listing() string {
	var s strings.Builder
	for i, w := range c.Body {
		pc := codeAddr(0) + 4 + uint32(i)*4
		if d := isa.Disassemble(w, pc); d != "addi zero, zero, 0" {
			fmt.Fprintf(&s, "  %08x: %s\n", pc, d)
		}
	}
	return s.String()
}

// differ names the first few places where two states differ.
func differ(ours, theirs state) string {
	var s strings.Builder
	a, b := ours.words(), theirs.words()
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		name := fmt.Sprintf("data[%d]", i-64)
		switch {
		case i == 0:
			name = "fcsr"
		case i < 64:
			name = isa.Reg(i).String()
		}
		fmt.Fprintf(&s, "  %-8s ours %08x, QEMU %08x\n", name, a[i], b[i])
	}
	return s.String()
}

// keptDir holds every case that ever failed, shrunk; they are run first.
const keptDir = "testdata/qemu"

// TestAgainstQEMU runs random instruction streams here and on QEMU.
func TestAgainstQEMU(t *testing.T) {
	q := startQEMU(t)
	o := newOurs(t, q.back)
	check(t, q, o, keptCases(t), nil)

	n, seed := int(testenv.Cases(t, 20_000, 1_000_000)), testenv.Seed(t, 1)
	g := newGenerator(t, rand.New(rand.NewPCG(seed, 0)))
	batch := make([]testCase, batchCases)
	for done := 0; done < n; done += batchCases {
		for i := range batch {
			batch[i] = g.testCase()
		}
		check(t, q, o, batch, g)
	}
	require.Empty(t, g.missing(), "rows that no case used")
}

// check runs a batch on both and reports the first difference, shrunk.
func check(t *testing.T, q *qemu, o *ours, cases []testCase, g *generator) {
	t.Helper()
	if len(cases) == 0 {
		return
	}
	q.send(t, cases) // QEMU works while we do
	got, errs := make([]state, len(cases)), make([]error, len(cases))
	for i := range cases {
		got[i], errs[i] = o.run(t, i, &cases[i], q.back)
	}
	for i, theirs := range q.receive(t, len(cases)) {
		if errs[i] == nil && got[i] == theirs {
			continue
		}
		c := cases[i]
		if g != nil {
			c = shrink(t, q, o, c)
			keep(t, &c)
		}
		s, err := o.run(t, 0, &c, q.back)
		t.Fatalf("case differs from QEMU (err %v):\n%sinitial fcsr %02x\n%s", err, c.listing(), c.Init.Fcsr,
			differ(s, q.run(t, []testCase{c})[0]))
	}
}

// shrink replaces instructions by nops and registers by zero as long as the
// case still fails.
func shrink(t *testing.T, q *qemu, o *ours, c testCase) testCase {
	fails := func(c testCase) bool {
		got, err := o.run(t, 0, &c, q.back)
		return err != nil || got != q.run(t, []testCase{c})[0]
	}
	if !fails(c) {
		return c // depends on its slot
	}
	nop := encode(t, isa.Inst{Row: isa.Lookup("addi")})
	try := func(change func(*testCase)) {
		d := c
		change(&d)
		if safe(&d) && fails(d) {
			c = d
		}
	}
	for i := len(c.Body) - 1; i >= 0; i-- {
		try(func(d *testCase) { d.Body[i] = nop })
	}
	for i := range 32 {
		try(func(d *testCase) { d.Init.X[i] = 0 })
		try(func(d *testCase) { d.Init.F[i] = 0 })
	}
	try(func(d *testCase) { d.Init.Data = [64]uint32{} })
	return c
}

// safe reports whether no instruction of the case addresses memory through a
// register that shrinking has left without an address.
func safe(c *testCase) bool {
	var known [32]bool // registers set by addi rd, x0, imm and not written since
	known[0] = true
	for _, w := range c.Body {
		in, ok := isa.Decode(w)
		if !ok {
			return false
		}
		switch in.Sem.(type) {
		case isa.Load, isa.Store, isa.AMO, isa.LoadReserved, isa.StoreConditional:
			if !known[in.Rs1] {
				return false
			}
		case isa.Jump:
			if in.Name == "jalr" && !known[in.Rs1] {
				return false
			}
		}
		if in.Rd < isa.F && in.Rd != 0 {
			known[in.Rd] = in.Name == "addi" && in.Rs1 == 0 || in.Name == "auipc"
		}
	}
	return true
}

// keep writes a failing case to testdata.
func keep(t *testing.T, c *testCase) {
	var s strings.Builder
	fmt.Fprintf(&s, "# initial state (fcsr x1..x31 f0..f31, 64 words of data), then code\n")
	w := c.Init.words()
	for i, v := range w {
		fmt.Fprintf(&s, "%08x%s", v, map[bool]string{true: "\n", false: " "}[i%8 == 7])
	}
	for i, v := range c.Body {
		fmt.Fprintf(&s, "%08x%s", v, map[bool]string{true: "\n", false: " "}[i == bodyWords-1])
	}
	for line := range strings.Lines(c.listing()) {
		s.WriteString("#" + line)
	}
	require.NoError(t, os.MkdirAll(keptDir, 0o755))
	name := filepath.Join(keptDir, fmt.Sprintf("%08x.txt", rand.Uint32()))
	require.NoError(t, os.WriteFile(name, []byte(s.String()), 0o644))
	t.Logf("kept as %s", name)
}

func keptCases(t *testing.T) (cases []testCase) {
	files, err := filepath.Glob(filepath.Join(keptDir, "*.txt"))
	require.NoError(t, err)
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		var words []uint32
		for line := range strings.Lines(string(b)) {
			text, _, _ := strings.Cut(line, "#")
			for _, x := range strings.Fields(text) {
				v, err := strconv.ParseUint(x, 16, 32)
				require.NoError(t, err, f)
				words = append(words, uint32(v))
			}
		}
		require.Len(t, words, 128+bodyWords, f)
		c := testCase{Init: stateOf([128]uint32(words[:128]))}
		copy(c.Body[:], words[128:])
		cases = append(cases, c)
	}
	return cases
}
