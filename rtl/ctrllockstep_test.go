package rtl

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/balance"
	"heddle/components/ctrlproc"
	"heddle/configs/schema"
	"heddle/internal/testenv"
	"heddle/internal/tools"
)

// TestCtrlLockstep plays random units to the Go model of the control processor and to its SystemVerilog, and compares
// all ports and the visible state in each cycle: with late answers, refusals, cores that take no commands for long,
// launches back to back and in the middle of others, whose late reports are void.
func TestCtrlLockstep(t *testing.T) {
	testenv.NeedSlow(t, "Verilator and g++ build the control processor")
	campaigns := testenv.Cases(t, 8, 60)
	builds := testenv.Cases(t, 1, 6) // of half a minute's processor time
	for b := range builds {
		configs := chosenCtrls[:min(testenv.Cases(t, 1, 8), 8)]
		if b > 0 {
			configs = drawnCtrls(t, testenv.Seed(t, 4)+b, 6)
		}
		program := buildCtrl(t, configs, "", nil)
		total := 0
		var sum ctrlproc.Stats
		for i, c := range configs {
			for seed := range campaigns {
				ins, outs, p := recordCtrl(c, testenv.Seed(t, 5)+1000*uint64(i)+seed, 2000)
				require.NoError(t, compareCtrl(program, i, c, ins, outs), "%+v, seed %d", c, seed)
				total += len(ins)
				sum.Offers += p.Offers
				sum.Refused += p.Refused
				sum.Busy += p.Busy
				sum.EdgesMoved += p.EdgesMoved
				sum.VerticesMoved += p.VerticesMoved
				sum.Abandoned += p.Abandoned
				sum.EdgesAbandoned += p.EdgesAbandoned
			}
		}
		t.Logf("%d configurations, %d cycles: %d donations offered, %d refused, %d not offered because one was in progress, "+
			"%d abandoned; %d edges and %d vertices moved", len(configs), total, sum.Offers, sum.Refused, sum.Busy,
			sum.Abandoned, sum.EdgesMoved, sum.VerticesMoved)
		if b == 0 {
			require.True(t, sum.Refused > 100 && sum.Busy > 10 && sum.Abandoned > 0 && sum.EdgesMoved > 1000 &&
				sum.VerticesMoved > 1000, "the campaigns have left something out: %+v", sum)
			require.True(t, sum.EdgesAbandoned > 0 || testenv.Long(t) == 0, "no edges were abandoned")
		}
	}
}

var ctrlSpecs = schema.New[ctrlproc.Spec]("")

// drawnCtrls returns any configurations that the SystemVerilog has.
func drawnCtrls(t *testing.T, seed uint64, n int) (list []ctrlConfig) {
	r := rand.New(rand.NewPCG(seed, 46))
	for len(list) < n {
		d := schema.Drawing[ctrlproc.Spec]{
			Rand: r, Most: map[string]int64{"interval": 80, "threshold": 3000, "group": 10},
			Fit: func(s *ctrlproc.Spec) {
				if s.Policy == ctrlproc.PolicyIdeal {
					s.Policy = "ef+vl"
				}
				s.Threshold *= r.IntN(2)
			},
		}
		s, err := ctrlSpecs.Draw(ctrlSpecs.Default(), d)
		require.NoError(t, err)
		list = append(list, ctrlConfig{s, 1 + r.IntN(ctrlMost)})
	}
	return list
}

// buildCtrl returns a program that plays stimuli to instances of the SystemVerilog. mutate, if not nil, changes a
// file's text.
func buildCtrl(t testing.TB, configs []ctrlConfig, flags string, mutate func(name, text string) string) string {
	tools.Need(t, "verilator")
	tools.Need(t, "g++")
	dir := t.TempDir()
	u, err := ControlProcessor(configs[0].spec, configs[0].cores)
	require.NoError(t, err)
	names, err := u.Write(dir)
	require.NoError(t, err)
	for _, name := range names {
		if mutate != nil {
			text, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(mutate(name, string(text))), 0o600))
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "lockstep.sv"), []byte(ctrlBench(t, configs)), 0o600))
	return verilate(t, dir, names, "ctrl.cpp", flags)
}

