package heddle_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle"
)

// The tests of this file come first, by its name: nothing can be registered once a configuration has been read.

// TestPartsRefused: a part that cannot be added is refused with the reason, and is not registered.
func TestPartsRefused(t *testing.T) {
	emit := func(*heddle.Site, *heddle.Visitor) {}
	rows := func(heddle.Direction) heddle.End { return heddle.Source }
	words := func(*heddle.Graph) []uint32 { return nil }
	good := heddle.Algorithm{
		Name: "mine", Doc: "d", Arrays: []heddle.Array{{Name: "x"}}, Result: "x", Into: "x", Sum: heddle.MinU32,
		Init:   func(*heddle.Kernel, heddle.Value) {},
		Gather: func(*heddle.Kernel, *heddle.Edge) heddle.Value { return nil },
		Check:  func(*heddle.Problem, *heddle.Outcome) error { return nil },
	}
	but := func(change func(a *heddle.Algorithm)) heddle.Entry {
		a := good
		change(&a)
		return heddle.WithAlgorithm(&a)
	}
	for says, e := range map[string]heddle.Entry{
		`cannot add schedule "": it is nil`:                                                            heddle.WithSchedule(nil),
		`cannot add schedule "": it has no name`:                                                       heddle.WithSchedule(&heddle.Schedule{Doc: "d", EachEdge: emit}),
		`cannot add schedule "vertex": there is one of that name already: expected another name`:       heddle.WithSchedule(&heddle.Schedule{Name: "vertex", Doc: "d", EachEdge: emit}),
		`cannot add schedule "weaver": there is one of that name already: expected another name`:       heddle.WithSchedule(&heddle.Schedule{Name: "weaver", Doc: "d", EachEdge: emit}),
		`cannot add schedule "mine": it has no Doc`:                                                    heddle.WithSchedule(&heddle.Schedule{Name: "mine", EachEdge: emit}),
		`cannot add schedule "mine": it has no EachEdge`:                                               heddle.WithSchedule(&heddle.Schedule{Name: "mine", Doc: "d"}),
		`cannot add schedule "mine": there is no unit "none-such"`:                                     heddle.WithSchedule(&heddle.Schedule{Name: "mine", Doc: "d", EachEdge: emit, Unit: &heddle.UnitUse{Name: "none-such"}}),
		`cannot add schedule "mine": its Before has no Emit`:                                           heddle.WithSchedule(&heddle.Schedule{Name: "mine", Doc: "d", EachEdge: emit, Before: &heddle.Preparation{}}),
		`cannot add schedule "mine": one of its Arrays has no Name or no Words`:                        heddle.WithSchedule(&heddle.Schedule{Name: "mine", Doc: "d", EachEdge: emit, Arrays: make([]heddle.ScheduleArray, 1)}),
		`cannot add layout "": it is nil`:                                                              heddle.WithLayout(nil),
		`cannot add layout "csr": there is one of that name already: expected another name`:            heddle.WithLayout(&heddle.Layout{Name: "csr", Doc: "d", Rows: rows, View: heddle.Compressed}),
		`cannot add layout "auto": the name means something else in a configuration: expected another`: heddle.WithLayout(&heddle.Layout{Name: "auto", Doc: "d", Rows: rows, View: heddle.Compressed}),
		`cannot add layout "mine": it has no Doc`:                                                      heddle.WithLayout(&heddle.Layout{Name: "mine", Rows: rows, View: heddle.Compressed}),
		`cannot add layout "mine": it has no Rows`:                                                     heddle.WithLayout(&heddle.Layout{Name: "mine", Doc: "d", View: heddle.Compressed}),
		`cannot add layout "mine": it has no View`:                                                     heddle.WithLayout(&heddle.Layout{Name: "mine", Doc: "d", Rows: rows}),
		`cannot add layout "mine": array "csr.ids": expected a name such as mine.ids, of no other`:     heddle.WithLayout(&heddle.Layout{Name: "mine", Doc: "d", Rows: rows, View: heddle.Compressed, Data: []heddle.LayoutArray{{Name: "csr.ids", Words: words}}}),
		`cannot add layout "mine": array mine.ids has no Words`:                                        heddle.WithLayout(&heddle.Layout{Name: "mine", Doc: "d", Rows: rows, View: heddle.Compressed, Data: []heddle.LayoutArray{{Name: "mine.ids"}}}),
		`cannot add algorithm "": it is nil`:                                                           heddle.WithAlgorithm(nil),
		`cannot add algorithm "bfs": there is one of that name already: expected another name`:         but(func(a *heddle.Algorithm) { a.Name = "bfs" }),
		`cannot add algorithm "als": there is one of that name already: expected another name`:         but(func(a *heddle.Algorithm) { a.Name = "als" }),
		`cannot add algorithm "mine": it lacks Doc`:                                                    but(func(a *heddle.Algorithm) { a.Doc = "" }),
		`cannot add algorithm "mine": it lacks Arrays`:                                                 but(func(a *heddle.Algorithm) { a.Arrays = nil }),
		`cannot add algorithm "mine": it lacks Result, or it is none of its Arrays`:                    but(func(a *heddle.Algorithm) { a.Result = "y" }),
		`cannot add algorithm "mine": it lacks Into, or it is none of its Arrays`:                      but(func(a *heddle.Algorithm) { a.Into = "y" }),
		`cannot add algorithm "mine": it lacks Sum`:                                                    but(func(a *heddle.Algorithm) { a.Sum = nil }),
		`cannot add algorithm "mine": its Sum lacks Name, Combine or Swap`:                             but(func(a *heddle.Algorithm) { a.Sum = &heddle.Reduction{} }),
		`cannot add algorithm "mine": it lacks Init`:                                                   but(func(a *heddle.Algorithm) { a.Init = nil }),
		`cannot add algorithm "mine": it lacks Gather`:                                                 but(func(a *heddle.Algorithm) { a.Gather = nil }),
		`cannot add algorithm "mine": it lacks Check`:                                                  but(func(a *heddle.Algorithm) { a.Check = nil }),
		`cannot add algorithm "mine": array "x": expected a name that no other of its Arrays has`:      but(func(a *heddle.Algorithm) { a.Arrays = append(a.Arrays[:1:1], a.Arrays...) }),
	} {
		require.EqualError(t, heddle.Register(e), says)
	}
	require.NotContains(t, heddle.Choices("schedule"), "mine")
	require.NotContains(t, heddle.Choices("layout"), "mine")
	require.NotContains(t, heddle.Choices("algorithm"), "mine")
}

