package testenv_test

import (
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
)

func TestSizes(t *testing.T) {
	t.Setenv(testenv.SeedVariable, "")
	for text, cases := range map[string]uint64{"": 3, "0": 5, "1": 100, "3": 300} {
		t.Setenv(testenv.LongVariable, text)
		require.Equal(t, cases, testenv.Cases(t, 5, 100), text)
		skipped := true
		t.Run("", func(t *testing.T) {
			testenv.NeedLong(t, "it is an example")
			skipped = false
		})
		require.Equal(t, cases <= 5, skipped, text)
		require.Equal(t, text != "", testenv.Slow(), text)
		all := []int{1, 2, 3}
		some := [][]int{testenv.Some(t, 0, 2, all), testenv.Some(t, 1, 2, all), testenv.Some(t, 0, 9, all)}
		switch text {
		case "":
			require.Equal(t, [][]int{{1}, {2}, all}, some[:3])
		case "0":
			require.Equal(t, [][]int{{1, 2}, {3, 1}, all}, some)
		default:
			require.Equal(t, [][]int{all, all, all}, some)
		}
	}
	require.EqualValues(t, 7, testenv.Seed(t, 7))
	t.Setenv(testenv.SeedVariable, "9")
	require.EqualValues(t, 9, testenv.Seed(t, 7))
}

func TestUsed(t *testing.T) {
	c := exec.Command("sh", "-c", "while :; do :; done")
	require.NoError(t, c.Start())
	require.Eventually(t, func() bool { return testenv.Used(c.Process.Pid) >= 50*time.Millisecond }, time.Minute,
		time.Millisecond)
	require.NoError(t, c.Process.Kill())
	require.Error(t, c.Wait())
	require.Zero(t, testenv.Used(c.Process.Pid))
}
