package cmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFigure: results are drawn in each format and at the given width; other requests are refused.
func TestFigure(t *testing.T) {
	dir, _, results, _ := smallRun(t, "sweep: {machine.core.warps: [2, 4]}\n")
	for file, begin := range map[string]string{"a.pdf": "%PDF", "a.svg": `<?xml version="1.0"?>`, "a.png": "\x89PNG"} {
		out, stderr, code := heddle(t, "figure", results, "--out", filepath.Join(dir, file), "--width", "3.5in",
			"--height", "144pt", "--bare")
		require.Zero(t, code, stderr)
		require.Equal(t, filepath.Join(dir, file)+"\n", out)
		require.Contains(t, stderr, "for its caption: Speedup over vertex.")
		b, err := os.ReadFile(filepath.Join(dir, file))
		require.NoError(t, err)
		require.Equal(t, begin, string(b[:len(begin)]))
		if file == "a.svg" {
			require.Contains(t, string(b), `width="252pt" height="144pt"`)
			require.Contains(t, string(b), ">edge<")
		}
	}
	out, stderr, code := heddle(t, "figure", results, "--value", "l1d.hit_rate", "--label", "edge=edge mapping")
	require.Zero(t, code, stderr)
	require.Equal(t, filepath.Join(results, "figure.pdf")+"\n", out)
	for says, args := range map[string][]string{
		"expected a number with in, cm, mm or pt": {"--width", "3"},
		"expected 72pt to 7200pt":                 {"--width", "1e9in"},
		"expected 4pt to 40pt":                    {"--font", "NaNpt"},
		"expected a name that ends in .pdf":       {"--out", "x.gif"},
		"expected NAME=TEXT":                      {"--label", "x"},
		"--where x: expected NAME=TEXT":           {"--where", "x"},
		"no axis of small":                        {"--x", "entries"},
		"no point with a result has nothing":      {"--value", "nothing"},
	} {
		_, stderr, code := heddle(t, append([]string{"figure", results}, args...)...)
		require.Equal(t, exitUsage, code, stderr)
		require.Contains(t, stderr, says)
	}
}
