// Package activeset holds the data structures for a super-step's active vertices: the code that traverses, tests and
// fills them, and their host side (GRAssembler, PACT '22, §5.2; UGF).
//
// The set being filled is never the set being read. A map rotates through three roles (read in one super-step, zeroed
// in the next, filled in the one after), so zeroing is a share of an existing kernel and costs no launch.
package activeset

import (
	"fmt"

	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// Set is the active set within one kernel; its methods emit code.
type Set interface {
	// Places returns the number of entries that a traversal of the active vertices visits.
	Places() ir.Value
	// Vertex returns the vertex at an entry; it is active only if Holds reports so.
	Vertex(place ir.Value) ir.Value
	// Holds reports whether v is active; nil if every vertex tested counts as active.
	Holds(v ir.Value) ir.Value
	// Add activates v for the next super-step.
	Add(v ir.Value)
	// Clear zeroes the memory that the super-step after next will fill.
	Clear()
}

// Choice is a data structure for the active set.
type Choice struct {
	Name string
	Doc  string
	// Members is set if membership of a vertex can be tested; otherwise active vertices are found only by traversal.
	Members bool
	// Lists is set if a traversal visits only active vertices, though perhaps some twice.
	Lists bool
	// Sized is set if the set only keeps a count: every vertex is visited.
	Sized bool
	// Queue is set if a kernel compacts the active vertices into a queue before each push; Reverse, if it compacts the
	// destinations that can still accept a value before each pull.
	Queue, Reverse bool
	// Outputs is set if that queue is made of a word for each edge that the super-step before has walked.
	Outputs bool
	// OfUnit is set if graph units hold the set and only they traverse it.
	OfUnit bool
	set    func(k *emit.Kernel, d *Dedup) Set
	filled func(k *emit.Kernel) Set // nil: not traversable before the next super-step
	state  func(vertices, edges int, d *Dedup) State
	kept   bool // the queue is a part of a stack
}

// choices holds every data structure, one file each.
var choices = []*Choice{queue, bitmap, bytemap, counter, list, qnbBitmap, qnbBytemap, rqnbBitmap,
	rqnbBytemap, outputs}

// Choices returns every data structure for the active set.
func Choices() []*Choice { return choices }

// ByName returns the data structure with that name.
func ByName(name string) (*Choice, error) {
	for _, c := range choices {
		if c.Name == name {
			return c, nil
		}
	}
	return nil, fmt.Errorf("no active set %q", name)
}

// Room returns the maximum number of entries of a traversal.
func (c *Choice) Room(vertices, edges int, d *Dedup) int {
	if c.Lists || c.Outputs {
		return d.room(vertices, edges)
	}
	return vertices
}

// In returns the set within a kernel.
func (c *Choice) In(k *emit.Kernel, d *Dedup) Set { return c.set(k, d) }

// Filled returns the next super-step's set within a kernel that runs once all vertices have been added. That kernel
// traverses and tests it like the active set, and has no other set. nil: not supported.
func (c *Choice) Filled(k *emit.Kernel) Set {
	if c.filled == nil {
		return nil
	}
	return c.filled(k)
}

// New returns the host side of a set.
func (c *Choice) New(vertices, edges int, d *Dedup) State { return c.state(vertices, edges, d) }
