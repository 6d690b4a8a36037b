package cmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGtCheckAndFmt(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "p.gt")
	require.NoError(t, os.WriteFile(file, []byte("element V end\nfunc main()\nprint 1+2;\nend\n"), 0o644))
	_, stderr, code := heddle(t, "gt", "check", file)
	require.Equal(t, 0, code, stderr)
	out, _, code := heddle(t, "gt", "fmt", "-l", file)
	require.Equal(t, 1, code)
	require.Equal(t, file+"\n", out)
	_, stderr, code = heddle(t, "gt", "fmt", "-w", file)
	require.Equal(t, 0, code, stderr)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "element V end\nfunc main()\n    print 1 + 2;\nend\n", string(text))
	require.NoError(t, os.WriteFile(file, []byte("func main() print x; end"), 0o644))
	_, stderr, code = heddle(t, "gt", "check", file)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, file+":1:19: there is no x")
}
