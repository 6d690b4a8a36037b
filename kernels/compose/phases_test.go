package compose

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph"
	"heddle/isa"
	"heddle/kernels/codegen"
	"heddle/kernels/ir"
)

// TestEveryInstructionHasAPhase: but for the end, at which every program stores its exit
// code. Passes lose none, and code is the same with marks and without.
func TestEveryInstructionHasAPhase(t *testing.T) {
	const end = 6 // instructions
	for _, p := range share(t, legal, thinned(covering, 20), 0) {
		own := *p
		p = &own
		p.Weights = graph.IntWeights
		ks, err := p.Build(coreOf(functional(t, p).Shape()))
		require.NoError(t, err)
		for _, k := range ks.All() {
			c := compile(t, k)
			at := c.Program.Entry
			for _, r := range c.Phases {
				require.Equal(t, at, r.From, "%s, %s: an instruction of no phase", p.Name(), k.Name)
				at = r.To
			}
			require.Equal(t, c.Program.Entry+uint32(c.Stats.Instrs-end)*4, at, "%s, %s", p.Name(), k.Name)

			bare := k.Clone()
			bare.Body.Walk(func(i *ir.Instr) { i.Phase = isa.PhaseOther })
			require.Equal(t, c.Program.Segments, compile(t, bare).Program.Segments, "%s, %s", p.Name(), k.Name)
		}
	}
}

func compile(t *testing.T, k *ir.Kernel) *codegen.Compiled {
	c, err := codegen.Compile(k, codegen.Options{})
	require.NoError(t, err)
	return c
}

// TestPhasesOfSchedules: where an instruction is that shows the phase.
func TestPhasesOfSchedules(t *testing.T) {
	for schedule, in := range map[string]map[string]isa.Phase{
		"vertex": {"amofadd.w": isa.PhaseGatherSum, "heddle.edge": isa.PhaseGatherSum}, // its ends are known by then
		"edge":   {"amofadd.w": isa.PhaseGatherSum, "heddle.edge": isa.PhaseEdgeAccess},
		"warp":   {"amofadd.w": isa.PhaseGatherSum, "heddle.edge": isa.PhaseEdgeAccess, "shfl.up": isa.PhaseRegistration},
		"cta":    {"amofadd.w": isa.PhaseGatherSum, "heddle.edge": isa.PhaseEdgeAccess, "shfl.up": isa.PhaseRegistration},
		// offsets are the scan
		"strict": {"amofadd.w": isa.PhaseGatherSum, "heddle.edge": isa.PhaseEdgeAccess, "shfl.idx": isa.PhaseSchedule},
		"weaver": {"amofadd.w": isa.PhaseGatherSum, "heddle.edge": isa.PhaseEdgeAccess, "weaver.reg": isa.PhaseRegistration, "weaver.dec.id": isa.PhaseSchedule},
		"eghw":   {"amofadd.w": isa.PhaseGatherSum, "eghw.push": isa.PhaseRegistration, "eghw.pop": isa.PhaseSchedule, "eghw.get.other": isa.PhaseSchedule},
	} {
		p, err := NewPlan(choose("algorithm=pagerank", "schedule="+schedule, "direction=push"))
		require.NoError(t, err)
		ks, err := p.Build(coreOf(functional(t, p).Shape()))
		require.NoError(t, err)
		c := compile(t, ks.Gather[p.Direction.Uses[0]])
		marks, err := c.Program.PhaseMarks()
		require.NoError(t, err)
		found := map[string]isa.Phase{}
		text := c.Program.Segments[0]
		for at := text.Addr; at < text.Addr+text.Size; at += 4 {
			o := at - text.Addr
			inst, ok := isa.Decode(binary.LittleEndian.Uint32(text.Data[o:]))
			require.True(t, ok)
			found[inst.Name] = isa.PhaseAt(marks, at)
		}
		for _, at := range c.Program.All("heddle.edge") {
			found["heddle.edge"] = isa.PhaseAt(marks, at)
		}
		for what, phase := range in {
			got, ok := found[what]
			require.True(t, ok, "%s: no %s", schedule, what)
			require.Equal(t, phase, got, "%s: %s", schedule, what)
		}
	}
}
