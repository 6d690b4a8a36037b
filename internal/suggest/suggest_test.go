package suggest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "ab", 2}, {"warps", "wraps", 1}, {"warp", "warps", 1}, {"kitten", "sitting", 3},
		{"ab", "ba", 1}} {
		assert.Equal(t, c.want, distance(c.a, c.b), "%s %s", c.a, c.b)
		assert.Equal(t, c.want, distance(c.b, c.a), "%s %s", c.b, c.a)
	}
	assert.Empty(t, Nearest("warps", []string{"seed", "cores"}))
}

func TestDidYouMean(t *testing.T) {
	names := []string{"fetch", "decode", "issue", "commit", "Core0"}
	require.Equal(t, "; did you mean issue?", DidYouMean("isue", names))
	require.Equal(t, "; did you mean commit?", DidYouMean("comit", names))
	require.Equal(t, "; did you mean Core0?", DidYouMean("CORE0", names))
	require.Empty(t, DidYouMean("zzzzzz", names))
	require.Equal(t, "; did you mean peg?", DidYouMean("graphpeg", []string{"weaver", "peg", "hwwl", "eghw"}))
	require.Equal(t, "; did you mean graphpeg?", DidYouMean("peg", []string{"weaver", "graphpeg", "hwwl", "eghw"}))
	require.Empty(t, DidYouMean("core", []string{"core.warps", "core.threads"}), "two contain it")
	require.Empty(t, DidYouMean("me", []string{"memory"}), "two letters alone")
	require.Empty(t, DidYouMean("", nil))
}

func FuzzNearest(f *testing.F) {
	f.Add("isue", "issue")
	f.Fuzz(func(t *testing.T, word, name string) {
		require.Contains(t, []string{"", name}, Nearest(word, []string{name}))
	})
}
