package emu

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa"
)

// The fast paths to memory have the results of read and write, which take one lane at a time.
func TestShortWaysToMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for range 6_000 {
		threads := 1 + r.IntN(MaxThreads)
		row := memoryRow(r)
		seed := r.Uint64()
		short, o, mask := accessOf(t, row, threads, rand.New(rand.NewPCG(seed, 1)))
		long, _, _ := accessOf(t, row, threads, rand.New(rand.NewPCG(seed, 1)))
		ws, wl := short.cores[0].warps[0], long.cores[0].warps[0]
		require.Equal(t, execMemory(ws, o(short)), laneByLane(wl, o(long)), "%s, mask 0x%x", row.Name, mask)
		require.Equal(t, wl.regs, ws.regs, "%s of 0x%x, mask 0x%x", row.Name, ws.access.Addr, mask)
		require.Equal(t, wl.access.wrote, ws.access.wrote, row.Name)
		require.Equal(t, long.Stats(), short.Stats(), row.Name)
		require.Equal(t, long.cores[0].scratch, short.cores[0].scratch, row.Name)
		for _, l := range bitsOf(mask) {
			addr := ws.access.Addr[l] &^ 3
			require.Equal(t, long.Mem.Load32(addr), short.Mem.Load32(addr), "%s at 0x%x", row.Name, addr)
		}
	}
}

// memoryRow draws an instruction that reaches memory.
func memoryRow(r *rand.Rand) *isa.Row {
	for {
		row := isa.All()[r.IntN(len(isa.All()))]
		switch row.Sem.(type) {
		case isa.Load, isa.Store, isa.AMO, isa.CompareSwap, isa.LoadReserved, isa.StoreConditional:
			return row
		}
	}
}

// accessOf makes a machine whose first warp is about to execute the instruction.
func accessOf(t *testing.T, row *isa.Row, threads int, r *rand.Rand) (m *Machine, op func(*Machine) *Op, mask uint32) {
	m, err := New(Config{Cores: 1, Warps: 1, Threads: threads, ScratchpadBytes: 4 * r.IntN(3000)})
	require.NoError(t, err)
	in := isa.Inst{Row: row, Rs1: 5, Rs2: 6, Rd: isa.Reg([...]int{7, 5, 6, 0}[r.IntN(4)])}
	switch row.Sem.(type) {
	case isa.Store:
		in.Rd = 0
	case isa.CompareSwap:
		in.Rs3 = in.Rd
	}
	if row.Format[0].Kind == isa.KindF {
		in.Rd, in.Rs2 = in.Rd+isa.F, in.Rs2+isa.F
	}
	word, err := isa.Encode(&in)
	require.NoError(t, err)
	w := m.cores[0].warps[0]
	w.mask = uint32(r.Uint64()) & w.full
	if r.IntN(2) == 0 {
		w.mask = w.full
	}
	w.mask |= 1 << r.IntN(threads)
	w.pc, w.lanes = CodeBase, uint64(bits.OnesCount32(w.mask))
	drawOperands(r, w, row)
	m.Mem.Store32(CodeBase, word)
	if r.IntN(8) == 0 {
		m.resv.take(w.hart(r.IntN(threads)), uint64(w.regs[5][0]&^3))
	}
	return m, func(m *Machine) *Op {
		o, err := m.cores[0].warps[0].Decode(CodeBase)
		require.NoError(t, err)
		return o
	}, w.mask
}

// drawOperands draws addresses in one page, one scratchpad, several pages, or anywhere, and data that is there.
func drawOperands(r *rand.Rand, w *Warp, row *isa.Row) {
	size := uint32(4)
	switch s := row.Sem.(type) {
	case isa.Load:
		size = uint32(s.Size)
	case isa.Store:
		size = uint32(s.Size)
	}
	base := [...]uint32{0x90000000, 0x90000F80, ScratchpadBase, ScratchpadBase + 4000, 0, UncachedEnd - 64, CodeBase,
		0xFFFEFFC0}[r.IntN(8)]
	spread := [...]uint32{4, 128, 4096, 1 << 16, 1 << 31}[r.IntN(5)]
	run := r.IntN(3) == 0
	for l := range w.n {
		addr := base + r.Uint32N(spread)
		if run {
			addr = base + uint32(l)*size
		}
		if r.IntN(500) != 0 {
			addr &^= size - 1
		}
		w.regs[5][l] = addr
		for x := isa.Reg(6); x < 8; x++ {
			w.regs[x][l], w.regs[x+isa.F][l] = r.Uint32()%5, r.Uint32()
		}
		if ordinary(addr) && r.IntN(2) == 0 {
			w.m.Mem.Store32(addr&^3, r.Uint32())
		}
	}
	for i := range w.core.scratch {
		w.core.scratch[i] = byte(r.Uint32())
	}
}

// laneByLane is execMemory without the short ways.
func laneByLane(w *Warp, o *Op) error {
	a := &w.access
	if err := a.begin(w, o); err != nil {
		return err
	}
	d := &w.regs[o.rd]
	for _, l := range bitsOf(a.Mask) {
		switch s := o.Sem.(type) {
		case isa.Load:
			v, err := a.read(l)
			if err != nil {
				return err
			}
			if shift := 32 - 8*s.Size; s.Signed {
				v = uint32(int32(v<<shift) >> shift)
			}
			d[l] = v
		case isa.Store:
			if err := a.write(l, a.data[l]); err != nil {
				return err
			}
		}
	}
	switch {
	case o.atomic != nil:
		if err := o.atomic(a); err != nil {
			return err
		}
	case o.class == isa.ClassAtomic:
		if err := o.memory(a); err != nil {
			return err
		}
	}
	w.pc += 4
	return nil
}

func bitsOf(mask uint32) (lanes []int) {
	for ; mask != 0; mask &= mask - 1 {
		lanes = append(lanes, bits.TrailingZeros32(mask))
	}
	return lanes
}

// TestRoutesOfShuffles: a shuffle whose lanes have the same fields has the result of one that looks up each lane,
// whatever shuffles the warp has executed before.
func TestRoutesOfShuffles(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 23))
		m, err := New(Config{Cores: 1, Warps: 1, Threads: 1 + r.IntN(MaxThreads)})
		require.NoError(t, err)
		w := m.cores[0].warps[0]
		var ops []*Op
		for _, name := range []string{"shfl.up", "shfl.down", "shfl.bfly", "shfl.idx"} {
			word, err := isa.Encode(&isa.Inst{Row: isa.Lookup(name), Rd: 7, Rs1: 5, Rs2: 6})
			require.NoError(t, err)
			o, err := m.prepare(CodeBase, word)
			require.NoError(t, err)
			ops = append(ops, o)
		}
		for range 2000 {
			o, fields := ops[r.IntN(len(ops))], r.Uint32N(32)|r.Uint32N(4)<<9|r.Uint32N(4)<<15
			w.mask = r.Uint32()&w.full | 1<<r.IntN(w.n)
			for l := range w.n {
				w.regs[5][l] = r.Uint32()
			}
			w.regs[6].Fill(fields, w.full)
			want := w.regs[7]
			for _, l := range bitsOf(w.mask) {
				want[l] = w.regs[5][o.source(l, fields, w.n)]
			}
			require.NoError(t, execShuffle(w, o))
			require.Equal(t, want, w.regs[7], "%s 0x%x, mask 0x%x", o.Name, fields, w.mask)
		}
	}
}
