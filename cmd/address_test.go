package cmd

import (
	"bytes"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
)

// A small address space is said at once, and not by Go's runtime when it is used up.
func TestASmallAddressSpaceIsSaid(t *testing.T) {
	testenv.NeedSlow(t, "it runs processes to their limits of memory")
	require.NoError(t, checkAddressSpace(0, false))
	require.NoError(t, checkAddressSpace(leastAddressSpace, true))
	require.ErrorContains(t, checkAddressSpace(1<<30, true),
		"the limit of the address space (ulimit -v) is 1.0 GiB: expected at least 1.5 GiB")

	var text []byte
	var err error
	for range 10 { // one start in twenty ends before heddle's first instruction, in the runtime's own preparations
		c := exec.Command("sh", "-c", `ulimit -v 1500000 || exit 99; exec "$0" run quickstart --dry-run`, buildHeddle(t))
		c.Dir = t.TempDir()
		if text, err = c.CombinedOutput(); !bytes.Contains(text, []byte("runtime.gcenable")) {
			break
		}
	}
	if exitOf(t, err) == 99 {
		t.Skip("this shell's ulimit has no -v")
	}
	require.Equal(t, exitUsage, exitOf(t, err), "%s", text)
	require.Contains(t, string(text), "heddle: the limit of the address space (ulimit -v) is 1.4 GiB")
	require.NotContains(t, string(text), "goroutine")
}
