package kernel_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/kernel"
	"heddle/machine"
	"heddle/register"
)

// TestRefused: what cannot be added says why, and is not there afterwards.
func TestRefused(t *testing.T) {
	emit := func(*kernel.Site, *kernel.Visitor) {}
	rows := func(kernel.Direction) kernel.End { return kernel.Source }
	words := func(*kernel.Graph) []uint32 { return nil }
	good := kernel.Algorithm{
		Name: "mine", Doc: "d", Arrays: []kernel.Array{{Name: "x"}}, Result: "x", Into: "x", Sum: kernel.MinU32,
		Init:   func(*kernel.Kernel, kernel.Value) {},
		Gather: func(*kernel.Kernel, *kernel.Edge) kernel.Value { return nil },
		Check:  func(*kernel.Problem, *kernel.Outcome) error { return nil },
	}
	but := func(change func(a *kernel.Algorithm)) register.Entry {
		a := good
		change(&a)
		return kernel.WithAlgorithm(&a)
	}
	for says, e := range map[string]register.Entry{
		`cannot add schedule "": it is nil`:                                                            kernel.WithSchedule(nil),
		`cannot add schedule "": it has no name`:                                                       kernel.WithSchedule(&kernel.Schedule{Doc: "d", EachEdge: emit}),
		`cannot add schedule "vertex": there is one of that name already: expected another name`:       kernel.WithSchedule(&kernel.Schedule{Name: "vertex", Doc: "d", EachEdge: emit}),
		`cannot add schedule "weaver": there is one of that name already: expected another name`:       kernel.WithSchedule(&kernel.Schedule{Name: "weaver", Doc: "d", EachEdge: emit}),
		`cannot add schedule "mine": it has no Doc`:                                                    kernel.WithSchedule(&kernel.Schedule{Name: "mine", EachEdge: emit}),
		`cannot add schedule "mine": it has no EachEdge`:                                               kernel.WithSchedule(&kernel.Schedule{Name: "mine", Doc: "d"}),
		`cannot add schedule "mine": there is no unit "none-such"`:                                     kernel.WithSchedule(&kernel.Schedule{Name: "mine", Doc: "d", EachEdge: emit, Unit: "none-such"}),
		`cannot add schedule "mine": it has Owns, and not Rows: a thread owns the row that it walks`:   kernel.WithSchedule(&kernel.Schedule{Name: "mine", Doc: "d", EachEdge: emit, Owns: true}),
		`cannot add schedule "mine": one of its Arrays has no Name or no Words`:                        kernel.WithSchedule(&kernel.Schedule{Name: "mine", Doc: "d", EachEdge: emit, Arrays: make([]kernel.ScheduleArray, 1)}),
		`cannot add layout "": it is nil`:                                                              kernel.WithLayout(nil),
		`cannot add layout "csr": there is one of that name already: expected another name`:            kernel.WithLayout(&kernel.Layout{Name: "csr", Doc: "d", Rows: rows, View: kernel.Compressed}),
		`cannot add layout "auto": the name means something else in a configuration: expected another`: kernel.WithLayout(&kernel.Layout{Name: "auto", Doc: "d", Rows: rows, View: kernel.Compressed}),
		`cannot add layout "mine": it has no Doc`:                                                      kernel.WithLayout(&kernel.Layout{Name: "mine", Rows: rows, View: kernel.Compressed}),
		`cannot add layout "mine": it has no Rows`:                                                     kernel.WithLayout(&kernel.Layout{Name: "mine", Doc: "d", View: kernel.Compressed}),
		`cannot add layout "mine": it has no View`:                                                     kernel.WithLayout(&kernel.Layout{Name: "mine", Doc: "d", Rows: rows}),
		`cannot add layout "mine": array "csr.ids": expected a name such as mine.ids, of no other`:     kernel.WithLayout(&kernel.Layout{Name: "mine", Doc: "d", Rows: rows, View: kernel.Compressed, Data: []kernel.LayoutArray{{Name: "csr.ids", Words: words}}}),
		`cannot add layout "mine": array mine.ids has no Words`:                                        kernel.WithLayout(&kernel.Layout{Name: "mine", Doc: "d", Rows: rows, View: kernel.Compressed, Data: []kernel.LayoutArray{{Name: "mine.ids"}}}),
		`cannot add algorithm "": it is nil`:                                                           kernel.WithAlgorithm(nil),
		`cannot add algorithm "bfs": there is one of that name already: expected another name`:         but(func(a *kernel.Algorithm) { a.Name = "bfs" }),
		`cannot add algorithm "als": there is one of that name already: expected another name`:         but(func(a *kernel.Algorithm) { a.Name = "als" }),
		`cannot add algorithm "mine": it lacks Doc`:                                                    but(func(a *kernel.Algorithm) { a.Doc = "" }),
		`cannot add algorithm "mine": it lacks Arrays`:                                                 but(func(a *kernel.Algorithm) { a.Arrays = nil }),
		`cannot add algorithm "mine": it lacks Result, or it is none of its Arrays`:                    but(func(a *kernel.Algorithm) { a.Result = "y" }),
		`cannot add algorithm "mine": it lacks Into, or it is none of its Arrays`:                      but(func(a *kernel.Algorithm) { a.Into = "y" }),
		`cannot add algorithm "mine": it lacks Sum`:                                                    but(func(a *kernel.Algorithm) { a.Sum = nil }),
		`cannot add algorithm "mine": its Sum lacks Name, Combine or Swap`:                             but(func(a *kernel.Algorithm) { a.Sum = &kernel.Reduction{} }),
		`cannot add algorithm "mine": it lacks Init`:                                                   but(func(a *kernel.Algorithm) { a.Init = nil }),
		`cannot add algorithm "mine": it lacks Gather`:                                                 but(func(a *kernel.Algorithm) { a.Gather = nil }),
		`cannot add algorithm "mine": it lacks Check`:                                                  but(func(a *kernel.Algorithm) { a.Check = nil }),
		`cannot add algorithm "mine": array "x": expected a name that no other of its Arrays has`:      but(func(a *kernel.Algorithm) { a.Arrays = append(a.Arrays[:1:1], a.Arrays...) }),
	} {
		require.EqualError(t, register.Add(e), says)
	}
	require.NotContains(t, kernel.Choices("schedule"), "mine")
	require.NotContains(t, kernel.Choices("layout"), "mine")
	require.NotContains(t, kernel.Choices("algorithm"), "mine")
}

