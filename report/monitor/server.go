package monitor

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"heddle/report/echarts"
)

// Default is a loopback address with an automatically chosen free port.
const Default = "127.0.0.1:0"

//go:embed assets
var assets embed.FS

// Server is the monitor's page, on loopback.
type Server struct {
	*Monitor
	listener net.Listener
	http     http.Server
}

// Listen opens the address at which a page will be. It must be of this machine alone: who can reach the
// page sees everything, and can hold the simulation up.
func Listen(address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%s: expected HOST:PORT, such as %s", address, Default)
	}
	if host == "localhost" { // whatever it is said to be elsewhere
		host = "127.0.0.1"
	}
	if ip, err := netip.ParseAddr(host); err != nil || !ip.IsLoopback() {
		return nil, fmt.Errorf(
			"%s: expected an address of loopback (127.0.0.1:PORT or [::1]:PORT), for whoever reaches the page can "+
				"hold the simulation up; from elsewhere: ssh -L PORT:127.0.0.1:PORT",
			address)
	}
	return net.Listen("tcp", net.JoinHostPort(host, port))
}

// Serve begins to answer.
func (o *Monitor) Serve(l net.Listener) *Server {
	s := &Server{Monitor: o, listener: l}
	s.http = http.Server{Handler: o.Handler(), ReadHeaderTimeout: 10 * time.Second}
	go s.http.Serve(l) //nolint:errcheck // it ends with Close
	go o.host.watch(o.simulated)
	return s
}

// URL returns the page's address.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/" }

// Close announces the end, and stops the server once pending responses are sent.
func (s *Server) Close() error {
	s.conclude()
	s.host.close()
	ctx, cancel := context.WithTimeout(context.Background(), s.Farewell)
	defer cancel()
	_ = s.http.Shutdown(ctx) // who still waits for a machine is cut off
	return s.http.Close()
}

// policy restricts the page to its own resources, and forbids framing it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Handler serves the page and its requests.
func (o *Monitor) Handler() http.Handler {
	mux := http.NewServeMux()
	page, err := fs.Sub(assets, "assets")
	if err != nil {
		panic("BUG: monitor: " + err.Error())
	}
	mux.Handle("GET /{file}", http.FileServerFS(page))
	mux.Handle("GET /{$}", http.FileServerFS(page))
	mux.HandleFunc("GET /api/state", func(w http.ResponseWriter,
		r *http.Request) {
		answer(w, o.state(r.URL.Query().Has("page")))
	})
	for name, f := range views {
		mux.HandleFunc("GET /api/machines/{id}/"+name, o.view(f))
	}
	mux.HandleFunc("GET /echarts.min.js", func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "echarts.min.js", time.Time{}, strings.NewReader(echarts.Script))
	})
	mux.HandleFunc("GET /api/host", func(w http.ResponseWriter, _ *http.Request) { answer(w, o.host.list()) })
	mux.HandleFunc("POST /api/host/profile", o.takeProfile)
	mux.HandleFunc("GET /api/host/profile.pb.gz", o.lastProfile)
	mux.HandleFunc("POST /api/machines/{id}/pause", o.turn(true))
	mux.HandleFunc("POST /api/machines/{id}/continue", o.turn(false))
	return guard(http.NewCrossOriginProtection().Handler(mux))
}

// guard refuses requests for host names other than loopback, and sets the page's security headers.
func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !local(r.Host) {
			http.Error(w, "expected localhost or an address of loopback as the host", http.StatusForbidden)
			return
		}
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// local reports whether a Host header names loopback. The port may differ: that of a tunnel.
func local(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	if name == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return err == nil && ip.IsLoopback()
}

// errAsked is a request that cannot be answered as it is.
type errAsked struct{ error }

// view answers with the result of f for a machine. f runs in the simulating goroutine.
func (o *Monitor) view(f func(*Machine, *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s := o.of(r)
		if s == nil {
			http.Error(w, errGone.Error(), http.StatusNotFound)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), o.Patience)
		defer cancel()
		var found any
		var wrong error
		err := cmp.Or(s.ask(ctx, func() { found, wrong = f(s, r) }), wrong)
		if err != nil {
			http.Error(w, err.Error(), status(err))
			return
		}
		answer(w, found)
	}
}

func status(err error) int {
	switch {
	case errors.Is(err, errBusy):
		return http.StatusServiceUnavailable
	case errors.Is(err, errProfiled):
		return http.StatusConflict
	case errors.Is(err, errGone):
		return http.StatusNotFound
	case errors.As(err, new(errAsked)):
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}

// turn pauses a machine, or has it go on.
func (o *Monitor) turn(pause bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s := o.of(r)
		if s == nil {
			http.Error(w, errGone.Error(), http.StatusNotFound)
			return
		}
		s.pause(pause)
		w.WriteHeader(http.StatusNoContent)
	}
}

