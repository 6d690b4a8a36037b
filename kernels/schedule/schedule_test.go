package schedule_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/accel"
	_ "heddle/components/all"
	"heddle/graph"
	"heddle/internal/testenv"
	"heddle/kernels/activeset"
	"heddle/kernels/direction"
	"heddle/kernels/emit"
	"heddle/kernels/emit/emittest"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
	"heddle/kernels/schedule"
)

// sample has rows of 0 to 40 edges, in both directions.
func sample(t *testing.T) *graph.Graph {
	r := rand.New(rand.NewPCG(1, 2))
	var lines []string
	for range 150 {
		lines = append(lines, fmt.Sprintf("%d %d", 1+r.IntN(1+r.IntN(50)), 1+r.IntN(1+r.IntN(50))))
	}
	text := fmt.Sprintf("%%%%MatrixMarket matrix coordinate pattern general\n50 50 %d\n%s\n", len(lines),
		strings.Join(lines, "\n"))
	g, err := graph.Read("t.mtx", strings.NewReader(text), graph.ReadOptions{})
	require.NoError(t, err)
	return g
}

// test is a schedule on a layout, in a direction, with an active set.
type test struct {
	nth  int // combination
	s    *schedule.Schedule
	l    *layout.Layout
	d    direction.Direction
	scan schedule.Scan
	g    *graph.Graph

	width int  // numbers of a vertex
	plain bool // rows are walked without reading ahead
	block int  // warps of a thread block; 0: a core's
	of    schedule.Variant
	warps int // of a core that run the kernel; 0: all

	args map[string]uint32 // of the kernel that has run
}

// loops are the ways in which a thread of the schedule walks a row that it has alone, as test.plain says them.
func loops(s *schedule.Schedule) []bool {
	if s.Rows.Owned() {
		return []bool{false, true}
	}
	return []bool{false}
}

func each(t *testing.T, f func(t *testing.T, x test)) {
	g, nth, all := sample(t), 0, layouts()
	for _, s := range schedule.All() {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			l := all[name]
			for _, d := range []direction.Direction{direction.Push, direction.Pull} {
				for _, scan := range schedule.Scans() {
					if s.Rows.Walked() && !l.Fits(d) || s.Sharing == nil && scan != schedule.Shuffle || !readable(s, l) {
						continue
					}
					name := strings.Join([]string{s.Name, name, d.String(), string(scan)}, "/")
					for _, plain := range loops(s) {
						nth++
						t.Run(name+map[bool]string{true: "/plain"}[plain], func(t *testing.T) {
							t.Parallel()
							f(t, test{nth: nth, s: s, l: l, d: d, scan: scan, g: g, plain: plain})
						})
					}
				}
			}
		}
	}
}

// layouts are all of them, of sizes by which vertices have several virtual ones, and some edges no slot; those with
// slots also with one a row, side by side, and one with slots for all edges.
func layouts() map[string]*layout.Layout {
	list := map[string]*layout.Layout{}
	for _, l := range layout.Layouts() {
		if list[l.Name] = l; l.Sized != nil {
			list[l.Name] = l.Sized(layout.Sizes{BlockVertices: 7, BlockBy: layout.ByDestination, VirtualDegree: 3,
				ShardVertices: 7, ELLWidth: 3, Diagonals: 20})
		}
		if l.Name == "block-coo" {
			for _, by := range layout.Bys() {
				list[l.Name+"-"+string(by)] = l.Sized(layout.Sizes{BlockVertices: 7, BlockBy: by})
			}
		}
		if l.Columns != nil {
			list[l.Name+"-1-columns"] = l.Sized(layout.Sizes{ELLWidth: 1}).Columns(true)
			list["ell-64"] = l.Sized(layout.Sizes{ELLWidth: 64})
		}
	}
	return list
}

// readable reports whether the schedule goes with the layout's rows, virtual or not.
func readable(s *schedule.Schedule, l *layout.Layout) bool {
	switch {
	case s.Shards && l.Shards == nil:
		return false
	case s.Rows.Walked():
		return (s.Rows.Owned() || !l.Strided) && (!s.Unit.ReadsRows() || len(l.Data) == 0)
	}
	return l.Virtual == nil || !l.Virtual.Splits
}

