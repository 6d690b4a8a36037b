// Package direction holds the directions in which edges are handled, and the policies that choose between them.
package direction

import "fmt"

// Direction determines the end of an edge whose vertex walks its row.
type Direction uint8

// Directions.
const (
	Push Direction = iota // active sources walk their out-edges
	Pull                  // destinations walk their in-edges
)

func (d Direction) String() string { return [...]string{"push", "pull"}[d] }

// Frontier describes the active vertices of the coming super-step, the input of a policy.
type Frontier struct {
	Vertices, Edges uint64 // vertices of the frontier, and edges that leave it
	Unexplored      uint64 // edges that leave vertices without a value; all edges if vertices can receive several
	Unpushed        int64  // all edges minus those that frontiers have pushed along
	AllVertices     uint64
	Before          Direction // direction of the last super-step
	First           bool      // no super-step precedes it
	Growing         bool      // it has more vertices than the previous one
}

// Policy chooses a super-step's direction.
type Policy struct {
	Name string
	Doc  string
	Uses []Direction
	next func(f *Frontier, t Thresholds) Direction
}

// Thresholds of the policies that use them, and their rule.
type Thresholds struct {
	Alpha, Beta float64
	Rule        Rule
}

// Rule is the decision rule of hybrid.
type Rule string

// Rules.
const (
	Beamer   Rule = "beamer"
	SEPGraph Rule = "sep-graph"
)

// Rules returns every rule.
func Rules() []Rule { return []Rule{Beamer, SEPGraph} }

// Next returns the direction of the next super-step.
func (p *Policy) Next(f *Frontier, t Thresholds) Direction { return p.next(f, t) }

// policies holds every policy, one file each.
var policies = []*Policy{push, pull, hybrid}

// Policies returns every policy.
func Policies() []*Policy { return policies }

// ByName returns the policy with that name.
func ByName(name string) (*Policy, error) {
	for _, p := range policies {
		if p.Name == name {
			return p, nil
		}
	}
	return nil, fmt.Errorf("no direction %q", name)
}
