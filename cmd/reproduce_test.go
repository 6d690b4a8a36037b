package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"heddle/experiment/config"
	"heddle/internal/testenv"
	"heddle/report/reproduce"
)

const tinyPack = "testdata/packs/tiny.yaml"

func TestReproduceListsPacks(t *testing.T) {
	out, errs, code := heddle(t, "reproduce")
	require.Equal(t, exitOK, code, errs)
	for _, name := range config.PackNames() {
		require.Contains(t, out, name)
	}
	out, _, code = heddle(t, "reproduce", "--json")
	require.Equal(t, exitOK, code)
	var list []reproduce.Summary
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	require.Len(t, list, len(config.PackNames()))
	require.NotEmpty(t, list[0].Statement)
}

// A study runs the ends of each knob's range, and shows what they move.
func TestReproduceSensitivity(t *testing.T) {
	dir := t.TempDir()
	out, errs, code := heddle(t, "reproduce", tinyPack, "--sensitivity", "--out", dir)
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, out, "loads of a core")
	require.NotContains(t, out, "of another pack")
	results := filepath.Join(dir, "reproduce", "packs", "tiny", "quick")
	require.FileExists(t, filepath.Join(results, "packs-tiny-quick-sensitivity.svg"))
	require.FileExists(t, filepath.Join(results, "loads-of-a-core-high", "schedules", "results.sqlite"))
	out, _, code = heddle(t, "reproduce", tinyPack, "--sensitivity", "--out", dir, "--json")
	require.Equal(t, exitOK, code)
	var s reproduce.Sensitivity
	require.NoError(t, json.Unmarshal([]byte(out), &s))
	require.Len(t, s.Knobs, 1)
	require.Len(t, s.Knobs[0].Ends, 2)

	bare := filepath.Join(dir, "bare")
	require.NoError(t, os.Mkdir(bare, 0o755))
	for _, name := range []string{"tiny.yaml", "published.yaml", "readings.yaml"} {
		text, err := os.ReadFile(filepath.Join("testdata/packs", name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(bare, name), text, 0o644))
	}
	_, errs, code = heddle(t, "reproduce", filepath.Join(bare, "tiny.yaml"), "--sensitivity")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "no sensitivity.yaml beside it")
	_, errs, code = heddle(t, "reproduce", "sparseweaver/fig13", "--sensitivity")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "none of its statements has a printed number")
}

// A study runs the experiments that the pack names, and says so.
func TestReproduceStudied(t *testing.T) {
	for _, c := range []struct {
		studied string
		code    int
	}{{"schedules", exitOK}, {"none", exitUsage}} {
		dir := t.TempDir()
		for _, name := range []string{"tiny.yaml", "published.yaml", "readings.yaml", "sensitivity.yaml"} {
			text, err := os.ReadFile(filepath.Join("testdata/packs", name))
			require.NoError(t, err)
			if name == "tiny.yaml" {
				text = append([]byte("studied: ["+c.studied+"]\n"), text...)
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o644))
		}
		out, errs, code := heddle(t, "reproduce", filepath.Join(dir, "tiny.yaml"), "--sensitivity", "--out", dir, "--json")
		require.Equal(t, c.code, code, errs)
		if code != exitOK {
			require.Contains(t, errs, `studied: the quick variant has no experiment "none"`)
			continue
		}
		var s reproduce.Sensitivity
		require.NoError(t, json.Unmarshal([]byte(out), &s))
		require.Equal(t, []string{"schedules"}, s.Only)
		require.Equal(t, []string{"vertex mapping needs more iterations"}, s.Numbers)
		found, err := filepath.Glob(filepath.Join(dir, "reproduce", "*", "*", "quick", "described", "*"))
		require.NoError(t, err)
		require.Len(t, found, 1, "latency is not run: %v", found)
	}
}

