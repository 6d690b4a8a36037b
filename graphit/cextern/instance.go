package cextern

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"heddle/graphit"
	"heddle/isa"
	"heddle/isa/emu"
)

// Instance is the functions' memory in a run: of the reference, or of the host that drives the device.
type Instance struct {
	image   *Image
	machine *emu.Machine
	pure    bool              // a function of edges or vertices runs
	wrong   error             // what it must not do
	steps   uint64            // its instructions so far
	heap    uint32            // the next free address
	places  map[string]uint32 // of vectors
	placed  bool              // the graph is there
	inexact map[uint32]string // words of elements that depend on roundings, with their vector
	Changed bool              // main has called a function since the device was given the data
}

// heapBase is where an instance has vectors, the graph and sets.
const heapBase = frameEnd

// Bounds of a call, in instructions: by a function of edges or vertices, and by main.
const (
	maxPure = 1 << 22
	maxMain = 1 << 32
)

// NewInstance returns the functions as they are when a program begins.
func NewInstance(m *Image) (*Instance, error) {
	x := &Instance{image: m, heap: heapBase, places: map[string]uint32{}, Changed: true}
	var err error
	x.machine, err = emu.New(emu.Config{Cores: 1, Warps: 1, Threads: 1, Trace: x.watch, Stop: x.stop})
	if err != nil {
		return nil, err
	}
	x.machine.Mem.Load(m.Program)
	return x, nil
}

// stop ends a call that does what it must not, or does not end.
func (x *Instance) stop(*emu.Warp) error {
	most := uint64(maxMain)
	if x.pure {
		most = maxPure
	}
	if x.steps++; x.steps > most && x.wrong == nil {
		x.wrong = fmt.Errorf("does not end within %d instructions", most)
	}
	return x.wrong
}

// watch sees that a function of edges or vertices has its frame and constants alone.
// And that main's reads no element that the reference knows within a bound alone.
func (x *Instance) watch(s *emu.Step) {
	if len(s.Addrs) == 0 || x.wrong != nil {
		return
	}
	at := s.Addrs[0]
	stores := s.Inst.Class == isa.ClassStore || s.Inst.Class == isa.ClassAtomic
	name := x.inexact[at&^3]
	switch {
	case !x.pure && name != "" && !stores:
		x.wrong = fmt.Errorf("reads an element of %s that depends on roundings: it cannot be checked", name)
	case !x.pure:
	case at >= heapBase:
		x.wrong = errors.New("is called for edges or vertices, and reads or writes vectors, the graph or a set: only " +
			"functions that main calls can")
	case stores && at < FrameBase && at >= Base:
		name, _, _ := x.image.Program.Where(at)
		x.wrong = fmt.Errorf("is called for edges or vertices, and writes the variable %s: only functions that main "+
			"calls can", name)
	}
}

// Data calls f with the words of code and data, for a device that is to have them.
func (x *Instance) Data(f func(addr uint32, words []uint32)) {
	for _, s := range x.image.Program.Segments {
		b := make([]byte, (s.Size+3)&^3)
		x.machine.Mem.Read(s.Addr, b)
		words := make([]uint32, len(b)/4)
		for i := range words {
			words[i] = binary.LittleEndian.Uint32(b[4*i:])
		}
		f(s.Addr, words)
	}
}

// alloc returns memory of the heap.
func (x *Instance) alloc(bytes uint64) (uint32, error) {
	const end = 0xE0000000
	bytes = (bytes + 63) &^ 63
	if uint64(x.heap)+bytes > end {
		return 0, errors.New("the functions' memory is full")
	}
	at := x.heap
	x.heap += uint32(bytes)
	return at, nil
}

// run calls a function with a frame's arguments.
func (x *Instance) run(fn *Function, frame [CodeAt / 4]uint32) (a0, a1, fa0 uint32, err error) {
	mem := x.machine.Mem
	mem.WriteWords(FrameBase, frame[:])
	mem.Store32(FrameBase+CodeAt, fn.Addr)
	x.machine.SetArg(FrameBase)
	x.machine.Launch(x.image.Program.Entry)
	x.wrong, x.steps = nil, 0
	if err := x.machine.Run(context.Background()); err != nil {
		return 0, 0, 0, err
	}
	r := func(i uint32) uint32 { return mem.Load32(FrameBase + ResultAt + 4*i) }
	return r(0), r(1), r(2), x.wrong
}

// call is a call by main, or by a function of edges or vertices.
func (fn *Function) call(c graphit.ExternC) float64 {
	made := c.Instance(func() any {
		x, err := NewInstance(fn.Image)
		if err != nil {
			c.Fail("%v", err)
		}
		return x
	})
	x := made.(*Instance)
	x.pure = !c.Main()
	x.Changed = x.Changed || !x.pure
	y, err := x.call(fn, c)
	if err != nil {
		c.Fail("%s: %v", fn.Image.File, err)
	}
	return y
}

func (x *Instance) call(fn *Function, c graphit.ExternC) (float64, error) {
	heap := x.heap
	if !x.pure {
		if err := x.enter(c); err != nil {
			return 0, err
		}
		heap = x.heap
	}
	frame, err := x.frame(fn, c)
	if err != nil {
		return 0, err
	}
	a0, a1, fa0, err := x.run(fn, frame)
	if err != nil {
		return 0, err
	}
	if !x.pure {
		x.leave(c)
	}
	x.heap = heap
	if fn.Decl.Result == nil {
		return 0, nil
	}
	return x.result(fn.Decl.Result.Type, a0, a1, fa0, c)
}

