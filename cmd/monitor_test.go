package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"heddle/internal/pty"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// heard collects the output of a command.
type heard struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.String()
}

// watched is a command that runs with a monitor.
type watched struct {
	t    *testing.T
	url  string
	out  heard
	errs heard
	code chan int
}

// watch begins a command, and waits for its page.
func watch(t *testing.T, args ...string) *watched {
	t.Helper()
	w := &watched{t: t, code: make(chan int, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	t.Cleanup(func() { cancel(); <-ended })
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(&w.out)
	root.SetErr(&w.errs)
	go func() {
		defer close(ended)
		w.code <- run(ctx, root)
	}()
	at := regexp.MustCompile(`monitor: (http://127\.0\.0\.1:\d+/)\n`)
	for begin := time.Now(); time.Since(begin) < pty.Limit; time.Sleep(5 * time.Millisecond) {
		if m := at.FindStringSubmatch(w.errs.String()); m != nil {
			w.url = m[1]
			return w
		}
	}
	require.Fail(t, "no page", w.errs.String())
	return nil
}

// page is the state that the page shows first.
type page struct {
	Name                string
	Total, Done, Failed int
	Machines            []struct {
		ID                  int
		Label, State, Error string
		Cycle, Edges        uint64
		AllEdges            uint64 `json:"all_edges"`
		Launches            uint64
		SuperStep           int `json:"super_step"`
	}
}

func (w *watched) state() (s page) {
	w.t.Helper()
	r, err := http.Get(w.url + "api/state")
	require.NoError(w.t, err)
	defer r.Body.Close() //nolint:errcheck // read only
	text, err := io.ReadAll(r.Body)
	require.NoError(w.t, err)
	require.NoError(w.t, json.Unmarshal(text, &s))
	return s
}

func (w *watched) until(what string, ok func(page) bool) page {
	w.t.Helper()
	for begin := time.Now(); time.Since(begin) < pty.Limit; time.Sleep(5 * time.Millisecond) {
		if s := w.state(); ok(s) {
			return s
		}
	}
	require.Fail(w.t, "never "+what, w.errs.String())
	return page{}
}

func (w *watched) goOn(id int) {
	w.t.Helper()
	r, err := http.Post(w.url+"api/machines/"+strconv.Itoa(id)+"/continue", "", nil)
	require.NoError(w.t, err)
	require.NoError(w.t, r.Body.Close())
	require.Equal(w.t, http.StatusNoContent, r.StatusCode)
}

// release has all machines go on until the command has ended, and returns its exit code.
func (w *watched) release() int {
	for id := 1; ; id = id%3 + 1 {
		select {
		case code := <-w.code:
			return code
		case <-time.After(time.Millisecond):
		}
		// else it has just ended
		if r, err := http.Post(w.url+"api/machines/"+strconv.Itoa(id)+"/continue", "", nil); err == nil {
			_ = r.Body.Close()
		}
	}
}

func alone(state string) func(page) bool {
	return func(p page) bool { return len(p.Machines) == 1 && p.Machines[0].State == state }
}

// A run of several points shows those that run, how far they are, and how many are done.
func TestRunMonitored(t *testing.T) {
	small := filepath.Join(t.TempDir(), "small.yaml")
	require.NoError(t, os.WriteFile(small, []byte("name: small\nmachine: vortex-1c4w4t\ngraph: {erdos_renyi: {vertices: "+
		"64, edges: 256}}\nworkload: {max_iterations: 2, schedule: vertex}\nsweep: {machine.l1d.ways: [1, 2, 4]}\n"), 0o644))
	want, errs, code := heddle(t, "run", small, "--json", "--out", t.TempDir())
	require.Equal(t, exitOK, code, errs)

	w := watch(t, "run", small, "--json", "--out", t.TempDir(), "--jobs", "2", "--monitor", "--monitor-hold",
		"start,end")
	s := w.until("begun", func(p page) bool { return len(p.Machines) == 2 })
	require.Equal(t, []any{"small", 3, 0}, []any{s.Name, s.Total, s.Done})
	one, other := s.Machines[0], s.Machines[1]
	require.NotEqual(t, one.Label, other.Label)
	require.Regexp(t, `^ways=[124]$`, one.Label)
	require.Equal(t, []any{"paused", uint64(0)}, []any{one.State, one.Edges})
	w.goOn(one.ID)
	s = w.until("at its end", func(p page) bool { return p.Machines[0].State == "held" })
	one = s.Machines[0]
	require.Equal(t, "paused", s.Machines[1].State, "the other waits")
	require.Equal(t, []uint64{1024, 1024}, []uint64{one.Edges, one.AllEdges}, "256 edges, both ways, twice")
	require.Equal(t, 2, one.SuperStep)
	require.Equal(t, uint64(5), one.Launches, "init, and gather and apply of two super-steps")
	require.Equal(t, exitOK, w.release(), w.errs.String())
	cycles := func(text string) (all []uint64) {
		var summary struct{ Points []struct{ Cycles uint64 } }
		require.NoError(t, json.Unmarshal([]byte(text), &summary))
		for _, p := range summary.Points {
			all = append(all, p.Cycles)
		}
		return all
	}
	require.Equal(t, cycles(want), cycles(w.out.String()))
}

// TestMonitoredSeries: the series of a point add up to its result, and its frontier is that of its steps.
func TestMonitoredSeries(t *testing.T) {
	small := filepath.Join(t.TempDir(), "small.yaml")
	require.NoError(t, os.WriteFile(small, []byte(`name: small
machine: vortex-1c4w4t
graph: {erdos_renyi: {vertices: 64, edges: 256}}
workload: {algorithm: bfs, schedule: vertex}
`), 0o644))
	w := watch(t, "run", small, "--json", "--out", t.TempDir(), "--monitor", "--monitor-hold", "end")
	w.until("at its end", alone("held"))
	r, err := http.Get(w.url + "api/machines/1/series?keys=*")
	require.NoError(t, err)
	defer r.Body.Close() //nolint:errcheck // read only
	var s struct {
		Counts []struct {
			Name   string
			Values []uint64
		}
		Steps []struct {
			SuperStep       int `json:"super_step"`
			Vertices, Edges uint64
		}
	}
	require.NoError(t, json.NewDecoder(r.Body).Decode(&s))
	require.Equal(t, exitOK, w.release(), w.errs.String())
	var summary struct {
		Points []struct {
			Stats      map[string]json.Number
			SuperSteps []struct {
				Step  int
				Stats struct{ Edges uint64 }
			} `json:"super_steps"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(w.out.String()), &summary))
	point := summary.Points[0]
	compared := 0
	for _, c := range s.Counts {
		want, ok := point.Stats[c.Name]
		if !ok {
			continue
		}
		compared++
		total := uint64(0)
		for _, v := range c.Values {
			total += v
		}
		require.Equal(t, want.String(), strconv.FormatUint(total, 10), c.Name)
	}
	require.Greater(t, compared, 100)
	require.Equal(t, uint64(1), s.Steps[0].Vertices, "its source")
	handled := map[int]uint64{}
	for _, l := range point.SuperSteps {
		handled[l.Step] += l.Stats.Edges
	}
	require.Greater(t, len(s.Steps), 2)
	require.Len(t, handled, 1+len(s.Steps), "and the kernels before the first")
	for i, step := range s.Steps {
		require.Equal(t, i+1, step.SuperStep)
		require.Equal(t, handled[step.SuperStep], step.Edges)
	}
}

// A program that is stuck is held for who looks, and ends as it does without.
func TestExecMonitored(t *testing.T) {
	stuck := source(t, "_start: li t1, 2\n bar zero, t1\n tmc zero\n")
	w := watch(t, "exec", stuck, "--machine", "vortex-1c4w4t", "--monitor=127.0.0.1:0", "--monitor-hold", "failure")
	s := w.until("stuck", alone("held"))
	require.Equal(t, stuck, s.Machines[0].Label)
	require.Contains(t, s.Machines[0].Error, "no progress")
	require.Contains(t, s.Machines[0].Error, "1 of 2 warps have arrived")
	w.goOn(1)
	require.Equal(t, exitNoProgress, <-w.code)
	require.Contains(t, w.errs.String(), "1 of 2 warps have arrived")
	_, errs, code := heddle(t, "exec", stuck, "--machine", "vortex-1c4w4t", "--monitor")
	require.Equal(t, exitNoProgress, code, "it waits for no reader")
	require.Contains(t, errs, "1 of 2 warps have arrived")
}

func TestLookMonitored(t *testing.T) {
	w := watch(t, "inspect", "quickstart", "--point", "1", "--monitor", "--monitor-hold", "start")
	s := w.until("begun", alone("paused"))
	require.Equal(t, []any{"quickstart", 1}, []any{s.Name, s.Total})
	require.Positive(t, s.Machines[0].AllEdges)
}

func TestMonitorRefused(t *testing.T) {
	for says, args := range map[string][]string{
		"--monitor=0.0.0.0:80: expected an address of loopback": {"--machine", "vortex-1c4w4t", "--monitor=0.0.0.0:80"},
		"--monitor=80: expected HOST:PORT":                      {"--machine", "vortex-1c4w4t", "--monitor=80"},
		"--monitor-hold x: expected start, failure or end":      {"--machine", "vortex-1c4w4t", "--monitor", "--monitor-hold", "x"},
		"--monitor-hold: expected --monitor beside it":          {"--machine", "vortex-1c4w4t", "--monitor-hold", "end"},
		"--monitor is for timed machines":                       {"--functional", "--monitor"},
	} {
		_, errs, code := heddle(t, append([]string{"exec", hello}, args...)...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, errs, says)
	}
}
