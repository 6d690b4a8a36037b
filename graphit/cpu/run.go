package cpu

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"heddle/graph"
	"heddle/graphit"
	"heddle/graphit/eval"
	"heddle/graphit/graphir"
)

// Options configure a run of a program.
type Options struct {
	Args     []string // argv, from the program's name on
	Output   io.Writer
	Float    bool              // double is computed as float
	Schedule *graphit.Schedule // in place of the program's own
	Threads  int               // processors
	MaxSteps int               // traversals of edges at most; 0: any number
	Repeat   int               // times to run, to measure; 0: once
	NoCheck  bool              // nothing is compared

	race   bool                   // of tests: with Go's race detector
	mutate func(*graphir.Program) // for tests: modifies the passes' results
}

// Result is the result of a run.
type Result struct {
	Program *graphir.Program
	Vectors []Vector
	Summary string        // the program's own, with its time
	CPU     time.Duration // of all of the process

	Rounds uint64 // operators over edges, and buckets

	// Taken and Walked are numbers of vertices that loops over buckets have taken out, and of edges that they have walked.
	Taken, Walked uint64

	Verified bool
}

// Vector is a vector when the program has ended, floats as their bits.
type Vector struct {
	Var   *graphit.Var
	Words []uint32
}

// Build returns the GraphIR of a checked program for this backend.
func Build(f *graphit.File, s *graphit.Schedule) (*graphir.Program, error) {
	p, err := graphir.Build(f)
	if err != nil {
		return nil, err
	}
	p.Float, p.Narrow = true, true // the evaluator's bounds are a float's, which a double keeps
	if err := p.Run(s, nil); err != nil {
		return p, err
	}
	note := func(at graphit.Pos, format string, args ...any) {
		p.Notes = append(p.Notes, graphir.Note{Pos: at, Text: fmt.Sprintf(format, args...)})
	}
	if p.Structs != nil {
		p.Notes = append(p.Notes, graphir.Note{Pos: p.Structs[0][0].Pos, Program: true,
			Text: "fuseFields: vectors are arrays of their own on the host's processors"})
	}
	p.Visit(func(s graphir.Stmt) {
		if path, loop := graphir.FusionOf(s); loop != nil && loop.NeedsFusion {
			note(loop.Fused, "configKernelFusion: %s is a loop of the program, which has no launches", path)
		}
	})
	for _, op := range p.Edges {
		if op.Segments != nil && (!op.Segmented() || op.Given["direction"] && op.Direction == graphir.Push) {
			note(op.Pos, "configApplyNumSSG: %s is no pull of all edges without filters and output: its edges stay together",
				op.Name)
		}
		if op.Blocking != nil {
			note(op.Pos, "configLoadBalance: BLOCKED has no meaning on a CPU: %s goes through its edges row by row",
				op.Name)
		}
		if op.Given["deduplication"] && !op.ApplyDeduplication && op.Output == graphir.Modified {
			note(op.Pos, "configDeduplication: sets of %s have no vertex twice on a CPU", op.Name)
		}
	}
	return p, nil
}

// ErrNoToolchain is the error of a missing Go toolchain.
var ErrNoToolchain = errors.New("there is no Go toolchain, which compiles the program: expected go in PATH " +
	"(https://go.dev/dl), or heddle gt build --cpu, which writes the program for another host")

// Compile compiles a program that Generate has made.
func Compile(ctx context.Context, src []byte, to string) error { return compile(ctx, src, to, false) }

func compile(ctx context.Context, src []byte, to string, race bool) error {
	tool, err := exec.LookPath("go")
	if err != nil {
		return ErrNoToolchain
	}
	dir, err := os.MkdirTemp("", "heddle-gt-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "program.go")
	if err := os.WriteFile(file, src, 0o600); err != nil {
		return err
	}
	args := []string{"build", "-ldflags=-w", "-o", to} // debuggers have no use for it, and linking takes half as long
	if race {
		args = append(args, "-race")
	}
	c := exec.CommandContext(ctx, tool, append(args, file)...)
	c.Dir = dir
	// The file belongs to no module, and the user's settings for other builds must not affect it.
	c.Env = append(os.Environ(), "GO111MODULE=off", "GOFLAGS=", "GOWORK=off")
	if out, err := c.CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("go build of the generated program: %w\n%s", err, bytes.TrimSpace(out))
	}
	return nil
}

// Executable is a program that has been compiled.
type Executable struct {
	file string
	f    *graphit.File
	p    *graphir.Program
	o    Options // those that it has been compiled with
}

// Compiled compiles a program to an executable file. It uses the options that determine the computation, and the
// schedule.
func Compiled(ctx context.Context, f *graphit.File, o Options, to string) (*Executable, error) {
	p, err := Build(f, o.Schedule)
	if err != nil {
		return nil, err
	}
	if o.mutate != nil {
		o.mutate(p)
	}
	src, err := Generate(p, o.Float)
	if err != nil {
		return nil, err
	}
	return &Executable{to, f, p, o}, compile(ctx, src, to, o.race)
}

