package version

import (
	"bytes"
	"os"
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

// TestHashOf: two programs whose build IDs differ are two builds, whatever else they hold; without a build ID the whole
// content counts.
func TestHashOf(t *testing.T) {
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Skipf("skipped: no /proc here: %v", err)
	}
	id := buildID(bytes.NewReader(program))
	require.Contains(t, string(id), "Go\x00", "tests are Go programs")
	require.Equal(t, Executable(), hashOf(bytes.NewReader(program)))

	other := bytes.Clone(program)
	other[bytes.Index(other, id)+len(id)/2] ^= 1
	require.NotEqual(t, Executable(), hashOf(bytes.NewReader(other)))

	require.NotEqual(t, hashOf(strings.NewReader("a program")), hashOf(strings.NewReader("another")))
	require.Nil(t, buildID(bytes.NewReader(program[:1000])), "cut off")
}
