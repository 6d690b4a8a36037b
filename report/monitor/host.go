package monitor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/metrics"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/pprof/profile"
)

const (
	hostEvery  = time.Second
	hostRows   = 600 // ten minutes
	longestRun = 60  // seconds of a profile
	functions  = 40  // that are listed
)

// host records how this process does: how many cycles it simulates, and its memory.
type host struct {
	begun    time.Time
	stop     chan struct{}
	stopped  chan struct{}
	stopOnce sync.Once

	mu   sync.Mutex
	rows ring[hostRow]

	profiling sync.Mutex // held while a profile is taken
	last      []byte     // the last profile as it was written; under mu
}

// hostRow is the process at an instant.
type hostRow struct {
	Seconds    float64 `json:"seconds"`     // since the monitor began
	Cycles     uint64  `json:"cycles"`      // simulated by then, of all machines
	Heap       uint64  `json:"heap_bytes"`  // of objects, those that are not yet collected too
	Memory     uint64  `json:"go_bytes"`    // that Go's runtime has of the system
	Allocated  uint64  `json:"alloc_bytes"` // by then
	Goroutines uint64  `json:"goroutines"`
}

func newHost() *host {
	return &host{begun: time.Now(), rows: newRing[hostRow](hostRows), stop: make(chan struct{}),
		stopped: make(chan struct{})}
}

// watch records a row every second until close.
func (h *host) watch(cycles func() uint64) {
	defer close(h.stopped)
	tick := time.NewTicker(hostEvery)
	defer tick.Stop()
	for {
		h.record(cycles())
		select {
		case <-tick.C:
		case <-h.stop:
			return
		}
	}
}

func (h *host) close() {
	h.stopOnce.Do(func() { close(h.stop) })
	<-h.stopped
}

// Names of runtime/metrics, in the order of hostRow.
var hostMetrics = []string{
	"/memory/classes/heap/objects:bytes", "/memory/classes/total:bytes", "/memory/classes/heap/released:bytes",
	"/gc/heap/allocs:bytes", "/sched/goroutines:goroutines",
}

func (h *host) record(cycles uint64) {
	samples := make([]metrics.Sample, len(hostMetrics))
	for i, name := range hostMetrics {
		samples[i].Name = name
	}
	metrics.Read(samples)
	value := func(i int) uint64 { return samples[i].Value.Uint64() }
	h.mu.Lock()
	defer h.mu.Unlock()
	*h.rows.push() = hostRow{time.Since(h.begun).Seconds(), cycles, value(0), value(1) - value(2), value(3), value(4)}
}

func (h *host) list() []hostRow {
	h.mu.Lock()
	defer h.mu.Unlock()
	rows := make([]hostRow, h.rows.n)
	for i := range rows {
		rows[i] = *h.rows.at(i)
	}
	return rows
}

// hostProfile is a profile of the process's processor time.
type hostProfile struct {
	Seconds    float64 `json:"seconds"`     // that were observed
	CPUSeconds float64 `json:"cpu_seconds"` // of all processors, by samples
	Samples    int64   `json:"samples"`
	Components []share `json:"components"` // together all samples
	Functions  []share `json:"functions"`  // those with the most of their own
}

// share is a package's or function's number of samples.
type share struct {
	Name string  `json:"name"`
	Own  float64 `json:"own"`   // share in it; of a component, with the functions of other modules that it calls
	All  float64 `json:"total"` // share in it and whatever it calls
}

var errProfiled = errors.New("a CPU profile of this process is being taken already (CPUPROFILE, or another " +
	"request): ask again when it has ended")

// profile samples the process for the requested time, or until ctx ends.
func (h *host) profile(ctx context.Context, length time.Duration) (hostProfile, error) {
	if !h.profiling.TryLock() {
		return hostProfile{}, errProfiled
	}
	defer h.profiling.Unlock()
	var b bytes.Buffer
	if err := pprof.StartCPUProfile(&b); err != nil {
		return hostProfile{}, errProfiled
	}
	begun := time.Now()
	select {
	case <-time.After(length):
	case <-ctx.Done():
	case <-h.stop:
	}
	pprof.StopCPUProfile()
	observed := time.Since(begun)
	p, err := profile.ParseData(b.Bytes())
	if err != nil {
		return hostProfile{}, fmt.Errorf("BUG: monitor: Go's profile cannot be read: %w", err)
	}
	h.mu.Lock()
	h.last = b.Bytes()
	h.mu.Unlock()
	return summarize(p, observed), nil
}

