package graphit

import (
	"maps"
	"slices"
)

// method describes a method of the values of a kind.
type method struct {
	least, most int // arguments
	check       func(c *checker, x *Method, of *Type) *Type
}

func returns(t *Type) func(*checker, *Method, *Type) *Type {
	return func(*checker, *Method, *Type) *Type { return t }
}

// methods by the kind of the receiver.
var methods map[Kind]map[string]method

func init() {
	edges := func(_ *checker, _ *Method, of *Type) *Type { return of }
	methods = map[Kind]map[string]method{
		EdgeSet: {
			"getVertices": {0, 0, func(_ *checker, _ *Method, of *Type) *Type {
				return &Type{Kind: VertexSet, Element: of.Ends[0], Size: countable}
			}},
			"getOutDegrees":     {0, 0, degrees(tInt)},
			"getOutDegreesUint": {0, 0, degrees(tUint)},
			RowStarts:           {0, 0, degrees(tInt)},
			RowTargets: {0, 0, func(*checker, *Method, *Type) *Type {
				return &Type{Kind: Vector, Of: tInt, PerEdge: true}
			}},
			HashStarts:  {0, 0, degrees(tInt)},
			HashMasks:   {0, 0, degrees(tInt)},
			RowBits:     {0, 0, returns(&Type{Kind: Vector, Of: tUint, PerEdge: true})},
			RowHashes:   {0, 0, returns(&Type{Kind: Vector, Of: tUint, PerEdge: true})},
			"transpose": {0, 0, edges},
			"from":      {1, 1, selection(true)},
			"to":        {1, 1, selection(true)},
			"srcFilter": {1, 1, selection(false)},
			"dstFilter": {1, 1, selection(false)},
			"apply": {1, 1, func(c *checker, x *Method, of *Type) *Type {
				c.edgeFunction(x.Args[0], of)
				return tNone
			}},
			"applyUpdatePriority": {1, 1, func(c *checker, x *Method, of *Type) *Type {
				c.edgeFunction(x.Args[0], of)
				return tNone
			}},
			"applyModified": {2, 3, (*checker).modified},
		},
		VertexSet: {
			"size":             {0, 0, returns(tInt)},
			"getVertexSetSize": {0, 0, returns(tInt)},
			"addVertex": {1, 1, func(c *checker, x *Method, _ *Type) *Type {
				c.want(x.Args[0], tInt, x.Name)
				return tNone
			}},
			"apply": {1, 1, func(c *checker, x *Method, of *Type) *Type {
				c.functionOf(x.Args[0], of.Element, 1, false)
				return tNone
			}},
			"where":  {1, 1, filtered},
			"filter": {1, 1, filtered},
		},
		Vector: {
			"sum": {0, 0, func(_ *checker, _ *Method, of *Type) *Type { return of.Of }},
			"max": {0, 0, func(_ *checker, _ *Method, of *Type) *Type { return of.Of }},
		},
		List: {
			"append":   {1, 1, listed},
			"insert":   {1, 1, listed},
			"retrieve": {1, 1, listed},
			"pop":      {0, 0, func(_ *checker, _ *Method, of *Type) *Type { return of.Of }},
			"size":     {0, 0, returns(tInt)},
		},
		PriorityQueue: {
			"finished": {0, 0, returns(tBool)},
			"finishedNode": {1, 1, func(c *checker, x *Method, _ *Type) *Type {
				c.want(x.Args[0], tInt, x.Name)
				return tBool
			}},
			"dequeue_ready_set": {0, 0, func(_ *checker, _ *Method, of *Type) *Type {
				return &Type{Kind: VertexSet, Element: of.Element}
			}},
			"get_current_priority": {0, 0, func(_ *checker, _ *Method, of *Type) *Type { return of.Of }},
			"getCurrentPriority":   {0, 0, func(_ *checker, _ *Method, of *Type) *Type { return of.Of }},
			"updatePriorityMin":    {2, 3, updates},
			Enqueue:                {1, 1, updates},
			"updatePrioritySum":    {2, 3, updates},
		},
	}
}

// refusedMethods are GraphIt's that are not there, and why.
var refusedMethods = map[string]string{
	"updatePriorityMax": "expected updatePriorityMin or updatePrioritySum", "getNgh": "neighbours are visited by apply", "getNeighbors": "neighbours are visited by apply",
}

func (c *checker) method(x *Method) *Type {
	of := c.expr(x.X)
	m, ok := methods[of.Kind][x.Name]
	if !ok {
		if why := refusedMethods[x.Name]; why != "" {
			c.errorf(x.Pos, "%s is not supported: %s", x.Name, why)
		}
		names := slices.Sorted(maps.Keys(methods[of.Kind]))
		if len(names) == 0 {
			c.errorf(x.Pos, "%s has no methods", of)
		}
		c.errorf(x.Pos, "%s has no method %s: %s", of, x.Name, oneOf(names))
	}
	c.count(x.Pos, x.Name, len(x.Args), m.least, m.most)
	return m.check(c, x, of)
}

// Enqueue is a method of queues that only Check writes: the vertex waits by its priority, unless that is the greatest
// number, which is of vertices that never wait.
const Enqueue = "enqueue"

func degrees(t *Type) func(*checker, *Method, *Type) *Type {
	return func(_ *checker, _ *Method, of *Type) *Type {
		return &Type{Kind: Vector, Element: of.Ends[0], Of: t}
	}
}

