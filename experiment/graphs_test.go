package experiment

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/experiment/config"
	"heddle/graph/graphspec"
)

// random is a graph of as many vertices.
func random(vertices int) graphspec.Graph {
	return graphspec.Graph{ErdosRenyi: &graphspec.ErdosRenyi{Vertices: vertices, Edges: 10 * vertices, Seed: 1}}
}

// there counts the graphs in memory.
func (c *graphCache) there() (n int) {
	for _, l := range c.all {
		if l.graph != nil {
			n++
		}
	}
	return n
}

func TestGraphsThatNoPointNeedsAreDropped(t *testing.T) {
	var points []Point
	var todo []int
	for i := range 6 {
		points = append(points, Point{Config: config.Experiment{Graph: random(100 + i/2)}})
		todo = append(todo, i)
	}
	var c graphCache
	c.want(points, todo)
	for i := range points {
		g, release, err := c.get(context.Background(), points[i].Config.Graph)
		require.NoError(t, err)
		require.Equal(t, 100+i/2, g.Vertices())
		require.Equal(t, 1, c.there())
		release()
		release() // once only
		require.Equal(t, 1-i%2, c.there(), "after point %d", i)
		require.Equal(t, g.Hash(), c.hash(&points[i].Config))
	}
	require.Len(t, c.summaries(), 3)
}

func TestGraphsThatWaitHaveTheirRoom(t *testing.T) {
	var points []Point
	var todo []int
	for i := range 20 {
		points = append(points, Point{Config: config.Experiment{Graph: random(1000 + i%10)}})
		todo = append(todo, i)
	}
	c := graphCache{room: 3*85_000 + 5_000}
	c.want(points, todo)
	first, release, err := c.get(context.Background(), points[0].Config.Graph)
	require.NoError(t, err)
	for i := range 9 {
		_, release, err := c.get(context.Background(), points[i+1].Config.Graph)
		require.NoError(t, err)
		release()
		require.LessOrEqual(t, c.there(), 4)
	}
	again, releaseAgain, err := c.get(context.Background(), points[0].Config.Graph)
	require.NoError(t, err)
	require.Same(t, first, again, "graphs in use stay")
	release()
	releaseAgain()
	require.Equal(t, 3, c.there())
}

// Who no longer waits for a graph gets none, however long it takes to make; those who wait do.
func TestLoadingAGraphIsLeftAtOnce(t *testing.T) {
	large := graphspec.Graph{RMAT: &graphspec.RMAT{Scale: 18, EdgeFactor: 16, A: 0.57, B: 0.19, C: 0.19, Seed: 1}}
	var c graphCache
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(10*time.Millisecond, cancel)
	start := time.Now()
	_, _, err := c.get(ctx, large)
	took := time.Since(start)
	require.ErrorIs(t, err, context.Canceled)
	d, err := c.describe(large)
	require.NoError(t, err)
	require.Equal(t, 1<<18, d.about.Vertices)
	require.Less(t, took, time.Since(start)/4)
}
