package activeset

import (
	"fmt"

	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// Order determines which active vertices are processed first.
type Order struct {
	Name string
	Doc  string
	// Piles is set if vertices above a threshold wait.
	Piles bool
	// Listed is set if they wait in a vertex-list of the unit whenever the unit holds the active set.
	Listed bool
	// Buckets is set if they wait in several buckets, by value.
	Buckets bool

	later func(c *Choice, k *emit.Kernel, v, value ir.Value)
	split func(c *Choice, k *emit.Kernel, near Set, value func(v ir.Value) ir.Value)
	pile  func(c *Choice, vertices int, delta uint32, buckets int) Pile
}

// Pile is the host side of the waiting vertices.
type Pile interface {
	// Arrays returns the arrays to place and zero before the first super-step.
	Arrays() []*Array
	// Places returns the addresses of the arrays by the kernels' parameter names.
	Places() map[string]uint32
	// Words returns the parameters by name.
	Words() map[string]uint32
	// Delta returns the distance between thresholds.
	Delta() uint32
	// Rise raises the threshold for a split; more is false if no vertex waits.
	Rise(m Memory) (more bool)
	// Split is called after the split.
	Split(m Memory)
}

// orders holds every order.
var orders = []*Order{
	{Name: "none", Doc: "all active vertices at once"},
	{
		Name: "near-far", Doc: "those whose value is below a threshold; the others wait until there are none",
		Piles: true, Listed: true,
		later: func(c *Choice, k *emit.Kernel, v, _ ir.Value) { c.addFar(k, v, FarList) },
		split: func(c *Choice, k *emit.Kernel, near Set,
			value func(v ir.Value) ir.Value) {
			c.splitFar(k, near, value)
		},
		pile: func(c *Choice, vertices int, delta uint32, _ int) Pile { return c.newFar(vertices, delta) },
	}, {
		Name: "buckets", Doc: "Δ-stepping: those of the first bucket of values, delta wide, until it stays empty; " +
			"the others wait in theirs", Piles: true, Buckets: true,
		later: func(_ *Choice, k *emit.Kernel, v, value ir.Value) { enterBucket(k, v, value) },
		split: func(_ *Choice, k *emit.Kernel, near Set, value func(v ir.Value) ir.Value) {
			splitBucket(k, near, value)
		},
		pile: func(_ *Choice, vertices int, delta uint32, n int) Pile { return newBuckets(vertices, delta, n) },
	},
}

// Orders returns every order.
func Orders() []*Order { return orders }

// OrderByName returns the order with that name.
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

// Later emits the code that defers v, whose value is above the threshold.
func (o *Order) Later(c *Choice, k *emit.Kernel, v, value ir.Value) { o.later(c, k, v, value) }

// Split emits the kernel that drains the waiting vertices after the threshold has risen: values below the new threshold
// become active, values below the previous one have already been active, the rest keep waiting.
func (o *Order) Split(c *Choice, k *emit.Kernel, near Set, value func(v ir.Value) ir.Value) {
	o.split(c, k, near, value)
}

// New returns the host side, with no waiting vertex and a threshold of delta.
func (o *Order) New(c *Choice, vertices int, delta uint32, buckets int) Pile {
	return o.pile(c, vertices, delta, buckets)
}