// ctrlBench returns a module with an instance for each configuration; sel_i chooses the one whose clock runs. A message
// has a word for each of its fields.
func ctrlBench(t testing.TB, configs []ctrlConfig) string {
	var b strings.Builder
	fmt.Fprintf(&b, `/*verilator coverage_off*/
module lockstep (
  input logic clk_i, input logic rst_ni, input logic [7:0] sel_i, input logic launch_i, input logic [31:0] rep_valid_i,
  input logic [%[1]d*256-1:0] rep_i, output logic [31:0] cmd_valid_o, output logic [%[1]d*256-1:0] cmd_o,
  input logic [31:0] cmd_ready_i, output logic done_o, output logic polling_o, output logic [31:0] unread_o,
  output logic [31:0] drained_o, output logic [31:0] giving_o, output logic [31:0] giving_vertices_o,
  output logic [31:0] receiving_o, output logic [31:0] receiving_vertices_o);
`, ctrlMost)
	const outs = "{cmd_valid_o, cmd_o, done_o, polling_o, unread_o, drained_o, giving_vertices_o, giving_o, " +
		"receiving_vertices_o, receiving_o}"
	cases := ""
	for i, c := range configs {
		u, err := ControlProcessor(c.spec, c.cores)
		require.NoError(t, err)
		var params []string
		for _, p := range u.Parameters {
			params = append(params, fmt.Sprintf(".%s(%s)", p.Name, p.Literal()))
		}
		fmt.Fprintf(&b, `  logic [%[2]d-1:0] valid_%[1]d, unread_%[1]d, drained_%[1]d;
  logic [%[2]d*227-1:0] rep_%[1]d;
  logic [%[2]d*228-1:0] cmd_%[1]d;
  logic [%[3]d*256-1:0] words_%[1]d;
  logic [2*%[2]d-1:0] giving_%[1]d, receiving_%[1]d;
  logic done_%[1]d, polling_%[1]d;
  for (genvar i = 0; i < %[2]d; i++) begin : gen_%[1]d
    assign rep_%[1]d[i*227 +: 227] = {rep_i[i*256 +: 3], rep_i[i*256+32 +: 32], rep_i[i*256+64 +: 32],
      rep_i[i*256+96 +: 32],
      rep_i[i*256+128 +: 32], rep_i[i*256+160 +: 32], rep_i[i*256+192 +: 32], rep_i[i*256+224 +: 32]};
    assign {words_%[1]d[i*256 +: 32], words_%[1]d[i*256+32 +: 32], words_%[1]d[i*256+64 +: 32],
      words_%[1]d[i*256+96 +: 32],
      words_%[1]d[i*256+128 +: 32], words_%[1]d[i*256+160 +: 32], words_%[1]d[i*256+192 +: 32],
      words_%[1]d[i*256+224 +: 32]} =
      {28'd0, cmd_%[1]d[i*228 +: 228]};
  end
  assign words_%[1]d[%[3]d*256-1:%[2]d*256] = '0;
  ctrlproc #(%[4]s) u_%[1]d (.clk_i(clk_i & (sel_i == %[1]d)), .rst_ni, .launch_i, .rep_valid_i(rep_valid_i[%[2]d-1:0]),
    .rep_i(rep_%[1]d), .cmd_valid_o(valid_%[1]d), .cmd_o(cmd_%[1]d), .cmd_ready_i(cmd_ready_i[%[2]d-1:0]),
    .done_o(done_%[1]d),
    .trace_polling_o(polling_%[1]d), .trace_unread_o(unread_%[1]d), .trace_drained_o(drained_%[1]d),
    .trace_giving_o(giving_%[1]d), .trace_receiving_o(receiving_%[1]d));
`, i, c.cores, ctrlMost+1, strings.Join(params, ", "))
		cases += fmt.Sprintf("      %[1]d: %[2]s = {32'(valid_%[1]d), words_%[1]d[%[4]d*256-1:0], done_%[1]d, "+
			"polling_%[1]d, 32'(unread_%[1]d), 32'(drained_%[1]d), 32'(giving_%[1]d[%[3]d +: %[3]d]), "+
			"32'(giving_%[1]d[0 +: %[3]d]), 32'(receiving_%[1]d[%[3]d +: %[3]d]), 32'(receiving_%[1]d[0 +: %[3]d])};\n",
			i, outs, c.cores, ctrlMost)
	}
	fmt.Fprintf(&b, "  always_comb begin\n    case (sel_i)\n%s      default: %s = '0;\n    endcase\n  end\nendmodule\n",
		cases, outs)
	return b.String()
}

