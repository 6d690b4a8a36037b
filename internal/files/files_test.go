package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/internal/files"
)

// entries are the names in a directory: nothing unfinished stays there.
func entries(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

func TestOnlyRegularFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o644))
	ok := filepath.Join(dir, "ok")
	require.NoError(t, os.WriteFile(ok, []byte("12345"), 0o644))
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink("ok", link))
	for path, says := range map[string]string{pipe: "found a pipe", "/dev/zero": "found a device",
		dir: "found a directory", filepath.Join(dir, "no"): "no such file"} {
		done := make(chan error, 1)
		go func() {
			_, err := files.Read(path, 1<<20)
			done <- err
		}()
		select {
		case err := <-done:
			require.ErrorContains(t, err, says)
			require.ErrorContains(t, err, path)
		case <-time.After(10 * time.Second):
			t.Fatalf("%s blocks", path)
		}
	}
	b, err := files.Read(link, 5)
	require.NoError(t, err)
	require.Equal(t, "12345", string(b))
	_, err = files.Read(ok, 4)
	require.ErrorContains(t, err, "at most 4 bytes")
	b, err = files.Read("/proc/self/status", 1<<20) // tells no size
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(b), "Name:"))
	_, err = files.Read("/proc/self/status", 10)
	require.ErrorContains(t, err, "at most 10 bytes")
}

func TestFilesAreWrittenWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	require.NoError(t, files.Write(path, []byte("old")))
	require.NoError(t, os.Chmod(path, 0o640))
	f, err := files.Create(path)
	require.NoError(t, err)
	_, err = f.Write([]byte("half"))
	require.NoError(t, err)
	require.Equal(t, "old", content(t, path))
	require.NoError(t, f.Abort())
	require.Equal(t, []string{"x"}, entries(t, dir))
	require.NoError(t, files.Write(path, []byte("new")))
	require.Equal(t, "new", content(t, path))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	require.Equal(t, []string{"x"}, entries(t, dir))
	require.ErrorContains(t, files.Write(dir, nil), "is a directory")
	require.ErrorContains(t, files.Write(filepath.Join(dir, "no", "x"), nil),
		filepath.Join(dir, "no", "x")+": no such file")
}

func TestNewFilesHaveThePermissionsOfNewFiles(t *testing.T) {
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, files.Write(path, nil))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm())
}

func TestSymbolicLinksStay(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "deep"), 0o755))
	for _, link := range [][2]string{{"to", "l1"}, {"l1", "l2"}, {"../gone", "deep/l3"}, {"deep", "d"},
		{"circle", "circle"}} {
		require.NoError(t, os.Symlink(link[0], filepath.Join(dir, link[1])))
	}
	require.NoError(t, files.Write(filepath.Join(dir, "to"), []byte("old")))
	for name, where := range map[string]string{"l2": "to", "d/l3": "gone"} {
		require.NoError(t, files.Write(filepath.Join(dir, name), []byte("by "+name)))
		info, err := os.Lstat(filepath.Join(dir, where))
		require.NoError(t, err)
		require.True(t, info.Mode().IsRegular())
		require.Equal(t, "by "+name, content(t, filepath.Join(dir, where)))
		info, err = os.Lstat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.NotZero(t, info.Mode()&os.ModeSymlink)
	}
	require.ErrorContains(t, files.Write(filepath.Join(dir, "circle"), nil), "too many levels of symbolic links")
}

// Root could replace a device by a file: it is written to instead, and so is a pipe.
func TestDevicesAndPipesAreWrittenTo(t *testing.T) {
	require.NoError(t, files.Write("/dev/null", []byte("x")))
	require.ErrorContains(t, files.Write("/dev/full", []byte("x")), "/dev/full: no space left on device")
	for _, device := range []string{"/dev/null", "/dev/full"} {
		info, err := os.Lstat(device)
		require.NoError(t, err)
		require.NotZero(t, info.Mode()&os.ModeCharDevice, device)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o644))
	got := make(chan string, 1)
	go func() {
		b, _ := os.ReadFile(pipe)
		got <- string(b)
	}()
	require.NoError(t, files.Write(pipe, []byte("through")))
	require.Equal(t, "through", <-got)
}
