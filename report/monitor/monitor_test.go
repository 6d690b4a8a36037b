package monitor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/components/clock"
	"heddle/components/mem"
	"heddle/configs"
	"heddle/isa"
	"heddle/isa/asm"
	"heddle/report/monitor"
	"heddle/sim"
)

// forever runs until it is ended, a load, a store and an addition at a time.
const forever = `
_start: li a0, 12345678
  lui a1, 0x90000
loop: lw t0, 0(a1)
  addi t0, t0, 1
  sw t0, 0(a1)
  j loop
`

// finite is the same, for some time.
const finite = `
_start: li a0, 600
  lui a1, 0x90000
loop: lw t0, 0(a1)
  addi t0, t0, 1
  sw t0, 0(a1)
  addi a1, a1, 64
  addi a0, a0, -1
  bnez a0, loop
  sw zero, 0x88(zero)
  tmc zero
`

func assemble(t *testing.T, text string) *isa.Program {
	t.Helper()
	p, err := asm.Assemble("test.s", []byte(text), asm.Options{Base: 0x80000000})
	require.NoError(t, err)
	return p
}

func machine(t *testing.T, name string, opt sim.Options) *sim.Machine {
	t.Helper()
	name, set, _ := strings.Cut(name, " ")
	l, err := configs.LoadMachine(name, nil, strings.Fields(set))
	require.NoError(t, err)
	m, err := sim.New(l.Value, opt)
	require.NoError(t, err)
	return m
}

// desk is a monitor with a server, and a client's view of it.
type desk struct {
	t *testing.T
	*monitor.Server
}

func serve(t *testing.T, hold monitor.Hold) *desk {
	t.Helper()
	l, err := monitor.Listen(monitor.Default)
	require.NoError(t, err)
	s := monitor.New("test", 3, 1, hold).Serve(l)
	s.Patience, s.Farewell = time.Minute, time.Minute // hosts may be slow
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return &desk{t, s}
}

// start runs a program on a monitored machine, until the test ends or it does. Its error is sent on the channel.
func (d *desk) start(m *sim.Machine, text string, before ...func()) <-chan error {
	ctx, cancel := context.WithCancel(d.t.Context())
	out := make(chan error, 1)
	p := assemble(d.t, text)
	w := d.Begin(ctx, "one", 100, m)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, f := range before {
			f()
		}
		_, err := m.Run(ctx, p)
		w.End(err)
		d.Finished(err != nil)
		out <- err
	}()
	d.t.Cleanup(func() { cancel(); <-done })
	return out
}

// get asks for something, and returns the status.
func (d *desk) get(path string, into any) int {
	d.t.Helper()
	return d.ask(http.MethodGet, path, into)
}

func (d *desk) ask(method, path string, into any) int {
	d.t.Helper()
	request, err := http.NewRequestWithContext(d.t.Context(), method, d.URL()+path, nil)
	require.NoError(d.t, err)
	r, err := http.DefaultClient.Do(request)
	require.NoError(d.t, err)
	defer r.Body.Close() //nolint:errcheck // read only
	body, err := io.ReadAll(r.Body)
	require.NoError(d.t, err)
	if r.StatusCode == http.StatusOK && into != nil {
		require.NoError(d.t, json.Unmarshal(body, into), "%s", body)
	}
	return r.StatusCode
}

func (d *desk) post(path string) int {
	d.t.Helper()
	r, err := http.Post(d.URL()+path, "", nil)
	require.NoError(d.t, err)
	require.NoError(d.t, r.Body.Close())
	return r.StatusCode
}

// state is the first state that the page shows.
type state struct {
	Total, Done, Failed int
	Machines            []struct {
		ID                  int
		Label, State, Error string
		Cycle, Launches     uint64
		Instrs              uint64 `json:"warp_instrs"`
		SuperStep           int    `json:"super_step"`
	}
	Ended []struct {
		Label, Error string
		Cycles       uint64
	}
}

func (d *desk) state() (s state) {
	d.t.Helper()
	require.Equal(d.t, http.StatusOK, d.get("api/state", &s))
	return s
}

