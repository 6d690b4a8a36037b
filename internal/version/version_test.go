package version

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLine(t *testing.T) {
	vcs := map[string]string{"vcs.revision": "19331e5c2ab1d4a0", "vcs.time": "2026-11-23T03:26:41+01:00",
		"vcs.modified": "false"}
	require.True(t, strings.HasPrefix(line(vcs), "19331e5c2ab1 (2026-11-23), go"), line(vcs))
	vcs["vcs.modified"] = "true"
	require.True(t, strings.HasPrefix(line(vcs), "19331e5c2ab1+changes (2026-11-23), go"), line(vcs))
	require.Equal(t, 2, commitTime(vcs).Hour(), "UTC")
	without := line(nil)
	require.True(t, strings.HasPrefix(without, Text()+" (no commit date"), without)
}
