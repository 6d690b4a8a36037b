// Package direction holds the directions in which edges are handled, and what decides
// between them.
package direction

import "fmt"

// Direction says which end of an edge its row belongs to: who walks.
type Direction uint8

// Directions.
const (
	Push Direction = iota // active sources walk their out-edges
	Pull                  // destinations walk their in-edges
)

func (d Direction) String() string { return [...]string{"push", "pull"}[d] }

// Frontier describes the active vertices of the coming super-step, by which a policy decides.
type Frontier struct {
	Vertices, Edges uint64 // of the frontier, and the edges that leave it
	Unexplored      uint64 // edges that leave vertices without a value; all edges if vertices can get several
	Unpushed        int64  // edges less those that frontiers have been pushed along
	AllVertices     uint64
	Before          Direction // of the last super-step
	First           bool      // there was none before
	Growing         bool      // it has more vertices than the one before
}

// Policy decides a super-step's direction.
type Policy struct {
	Name string
	Doc  string
	Uses []Direction
	next func(f *Frontier, t Thresholds) Direction
}

// Thresholds of the policies that have any, and which rule they are of.
type Thresholds struct {
	Alpha, Beta float64
	Rule        Rule
}

// Rule is how hybrid decides.
type Rule string

// Rules.
const (
	Beamer   Rule = "beamer"
	SEPGraph Rule = "sep-graph"
)

// Rules lists them.
func Rules() []Rule { return []Rule{Beamer, SEPGraph} }

// Next decides.
func (p *Policy) Next(f *Frontier, t Thresholds) Direction { return p.next(f, t) }

// policies are all of them, one file each.
var policies = []*Policy{push, pull, hybrid}

// Policies lists them.
func Policies() []*Policy { return policies }

// ByName finds a policy.
func ByName(name string) (*Policy, error) {
	for _, p := range policies {
		if p.Name == name {
			return p, nil
		}
	}
	return nil, fmt.Errorf("no direction %q", name)
}
