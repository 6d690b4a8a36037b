package reference

import (
	"fmt"

	"heddle/graph"
)

// Results of algorithms that are stopped after some super-steps, with vertices active. For level-synchronous algorithms
// it is the state of the whole run up to then; for relaxations, bounds on it.

// Undone is the remaining work of a stopped run.
type Undone struct {
	// Active are the active vertices, some perhaps twice; meaningful only if Known.
	Active []uint32
	Known  bool
	// Waits is set if vertices with large values wait: those whose value is at least Waiting. Values below Settled are
	// then final.
	Waits            bool
	Waiting, Settled uint32
}

// Check compares the active vertices with the expected ones, if known.
func (u *Undone) Check(active func(v int) bool, vertices int) error {
	if !u.Known {
		return nil
	}
	found := make([]bool, vertices)
	for _, v := range u.Active {
		found[v] = true
	}
	for v := range found {
		if found[v] != active(v) {
			return fmt.Errorf("%w: vertex %d is active after the last super-step: %t, and should be: %t", ErrWrong, v,
				found[v], active(v))
		}
	}
	return nil
}

// LevelsWithin returns the levels up to most; vertices beyond it count as unreached.
func LevelsWithin(level []uint32, most int) []uint32 {
	within := make([]uint32, len(level))
	for v, l := range level {
		within[v] = l
		if l != Unreached && int(l) > most {
			within[v] = Unreached
		}
	}
	return within
}

// Peel peels for some super-steps as the kernels do: in each, the active vertices leave, and the next active ones are
// those whose remaining degree is at most the round's number; if there are none, the next round that has some begins.
// An active vertex has its core number. The graph must have every edge in both directions.
func Peel(out *graph.Adjacency, steps int) (core []uint32, active []uint32) {
	n := out.Vertices()
	core, degree := unreached(n), make([]int, n)
	for v := range degree {
		degree[v] = out.Degree(v)
	}
	round, left := -1, n
	take := func(v uint32) {
		core[v], left = uint32(round), left-1
		active = append(active, v)
	}
	refill := func() {
		for len(active) == 0 && left > 0 {
			round++
			for v := range uint32(n) {
				if core[v] == Unreached && degree[v] <= round {
					take(v)
				}
			}
		}
	}
	refill()
	for range steps {
		leaving := active
		active = nil
		for _, v := range leaving {
			for _, w := range out.Row(int(v)) {
				if degree[w]--; core[w] == Unreached && degree[w] <= round {
					take(w)
				}
			}
		}
		refill()
	}
	return core, active
}

// Relaxation propagates minima: a value travels along an edge and grows by its length. A value that falls within a
// super-step may already be used in it.
type Relaxation struct {
	Quantity string
	Out      *graph.Adjacency
	Length   func(e uint32) uint32
	First    []uint32 // initial values; Unreached: none
	Final    []uint32 // final values
	// Comes reports whether a value can reach a vertex at all; nil: always.
	Comes func(v int, value uint32) bool
}

// Check compares the values of a run stopped after some super-steps. No value is below its final value. None exceeds
// the value after as many synchronous super-steps (each using only its initial state), unless vertices wait; then those
// below a threshold are final. The edges of a vertex that is neither active nor waiting are relaxed. And every value is
// either initial, or arrived along an edge from a vertex that holds, or held, the value it derives from.
func (r *Relaxation) Check(got []uint32, steps int, u *Undone) error {
	if len(got) != len(r.Final) {
		return fmt.Errorf("%w: %s of %d vertices, expected %d", ErrWrong, r.Quantity, len(got), len(r.Final))
	}
	before, most := r.synchronous(steps)
	if u.Waits {
		before, most = unreached(len(got)), r.settled(u.Settled)
	}
	for v, value := range got {
		switch {
		case value < r.Final[v]:
			return r.wrong(got, v, "and comes to %d, which is more", r.Final[v])
		case value > most[v]:
			return r.wrong(got, v, "and after %d super-steps it is at most %d", steps, most[v])
		case value != Unreached && r.Comes != nil && !r.Comes(v, value):
			return r.wrong(got, v, "which nothing brings there")
		}
	}
	pending := u.pending(got)
	if err := r.relaxed(got, pending); err != nil {
		return err
	}
	return r.attained(got, before, pending)
}