// walked are the vertices that schedules walk: all, or their virtual ones.
func (x *test) walked(t *testing.T, k *emit.Kernel, view layout.View) activeset.Set {
	set, err := activeset.ByName("counter")
	require.NoError(t, err)
	if x.l.Virtual != nil {
		return schedule.AllRows{Set: set.In(k, nil), View: view}
	}
	return set.In(k, nil)
}

// rows is how many rows each vertex that is kept has.
func (x *test) rows(keep []uint32) []uint32 {
	if x.l.Virtual == nil {
		return keep
	}
	rows := make([]uint32, len(keep))
	for i := range x.l.Data {
		a := &x.l.Data[i]
		of := [...]string{direction.Push: "(csr|by-source)", direction.Pull: "(csc|by-destination)"}[x.d]
		if !regexp.MustCompile("-" + of + "\\.vertices$").MatchString(a.Name) {
			continue
		}
		for _, v := range a.Words(x.g) {
			rows[v] += keep[v]
		}
	}
	return rows
}

// kernel counts, for each edge, how often it is visited, by both its ends: in words 50·source + destination; of a visit
// for one number of the vertex, in that number's byte. With stop, vertices stop after their first edge.
func (x *test) kernel(t *testing.T, core schedule.Core, stop bool) *ir.Kernel {
	k := emit.New("test")
	k.Launch(x.warps, x.block)
	k.UseLists(x.s.ListOps())
	view := x.l.In(k, x.d, graph.NoWeights)
	site := &schedule.Site{
		Kernel: k, View: view, Rows: x.l.Rows(x.d), Dir: x.d, Set: x.walked(t, k, view), Virtual: x.l.Virtual != nil, Scan: x.scan, Core: core, Ahead: !x.plain, Width: x.width,
	}
	if rest := x.l.Rest; rest != nil {
		site.Rest = &schedule.Rest{View: rest.In(k, x.d, graph.NoWeights), Bare: rest.Bare}
	}
	x.s.Walk(site, &schedule.Visitor{
		Keep: func(v ir.Value) ir.Value { return k.Ne(k.Load(ir.U32, k.Addr("keep"), v), k.U32(0)) },
		Row: func(v ir.Value, threads int, walk func()) { // a walk by a group of any size counts as a block's threads
			part := k.U32(uint32(core.BlockWarps() * core.Lanes / threads))
			k.AtomicAdd(k.Addr("begins"), v, part)
			walk()
			k.AtomicAdd(k.Addr("ends"), v, part)
		},
		Enter: func(sh *schedule.Shard) { sh.Each(site, func(i, _ ir.Value) { k.Store(sh.Sums, i, k.U32(0)) }) },
		Leave: func(sh *schedule.Shard) {
			sh.Each(site, func(_, v ir.Value) { k.AtomicAdd(k.Addr("left"), v, k.U32(1)) })
		},
		Edge: func(e *layout.Edge, drop func()) {
			one := k.U32(1)
			if c := site.Component; c != nil {
				one = k.Shl(one, k.Shl(c, k.U32(3)))
			}
			k.AtomicAdd(k.Addr("visits"), k.Add(k.Mul(e.Src, k.U32(50)), e.Dst), one)
			if stop {
				drop()
			}
		},
	})
	kernel, err := k.Build()
	require.NoError(t, err)
	return kernel
}

