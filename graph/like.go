package graph

import (
	"fmt"
	"math"

	"heddle/graph/graphspec"
)

// like generates a stand-in. Its arithmetic is of correctly rounded operations alone (+, ×, /, √, and conversions that
// keep a compiler from fusing them), so that the graph is the same on every machine.
func like(s *graphspec.Like) *edges {
	o, _ := s.Original()
	if o.Degrees == graphspec.Road {
		return roads(s)
	}
	n, m := s.Size()
	r := newRNG(s.Seed, "like "+s.Name)
	d := newLottery(likeWeights(&o, n, s.Gini))
	number := r.permutation(n)
	l := &edges{vertices: n}
	for _, pair := range distinct(m, func() uint64 { return d.pair(&r, o.Directed) }) {
		u, v := number[pair>>32], number[uint32(pair)]
		if o.Directed {
			l.add(u, v)
		} else {
			l.addBoth(u, v)
		}
	}
	return l
}

// steps is how finely the exponent of ranks is chosen: to 1/1024.
const steps = 10

// likeWeights returns weights by rank, rank^-a. Where the largest degree is known, a is the one that gives it and the
// mean of the original; else 1/2, an exponent of degrees of 3. It is less where a vertex would be expected to have more
// than a quarter of all as neighbours, as in a stand-in that is shrunk much.
func likeWeights(o *graphspec.Original, n int, gini float64) []float64 {
	mean := float64(o.Edges) / float64(o.Vertices)
	if gini > 0 {
		most := cut(o, n)
		shape, _ := shapeOf(gini, n, mean, most)
		return logLogistic(shape, n, mean, most)
	}
	a := uint(1 << (steps - 1))
	if o.MaxDegree > 0 {
		a = steepest(float64(o.MaxDegree), o.Vertices, mean)
	}
	if quarter := float64(n) / 4; largest(a, n, mean) > quarter {
		a = steepest(quarter, n, mean)
	}
	return ranks(a, n)
}

// steepest returns the largest a of which the first of n ranks has no more than most, in units of 2^-steps.
func steepest(most float64, n int, mean float64) (a uint) {
	for bit := uint(1 << (steps - 1)); bit > 0; bit >>= 1 {
		if largest(a|bit, n, mean) <= most {
			a |= bit
		}
	}
	return a
}

// summed is the number of ranks that are added one by one; the sum of the rest is an integral (Euler and Maclaurin).
const summed = 1 << 20

// largest is the degree of the first rank when degrees fall as rank^-a, a in units of 2^-steps, and have that mean.
func largest(a uint, n int, mean float64) float64 {
	sum := 0.0
	for _, w := range ranks(a, min(n, summed)) {
		sum += w
	}
	if n > summed {
		from, to := float64(summed), float64(n)
		first, last := rank(a, from), rank(a, to)
		sum += float64((float64(to*last) - float64(from*first)) / (1 - float64(a)/(1<<steps)))
		sum += float64((last - first) / 2)
	}
	return float64(float64(n)*mean) / sum
}

// ranks returns rank^-a for the ranks 1 to n.
func ranks(a uint, n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = rank(a, float64(i+1))
	}
	return w
}

// rank returns x^-a, a in units of 2^-steps.
func rank(a uint, x float64) float64 {
	power, root := 1.0, x
	for range a >> steps {
		power = float64(power * x)
	}
	for bit := uint(1 << (steps - 1)); bit > 0; bit >>= 1 {
		root = math.Sqrt(root)
		if a&bit != 0 {
			power = float64(power * root)
		}
	}
	return float64(1 / power)
}

// lottery draws indices in proportion to their weights.
type lottery struct {
	upTo  []uint64 // sums of weights
	first []uint32 // by the upper bits of a draw: where the search begins
	shift uint
}

// weightUnit is the integer that stands for the weight 1, the largest.
const weightUnit = 1 << 32

