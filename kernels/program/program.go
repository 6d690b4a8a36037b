// Package program runs programs of the user's own on a device as heddle's kernels run: it hands them a graph,
// parameters and arrays through a block of words, launches what the workload says, and checks what came out.
//
// What the host does is workload.host of an experiment; what a program is handed is in docs/guide/programs.md.
package program

import (
	"context"
	"fmt"
	"sync"

	"heddle/isa"
	"heddle/kernels/algorithm"
	"heddle/kernels/workload"
)

// Program is a program with what its host does.
type Program struct {
	*Host
	File   string
	SHA256 string     // of what is loaded
	Lines  *isa.Lines // that instructions come from; nil: the file does not say
	image  *isa.Program
	expect []float64            // of check_file; nil: there is none
	check  *algorithm.Algorithm // nil: there is none
}

// Open reads, assembles or compiles a workload's program, and checks all that does not depend on the graph. An error
// names the key of workload that is wrong.
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
		return nil, refuse("host.sha256", "%s is %s: expected %s: the program, its compiler or what goes into its block has changed", w.Program, p.SHA256, want)
	}
	return p, nil
}

// Cache opens each program once. It may be used by several goroutines.
type Cache struct {
	mu    sync.Mutex
	known map[string]*opened
}

type opened struct {
	once    sync.Once
	program *Program
	err     error
}

// Open is Open, once for each program and host: what is on disk is looked at when it is first asked for.
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

// Name is the program's name in tables.
func (p *Program) Name() string { return "program " + p.File }