// A pack from the command line to its files; the second time nothing is run again.
func TestReproduce(t *testing.T) {
	dir := t.TempDir()
	out, errs, code := heddle(t, "reproduce", tinyPack, "--out", dir)
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, out, "Nowhere 2025, Fig. 0: Edge mapping is balanced")
	require.Contains(t, out, "The statement holds: yes")
	require.Contains(t, out, "(not counted) a thousand times as fast")
	results := filepath.Join(dir, "reproduce", "packs", "tiny", "quick")
	for _, f := range []string{"packs-tiny-quick.json", "packs-tiny-quick-latency.svg",
		"described/schedules/report.html", "described/latency/results.sqlite", "queue-4/schedules/report.html"} {
		require.FileExists(t, filepath.Join(results, f))
	}

	out, errs, code = heddle(t, "reproduce", tinyPack, "--out", dir, "--quick", "--json", "--strict")
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, errs, "3 of 3 points known")
	require.Contains(t, errs, "2 of 2 points known",
		"with the point that the reading leaves as described")
	var o reproduce.Outcome
	require.NoError(t, json.Unmarshal([]byte(out), &o))
	require.Equal(t, reproduce.Yes, o.Holds)
	require.Equal(t, 6, o.Points, "five as described, and the one that the reading changes")
	require.Equal(t, []int{5, 1}, []int{o.Readings[0].Points, o.Readings[1].Points})
	require.False(t, o.Checks[2].Readings[1].Same)
	require.NotEqual(t, *o.Checks[2].Readings[0].Ours, *o.Checks[2].Readings[1].Ours,
		"a longer queue makes edge mapping faster or slower")
	require.Nil(t, o.Checks[1].Readings[1].Ours, "its experiment is apart")
	require.Greater(t, *o.Checks[0].Readings[0].Ours, 1.0)
	require.Equal(t, 1.0, *o.Checks[0].Published)
	require.Equal(t, reproduce.No, o.Checks[2].Readings[0].Holds)
	require.Equal(t, []string{"l2"}, o.Atomics)
	require.Contains(t, o.Graphs[0], "schedules: powerlaw_cluster")
}

// The full variant runs on the graphs that are there.
func TestReproduceFull(t *testing.T) {
	dir := t.TempDir()
	_, errs, code := heddle(t, "reproduce", tinyPack, "--full", "--out", dir, "--graphs", dir)
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "none of its graphs is there")
	require.Contains(t, errs, filepath.Join(dir, "small.txt"))

	require.NoError(t, os.WriteFile(filepath.Join(dir, "small.txt"), []byte("0 1\n0 2\n0 3\n1 2\n"), 0o644))
	out, errs, code := heddle(t, "reproduce", tinyPack, "--full", "--out", dir, "--graphs", dir, "--strict")
	require.Equal(t, exitOK, code, errs+out)
	require.Contains(t, out, "The statement holds: yes")
}

func TestReproduceExitCodes(t *testing.T) {
	dir := t.TempDir()
	strict, err := os.ReadFile(tinyPack)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "strict.yaml"),
		[]byte(strings.Replace(string(strict), "'<= 5'", "'<= 0.5'", 1)), 0o644))
	for _, beside := range []string{"published.yaml", "readings.yaml"} {
		text, err := os.ReadFile(filepath.Join("testdata/packs", beside))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, beside), text, 0o644))
	}
	out, errs, code := heddle(t, "reproduce", filepath.Join(dir, "strict.yaml"), "--out", dir, "--strict")
	require.Equal(t, exitStatement, code, out)
	require.Contains(t, errs, "the statement holds: partly")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"sparseweaver/fig0"}, exitUsage, "no pack"},
		{[]string{tinyPack, "--quick", "--full"}, exitUsage, "none of the others can be"},
		{[]string{tinyPack, "--jobs", "0"}, exitUsage, "--jobs 0"},
		{[]string{tinyPack, "--set", "machine.core.warps=0"}, exitUsage, "--set machine.core.warps"},
		{[]string{tinyPack, "--set", "workload.schedule=cta", "--record", dir}, exitUsage, "none of the others can be"},
		{[]string{tinyPack, "--record", dir}, exitUsage, "changes that are not committed"},
		{[]string{tinyPack, "--max-cycles", "100"}, exitNoProgress, "limit"},
	} {
		_, errs, code := heddle(t, append([]string{"reproduce", "--out", t.TempDir()}, c.args...)...)
		require.Equal(t, c.code, code, errs)
		require.Contains(t, errs, c.says)
	}
}

