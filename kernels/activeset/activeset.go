// Package activeset holds the data structures of a super-step's active vertices: the code
// that walks, asks and fills them, and the host's side of them (GRAssembler, CGO 2024,
// §5.2; UGF).
//
// A set that is filled is not the one that is read: a map is read in one super-step,
// zeroed in the next and filled in the one after that, so that zeroing costs a share of a
// kernel and no launch.
package activeset

import (
	"fmt"

	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// Set is the active set in one kernel: its methods emit code.
type Set interface {
	// Places is how many places a walk over the active vertices has.
	Places() ir.Value
	// Vertex is the vertex at a place. It is active if Holds says so.
	Vertex(place ir.Value) ir.Value
	// Holds reports whether v is active; nil where every vertex that is asked for counts as active.
	Holds(v ir.Value) ir.Value
	// Add makes v active in the next super-step.
	Add(v ir.Value)
	// Clear zeroes what the super-step after next will fill.
	Clear()
}

// Choice is a data structure for active sets.
type Choice struct {
	Name string
	Doc  string
	// Members says that a vertex can be looked up. Without, only a walk tells what is active.
	Members bool
	// Lists says that a walk has active vertices only, some perhaps twice.
	Lists bool
	// Sized says that the set only counts: every vertex is walked.
	Sized bool
	// Queue says that a kernel lists the active vertices before each push, and Reverse that it lists the destinations
	// which can still take something before each pull.
	Queue, Reverse bool
	// OfUnit says that graph units hold the set, and only they walk it.
	OfUnit bool
	set    func(k *emit.Kernel, d *Dedup) Set
	filled func(k *emit.Kernel) Set // nil: it cannot be walked before the next super-step
	state  func(vertices, edges int, d *Dedup) State
}

// choices are all of them, one file each.
var choices = []*Choice{queue, bitmap, bytemap, counter, list, qnbBitmap, qnbBytemap, rqnbBitmap, rqnbBytemap}

// Choices lists them.
func Choices() []*Choice { return choices }

// ByName finds a choice.
func ByName(name string) (*Choice, error) {
	for _, c := range choices {
		if c.Name == name {
			return c, nil
		}
	}
	return nil, fmt.Errorf("no active set %q", name)
}

// Room is how many places a walk may have.
func (c *Choice) Room(vertices, edges int, d *Dedup) int {
	if c.Lists {
		return d.room(vertices, edges)
	}
	return vertices
}

// In returns the set in a kernel.
func (c *Choice) In(k *emit.Kernel, d *Dedup) Set { return c.set(k, d) }

// Filled is the set of the next super-step in a kernel that comes when all of it has been added: it is walked and asked
// for as the active one is otherwise, and only that. nil: it cannot be.
func (c *Choice) Filled(k *emit.Kernel) Set {
	if c.filled == nil {
		return nil
	}
	return c.filled(k)
}

// New returns the host's side of a set.
func (c *Choice) New(vertices, edges int, d *Dedup) State { return c.state(vertices, edges, d) }
