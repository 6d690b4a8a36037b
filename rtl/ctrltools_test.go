package rtl

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"heddle/components/ctrlproc"
	"heddle/internal/testenv"
	"heddle/internal/tools"
)

// TestCtrlLint: neither Verilator, with all its warnings, nor Yosys finds anything in the sources.
func TestCtrlLint(t *testing.T) {
	testenv.NeedSlow(t, "Verilator and Yosys read many configurations")
	corners := []ctrlConfig{{ctrlSpec("ef+vl", 1, 0, 1_000_000_000, 16), 33}, {ctrlSpec("ef+vl", 20, 3, 0, 3), 7},
		chosenCtrls[1], chosenCtrls[4], chosenCtrls[5], chosenCtrls[6]}
	for i, c := range corners {
		u, err := ControlProcessor(c.spec, c.cores)
		require.NoError(t, err)
		dir := t.TempDir()
		names, err := u.Write(dir)
		require.NoError(t, err)
		args := []string{"--lint-only", "-Wall", "--top-module", u.Top}
		for _, p := range u.Parameters {
			args = append(args, fmt.Sprintf("-G%s=%s", p.Name, p.Literal()))
		}
		tools.Need(t, "verilator")
		assert.Empty(t, run(t, dir, "verilator", append(args, names...)...), "%+v", c)
		if i == 1 { // Yosys takes seconds for the others
			tools.Need(t, "yosys")
			run(t, dir, "yosys", "-q", "-p", fmt.Sprintf("read_verilog -sv -defer %s; hierarchy -check -top %s%s; proc; "+
				"check -assert", strings.Join(names, " "), u.Top, u.Chparams()))
		}
	}
}

// TestEveryCtrlKnobIsAParameter, or is known not to need one.
func TestEveryCtrlKnobIsAParameter(t *testing.T) {
	u, err := ControlProcessor(ctrlproc.DefaultSpec(), 15)
	require.NoError(t, err)
	// The on-chip network is not in it; Model chooses the SystemVerilog.
	without := map[string]bool{"Latency": true, "Network": true, "Model": true}
	for f := range reflect.TypeFor[ctrlproc.Spec]().Fields() {
		name := strings.Replace(f.Name, "Policy", "BalanceEdges", 1)
		has := slices.ContainsFunc(u.Parameters, func(p Parameter) bool { return p.Name == name })
		assert.NotEqual(t, without[f.Name], has, f.Name)
	}
	_, err = ControlProcessor(ctrlSpec("ideal", 1, 1, 1, 1), 4)
	require.EqualError(t, err, "ctrlproc.policy = ideal: there is no SystemVerilog of it, since no hardware moves work "+
		"in zero time: expected none, ef, vl or ef+vl")
}

