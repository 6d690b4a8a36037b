package experiment

import (
	"context"
	"errors"
	"fmt"

	"heddle/configs"
	"heddle/graph"
	"heddle/isa"
	"heddle/kernels/host"
	"heddle/sim"
	"heddle/sim/stats"
	"heddle/traces"
)

// Record simulates a point as Run does, and writes a trace of the instructions that its warps execute. Without a
// verified result it leaves no file.
func (r *Runner) Record(ctx context.Context, i int, path, version string) (Outcome, error) {
	cfg := &r.Points[i].Config
	l, err := r.Points[i].work().limits()
	if err != nil {
		return Outcome{}, err
	}
	if l.record != nil {
		return Outcome{}, l.record
	}
	if !cfg.Region.Whole() || cfg.Stop.MaxEdges > 0 || cfg.Sample.On() {
		return Outcome{}, errors.New("a run is recorded as a whole: expected no region, no stop.max_edges and no " +
			"sample")
	}
	g, release, err := r.graphs.get(ctx, cfg.Graph)
	if err != nil {
		return Outcome{}, err
	}
	defer release()
	rec, err := traces.NewRecorder(path, r.aboutPoint(i, g, version))
	if err != nil {
		return Outcome{}, err
	}
	whole := false
	defer func() {
		if !whole {
			rec.Abort() //nolint:errcheck // the error that ended the run is returned
		}
	}()
	o := r.execute(ctx, i, g, rec)
	if whole = o.Err == nil; !whole {
		return o, o.Err
	}
	return o, rec.Close()
}

// aboutPoint returns the part of a trace's header that is known before the run.
func (r *Runner) aboutPoint(i int, g *graph.Graph, version string) traces.Meta {
	cfg := &r.Points[i].Config
	about := aboutGraph(g)
	return traces.Meta{
		Heddle: version, Experiment: cfg.Name, Config: r.Points[i].YAML(),
		Machine: string(configs.Schema.YAML(cfg.Machine)), Shape: shapeOf(&cfg.Machine),
		Graph: &traces.Graph{Hash: g.Hash(), Source: about.Source, Vertices: about.Vertices, Edges: about.Edges,
			MaxInDegree: about.MaxInDegree},
		Overhead: uint64(cfg.Workload.LaunchOverhead), StepCycles: uint64(cfg.Workload.StepOverhead),
	}
}

func shapeOf(m *configs.Machine) traces.Shape {
	return traces.Shape{Cores: m.Sockets * m.CoresPerSocket, Warps: m.Core.Warps, Threads: m.Core.Threads}
}

// recordingDevice writes its launches to a trace.
type recordingDevice struct {
	*host.Timed
	to *traces.Recorder
}

// Launch runs a program and records it.
func (d recordingDevice) Launch(ctx context.Context, p *isa.Program, arg uint32) (sim.Result, error) {
	d.to.Begin(p, arg)
	res, err := d.Timed.Launch(ctx, p, arg)
	if err == nil {
		err = d.to.End(d.Machine, res)
	}
	return res, err
}

// describeRun adds the host's view of the launches to the header of a trace. Launches and recorded steps correspond one
// to one.
func (r *result) describeRun(m *traces.Meta) {
	if len(m.Launches) != len(r.records) {
		panic(fmt.Sprintf("BUG: experiment: %d launches, and %d in steps", len(m.Launches), len(r.records)))
	}
	m.Steps = r.superSteps
	machines := len(new(sim.Result).Statistics())
	for i := range m.Launches {
		l, s := &m.Launches[i], &r.records[i]
		if l.Kernel, l.Step = s.Kernel, s.Step; l.Cycles != s.Cycles {
			panic(fmt.Sprintf("BUG: experiment: launch %d took %d cycles, and the super-step says %d", i, l.Cycles,
				s.Cycles))
		}
		l.Software = recordStatistics(s.Stats[machines:])
	}
	m.Software = recordStatistics(r.software)
	for _, a := range r.layout {
		m.Layout = append(m.Layout, traces.Region{Name: a.Name, Addr: a.Addr, Bytes: a.Size})
	}
}

func recordStatistics(t stats.Tree) (out []traces.Statistic) {
	for _, s := range t {
		x := traces.Statistic{Name: s.Name, Unit: s.Unit, Doc: s.Doc}
		n, counted := s.Uint()
		if x.Count = n; !counted {
			f := s.Float()
			x.Count, x.Ratio = 0, &f
		}
		out = append(out, x)
	}
	return out
}

func recordedStatistics(list []traces.Statistic) (t stats.Tree) {
	for _, s := range list {
		if s.Ratio != nil {
			t = append(t, stats.Ratio(s.Name, s.Unit, s.Doc, *s.Ratio, 1))
		} else {
			t = append(t, stats.Count(s.Name, s.Unit, s.Doc, s.Count))
		}
	}
	return t
}