// run returns how often each edge was visited, and how many visits were marked.
func (x *test) run(t *testing.T, m *emittest.Machine, keep []uint32, stop bool) (visits, begins, ends []uint32,
	marked uint64) {
	kernel := x.kernel(t, x.core(m), stop)
	args := map[string]uint32{
		"vertices": 50, "edges": uint32(x.g.Edges()), "keep": m.Place(keep),
		"visits": m.Place(make([]uint32, 2500)), "begins": m.Place(make([]uint32, 50)), "ends": m.Place(make([]uint32, 50)),
		"left": m.Place(make([]uint32, 50)),
	}
	maps.Copy(args, x.l.NumbersOf(x.g))
	arrays := layout.NewArrays(x.g)
	for _, name := range []string{"csr.offsets", "csr.ids", "csr.rows", "csc.offsets", "csc.ids", "csc.rows"} {
		data, ok := arrays.Array(name)
		require.True(t, ok)
		args[name] = m.Place(data)
	}
	for l := x.l; l != nil; l = l.Rest {
		for _, a := range l.Data {
			args[a.Name] = m.Place(a.Words(x.g))
		}
	}
	for _, a := range x.s.Arrays {
		for _, name := range []string{a.Name, a.Name + ".rest"} {
			args[name] = m.Place(make([]uint32, a.Words(50+x.g.Edges(), m.Cores*m.Warps)))
		}
	}
	if x.l.Virtual != nil && x.l.HasRows(x.d) {
		args[layout.RowCount(x.l.Rows(x.d))] = uint32(x.l.Virtual.Rows(x.g, x.l.Rows(x.d)))
	}
	x.feed(t, m, kernel, args)
	x.args = args
	for n := range max(1, len(x.s.Launches)) {
		args[schedule.LaunchWord] = uint32(n)
		marked += m.Run(t, kernel, args).Edges
	}
	if x.s.Shards { // every vertex is one of a shard, which one block has
		require.Equal(t, slices.Repeat([]uint32{1}, 50), m.Words(args["left"], 50))
	}
	return m.Words(args["visits"], 2500), m.Words(args["begins"], 50), m.Words(args["ends"], 50), marked
}

// core describes one of the machine's cores to the kernel.
func (x *test) core(m *emittest.Machine) schedule.Core {
	c := schedule.Core{Warps: m.Warps, Lanes: m.Threads, Block: x.block, Variant: x.of}
	if x.warps > 0 {
		c.Warps = x.warps
	}
	return c
}

// feed prepares a gather: it runs the schedule's registration kernel, and sets up the units as the host does.
func (x *test) feed(t *testing.T, m *emittest.Machine, gather *ir.Kernel, args map[string]uint32) {
	hand := m.Hand(x.s.UnitName())
	if hand == nil {
		if x.s.Preparation() != nil {
			m.Run(t, x.register(t, m), args)
		}
		return
	}
	arrays := layout.NewArrays(x.g)
	offsets, ids, _ := x.l.Arrays(x.d)
	e := accel.Edges{Pull: x.d == direction.Pull, Fields: gather.Fields(), Vertices: 50, Edges: args["edges"]}
	for name, at := range map[string]*uint32{offsets: &e.Offsets, ids: &e.Neighbours} {
		data, _ := arrays.Array(name)
		*at = m.Place(data)
	}
	m.SetUp(t, x.s.UnitName(), e)
	if lists, ok := hand.(accel.ListHand); ok && x.s.Unit.HasLists() {
		m.Run(t, x.register(t, m), args)
		lists.Swap(activeset.InList, activeset.OutList)
		m.SetUp(t, x.s.UnitName(), e)
	}
}

// register is the schedule's own kernel.
func (x *test) register(t *testing.T, m *emittest.Machine) *ir.Kernel {
	return x.registerOn(t, x.core(m))
}

func (x *test) registerOn(t *testing.T, core schedule.Core) *ir.Kernel {
	k := emit.New("register")
	k.Launch(x.warps, 0)
	k.UseLists(x.s.ListOps())
	view := x.l.In(k, x.d, graph.NoWeights)
	site := &schedule.Site{
		Kernel: k, View: view, Rows: x.l.Rows(x.d), Dir: x.d, Set: x.walked(t, k, view), Virtual: x.l.Virtual != nil, Scan: x.scan,
		Core: core,
	}
	if rest := x.l.Rest; rest != nil {
		site.Rest = &schedule.Rest{View: rest.In(k, x.d, graph.NoWeights), Bare: rest.Bare}
	}
	x.s.Prepare(site, &schedule.Visitor{
		Keep: func(v ir.Value) ir.Value { return k.Ne(k.Load(ir.U32, k.Addr("keep"), v), k.U32(0)) },
	})
	kernel, err := k.Build()
	require.NoError(t, err)
	return kernel
}

