package activeset

import (
	"fmt"

	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// Order says which active vertices go first.
type Order struct {
	Name string
	Doc  string
	// Piles says that vertices above a threshold wait.
	Piles bool
	// Listed says that they wait in a unit's list if the active vertices are in lists of the unit.
	Listed bool
	// Buckets says that several wait apart, by their values.
	Buckets bool

	later func(c *Choice, k *emit.Kernel, v, value ir.Value)
	split func(c *Choice, k *emit.Kernel, near Set, value func(v ir.Value) ir.Value)
	pile  func(c *Choice, vertices int, delta uint32, buckets int) Pile
}

// Pile is the host's side of the vertices that wait.
type Pile interface {
	// Arrays are placed, and zeroed, before the first super-step.
	Arrays() []*Array
	// Places are the addresses of the arrays by the kernels' names.
	Places() map[string]uint32
	// Words are parameters by their names.
	Words() map[string]uint32
	// Delta is how far apart thresholds are.
	Delta() uint32
	// Rise raises the threshold, for a split; more is false if none waits.
	Rise(m Memory) (more bool)
	// Split is told that the split is done.
	Split(m Memory)
}

// orders are all of them.
var orders = []*Order{
	{Name: "none", Doc: "all active vertices at once"},
	{
		Name: "near-far", Doc: "those whose value is below a threshold; the others wait until there are none", Piles: true, Listed: true,
		later: func(c *Choice, k *emit.Kernel, v, _ ir.Value) { c.addFar(k, v, FarList) },
		split: func(c *Choice, k *emit.Kernel, near Set, value func(v ir.Value) ir.Value) { c.splitFar(k, near, value) },
		pile:  func(c *Choice, vertices int, delta uint32, _ int) Pile { return c.newFar(vertices, delta) },
	}, {
		Name: "buckets", Doc: "Δ-stepping: those of the first bucket of values, delta wide, until it stays empty; the others wait in theirs", Piles: true, Buckets: true,
		later: func(_ *Choice, k *emit.Kernel, v, value ir.Value) { enterBucket(k, v, value) },
		split: func(_ *Choice, k *emit.Kernel, near Set, value func(v ir.Value) ir.Value) {
			splitBucket(k, near, value)
		},
		pile: func(_ *Choice, vertices int, delta uint32, n int) Pile { return newBuckets(vertices, delta, n) },
	},
}

// Orders lists them.
func Orders() []*Order { return orders }

// OrderByName finds one.
func OrderByName(name string) (*Order, error) {
	for _, o := range orders {
		if o.Name == name {
			return o, nil
		}
	}
	return nil, fmt.Errorf("no order %q", name)
}

// Near reports whether a value is below the threshold.
func Near(k *emit.Kernel, value ir.Value) ir.Value { return k.Lt(value, k.Count("far.threshold")) }

// Later has v wait, whose value is above the threshold.
func (o *Order) Later(c *Choice, k *emit.Kernel, v, value ir.Value) { o.later(c, k, v, value) }

// Split emits the kernel that goes through vertices that wait when the threshold has risen: what is below it now
// becomes active, what was below it before has been so, the rest goes on waiting.
func (o *Order) Split(c *Choice, k *emit.Kernel, near Set, value func(v ir.Value) ir.Value) {
	o.split(c, k, near, value)
}

// New returns the host's side, with nothing that waits and a threshold of delta.
func (o *Order) New(c *Choice, vertices int, delta uint32, buckets int) Pile {
	return o.pile(c, vertices, delta, buckets)
}
