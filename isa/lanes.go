package isa

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"reflect"
	"runtime"
	"sort"
	"strings"
)

// MaxLanes is the number of lanes of the widest warp.
const MaxLanes = 32

// Lanes is a value for each lane of a warp, as a register holds. Narrower warps use the first.
type Lanes [MaxLanes]uint32

// LaneLoop does an IntOp on whole registers: d[l] = f(a[l], b[l]) in the lanes of the mask.
type LaneLoop func(d, a, b *Lanes, mask uint32)

// LaneTest performs a Branch's comparison on whole registers: bit l is f(a[l], b[l]). It compares all lanes; the caller
// masks the result.
type LaneTest func(a, b *Lanes) uint32

// Lanes returns the loop over lanes of the row's IntOp: one with vector instructions where the processor has them, or
// one generated from the scalar function, so that the compiler can inline it: a call per lane would dominate the time
// of an ALU instruction. A row without a generated loop gets a slow one.
func (r *Row) Lanes() LaneLoop {
	f := r.Sem.(IntOp)
	name := nameOf(f)
	if loop := vectorLoops[name]; loop != nil && vectors {
		return loop
	}
	if loop := laneLoops[name]; loop != nil {
		return loop
	}
	return func(d, a, b *Lanes, mask uint32) {
		for l := range d {
			if mask>>l&1 != 0 {
				d[l] = f(a[l], b[l])
			}
		}
	}
}

// Test returns the loop over lanes of the row's Branch.
func (r *Row) Test() LaneTest {
	f := r.Sem.(Branch)
	name := nameOf(f)
	if test := vectorTests[name]; test != nil && vectors {
		return test
	}
	if test := laneTests[name]; test != nil {
		return test
	}
	return func(a, b *Lanes) (set uint32) {
		for l := range a {
			set |= flag(f(a[l], b[l])) << l
		}
		return set
	}
}

// AMOLoop does an AMO on words of a table, as Gather finds them, for the lanes of the mask in their order:
// d[l] = word; word = f(word, s[l]).
type AMOLoop func(d *Lanes, table *[TableBytes]byte, at, s *Lanes, mask uint32)

// Atomics returns the loop over lanes of the row's AMO.
func (r *Row) Atomics() AMOLoop {
	f := r.Sem.(AMO)
	name := nameOf(f)
	if loop := vectorAtomics[name]; loop != nil && vectors {
		return loop
	}
	if loop := laneAtomics[name]; loop != nil {
		return loop
	}
	return func(d *Lanes, table *[TableBytes]byte, at, s *Lanes, mask uint32) {
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) % MaxLanes
			w := entry(table, at[l])
			d[l] = load(w)
			store(w, f(d[l], s[l]))
		}
	}
}

// FPLoop performs an FPOp on whole registers, rounding to nearest (RNE), as far as the lanes' operands permit. done is
// the lanes of the mask that have their result, inexact the lanes of done that raise NX; they raise no other flag. The
// other lanes are unchanged.
type FPLoop func(d, a, b, c *Lanes, mask uint32) (done, inexact uint32)

// ToNearest returns the loop over lanes of the row's FPOp; nil: there is none.
func (r *Row) ToNearest() FPLoop {
	if vectors {
		return vectorFloats[r.Name]
	}
	return nil
}

// Fill writes v to the lanes of the mask.
func (d *Lanes) Fill(v, mask uint32) {
	if vectors {
		fillLanes(d, v, mask)
		return
	}
	for m := mask; m != 0; m &= m - 1 {
		d[bits.TrailingZeros32(m)%MaxLanes] = v
	}
}

// Take copies the lanes of the mask from s.
func (d *Lanes) Take(s *Lanes, mask uint32) {
	if vectors {
		keepLanes(d, s, mask)
		return
	}
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) % MaxLanes
		d[l] = s[l]
	}
}

// Odd returns the lanes that hold an odd value.
func (d *Lanes) Odd() (set uint32) {
	if vectors {
		return oddLanes(d)
	}
	for l, v := range d {
		set |= v & 1 << l
	}
	return set
}

// Sum writes base + offset to the lanes of the mask, which must not be empty. It returns the first lane's sum, and the
// bits in which the others differ from it. Lanes outside the mask get the first lane's sum.
func (d *Lanes) Sum(base *Lanes, offset, mask uint32) (first, differ uint32) {
	if vectors {
		return addressLanes(d, base, offset, mask)
	}
	first = base[bits.TrailingZeros32(mask)%MaxLanes] + offset
	for l, b := range base {
		v := first
		if mask>>l&1 != 0 {
			v = b + offset
		}
		d[l] = v
		differ |= v ^ first
	}
	return first, differ
}

