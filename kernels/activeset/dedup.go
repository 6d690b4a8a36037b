package activeset

import (
	"fmt"

	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// Dedup keeps a vertex from entering a queue twice in a super-step (UGF: monotonic_counters, bitmap, boolmap).
type Dedup struct {
	Name  string
	Doc   string
	exact bool // no vertex ever appears twice
	// once emits add, executed unless v has already been added in this super-step.
	once   func(k *emit.Kernel, v ir.Value, add func())
	clear  func(k *emit.Kernel)
	arrays func(vertices int) []*Array
}

// dedups holds every method.
var dedups = []*Dedup{
	{
		Name: "none", Doc: "as often as it is added",
		once:   func(_ *emit.Kernel, _ ir.Value, add func()) { add() },
		clear:  func(*emit.Kernel) {},
		arrays: func(int) []*Array { return nil },
	}, {
		Name: "bitmap", Doc: "a bit a vertex, set by an atomic that returns what was there", exact: true,
		once: func(k *emit.Kernel, v ir.Value, add func()) {
			word, bit := bitOf(k, v)
			old := k.AtomicOr(k.Addr("dedup.map"), word, bit)
			k.When(k.Eq(k.And(old, bit), k.U32(0)), add)
		},
		clear:  func(k *emit.Kernel) { k.Wipe(k.Addr("dedup.spare"), bitWords(k, k.Count("vertices"))) },
		arrays: func(n int) []*Array { return rotating("dedup", (n+31)/32, "dedup.map", "dedup.spare") },
	}, {
		Name: "bytemap", Doc: "a byte a vertex, read and then stored: lanes that read together may still add it twice",
		once: func(k *emit.Kernel, v ir.Value, add func()) {
			k.When(k.Eq(k.LoadByte(k.Addr("dedup.map"), v), k.U32(0)), func() {
				k.StoreByte(k.Addr("dedup.map"), v, k.U32(1))
				add()
			})
		},
		clear:  func(k *emit.Kernel) { k.Wipe(k.Addr("dedup.spare"), byteWords(k, k.Count("vertices"))) },
		arrays: func(n int) []*Array { return rotating("dedup", (n+3)/4, "dedup.map", "dedup.spare") },
	}, {
		Name: "monotonic", Doc: "the number of the super-step in which a vertex was added last, raised by an " +
			"atomic: nothing to zero", exact: true,
		once: func(k *emit.Kernel, v ir.Value, add func()) {
			step := k.Count("step")
			k.When(k.Lt(k.AtomicMax(k.Addr("dedup.step"), v, step), step), add)
		},
		clear: func(*emit.Kernel) {},
		arrays: func(n int) []*Array {
			return []*Array{{Name: "dedup", Words: n, Roles: []string{"dedup.step"}}}
		},
	},
}

// Dedups returns every method of deduplication.
func Dedups() []*Dedup { return dedups }

// DedupByName returns the method with that name.
func DedupByName(name string) (*Dedup, error) {
	for _, d := range dedups {
		if d.Name == name {
			return d, nil
		}
	}
	return nil, fmt.Errorf("no dedup %q", name)
}

// Exact reports whether a vertex never appears in the queue twice.
func (d *Dedup) Exact() bool { return d.exact }

// room bounds the queue's length. Without an exact dedup it is the maximum that a super-step adds if each active vertex
// is in the queue only once; vertices that appear several times can exceed it.
func (d *Dedup) room(vertices, edges int) int {
	if d.exact {
		return vertices
	}
	return vertices + edges
}
