// Package resources reports the processors and memory that a process may use: those of the machine, within the limits
// of affinity, GOMAXPROCS and control groups (versions 1 and 2, at any level). It imports none of heddle's packages.
package resources

import (
	"bufio"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Processors returns the number of processors that this process may keep busy, at least 1. A quota of 1.5 processors is
// rounded up to 2. Go's own GOMAXPROCS follows affinity and quotas, too, but is never 1 because of a quota.
func Processors() int {
	n := runtime.GOMAXPROCS(0)
	if quota, ok := host.quota(); ok {
		n = min(n, int(math.Ceil(quota)))
	}
	return max(1, n)
}

// Memory returns how many more bytes this process may allocate before the host, or a control group, runs out; ok is
// false if unknown.
func Memory() (free uint64, ok bool) {
	free, ok = host.available()
	for _, g := range host.groups("memory") {
		if left, limited := g.left(); limited {
			free, ok = min(free, left), true
		}
	}
	if limit, limited := AddressSpace(); limited {
		left := limit - min(limit, mapped())
		if !ok || left < free {
			free, ok = left, true
		}
	}
	return free, ok
}

// AddressSpace returns the limit of this process's address space, in bytes (ulimit -v); limited is false if there is
// none.
func AddressSpace() (limit uint64, limited bool) {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &r) != nil || r.Cur > math.MaxInt64 {
		return 0, false
	}
	return r.Cur, true
}

// mapped returns how much of its address space this process has mapped; 0: unknown.
func mapped() uint64 {
	n, _ := fieldOf("/proc/self/status", "VmSize:")
	return n << 10
}

// PeakRSS returns this process's peak memory, in bytes; 0: unknown. On Linux, getrusage starts a program at the peak of
// the process that started it.
func PeakRSS() uint64 {
	if kib, ok := fieldOf("/proc/self/status", "VmHWM:"); ok {
		return kib << 10
	}
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return maxRSS(runtime.GOOS, uint64(u.Maxrss))
}

// maxRSS converts getrusage's ru_maxrss to bytes: macOS counts bytes, Linux and the BSDs KiB.
func maxRSS(system string, n uint64) uint64 {
	if system == "darwin" || system == "ios" {
		return n
	}
	return n << 10
}

// ProcessorSeconds returns the processor time that this process has used so far; 0: unknown.
func ProcessorSeconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// system is the host, identified by the root of its files.
type system struct{ root string }

var host = system{"/"}

func (s system) path(name string) string { return filepath.Join(s.root, name) }

// available returns the memory that the kernel could provide without swapping.
func (s system) available() (free uint64, ok bool) {
	if kib, ok := fieldOf(s.path("proc/meminfo"), "MemAvailable:"); ok {
		return kib << 10, true
	}
	return math.MaxUint64, false
}

// quota returns the processor quota of the tightest control group.
func (s system) quota() (processors float64, ok bool) {
	processors = math.Inf(1)
	for _, g := range s.groups("cpu") {
		quota, period := g.number("cpu.cfs_quota_us"), g.number("cpu.cfs_period_us")
		if g.v2 {
			quota, period = g.pair("cpu.max")
		}
		if quota > 0 && period > 0 {
			processors, ok = min(processors, quota/period), true
		}
	}
	return processors, ok
}

// group is a control group.
type group struct {
	dir string
	v2  bool
}

// groups returns this process's control groups with a controller, and their visible ancestors.
func (s system) groups(controller string) (all []group) {
	mounts := s.mounts()
	for _, line := range lines(s.path("proc/self/cgroup")) {
		f := strings.SplitN(line, ":", 3) // number, controllers, path
		if len(f) != 3 {
			continue
		}
		v2 := f[0] == "0" && f[1] == ""
		if !v2 && !slices.Contains(strings.Split(f[1], ","), controller) {
			continue
		}
		for _, m := range mounts {
			if m.v2 == v2 && (v2 || slices.Contains(m.options, controller)) {
				all = append(all, m.above(s, f[2])...)
			}
		}
	}
	return all
}

// mount is the mount point of a control group hierarchy.
type mount struct {
	root, dir string // dir shows the hierarchy below root
	v2        bool
	options   []string
}

func (s system) mounts() (all []mount) {
	for _, line := range lines(s.path("proc/self/mountinfo")) {
		place, fs, ok := strings.Cut(line, " - ")
		p, f := strings.Fields(place), strings.Fields(fs) // number, parent, device, root, dir, …; type, source, options
		if !ok || len(p) < 5 || len(f) < 3 || f[0] != "cgroup" && f[0] != "cgroup2" {
			continue
		}
		all = append(all, mount{root: p[3], dir: p[4], v2: f[0] == "cgroup2", options: strings.Split(f[2], ",")})
	}
	return all
}

// above returns a group and its ancestors up to the mount's root. A group outside the mount is the root itself: a
// container's.
func (m *mount) above(s system, path string) (all []group) {
	at, inside := strings.CutPrefix(path, strings.TrimSuffix(m.root, "/"))
	if !inside {
		at = "/"
	}
	for at = filepath.Join("/", at); ; at = filepath.Dir(at) {
		all = append(all, group{s.path(filepath.Join(m.dir, at)), m.v2})
		if at == "/" {
			return all
		}
	}
}

// left returns the memory that a group may still allocate, counting memory that it can reclaim.
func (g group) left() (bytes uint64, ok bool) {
	limit, used, drop := "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
	if g.v2 {
		limit, used, drop = "memory.max", "memory.current", "inactive_file"
	}
	most, is := g.number(limit), g.number(used)
	if most < 0 || is < 0 || most >= 1<<60 { // version 1 has a number near 2^63 for no limit
		return 0, false
	}
	file, _ := fieldOf(filepath.Join(g.dir, "memory.stat"), drop)
	return uint64(max(0, most-max(0, is-float64(file)))), true
}

// number reads a file with one number; -1: no file, or "max".
func (g group) number(file string) float64 {
	n, _ := g.pair(file)
	return n
}

// pair reads a file of up to two numbers.
func (g group) pair(file string) (a, b float64) {
	n := [2]float64{-1, -1}
	for _, line := range lines(filepath.Join(g.dir, file)) {
		words := strings.Fields(line)
		for i, w := range words[:min(2, len(words))] {
			if x, err := strconv.ParseInt(w, 10, 64); err == nil {
				n[i] = float64(x)
			}
		}
	}
	return n[0], n[1]
}

// fieldOf returns the number after a word that begins a line of a file.
func fieldOf(file, word string) (n uint64, ok bool) {
	for _, line := range lines(file) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == word {
			n, err := strconv.ParseUint(f[1], 10, 50)
			return n, err == nil
		}
	}
	return 0, false
}

// lines returns a file's lines; none if it cannot be read.
func lines(file string) (all []string) {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // read only
	for s := bufio.NewScanner(f); s.Scan(); {
		all = append(all, s.Text())
	}
	return all
}
