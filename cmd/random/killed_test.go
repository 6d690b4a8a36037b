package random_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/experiment/config"
	"heddle/internal/testenv"
	"heddle/kernels/workload"
)

// TestKilledPointsGoOn kills runs of random experiments at random moments, again and again, and gives the same command
// until it ends: its result is that of an undisturbed run, to the last statistic.
func TestKilledPointsGoOn(t *testing.T) {
	testenv.NeedSlow(t, "it repeats runs until none is killed")
	first, cases := testenv.Seed(t, 5000), testenv.Cases(t, 2, 300)
	kills, resumed, continues := 0, 0, 0 // continues: experiments that have checkpoints
	seed := first
	for ; seed < first+cases || 5*resumed <= continues && seed < first+max(cases, 30); seed++ { // slow hosts go on
		r := rand.New(rand.NewPCG(seed, 1707))
		e := randomExperiment(t, r)
		for e.Workload.Kind() != workload.KindComposed && r.IntN(4) > 0 { // others begin anew: they have no checkpoints
			e = randomExperiment(t, r)
		}
		e.Stats.Interval, e.Stats.MaxRows = uint64(r.IntN(2)*(1+r.IntN(3000))), 2+r.IntN(50)
		e.Sample.Period = 0 // sampled runs have no checkpoints
		k, on := killed(t, r, fmt.Sprint("killed ", seed), e)
		kills, resumed = kills+k, resumed+on
		if e.Workload.Kind() == workload.KindComposed {
			continues++
		}
	}
	t.Logf("%d experiments, %d kills, %d of which runs went on from", seed-first, kills, resumed)
	require.Greater(t, 5*resumed, continues, "%d kills", kills)
}

// killed runs an experiment undisturbed, and killed, and compares.
func killed(t *testing.T, r *rand.Rand, name string, e config.Experiment) (kills, resumed int) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "experiment.yaml"), config.Schema.YAML(e), 0o644))
	command := func(out string) *exec.Cmd {
		args := []string{"run", "experiment.yaml", "--json", "--out", out, "--max-cycles", maxCycles, "--checkpoint",
			"1ns", "--threads", fmt.Sprint(1 + r.IntN(3))}
		c := exec.Command(command(t), args...)
		c.Dir = dir
		return c
	}
	calm := command("calm")
	begin := time.Now()
	want, err := calm.Output()
	whole := time.Since(begin)
	for {
		c := command("killed")
		var out, errs bytes.Buffer
		c.Stdout, c.Stderr = &out, &errs
		require.NoError(t, c.Start())
		//nolint:errcheck // it may be gone
		timer := time.AfterFunc(time.Duration(r.Int64N(int64(whole*5/4))), func() { c.Process.Kill() })
		_ = c.Wait()
		timer.Stop()
		if strings.Contains(errs.String(), "goes on from super-step") {
			resumed++
		}
		if c.ProcessState.ExitCode() >= 0 {
			require.Equal(t, calm.ProcessState.ExitCode(), c.ProcessState.ExitCode(), "%s: %v\n%s", name, err,
				errs.String())
			require.Equal(t, figures(t, want), figures(t, out.Bytes()), name)
			if err == nil { // who reaches a limit may go on from there with a higher one
				require.NoDirExists(t, filepath.Join(dir, "killed", e.Name, "checkpoints"), "%s: %s", name,
					errs.String())
			}
			return kills, resumed
		}
		kills++
	}
}

// figures are a summary without values that depend on the host.
func figures(t *testing.T, text []byte) (s map[string]any) {
	if len(text) == 0 {
		return nil
	}
	require.NoError(t, json.Unmarshal(text, &s))
	delete(s, "host")
	for _, p := range s["points"].([]any) {
		delete(p.(map[string]any), "host_seconds")
		delete(p.(map[string]any), "layout_seconds")
	}
	return s
}