// A reading that changes nothing, or makes points that cannot run, is refused before anything runs.
func TestReadingsThatMeanNothing(t *testing.T) {
	for _, c := range []struct{ was, is, says string }{
		{"workload.schedule=edge]", "workload.schedule=cta]", "reading queue-4 changes no point of the quick variant"},
		{"machine.core.lsu_queue=4", "workload.compiler.sum=memory", "reading queue-4: at the point schedule=edge: "},
	} {
		dir := t.TempDir()
		for _, name := range []string{"tiny.yaml", "published.yaml", "readings.yaml"} {
			text, err := os.ReadFile(filepath.Join("testdata/packs", name))
			require.NoError(t, err)
			if name == "readings.yaml" {
				require.Contains(t, string(text), c.was)
				text = []byte(strings.Replace(string(text), c.was, c.is, 1))
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o644))
		}
		_, errs, code := heddle(t, "reproduce", filepath.Join(dir, "tiny.yaml"), "--out", t.TempDir())
		require.Equal(t, exitUsage, code)
		require.Contains(t, errs, c.says)
	}
}

// Every shipped pack lays out in both variants, and its checks and figures choose points there; so it does at the ends
// of what its paper leaves open. Full variants have thousands: .ci/run asks for them.
func TestShippedPacks(t *testing.T) {
	testenv.NeedLong(t, "it lays out every experiment of every pack")
	all, err := packs()
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, p := range all {
		for _, v := range []config.Variant{config.Quick, config.Full} {
			parts, absent, err := layOut(p, v,
				config.PackOptions{Graphs: "../shared/graphs", Exists: func(string) bool { return true }})
			require.NoError(t, err, "%s %s", p.Name, v)
			require.Empty(t, absent)
			if p.Has(v) {
				assert.NoError(t, checkParts(p, v, parts, true))
			}
		}
		require.True(t, p.Has(config.Quick), "%s has a quick variant", p.Name)
		require.LessOrEqual(t, p.QuickSeconds, 300, p.Name)
		_, err := (&reproduceFlags{}).knobs(p) // which replaces the readings
		assert.NoError(t, err, "%s: the ends of what the paper leaves open", p.Name)
	}
}

// The shortest packs are simulated again, as described and under all readings: the recorded numbers are those that the
// simulator has now, to the last digit. With HEDDLE_LONG these are more packs.
func TestRecordedNumbersAgain(t *testing.T) {
	testenv.NeedSlow(t, "it simulates recorded points again")
	seconds, again := int(testenv.Cases(t, 2, 15)), 0
	all, err := packs()
	require.NoError(t, err)
	for _, p := range all {
		if p.QuickSeconds > seconds {
			continue
		}
		was, err := reproduce.Read(filepath.Join("../docs/results", recorded), p.Name, config.Quick)
		require.NoError(t, err)
		out, errs, code := heddle(t, "reproduce", p.Name, "--out", t.TempDir(), "--json")
		require.Equal(t, exitOK, code, errs)
		var now reproduce.Outcome
		require.NoError(t, json.Unmarshal([]byte(out), &now))
		require.Len(t, now.Checks, len(was.Checks))
		for i := range now.Checks {
			for k, n := range now.Checks[i].Readings {
				w := was.Checks[i].Readings[k]
				assert.Equal(t, []any{w.Ours, w.Half}, []any{n.Ours, n.Half}, "%s: %s, %s: heddle reproduce %s --record "+
					"docs/results records it again", p.Name, now.Checks[i].Says, now.Readings[k].Name, p.Name)
				again++
			}
		}
	}
	require.Positive(t, again)
}

// docs/results/reproduction.md follows from the outcomes beside it, which are of the packs' present checks.
func TestReproductionDocIsCurrent(t *testing.T) {
	const docs = "../docs/results"
	pages, err := reproductionDoc(docs)
	require.NoError(t, err)
	for name, now := range pages {
		text, err := os.ReadFile(filepath.Join(docs, filepath.FromSlash(name)))
		require.NoError(t, err, "run: go run ./cmd/heddle reproduce --record docs/results")
		require.Equal(t, string(now), string(text), "run: go run ./cmd/heddle reproduce --record docs/results")
	}
	all, err := packs()
	require.NoError(t, err)
	for _, p := range all {
		for _, v := range []config.Variant{config.Quick, config.Full} {
			o, err := reproduce.Read(filepath.Join(docs, recorded), p.Name, v)
			require.NoError(t, err)
			if o != nil {
				require.True(t, o.Current(p),
					"%s has other checks than its recorded outcome: run heddle reproduce %s --%s --record docs/results", p.Name,
					p.Name, v)
			}
		}
	}
}
