package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph/graphspec"
)

// firstDraws are draws from the largest component in the order in which DrawSources tries them.
func firstDraws(g *Graph, seed uint64, n int) (from []uint32) {
	from = g.mayBeSources()
	r := newRNG(seed, "sources")
	n = min(n, len(from))
	for i := range n {
		j := i + int(r.below(uint64(len(from)-i)))
		from[i], from[j] = from[j], from[i]
	}
	return from[:n]
}

// edgesFrom counts the edges that can be reached from a vertex, edge by edge until no more are.
func edgesFrom(g *Graph, v uint32) (vertices, edges int) {
	reached := map[uint32]bool{v: true}
	for again := true; again; {
		again = false
		for u := range g.Vertices() {
			for _, w := range g.out.Row(u) {
				if reached[uint32(u)] && !reached[w] {
					reached[w], again = true, true
				}
			}
		}
	}
	for u := range reached {
		edges += g.out.Degree(int(u))
	}
	return len(reached), edges
}

// TestSourcesReachMuch: the first draw that reaches a tenth of the edges is the source, as ever if it is the first one,
// and else the one of 64 that reaches the most.
func TestSourcesReachMuch(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 8))
	first, later, most := 0, 0, 0
	for range 300 {
		n := 2 + r.IntN(120)
		var text strings.Builder
		for range 1 + r.IntN(2*n) {
			u := r.IntN(n)
			fmt.Fprintln(&text, u, u+r.IntN(n-u)) // most edges go on, so that few vertices reach much
		}
		g, seed := read(t, "g.el", text.String()), r.Uint64()
		draws := firstDraws(g, seed, sourceDraws)
		want, best := -1, -1
		for i, v := range draws {
			_, edges := edgesFrom(g, v)
			if edges > best {
				want, best = i, edges
			}
			if 10*edges >= g.Edges() {
				break
			}
		}
		switch {
		case want == 0:
			first++
		case 10*best >= g.Edges():
			later++
		default:
			most++
		}
		got := g.DrawSources(5, seed)
		require.Len(t, got, min(5, len(g.mayBeSources())))
		require.Equal(t, draws[want], got[0])
		rest := slices.Delete(slices.Clone(draws), want, want+1)
		require.Equal(t, rest[:len(got)-1], got[1:])
		require.Equal(t, got[:1], g.DrawSources(1, seed))
	}
	require.Greater(t, min(first, later), 10, "%d first, %d later, %d most", first, later, most)
	star := "0 1\n" + strings.Repeat("1 0\n", 1) + "5 6\n6 7\n7 8\n8 9\n"
	for i := range 40 {
		star += fmt.Sprintf("%d 9\n", 10+i)
	}
	g := read(t, "g.el", star)
	_, edges := edgesFrom(g, g.DrawSources(1, 3)[0])
	require.Equal(t, 4, edges, "less than a tenth can be reached from anywhere: the most is")
}

// TestVerticesStayThemselves: whatever is dropped or moved, a vertex that was read with a number is found, and the one
// that is drawn is the same.
func TestVerticesStayThemselves(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 2))
	for range 200 {
		n := 2 + r.IntN(50)
		spec := graphspec.Graph{ErdosRenyi: &graphspec.ErdosRenyi{Vertices: n, Edges: r.IntN(min(n, n*(n-1)/2))}}
		spec.SetSeed(r.Uint64())
		plain, err := Load(spec)
		require.NoError(t, err)
		spec.Clean.CompactIDs = r.IntN(2) == 0
		spec.Reorder = graphspec.Reorder{Order: graphspec.Order(r.IntN(4)), Seed: r.Uint64()}
		moved, err := Load(spec)
		require.NoError(t, err)
		require.Equal(t, n, moved.VerticesAsRead())
		for _, g := range []*Graph{moved, moved.Transpose()} {
			for v := range uint32(n) {
				now, err := g.Vertex(int(v))
				if plain.out.Degree(int(v)) == 0 && spec.Clean.CompactIDs {
					require.ErrorContains(t, err,
						fmt.Sprintf("vertex %d has no edge, and graph.clean.compact_ids has dropped it", v))
					continue
				}
				require.NoError(t, err)
				require.Equal(t, v, g.AsRead(now))
				var ends []uint32
				for _, u := range g.out.Row(int(now)) {
					ends = append(ends, g.AsRead(u))
				}
				require.ElementsMatch(t, plain.out.Row(int(v)), ends)
			}
			_, err = g.Vertex(n)
			if g.Vertices() > 0 {
				require.EqualError(t, err, fmt.Sprintf("the graph has vertices 0 to %d", n-1))
			}
		}
		seed := r.Uint64()
		var drawn []uint32
		for _, v := range moved.DrawSources(3, seed) {
			drawn = append(drawn, moved.AsRead(v))
		}
		require.Equal(t, append([]uint32{}, plain.DrawSources(3, seed)...), append([]uint32{}, drawn...))
	}
}
