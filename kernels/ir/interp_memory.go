package ir

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"heddle/isa"
	"heddle/isa/emu"
)

func (w *warp) effect(i *Instr, mask uint32) {
	switch i.Op {
	case OpFence:
	case OpEdge:
		w.Edges += uint64(bits.OnesCount32(mask))
	case OpBlockEdge:
		if w.id%w.k.Block == 0 {
			w.Edges++
		}
	case OpBarrier:
		w.wait(atBarrier)
	case OpDeviceBarrier:
		w.wait(atDeviceBarrier)
	case OpWeaverReg, OpWeaverSkip, OpWeaverDecID, OpWeaverDecLoc:
		w.weaver(i, mask)
	case OpUnitDo, OpUnitAsk:
		r := w.askRow(i, i.UnitRow(), mask, i.Args...)
		if i.Type != None {
			copy(w.values[i.ID*w.n:][:w.n], r.Out)
		}
	case OpTask:
		panic(failure{errors.New("the interpreter knows no tasks")})
	case OpCall:
		w.fail(i, "a call of code that is not the kernel's: only a machine executes it")
	case OpListPush:
		_, push := w.k.ListRows()
		w.askRow(i, push, mask, i.Args...)
	default:
		for m := mask; m != 0; m &= m - 1 {
			w.access(i, bits.TrailingZeros32(m))
		}
	}
}

func (w *warp) wait(for_ wait) {
	if !w.yield(for_) {
		panic(failure{nil})
	}
}

// access executes a load, store or atomic in one lane.
func (w *warp) access(i *Instr, l int) {
	size := uint32(4)
	if i.Op == OpLoadByte || i.Op == OpStoreByte {
		size = 1
	}
	addr := w.get(i.Args[0], l) + i.Imm
	if x := i.Args[1]; x != nil {
		addr += size * w.get(x, l)
	}
	switch i.Op {
	case OpLoad, OpLoadByte:
		w.set(i, l, w.read(i, addr, size))
	case OpStore, OpStoreByte:
		w.write(i, addr, size, w.get(i.Args[2], l))
	default:
		old := w.read(i, addr, 4)
		w.set(i, l, old)
		if v, ok := w.atomic(i, l, old); ok {
			w.write(i, addr, 4, v)
		}
	}
}

// atomic computes the value that an atomic writes.
func (w *warp) atomic(i *Instr, l int, old uint32) (v uint32, write bool) {
	a := w.get(i.Args[2], l)
	if i.Op == OpAtomicCAS {
		return w.get(i.Args[3], l), old == a
	}
	return ops[i.Op].eval(i.Type, i.Type, [3]uint32{old, a}), true
}

// local returns the scratchpad's bytes at an address, or nil.
func (w *warp) local(i *Instr, addr, size uint32) []byte {
	if addr&(size-1) != 0 {
		w.fail(i, "address 0x%08x is not a multiple of %d", addr, size)
	}
	if addr < emu.NullEnd {
		w.fail(i, "address 0x%08x: nothing below 0x%x may be accessed", addr, emu.NullEnd)
	}
	if addr < emu.ScratchpadBase {
		return nil
	}
	o := addr - emu.ScratchpadBase
	return w.scratch[o : o+size]
}

func (w *warp) read(i *Instr, addr, size uint32) uint32 {
	b := w.local(i, addr, size)
	if b == nil {
		b = make([]byte, size)
		w.m.Mem.Read(addr, b)
	}
	if size == 1 {
		return uint32(b[0])
	}
	return binary.LittleEndian.Uint32(b)
}

func (w *warp) write(i *Instr, addr, size, v uint32) {
	data := binary.LittleEndian.AppendUint32(nil, v)[:size]
	if b := w.local(i, addr, size); b != nil {
		copy(b, data)
		return
	}
	w.m.Mem.Write(addr, data)
}

// unit returns the core's graph unit of that name; nil: it has none.
func (w *warp) unit(name string) emu.Unit {
	for _, u := range w.units {
		if u.Name() == name {
			return u
		}
	}
	return nil
}

func (w *warp) weaverCapacity() uint32 {
	if u := w.unit("weaver"); u != nil {
		v, _ := u.CSR(isa.CSRWeaverCapacity)
		return min(v, uint32(w.run.warps*w.n))
	}
	return 0
}

// ask sends one request to the Weaver. The request holds the thread mask afterwards.
func (w *warp) ask(i *Instr, fn uint8, mask uint32, args ...Value) *emu.UnitRequest {
	return w.askUnit("weaver", i, fn, mask, args...)
}

// askRow sends the request of an instruction.
func (w *warp) askRow(i *Instr, r *isa.Row, mask uint32, args ...Value) *emu.UnitRequest {
	op := r.Sem.(isa.UnitOp)
	return w.askUnit(op.Unit, i, op.Fn, mask, args...)
}

