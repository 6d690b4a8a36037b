// Package tools finds the non-Go programs that tests need.
package tools

import (
	"os"
	"os/exec"
	"testing"
)

// Need returns the path of an installed program. If it is missing, the test is skipped with the reason; where
// HEDDLE_REQUIRE_TOOLS is set, as in CI, it fails, so that no test is skipped unnoticed.
func Need(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("HEDDLE_REQUIRE_TOOLS") != "" {
		t.Fatalf("%s is not installed: run .ci/install.sh", name)
	}
	t.Skipf("skipped: %s is not installed (.ci/install.sh installs it)", name)
	return ""
}
