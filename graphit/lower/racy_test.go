package lower_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graphit"
	"heddle/graphit/eval"
	"heddle/graphit/lower"
)

const racing = `
element Vertex end
element Edge end
const edges : edgeset{Edge}(Vertex, Vertex) = load(argv[1]);
const vertices : vertexset{Vertex} = edges.getVertices();
const a : vector{Vertex}(int) = 0;
const b : vector{Vertex}(int) = 0;
func init(v : Vertex)
    b[v] = v;
end
func few(v : Vertex) -> output : bool
    output = a[v] < 2;
end
func low(v : Vertex) -> output : bool
    output = 10 / (b[v] + 1) >= 0;
end
func add(src : Vertex, dst : Vertex)
    a[dst] += 1;
end
func least(src : Vertex, dst : Vertex)
    b[dst] min= b[src];
end
func main()
    vertices.apply(init);
    BODY
end
`

// TestRacyFilters: a result that depends on the order of edges, since a filter reads what its operator changes, is
// refused by the filter; one that does not is right; and without such a filter a wrong result is one.
func TestRacyFilters(t *testing.T) {
	g := undirected(t)
	for _, c := range []struct{ body, says string }{
		{"edges.to(few).apply(add);", "11:1: few("},
		{"edges.srcFilter(few).apply(add);", "11:1: few("},
		{"for i in 0:100 edges.srcFilter(low).apply(least); end", ""},
	} {
		w := testWorkload(t, "schedule=edge", "direction=push")
		f := parse(t, "p.gt", strings.Replace(racing, "BODY", c.body, 1))
		_, err := lower.Run(context.Background(), device(t, w), g, f,
			lower.Options{Args: []string{"p", "g"}, Output: io.Discard, Workload: w})
		if c.says == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, c.says)
		require.ErrorContains(t, err, "which edges pass depends on their order")
		require.False(t, errors.Is(err, eval.ErrCheck))
		require.True(t, errors.As(err, new(*graphit.Error)))
	}
}
