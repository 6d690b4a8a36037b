// Package program runs the user's own programs on a device in the way that heddle's kernels run: it passes them a
// graph, parameters and arrays through a block of words, launches their kernels as the workload specifies, and checks
// the result.
//
// The host's actions are the workload.host section of an experiment; the argument block is documented in
// docs/guide/programs.md.
package program

import (
	"context"
	"fmt"
	"sync"

	"heddle/isa"
	"heddle/kernels/algorithm"
	"heddle/kernels/workload"
)

// Program is a program and its host description.
type Program struct {
	*Host
	File   string
	SHA256 string     // of the loaded image
	Lines  *isa.Lines // source lines of instructions; nil: the file has none
	image  *isa.Program
	expect []float64            // contents of check_file; nil: none
	check  *algorithm.Algorithm // nil: none
}

// Open reads, assembles or compiles a workload's program, and checks everything that does not depend on the graph. An
// error names the workload's key.
func Open(ctx context.Context, w *workload.Workload) (*Program, error) {
	h, err := NewHost(w.Host)
	if err != nil {
		return nil, err
	}
	p := &Program{Host: h, File: w.Program}
	if p.check, err = h.algorithm(); err != nil {
		return nil, err
	}
	if p.expect, err = h.expected(); err != nil {
		return nil, err
	}
	if p.image, p.Lines, err = build(ctx, w.Program, h); err != nil {
		return nil, err
	}
	p.SHA256 = digest(p.image, h)
	if want := w.Host.SHA256; want != "" && want != p.SHA256 {
		return nil, refuse("host.sha256", "%s is %s: expected %s: the program, its compiler or what goes into its "+
			"block has changed", w.Program, p.SHA256, want)
	}
	return p, nil
}

// Cache opens each program once. It is safe for concurrent use.
type Cache struct {
	mu    sync.Mutex
	known map[string]*opened
}

type opened struct {
	once    sync.Once
	program *Program
	err     error
}

// Open is Open, once for each program and host: files are read at the first request.
func (c *Cache) Open(ctx context.Context, w *workload.Workload) (*Program, error) {
	if c == nil {
		return Open(ctx, w)
	}
	host := w.Host
	host.SHA256 = ""
	key := fmt.Sprintf("%q %+v", w.Program, host)
	c.mu.Lock()
	if c.known == nil {
		c.known = map[string]*opened{}
	}
	o := c.known[key]
	if o == nil {
		o = &opened{}
		c.known[key] = o
	}
	c.mu.Unlock()
	o.once.Do(func() {
		plain := *w
		plain.Host = host
		o.program, o.err = Open(ctx, &plain)
	})
	if o.err == nil && w.Host.SHA256 != "" && w.Host.SHA256 != o.program.SHA256 {
		return nil, refuse("host.sha256",
			"%s is %s: expected %s: the program, its compiler or what goes into its block has changed", w.Program,
			o.program.SHA256, w.Host.SHA256)
	}
	return o.program, o.err
}

// Name returns the program's name in tables.
func (p *Program) Name() string { return "program " + p.File }