// Run compiles a program, runs it on the host's processors, and compares all of its vectors with the reference's.
func Run(ctx context.Context, g *graph.Graph, f *graphit.File, o Options) (r Result, err error) {
	dir, err := os.MkdirTemp("", "heddle-gt-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	x, err := Compiled(ctx, f, o, filepath.Join(dir, "program"))
	if err != nil {
		return r, err
	}
	return x.Run(ctx, g, o)
}

// Run runs a program that has been compiled, as Run does.
func (x *Executable) Run(ctx context.Context, g *graph.Graph, o Options) (r Result, err error) {
	r.Program = x.p
	dir, err := os.MkdirTemp("", "heddle-gt-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	if o.Args, err = eval.ArgumentsOn(g, x.f, x.o.Schedule, o.Args); err != nil {
		return r, err
	}
	input, output := filepath.Join(dir, "graph.hgr"), filepath.Join(dir, "result")
	if err := g.WriteFile(ctx, input); err != nil {
		return r, err
	}
	j, err := x.judge(ctx, g, o)
	if err != nil {
		return r, err
	}
	if err := r.execute(ctx, exec.CommandContext(ctx, x.file, flags(o, input, output)...), o.Output); err != nil {
		return r, err
	}
	kept, err := r.read(output)
	if err != nil || o.NoCheck {
		return r, err
	}
	err = j.compare(ctx, r.Vectors, kept)
	r.Verified = err == nil
	return r, err
}

// flags returns the command line of a compiled program.
func flags(o Options, input, output string) []string {
	args := []string{
		"-threads", strconv.Itoa(max(1, o.Threads)), "-max-steps", strconv.Itoa(o.MaxSteps), "-repeat",
		strconv.Itoa(max(1, o.Repeat)), "-result", output,
	}
	if len(o.Args) > 1 {
		args = append(args, "-name", o.Args[1])
	}
	args = append(args, input)
	if len(o.Args) > 2 {
		args = append(args, o.Args[2:]...)
	}
	return args
}

// judge compares a run's results with the reference's.
type judge struct {
	p   *graphir.Program
	g   *graph.Graph
	opt eval.Options
	ref *eval.Reference // nil: it has not run yet, since roundings decide about a filter
}

// judge runs the reference, unless nothing is checked: a program that it refuses does not run.
func (x *Executable) judge(ctx context.Context, g *graph.Graph, o Options) (*judge, error) {
	schedule := x.o.Schedule
	if schedule == nil {
		schedule = x.f.Schedule
	}
	p, err := Build(x.f, schedule.Unfused()) // the reference judges fusions
	if err != nil {
		return nil, err
	}
	if err := eval.Accepts(p, g); err != nil {
		return nil, err
	}
	j := &judge{p: p, g: g, opt: eval.Options{Args: o.Args, MaxSteps: o.MaxSteps}}
	if !o.NoCheck {
		j.ref, err = eval.Ahead(ctx, p, g, j.opt)
	}
	return j, err
}

// compare returns an error for vectors that differ from the reference's. kept are the vertices that the run's filters
// have kept.
func (j *judge) compare(ctx context.Context, vectors []Vector, kept []map[uint32]bool) (err error) {
	if j.ref == nil {
		if j.ref, err = eval.Evaluate(ctx, j.p, j.g, j.opt, eval.Kept(kept)); err != nil {
			return err
		}
	}
	for _, v := range vectors {
		if err := j.ref.Compare(v.Var, v.Words, nil); err != nil {
			return err
		}
	}
	return nil
}

var walked = regexp.MustCompile(`(\d+) vertices have been taken out of buckets, and (\d+) edges walked`)

func (r *Result) execute(ctx context.Context, c *exec.Cmd, output io.Writer) error {
	var log bytes.Buffer
	c.Stdout, c.Stderr = output, &log
	err := c.Run()
	r.Summary = strings.TrimPrefix(strings.TrimSpace(log.String()), "heddle: ")
	fmt.Sscan(r.Summary, &r.Rounds) //nolint:errcheck // 0, of a run that fails
	if m := walked.FindStringSubmatch(r.Summary); m != nil {
		r.Taken, _ = strconv.ParseUint(m[1], 10, 64) // digits, as are the others
		r.Walked, _ = strconv.ParseUint(m[2], 10, 64)
	}
	if c.ProcessState != nil {
		r.CPU = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, new(*exec.ExitError)):
		return errors.New(r.Summary)
	}
	return err
}

// read reads the vectors, and the filters' results.
func (r *Result) read(name string) (kept []map[uint32]bool, err error) {
	file, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	errShort := errors.New("BUG: the program's result is cut off")
	length := func() (n int, err error) {
		if len(file) < 8 {
			return 0, errShort
		}
		size := binary.LittleEndian.Uint64(file)
		file = file[8:]
		if size > uint64(len(file)) {
			return 0, errShort
		}
		return int(size), nil
	}
	list := func() (words []uint32, err error) {
		n, err := length()
		if err != nil || 4*n > len(file) {
			return nil, errors.Join(err, errShort)
		}
		words = make([]uint32, n)
		for i := range words {
			words[i] = binary.LittleEndian.Uint32(file[4*i:])
		}
		file = file[4*n:]
		return words, nil
	}
	for _, v := range r.Program.Vectors {
		words, err := list()
		if err != nil {
			return nil, err
		}
		r.Vectors = append(r.Vectors, Vector{v, words})
	}
	filters, err := length()
	if err != nil {
		return nil, err
	}
	for range filters {
		words, err := list()
		if err != nil {
			return nil, err
		}
		set := make(map[uint32]bool, len(words))
		for _, v := range words {
			set[v] = true
		}
		kept = append(kept, set)
	}
	return kept, nil
}
