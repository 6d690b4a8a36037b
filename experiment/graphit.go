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
)

// programs caches the programs that an experiment's points run. Each file is read once, so that all points run the same
// text even if the file changes meanwhile.
type programs struct {
	program.Cache

	mu      sync.Mutex
	sources map[string]source // GraphIt files by name
}

// source is the text of a file, or the error of reading it.
type source struct {
	text []byte
	err  error
}

// text returns the text of a GraphIt file.
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

// readGraphIt reads a shipped program by its bare name, or a file. A name that fits both is an error.
func readGraphIt(file string, shipped bool) ([]byte, error) {
	_, err := os.Stat(file)
	if name := strings.TrimSuffix(file, workload.GraphItSuffix); shipped && slices.Contains(graphits.Names(), name) {
		if err == nil {
			return nil, fmt.Errorf("%s: heddle ships a program of that name, and here is a file: write ./%s for the "+
				"file, or run where there is none for the other", file, file)
		}
		return graphits.Source(name)
	}
	if errors.Is(err, fs.ErrNotExist) && shipped {
		return nil, fmt.Errorf("%s: no such file, and none of the programs that are shipped: %s", file,
			strings.Join(graphits.Names(), ", "))
	}
	return files.Read(file, graphit.MaxBytes)
}

// inKey attributes an error to a key of workload, unless it names a key already.
func inKey(key string, err error) error {
	if err == nil || errors.As(err, new(*compose.KeyError)) {
		return err
	}
	return &compose.KeyError{Key: "workload." + key, Msg: ": " + err.Error()}
}

// graphIt is a GraphIt program with the schedule of a workload.
type graphIt struct {
	file     *graphit.File
	schedule *graphit.Schedule // nil: as in the program
	sha256   string            // of the program's text and that of workload.graphit.schedule_file
}

// graphIt parses a workload's program and schedules, and checks everything that does not depend on the graph. The
// caller may change the result, which is not shared.
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
			return g, inKey("graphit.schedule_file", err)
		}
		sum.Write(text)
	}
	g.sha256 = fmt.Sprintf("%x", sum.Sum(nil))
	if want := w.Host.SHA256; want != "" && want != g.sha256 {
		return g, inKey("host.sha256", fmt.Errorf("%s is %s: expected %s: the program, or its schedule, has changed",
			w.Program, g.sha256, want))
	}
	return g, g.label(w)
}

// label applies the schedules of workload.graphit.schedules to their labels.
func (g *graphIt) label(w *workload.Workload) error {
	labels, err := graphit.ParseLabels([]byte(w.Schedules))
	if err != nil {
		return inKey("graphit.schedules", err)
	}
	if len(labels.GPU)+len(labels.Swarm) == 0 {
		return nil
	}
	if _, err := lower.Build(g.file, labels, w.Float); err != nil {
		var wrong *graphit.Error
		if errors.As(err, &wrong) && wrong.File == labels.File {
			return inKey("graphit.schedules", errors.New(wrong.Msg))
		}
		return inKey("program", err)
	}
	g.schedule = g.schedule.With(labels)
	return nil
}

// options returns the options of a run.
func (g *graphIt) options(w *workload.Workload) lower.Options {
	const graphArgument = "graph" // read by the program as load(argv[1])
	return lower.Options{
		Args: append([]string{w.Program, graphArgument}, w.Arguments...), Float: w.Float, Workload: *w,
		Schedule: g.schedule, MaxSteps: w.Iterations,
	}
}

// firstArgument is the index in argv of the first of workload.graphit.arguments, after the names of program and graph.
const firstArgument = 2

// graphItWork runs a GraphIt program.
type graphItWork struct{ base }

func (p graphItWork) label() string    { return "program " + p.workload().Program }
func (p graphItWork) identity() string { return p.workload().Host.SHA256 }
func (p graphItWork) costKey() string  { return programCostKey(p.workload()) }

func (p graphItWork) check() (string, error) {
	w := p.workload()
	if err := lower.CheckWorkload(w); err != nil {
		return "", err
	}
	var given []string
	for _, d := range hostSchema.Diff(defaultHost(w.Host.SHA256), w.Host) {
		given = append(given, d.Key)
	}
	if err := groupRefused("workload.host", given, w.Program+" is its own host program"); err != nil {
		return "", err
	}
	g, err := p.programs.graphIt(w)
	if err != nil {
		return "", err
	}
	if n, at := g.file.LastArgument(); n >= len(w.Arguments)+firstArgument {
		return "", inKey("graphit.arguments", fmt.Errorf("%s:%d:%d asks for argv[%d]: expected %d arguments, found %d",
			w.Program, at.Line, at.Column, n, n+1-firstArgument, len(w.Arguments)))
	}
	if _, err = g.build(w); err == nil && p.e.Machine.Swarm == nil {
		err = g.unread(w)
	}
	return g.sha256, err
}

// unread returns the error of a key that no operator of the program reads, which a comparison may then leave out. Other
// errors depend on the graph and the machine, and are for the rehearsal.
func (g *graphIt) unread(w *workload.Workload) error {
	_, err := lower.Plans(g.file, g.options(w), graph.IntWeights)
	if _, unused := compose.Unused(err); unused {
		return inKey("program", err)
	}
	return nil
}

// build lowers the program to GraphIR.
func (g *graphIt) build(w *workload.Workload) (*graphir.Program, error) {
	built, err := lower.Build(g.file, g.schedule, w.Float)
	if err != nil {
		key := "program"
		if w.ScheduleFile != "" {
			key = "graphit.schedule_file"
		}
		return nil, inKey(key, err)
	}
	return built, nil
}

