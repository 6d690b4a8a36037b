// Package resources says how much of the host a process may use: processors and memory, as the machine has them and as
// affinity, GOMAXPROCS and control groups (versions 1 and 2, at any level) limit them. It imports nothing of ours.
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

// Processors is how many processors this process may keep busy, at least 1. A quota of 1.5 processors is two. Go's own
// GOMAXPROCS follows affinity and quotas, too, but is never 1 because of a quota.
func Processors() int {
	n := runtime.GOMAXPROCS(0)
	if quota, ok := host.quota(); ok {
		n = min(n, int(math.Ceil(quota)))
	}
	return max(1, n)
}

// Memory is how many bytes more this process may have before the host, or a control group, has none left; ok is false
// where nobody says.
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

// AddressSpace is the limit of this process's address space, in bytes (ulimit -v); limited is false where there is
// none.
func AddressSpace() (limit uint64, limited bool) {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &r) != nil || r.Cur > math.MaxInt64 {
		return 0, false
	}
	return r.Cur, true
}

// mapped is how much of its address space this process has mapped; 0: nobody knows.
func mapped() uint64 {
	n, _ := fieldOf("/proc/self/status", "VmSize:")
	return n << 10
}

// PeakRSS is the most memory that this process has had, in bytes; 0: nobody knows. Where Linux's getrusage answers, a
// program begins with the peak of the process that started it.
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

// ProcessorSeconds is the processor time that this process has used so far; 0: nobody knows.
func ProcessorSeconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// system is the host, by where its files are.
type system struct{ root string }

var host = system{"/"}

func (s system) path(name string) string { return filepath.Join(s.root, name) }

// available returns the memory that the kernel could give without swapping.
func (s system) available() (free uint64, ok bool) {
	if kib, ok := fieldOf(s.path("proc/meminfo"), "MemAvailable:"); ok {
		return kib << 10, true
	}
	return math.MaxUint64, false
}

// quota is how many processors' time the tightest control group gives.
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

// groups are the control groups of this process that have a controller, and those above them as far as can be seen.
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

// mount is where a hierarchy of control groups is to be seen.
type mount struct {
	root, dir string // dir shows what is below root
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

// above are a group and those above it, up to the mount's root. A group that is not below it is the root itself: a
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

// left returns the memory that a group may still take, with what it can drop.
func (g group) left() (bytes uint64, ok bool) {
	limit, used, drop := "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
	if g.v2 {
		limit, used, drop = "memory.max", "memory.current", "inactive_file"
	}
	most, is := g.number(limit), g.number(used)
	if most < 0 || is < 0 || most >= 1<<60 { // version 1 has a number near 2^63 where there is no limit
		return 0, false
	}
	file, _ := fieldOf(filepath.Join(g.dir, "memory.stat"), drop)
	return uint64(max(0, most-max(0, is-float64(file)))), true
}

// number reads a file of one number; -1: there is none, or it says "max".
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

// fieldOf reads the number behind a word that begins a line of a file.
func fieldOf(file, word string) (n uint64, ok bool) {
	for _, line := range lines(file) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == word {
			n, err := strconv.ParseUint(f[1], 10, 50)
			return n, err == nil
		}
	}
	return 0, false
}

// lines are those of a file; none if it cannot be read.
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
