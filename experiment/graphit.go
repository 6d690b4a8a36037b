package experiment

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"heddle/configs/schema"
	"heddle/experiment/config"
	"heddle/graph"
	"heddle/graphit"
	"heddle/graphit/graphir"
	"heddle/graphit/lower"
	graphits "heddle/graphit/programs"
	"heddle/internal/files"
	"heddle/kernels/compose"
	"heddle/kernels/host"
	"heddle/kernels/program"
	"heddle/kernels/workload"
	"heddle/sim/stats"
)

// programs are those that an experiment's points run, as they were when they were first asked for.
type programs struct {
	program.Cache

	mu      sync.Mutex
	sources map[string]source // of GraphIt
}

// source is a file's text.
type source struct {
	text []byte
	err  error
}

// text reads a file of GraphIt, once.
func (p *programs) text(file string, shipped bool) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, known := p.sources[file]
	if !known {
		if s.text, s.err = readGraphIt(file, shipped); p.sources == nil {
			p.sources = map[string]source{}
		}
		p.sources[file] = s
	}
	return s.text, s.err
}

// readGraphIt reads a program that is shipped by its name alone, else a file. A name that could be either is refused.
func readGraphIt(file string, shipped bool) ([]byte, error) {
	_, err := os.Stat(file)
	if name := strings.TrimSuffix(file, workload.GraphItSuffix); shipped && slices.Contains(graphits.Names(), name) {
		if err == nil {
			return nil, fmt.Errorf("%s: heddle ships a program of that name, and here is a file: write ./%s for the file, or run where there is none for the other", file, file)
		}
		return graphits.Source(name)
	}
	if errors.Is(err, fs.ErrNotExist) && shipped {
		return nil, fmt.Errorf("%s: no such file, and none of the programs that are shipped: %s", file, strings.Join(graphits.Names(), ", "))
	}
	return files.Read(file, graphit.MaxBytes)
}

// inKey blames a key of workload.
func inKey(key string, err error) error {
	if err == nil || errors.As(err, new(*compose.KeyError)) {
		return err
	}
	return &compose.KeyError{Key: "workload." + key, Msg: ": " + err.Error()}
}

// graphIt is a GraphIt program with the schedule that a workload gives it.
type graphIt struct {
	file     *graphit.File
	schedule *graphit.Schedule // nil: the program's own
	sha256   string            // of its text, and schedule_file's
}