// frame lays out the arguments.
func (x *Instance) frame(fn *Function, c graphit.ExternC) (frame [CodeAt / 4]uint32, err error) {
	for i, a := range fn.Args {
		at := frame[a.Offset/4:]
		switch a.Type.Kind {
		case graphit.String:
			text := append([]byte(c.Text(i)), 0)
			if at[0], err = x.alloc(uint64(len(text))); err != nil {
				return frame, err
			}
			x.machine.Mem.Write(at[0], text)
		case graphit.VertexSet:
			set := c.Set(i)
			if at[1], err = x.alloc(uint64(len(set))*4 + 4); err != nil {
				return frame, err
			}
			at[0] = uint32(len(set))
			x.machine.Mem.WriteWords(at[1], set)
		case graphit.Double:
			bits := math.Float64bits(c.Number(i))
			at[0], at[1] = uint32(bits), uint32(bits>>32)
		case graphit.Float:
			at[0] = math.Float32bits(float32(c.Number(i)))
		default:
			at[0] = uint32(int64(c.Number(i)))
		}
	}
	return frame, nil
}

// result returns a number, or gives the call a set.
func (x *Instance) result(t *graphit.Type, a0, a1, fa0 uint32, c graphit.ExternC) (float64, error) {
	switch t.Kind {
	case graphit.VertexSet:
		if n := uint32(c.Vertices()); a0 > n {
			return 0, fmt.Errorf("it returns a set of %d vertices: the graph has %d", a0, n)
		}
		set := make([]uint32, a0)
		for i := range set {
			set[i] = x.machine.Mem.Load32((a1 + 4*uint32(i)) &^ 3)
		}
		c.Return(set)
		return 0, nil
	case graphit.Double:
		return math.Float64frombits(uint64(a1)<<32 | uint64(a0)), nil
	case graphit.Float:
		return float64(math.Float32frombits(fa0)), nil
	case graphit.Int:
		return float64(int32(a0)), nil
	case graphit.Bool:
		return float64(a0 & 1), nil
	}
	return float64(a0), nil
}

// enter copies what the functions know of the program to their memory.
func (x *Instance) enter(c graphit.ExternC) (err error) {
	if !x.placed {
		if err := x.graph(c); err != nil {
			return err
		}
		x.placed = true
	}
	x.inexact = map[uint32]string{}
	if at, ok := x.image.globals["gt_priority"]; ok && c.Queued() {
		x.machine.Mem.Store32(at, uint32(c.Priority()))
	}
	for _, v := range x.image.vectors {
		n, size := c.Len(v.name), bytesOf(v.of)
		at, ok := x.places[v.name]
		if !ok {
			if at, err = x.alloc(uint64(n) * uint64(size)); err != nil {
				return err
			}
			x.places[v.name] = at
			x.machine.Mem.Store32(v.pointer, at)
		}
		b := make([]byte, 0, n*int(size))
		for i := range n {
			y, exact := c.Exactly(v.name, i)
			b = encode(b, v.of, y)
			for k := uint32(0); k < size && !exact; k += 4 {
				x.inexact[at+uint32(i)*size+k] = v.name
			}
		}
		x.machine.Mem.Write(at, b)
	}
	return nil
}

// graph copies the graph.
func (x *Instance) graph(c graphit.ExternC) error {
	words := map[string][]uint32{}
	begin := []uint32{0}
	for v := range uint32(c.Vertices()) {
		row := c.Row(v)
		words["gt_neighbour"] = append(words["gt_neighbour"], row...)
		words["gt_weight"] = append(words["gt_weight"], c.Weights(v)...)
		begin = append(begin, uint32(len(words["gt_neighbour"])))
	}
	words["gt_begin"] = begin
	for _, name := range []string{"gt_begin", "gt_neighbour", "gt_weight"} {
		pointer, ok := x.image.globals[name]
		if !ok || len(words[name]) == 0 {
			continue
		}
		at, err := x.alloc(4 * uint64(len(words[name])))
		if err != nil {
			return err
		}
		x.machine.Mem.WriteWords(at, words[name])
		x.machine.Mem.Store32(pointer, at)
	}
	if at, ok := x.image.globals["gt_vertices"]; ok {
		x.machine.Mem.Store32(at, uint32(c.Vertices()))
	}
	return nil
}

// leave gives the program the elements of vectors that a function has changed.
func (x *Instance) leave(c graphit.ExternC) {
	for _, v := range x.image.vectors {
		n, size := c.Len(v.name), int(bytesOf(v.of))
		b := make([]byte, n*size)
		x.machine.Mem.Read(x.places[v.name], b)
		for i := range n {
			if y := decode(b[i*size:], v.of); y != c.Get(v.name, i) {
				c.Put(v.name, i, y)
			}
		}
	}
}

func encode(b []byte, t *graphit.Type, y float64) []byte {
	switch t.Kind {
	case graphit.Bool:
		return append(b, byte(y))
	case graphit.Float:
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(y)))
	case graphit.Double:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(y))
	}
	if t.Wide {
		return binary.LittleEndian.AppendUint64(b, uint64(y))
	}
	return binary.LittleEndian.AppendUint32(b, uint32(int64(y)))
}

func decode(b []byte, t *graphit.Type) float64 {
	switch t.Kind {
	case graphit.Bool:
		return float64(b[0] & 1)
	case graphit.Float:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case graphit.Double:
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	if t.Wide {
		return float64(binary.LittleEndian.Uint64(b))
	}
	w := binary.LittleEndian.Uint32(b)
	if t.Kind == graphit.Int {
		return float64(int32(w))
	}
	return float64(w)
}
