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
	"heddle/components/graphpeg"
	"heddle/configs/schema"
	"heddle/internal/testenv"
	"heddle/internal/tools"
)

// TestPEGLockstep plays random kernels to the Go model of a GraphPEG and to its SystemVerilog, and compares all ports
// in each cycle: with slow and bursty cores, late memory out of order, donations, launches back to back, mistakes.
func TestPEGLockstep(t *testing.T) {
	testenv.NeedSlow(t, "Verilator and g++ build the units")
	campaigns := testenv.Cases(t, 6, 60)
	builds := testenv.Cases(t, 1, 6) // of ten seconds' processor time, and more for many lanes
	for b := range builds {
		configs := chosenPEGs[:testenv.Cases(t, 1, 3)] // of seconds each
		if b > 0 {
			configs = drawnPEGs(t, testenv.Seed(t, 3)+b, 4)
		}
		program := buildPEG(t, configs, "", nil)
		total, answers, spilled, cuts, faults := 0, 0, 0, 0, 0
		for i, c := range configs {
			for seed := range campaigns {
				ins, outs := recordPEG(t, c, testenv.Seed(t, 2)+1000*uint64(i)+seed, 1500)
				require.NoError(t, comparePEG(program, i, c, ins, outs), "%+v, seed %d", c, seed)
				for _, o := range outs {
					answers += count(o.Answered)
					spilled += count(o.Write)
					cuts += count(o.Report && o.Event == balance.Donated)
					faults += count(o.Err)
				}
				total += len(ins)
			}
		}
		t.Logf("%d configurations, %d cycles: %d answers, %d lines and vertices spilled, %d donations, %d faults",
			len(configs), total, answers, spilled, cuts, faults)
		if b == 0 {
			require.True(t, answers > 1000 && spilled > 100 && cuts > 10, "the campaigns have left something out")
		}
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// chosenPEGs are configurations that, together, have each path of the SystemVerilog.
var chosenPEGs = []pegConfig{
	{spec: peg(6, 30, 72, 4, 3, "issue", "line", "fi"), shape: graphpeg.Shape{Cores: 1, Warps: 3, Threads: 4, LineBytes: 16}},
	{spec: peg(3, 40, 120, 3, 1, "return", "vertex", "donation"), shape: graphpeg.Shape{Cores: 1, Warps: 2, Threads: 8, LineBytes: 32}},
	{spec: peg(5, 24, 40, 2, 2, "issue", "vertex", "donation"), shape: graphpeg.Shape{Cores: 1, Warps: 4, Threads: 2, LineBytes: 16}},
}

// peg is a spec with so many slots of four fields, and words of each list on chip.
func peg(entries, slots, words, lists, latency int, release, spill, priority string) graphpeg.Spec {
	s := graphpeg.DefaultSpec()
	s.ALWTEntries, s.EdgeBufferBytes, s.VertexLists, s.BufferLatency = entries, 16*slots, lists, latency
	s.ScratchpadLimit, s.ListRegion, s.RequestQueue = s.EdgeBufferBytes+lists*4*words, 1<<13, 4
	s.FERelease, s.Spill, s.DonationPriority = release, spill, priority
	return s
}

var pegSpecs = schema.New[graphpeg.Spec]("")

// drawnPEGs returns any configurations that the SystemVerilog has.
func drawnPEGs(t *testing.T, seed uint64, n int) (list []pegConfig) {
	r := rand.New(rand.NewPCG(seed, 44))
	for len(list) < n {
		c := pegConfig{shape: graphpeg.Shape{
			Cores: 1, Warps: 1 + r.IntN(8), Threads: 1 << r.IntN(6), LineBytes: 16 << r.IntN(4),
		}}
		line := c.shape.LineBytes / 4
		d := schema.Drawing[graphpeg.Spec]{
			Rand: r, Keep: []string{"pop_order", "model"},
			Most: map[string]int64{"alwt_entries": 30, "edge_buffer_bytes": 4 << 10, "scratchpad_limit": 8 << 10, "vertex_lists": 5,
				"buffer_latency": 9, "list_region": 1 << 18},
			Fit: func(s *graphpeg.Spec) { // four fields an edge, and room for lists
				s.EdgeBufferBytes = max(s.EdgeBufferBytes, 16*(c.shape.Threads-1+line))
				s.ScratchpadLimit = max(s.ScratchpadLimit, s.EdgeBufferBytes+s.VertexLists*4*(3*line+2*c.shape.Threads))
				s.ListRegion = max(s.ListRegion, 1<<13)
			},
		}
		s, err := pegSpecs.Draw(pegSpecs.Default(), d)
		require.NoError(t, err)
		c.spec = s.Derived(c.shape.Warps, 1+r.IntN(4))
		list = append(list, c)
	}
	return list
}

// buildPEG returns a program that plays stimuli to instances of the SystemVerilog. mutate, if not nil, changes a file's
// text.
func buildPEG(t testing.TB, configs []pegConfig, flags string, mutate func(name, text string) string) string {
	tools.Need(t, "verilator")
	tools.Need(t, "g++")
	dir := t.TempDir()
	u, err := GraphPEG(configs[0].spec, configs[0].shape)
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
	require.NoError(t, os.WriteFile(filepath.Join(dir, "lockstep.sv"), []byte(pegBench(t, configs)), 0o600))
	return verilate(t, dir, names, "peg.cpp", flags)
}

// pegBench returns a module with an instance for each configuration; sel_i chooses the one whose clock runs.
func pegBench(t testing.TB, configs []pegConfig) string {
	var b strings.Builder
	b.WriteString(`/*verilator coverage_off*/
module lockstep (
  input logic clk_i, input logic rst_ni, input logic [7:0] sel_i, input logic launch_i, input logic forsaken_i,
  input graphpeg_pkg::host_e host_i, input logic [31:0] setup_i [11], input logic [3:0] host_list_i, input logic [3:0] host_other_i,
  input logic [31:0] host_vertex_i, input logic head_valid_i, input logic [3:0] head_fn_i, input logic [7:0] head_warp_i,
  input logic [31:0] head_mask_i, input logic [7:0] head_tag_i, input logic [1023:0] head_a_i, input logic [1023:0] head_b_i,
  input logic room_i, input logic req_ready_i, input logic mem_valid_i, input logic [22:0] mem_tag_i, input logic [1023:0] mem_data_i,
  input graphpeg_pkg::order_e cmd_i, input logic [31:0] cmd_epoch_i, input logic [31:0] cmd_edges_i, input logic [95:0] cmd_range_i,
  input logic rep_ready_i,
  output logic took_o, output logic [3:0] err_o, output logic rsp_valid_o, output logic [7:0] rsp_tag_o, output logic [1023:0] rsp_data_o,
  output logic req_valid_o, output logic req_write_o, output logic [31:0] req_addr_o, output logic [22:0] req_tag_o,
  output logic [1023:0] req_data_o, output logic rep_valid_o, output graphpeg_pkg::report_t rep_o, output graphpeg_pkg::trace_t trace_o);
  graphpeg_pkg::setup_t setup;
  assign setup = {setup_i[0][0], setup_i[1][0], setup_i[2][3:0], setup_i[3], setup_i[4], setup_i[5], setup_i[6], setup_i[7],
    setup_i[8][3:0], setup_i[9][3:0], setup_i[10]};
`)
	const outs = "{took_o, err_o, rsp_valid_o, rsp_tag_o, rsp_data_o, req_valid_o, req_write_o, req_addr_o, req_tag_o, " +
		"req_data_o, rep_valid_o, rep_o, trace_o}"
	cases := ""
	for i, c := range configs {
		u, err := GraphPEG(c.spec, c.shape)
		require.NoError(t, err)
		var params []string
		for _, p := range u.Parameters {
			params = append(params, fmt.Sprintf(".%s(%d)", p.Name, p.Value))
		}
		warpBits := max(1, bits.Len(uint(c.shape.Warps-1)))
		fmt.Fprintf(&b, `  logic took_%[1]d, rsp_%[1]d, req_%[1]d, write_%[1]d, rep_valid_%[1]d;
  logic [7:0] tag_%[1]d;
  logic [31:0] line_%[1]d, addr_%[1]d;
  logic [%[2]d*32-1:0] data_%[1]d;
  logic [%[3]d*32-1:0] req_data_%[1]d;
  graphpeg_pkg::tag_t req_tag_%[1]d;
  graphpeg_pkg::err_e err_%[1]d;
  graphpeg_pkg::report_t rep_%[1]d;
  graphpeg_pkg::trace_t trace_%[1]d;
  graphpeg #(%[4]s) u_%[1]d (.clk_i(clk_i & (sel_i == %[1]d)), .rst_ni, .launch_i, .forsaken_i, .host_i,
    .host_setup_i(setup), .host_list_i, .host_other_i, .host_vertex_i, .host_lines_i('0), .host_line_o(line_%[1]d),
    .head_valid_i, .head_fn_i, .head_warp_i(head_warp_i[%[5]d:0]), .head_mask_i(head_mask_i[%[2]d-1:0]), .head_tag_i,
    .head_a_i(head_a_i[%[2]d*32-1:0]), .head_b_i(head_b_i[%[2]d*32-1:0]), .took_o(took_%[1]d), .err_o(err_%[1]d), .room_i,
    .rsp_valid_o(rsp_%[1]d), .rsp_tag_o(tag_%[1]d), .rsp_data_o(data_%[1]d), .req_ready_i, .req_valid_o(req_%[1]d),
    .req_write_o(write_%[1]d), .req_addr_o(addr_%[1]d), .req_tag_o(req_tag_%[1]d), .req_data_o(req_data_%[1]d),
    .mem_valid_i, .mem_tag_i, .mem_data_i(mem_data_i[%[3]d*32-1:0]), .cmd_i, .cmd_epoch_i, .cmd_edges_i, .cmd_range_i,
    .rep_ready_i, .rep_valid_o(rep_valid_%[1]d), .rep_o(rep_%[1]d), .trace_o(trace_%[1]d));
`, i, c.shape.Threads, c.shape.LineBytes/4, strings.Join(params, ", "), warpBits-1)
		cases += fmt.Sprintf("      %[1]d: %[2]s = {took_%[1]d, err_%[1]d, rsp_%[1]d, tag_%[1]d, 1024'(data_%[1]d), "+
			"req_%[1]d, write_%[1]d, addr_%[1]d, req_tag_%[1]d, 1024'(req_data_%[1]d), rep_valid_%[1]d, rep_%[1]d, "+
			"trace_%[1]d};\n", i, outs)
	}
	b.WriteString("  always_comb begin\n    case (sel_i)\n" + cases + "      default: " + outs +
		" = '0;\n    endcase\n  end\nendmodule\n")
	return b.String()
}

// comparePEG plays inputs to an instance, and returns the first difference from the outputs that the Go model has.
func comparePEG(program string, sel int, c pegConfig, ins []pegInput, outs []pegOutput) error {
	cmd := exec.Command(program, "+verilator+rand+reset+2", "+verilator+seed+7")
	cmd.Dir = filepath.Dir(program)
	cmd.Stdin = bytes.NewReader(encodePEG(sel, c, ins))
	var got, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &got, &errs
	failed := cmd.Run()
	for i := range outs {
		rtl, err := decodePEG(&got)
		if err != nil {
			return fmt.Errorf("the SystemVerilog ends in cycle %d of %d: %v\n%s", i, len(outs), failed, errs.String())
		}
		if ins[i].launch || ins[i].host != hostNone {
			continue
		}
		if c.spec.Spill == "vertex" {
			clear(rtl.Line[1:])
		}
		if diff := differPEG(outs[i], rtl); diff != "" {
			return fmt.Errorf("cycle %d of %d: %s\ninputs: %+v\nthe model's outputs:     %+v\nthe SystemVerilog's: %+v",
				i, len(outs), diff, ins[i], outs[i], rtl)
		}
	}
	if failed != nil {
		return fmt.Errorf("the SystemVerilog: %v\n%s", failed, errs.String())
	}
	return nil
}

// differPEG names what is different; empty: nothing.
func differPEG(model, rtl pegOutput) string {
	if model.Err != rtl.Err {
		return fmt.Sprintf("error %v is %v", model.Err, rtl.Err)
	}
	if model.Err { // the run ends here
		return ""
	}
	if model == rtl {
		return ""
	}
	as, bs := strings.Fields(fmt.Sprintf("%+v", model)), strings.Fields(fmt.Sprintf("%+v", rtl))
	for i := range as {
		if as[i] != bs[i] {
			return as[i] + " is " + bs[i]
		}
	}
	return "outputs"
}

func encodePEG(sel int, c pegConfig, ins []pegInput) []byte {
	var b bytes.Buffer
	put := func(words ...uint32) { _ = binary.Write(&b, binary.NativeEndian, words) }
	flag := func(on bool, at int) uint32 { return uint32(count(on)) << at }
	lanes := func(v []uint32) {
		var all [32]uint32
		copy(all[:], v)
		put(all[:]...)
	}
	put(append([]uint32{uint32(sel)<<24 | 1}, make([]uint32, 10)...)...)
	for _, in := range ins {
		flags := uint32(sel)<<24 | flag(in.launch, 1) | flag(in.forsaken, 2) | flag(in.head != nil, 3) | flag(in.room, 4) |
			flag(in.port, 5) | flag(in.arrives >= 0, 6) | flag(in.reported, 7) | uint32(in.host)<<8
		w := [10]uint32{2: uint32(max(in.arrives, 0)), 8: uint32(in.list | in.other<<8), 9: in.vertex}
		if r := in.head; r != nil {
			flags |= uint32(r.Fn) << 16
			w[0], w[1] = uint32(r.Warp)|uint32(r.Tag)<<16, r.Mask
		}
		if o := in.command; o != nil {
			flags |= uint32(pegOrders[o.Order]) << 12
			w[3], w[4], w[5], w[6], w[7] = o.Epoch, o.Edges, o.Range.Base, o.Range.End, o.Range.Start
		}
		put(flags)
		put(w[:]...)
		if in.head != nil {
			lanes(in.head.A)
			lanes(in.head.B)
		}
		if in.arrives >= 0 {
			lanes(in.line)
		}
		if in.host == hostSetup {
			s := in.setup
			put(uint32(count(s.VertexMode)), uint32(count(s.Pull)), s.Fields, s.Vertices, s.Offsets, s.Edges, s.Neighbours,
				s.Weights, s.In, s.Out, s.Region(&c.spec, c.shape.Core))
		}
	}
	return b.Bytes()
}

// pegOrders are the numbers of graphpeg_pkg::order_e.
var pegOrders = map[balance.Order]int{balance.Read: 1, balance.Donate: 2, balance.Standby: 3, balance.Release: 4,
	balance.Receive: 5, balance.Done: 6}

func decodePEG(r io.Reader) (o pegOutput, err error) {
	var w [17]uint32
	if err := binary.Read(r, binary.NativeEndian, &w); err != nil {
		return o, err
	}
	f := w[0]
	o = pegOutput{Took: f&1 != 0, Answered: f&2 != 0, Request: f&4 != 0, Report: f&16 != 0, Err: f>>8&15 != 0}
	low := func(v uint32) int { return int(v & 0xffff) }
	high := func(v uint32) int { return int(v >> 16) }
	o.Inside = graphpeg.Inside{
		EFS: w[9], Reserved: low(w[10]), Filled: high(w[10]), Run: low(w[11]), Pops: high(w[11]), FI: low(w[12]), RD: high(w[12]),
		FE: low(w[13]), In: int(w[14]), Out: int(w[15]), Pending: f&(1<<16) != 0, Standby: f&(1<<17) != 0,
		ReportedDrain: f&(1<<18) != 0,
	}
	if o.Answered {
		o.Tag = int(w[1])
		err = binary.Read(r, binary.NativeEndian, &o.Data)
	}
	if o.Request {
		o.Write, o.Addr = f&8 != 0, w[2]
	}
	if o.Report {
		o.Event, o.Edges, o.Vertices = balance.Event(w[3]), w[4], w[5]
		o.Range = balance.Range{Start: w[6], End: w[7], Base: w[8]}
	}
	if err == nil && o.Write {
		err = binary.Read(r, binary.NativeEndian, &o.Line)
	}
	return o, err
}