// graphIt reads a workload's program and schedules, and checks what does not depend on the graph. What it returns is
// the caller's own.
func (p *programs) graphIt(w *workload.Workload) (g graphIt, err error) {
	text, err := p.text(w.Program, true)
	if err == nil {
		if g.file, err = graphit.Parse(w.Program, text); err == nil {
			err = graphit.Check(g.file)
		}
	}
	if err != nil {
		return g, inKey("program", err)
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%d\n%s", len(text), text)
	g.schedule = g.file.Schedule
	if w.ScheduleFile != "" {
		if text, err = p.text(w.ScheduleFile, false); err == nil {
			g.schedule, err = graphit.ParseSchedule(w.ScheduleFile, text)
		}
		if err != nil {
			return g, inKey("schedule_file", err)
		}
		sum.Write(text)
	}
	g.sha256 = fmt.Sprintf("%x", sum.Sum(nil))
	if want := w.Host.SHA256; want != "" && want != g.sha256 {
		return g, inKey("host.sha256", fmt.Errorf("%s is %s: expected %s: the program, or its schedule, has changed", w.Program, g.sha256, want))
	}
	return g, g.label(w)
}

// label gives labels the schedules of workload.schedules.
func (g *graphIt) label(w *workload.Workload) error {
	labels, err := graphit.ParseLabels([]byte(w.Schedules))
	if err != nil {
		return inKey("schedules", err)
	}
	if len(labels.GPU) == 0 {
		return nil
	}
	if _, err := lower.Build(g.file, labels, w.Float); err != nil {
		var wrong *graphit.Error
		if errors.As(err, &wrong) && wrong.File == labels.File {
			return inKey("schedules", errors.New(wrong.Msg))
		}
		return inKey("program", err)
	}
	g.schedule = g.schedule.With(labels)
	return nil
}

// options are those of its runs.
func (g *graphIt) options(w *workload.Workload) lower.Options {
	const graphArgument = "graph" // the program knows it as load(argv[1])
	return lower.Options{
		Args: append([]string{w.Program, graphArgument}, w.Arguments...), Float: w.Float, Workload: *w, Schedule: g.schedule, MaxSteps: w.Iterations,
	}
}

// firstArgument is the number of the first argument behind the program's name and the graph's.
const firstArgument = 2

// checkGraphIt refuses programs that cannot be run, and writes down which it is.
func checkGraphIt(e *config.Experiment, programs *programs) error {
	w := &e.Workload
	if err := lower.CheckWorkload(w); err != nil {
		return err
	}
	own, theirs := w.Host, workload.HostProgram{SHA256: w.Host.SHA256}
	for _, d := range hostSchema.Diff(defaultHost(theirs.SHA256), own) {
		return &compose.KeyError{Key: "workload.host." + d.Key, Msg: fmt.Sprintf(" = %s: %s is its own host program: expected the default, %s", d.B, w.Program, d.A)}
	}
	g, err := programs.graphIt(w)
	if err != nil {
		return err
	}
	if n, at := g.file.LastArgument(); n >= len(w.Arguments)+firstArgument {
		return inKey("arguments", fmt.Errorf("%s:%d:%d asks for argv[%d]: expected %d arguments, found %d", w.Program, at.Line, at.Column, n, n+1-firstArgument, len(w.Arguments)))
	}
	built, err := lower.Build(g.file, g.schedule, w.Float)
	if err != nil {
		key := "program"
		if w.ScheduleFile != "" {
			key = "schedule_file"
		}
		return inKey(key, err)
	}
	w.Host.SHA256 = g.sha256
	return checkFusedLoops(e, built)
}

// checkFusedLoops refuses to have a part of a run count, or be simulated, in which a loop is one launch.
func checkFusedLoops(e *config.Experiment, p *graphir.Program) error {
	switch path := p.FusedLoop(); {
	case path == "":
	case !e.Region.Whole():
		return fmt.Errorf("region: the loop %s of %s is one launch by its schedule's configKernelFusion, and counts as a whole: "+
			"expected no region, or kernel_fusion: DISABLED for it", path, e.Workload.Program)
	case e.Sample.On():
		return fmt.Errorf("sample.period: intervals are chosen within launches, and the loop %s of %s is one by its schedule's "+
			"configKernelFusion: expected 0, or kernel_fusion: DISABLED for it", path, e.Workload.Program)
	}
	return nil
}

var hostSchema = schema.New[workload.HostProgram]("")

// defaultHost has all keys but one at their defaults.
func defaultHost(sha256 string) workload.HostProgram {
	h := hostSchema.Default()
	h.SHA256 = sha256
	return h
}

// rehearseGraphIt does what a run does before its first launch.
func (v *vetting) rehearseGraphIt(ctx context.Context, d *host.Rehearsal, g *graph.Graph, p *Point) (compose.Memory, error) {
	w := p.Config.Workload
	own, err := p.programs.graphIt(&w)
	if err != nil {
		return compose.Memory{}, err
	}
	return lower.Rehearse(ctx, d, g, own.file, own.options(&w), !asksGraph(&p.Config))
}

// graphIt runs a GraphIt program, and books what is of the region.
func (r *result) graphIt(ctx context.Context, d *counted, g *graph.Graph, w *workload.Workload, programs *programs) error {
	p, err := programs.graphIt(w)
	if err != nil {
		return err
	}
	res, err := lower.Run(ctx, d, g, p.file, p.options(w))
	r.bookSession(graphItKernel, res.Launched, res.Steps)
	r.layout, r.verified = res.Layout, res.Verified
	return err
}

// graphItKernel begins the names by which launches of a GraphIt program are booked: of gathers gt/LABEL/gather-push,
// and of operators over vertices gt/NAME.
const graphItKernel = "gt/"

// bookSession books launches of a program whose host side is not compose's, by names that begin alike.
func (r *result) bookSession(begin string, launched []compose.Launched, steps int) {
	r.ran = steps
	var counted []compose.Step
	inRegion := map[int]bool{}
	for i := range launched {
		l := &launched[i]
		var seen stats.Tree
		if l.Traversal != nil {
			seen = software([]compose.Step{*l.Traversal})
		}
		r.step(l.Step, begin+l.Kernel, &l.Result, seen...)
		if !inside(r.region, l.Step) {
			continue
		}
		if l.Traversal != nil {
			counted = append(counted, *l.Traversal)
		}
		inRegion[l.Step] = true
	}
	delete(inRegion, initStep)
	r.superSteps = len(inRegion)
	r.software = withSource(software(counted), 0)
}

// kernelOf is which of heddle's own kernels a launch of a session is like.
func kernelOf(name string) string {
	_, name, _ = strings.Cut(name, "/")
	_, last, edges := strings.Cut(name, "/")
	if !edges {
		return applyKernel
	}
	kernel, _, _ := strings.Cut(last, "-")
	return kernel
}

// noGraphIt refuses keys of GraphIt programs beside another workload.
func noGraphIt(w *workload.Workload) error {
	for _, k := range []struct {
		key   string
		given bool
	}{
		{"arguments", len(w.Arguments) > 0}, {"schedule_file", w.ScheduleFile != ""}, {"schedules", w.Schedules != "{}"}, {"float", w.Float},
	} {
		if k.given {
			return &compose.KeyError{Key: "workload." + k.key, Msg: fmt.Sprintf(": it is for GraphIt programs (%s), and workload.program is %s: expected its default", workload.GraphItSuffix, w.Program)}
		}
	}
	return nil
}

// GraphIt is the GraphIt program of an experiment without axes, and how it runs, for those who search its schedules.
func GraphIt(e *config.Experiment) (*graphit.File, lower.Options, error) {
	if err := checkGraphIt(e, &programs{}); err != nil {
		return nil, lower.Options{}, err
	}
	g, err := (&programs{}).graphIt(&e.Workload)
	if err != nil {
		return nil, lower.Options{}, err
	}
	return g.file, g.options(&e.Workload), nil
}

// notFused names loops that stay the host's though their schedule has them be one launch, each reason once.
func notFused(points []Point) (notes []string) {
	for i := range points {
		p := &points[i]
		w := &p.Config.Workload
		if !w.IsGraphIt() {
			continue
		}
		loops, err := p.loops()
		if err != nil { // the run says it
			continue
		}
		for _, l := range loops {
			if !l.Fused || l.Refused == nil {
				continue
			}
			note := fmt.Sprintf("configKernelFusion: the loop %s of %s stays the host's, and every operator a launch: %v",
				l.Path, w.Program, l.Refused)
			if !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	return notes
}

// loops are those of a point's program.
func (p *Point) loops() ([]lower.Loop, error) {
	g, err := p.programs.graphIt(&p.Config.Workload)
	if err != nil {
		return nil, err
	}
	d, err := host.NewRehearsal(&p.Config.Machine)
	if err != nil {
		return nil, err
	}
	return lower.Loops(g.file, g.options(&p.Config.Workload), graph.IntWeights, d.Shape())
}
