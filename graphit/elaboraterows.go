package graphit

// rows are the graph's rows as vectors: where a vertex's neighbours begin, how many they are, and all of them.
type rows struct {
	starts, degrees, targets string
	counts                   string // a function that counts common neighbours
}

// adjacency makes the vectors of the graph's rows.
func (e *elaborator) adjacency(at Pos) *rows {
	if e.rows != nil {
		return e.rows
	}
	g := e.globals[e.graph()]
	if g == nil {
		e.errorf(at, "there is no graph: expected const edges : edgeset{Edge}(Vertex,Vertex) = load(argv[1]);")
	}
	vector := func(name, method string, perEdge bool) string {
		t := &Type{Kind: Vector, Element: g.Type.Ends[0], Of: tInt, Pos: g.Pos}
		if perEdge {
			t.Element, t.PerEdge = "", true
		}
		v := &Var{Name: e.unique(name), Type: t, Const: true, Pos: g.Pos,
			Init: &Method{node{Pos: g.Pos}, &Name{node: node{Pos: g.Pos}, Name: g.Name}, method, nil}}
		e.global(v)
		return v.Name
	}
	e.rows = &rows{starts: vector("row_starts", RowStarts, false), degrees: vector("row_sizes", "getOutDegrees", false),
		targets: vector("neighbours", RowTargets, true)}
	return e.rows
}

// Methods of edges that only Check writes: where each vertex's neighbours begin, and all neighbours, row by row.
const RowStarts, RowTargets = "getRowStarts", "getRowTargets"

// common returns the name of the function that counts the common neighbours of two vertices that are not beyond a
// third, by a merge of their rows.
func (e *elaborator) common(at Pos) string {
	r := e.adjacency(at)
	if r.counts != "" {
		return r.counts
	}
	r.counts = e.unique("common_neighbours")
	element := e.globals[e.graph()].Type.Ends[0]
	fn := e.parsed(at, `func %s(a : %s, b : %s, last : %s) -> n : uint_64
		var i : int = %[5]s[a];
		var j : int = %[5]s[b];
		var i_end : int = i + %[6]s[a];
		var j_end : int = j + %[6]s[b];
		while i < i_end and j < j_end
			var x : int = %[7]s[i];
			var y : int = %[7]s[j];
			if y > last
				j = j_end;
			elif x == y
				n += 1;
				i += 1;
				j += 1;
			elif x < y
				i += 1;
			else
				j += 1;
			end
		end
	end`, r.counts, element, element, element, r.starts, r.degrees, r.targets)
	fn.Counts = e.intersection(r)
	return r.counts
}

// neighbours remembers a set that is a vertex's neighbours; false: the variable is another.
func (d *device) neighbours(v *Var) bool {
	m, ok := v.Init.(*Method)
	if !ok || m.Name != "getNgh" {
		return false
	}
	d.count(m.Pos, m.Name, len(m.Args), 1, 1)
	d.ownGraph(m.X)
	d.scope.set(v.Name, &Method{node{Pos: m.Pos}, d.expr(m.X), "getNgh", []Expr{d.expr(m.Args[0])}})
	return true
}

// ownGraph refuses edges other than the graph's own.
func (e *elaborator) ownGraph(x Expr) {
	if n, ok := x.(*Name); !ok || n.Name != e.graph() {
		e.errorf(x.Position(), "expected the edges that are loaded, %s", e.graph())
	}
}

// ofVertex returns the vertex whose neighbours an expression is; nil: it is another set.
func (d *device) ofVertex(x Expr) Expr {
	m, ok := d.expr(x).(*Method)
	if !ok || m.Name != "getNgh" || len(m.Args) != 1 {
		d.errorf(x.Position(), "expected the neighbours of a vertex, as edges.getNgh(v)")
	}
	return m.Args[0]
}

// intersects is intersectNeighbor(EDGES, A, B) or intersection(SET, SET, SIZE, SIZE[, LAST]); nil: another call.
func (d *device) intersects(x *Call) Expr {
	if d.byName[x.Name] != nil {
		return nil
	}
	var a, b, last Expr
	switch x.Name {
	case "intersectNeighbor":
		d.count(x.Pos, x.Name, len(x.Args), 3, 3)
		d.ownGraph(x.Args[0])
		a, b, last = d.expr(x.Args[1]), d.expr(x.Args[2]), d.expr(x.Args[2])
	case "intersection":
		d.count(x.Pos, x.Name, len(x.Args), 4, 5)
		a, b = d.ofVertex(x.Args[0]), d.ofVertex(x.Args[1])
		last = &Number{node: x.node, Text: "2147483647", Int: 1<<31 - 1}
		if len(x.Args) == 5 {
			last = d.expr(x.Args[4])
		}
	default:
		return nil
	}
	return &Call{node: node{Pos: d.pos(x.Pos)}, Name: d.common(x.Pos), Args: []Expr{a, b, last}}
}

// degree is edges.getOutDegree(V), or the size of a vertex's neighbours; nil: another method.
func (d *device) degree(x *Method) Expr {
	if x.Name == "getVertexSetSize" || x.Name == "size" {
		if n, ok := x.X.(*Name); ok {
			if y, _ := d.scope.find(n.Name); y != nil {
				if m, ok := y.(*Method); ok && m.Name == "getNgh" {
					return d.rowSize(m.Args[0], x.Pos)
				}
			}
		}
	}
	return d.degreeOf(x, d.expr)
}

func (e *elaborator) degreeOf(x *Method, expr func(Expr) Expr) Expr {
	if x.Name != "getOutDegree" {
		return nil
	}
	e.count(x.Pos, x.Name, len(x.Args), 1, 1)
	e.ownGraph(x.X)
	return e.rowSize(expr(x.Args[0]), x.Pos)
}

func (e *elaborator) rowSize(v Expr, at Pos) Expr {
	r := e.adjacency(at)
	return &Index{node: node{Pos: e.pos(at)}, X: &Name{node: node{Pos: e.pos(at)}, Name: r.degrees}, I: v}
}