// patience is the time to wait for a state: a busy host may take seconds instead of milliseconds.
const patience = 2 * time.Minute

// until waits for a state.
func (d *desk) until(what string, ok func(s state) bool) state {
	d.t.Helper()
	for begin := time.Now(); time.Since(begin) < patience; time.Sleep(5 * time.Millisecond) {
		if s := d.state(); ok(s) {
			return s
		}
	}
	require.Fail(d.t, "never "+what)
	return state{}
}

func in(name string) func(state) bool {
	return func(s state) bool { return len(s.Machines) == 1 && s.Machines[0].State == name }
}

func beyond(cycle uint64) func(state) bool {
	return func(s state) bool { return s.Machines[0].Cycle > cycle }
}

func TestPauseAndContinue(t *testing.T) {
	d := serve(t, monitor.Hold{})
	d.start(machine(t, "vortex-1c4w4t", sim.Options{}), forever)
	d.until("begun", beyond(0))
	require.Equal(t, http.StatusNoContent, d.post("api/machines/1/pause"))
	require.Equal(t, http.StatusOK, d.get("api/machines/1/waits", new([]string)),
		"requests are answered after the pause")
	at := d.until("paused", in("paused")).Machines[0]
	time.Sleep(50 * time.Millisecond)
	s := d.state()
	require.Equal(t, at, s.Machines[0], "nothing moves")
	require.Equal(t, []any{3, 1, "one", uint64(1)}, []any{s.Total, s.Done, at.Label, at.Launches})
	require.Equal(t, http.StatusNoContent, d.post("api/machines/1/continue"))
	now := d.until("on", beyond(at.Cycle)).Machines[0]
	require.Equal(t, "running", now.State)
	require.Greater(t, now.Instrs, at.Instrs)
}

// value is the target of a path of fields.
type value struct {
	Type, Text   string
	Length, From int
	Fields       []struct {
		Name, Type, Text string
		Opens            bool
	}
}

func (d *desk) look(component string, at ...string) (v value) {
	d.t.Helper()
	q := url.Values{"component": {component}, "at": at}
	require.Equal(d.t, http.StatusOK, d.get("api/machines/1/fields?"+q.Encode(), &v), "%v", at)
	return v
}

func (v *value) text(name string) string {
	for _, f := range v.Fields {
		if f.Name == name {
			return f.Text
		}
	}
	return "no such field"
}

func TestFields(t *testing.T) {
	d := serve(t, monitor.Hold{Start: true})
	m := machine(t, "vortex-6c32w32t-weaver sockets=2 core.warps=4", sim.Options{})
	d.start(m, forever)
	d.until("paused", in("paused"))
	var names []string
	require.Equal(t, http.StatusOK, d.get("api/machines/1/components", &names))
	require.Subset(t, names, []string{"Core0", "Core1", "Core0.Weaver", "Socket0.L1D", "L2", "Memory", "Clock"})

	core := d.look("Core0")
	require.Equal(t, "core.Core", core.Type)
	require.Equal(t, "1", d.text("Core0", "pipe", "active"), "a set of warps: the first has begun")
	spec := d.look("Core0", "pipe", "spec")
	require.Equal(t, []string{"4", "32"}, []string{spec.text("Warps"), spec.text("Threads")})
	require.Equal(t, "other", d.text("Core0", "pipe", "warps", "0", "phase"), "a constant by its name")
	lines := d.look("Socket0.L1D", "banks", "0", "tags", "line")
	require.Len(t, lines.Fields, 100, "a part of many")
	require.Greater(t, lines.Length, 200)

	require.Equal(t, http.StatusNoContent, d.post("api/machines/1/continue"))
	d.until("far enough", beyond(1000))
	require.Equal(t, "12345678 (0xbc614e)", d.text("Core0", "source", "Core", "warps", "0", "regs", "10", "0"),
		"register 10 of lane 0")
	var page value
	require.Equal(t, http.StatusOK, d.get("api/machines/1/fields?component=Socket0.L1D&at=banks&at=0&at=tags"+
		"&at=line&from=120", &page))
	require.Equal(t, []any{120, "120", lines.Length}, []any{page.From, page.Fields[0].Name, page.Length})

	for _, wrong := range []string{"component=Core9", "component=Core0&at=warp",
		"component=Core0&at=pipe&at=warps&at=32", "component=Core0&at=pipe&at=warps&at=-1", "component=Core0&from=x", "component=Core0&from=-1"} {
		require.Equal(t, http.StatusBadRequest, d.get("api/machines/1/fields?"+wrong, nil), wrong)
	}
	require.Equal(t, http.StatusNotFound, d.get("api/machines/2/fields?component=Core0", nil))
	require.Equal(t, http.StatusBadRequest, d.get("api/machines/1/buffers?sort=name", nil))
}