// askUnit sends one request to the core's unit of that name.
func (w *warp) askUnit(name string, i *Instr, fn uint8, mask uint32, args ...Value) *emu.UnitRequest {
	u := w.unit(name)
	if u == nil {
		w.fail(i, "this machine has no %s unit", name)
	}
	rows := [3][]uint32{make([]uint32, w.n), make([]uint32, w.n), make([]uint32, w.n)}
	for n, a := range args {
		if a != nil {
			copy(rows[n], w.values[a.ID*w.n:][:w.n])
		}
	}
	w.req = emu.UnitRequest{Fn: fn, Warp: w.id, Mask: mask, NewMask: mask, A: rows[0], B: rows[1], C: rows[2],
		Out: make([]uint32, w.n)}
	if err := u.Exec(&w.req); err != nil {
		w.fail(i, "%w", err)
	}
	return &w.req
}

var weaverFn = map[Op]uint8{OpWeaverReg: isa.WeaverReg, OpWeaverSkip: isa.WeaverSkip, OpWeaverDecID: isa.WeaverDecID,
	OpWeaverDecLoc: isa.WeaverDecLoc}

func (w *warp) weaver(i *Instr, mask uint32) {
	if i.Op == OpWeaverReg {
		for m := mask; m != 0; m &= m - 1 {
			switch vid := w.get(i.Args[0], bits.TrailingZeros32(m)); {
			case i.Imm == RegistersEven && vid&1 != 0:
				w.fail(i, "vertex 0x%x: expected an even number", vid)
			case i.Imm != RegistersEven && vid>>31 != 0:
				w.fail(i, "vertex 0x%x: expected below 2^31", vid)
			}
		}
	}
	r := w.ask(i, weaverFn[i.Op], mask, i.Args...)
	if i.Op == OpWeaverDecID && r.NewMask != mask {
		w.fail(i, "this machine's Weaver sets the thread mask: use WeaverEdges")
	}
	if i.Type != None {
		copy(w.values[i.ID*w.n:][:w.n], r.Out)
	}
}

// weaverEdges executes the block until the Weaver has no edge left for any lane.
func (w *warp) weaverEdges(i *Instr, mask uint32) uint32 {
	w.left[i.ID], w.skipped[i.ID] = 0, 0
	body := i.Blocks[0]
	for on := mask; ; {
		vid := w.ask(i, isa.WeaverDecID, on).Out
		for m := on; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); vid[l] == ^uint32(0) {
				w.left[i.ID] |= 1 << l
				on &^= 1 << l
			}
		}
		if on == 0 {
			return w.left[i.ID]
		}
		loc := w.ask(i, isa.WeaverDecLoc, on).Out
		for _, x := range body.Instrs {
			switch x.Op {
			case OpWeaverVID:
				copy(w.values[x.ID*w.n:][:w.n], vid)
			case OpWeaverLoc:
				copy(w.values[x.ID*w.n:][:w.n], loc)
			}
		}
		on = w.block(body, on) | w.skipped[i.ID]
		w.skipped[i.ID] = 0
	}
}

// takeFromList executes the block in the lanes that received an item, until none does.
func (w *warp) takeFromList(i *Instr, mask uint32) {
	items := w.items(i.Blocks[0])
	for {
		on := w.takeItems(i, items, mask)
		if on == 0 {
			return
		}
		w.block(i.Blocks[0], on)
	}
}

// items returns the fields that a block reads of each edge or vertex.
func (w *warp) items(b *Block) (items []*Instr) {
	for _, x := range b.Instrs {
		if x.Op == OpListItem {
			items = append(items, x)
		}
	}
	return items
}

// takeItems pops once. Unused fields of an edge are not requested.
func (w *warp) takeItems(i *Instr, items []*Instr, mask uint32) (on uint32) {
	if i.Op == OpEghwEdges {
		return w.takeGenerated(i, items, mask)
	}
	var none []uint32
	fields, first := Fields(i), uint8(0)
	if i.Op == OpListEdges {
		first = uint8(bits.TrailingZeros32(fields))
		none = w.askUnit("peg", i, isa.PegPop+first, mask, nil, i.Args[0]).Out
	} else {
		pop, _ := w.k.ListRows()
		none = w.askRow(i, pop, mask, nil, i.Args[0]).Out
	}
	on = taken(none, mask)
	for _, x := range items {
		out := none
		if f := uint8(x.Imm); i.Op == OpListEdges && f != first {
			if fields>>f&1 == 0 {
				continue
			}
			out = w.askUnit("peg", i, isa.PegGet+f, mask).Out
		}
		copy(w.values[x.ID*w.n:][:w.n], out)
	}
	return on
}

// taken returns the lanes that received an item.
func taken(out []uint32, mask uint32) (on uint32) {
	for m := mask; m != 0; m &= m - 1 {
		if l := bits.TrailingZeros32(m); out[l] != ^uint32(0) {
			on |= 1 << l
		}
	}
	return on
}

// takeGenerated pops once from edge-generating hardware.
func (w *warp) takeGenerated(i *Instr, items []*Instr, mask uint32) (on uint32) {
	base := w.askUnit("eghw", i, isa.EghwPop, mask).Out
	for _, x := range items {
		out := base
		if x.Imm != uint32(eghwBase) {
			out = w.askUnit("eghw", i, isa.EghwPop+uint8(x.Imm), mask).Out
		}
		copy(w.values[x.ID*w.n:][:w.n], out)
	}
	return taken(base, mask)
}
