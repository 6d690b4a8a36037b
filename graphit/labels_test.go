package graphit

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLabels: schedules in YAML are those of the language.
func TestLabels(t *testing.T) {
	got, err := ParseLabels([]byte(`
loop:step: {load_balance: [EDGE_ONLY, BLOCKED, 64], direction: PUSH, frontier_creation: UNFUSED_BITMAP, deduplication: [ENABLED, BITMAP]}
back: {threshold: "argv[3]", below: {delta: 4}, above: {direction: [PULL, BITMAP], kernel_fusion: DISABLED}}
`))
	require.NoError(t, err)
	want, err := ParseSchedule("s", []byte(`
SimpleGPUSchedule a; a.configLoadBalance(EDGE_ONLY, BLOCKED, 64); a.configDirection(PUSH); a.configFrontierCreation(UNFUSED_BITMAP);
a.configDeduplication(ENABLED, BITMAP);
SimpleGPUSchedule b; b.configDelta(4);
SimpleGPUSchedule c; c.configDirection(PULL, BITMAP); c.configKernelFusion(DISABLED);
HybridGPUSchedule h(INPUT_VERTEXSET_SIZE, "argv[3]", b, c);
program->applyGPUSchedule("loop:step", a);
program->applyGPUSchedule("back", h);
`))
	require.NoError(t, err)
	for i := range want.GPU { // places are the text's
		a := &want.GPU[i]
		a.Pos = Pos{}
		list := []*SimpleGPUSchedule{a.Simple}
		if a.Hybrid != nil {
			list = []*SimpleGPUSchedule{a.Hybrid.Above, a.Hybrid.Below}
		}
		for _, s := range list {
			for _, x := range []*Setting{s.LoadBalance, s.Direction, s.FrontierCreation, s.Deduplication, s.Delta,
				s.KernelFusion} {
				if x != nil {
					x.Pos = Pos{}
				}
			}
		}
	}
	require.Equal(t, want.GPU, got.GPU)
	with := want.With(&Schedule{GPU: []Applied{{Label: "back", Simple: &SimpleGPUSchedule{}}}})
	require.Len(t, with.GPU, 2)
	require.Nil(t, with.GPU[1].Hybrid)
	require.NotNil(t, want.GPU[1].Hybrid, "the schedule itself stays")
	for text, says := range map[string]string{
		"a: b": "a: expected a mapping", "a: {delta: x}": "a.delta: expected a number or an argument", "a: {delta: [1, 2]}": "a.delta takes 1 to 1 arguments, found 2",
		"a: {b: 1}": "a.b: unknown key", "a: {direction: {}}": "a.direction: expected a word or a number", "[1]": "labels: expected a mapping",
		"a: {threshold: 1, below: {}, above: {}, delta: 1}": "a.delta: a hybrid has", "a: {threshold: x, below: {}, above: {}}": "a.threshold: expected a number",
		"a: {delta: 1}\na: {delta: 2}": `labels: "a" stands twice`, "a: {": "did not find",
	} {
		_, err := ParseLabels([]byte(text))
		require.ErrorContains(t, err, says, text)
	}
}

// FuzzLabels: any text is a schedule, or an error.
func FuzzLabels(f *testing.F) {
	f.Add("a: {threshold: 0.1, below: {delta: 4}, above: {direction: [PULL, BITMAP]}}")
	f.Add("a:b: {load_balance: [EDGE_ONLY, BLOCKED, 64]}")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseLabels([]byte(text))
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		for _, a := range s.GPU {
			require.NotEqual(t, a.Simple == nil, a.Hybrid == nil)
		}
	})
}
