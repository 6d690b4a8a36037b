package graphpeg

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
	"heddle/isa/emu"
)

// twin is a Circuit that is another Engine, with its outputs as a circuit has them, perhaps spoilt.
type twin struct {
	spec    Spec
	shape   Shape
	mem     Memory
	e       *Engine // nil: not running
	now     uint64
	spoil   func(*Outputs)
	resumed int
}

func (t *twin) Running() bool { return t.e != nil }

func (t *twin) begin() {
	if t.e == nil {
		t.e = NewEngine(t.spec, t.shape)
		t.e.UseMemory(t.mem)
	}
}

func (t *twin) Host(a *HostAct) error {
	if t.e == nil {
		t.resumed++
	}
	t.begin()
	l := &t.e.lists[a.List]
	switch a.Kind {
	case HostSetup:
		return t.e.Configure(a.Setup)
	case HostClear:
		t.e.forget()
	case HostPush:
		l.push(a.Word)
	case HostSpill:
		l.spill(t.mem)
	case HostSwap:
		t.e.lists[a.List], t.e.lists[a.Other] = t.e.lists[a.Other], t.e.lists[a.List]
	case HostLines:
		l.first, l.spilled = int(a.Word), int(a.Lines)
	}
	return nil
}

func (t *twin) Launch() error {
	t.begin()
	t.e.Launch()
	return nil
}

func (t *twin) Close() error {
	t.e = nil
	return nil
}

func (t *twin) Cycle(in *Inputs, out *Outputs) error {
	e := t.e
	t.now += in.Idle + 1
	if in.Forsaken && e.noMorePops == 0 {
		e.noMorePops = t.now
	}
	if in.Line != nil {
		e.Arrive(in.Tag)
	}
	if in.Command != nil {
		c := *in.Command
		if c.Epoch = e.exchange.epoch; in.Late {
			c.Epoch--
		}
		e.Command(c)
	}
	var head *emu.UnitRequest
	if in.Head != nil { // it answers with its own
		own := *in.Head
		own.Out = make([]uint32, len(own.Out))
		head = &own
	}
	step := e.Cycle(t.now, head, in.Room, in.Port)
	*out = Outputs{Took: step.Took, Answered: step.Answer != nil, Asked: step.HasRequest, Write: step.Request.Write,
		Addr: step.Request.Addr, ReadTag: step.Request.Tag, Inside: e.Inside()}
	if step.Err != nil || e.Err() != nil {
		out.Err = 1
	}
	if out.Answered {
		out.Tag = step.Answer.Tag
		copy(out.Data[:], step.Answer.Out)
	}
	for k := range e.line {
		out.Line = append(out.Line, t.mem.Load32(out.Addr+4*k))
	}
	if out.Told, out.Report = e.Report(); out.Report && in.Told {
		e.Reported()
	}
	if t.spoil != nil {
		t.spoil(out)
	}
	return nil
}

// withTwins lets twins decide.
func (g *rig) withTwins(spoil func(*Outputs)) (twins []*twin) {
	for _, c := range g.cores {
		shape := g.shape
		shape.Cores = 1
		t := &twin{spec: g.spec, shape: shape, mem: g.mem, spoil: spoil}
		c.e.circuit = &follower{circuit: t}
		twins = append(twins, t)
	}
	return twins
}

// noTLB are the keys of the TLB, of which there is no circuit.
var noTLB = []string{"tlb_entries", "tlb_page", "tlb_walk"}