// TestFeaturePartsRefused: the same of algorithms on features.
func TestFeaturePartsRefused(t *testing.T) {
	type algorithm = heddle.FeatureAlgorithm
	add := func(*heddle.Group, *heddle.FeatureEdge) heddle.Value { return nil }
	take := func(*heddle.Group, heddle.Place, func(string) heddle.Feature) (heddle.Feature, heddle.Value) {
		return heddle.Feature{}, nil
	}
	features := func(change func(a *algorithm)) heddle.Entry {
		a := algorithm{
			Name: "walks", Doc: "d", First: func(*heddle.FeatureProblem) []float32 { return nil },
			Properties: []heddle.FeatureProperty{{Name: "sum", Sum: true, Words: func(k int) int { return k }}},
			Edges:      []heddle.EdgeFunc{{Name: "add", Into: "sum", Emit: add}},
			Vertices:   []heddle.VertexFunc{{Name: "take", Emit: take}},
			Check: heddle.FeatureReference{
				Terms: func(*heddle.FeatureProblem, *heddle.EdgeFunc, *heddle.HostEdge, []float64, []float64) {},
				Next: func(*heddle.FeatureProblem, int, func(string, int) float64, []float64, []float64, []float64,
					[]float64) {
				},
			},
		}
		change(&a)
		return heddle.WithFeatures(&a)
	}
	for says, e := range map[string]heddle.Entry{
		`"lp": there is one of that name already: expected another name`:   features(func(a *algorithm) { a.Name = "lp" }),
		`"sssp": there is one of that name already: expected another name`: features(func(a *algorithm) { a.Name = "sssp" }),
		`"walks": it lacks Doc`:                                                    features(func(a *algorithm) { a.Doc = "" }),
		`"walks": it lacks First`:                                                  features(func(a *algorithm) { a.First = nil }),
		`"walks": it lacks Edges`:                                                  features(func(a *algorithm) { a.Edges = nil }),
		`"walks": it lacks Vertices`:                                               features(func(a *algorithm) { a.Vertices = nil }),
		`"walks": it lacks Check.Terms`:                                            features(func(a *algorithm) { a.Check.Terms = nil }),
		`"walks": it lacks Check.Next`:                                             features(func(a *algorithm) { a.Check.Next = nil }),
		`"walks": it lacks PerEdge, which goes with Finds`:                         features(func(a *algorithm) { a.Finds = 2 }),
		`"walks": it has Slots, Sets, Check.Late or Check.Edge, which only`:        features(func(a *algorithm) { a.Slots = true }),
		`"walks": property "now": expected a name that no other of its Properties`: features(func(a *algorithm) { a.Properties[0].Name = "now" }),
		`"walks": property sum: expected Words, no Slots, Sets and Once`:           features(func(a *algorithm) { a.Properties[0].Words = nil }),
		`"walks": function "add" of edges: expected a Name, an Emit, and Into one`: features(func(a *algorithm) { a.Edges[0].Into = "other" }),
		`"walks": function "take" of vertices: expected a Name of its own`:         features(func(a *algorithm) { a.Vertices = append(a.Vertices, a.Vertices[0]) }),
	} {
		require.ErrorContains(t, heddle.Register(e), says)
	}
	require.ErrorContains(t, heddle.Register(heddle.WithFeatures(nil)), "it is nil")
	require.ErrorContains(t, heddle.Register(heddle.WithExtern(nil, nil)), "it is nil")
	neither := &heddle.Extern{Signature: "func f(a : int) -> b : int"}
	require.ErrorContains(t, heddle.Register(heddle.WithExtern(neither, nil)), "expected one of Value and Main")
	require.NotContains(t, heddle.Choices("algorithm"), "walks")
}