// ctrlMutations are mistakes in the SystemVerilog.
var ctrlMutations = []struct{ file, from, to string }{
	{"ctrlproc_extremes.sv", "high[b*Width +: Width] > high[a*Width +: Width]", "high[b*Width +: Width] >= high[a*Width +: Width]"},
	{"ctrlproc_extremes.sv", "low[b*Width +: Width] < low[a*Width +: Width]", "low[b*Width +: Width] <= low[a*Width +: Width]"},
	{"ctrlproc_extremes.sv", "if (!valid[a] || (valid[b] && low", "if ((valid[b] && low"},
	{"ctrlproc_balancer.sv", "difference >= SumW'(2) && difference >= least", "difference >= SumW'(2) && difference > least"},
	{"ctrlproc_balancer.sv", "difference >= SumW'(2) && ", ""},
	{"ctrlproc_balancer.sv", "if ((difference >> 33) != '0) half_of = '1;", ""},
	{"ctrlproc_balancer.sv", "busy || (from == CoreW'(i) && giving_i[i]) || (to", "busy || (to"},
	{"ctrlproc_balancer.sv", "busy || (from == CoreW'(i) && giving_i[i])", "busy || (from == CoreW'(i) && (giving_i[i] || receiving_i[i]))"},
	{"ctrlproc_balancer.sv", " | gives[First +: Num] |\n                            receives[First +: Num])", ")"},
	{"ctrlproc_balancer.sv", "~(giving_i[First +: Num] | receiving_i[First +: Num]", "~(giving_i[First +: Num]"},
	{"ctrlproc_balancer.sv", "gives[First+i] ? half_of(high - low) : gap >> 1", "gap >> 1"},
	{"ctrlproc_donations.sv", "assign receiving_o = receiving_q & ~closes;", "assign receiving_o = receiving_q & ~inserted_i;"},
	{"ctrlproc_donations.sv", "if (closes[r] && donor_q", "if (inserted_i[r] && donor_q"},
	{"ctrlproc_donations.sv", "end else if (launch_i) begin\n      giving_q    <= '0;", "end else if (launch_i) begin"},
	{"ctrlproc_poll.sv", "if (starts) wait_d = WaitW'(Interval - 1);", "if (starts) wait_d = WaitW'(Interval);"},
	{"ctrlproc_poll.sv", "assign unread   = unread_q & ~value_i;", "assign unread   = unread_q;"},
	{"ctrlproc_poll.sv", "(wait_q == '0) ? '0 : wait_q - WaitW'(1)", "wait_q - WaitW'(1)"},
	{"ctrlproc_poll.sv", "i % Turn", "i / Turn"},
	{"ctrlproc_orders.sv", "leaves ? orders >> 4 : orders", "orders"},
	{"ctrlproc_orders.sv", "else if (clear_i) count_q <= '0;", ""},
	{"ctrlproc_orders.sv", "after_second == CountW'(i)) orders[i*4 +: 4] = third_i", "after_first == CountW'(i)) orders[i*4 +: 4] = third_i"},
	{"ctrlproc_core.sv", "BalanceVertices ? 6 : 5", "BalanceVertices ? 5 : 4"},
	{"ctrlproc_core.sv", "vertices_first_i || !(receive_i || release_i)", "!(receive_i || release_i)"},
	{"ctrlproc_core.sv", "assign drained_o = (drained_q || drained_i) && !not_drained_i;", "assign drained_o = drained_q || drained_i;"},
	{"ctrlproc_core.sv", "drained_q <= drained_o && !launch_i;", "drained_q <= drained_o;"},
	{"ctrlproc_core.sv", "range   = receive_i ? range_i : range_q", "range   = range_q"},
	{"ctrlproc_core.sv", "half    = donate_i ? half_i : half_q", "half    = half_i"},
	{"ctrlproc_report.sv", "valid_i && report_i.epoch == epoch_i", "valid_i"},
	{"ctrlproc_report.sv", "EvDonatedVertices && report_i.piece.vertices != '0", "EvDonatedVertices"},
	{"ctrlproc.sv", "drained == '1 && receiving == '0 && receiving_vertices == '0", "drained == '1 && receiving == '0"},
	{"ctrlproc.sv", "drained == '1 && receiving == '0 &&", "drained == '1 &&"},
	{"ctrlproc.sv", "donor_vertices[i*CoreW +: CoreW] < donor[i*CoreW +: CoreW]", "donor_vertices[i*CoreW +: CoreW] > donor[i*CoreW +: CoreW]"},
	{"ctrlproc.sv", ".run_i    (!done_q && !ends && !launch_i)", ".run_i    (!done_q && !launch_i)"},
}

// TestCtrlMutationsAreFound by the comparison, or by an assertion.
func TestCtrlMutationsAreFound(t *testing.T) {
	testenv.NeedLong(t, "a build for each mutation, some 10 s of processor time")
	configs := []ctrlConfig{{ctrlSpec("ef+vl", 9, 3, 0, 3), 7}, {ctrlSpec("ef+vl", 7, 0, 3, 1), 5},
		{ctrlSpec("ef", 5, 4, 0, 1), 3}}
	for i, m := range ctrlMutations {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			changed := false
			program := buildCtrl(t, configs, "", func(name, text string) string {
				if name != m.file {
					return text
				}
				changed = strings.Contains(text, m.from)
				return strings.Replace(text, m.from, m.to, 1)
			})
			require.True(t, changed, "%s has no %q", m.file, m.from)
			found := error(nil)
			for seed := uint64(0); seed < 60 && found == nil; seed++ {
				for i, c := range configs {
					ins, outs, _ := recordCtrl(c, seed, 2000)
					if found = compareCtrl(program, i, c, ins, outs); found != nil {
						break
					}
				}
			}
			if assert.Error(t, found, "%s: %s -> %s", m.file, m.from, m.to) {
				t.Logf("%s: %s -> %s\n    %.160s", m.file, m.from, m.to, found)
			}
		})
	}
}

// TestCtrlCoverage reports which lines and branches the campaigns execute and which signals they toggle, as Verilator
// counts them.
func TestCtrlCoverage(t *testing.T) {
	testenv.NeedLong(t, "a build with counters, minutes of processor time")
	counts := coverage{}
	play := func(configs []ctrlConfig, flags string) {
		program := buildCtrl(t, configs, flags, nil)
		for i, c := range configs {
			for seed := range uint64(12) {
				ins, outs, _ := recordCtrl(c, seed, 2000)
				require.NoError(t, compareCtrl(program, i, c, ins, outs))
				counts.add(t, program, "ctrlproc")
			}
		}
	}
	play(chosenCtrls[:4], "--coverage-line")
	play([]ctrlConfig{{ctrlSpec("ef+vl", 9, 3, 0, 2), 4}}, "--coverage-toggle")
	counts.report(t, 0.97, 0.85)
}