// text is that of a field.
func (d *desk) text(component string, at ...string) string {
	v := d.look(component, at[:len(at)-1]...)
	return v.text(at[len(at)-1])
}

// others are components of which there is one like them.
var others = regexp.MustCompile(`^(Core|Socket)[1-9]`)

// TestEveryFieldOpens walks the fields of machines with every unit, some levels deep.
func TestEveryFieldOpens(t *testing.T) {
	for _, name := range []string{"vortex-1c4w4t", "vortex-1c4w4t-weaver", "vortex-1c4w4t-eghw",
		"vortex-6c32w32t-hwwl sockets=2 core.warps=4 core.threads=4", "vortex-1c4w4t-graphpeg"} {
		t.Run(name, func(t *testing.T) {
			d := serve(t, monitor.Hold{})
			d.start(machine(t, name, sim.Options{}), forever)
			d.until("begun", beyond(1000))
			d.post("api/machines/1/pause")
			var names []string
			require.Equal(t, http.StatusOK, d.get("api/machines/1/components", &names))
			opened := 0
			for _, c := range names {
				if !others.MatchString(c) {
					opened += d.walk(c, nil)
				}
			}
			require.Greater(t, opened, 50)
			var b struct{ All int }
			require.Equal(t, http.StatusOK, d.get("api/machines/1/buffers", &b))
			require.Greater(t, b.All, 50)
		})
	}
}

func (d *desk) walk(component string, at []string) (opened int) {
	v := d.look(component, at...)
	for i, f := range v.Fields {
		if f.Opens && i < 1 && len(at) < 4 || f.Opens && len(at) == 0 {
			opened += 1 + d.walk(component, append(at[:len(at):len(at)], f.Name))
		}
	}
	return opened
}

// cut has a cache ask into a wire that leads nowhere.
func cut(m *sim.Machine) {
	for _, c := range m.Caches {
		if c.Name() == "Socket0.L1D" {
			c.ConnectMemory(0, clock.NewLink[mem.Request]("cut.req", 2, 1, c.ClockHandle(), c.ClockHandle()),
				clock.NewLink[mem.Response]("cut.rsp", 2, 1, c.ClockHandle(), c.ClockHandle()))
		}
	}
}

// misses loads one line after the other, and never uses the values.
const misses = `
_start: lui a1, 0x90000
loop: lw t0, 0(a1)
  lw t1, 64(a1)
  lw t2, 128(a1)
  lw t3, 192(a1)
  addi a1, a1, 256
  j loop
`

// levels are buffers, as they are sorted.
type levels struct {
	All, Full int
	Buffers   []struct {
		Name            string
		Level, Capacity int
	}
}