// compareCtrl plays inputs to an instance, and returns the first difference from the outputs that the Go model has.
func compareCtrl(program string, sel int, c ctrlConfig, ins []ctrlInput, outs []ctrlOutput) error {
	cmd := exec.Command(program, "+verilator+rand+reset+2", "+verilator+seed+7")
	cmd.Dir = filepath.Dir(program)
	cmd.Stdin = bytes.NewReader(encodeCtrl(sel, c, ins))
	var got, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &got, &errs
	failed := cmd.Run()
	for i := range outs {
		rtl, err := decodeCtrl(&got, c)
		if err != nil {
			return fmt.Errorf("the SystemVerilog ends in cycle %d of %d: %v\n%s", i, len(outs), failed, errs.String())
		}
		if ins[i].launch {
			rtl.Inside = outs[i].Inside
		}
		if diff := differCtrl(&outs[i], &rtl); diff != "" {
			return fmt.Errorf("cycle %d of %d: %s\nthe model's outputs:     %+v\nthe SystemVerilog's: %+v", i, len(outs), diff,
				outs[i], rtl)
		}
	}
	if failed != nil {
		return fmt.Errorf("the SystemVerilog: %v\n%s", failed, errs.String())
	}
	return nil
}

// differCtrl names what is different; empty: nothing.
func differCtrl(model, rtl *ctrlOutput) string {
	switch {
	case *model == *rtl:
		return ""
	case model.Done != rtl.Done:
		return "done"
	case model.Valid != rtl.Valid:
		return "commands"
	case model.Inside != rtl.Inside:
		return "state"
	}
	for i := range model.Commands {
		if model.Commands[i] != rtl.Commands[i] {
			return fmt.Sprintf("command to core %d", i)
		}
	}
	return "outputs"
}

func encodeCtrl(sel int, c ctrlConfig, ins []ctrlInput) []byte {
	var b bytes.Buffer
	put := func(words ...uint32) { _ = binary.Write(&b, binary.NativeEndian, words) }
	put(uint32(sel)<<24|1, 0, 0)
	for _, in := range ins {
		valid := uint32(0)
		for i := range c.cores {
			valid |= uint32(count(in.reports[i] != nil)) << i
		}
		put(uint32(sel)<<24|uint32(count(in.launch))<<1, valid, uint32(in.ready))
		for _, r := range in.reports {
			if r != nil {
				put(uint32(r.Event), r.Epoch, r.Edges, r.Range.Start, r.Range.End, r.Range.Base, r.Vertices, r.Addr)
			}
		}
	}
	return b.Bytes()
}

// ctrlOrders are the orders by the numbers of ctrlproc_pkg::order_e.
var ctrlOrders = []balance.Order{255, balance.Read, balance.Donate, balance.Standby, balance.Release, balance.Receive,
	balance.Done, balance.DonateVertices, balance.ReceiveVertices}

func decodeCtrl(r io.Reader, c ctrlConfig) (o ctrlOutput, err error) {
	var w [8]uint32
	if err := binary.Read(r, binary.NativeEndian, &w); err != nil {
		return o, err
	}
	o.Done, o.Valid = w[0]&1 != 0, uint64(w[1])
	o.Inside = ctrlproc.Inside{Polling: w[0]&2 != 0, Unread: bits.OnesCount32(w[2]), Drained: uint64(w[3]),
		Giving: [2]uint64{uint64(w[4]), uint64(w[5])}, Receiving: [2]uint64{uint64(w[6]), uint64(w[7])}}
	for i := range c.cores {
		if o.Valid>>i&1 == 0 {
			continue
		}
		var m [8]uint32
		if err := binary.Read(r, binary.NativeEndian, &m); err != nil {
			return o, err
		}
		if int(m[0]) >= len(ctrlOrders) {
			return o, fmt.Errorf("order %d", m[0])
		}
		o.Commands[i] = balance.Command{Order: ctrlOrders[m[0]], Epoch: m[1], Edges: m[2],
			Range: balance.Range{Start: m[3], End: m[4], Base: m[5]}, Vertices: m[6], Addr: m[7]}
	}
	return o, nil
}