func newLottery(weights []float64) *lottery {
	d := &lottery{upTo: make([]uint64, len(weights))}
	sum := uint64(0)
	for i, w := range weights {
		sum += max(1, uint64(float64(w*weightUnit)))
		d.upTo[i] = sum
	}
	for sum>>d.shift > uint64(len(weights)) {
		d.shift++
	}
	d.first = make([]uint32, sum>>d.shift+1)
	at := uint32(0)
	for k := range d.first {
		for d.upTo[at] <= uint64(k)<<d.shift && int(at)+1 < len(d.upTo) {
			at++
		}
		d.first[k] = at
	}
	return d
}

func (d *lottery) draw(r *rng) uint64 {
	x := r.below(d.upTo[len(d.upTo)-1])
	i := d.first[x>>d.shift]
	for d.upTo[i] <= x {
		i++
	}
	return uint64(i)
}

// pair draws two different vertices; of an undirected edge, the lower number first.
func (d *lottery) pair(r *rng, directed bool) uint64 {
	for {
		u, v := d.draw(r), d.draw(r)
		switch {
		case u == v:
		case directed:
			return u<<32 | v
		default:
			return min(u, v)<<32 | max(u, v)
		}
	}
}

// roads is a perturbed lattice: of the links to the right, down, and along both diagonals, in random order, those that
// close no circle, and then as many others as the original has edges.
func roads(s *graphspec.Like) *edges {
	n, m := s.Size()
	r := newRNG(s.Seed, "like "+s.Name)
	links := lattice(n)
	for i := len(links) - 1; i > 0; i-- {
		j := r.below(uint64(i) + 1)
		links[i], links[j] = links[j], links[i]
	}
	l := &edges{vertices: n}
	root := identity(n)
	var rest []uint64
	for _, link := range links {
		u, v := find(root, uint32(link>>32)), find(root, uint32(link))
		switch {
		case l.len() >= 2*m:
			return l
		case u == v:
			rest = append(rest, link)
		default:
			root[max(u, v)] = min(u, v)
			l.addBoth(uint32(link>>32), uint32(link))
		}
	}
	for _, link := range rest[:min(len(rest), max(0, m-l.len()/2))] {
		l.addBoth(uint32(link>>32), uint32(link))
	}
	return l
}

// lattice lists the links of n vertices in rows.
func lattice(n int) (links []uint64) {
	width := int(math.Sqrt(float64(n)))
	links = make([]uint64, 0, 4*n)
	add := func(u, v int) {
		if v < n {
			links = append(links, uint64(u)<<32|uint64(v))
		}
	}
	for u := range n {
		x := u % width
		if x+1 < width {
			add(u, u+1)
			add(u, u+width+1)
		}
		add(u, u+width)
		if x > 0 {
			add(u, u+width-1)
		}
	}
	return links
}

// find returns the set that a vertex is in, and shortens the way to it.
func find(root []uint32, v uint32) uint32 {
	for root[v] != v {
		root[v] = root[root[v]]
		v = root[v]
	}
	return v
}

// likeSource labels a stand-in, wherever its graph is named.
func likeSource(s *graphspec.Like) string {
	o, _ := s.Original()
	law := "Chung–Lu, exponent fitted to the published maximum"
	switch {
	case o.Degrees == graphspec.Road:
		law = "perturbed lattice"
	case s.Gini > 0:
		law = logLogisticLaw(s)
	case s.MaxDegree > 0:
		law = fmt.Sprintf("Chung–Lu, exponent fitted to a largest degree of %d", s.MaxDegree)
	case o.MaxDegree == 0:
		law = "Chung–Lu, exponent 3 assumed"
	}
	size := ""
	if s.Shrink > 1 {
		size = fmt.Sprintf(", shrunk %d times", s.Shrink)
	}
	return fmt.Sprintf("stand-in for %s%s (%s; seed: %d), not that graph", s.Name, size, law, s.Seed)
}
