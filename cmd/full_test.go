package cmd

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment/store"
	"heddle/internal/testenv"
)

// mounting is set where the test may mount file systems that other processes do not see.
const mounting = "HEDDLE_TEST_MOUNTS"

// smallSystem mounts a file system of so many KiB, whose size the function it returns changes.
func smallSystem(t *testing.T, kib int) (dir string, resize func(kib int)) {
	t.Helper()
	dir = t.TempDir()
	mount := func(options string) {
		out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", dir).CombinedOutput()
		require.NoError(t, err, string(out))
	}
	mount(fmt.Sprintf("size=%dk", kib))
	t.Cleanup(func() { require.NoError(t, exec.Command("umount", dir).Run()) })
	return dir, func(kib int) { mount(fmt.Sprintf("remount,size=%dk", kib)) }
}

// TestFullFileSystem runs sweeps whose results, or whose summaries, their file system has no room for.
func TestFullFileSystem(t *testing.T) {
	testenv.NeedSlow(t, "it mounts small file systems and fills them")
	if os.Getenv(mounting) == "" {
		program := buildHeddle(t)
		inside := func(args ...string) *exec.Cmd {
			c := exec.Command("unshare", append([]string{"--map-root-user", "--mount"}, args...)...)
			c.Env = append(os.Environ(), mounting+"="+program)
			return c
		}
		if out, err := inside("sh", "-c", "mount -t tmpfs tmpfs /mnt").CombinedOutput(); err != nil {
			t.Skipf("no file systems can be mounted here: %v: %s", err, out)
		}
		out, err := inside(os.Args[0], "-test.run=^TestFullFileSystem$", "-test.v").CombinedOutput()
		require.NoError(t, err, string(out))
		return
	}
	t.Run("results", testFullOfResults)
	t.Run("summaries", testFullOfSummaries)
}

// manyPoints is an experiment of so many points, each of a moment and of 12 KiB of results.
func manyPoints(points int) string {
	return fmt.Sprintf("name: many\nmachine: vortex-1c4w4t\ngraph: {grid: {width: 4, height: 4}}\n"+
		"workload: {algorithm: bfs, schedule: vertex}\nsweep: {workload.launch_overhead: {from: 1, to: %d, step: 1}}\n",
		points)
}

// runMany runs the experiment with its results in a directory.
func runMany(t *testing.T, points int, out string) ended {
	t.Helper()
	dir := inNew(t, "many.yaml", manyPoints(points))
	return withoutProgress(to(t, nil, dir, os.Getenv(mounting), "run", "many.yaml", "--quiet", "--out", out))
}

// everyPointWhole reads all that is stored, which has checksums.
func everyPointWhole(t *testing.T, dir string) map[int]uint64 {
	t.Helper()
	s, err := store.OpenRead(filepath.Join(dir, "many", store.File))
	require.NoError(t, err)
	defer s.Close() //nolint:errcheck // read only
	cycles := map[int]uint64{}
	require.NoError(t, s.Each(store.All, func(p *store.Point) error {
		require.True(t, p.Verified)
		cycles[p.Position] = p.Cycles
		return nil
	}))
	return cycles
}

func testFullOfResults(t *testing.T) {
	dir, resize := smallSystem(t, 1024)
	const points = 80
	full := runMany(t, points, dir)
	require.Equal(t, exitFailed, full.code, full.stderr)
	before := everyPointWhole(t, dir)
	require.Greater(t, len(before), 1024/16*2/5, "at least two fifths of the room are results")
	require.Less(t, len(before), points)
	file := filepath.Join(dir, "many", store.File)
	require.Regexp(t, fmt.Sprintf(`heddle: %s: database or disk is full \(13\); %d of %d points are stored, and the same command goes on from them
heddle: the file system at %s has \d+ KiB left of 1024 KiB: make room there, or write elsewhere$`, file, len(before), points, dir), full.stderr)

	again := runMany(t, points, dir)
	require.Equal(t, exitFailed, again.code, "nothing has changed: %s", again.stderr)
	require.Equal(t, before, everyPointWhole(t, dir))

	resize(16 << 10)
	require.Equal(t, ended{0, ""}, runMany(t, points, dir))
	after := everyPointWhole(t, dir)
	require.Len(t, after, points)
	for i, cycles := range before {
		require.Equal(t, cycles, after[i])
	}
	log, err := os.ReadFile(filepath.Join(dir, "many", "log.txt"))
	require.NoError(t, err)
	require.Contains(t, string(log), fmt.Sprintf("%d points, %d of them stored", points, len(before)))
}

func testFullOfSummaries(t *testing.T) {
	dir, resize := smallSystem(t, 1408)
	const points = 40
	full := runMany(t, points, dir)
	require.Equal(t, exitFailed, full.code, full.stderr)
	require.Contains(t, full.stderr, "no space left on device; all results are in "+
		filepath.Join(dir, "many", store.File)+
		", and the same command writes the summaries\nheddle: the file system at "+dir+" has ")
	require.Len(t, everyPointWhole(t, dir), points)
	resize(16 << 10)
	require.Equal(t, ended{0, ""}, runMany(t, points, dir))
	for _, name := range []string{"summary.json", "summary.csv"} {
		require.FileExists(t, filepath.Join(dir, "many", name))
	}
}
