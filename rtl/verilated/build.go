package verilated

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"heddle/rtl"
)

// harnesses has, by the name of a unit's top module, a module with ports of fixed widths around it, and the program
// that plays it.
//
//go:embed src
var harnesses embed.FS

// harness returns the files of a unit, by the names that they are built under.
func harness(u rtl.Unit) (map[string][]byte, error) {
	module, err := harnesses.ReadFile("src/" + u.Top + ".sv")
	if err != nil {
		return nil, err
	}
	text, err := harnesses.ReadFile("src/" + u.Top + ".cpp")
	return map[string][]byte{"harness.sv": module, "unit.cpp": text}, err
}

// options are Verilator's, besides the parameters. Assertions stay in: one that fails ends the run with its name.
var options = strings.Fields("--cc --exe --build --assert --top-module harness -Mdir obj -Wno-fatal -Wno-lint " +
	"-O3 --x-assign fast --x-initial fast -CFLAGS -O2 --prefix Vharness")

// ErrNoTools reports that a tool is missing.
var ErrNoTools = errors.New("the SystemVerilog is simulated by a program that Verilator builds, which needs " +
	"verilator, g++ and make (Debian: apt-get install verilator g++ make)")

// requiredTools are the programs that a build needs.
var requiredTools = []string{"verilator", "g++", "make"}

// program returns the path of the program that plays the unit. It is built once, and kept in the user's cache.
func program(u rtl.Unit) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%w: set XDG_CACHE_HOME to a folder for the built program", err)
	}
	for _, t := range requiredTools {
		if _, err := exec.LookPath(t); err != nil {
			return "", fmt.Errorf("%s not found: %w", t, ErrNoTools)
		}
	}
	dir, err := folder(cache, u)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, u.Top)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	unlock, err := lock(filepath.Join(dir, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(path); err == nil { // by another process meanwhile
		return path, nil
	}
	compiled, err := runtimeFolder(cache)
	if err != nil {
		return "", err
	}
	return path, build(u, dir, path, compiled)
}

// runtimeObjects are Verilator's own code, compiled: the same in all programs, and half of what g++ works on.
var runtimeObjects = []string{"verilated.o", "verilated_threads.o"}

// runtimeFolder returns the folder that keeps them.
func runtimeFolder(cache string) (string, error) {
	compilers, err := versions()
	if err != nil {
		return "", err
	}
	h := sha256.Sum256(fmt.Appendf(nil, "%s%q", compilers, options))
	dir := filepath.Join(cache, "heddle", "rtl", fmt.Sprintf("runtime-%.12x", h))
	return dir, os.MkdirAll(dir, 0o755)
}

// linkObjects links them, complete, from a folder to another, and reports whether all are there now.
func linkObjects(from, to string) bool {
	for _, name := range runtimeObjects {
		err := os.Link(filepath.Join(from, name), filepath.Join(to, name))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return false
		}
	}
	return true
}

// folder returns the folder of a unit's program: its name follows from everything that the program depends on.
func folder(cache string, u rtl.Unit) (string, error) {
	compilers, err := versions()
	if err != nil {
		return "", err
	}
	sources, err := u.Digest()
	if err != nil {
		return "", err
	}
	around, err := harness(u)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s%s\n%s\n%q\n%s\n%s", compilers, sources, parameters(u), options, around["harness.sv"],
		around["unit.cpp"])
	return filepath.Join(cache, "heddle", "rtl", fmt.Sprintf("%s-%.12x", u.Top, h.Sum(nil))), nil
}

// versions returns the versions of the tools that a program depends on.
var versions = sync.OnceValues(func() (text string, err error) {
	for _, tool := range requiredTools[:2] {
		version, err := exec.Command(tool, "--version").Output()
		if err != nil {
			return "", fmt.Errorf("%s --version: %w", tool, err)
		}
		text += string(version)
	}
	return text, nil
})

// parameters returns the unit's parameters as Verilator's options. Those of the queues, which are the socket's, are not
// among them.
func parameters(u rtl.Unit) (args []string) {
	for _, p := range u.Parameters {
		if p.Name == "RequestQueue" || p.Name == "TagW" {
			continue
		}
		if p.Name == "Lanes" || p.Name == "Line" || p.Name == "Cores" {
			args = append(args, "-CFLAGS", fmt.Sprintf("-D%s=%d", strings.ToUpper(p.Name), p.Value))
		}
		args = append(args, fmt.Sprintf("-G%s=%s", p.Name, p.Literal()))
	}
	return args
}

// lock waits for a file's lock, and returns what releases it.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		f.Close() //nolint:errcheck // nothing was written
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { f.Close() }, nil //nolint:errcheck // nothing was written
}

// build makes the program in a folder of its own, so that one that was interrupted leaves none. It takes what compiled
// has of Verilator's runtime, and adds what it has not.
func build(u rtl.Unit, dir, path, compiled string) error {
	work, err := os.MkdirTemp(dir, "build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work) //nolint:errcheck // what is left only takes space
	names, err := u.Write(work)
	if err != nil {
		return err
	}
	around, err := harness(u)
	if err != nil {
		return err
	}
	for name, text := range around {
		if err := os.WriteFile(filepath.Join(work, name), text, 0o644); err != nil {
			return err
		}
	}
	obj := filepath.Join(work, "obj")
	if err := os.Mkdir(obj, 0o755); err != nil {
		return err
	}
	args := slices.Concat(options, parameters(u), names, []string{"harness.sv", "unit.cpp"})
	if linkObjects(compiled, obj) {
		// Older than the makefile, but not to be made again.
		args = append(args, "-MAKEFLAGS", "-o "+strings.Join(runtimeObjects, " -o "))
	}
	cmd := exec.Command("verilator", args...)
	cmd.Dir = work
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("verilator %s: %w\n%s", strings.Join(cmd.Args[1:], " "), err, tail(out))
	}
	linkObjects(obj, compiled) // where that fails, the next program compiles them again
	return os.Rename(filepath.Join(obj, "Vharness"), path)
}

// tail returns the end of a tool's output.
func tail(out []byte) []byte {
	out = bytes.TrimSpace(out)
	return out[max(0, len(out)-2000):]
}
