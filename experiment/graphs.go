package experiment

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"heddle/experiment/config"
	"heddle/graph"
	"heddle/graph/graphspec"
	"heddle/traces"
)

// graphCache loads the graphs of points. A graph that points work on is there once; one that no point works on stays
// while there is room, and some point may still need it.
type graphCache struct {
	room uint64 // for graphs that no point works on, but the last of them, in bytes; 0: idleRoom

	mu     sync.Mutex
	known  bool // which points want graphs
	all    map[string]*loaded
	traces map[string]*described
	clock  int // counts uses
}

// idleRoom is the room for graphs that no point works on, if memory has no limit.
const idleRoom = 1 << 30

// described holds what is known of a graph once it has been seen, though it is there no more.
type described struct {
	hash  string // of its content
	about GraphSummary
	err   error
}

// loaded is a graph of the cache.
type loaded struct {
	described
	graph   *graph.Graph
	loading chan struct{} // closed when the graph, or an error, is there; nil: nobody has asked for it
	bytes   uint64
	users   int // points that work on it now
	wanted  int // points that will, as far as is known
	used    int // when it was, by the cache's clock
}

// seen reports whether the graph has been loaded, if it is there still or not.
func (l *loaded) seen() bool { return l.hash != "" }

func (c *graphCache) entry(spec graphspec.Graph) *loaded {
	key := string(graphspec.Schema.YAML(spec))
	if c.all == nil {
		c.all = map[string]*loaded{}
	}
	l := c.all[key]
	if l == nil {
		l = &loaded{}
		c.all[key] = l
	}
	return l
}

// want says which points are about to run. What none of them needs is dropped.
func (c *graphCache) want(points []Point, todo []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range todo {
		if cfg := &points[i].Config; cfg.Workload.Trace == "" {
			c.entry(cfg.Graph).wanted++
		}
	}
	c.known = true
	c.evict()
}

// get returns a graph, and loads it if it is not there. The caller releases it. Who no longer waits leaves the loading
// to others.
func (c *graphCache) get(ctx context.Context, spec graphspec.Graph) (g *graph.Graph, release func(), err error) {
	c.mu.Lock()
	l := c.entry(spec)
	l.users++
	if l.loading == nil {
		l.loading = make(chan struct{})
		go c.load(l, spec)
	}
	loading := l.loading
	c.mu.Unlock()
	release = sync.OnceFunc(func() { c.release(l) })
	select {
	case <-loading:
	case <-ctx.Done():
		release()
		return nil, nil, ctx.Err()
	}
	if l.err != nil {
		release()
		return nil, nil, l.err
	}
	return l.graph, release, nil
}

// load loads a graph. A mistake of ours in that is the error of those who wait.
func (c *graphCache) load(l *loaded, spec graphspec.Graph) {
	d, g := described{}, (*graph.Graph)(nil)
	defer func() {
		if p := recover(); p != nil {
			d.err = &Crash{fmt.Sprint(p), debug.Stack()}
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if l.described = d; d.err == nil {
			l.graph, l.bytes = g, g.Bytes()
		}
		close(l.loading)
	}()
	if g, d.err = graph.Load(spec); d.err == nil {
		d.about, d.hash = aboutGraph(g), g.Hash()
	}
}

// release ends a use.
func (c *graphCache) release(l *loaded) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock++
	l.users, l.wanted, l.used = l.users-1, max(0, l.wanted-1), c.clock
	c.evict()
}

// evict drops what nobody works on and no point wants, and the graphs used longest ago until the others have room. The
// one used last stays: the next point's is likely to be the same.
func (c *graphCache) evict() {
	idle := uint64(0)
	for _, l := range c.all {
		if l.graph == nil || l.users > 0 {
			continue
		}
		if c.known && l.wanted == 0 {
			l.drop()
		} else {
			idle += l.bytes
		}
	}
	for idle > cmp.Or(c.room, idleRoom) {
		oldest := c.oldest()
		if oldest == nil || oldest.used == c.clock {
			return
		}
		idle -= oldest.bytes
		oldest.drop()
	}
}

func (c *graphCache) oldest() (oldest *loaded) {
	for _, l := range c.all {
		if l.graph != nil && l.users == 0 && (oldest == nil || l.used < oldest.used) {
			oldest = l
		}
	}
	return oldest
}

// drop forgets a graph; what is known of it stays.
func (l *loaded) drop() { l.graph, l.loading = nil, nil }

// summaries describes the graphs that have been loaded, by content hash. It loads none.
func (c *graphCache) summaries() map[string]GraphSummary {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[string]GraphSummary{}
	for _, l := range c.all {
		if l.seen() {
			out[l.hash] = l.about
		}
	}
	for _, t := range c.traces {
		if t.err == nil {
			out[t.hash] = t.about
		}
	}
	return out
}

// about is what the graph of a point, or of its trace, is like, if it has been seen.
func (c *graphCache) about(e *config.Experiment) (about GraphSummary, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if path := e.Workload.Trace; path != "" {
		if t := c.traces[path]; t != nil && t.err == nil {
			return t.about, true
		}
		return about, false
	}
	l := c.entry(e.Graph)
	return l.about, l.seen()
}

// hash is that of the content of a point's graph, or trace, if it has been seen. It loads none.
func (c *graphCache) hash(e *config.Experiment) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if path := e.Workload.Trace; path != "" {
		if t := c.traces[path]; t != nil && t.err == nil {
			return t.hash
		}
		return ""
	}
	return c.entry(e.Graph).hash
}

// describe says what a graph is like, and loads it if nobody has.
func (c *graphCache) describe(spec graphspec.Graph) (described, error) {
	c.mu.Lock()
	l := c.entry(spec)
	if l.seen() {
		defer c.mu.Unlock()
		return l.described, nil
	}
	l.wanted++ // released below
	c.mu.Unlock()
	_, release, err := c.get(context.Background(), spec)
	if err != nil {
		return described{}, err
	}
	defer release()
	return l.described, nil
}

// trace describes the graph of a trace, under the trace's hash.
func (c *graphCache) trace(path string) (*described, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.traces == nil {
		c.traces = map[string]*described{}
	}
	t := c.traces[path]
	if t == nil {
		t = &described{}
		c.traces[path] = t
		f, err := traces.Open(path)
		if t.err = err; err == nil {
			t.about, t.hash = aboutTrace(f), f.Hash()
			t.err = f.Close()
		}
	}
	return t, t.err
}
