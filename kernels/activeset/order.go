package activeset

import "fmt"

// Order says which active vertices go first.
type Order struct {
	Name string
	Doc  string
	// Piles says that vertices above a threshold wait in a Far pile.
	Piles bool
}

// orders are all of them.
var orders = []*Order{
	{Name: "none", Doc: "all active vertices at once"},
	{Name: "near-far", Doc: "those whose value is below a threshold; the others wait until there are none", Piles: true},
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