func TestWhatHangs(t *testing.T) {
	d := serve(t, monitor.Hold{Failure: true})
	m := machine(t, "vortex-1c4w4t", sim.Options{})
	cut(m)
	out := d.start(m, misses)
	s := d.until("held", in("held"))
	require.Contains(t, s.Machines[0].Error, "no progress at cycle")
	var by levels
	require.Equal(t, http.StatusOK, d.get("api/machines/1/buffers?sort=percent&limit=1000", &by))
	require.Len(t, by.Buffers, by.All)
	taken := map[string]string{}
	for i, b := range by.Buffers {
		taken[b.Name] = fmt.Sprintf("%d of %d", b.Level, b.Capacity)
		if i > 0 {
			before := by.Buffers[i-1]
			require.GreaterOrEqual(t, before.Level*max(1, b.Capacity), b.Level*max(1, before.Capacity), b.Name)
		}
		require.Equal(t, i < by.Full, b.Level > 0 && b.Level >= b.Capacity, "%s: the full ones come first", b.Name)
	}
	require.Equal(t, "2 of 2", taken["Core0: LSU loads outstanding"], "no load comes back")
	require.Equal(t, "0 of 16", taken["Memory.port0.rsp"], "the L1I has a slot for every line that it can ask for")
	require.Positive(t, by.Full)
	var few levels
	require.Equal(t, http.StatusOK, d.get("api/machines/1/buffers?sort=level&limit=2", &few))
	require.Len(t, few.Buffers, 2)
	require.GreaterOrEqual(t, few.Buffers[0].Level, few.Buffers[1].Level)
	require.Equal(t, by.All, few.All)
	var waits []string
	require.Equal(t, http.StatusOK, d.get("api/machines/1/waits", &waits))
	require.Contains(t, strings.Join(waits, "\n"), "Core0 warp 0: ")
	require.Contains(t, strings.Join(waits, "\n"), "waits for its line")

	require.Equal(t, http.StatusNoContent, d.post("api/machines/1/continue"))
	require.True(t, errors.As(<-out, new(*sim.StallError)), "it ends as without a monitor")
	s = d.until("over", func(s state) bool { return len(s.Machines) == 0 })
	require.Equal(t, []int{2, 1}, []int{s.Done, s.Failed})
	require.Contains(t, s.Ended[0].Error, "no progress at cycle")
	require.Contains(t, s.Ended[0].Error, "Core0 warp 0")
	require.Positive(t, s.Ended[0].Cycles)
}

// TestLookingChangesNothing: neither cycles nor any count, samples included, depend on who looks.
func TestLookingChangesNothing(t *testing.T) {
	sampling := &sim.Sampling{Interval: 10000, Keys: []string{"core*", "l1d*", "dram*"}, MaxRows: 1000}
	run := func(m *sim.Machine) (uint64, string) {
		m.BeginSamples()
		r, err := m.Run(t.Context(), assemble(t, finite))
		require.NoError(t, err)
		all, err := json.Marshal([]any{m.Statistics(), m.EndSamples()})
		require.NoError(t, err)
		return r.Cycles, string(all)
	}
	cycles, counts := run(machine(t, "vortex-6c32w32t sockets=2 core.warps=4 core.threads=4",
		sim.Options{Sampling: sampling}))

	d := serve(t, monitor.Hold{Start: true}) // so that all are looked at once, however fast the run is
	m := machine(t, "vortex-6c32w32t sockets=2 core.warps=4 core.threads=4", sim.Options{Sampling: sampling})
	w := d.Begin(t.Context(), "one", 0, m)
	stop, looks := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for {
			select {
			case <-stop:
				looks <- n
				return
			default:
			}
			for _, path := range []string{"statistics?search=l1d", "waits", "buffers",
				"fields?component=Socket0.L1D&at=banks&at=0", "series?keys=*"} {
				if r, err := http.Get(d.URL() + "api/machines/1/" + path); err == nil {
					if r.StatusCode == http.StatusOK {
						n++
					}
					_ = r.Body.Close()
				}
			}
			if r, err := http.Post(d.URL()+"api/machines/1/continue", "", nil); err == nil {
				_ = r.Body.Close()
			}
		}
	}()
	seen, all := run(m)
	w.End(nil)
	close(stop)
	require.GreaterOrEqual(t, <-looks, 5)
	require.Equal(t, cycles, seen)
	require.Equal(t, counts, all)
}

func TestStatisticsAreOfNow(t *testing.T) {
	d := serve(t, monitor.Hold{})
	d.start(machine(t, "vortex-1c4w4t", sim.Options{}), forever)
	d.until("far enough", beyond(1000))
	d.post("api/machines/1/pause")
	var list []struct{ Name, Value string }
	require.Equal(t, http.StatusOK, d.get("api/machines/1/statistics?search=core+cycles", &list))
	s := d.until("paused", in("paused"))
	values := map[string]string{}
	for _, c := range list {
		values[c.Name] = c.Value
	}
	require.Equal(t, fmt.Sprint(s.Machines[0].Cycle), values["core.cycles"])
}

