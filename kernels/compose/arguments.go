package compose

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"time"

	"heddle/graph"
	"heddle/kernels/activeset"
	"heddle/kernels/ir"
	"heddle/kernels/schedule"
)

// place allocates every array that a kernel names, and writes those with initial contents.
func (r *run) place() error {
	if r.prefix == "" {
		r.image = graph.NewImage(graph.ArrayBase, r.Shape().LineBytes, r.Reserved()...)
	}
	sets := map[string]bool{}
	for _, a := range r.rotating() {
		if err := r.placeSet(a); err != nil {
			return err
		}
		for _, role := range a.Roles {
			sets[role] = true
		}
	}
	words := r.words()
	for _, k := range r.kernels.All() {
		for _, p := range k.Params {
			_, scalar := words[p.Name]
			_, placed := r.addresses[p.Name]
			if scalar || placed || sets[p.Name] {
				continue
			}
			if err := r.placeArray(p.Name); err != nil {
				return err
			}
		}
		a, err := r.image.Reserve(r.prefix+"arguments of "+k.Name, max(1, len(k.Params)))
		if err != nil {
			return err
		}
		r.argumentBlocks[k] = a.Addr
	}
	if err := errors.Join(r.placeLists(), r.placeRead()); err != nil {
		return err
	}
	if r.prefix != "" { // the session that owns the image writes it
		return nil
	}
	for _, a := range r.image.Arrays() {
		r.Layout = append(r.Layout, graph.Region{Name: a.Name, Addr: a.Addr, Size: a.Bytes()})
	}
	r.image.Write(r)
	return nil
}

// rotating returns the arrays whose names change as the active set is exchanged.
func (r *run) rotating() []*activeset.Array {
	if r.waiting == nil {
		return r.set.Arrays()
	}
	return append(r.set.Arrays(), r.waiting.Arrays()...)
}

// placeSet allocates an array of the active set, zeroed.
func (r *run) placeSet(a *activeset.Array) error {
	p, err := r.image.Place(r.prefix+a.Name, make([]uint32, a.Words))
	a.Addr = p.Addr
	return err
}

// placeArray allocates the array that kernels know by a name: of the schedule, the layout or the algorithm.
func (r *run) placeArray(name string) (err error) {
	var a graph.Array
	if own := r.Plan.Schedule.Array(name); own != nil {
		a, err = r.image.Reserve(r.prefix+name, own.Words(r.maxWalk, r.Shape().Cores*r.Shape().Warps))
		r.addresses[name] = a.Addr
		return err
	}
	switch name {
	case r.Plan.Layout.Gathers:
		a, err = r.image.Reserve(r.prefix+name, r.problem.Graph.Edges())
		r.addresses[name] = a.Addr
		return err
	case activeRows:
		a, err = r.image.Reserve(r.prefix+name, r.maxWalk)
		r.addresses[name] = a.Addr
		return err
	case rowsSize:
		a, err = r.image.Place(r.prefix+name, []uint32{0})
		r.addresses[name] = a.Addr
		return err
	}
	if data, own, ok := r.built(name); ok {
		if at, placed := r.shares(data, own); placed {
			r.addresses[name] = at
			return nil
		}
		a, err = r.image.Share(r.prefix+name, data)
		r.addresses[name] = a.Addr
		r.keepShared(data, own, a.Addr)
		return err
	}
	switch data, ok := r.data(name); {
	case !ok:
		return fmt.Errorf(
			"%s: a kernel names %q, which is no array of the algorithm, the schedule or the layout, and none of the "+
				"numbers that kernels are given",
			r.Plan.Name(), name)
	case data == nil:
		a, err = r.image.Reserve(r.prefix+name, r.Plan.Algorithm.Size(name, &r.problem))
	default:
		a, err = r.image.Place(r.prefix+name, data)
	}
	r.addresses[name] = a.Addr
	return err
}

// built returns the contents of an array of the layout, and whether the layout owns it or shares it with others.
func (r *run) built(name string) (data []uint32, own, ok bool) {
	begin := time.Now()
	defer func() { r.Built += time.Since(begin) }()
	if x := r.Plan.Layout.Array(name); x != nil {
		return x.Words(r.problem.Graph), true, true
	}
	data, ok = r.arrays.Array(name)
	return data, false, ok
}

// data returns the initial contents of an array that is not of the layout; nil: the kernels fill it.
func (r *run) data(name string) (data []uint32, ok bool) {
	if name == "residual" {
		return []uint32{0}, true
	}
	for _, a := range r.Plan.Algorithm.Arrays {
		switch {
		case a.Name != name:
		case a.Data == nil:
			return nil, true
		default:
			return a.Data(&r.problem), true
		}
	}
	return nil, false
}

// words returns the values of scalar parameters in the next super-step.
func (r *run) words() map[string]uint32 {
	w := map[string]uint32{
		"vertices": uint32(r.problem.Graph.Vertices()), "edges": uint32(r.problem.Graph.Edges()),
		"step": uint32(r.exchanges + 1), "source": r.Source, "target": r.problem.Target, "bound": r.bound,
		"round": r.round,
		"depth": uint32(r.depth), schedule.LaunchWord: r.launchNumber,
	}
	maps.Copy(w, r.layoutScalars)
	maps.Copy(w, r.set.Words())
	maps.Copy(w, r.virtualRows)
	if r.waiting != nil {
		maps.Copy(w, r.waiting.Words())
	}
	if f := r.Plan.Algorithm.Words; f != nil {
		maps.Copy(w, f(&r.problem))
	}
	return w
}

// fill writes a kernel's argument block for the next launch.
func (r *run) fill(k *ir.Kernel) { r.WriteWords(r.argumentBlocks[k], r.block(k)) }

// block returns a kernel's argument block in the next super-step: scalars, and the addresses of arrays, of which those
// of the active set depend on the number of exchanges.
func (r *run) block(k *ir.Kernel) []uint32 { return r.blockBut(k, nil) }

// blockBut is block with zeros in place of some parameters; nil: of none.
func (r *run) blockBut(k *ir.Kernel, some func(parameter string) bool) []uint32 {
	words, places := r.words(), maps.Clone(r.addresses)
	for _, a := range r.set.Arrays() {
		places[a.Role(r.exchanges)] = a.Addr
	}
	if r.waiting != nil {
		maps.Copy(places, r.waiting.Places())
	}
	block := make([]uint32, len(k.Params))
	for i, p := range k.Params {
		if some != nil && some(p.Name) {
			continue
		}
		value, ok := words[p.Name]
		if !ok {
			value, ok = places[p.Name]
		}
		if !ok || p.Word != i {
			panic(fmt.Sprintf("BUG: compose: parameter %s of kernel %s", p.Name, k.Name))
		}
		block[i] = value
	}
	return block
}

func float(m activeset.Memory, addr uint32) float32 {
	word := []uint32{0}
	m.ReadWords(addr, word)
	return math.Float32frombits(word[0])
}