// someKept are vertices that walk their rows.
func someKept() []uint32 {
	keep := make([]uint32, 50)
	for v := range keep {
		if v%3 != 1 {
			keep[v] = 1
		}
	}
	return keep
}

// base is the vertex whose row an edge is in.
func (x *test) base(src, dst uint32) uint32 {
	if x.d == direction.Pull {
		return dst
	}
	return src
}

// edgesOf returns how many edges of vertex v's row are visited.
func (x *test) edgesOf(v int, visits []uint32) (n uint32) {
	for i, times := range visits {
		if x.base(uint32(i/50), uint32(i%50)) == uint32(v) {
			n += times
		}
	}
	return n
}

// TestEveryEdgeOnce: every edge of a vertex that is kept is visited once, others never.
func TestEveryEdgeOnce(t *testing.T) {
	each(t, func(t *testing.T, x test) {
		keep := someKept()
		want, count := make([]uint32, 2500), uint64(0)
		for u := range uint32(50) {
			for _, v := range x.g.CSR().Row(int(u)) {
				if keep[x.base(u, v)] != 0 {
					want[50*u+v]++
					count++
				}
			}
		}
		for _, s := range testenv.Some(t, x.nth, 2, emittest.Shapes()) {
			m := emittest.New(s[0], s[1], s[2])
			visits, begins, ends, marked := x.run(t, m, keep, false)
			require.Equal(t, want, visits, "%v", s)
			require.Equal(t, count, marked, "every visit is marked")
			threads := uint32(x.core(m).BlockWarps() * m.Threads)
			walked := slices.Clone(begins)
			for v := range walked {
				require.Zero(t, begins[v]%threads, "part of a group")
				walked[v] /= threads
			}
			switch {
			case x.s.Rows.Owned():
				require.Equal(t, x.rows(keep), walked)
			case x.s.Name == "twc" && x.of == schedule.OwnCode && x.l.Virtual == nil && x.l.Rest == nil:
				for v, n := range walked {
					require.Equal(t, x.edgesOf(v, want) > 0, n == 1, "vertex %d, %d walks", v, n)
				}
			case x.s.Name != "twc":
				require.Equal(t, make([]uint32, 50), walked)
			}
			require.Equal(t, begins, ends)
		}
	})
}

// TestFewerWarps: on some of a core's warps, in thread blocks of any size where a schedule has them, every edge of a
// vertex that is kept is visited once. Without testenv.LongVariable, some of the schedules and layouts.
func TestFewerWarps(t *testing.T) {
	each(t, func(t *testing.T, x test) {
		if testenv.Long(t) == 0 && (x.nth%3 == 2 || x.nth%3 == 1 && !testenv.Slow()) {
			return
		}
		whole, _, _, edges := x.run(t, emittest.New(2, 6, 4), someKept(), false)
		for _, shape := range testenv.Some(t, x.nth, 1, [][3]int{{2, 6, 4}, {1, 6, 1}, {3, 7, 6}}) {
			for _, x.warps = range testenv.Some(t, x.nth, 2, upTo(shape[1])) {
				for x.block = 0; x.block <= x.warps; x.block++ {
					for _, x.of = range x.variants() {
						if x.block > 0 && (!x.s.As(x.of).ByBlocks() || x.warps%x.block != 0) {
							continue
						}
						visits, _, _, marked := x.run(t, emittest.New(shape[0], shape[1], shape[2]), someKept(), false)
						require.Equal(t, whole, visits, "%v, %d warps in blocks of %d, %s", shape, x.warps, x.block, x.of)
						require.Equal(t, edges, marked)
					}
				}
			}
		}
	})
}

