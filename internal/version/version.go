// Package version says which build of heddle runs.
package version

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
)

// Text is the commit, or without one the program's own hash. Results are of one version.
var Text = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			v = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "+changes"
		}
	}
	if v == "" || modified != "" {
		modified += "+exe." + Executable()
	}
	return cmp.Or(v, info.Main.Version) + modified
})

// Executable tells builds without a commit apart: a hash of the program.
func Executable() string {
	f, err := os.Open("/proc/self/exe") // also when another build is there now
	if err != nil {
		name, _ := os.Executable() // without one nothing is there
		f, err = os.Open(name)
	}
	if err != nil {
		return "unknown"
	}
	defer f.Close() //nolint:errcheck // read only
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "unknown"
	}
	return fmt.Sprintf("%.6x", h.Sum(nil))
}
