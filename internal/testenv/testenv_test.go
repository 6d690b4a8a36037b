package testenv_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
)

// inside is set where the test has started itself.
const inside = "HEDDLE_TESTENV_INSIDE"

func TestMain(m *testing.M) {
	if os.Getenv(inside) != "bare" {
		testenv.HandleSignals()
	}
	os.Exit(m.Run())
}

// ignored are the signals that a new program ignores, as the kernel says: bit 0 is SIGHUP.
func ignored(t *testing.T) uint64 {
	t.Helper()
	out, err := exec.Command("sed", "-n", "s/^SigIgn:[[:space:]]*//p", "/proc/self/status").Output()
	if err != nil || len(out) == 0 {
		t.Skip("no /proc here")
	}
	mask, err := strconv.ParseUint(strings.TrimSpace(string(out)), 16, 64)
	require.NoError(t, err)
	return mask
}

// A program that a test starts ignores no signal, though the test's parent does.
func TestIgnoredSignals(t *testing.T) {
	if os.Getenv(inside) != "" {
		t.Logf("ignored: %x", ignored(t))
		return
	}
	for how, says := range map[string]string{"handled": "ignored: 0", "bare": "ignored: 3"} {
		c := exec.Command("sh", "-c", `trap "" HUP INT QUIT PIPE TERM; exec "$0" -test.run='^TestIgnoredSignals$' -test.v`,
			os.Args[0])
		c.Env = append(os.Environ(), inside+"="+how)
		out, err := c.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Contains(t, string(out), says+"\n", how)
	}
}