// of is the machine that a request names; nil: it runs no more.
func (o *Monitor) of(r *http.Request) *Machine {
	id, err := strconv.Atoi(r.PathValue("id"))
	if err != nil {
		return nil
	}
	return o.machine(id)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the page has gone
}

// views are the questions that a machine answers.
var views = map[string]func(*Machine, *http.Request) (any, error){
	"components": components, "fields": fields, "buffers": buffers, "waits": waits, "statistics": statistics,
	"series": overTime,
}

// overTime: ?keys=warp_instrs,l2.*; without keys, those that the page draws.
func overTime(s *Machine, r *http.Request) (any, error) {
	patterns := usual
	if keys := r.URL.Query().Get("keys"); keys != "" {
		patterns = strings.Split(keys, ",")
	}
	if s.paused.Load() {
		s.past.catchUp()
	}
	return s.past.series(patterns)
}

func components(s *Machine, _ *http.Request) (any, error) {
	names := []string{}
	for _, c := range s.m.Components() {
		names = append(names, c.Name())
	}
	return names, nil
}

// fields: ?component=Core0&at=warps&at=3&from=0.
func fields(s *Machine, r *http.Request) (any, error) {
	q := r.URL.Query()
	from, err := number(q.Get("from"))
	if err != nil {
		return nil, err
	}
	for _, c := range s.m.Components() {
		if c.Name() == q.Get("component") {
			v, err := look(c, q["at"], from)
			if err != nil {
				return nil, errAsked{err}
			}
			return v, nil
		}
	}
	return nil, errAsked{fmt.Errorf("%s: the machine has no such component", q.Get("component"))}
}

func number(s string) (int, error) {
	n, err := strconv.Atoi(cmp.Or(s, "0"))
	if err != nil || n < 0 {
		return 0, errAsked{fmt.Errorf("%s: expected a number from 0", s)}
	}
	return n, nil
}

// level is a buffer's occupancy.
type level struct {
	Name     string `json:"name"`
	Level    int    `json:"level"`
	Capacity int    `json:"capacity"`
}

// share orders buffers by occupancy: a buffer without slots, as of a unit that is not set up, comes last.
func (l level) share() float64 { return float64(l.Level) / float64(max(1, l.Capacity)) }

// levels is part of a sorted list of buffers.
type levels struct {
	All     int     `json:"all"`
	Full    int     `json:"full"` // of all
	Buffers []level `json:"buffers"`
}

// buffers: ?sort=percent|level&limit=50.
func buffers(s *Machine, r *http.Request) (any, error) {
	by := cmp.Or(r.URL.Query().Get("sort"), "percent")
	if by != "percent" && by != "level" {
		return nil, errAsked{fmt.Errorf("sort=%s: expected percent or level", by)}
	}
	limit, err := number(cmp.Or(r.URL.Query().Get("limit"), "50"))
	if err != nil {
		return nil, err
	}
	out := levels{Buffers: []level{}}
	s.m.Buffers(func(name string, n, capacity int) {
		out.Buffers = append(out.Buffers, level{name, n, capacity})
		if n > 0 && n >= capacity {
			out.Full++
		}
	})
	slices.SortStableFunc(out.Buffers, func(a, b level) int {
		share, number := cmp.Compare(b.share(), a.share()), cmp.Compare(b.Level, a.Level)
		if by == "level" {
			return cmp.Or(number, share)
		}
		return cmp.Or(share, number)
	})
	out.All = len(out.Buffers)
	out.Buffers = out.Buffers[:min(limit, out.All)]
	return out, nil
}

func waits(s *Machine, _ *http.Request) (any, error) {
	return append([]string{}, s.m.Waits()...), nil
}

// counted is a statistic as it is shown.
type counted struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Unit  string `json:"unit"`
	Doc   string `json:"doc"`
}

// most is the maximum number of statistics listed at once.
const most = 300

// statistics: ?search=words that name and meaning have.
func statistics(s *Machine, r *http.Request) (any, error) {
	words := strings.Fields(strings.ToLower(r.URL.Query().Get("search")))
	out := []counted{}
	for _, c := range s.m.Live() {
		text := strings.ToLower(c.Name + " " + c.Doc)
		if len(out) < most && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
			out = append(out, counted{c.Name, c.String(), c.Unit, c.Doc})
		}
	}
	return out, nil
}
