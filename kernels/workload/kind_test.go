package workload

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKind: each kind is told by its own key, and what stands beside that does not matter.
func TestKind(t *testing.T) {
	require.Len(t, Kinds(), int(KindTrace)+1)
	for _, c := range []struct {
		set  []string
		kind Kind
	}{
		{nil, KindComposed}, {[]string{"algorithm=bfs"}, KindComposed},
		{[]string{"kernel=handwritten"}, KindProgram},
		{[]string{"algorithm=lp"}, KindFeatures}, {[]string{"algorithm=lp", "kernel=handwritten"}, KindFeatures},
		{[]string{"program=bfs.gt"}, KindGraphIt}, {[]string{"program=bfs.gt", "algorithm=lp", "kernel=handwritten"}, KindGraphIt},
		{[]string{"program=mine.s"}, KindProgram}, {[]string{"program=mine.c", "algorithm=lp", "kernel=handwritten"}, KindProgram},
		{[]string{"trace=x.trace"}, KindTrace}, {[]string{"trace=x.trace", "program=bfs.gt", "kernel=handwritten"}, KindTrace},
	} {
		w, err := Parse(c.set)
		require.NoError(t, err)
		require.Equal(t, c.kind, w.Kind(), "%v", c.set)
	}
}
