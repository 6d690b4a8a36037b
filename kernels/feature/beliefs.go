package feature

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"heddle/graph"
	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// beliefs is belief propagation (ONYX, Fig. 2.1a). Products at destinations are sums of logarithms: there is no atomic
// product, and a product of a hub's messages would leave the range of f32. A message's mean is 1, which changes no
// belief. Each edge has two messages, of this super-step and of the last; its source's slot selects between them, so
// that messages being read are not written.
var beliefs = &Algorithm{
	Name: "bp",
	Doc: "belief propagation: a vertex's beliefs in k states are its prior ones times its in-neighbours' messages, " +
		"which a matrix of each edge makes of their beliefs and of the message that came the other way",
	Properties: []Property{
		{Name: "sum", Words: whole, Sum: true}, {Name: "prior", Words: whole, Data: priors},
		{Name: slotArray, Words: single},
		{Name: "message", Words: pair, Edges: true, Slots: true, Data: ones},
		{Name: Coupling, Words: square, Edges: true, Data: couplings},
		{Name: "reverse", Words: single, Edges: true, Bits: reverses, Numbers: true},
	},
	First:   distributions,
	Slots:   true,
	PerEdge: messagePlaces,
	Finds:   3,
	Leaves:  1,
	Edges: []EdgeFunc{
		{Name: "send", Emit: sendMessage},
		{Name: "multiply", Into: "sum", Emit: func(g *Group, e *Edge) ir.Value {
			sent := e.Left("message", func(i Index) ir.Value { return g.Load("message", messageNext.of(e), i) })
			g.Each(func(i Index) {
				log := g.Log(sent.At(i))
				if e.Changes() { // the old message is divided out of the product
					old := g.Log(g.Load("message", messageNow.of(e), i))
					if e.plan.Separate {
						g.AddTo("sum", e.Dst, i, g.Neg(old))
					} else {
						log = g.Sub(log, old)
					}
				}
				g.AddTo("sum", e.Dst, i, log)
			})
			return messageDiffers(g, e, sent)
		}},
	},
	Vertices: []VertexFunc{
		{Name: "weigh", Emit: func(g *Group, v Place, _ func(string) Feature) (Feature, ir.Value) {
			log := g.Let(func(i Index) ir.Value { return g.Add(g.Load("prior", v, i), g.Load("sum", v, i)) })
			most := g.Max(log.At)
			return g.Let(func(i Index) ir.Value { return g.Exp(g.Sub(log.At(i), most)) }), nil
		}},
		{Name: "believe", Emit: func(g *Group, _ Place, left func(string) Feature) (Feature, ir.Value) {
			x, _ := g.Normalise(left("weigh"))
			return x, nil
		}},
	},
	Check:   Reference{Late: logOfMessage, Edge: checkMessage, Next: nextBeliefs},
	Accepts: bothWays,
}

// Coupling is the property of bp's matrices.
const Coupling = "coupling"

// single returns one word.
func single(int) int { return 1 }

// pair returns two values of k words.
func pair(k int) int { return 2 * k }

// found is an index of messagePlaces' results.
type found int

// Places of messages: the edge's last one, its next one, and the reverse edge's last one.
const (
	messageNow found = iota
	messageNext
	messageBack
)

func (f found) of(e *Edge) Place { return Place{Bytes: e.Found[f]} }

// messagePlaces is the per-edge phase.
func messagePlaces(g *Group, id, src, dst ir.Value) []ir.Value {
	words := g.U32(uint32(4 * g.K))
	slot := func(v ir.Value) ir.Value { return g.Kernel.Load(ir.U32, g.Addr(slotArray), v) }
	first := func(edge ir.Value) ir.Value { return g.Mul(edge, g.U32(uint32(8*g.K))) }
	now, mine := g.Mul(slot(src), words), first(id)
	back := g.Add(first(g.Kernel.Load(ir.U32, g.Addr("reverse"), id)), g.Mul(slot(dst), words))
	return []ir.Value{g.Add(mine, now), g.Add(mine, g.Sub(words, now)), back}
}

