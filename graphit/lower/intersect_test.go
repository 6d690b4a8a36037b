package lower_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graphit/lower"
)

const triangleCount = wideHeader + `const count : vector{Vertex}(uint_64) = 0;
func tri(src : Vertex, dst : Vertex)
    if src > dst
        count[src] += intersectNeighbor(edges, src, dst);
    end
end
func main()
    #s1# edges.apply(tri);
    print count.sum();
end
schedule:
    program->configIntersection("s1", "%s");
`

// TestIntersections: every way to intersect rows counts the same triangles, and takes other instructions.
func TestIntersections(t *testing.T) {
	g, takes := undirected(t), map[uint64]string{}
	for _, by := range []string{
		"NaiveIntersection", "BinarySearchIntersection", "HashIntersection", "BitmapIntersection",
	} {
		var out bytes.Buffer
		r, err := lower.Run(context.Background(), device(t, testWorkload(t)), g, parse(t, by, fmt.Sprintf(triangleCount, by)),
			lower.Options{Args: []string{"tc", "graph"}, Workload: testWorkload(t), Output: &out})
		require.NoError(t, err, by)
		require.Equal(t, fmt.Sprintln(triangles(g)), out.String(), by)
		n := uint64(0)
		for i := range r.Launched {
			n += r.Launched[i].WarpInstrs
		}
		require.Empty(t, takes[n], by)
		takes[n] = by
	}
	t.Log(takes)
	_, err := lower.Run(context.Background(), device(t, testWorkload(t)), odd(t),
		parse(t, "b", fmt.Sprintf(triangleCount, "BitmapIntersection")),
		lower.Options{Args: []string{"tc", "graph"}, Workload: testWorkload(t)})
	require.ErrorContains(t, err, "are parallel, which only a merge counts")
	_, err = lower.Build(parse(t, "b", fmt.Sprintf(triangleCount, "QuickIntersection")), nil, true)
	require.ErrorContains(t, err, "expected NaiveIntersection")
}