// TestFeaturesRefused: the same of algorithms on features.
func TestFeaturesRefused(t *testing.T) {
	type algorithm = kernel.FeatureAlgorithm
	add := func(*kernel.Group, *kernel.FeatureEdge) kernel.Value { return nil }
	take := func(*kernel.Group, kernel.Place, func(string) kernel.Feature) (kernel.Feature, kernel.Value) {
		return kernel.Feature{}, nil
	}
	features := func(change func(a *algorithm)) register.Entry {
		a := algorithm{
			Name: "walks", Doc: "d", First: func(*kernel.FeatureProblem) []float32 { return nil },
			Properties: []kernel.FeatureProperty{{Name: "sum", Sum: true, Words: func(k int) int { return k }}},
			Edges:      []kernel.EdgeFunc{{Name: "add", Into: "sum", Emit: add}},
			Vertices:   []kernel.VertexFunc{{Name: "take", Emit: take}},
			Check: kernel.FeatureReference{
				Terms: func(*kernel.FeatureProblem, *kernel.EdgeFunc, *kernel.HostEdge, []float64, []float64) {},
				Next: func(*kernel.FeatureProblem, int, func(string, int) float64, []float64, []float64, []float64, []float64) {
				},
			},
		}
		change(&a)
		return kernel.WithFeatures(&a)
	}
	for says, e := range map[string]register.Entry{
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
		`"walks": property sum: expected Words, no Slots and no Sets`:              features(func(a *algorithm) { a.Properties[0].Words = nil }),
		`"walks": function "add" of edges: expected a Name, an Emit, and Into one`: features(func(a *algorithm) { a.Edges[0].Into = "other" }),
		`"walks": function "take" of vertices: expected a Name of its own`:         features(func(a *algorithm) { a.Vertices = append(a.Vertices, a.Vertices[0]) }),
	} {
		require.ErrorContains(t, register.Add(e), says)
	}
	require.ErrorContains(t, register.Add(kernel.WithFeatures(nil)), "it is nil")
	require.NotContains(t, kernel.Choices("algorithm"), "walks")
}

func untimed(t *testing.T) *machine.Machine {
	cfg, err := machine.Load("vortex-1c4w4t")
	require.NoError(t, err)
	m, err := machine.NewUntimed(cfg, machine.Options{})
	require.NoError(t, err)
	return m
}

func TestPlaceRefuses(t *testing.T) {
	m := untimed(t)
	k := kernel.New("k")
	k.Store(k.Addr("a"), k.U32(0), k.Count("n"))
	c, err := kernel.Compile(k, m)
	require.NoError(t, err)
	for says, x := range map[string]struct {
		arrays  map[string][]uint32
		numbers map[string]uint32
	}{
		"parameter a of kernel k: expected it among the arrays or among the numbers": {nil, map[string]uint32{"n": 1}},
		"parameter n of kernel k: expected it among the arrays or among the numbers": {map[string][]uint32{"a": {1}, "n": {1}}, map[string]uint32{"n": 1}},
	} {
		_, _, err := c.Place(m, x.arrays, x.numbers)
		require.EqualError(t, err, says)
	}
	bad := kernel.New("bad")
	bad.Add(bad.U32(1), bad.F32(1))
	_, err = kernel.Compile(bad, nil)
	require.ErrorContains(t, err, "kernel_test.go:")
	unit := kernel.New("unit")
	unit.Unit("none.such")
	_, err = kernel.Compile(unit, nil)
	require.ErrorContains(t, err, `"none.such" is no instruction of a graph unit`)
}

func TestRunRefuses(t *testing.T) {
	g, err := kernel.NewGraph(2, [][2]uint32{{0, 1}})
	require.NoError(t, err)
	for setting, says := range map[string]string{
		"algorithm=bfss":     "expected one of pagerank, bfs",
		"schedule=weaver":    "the schedule needs a machine whose cores have a Weaver",
		"kernel=handwritten": "trace, program, kernel and algorithms on features are for experiments",
		"algorithm=cc":       "cc needs both directions of every edge",
	} {
		_, err := kernel.Run(context.Background(), untimed(t), g, setting)
		require.ErrorContains(t, err, says)
	}
	_, err = kernel.Run(context.Background(), untimed(t), nil)
	require.ErrorContains(t, err, "there is no graph")
	_, err = kernel.NewGraph(2, [][2]uint32{{0, 2}})
	require.Error(t, err)
	_, err = kernel.NewGraph(-1, nil)
	require.Error(t, err)
}