func (r *Relaxation) wrong(got []uint32, v int, why string, args ...any) error {
	return fmt.Errorf("%w: %s of vertex %d is %s, %s", ErrWrong, r.Quantity, v, valueText(got[v]),
		fmt.Sprintf(why, args...))
}

func valueText(x uint32) string {
	if x == Unreached {
		return "none"
	}
	return fmt.Sprint(x)
}

// synchronous returns the values after that many super-steps, each of which uses only the state at its beginning, and
// after one less.
func (r *Relaxation) synchronous(steps int) (before, now []uint32) {
	before, now = append(before, r.First...), append(now, r.First...)
	active := make([]bool, len(now))
	for v := range active {
		active[v] = now[v] != Unreached
	}
	for range steps {
		before = append(before[:0], now...)
		next, some := make([]bool, len(now)), false
		for v := range before {
			if !active[v] {
				continue
			}
			r.edges(v, func(w, length uint32) {
				if x := plus(before[v], length); x < uint64(now[w]) {
					now[w], next[w], some = uint32(x), true, true
				}
			})
		}
		if active = next; !some {
			break
		}
	}
	return before, now
}

// edges calls f for the edges that leave a vertex.
func (r *Relaxation) edges(v int, f func(to, length uint32)) {
	for e := r.Out.Offsets[v]; e < r.Out.Offsets[v+1]; e++ {
		f(r.Out.IDs[e], r.Length(e))
	}
}

// plus is the value that comes along an edge. It does not wrap: the machine may have left any word.
func plus(value, length uint32) uint64 { return uint64(value) + uint64(length) }

// settled returns upper bounds of the values, given that those below a limit are final.
func (r *Relaxation) settled(below uint32) []uint32 {
	most := unreached(len(r.Final))
	for v, x := range r.Final {
		if x < below {
			most[v] = x
		}
	}
	return most
}

// pending marks the vertices whose values may not have been propagated along their edges.
func (u *Undone) pending(got []uint32) []bool {
	p := make([]bool, len(got))
	for v := range p {
		p[v] = !u.Known || u.Waits && got[v] >= u.Waiting
	}
	for _, v := range u.Active {
		p[v] = true
	}
	return p
}

// relaxed returns an error for an edge along which a value should have been propagated, but was not.
func (r *Relaxation) relaxed(got []uint32, pending []bool) (err error) {
	for v, x := range got {
		if pending[v] || x == Unreached {
			continue
		}
		r.edges(v, func(w, length uint32) {
			if err == nil && uint64(got[w]) > plus(x, length) {
				err = r.wrong(got, int(w), "and vertex %d, which is not active, has %d and an edge of length %d to it",
					v, x, length)
			}
		})
	}
	return err
}

// attained returns an error for a value without an origin: neither a vertex's present value, nor one that a pending
// vertex may have held at the beginning of the last super-step, when it was at least as large.
func (r *Relaxation) attained(got, before []uint32, pending []bool) error {
	from := make([]bool, len(got))
	var reached []int
	reach := func(v int) {
		if !from[v] {
			from[v] = true
			reached = append(reached, v)
		}
	}
	for v, x := range got {
		if x != Unreached && x == r.First[v] {
			reach(v)
		}
		if x == Unreached || !pending[v] {
			continue
		}
		r.edges(v, func(w, length uint32) {
			had := int64(got[w]) - int64(length) // when the value was sent
			if got[w] != Unreached && had > int64(x) && had <= int64(before[v]) {
				reach(int(w))
			}
		})
	}
	for ; len(reached) > 0; reached = reached[1:] {
		v := reached[0]
		r.edges(v, func(w, length uint32) {
			if uint64(got[w]) == plus(got[v], length) {
				reach(int(w))
			}
		})
	}
	for v, x := range got {
		if x != Unreached && !from[v] {
			return r.wrong(got, v, "which no vertex with an edge to it has brought there")
		}
	}
	return nil
}
