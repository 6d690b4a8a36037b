package choose_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/sim/choose"
)

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		text, name string
		is         bool
	}{
		{"socket0.core0.*", "socket0.core0.warp3.pc", true},
		{"*.fsm", "socket0.core0.weaver.fsm", true},
		{"*.fsm", "socket0.core0.weaver.fsm2", false},
		{"core?.warp[12].pc", "core0.warp2.pc", true},
		{"core?.warp[12].pc", "core0.warp3.pc", false},
		{`/warp\d+\.pc$/`, "socket0.core0.warp13.pc", true},
		{`/warp\d+\.pc$/`, "socket0.core0.warp13.pcs", false},
	} {
		p, err := choose.Parse(c.text)
		require.NoError(t, err)
		require.Equal(t, c.is, p.Matches(c.name), "%s %s", c.text, c.name)
	}
	list, err := choose.ParseList([]string{"a,b*", "/c{1,2}/"})
	require.NoError(t, err)
	require.Len(t, list, 3)
	require.True(t, list[2].Matches("cc"))
	for text, says := range map[string]string{"/(/": "expected a regular expression", "[": "expected a name",
		"": "expected a name"} {
		_, err := choose.Parse(text)
		require.ErrorContains(t, err, says)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("core?.warp[12].*", "core0.warp1.pc")
	f.Add("/a(b|c)/", "ab")
	f.Fuzz(func(t *testing.T, text, name string) {
		if p, err := choose.Parse(text); err == nil {
			p.Matches(name)
		}
	})
}