// TableBytes is the size of a table that Gather reads.
const TableBytes = 4096

// Gather loads the lanes of the mask with little-endian words of the table, at the byte offsets in at modulo the
// table's size, rounded down to a multiple of 4.
func (d *Lanes) Gather(table *[TableBytes]byte, at *Lanes, mask uint32) {
	if vectors {
		gatherLanes(d, table, at, mask)
		return
	}
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) % MaxLanes
		d[l] = load(entry(table, at[l]))
	}
}

// Scatter stores the lanes of the mask, in order, to words of the table, at offsets in at as for Gather.
func (d *Lanes) Scatter(table *[TableBytes]byte, at *Lanes, mask uint32) {
	if vectors {
		scatterLanes(d, table, at, mask)
		return
	}
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) % MaxLanes
		store(entry(table, at[l]), d[l])
	}
}

// entry returns the bytes of a word of a table.
func entry(table *[TableBytes]byte, at uint32) *[4]byte {
	o := int(at & (TableBytes - 4))
	return (*[4]byte)(table[o : o+4])
}

func load(w *[4]byte) uint32     { return binary.LittleEndian.Uint32(w[:]) }
func store(w *[4]byte, v uint32) { binary.LittleEndian.PutUint32(w[:], v) }

// Equal returns the lanes that equal v in the bits of care.
func (d *Lanes) Equal(v, care uint32) (set uint32) {
	if vectors {
		return matchLanes(d, v&care, care)
	}
	for l, x := range d {
		set |= flag((x^v)&care == 0) << l
	}
	return set
}

// nameOf is the name of a function of this package.
func nameOf(f any) string {
	full := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
	return full[strings.LastIndex(full, ".")+1:]
}

// generateLaneLoops returns the source of lanes_gen.go.
func generateLaneLoops() string {
	ops, tests, atomics := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, r := range all {
		switch f := r.Sem.(type) {
		case IntOp:
			ops[nameOf(f)] = true
		case Branch:
			tests[nameOf(f)] = true
		case AMO:
			atomics[nameOf(f)] = true
		}
	}
	var s strings.Builder
	s.WriteString("// Code generated by `go test ./isa -run LaneLoops -update`. DO NOT EDIT.\n\npackage isa\n\nimport " +
		"\"math/bits\"\n")
	s.WriteString("\nvar laneLoops = map[string]LaneLoop{\n")
	for _, n := range sorted(ops) {
		fmt.Fprintf(&s, laneLoop, n)
	}
	s.WriteString("}\n\nvar laneTests = map[string]LaneTest{\n")
	for _, n := range sorted(tests) {
		fmt.Fprintf(&s, laneTest, n)
	}
	s.WriteString("}\n\nvar laneAtomics = map[string]AMOLoop{\n")
	for _, n := range sorted(atomics) {
		fmt.Fprintf(&s, laneAtomic, n)
	}
	s.WriteString("}\n")
	return s.String()
}

const (
	laneLoop = `	%[1]q: func(d, a, b *Lanes, mask uint32) {
		_, _, _ = d[0], a[0], b[0] // not nil: checked once
		if mask == 1<<MaxLanes-1 {
			for l := range d {
				d[l] = %[1]s(a[l], b[l])
			}
			return
		}
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) %% MaxLanes
			d[l] = %[1]s(a[l], b[l])
		}
	},
`
	laneTest = `	%[1]q: func(a, b *Lanes) (set uint32) {
		_, _ = a[0], b[0] // not nil: checked once
		for l := range a {
			set |= flag(%[1]s(a[l], b[l])) << l
		}
		return set
	},
`
	laneAtomic = `	%[1]q: func(d *Lanes, table *[TableBytes]byte, at, s *Lanes, mask uint32) {
		_, _, _, _ = d[0], table[0], at[0], s[0] // not nil: checked once
		if mask == 1<<MaxLanes-1 {
			for l := range d {
				w := entry(table, at[l])
				v := load(w)
				d[l] = v
				store(w, %[1]s(v, s[l]))
			}
			return
		}
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) %% MaxLanes
			w := entry(table, at[l])
			v := load(w)
			d[l] = v
			store(w, %[1]s(v, s[l]))
		}
	},
`
)

func sorted(set map[string]bool) []string {
	names := make([]string, 0, len(set))
	for n := range set {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}
