package experiment

import (
	"context"
	"errors"
	"fmt"

	"heddle/configs"
	"heddle/graph"
	"heddle/sim"
	"heddle/sim/stats"
	"heddle/traces"
)

// Verdicts on replayed traces (Outcome.Replay): on the machine of the recording, on another one, and on another one
// where the executed instructions may have depended on the machine.
const (
	Replayed       = "replayed"
	ReplayedOther  = "replayed, other machine"
	ReplayedRetime = "replayed, recorded assignment re-timed"
)

// verdict classifies a replay, by the machine and by the answers of its graph units that differ from the recording.
func verdict(m *traces.Meta, machine configs.Machine, p *traces.Replayer) string {
	same := m.Machine == string(configs.Schema.YAML(machine))
	switch {
	case p.Others > 0:
		return fmt.Sprintf("%s (%d of %d answers of the graph units are others)", ReplayedRetime, p.Others, p.Answers)
	case same:
		return Replayed
	case len(m.Timing) > 0:
		return ReplayedRetime
	}
	return ReplayedOther
}

// traceReplay replays a trace.
type traceReplay struct{ base }

func (t traceReplay) label() string   { return "trace " + t.workload().Trace }
func (t traceReplay) graph() graphUse { return noGraph }

// costKey: the edges of a trace are known exactly, so its rate applies to no other.
func (t traceReplay) costKey() string { return t.label() }

// limits: a trace is replayed as a whole. The configuration refuses sampling beside it.
func (t traceReplay) limits() (limits, error) {
	whole := keyError("workload.trace", ": a trace is replayed as a whole: expected no region and no stop.max_edges")
	return limits{
		region: whole, stop: whole, tune: errSearched,
		record: keyError("workload.trace", ": is a trace already: only executions are recorded"),
		export: keyError("workload.trace", ": is a recording of kernels: expected an experiment that composes them"),
	}, nil
}

// check returns an error for a trace that cannot be read, or not be replayed on the point's machine.
func (t traceReplay) check() (string, error) {
	f, err := traces.Open(t.workload().Trace)
	if err != nil {
		return "", fmt.Errorf("workload.trace: %w", err)
	}
	defer f.Close() //nolint:errcheck // read only
	if _, err := traces.NewReplayer(f, shapeOf(&t.e.Machine)); err != nil {
		return "", fmt.Errorf("workload.trace: %w", err)
	}
	return "", nil
}

// replay replays the trace of a point on its machine.
func (r *Runner) replay(ctx context.Context, i int) (o Outcome) {
	cfg := &r.Points[i].Config
	if _, err := r.graphs.trace(cfg.Workload.Trace); err != nil {
		return Outcome{Err: err}
	}
	f, err := traces.Open(cfg.Workload.Trace)
	if err != nil {
		return Outcome{Err: err}
	}
	defer f.Close() //nolint:errcheck // read only
	player, err := traces.NewReplayer(f, shapeOf(&cfg.Machine))
	if err != nil {
		return Outcome{Err: err}
	}
	r.Observer.Started(i, 0)
	opt := r.options(i)
	opt.Source = player.Source
	m, err := sim.New(cfg.Machine, opt)
	if err != nil {
		return Outcome{Err: err}
	}
	defer m.Close() //nolint:errcheck // nothing is left to be lost
	if err := errors.Join(r.watch(m), player.Attach(m)); err != nil {
		return Outcome{Err: err}
	}
	shown := r.monitor(ctx, i, 0, m)
	defer func() { shown.End(o.Err) }()
	m.BeginSamples()
	res, err := replayLaunches(ctx, m, player, &f.Meta, shown)
	o = Outcome{
		Cycles: res.times.Total(), Replay: verdict(&f.Meta, cfg.Machine, player), Err: err,
		Stats: stats.Pack(statistics(m.Statistics(), &res, "")), Steps: res.records,
		Samples: m.EndSamples(),
	}
	if o.Err == nil {
		o.Partial = stopped(res.software, res.superSteps)
		o.Err = checkCounted(&o, &res)
	}
	if o.Err == nil {
		o.Err = errors.Join(m.CheckInvariants(), CheckSteps(o.Stats.Tree(), o.Steps))
	}
	return o
}

// replayLaunches replays all launches; the host's statistics are those of the recording.
func replayLaunches(ctx context.Context, m *sim.Machine, player *traces.Replayer, about *traces.Meta,
	shown Monitored) (res result, err error) {
	for _, a := range about.Layout {
		res.layout = append(res.layout, graph.Region{Name: a.Name, Addr: a.Addr, Size: a.Bytes})
	}
	step := 0
	for i := range about.Launches {
		l := &about.Launches[i]
		shown.Step(l.Step)
		p, arg, err := player.Begin(i)
		if err != nil {
			return res, err
		}
		now, err := m.Launch(ctx, p, arg)
		res.times.Add(now, about.Overhead)
		if l.Step != step {
			step = l.Step
			res.times.Overhead += about.StepCycles
		}
		if err == nil {
			err = player.End()
		}
		if err != nil {
			return res, err
		}
		res.step(l.Step, l.Kernel, &now, recordedStatistics(l.Software)...)
	}
	res.superSteps, res.software = about.Steps, recordedStatistics(about.Software)
	return res, nil
}

// aboutTrace describes the graph that a trace was recorded on.
func aboutTrace(f *traces.File) GraphSummary {
	s := GraphSummary{Source: fmt.Sprintf("trace %s", f.Path())}
	if g := f.Meta.Graph; g != nil {
		s = GraphSummary{Source: fmt.Sprintf("trace %s of %s", f.Path(), g.Source), Vertices: g.Vertices,
			Edges: g.Edges, MaxInDegree: g.MaxInDegree}
	}
	return s
}
