package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"sync"

	"heddle/experiment/config"
	"heddle/graph"
	"heddle/graph/graphspec"
	"heddle/traces"
)

// graphCache shares the graphs of points. A graph in use is in memory once; an idle graph stays as long as a later
// point needs it and idle graphs fit into room.
//
// Life of an entry: get starts one load, which all users wait for on loading, and counts the user; release uncounts it
// and evicts idle graphs. An evicted entry keeps its description and can be loaded again. Invariant: while users > 0,
// loading is not nil, and once it is closed, graph or err is set.
type graphCache struct {
	room uint64 // bytes for idle graphs, beside the one used last; 0: idleRoom

	mu      sync.Mutex
	planned bool // whether the wanted counts of entries are set
	all     map[string]*cachedGraph
	traces  map[string]*graphDescription
	clock   int // number of releases, the time base of eviction
}

// idleRoom is the room for idle graphs if memory is not limited.
const idleRoom = 1 << 30

// graphDescription is the part of an entry that outlives the graph.
type graphDescription struct {
	hash      string // of the content; "": not loaded yet
	numbering string // of the vertices' former numbers; "": they have kept them
	about     GraphSummary
	err       error
}

// cachedGraph is an entry of the cache.
type cachedGraph struct {
	graphDescription
	graph   *graph.Graph
	loading chan struct{} // closed when the graph or an error is set; nil: not in memory
	bytes   uint64
	users   int // points that use it now
	wanted  int // points that are going to
	lastUse int // time of the last release, by the cache's clock
}

// seen reports whether the graph has ever been loaded.
func (l *cachedGraph) seen() bool { return l.hash != "" }

func (c *graphCache) entry(spec graphspec.Graph) *cachedGraph {
	key := string(graphspec.Schema.YAML(spec))
	if c.all == nil {
		c.all = map[string]*cachedGraph{}
	}
	l := c.all[key]
	if l == nil {
		l = &cachedGraph{}
		c.all[key] = l
	}
	return l
}

// want announces the points that are about to run, and drops the graphs that none of them needs.
func (c *graphCache) want(points []Point, todo []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range todo {
		if points[i].work().graph() != noGraph {
			c.entry(points[i].Config.Graph).wanted++
		}
	}
	c.planned = true
	c.evict()
}

// get returns a graph, loading it if necessary; the caller must call release. If ctx ends first, the load continues for
// other users.
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

// load loads a graph. A panic becomes the error of all users instead of ending the process.
func (c *graphCache) load(l *cachedGraph, spec graphspec.Graph) {
	d, g := graphDescription{}, (*graph.Graph)(nil)
	defer func() {
		if p := recover(); p != nil {
			d.err = &Crash{fmt.Sprint(p), debug.Stack()}
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if l.graphDescription = d; d.err == nil {
			l.graph, l.bytes = g, g.Bytes()
		}
		close(l.loading)
	}()
	if g, d.err = graph.Load(spec); d.err == nil {
		d.about, d.hash, d.numbering = aboutGraph(g), g.Hash(), g.Numbering()
	} else if errors.Is(d.err, fs.ErrNotExist) && spec.File != "" {
		d.err = keyError("graph.file", ": %s: no such file: expected a path, from where heddle runs, or the name of a "+
			"graph that it ships (heddle graph list)", spec.File)
	}
}

// release ends one use of a graph.
func (c *graphCache) release(l *cachedGraph) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock++
	l.users, l.wanted, l.lastUse = l.users-1, max(0, l.wanted-1), c.clock
	c.evict()
}

// evict drops idle graphs that no point wants, then the least recently used ones until the rest fits. The graph used
// last stays, since the next point is likely to use it too.
func (c *graphCache) evict() {
	idle := uint64(0)
	for _, l := range c.all {
		if l.graph == nil || l.users > 0 {
			continue
		}
		if c.planned && l.wanted == 0 {
			l.drop()
		} else {
			idle += l.bytes
		}
	}
	for idle > cmp.Or(c.room, idleRoom) {
		oldest := c.oldest()
		if oldest == nil || oldest.lastUse == c.clock {
			return
		}
		idle -= oldest.bytes
		oldest.drop()
	}
}

func (c *graphCache) oldest() (oldest *cachedGraph) {
	for _, l := range c.all {
		if l.graph != nil && l.users == 0 && (oldest == nil || l.lastUse < oldest.lastUse) {
			oldest = l
		}
	}
	return oldest
}

// drop frees the graph and keeps its description.
func (l *cachedGraph) drop() { l.graph, l.loading = nil, nil }

// summaries describes the graphs that have been loaded so far, by content hash.
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

// about describes the graph of a point or of its trace; ok is false if it has not been loaded.
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

// hash returns the content hash of a point's graph or trace; "" if it has not been loaded.
func (c *graphCache) hash(e *config.Experiment) string { return c.loaded(e).hash }

// loaded returns the description of a point's graph or trace, without a hash if it has not been loaded.
func (c *graphCache) loaded(e *config.Experiment) graphDescription {
	c.mu.Lock()
	defer c.mu.Unlock()
	if path := e.Workload.Trace; path != "" {
		if t := c.traces[path]; t != nil && t.err == nil {
			return *t
		}
		return graphDescription{}
	}
	return c.entry(e.Graph).graphDescription
}

// describe describes a graph, loading it if it has never been loaded.
func (c *graphCache) describe(spec graphspec.Graph) (graphDescription, error) {
	c.mu.Lock()
	l := c.entry(spec)
	if l.seen() {
		defer c.mu.Unlock()
		return l.graphDescription, nil
	}
	l.wanted++ // keeps the graph until the release below
	c.mu.Unlock()
	_, release, err := c.get(context.Background(), spec)
	if err != nil {
		return graphDescription{}, err
	}
	defer release()
	return l.graphDescription, nil
}

// trace describes the graph of a trace, under the trace's hash.
func (c *graphCache) trace(path string) (*graphDescription, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.traces == nil {
		c.traces = map[string]*graphDescription{}
	}
	t := c.traces[path]
	if t == nil {
		t = &graphDescription{}
		c.traces[path] = t
		f, err := traces.Open(path)
		if t.err = err; err == nil {
			t.about, t.hash = aboutTrace(f), f.Hash()
			t.err = f.Close()
		}
	}
	return t, t.err
}