// selection takes a filter of vertices, or a set of them where sets may be given.
func selection(sets bool) func(*checker, *Method, *Type) *Type {
	return func(c *checker, x *Method, of *Type) *Type {
		if t := c.expr(x.Args[0]); sets && t.Kind == VertexSet {
			if t.Element != of.Ends[0] {
				c.errorf(x.Pos, "%s of %s", x.Name, t)
			}
			return of
		}
		c.functionOf(x.Args[0], of.Ends[0], 1, true)
		return of
	}
}

func filtered(c *checker, x *Method, of *Type) *Type {
	c.functionOf(x.Args[0], of.Element, 1, true)
	return &Type{Kind: VertexSet, Element: of.Element}
}

func listed(c *checker, x *Method, of *Type) *Type {
	c.want(x.Args[0], of.Of, x.Name)
	if n, ok := x.Args[0].(*Name); x.Name == "retrieve" && (!ok || n.Var == nil) {
		c.errorf(x.Pos, "retrieve: expected a variable, which takes the set")
	}
	return tNone
}

// updates: (vertex, value), (vertex, old, new) of Min, and (vertex, difference, threshold) of Sum.
func updates(c *checker, x *Method, of *Type) *Type {
	c.want(x.Args[0], tInt, x.Name)
	for _, a := range x.Args[1:] {
		c.want(a, of.Of, x.Name)
	}
	return tNone
}

// modified is applyModified(FUNCTION, VECTOR[, DEDUPLICATED]).
func (c *checker) modified(x *Method, of *Type) *Type {
	c.edgeFunction(x.Args[0], of)
	n, ok := x.Args[1].(*Name)
	if t := c.expr(x.Args[1]); !ok || t.Kind != Vector || t.Element != of.Ends[1] {
		c.errorf(x.Args[1].Position(), "applyModified: expected a vector of %s, found %s", of.Ends[1], t)
	}
	if !n.Var.Global {
		c.errorf(n.Pos, "applyModified: expected a vector that is a constant of the program")
	}
	if len(x.Args) == 3 {
		if _, ok := x.Args[2].(*Truth); !ok {
			c.errorf(x.Args[2].Position(), "applyModified: expected true or false")
		}
		c.expr(x.Args[2])
	}
	return &Type{Kind: VertexSet, Element: of.Ends[1]}
}

// edgeFunction checks a function of edges: of source and destination, and the weight if it has three parameters.
func (c *checker) edgeFunction(x Expr, of *Type) {
	f := c.function1(x)
	n := len(f.Params)
	if n == 3 && of.Weight == nil {
		c.errorf(x.Position(), "%s takes a weight, and the edges of %s have none", f.Name, of)
	}
	if n != 2 && n != 3 || f.Result != nil {
		c.errorf(x.Position(), "expected a function of source and destination, and perhaps weight, without a result")
	}
	for i, p := range f.Params[:2] {
		c.assign(x.Position(), p.Type, &Type{Kind: Vertex, Element: of.Ends[i]}, "a parameter of "+f.Name)
	}
	if n == 3 {
		c.assign(x.Position(), f.Params[2].Type, of.Weight, "a parameter of "+f.Name)
	}
}

// functionOf checks a function of vertices.
func (c *checker) functionOf(x Expr, element string, params int, filter bool) {
	f := c.function1(x)
	what := "a function of a vertex"
	if filter {
		what += " with a bool as its result"
	}
	if len(f.Params) != params || filter != (f.Result != nil) || filter && f.Result.Type.Kind != Bool {
		c.errorf(x.Position(), "expected %s", what)
	}
	c.assign(x.Position(), f.Params[0].Type, &Type{Kind: Vertex, Element: element}, "a parameter of "+f.Name)
}

func (c *checker) function1(x Expr) *Func {
	n, ok := x.(*Name)
	if c.expr(x); !ok || n.Func == nil {
		c.errorf(x.Position(), "expected the name of a function")
	}
	return n.Func
}

// made checks a new expression.
func (c *checker) made(x *New) *Type {
	c.typeOf(x.Of)
	args := func(types ...*Type) {
		c.count(x.Pos, "new "+kindNames[x.Of.Kind], len(x.Args), len(types), len(types))
		for i, t := range types {
			c.want(x.Args[i], t, "new "+kindNames[x.Of.Kind])
		}
	}
	switch x.Of.Kind {
	case VertexSet:
		args(tInt)
	case List:
		args()
	// same bucket twice, several buckets, priorities, order of buckets, order of priorities, all at first, source
	case PriorityQueue:
		if len(x.Args) == 7 {
			if n, ok := x.Args[2].(*Name); !ok || c.expr(n).Kind != Vector || c.expr(n).Element != x.Of.Element ||
				!n.Var.Global {
				c.errorf(x.Args[2].Position(),
					"new priority_queue: expected a vector of %s that is a constant of the program", x.Of.Element)
			}
		}
		if len(x.Args) == 7 {
			if n, ok := x.Args[3].(*Number); !ok || n.Real || n.Int != 0 && n.Int != 1 {
				c.errorf(x.Args[3].Position(), "new priority_queue: expected the order of its buckets: 1, lower "+
					"priorities first, or 0, higher ones first")
			}
		}
		args(tBool, tBool, &Type{Kind: Vector, Element: x.Of.Element, Of: x.Of.Of}, tInt, tInt, tBool, tInt)
	default:
		c.errorf(x.Pos, "new %s: expected a vertexset, a list or a priority_queue", x.Of)
	}
	return x.Of
}

// Updates reports whether a method changes a vertex's priority in a queue.
func Updates(x *Method) bool { return x.Name == "updatePriorityMin" || x.Name == "updatePrioritySum" }
