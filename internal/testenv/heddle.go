package testenv

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// Heddle builds the program of the work tree, and returns its path in the user's cache: the tests of all packages share
// one, which is relinked only after a change. It is built without a profile, since tests have already compiled those
// packages.
var Heddle = sync.OnceValues(func() (string, error) {
	mod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	root := filepath.Dir(strings.TrimSpace(string(mod)))
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "heddle-tests", fmt.Sprintf("%.8x", sha256.Sum256([]byte(root))))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close() //nolint:errcheck // nothing is written
	if err := lockWhole(lock); err != nil {
		return "", err
	}
	program := filepath.Join(dir, "heddle")
	// By -C, not by the command's Dir, which is looked at: the root directory would be an input of the test, and no result
	// would be in go test's cache after a commit.
	c := exec.Command("go", "-C", root, "build", "-pgo=off", "-ldflags=-w", "-o", program, "./cmd/heddle")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build ./cmd/heddle: %w\n%s", err, out)
	}
	return program, nil
})

func lockWhole(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
