package eval

import (
	"fmt"
	"math"
	"slices"

	"heddle/graphit"
)

// native compiles a call of a Go function.
func (s *scope) native(x *graphit.Call) code {
	native := x.Func.Native
	var args []code
	for i, a := range x.Args {
		switch k := x.Func.Params[i].Type.Kind; k {
		case graphit.VertexSet, graphit.String:
			args = append(args, nil)
		default:
			args = append(args, s.as(a, x.Func.Params[i].Type))
		}
	}
	if native.Call != nil {
		return s.inC(x, args)
	}
	if native.Main != nil {
		return func(f *frame) Value {
			h, ok := s.names.(*Host)
			if !ok {
				fail(x.Pos, "%s is a Go function that main calls: expected it in main", x.Name)
			}
			v, _ := h.external(x, values(args, f))
			return v
		}
	}
	return func(f *frame) Value {
		list := values(args, f)
		numbers := make([]float64, len(list))
		for i, v := range list {
			if v.E > 0 || v.Any != nil {
				fail(x.Args[i].Position(), "%s depends on roundings or on a race, and is given to a Go function: it cannot be "+
					"checked", graphit.Source(x.Args[i]))
			}
			numbers[i] = plain(v, x.Func.Params[i].Type)
		}
		return s.returned(x, native.Value(numbers))
	}
}

// inC compiles a call of a function in C.
func (s *scope) inC(x *graphit.Call, args []code) code {
	h, main := s.names.(*Host)
	if r, ok := s.names.(functionNames); ok {
		h = r.host
	}
	if h == nil {
		panic("BUG: eval: a function in C is called by neither main nor a function")
	}
	return func(f *frame) Value {
		list := make([]Value, len(args))
		for i, a := range args {
			if a != nil {
				list[i] = a(f)
			}
		}
		c := &externCall{host: h, call: x, args: list, out: &Set{}, main: main}
		return s.returned(x, x.Func.Native.Call(c))
	}
}

func plain(v Value, t *graphit.Type) float64 {
	if t.IsReal() {
		return v.F
	}
	return float64(v.I)
}

// returned is the result of a Go function.
func (s *scope) returned(x *graphit.Call, y float64) Value {
	t := x.TypeOf()
	switch {
	case t.Kind == graphit.None:
		return Value{}
	case x.Func.Native.Code != nil && (t.Kind == graphit.Float || t.IsReal() && s.wide(t)): // to the bit
		return Value{F: y}
	case t.IsReal(): // the machine computes it as a float
		return rounded(y, x.Func.Native.Error*math.Abs(y))
	case t.Kind == graphit.Bool:
		return Truth(y != 0)
	}
	n := int64(y)
	if y != math.Trunc(y) || !holdsInteger(t, n) {
		fail(x.Pos, "%s returns %v, which %s does not hold", x.Name, y, t)
	}
	return Int(n)
}

// external calls a Go function for main.
func (h *Host) external(x *graphit.Call, args []Value) (Value, *Set) {
	c := &externCall{h, x, args, &Set{}, true}
	y := 0.0
	if n := x.Func.Native; n.Call != nil {
		y = n.Call(c)
	} else {
		y = n.Main(c)
	}
	if r := x.Func.Result; r != nil && r.Type.Kind == graphit.VertexSet {
		return Value{}, c.out
	}
	return h.scope.returned(x, y), nil
}

// externCall is a call, for the function.
type externCall struct {
	host *Host
	call *graphit.Call
	args []Value
	out  *Set
	main bool
}

func (c *externCall) Weights(v uint32) []uint32 {
	a := c.host.graph.CSR()
	if a.Weights == nil {
		return nil
	}
	return a.Weights[a.Offsets[v]:a.Offsets[v+1]]
}

func (c *externCall) Main() bool   { return c.main }
func (c *externCall) Queued() bool { return len(c.host.queues) > 0 }

func (c *externCall) Fail(format string, args ...any) {
	fail(c.call.Pos, "%s %s", c.call.Name, fmt.Sprintf(format, args...))
}

func (c *externCall) Instance(fresh func() any) any {
	if c.host.inC == nil {
		c.host.inC = fresh()
	}
	return c.host.inC
}

func (c *externCall) Number(i int) float64 {
	if v := c.args[i]; v.E > 0 || v.Any != nil {
		fail(c.call.Pos, "%s depends on roundings or on a race: it cannot be checked", graphit.Source(c.call.Args[i]))
	}
	return plain(c.args[i], c.call.Func.Params[i].Type)
}

func (c *externCall) Text(i int) string { return c.host.text(c.call.Args[i]) }

func (c *externCall) Set(i int) []uint32 {
	return slices.Clone(c.host.settled(c.call.Args[i]).Vertices)
}

func (c *externCall) Return(set []uint32) {
	set = slices.Compact(slices.Sorted(slices.Values(set)))
	if n := len(set); n > 0 && int(set[n-1]) >= c.host.graph.Vertices() {
		fail(c.call.Pos, "%s returns vertex %d: the graph has vertices 0 to %d", c.call.Name, set[n-1],
			c.host.graph.Vertices()-1)
	}
	c.out = &Set{Vertices: set}
}

func (c *externCall) Vertices() int         { return c.host.graph.Vertices() }
func (c *externCall) Row(v uint32) []uint32 { return c.host.graph.CSR().Row(int(v)) }

func (c *externCall) vector(name string) *graphit.Var {
	for _, v := range c.host.program.Vectors {
		if v.Name == name {
			return v
		}
	}
	fail(c.call.Pos, "%s asks for the vector %s, which the program does not have", c.call.Name, name)
	return nil
}

func (c *externCall) Len(vector string) int { return c.host.length(c.vector(vector)) }

func (c *externCall) Get(vector string, n int) float64 {
	v := c.vector(vector)
	x := c.host.element(v, int64(n), c.call.Pos)
	if x.Any != nil {
		racing(c.call.Pos)
	}
	return plain(x, v.Type.Of)
}

func (c *externCall) Exactly(vector string, n int) (y float64, exact bool) {
	v := c.vector(vector)
	x := c.host.element(v, int64(n), c.call.Pos)
	if x.Any != nil {
		racing(c.call.Pos)
	}
	return plain(x, v.Type.Of), x.E == 0
}

func (c *externCall) Put(vector string, n int, x float64) {
	v := c.vector(vector)
	value := rounded(x, 0)
	switch t := v.Type.Of; {
	case t.IsReal() && c.host.program.Wide(t):
		value = Value{F: x}
	case !t.IsReal():
		value = Int(int64(x))
		if x != math.Trunc(x) || t.Kind != graphit.Bool && !holdsInteger(t, int64(x)) {
			fail(c.call.Pos, "%s gives %s[%d] the value %v, which %s does not hold", c.call.Name, vector, n, x, t)
		}
		value.Unreached = value.I == greatest(t)
	}
	c.host.setElement(v, int64(n), value, c.call.Pos)
}

func (c *externCall) Priority() int64 {
	for _, q := range c.host.queues {
		return q.Current
	}
	fail(c.call.Pos, "%s asks for a queue's priority: there is none yet", c.call.Name)
	return 0
}

func (c *externCall) State(fresh func() any) any {
	if c.host.state == nil {
		c.host.state = fresh()
	}
	return c.host.state
}
