package resources

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fake makes a host of files.
func fake(t *testing.T, files map[string]string) system {
	t.Helper()
	s := system{t.TempDir()}
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(s.path(name)), 0o755))
		require.NoError(t, os.WriteFile(s.path(name), []byte(text), 0o644))
	}
	return s
}

const (
	mount2 = "41 31 0:38 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw\n"
	mount1 = "30 23 0:5 / /proc rw - proc proc rw\n" +
		"32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n" +
		"34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n" +
		"35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
)

func TestQuota(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  float64
	}{
		"no files": {nil, math.Inf(1)},
		"version 2": {map[string]string{
			"proc/self/cgroup": "0::/user/job\n", "proc/self/mountinfo": mount2, "sys/fs/cgroup/user/job/cpu.max": "150000 100000\n",
		}, 1.5},
		"version 2 without a limit": {map[string]string{
			"proc/self/cgroup": "0::/job\n", "proc/self/mountinfo": mount2, "sys/fs/cgroup/job/cpu.max": "max 100000\n",
		}, math.Inf(1)},
		"version 2, tighter above": {map[string]string{
			"proc/self/cgroup": "0::/user/job\n", "proc/self/mountinfo": mount2, "sys/fs/cgroup/user/job/cpu.max": "400000 100000\n",
			"sys/fs/cgroup/user/cpu.max": "50000 100000\n",
		}, 0.5},
		"version 2, a container's": {map[string]string{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": mount2, "sys/fs/cgroup/cpu.max": "300000 100000\n",
		}, 3},
		"version 1": {map[string]string{
			"proc/self/cgroup": "3:cpuset:/x\n2:cpu,cpuacct:/job\n0::/\n", "proc/self/mountinfo": mount1,
			"sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us": "200000\n", "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us": "100000\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
			"sys/fs/cgroup/cpuset/x/cpu.cfs_quota_us": "1\n", "sys/fs/cgroup/cpuset/x/cpu.cfs_period_us": "100000\n",
		}, 2},
		"version 1, mounted from where the container is": {map[string]string{
			"proc/self/cgroup":                           "2:cpu:/docker/abc\n",
			"proc/self/mountinfo":                        "32 31 0:29 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us":         "100000\n",
			"sys/fs/cgroup/cpu/cpu.cfs_period_us":        "100000\n",
			"sys/fs/cgroup/cpu/docker/cpu.cfs_quota_us":  "1\n",
			"sys/fs/cgroup/cpu/docker/cpu.cfs_period_us": "100000\n",
		}, 1},
		"mounted from elsewhere": {map[string]string{
			"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": strings.Replace(mount2, " / ", " /b ", 1), "sys/fs/cgroup/cpu.max": "250000 100000\n",
		}, 2.5},
		"nonsense": {map[string]string{
			"proc/self/cgroup": "0::/a\nx\n1:2\n", "proc/self/mountinfo": mount2 + "- -\n1 2 - cgroup2\n", "sys/fs/cgroup/a/cpu.max": "\n\nx y z\n",
		}, math.Inf(1)},
	} {
		got, ok := fake(t, c.files).quota()
		require.Equal(t, c.want, got, name)
		require.Equal(t, !math.IsInf(c.want, 1), ok, name)
	}
}

func TestMemory(t *testing.T) {
	defer func(old system) { host = old }(host)
	meminfo := "MemTotal:  100 kB\nMemAvailable:     1000 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  uint64 // 0: unknown
	}{
		"no files": {nil, 0},
		"a host":   {map[string]string{"proc/meminfo": meminfo}, 1000 << 10},
		"version 2": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n", "proc/self/mountinfo": mount2,
			"sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/b/memory.current": "500\n",
			"sys/fs/cgroup/a/memory.max": "90000\n", "sys/fs/cgroup/a/memory.current": "70000\n", "sys/fs/cgroup/a/memory.stat": "anon 5\ninactive_file 1000\n",
		}, 21000},
		"more than the host has": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": mount2,
			"sys/fs/cgroup/a/memory.max": "9000000\n", "sys/fs/cgroup/a/memory.current": "70000\n",
		}, 1000 << 10},
		"full": {map[string]string{
			"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": mount2, "proc/meminfo": meminfo,
			"sys/fs/cgroup/a/memory.max": "1000\n", "sys/fs/cgroup/a/memory.current": "1001\n",
		}, math.MaxUint64}, // none left
		"version 1": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/job\n", "proc/self/mountinfo": mount1,
			"sys/fs/cgroup/memory/job/memory.limit_in_bytes": "60000\n", "sys/fs/cgroup/memory/job/memory.usage_in_bytes": "50000\n",
			"sys/fs/cgroup/memory/job/memory.stat":       "inactive_file 1\ntotal_inactive_file 4000\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n", "sys/fs/cgroup/memory/memory.usage_in_bytes": "50000\n",
		}, 14000},
	} {
		host = fake(t, c.files)
		got, ok := Memory()
		switch c.want {
		case 0:
			require.False(t, ok, name)
		case math.MaxUint64:
			require.Zero(t, got, name)
			require.True(t, ok, name)
		default:
			require.Equal(t, c.want, got, name)
			require.True(t, ok, name)
		}
	}
}

// TestProcessors: the least of GOMAXPROCS and the quota, and never none.
func TestProcessors(t *testing.T) {
	defer func(old system) { host = old }(host)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	for quota, want := range map[string]int{"max 100000": 8, "1000 100000": 1, "100000 100000": 1, "110000 100000": 2,
		"2000000 100000": 8} {
		host = fake(t, map[string]string{"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": mount2,
			"sys/fs/cgroup/cpu.max": quota})
		require.Equal(t, want, Processors(), quota)
	}
}

// TestProcessorsOfThisHost: the processors left by GOMAXPROCS and affinity, in a separate process.
func TestProcessorsOfThisHost(t *testing.T) {
	if os.Getenv("RESOURCES_TEST_CHILD") != "" {
		os.Stdout.WriteString("processors=" + strconv.Itoa(Processors()) + "\n") //nolint:errcheck // the parent looks
		return
	}
	child := func(env string, words ...string) string {
		words = append(words, os.Args[0], "-test.run=TestProcessorsOfThisHost")
		c := exec.Command(words[0], words[1:]...)
		c.Env = append(os.Environ(), "RESOURCES_TEST_CHILD=1", env)
		out, err := c.Output()
		require.NoError(t, err)
		return string(out)
	}
	require.Contains(t, child("GOMAXPROCS=1"), "processors=1\n")
	if taskset, err := exec.LookPath("taskset"); err == nil {
		require.Contains(t, child("X=", taskset, "-c", "0"), "processors=1\n")
	}
	require.LessOrEqual(t, Processors(), runtime.NumCPU())
	free, ok := Memory()
	require.True(t, !ok || free > 1<<20)
}

func TestMaxRSS(t *testing.T) {
	require.EqualValues(t, 5<<20, maxRSS("linux", 5<<10))
	require.EqualValues(t, 5<<20, maxRSS("darwin", 5<<20), "macOS counts bytes")
	require.Greater(t, PeakRSS(), uint64(1<<20))
	require.Less(t, PeakRSS(), uint64(1<<40))
}