func TestBusyAndGone(t *testing.T) {
	d := serve(t, monitor.Hold{})
	w := d.Begin(t.Context(), "one", 0, machine(t, "vortex-1c4w4t", sim.Options{}))
	d.Patience = 10 * time.Millisecond
	require.Equal(t, http.StatusServiceUnavailable, d.get("api/machines/1/waits", nil), "no goroutine simulates")
	w.End(nil)
	require.Equal(t, http.StatusNotFound, d.get("api/machines/1/waits", nil))
	require.Equal(t, http.StatusNotFound, d.post("api/machines/1/pause"))
}

// An interrupted run ends though it is paused, or held.
func TestInterruptsEndAPause(t *testing.T) {
	d := serve(t, monitor.Hold{Start: true, End: true})
	ctx, cancel := context.WithCancel(t.Context())
	m := machine(t, "vortex-1c4w4t", sim.Options{})
	w := d.Begin(ctx, "one", 0, m)
	go func() {
		d.until("paused", in("paused"))
		cancel()
	}()
	_, err := m.Run(ctx, assemble(t, forever))
	w.End(err)
	require.ErrorIs(t, err, context.Canceled)
}

// TestStrangers: pages of others can neither read nor change anything, by whatever name they come here.
func TestStrangers(t *testing.T) {
	d := serve(t, monitor.Hold{})
	d.start(machine(t, "vortex-1c4w4t", sim.Options{}), forever)
	ask := func(method, path, host string, header ...string) int {
		r, err := http.NewRequestWithContext(t.Context(), method, d.URL()+path, nil)
		require.NoError(t, err)
		if host != "" {
			r.Host = host
		}
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		a, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.Empty(t, a.Header.Get("Access-Control-Allow-Origin"))
		require.NoError(t, a.Body.Close())
		return a.StatusCode
	}
	const pause = "api/machines/1/pause"
	for _, host := range []string{"evil.example", "127.0.0.1.evil.example:80", "localhost.evil.example", "0.0.0.0",
		"10.0.0.1:80", "[::]:80"} {
		require.Equal(t, http.StatusForbidden, ask("GET", "api/state", host), host)
		require.Equal(t, http.StatusForbidden, ask("POST", pause, host), host)
	}
	for _, host := range []string{"localhost:1", "localhost", "127.0.0.1:9", "[::1]:9", "127.0.0.2"} {
		require.Equal(t, http.StatusOK, ask("GET", "api/state", host), host)
	}
	require.Equal(t, http.StatusForbidden, ask("POST", pause, "", "Origin", "https://evil.example"))
	require.Equal(t, http.StatusForbidden, ask("POST", pause, "", "Sec-Fetch-Site", "same-site", "Origin",
		"http://localhost:3000"))
	require.Equal(t, http.StatusForbidden, ask("POST", pause, "", "Sec-Fetch-Site", "cross-site"))
	for _, method := range []string{"GET", "HEAD", "OPTIONS"} {
		require.Equal(t, http.StatusMethodNotAllowed, ask(method, pause, ""), method)
	}
	require.Equal(t, "running", d.state().Machines[0].State)
	require.Equal(t, http.StatusNoContent, ask("POST", pause, "", "Sec-Fetch-Site", "same-origin"))
}

func TestListensOnLoopbackOnly(t *testing.T) {
	for _, address := range []string{":0", "0.0.0.0:0", "[::]:0", "10.1.2.3:80", "example.org:80"} {
		_, err := monitor.Listen(address)
		require.ErrorContains(t, err, "expected an address of loopback", address)
	}
	for _, address := range []string{"8080", "127.0.0.1", ""} {
		_, err := monitor.Listen(address)
		require.ErrorContains(t, err, "expected HOST:PORT", address)
	}
	l, err := monitor.Listen("localhost:0")
	require.NoError(t, err)
	require.Contains(t, l.Addr().String(), "127.0.0.1:")
	require.NoError(t, l.Close())
}