// variants lists the variants of the schedule on the layout.
func (x test) variants() []schedule.Variant {
	return slices.DeleteFunc(schedule.Variants(), func(v schedule.Variant) bool {
		return !x.s.Has(v) || v == schedule.Gunrock && !x.l.Listed
	})
}

// upTo lists 1 to n.
func upTo(n int) (list []int) {
	for i := range n {
		list = append(list, i+1)
	}
	return list
}

// TestEveryNumberOnce: where vertices have several numbers, and a thread handles one, each edge is visited once for
// each.
func TestEveryNumberOnce(t *testing.T) {
	each(t, func(t *testing.T, x test) {
		x.width = 4
		for _, s := range testenv.Some(t, x.nth, 2, emittest.Shapes()) {
			visits, begins, _, _ := x.run(t, emittest.New(s[0], s[1], s[2]), someKept(), false)
			x := x
			x.width = 1
			once, rows, _, _ := x.run(t, emittest.New(s[0], s[1], s[2]), someKept(), false)
			if x.s.Rows == schedule.RowsByNumber {
				for i := range once {
					if once[i] *= 0x01010101; x.l.Loose() { // edges of no row are visited once, for all numbers
						require.Equal(t, once[i]&0xFF, visits[i]&0xFF)
						visits[i] = once[i]
					}
				}
				for v := range rows {
					rows[v] *= 4
				}
			}
			require.Equal(t, once, visits, "%v", s)
			require.Equal(t, rows, begins)
		}
	})
}

// TestStop: a schedule that says it drops the rest of a row visits at least one edge of each,
// and not more than a walk; one whose thread has the row, exactly one.
func TestStop(t *testing.T) {
	each(t, func(t *testing.T, x test) {
		m := emittest.New(1, 2, 4)
		visits, _, _, _ := x.run(t, m, someKept(), true)
		rows := make([]uint32, 50)
		has := make([]uint32, 50)
		for i, n := range visits {
			rows[x.base(uint32(i/50), uint32(i%50))] += n
		}
		for u := range uint32(50) {
			for _, v := range x.g.CSR().Row(int(u)) {
				has[x.base(u, v)]++
			}
		}
		walks := x.rows(someKept())
		for v, keep := range someKept() {
			switch {
			case keep == 0:
				require.Zero(t, rows[v])
			case x.s.Rows.Owned() && !x.l.Loose():
				require.Equal(t, min(walks[v], has[v]), rows[v])
			default:
				require.LessOrEqual(t, min(1, has[v]), rows[v])
				require.LessOrEqual(t, rows[v], has[v])
			}
		}
	})
}

// TestScratchpad: a schedule takes as much scratchpad as it says.
func TestScratchpad(t *testing.T) {
	each(t, func(t *testing.T, x test) {
		takes := func(core schedule.Core) int {
			n := x.kernel(t, core, false).SharedBytes()
			if x.s.Preparation() != nil && x.s.Unit == nil {
				n = max(n, x.registerOn(t, core).SharedBytes())
			}
			return n
		}
		says := func(core schedule.Core) int {
			if x.s.Shards {
				return 4 * schedule.ShardWords(core, int(x.l.Shards.Vertices))
			}
			return 4 * x.s.As(core.Variant).ScratchpadWords(core, x.scan)
		}
		for _, v := range x.variants() {
			compare := require.Equal
			if v != schedule.OwnCode && x.s.Others[v] == nil { // one figure for several variants
				compare = require.GreaterOrEqual
			}
			core := schedule.Core{Warps: 5, Lanes: 8, Variant: v}
			compare(t, says(core), takes(core), v)
			if core = (schedule.Core{Warps: 6, Lanes: 8, Block: 2, Variant: v}); x.s.ByBlocks(v) {
				compare(t, says(core), takes(core), v)
			}
		}
	})
}

func TestChoices(t *testing.T) {
	for _, s := range schedule.All() {
		require.NotEmpty(t, s.Doc)
		found, err := schedule.ByName(s.Name)
		require.NoError(t, err)
		require.Same(t, s, found)
	}
	_, err := schedule.ByName("twcs")
	require.ErrorContains(t, err, `no schedule "twcs"`)
}