// The values of a sample of Go's CPU profiles.
const (
	sampleCount = iota
	sampleTime  // nanoseconds
)

// otherwise is the component of samples in which no function of ours is: of the garbage collector, say.
const otherwise = "Go runtime"

func summarize(p *profile.Profile, observed time.Duration) hostProfile {
	out := hostProfile{Seconds: observed.Seconds(), Components: []share{}, Functions: []share{}}
	own, all := map[string]int64{}, map[string]int64{}
	packages, within := map[string]int64{}, map[string]int64{}
	for _, s := range p.Sample {
		n := s.Value[sampleCount]
		out.Samples += n
		out.CPUSeconds += float64(s.Value[sampleTime]) / 1e9
		frames := stack(s)
		if len(frames) == 0 {
			frames = []string{"unknown"}
		}
		own[frames[0]] += n
		seen, in := map[string]bool{}, ""
		for _, f := range frames {
			if !seen[f] {
				seen[f] = true
				all[f] += n
			}
			pkg, ours := component(f)
			if !ours {
				continue
			}
			if in == "" {
				in = pkg
			}
			if !seen[pkg] {
				seen[pkg] = true
				within[pkg] += n
			}
		}
		packages[cmp.Or(in, otherwise)] += n
		if in == "" {
			within[otherwise] += n
		}
	}
	out.Components, out.Functions = shares(packages, within, out.Samples), shares(own, all, out.Samples)
	out.Functions = out.Functions[:min(functions, len(out.Functions))]
	return out
}

// stack lists the functions of a sample, from the innermost on, inlined ones too.
func stack(s *profile.Sample) (names []string) {
	for _, l := range s.Location {
		for _, line := range l.Line {
			if line.Function != nil {
				names = append(names, line.Function.Name)
			}
		}
	}
	return names
}

// component returns the package of a function of ours, within the module.
func component(function string) (pkg string, ours bool) {
	rest, ours := strings.CutPrefix(function, module)
	if !ours {
		return "", false
	}
	// of a method, or of a generic function's type arguments: package paths too
	if i := strings.IndexAny(rest, "[("); i >= 0 {
		rest = rest[:i]
	}
	slash := strings.LastIndexByte(rest, '/') + 1
	dot := strings.IndexByte(rest[slash:], '.')
	if dot < 0 {
		return rest, true
	}
	return rest[:slash+dot], true
}

// shares returns the entries with samples of their own, the largest first.
func shares(own, all map[string]int64, total int64) []share {
	list := []share{}
	for name, n := range own {
		list = append(list, share{name, float64(n) / float64(total), float64(all[name]) / float64(total)})
	}
	slices.SortFunc(list, func(a, b share) int {
		return cmp.Or(cmp.Compare(b.Own, a.Own),
			cmp.Compare(a.Name, b.Name))
	})
	return list
}

// takeProfile: POST, ?seconds=5.
func (o *Monitor) takeProfile(w http.ResponseWriter, r *http.Request) {
	n, err := number(cmp.Or(r.URL.Query().Get("seconds"), "5"))
	if err == nil && (n < 1 || n > longestRun) {
		err = errAsked{fmt.Errorf("seconds=%d: expected 1 to %d", n, longestRun)}
	}
	if err != nil {
		http.Error(w, err.Error(), status(err))
		return
	}
	p, err := o.host.profile(r.Context(), time.Duration(n)*time.Second)
	if err != nil {
		http.Error(w, err.Error(), status(err))
		return
	}
	answer(w, p)
}

// lastProfile answers with the last profile as a file for go tool pprof.
func (o *Monitor) lastProfile(w http.ResponseWriter, _ *http.Request) {
	o.host.mu.Lock()
	last := o.host.last
	o.host.mu.Unlock()
	if last == nil {
		http.Error(w, "no profile has been taken: POST /api/host/profile?seconds=5", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", `attachment; filename="heddle.pb.gz"`)
	_, _ = w.Write(last) // the page has gone
}
