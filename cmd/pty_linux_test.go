package cmd

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// onPseudoTerminal runs the program with its output on a terminal of so many columns, and returns what it wrote there.
func onPseudoTerminal(t *testing.T, columns uint16, program string, args ...string) string {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here:", err)
	}
	defer master.Close()
	fd := int(master.Fd())
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}))
	slave, err := os.OpenFile(filepath.Join("/dev/pts", strconv.Itoa(n)), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)

	var stderr bytes.Buffer
	c := exec.Command(program, args...)
	c.Stdout, c.Stderr = slave, &stderr
	require.NoError(t, c.Start())
	slave.Close()
	out, _ := io.ReadAll(master) // ends with EIO when the last writer has closed
	require.NoError(t, c.Wait(), stderr.String())
	return strings.ReplaceAll(string(out), "\r\n", "\n")
}

// The width of a terminal is found behind what watches over standard output.
func TestTablesFitARealTerminal(t *testing.T) {
	program := buildHeddle(t)
	someResults(t)
	onPseudoTerminal(t, 80, program, "run", "e.yaml", "--quiet", "--fresh") // with this program
	for _, args := range [][]string{{"run", "e.yaml", "--quiet"}, {"results", "list", "a"}, {"config", "list"}, {"run", "--help"}} {
		out := onPseudoTerminal(t, 80, program, args...)
		for _, line := range strings.Split(out, "\n") {
			if strings.HasPrefix(line, "  heddle ") { // a command to copy
				continue
			}
			require.LessOrEqual(t, utf8.RuneCountInString(line), 80, "%v\n%s", args, out)
		}
	}
	require.Contains(t, onPseudoTerminal(t, 80, program, "run", "e.yaml", "--quiet"), "no room for")
	require.NotContains(t, onPseudoTerminal(t, 80, program, "run", "e.yaml", "--quiet", "--columns", "0"), "no room for")
}