// sendMessage computes an edge's message: the source's belief without its destination's contribution, times the edge's
// matrix.
func sendMessage(g *Group, e *Edge) ir.Value {
	cavity := g.Let(func(i Index) ir.Value {
		return g.Div(g.Load(Now, e.Src, i), g.Load("message", messageBack.of(e), i))
	})
	matrix := e.ID
	if e.plan.OneCoupling {
		matrix = Place{Bytes: g.U32(0)}
	}
	product := func(i Index) ir.Value { return g.Product(cavity, Coupling, matrix, i) }
	next := messageNext.of(e)
	made := Feature{of: func(i Index) ir.Value { return g.Load("message", next, i) }}
	if g.rounds() <= unrolled {
		made = g.Let(product)
	} else {
		g.Each(func(i Index) { g.Store("message", next, i, product(i)) })
	}
	scale := g.Div(g.F32(float32(g.K)), g.Sum(made.At))
	sent := made
	if made.kept != nil {
		sent = g.Let(func(i Index) ir.Value { return g.Mul(made.At(i), scale) })
	}
	g.Each(func(i Index) {
		x := sent.At(i)
		if made.kept == nil {
			x = g.Mul(x, scale)
		}
		g.Store("message", next, i, x)
	})
	e.Leave("message", sent)
	return messageDiffers(g, e, sent)
}

// messageDiffers reports whether a message differs from the last one: if not, the product and all that depends on it
// stay.
func messageDiffers(g *Group, e *Edge, sent Feature) ir.Value {
	if !e.Touches() {
		return nil
	}
	return g.Any(func(i Index) ir.Value { return g.Ne(sent.At(i), g.Load("message", messageNow.of(e), i)) })
}

// bothWays refuses graphs in which an edge has no reverse edge.
func bothWays(g *graph.Graph) (key, why string) {
	if _, lone := reverseEdges(g); lone >= 0 {
		return "graph.clean.symmetrise", fmt.Sprintf(" = false: edge %d has no reverse edge, and belief propagation "+
			"sends messages both ways: expected true, or a symmetric graph", lone)
	}
	return "", ""
}

// reverseEdges returns each edge's reverse edge: of parallel edges from u to v, the first is paired with the first from
// v to u. lone is an edge that has none, or -1.
func reverseEdges(g *graph.Graph) (of []uint32, lone int) {
	type edge struct{ at, to, id int }
	var there, back []edge // sorted by source, and by destination
	forEdges(g, func(e *HostEdge) {
		there, back = append(there, edge{e.Src, e.Dst, e.ID}), append(back, edge{e.Dst, e.Src, e.ID})
	})
	order := func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.to, b.to)) }
	slices.SortStableFunc(there, order)
	slices.SortStableFunc(back, order)
	of = make([]uint32, g.Edges())
	for i, e := range there {
		switch r := back[i]; order(e, r) {
		case -1:
			return nil, e.id
		case 1:
			return nil, r.id
		default:
			of[e.id] = uint32(r.id)
		}
	}
	return of, -1
}

func reverses(p *Problem) []uint32 {
	if p.reverse == nil {
		p.reverse, _ = reverseEdges(p.Graph)
	}
	return p.reverse
}

func ones(p *Problem) []float32 {
	x := make([]float32, p.Graph.Edges()*pair(p.K))
	for i := range x {
		x[i] = 1
	}
	return x
}

// priors returns the logarithms of the vertices' initial beliefs.
func priors(p *Problem) []float32 {
	x := distributions(p)
	for i := range x {
		x[i] = float32(math.Log(float64(x[i])))
	}
	return x
}