// TestACircuitDecides: units around circuits, here other Go models, take and answer as others do, also where a circuit
// has to begin anew between launches.
func TestACircuitDecides(t *testing.T) {
	resumed, spilled := 0, false
	for seed := range testenv.Cases(t, 8, 60) {
		g := newRig(t, seed+500, 1+int(seed%3), noTLB...)
		twins := g.withTwins(nil)
		s := g.graph.setup(allFields, g.r.IntN(2) == 0)
		require.NoError(t, g.host.Configure(s))
		frontier := make([]uint32, g.r.IntN(100))
		for i := range frontier {
			frontier[i] = uint32(g.r.IntN(len(g.graph.offsets) - 1))
		}
		require.NoError(t, g.host.Fill(0, frontier, Block))
		for range 4 {
			before := g.sizes()
			before[s.In] = 0
			g.launch(s)
			require.NoError(t, g.fault, "seed %d", seed)
			g.expect(frontier, before)
			g.host.Swap(int(s.In), g.r.IntN(g.spec.VertexLists))
			if frontier = g.host.Read(int(s.In)); len(frontier) > 200 {
				break
			}
			for i, c := range g.cores {
				for k := range c.e.lists {
					spilled = spilled || c.e.lists[k].spilled > 0
				}
				if g.r.IntN(2) == 0 {
					require.NoError(t, twins[i].Close())
				}
			}
		}
		for _, w := range twins {
			resumed += w.resumed
		}
	}
	require.NotZero(t, resumed)
	require.True(t, spilled)
}

// TestACircuitIsWatched: outputs that the model does not have end the run.
func TestACircuitIsWatched(t *testing.T) {
	for says, spoil := range map[string]func(*Outputs) bool{
		"took_o = false":  func(o *Outputs) bool { is := o.Took; o.Took = false; return is },
		"err_o = 9":       func(o *Outputs) bool { o.Err = 9; return true },
		"rsp_valid_o":     func(o *Outputs) bool { o.Answered = !o.Answered; return true },
		"an answer to":    func(o *Outputs) bool { o.Tag++; return o.Answered },
		"rsp_data_o":      func(o *Outputs) bool { o.Data[0]++; return o.Answered },
		"req_valid_o":     func(o *Outputs) bool { o.Asked = !o.Asked; return true },
		"a request to 0x": func(o *Outputs) bool { o.Addr += 4; return o.Asked },
		"rep_valid_o":     func(o *Outputs) bool { o.Report = !o.Report; return true },
		"rep_o is":        func(o *Outputs) bool { o.Told.Edges++; return o.Report },
		"its state is":    func(o *Outputs) bool { o.Inside.EFS++; return true },
	} {
		g := newRig(t, 4, 1, noTLB...)
		done, r := false, rand.New(rand.NewPCG(1, 1))
		g.withTwins(func(o *Outputs) {
			if was := *o; !done && r.IntN(3) == 0 {
				if done = spoil(o); !done {
					*o = was
				}
			}
		})
		s := g.graph.setup(allFields, false)
		require.NoError(t, g.host.Configure(s))
		require.NoError(t, g.host.Fill(0, make([]uint32, 200), Block))
		g.launch(s)
		require.ErrorContains(t, g.fault, "the SystemVerilog: ", says)
		require.ErrorContains(t, g.fault, says)
	}
}

// TestModelsAreRefused where there is no circuit, or no SystemVerilog.
func TestModelsAreRefused(t *testing.T) {
	defer SetCircuits(newCircuit)
	SetCircuits(nil)
	s := DefaultSpec()
	s.Model = ModelRTL
	at := Shape{Cores: 1, Warps: 4, Threads: 4, LineBytes: 64}
	_, err := New("P", s.Derived(4, 6), at)
	require.ErrorContains(t, err, "core.graphpeg.model = rtl: this program has been built without")
	for policy, fits := range map[string]bool{"none": true, "ef": true, "vl": false, "ef+vl": false, "ideal": false} {
		key, msg, ok := s.FitsPolicy(policy)
		require.Equal(t, fits, ok, policy)
		if !ok {
			require.Equal(t, "model", key)
			require.Contains(t, msg, "ctrlproc.policy = "+policy)
		}
	}
	s.PopOrder = "arrival"
	key, msg, ok := s.Fits(4, 64)
	require.False(t, ok)
	require.Equal(t, "model", key)
	require.Equal(t, "rtl: pop_order = arrival: there is no SystemVerilog of it: expected ring", msg)
}