// limits: a loop that is fused into one launch has no boundaries at which a region or a recorded launch could begin.
func (p graphItWork) limits() (limits, error) {
	w := p.workload()
	l := limits{export: keyError("workload.program", ": is a program already: expected heddle")}
	g, err := p.programs.graphIt(w)
	if err != nil {
		return l, err
	}
	built, err := g.build(w)
	if err != nil {
		return l, err
	}
	if path := built.FusedLoop(); path != "" {
		key, _ := p.e.Sample.Key()
		l.region = keyError("region", ": the loop %s of %s is one launch by its schedule's configKernelFusion, and "+
			"counts as a whole: expected no region, or kernel_fusion: DISABLED for it", path, w.Program)
		l.sample = keyError(key, ": cannot be sampled: parts are chosen among launches and within them, and the loop %s "+
			"of %s is one by its schedule's configKernelFusion: expected 0, or kernel_fusion: DISABLED for it",
			path, w.Program)
		l.record = keyError("workload.graphit.schedules",
			": a trace is of a run whose kernels the host launches, and the loop %s of %s "+
				"is one launch by configKernelFusion: expected kernel_fusion: DISABLED for it", path, w.Program)
	}
	return l, nil
}

// graph: arguments may be vertices, which must exist in the graph.
func (p graphItWork) graph() graphUse {
	if p.e.Graph.File != "" || len(p.workload().Arguments) > 0 {
		return thisGraph
	}
	return anyGraph
}

func (p graphItWork) superSteps() uint64 { return uint64(max(1, p.workload().Iterations)) }

func (p graphItWork) began(uint64) (what, advice string) { return "the run", "the program's arguments" }

func (p graphItWork) rehearse(
	ctx context.Context, _ *vetting, d *host.Rehearsal, g *graph.Graph,
) (compose.Memory, error) {
	own, err := p.programs.graphIt(p.workload())
	if err != nil {
		return compose.Memory{}, err
	}
	return lower.Rehearse(ctx, d, g, own.file, own.options(p.workload()), p.graph() != thisGraph)
}

func (p graphItWork) run(ctx context.Context, d *counted, g *graph.Graph) (workResult, error) {
	own, err := p.programs.graphIt(p.workload())
	if err != nil {
		return workResult{}, err
	}
	res, err := lower.Run(ctx, d, g, own.file, own.options(p.workload()))
	seen := traversalStatistics
	if p.e.Machine.Swarm != nil { // no host sees the sets of its rounds
		seen = balanceStatistics
	}
	return workResult{
		launched: res.Launched, prefix: graphItKernel, steps: res.Steps, seen: seen, layout: res.Layout,
		verified: res.Verified,
	}, err
}

// notes names the loops that the host runs although their schedule asks for fusion. An error is left to the run.
func (p graphItWork) notes() (notes []string) {
	loops, err := p.loops()
	if err != nil {
		return nil
	}
	for _, l := range loops {
		if l.Fused && l.Refused != nil {
			notes = append(notes, fmt.Sprintf(
				"configKernelFusion: the loop %s of %s stays the host's, and every operator a launch: %v",
				l.Path, p.workload().Program, l.Refused))
		}
	}
	return notes
}

// loops returns the loops of the program that could be fused.
func (p graphItWork) loops() ([]lower.Loop, error) {
	g, err := p.programs.graphIt(p.workload())
	if err != nil {
		return nil, err
	}
	d, err := host.NewRehearsal(&p.e.Machine)
	if err != nil {
		return nil, err
	}
	return lower.Loops(g.file, g.options(p.workload()), graph.IntWeights, d.Shape())
}

var hostSchema = schema.New[workload.HostProgram]("")

// defaultHost returns the default of workload.host with sha256 set.
func defaultHost(sha256 string) workload.HostProgram {
	h := hostSchema.Default()
	h.SHA256 = sha256
	return h
}

// graphItKernel is the prefix under which launches of a GraphIt program are recorded: gt/LABEL/gather-push for edge
// operators, gt/NAME for vertex operators.
const graphItKernel = "gt/"

// kernelOf maps the stored name of an operator's launch (PREFIX/LABEL/KERNEL-DIRECTION or PREFIX/NAME) to the kind of
// kernel.
func kernelOf(name string) string {
	_, name, _ = strings.Cut(name, "/")
	_, last, edges := strings.Cut(name, "/")
	if !edges {
		return compose.KernelApply
	}
	kernel, _, _ := strings.Cut(last, "-")
	return kernel
}

// noGraphIt returns an error for keys of GraphIt programs beside another kind of workload.
func noGraphIt(w *workload.Workload) error {
	var given []string
	for _, k := range []struct {
		key   string
		given bool
	}{
		{"arguments", len(w.Arguments) > 0},
		{"schedule_file", w.ScheduleFile != ""},
		{"schedules", w.Schedules != "{}"},
		{"float", w.Float},
	} {
		if k.given {
			given = append(given, k.key)
		}
	}
	return groupRefused("workload.graphit", given, fmt.Sprintf("it is for GraphIt programs (%s), and workload.program "+
		"is %s",
		workload.GraphItSuffix, w.Program))
}

// GraphIt returns the GraphIt program of an experiment without axes, and the options of its runs, for a search over its
// schedules.
func GraphIt(e *config.Experiment) (*graphit.File, lower.Options, error) {
	all := &programs{}
	if err := checkWork(e, all); err != nil {
		return nil, lower.Options{}, err
	}
	g, err := all.graphIt(&e.Workload)
	if err != nil {
		return nil, lower.Options{}, err
	}
	return g.file, g.options(&e.Workload), nil
}