// couplings returns the edges' matrices: neighbours tend to be in the same state, weakly enough for beliefs to
// converge. Without damping they would be independent. One matrix for all edges is as strong as converges on a random
// graph of these degrees, whose largest eigenvalue is about their second moment over their mean.
func couplings(p *Problem) []float32 {
	k := p.K
	next, degree := draw(p.Seed, ofEdges), make([]float64, p.Graph.Vertices())
	forEdges(p.Graph, func(e *HostEdge) { degree[e.Dst]++ })
	fill := func(x []float32, most float64) {
		for i := range x {
			tends := most * float64(next())
			if i/k != i%k {
				tends /= 4
			}
			x[i] = float32(1 + tends)
		}
	}
	if p.OneCoupling {
		x, sum, squares := make([]float32, square(k)), 0.0, 0.0
		for _, d := range degree {
			sum, squares = sum+d, squares+d*d
		}
		fill(x, float64(p.Damping)*float64(k)*sum/max(1, squares))
		return x
	}
	x := make([]float32, p.Graph.Edges()*square(k))
	forEdges(p.Graph, func(e *HostEdge) {
		fill(x[e.ID*square(k):][:square(k)], float64(p.Damping)*float64(k)/math.Sqrt(degree[e.Src]*degree[e.Dst]))
	})
	return x
}

// coupling returns an edge's matrix.
func (p *Problem) coupling(edge int) []float32 {
	x := p.Data(Coupling, couplings)
	if p.OneCoupling {
		return x
	}
	return x[edge*square(p.K):]
}

// message is feature f of an edge's message in one of its slots.
func message(read Reader, k, edge, slot, f int) float64 {
	return read("message", edge*pair(k)+slot*k+f)
}

// checkMessage bounds a message's error. Everything is positive, so errors stay relative: k+1 roundings of a product,
// as many of their sum, which all have in common, and three of scaling.
func checkMessage(p *Problem, e *HostEdge, s *Step, off, bound []float64) {
	k := p.K
	back := reverses(p)
	x, sum := make([]float64, k), 0.0
	for f := range x {
		x[f] = s.Before(Now, e.Src*k+f) / message(s.Before, k, int(back[e.ID]), s.Slot(e.Dst), f)
	}
	coupling := p.coupling(e.ID)
	for f := range off {
		bound[f] = 0
		for r := range k {
			bound[f] += x[r] * float64(coupling[r*k+f])
		}
		sum += bound[f]
	}
	for f := range off {
		want := bound[f] * float64(k) / sum
		off[f] = message(s.After, k, e.ID, 1-s.Slot(e.Src), f) - want
		bound[f] = float64(3*k+8)*unit*want + 1e-37
	}
}

// logOfMessage returns the terms of an edge: it adds the logarithm of its new message, and with changes subtracts that
// of the old one.
func logOfMessage(p *Problem, e *HostEdge, s *Step, plus, minus []float64) {
	for f := range plus {
		plus[f], minus[f] = math.Log(message(s.After, p.K, e.ID, 1-s.Slot(e.Src), f)), 0
		if p.Changes {
			minus[f] = math.Log(message(s.After, p.K, e.ID, s.Slot(e.Src), f))
		}
	}
}

// nextBeliefs follows the roundings of logarithms, which become relative errors of their arguments.
func nextBeliefs(p *Problem, v int, of func(string, int) float64, now, got, off, bound []float64) {
	k, most, sum := len(now), math.Inf(-1), 0.0
	log, prior := make([]float64, k), p.Data("prior", priors)
	for f := range log {
		log[f] = float64(prior[v*k+f]) + of("sum", v*k+f)
		most = max(most, log[f])
	}
	relative, worst := bound, 0.0
	for f := range log {
		off[f] = math.Exp(log[f] - most)
		relative[f] = math.Expm1(2*unit*(math.Abs(log[f])+math.Abs(most)+math.Abs(log[f]-most))) + emit.ExpError
		sum += off[f]
		worst = max(worst, relative[f])
	}
	for f := range log {
		want := off[f] / sum
		off[f] = got[f] - want
		bound[f] = 1.01*want*(relative[f]+worst+float64(k+4)*unit) + 1e-37
	}
}
