package rtl

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/weaver"
	"heddle/configs/schema"
	"heddle/internal/testenv"
	"heddle/internal/tools"
)

// TestLockstep plays random stimuli to the Go model and to the SystemVerilog, and compares all ports in each cycle:
// with slow and bursty cores, late tables, launches back to back and in the middle, mistakes of the program. So do the
// scripts of the Go model, which are in the same build.
func TestLockstep(t *testing.T) {
	testenv.NeedSlow(t, "Verilator and g++ build the units")
	campaigns, cycles := testenv.Cases(t, 12, 60), uint64(1500)
	builds := testenv.Cases(t, 1, 6) // of half a minute's processor time, and more for many lanes
	for b := range builds {
		configs, scripted := chosen, []config(nil)
		if b > 0 {
			configs = drawn(t, testenv.Seed(t, 1)+b, 6)
		} else {
			scripted = scriptConfigs(t)
		}
		program := build(t, slices.Concat(configs, scripted), "", nil)
		if b == 0 {
			t.Run("scripts", func(t *testing.T) { playScripts(t, program, len(configs), scripted) })
		}
		total, states := 0, map[uint32]int{}
		for i, c := range configs {
			for seed := range campaigns {
				ins, outs := record(t, c, newCampaign(testenv.Seed(t, 0)+1000*uint64(i)+seed, cycles))
				require.NoError(t, compare(program, i, c, ins, outs), "%+v, seed %d", c, seed)
				for _, o := range outs {
					states[o.State]++
				}
				total += len(ins)
			}
		}
		require.Len(t, states, 9, "the campaigns do not reach each state of the FSM")
		t.Logf("%d configurations, %d cycles; by state %d", len(configs), total, states)
	}
}

// chosen are configurations that, together, have each path of the SystemVerilog.
var chosen = []config{
	{spec: of(24, 1, 4, true, true, false, 6), warps: 6, threads: 4},
	{spec: of(30, 2, 2, true, false, true, 3), warps: 4, threads: 8},
	{spec: of(25, 6, 4, true, true, true, 2), warps: 5, threads: 8},
	{spec: of(13, 5, 1, false, false, false, 1), warps: 3, threads: 4},
	{spec: of(40, 3, 8, true, false, false, 9), warps: 9, threads: 2},
}

func of(entries, latency, row int, prefetch, skip, mask bool, queue int) weaver.Spec {
	return weaver.Spec{STEntries: entries, DTEntries: 1024, TableLatency: latency, STRow: row, Prefetch: prefetch,
		SkipEmpty: skip, MaskByUnit: mask, RequestQueue: queue}
}

var specs = schema.New[weaver.Spec]("")

// drawn returns any configurations that the SystemVerilog has.
func drawn(t *testing.T, seed uint64, n int) (list []config) {
	r := rand.New(rand.NewPCG(seed, 41))
	for len(list) < n {
		c := config{warps: 1 + r.IntN(16), threads: 1 << r.IntN(6)}
		d := schema.Drawing[weaver.Spec]{Rand: r, Keep: []string{"model"}, Most: map[string]int64{"st_entries": 300, "table_latency": 40},
			Fit: func(s *weaver.Spec) { s.DTEntries = max(s.DTEntries, c.warps*c.threads) }}
		s, err := specs.Draw(specs.Default(), d)
		require.NoError(t, err)
		s.STRow = 1 << r.IntN(7)
		c.spec = s.Derived(c.warps, c.threads, 1+r.IntN(6))
		list = append(list, c)
	}
	return list
}

// build returns a program that plays stimuli to instances of the SystemVerilog. mutate, if not nil, changes a file's
// text.
func build(t testing.TB, configs []config, flags string, mutate func(name, text string) string) string {
	tools.Need(t, "verilator")
	tools.Need(t, "g++")
	dir := t.TempDir()
	var names []string
	for i, c := range configs {
		u, err := Weaver(c.spec, c.warps, c.threads)
		require.NoError(t, err)
		if i == 0 {
			names, err = u.Write(dir)
			require.NoError(t, err)
		}
	}
	for _, name := range names {
		if mutate != nil {
			text, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(mutate(name, string(text))), 0o600))
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "lockstep.sv"), []byte(lockstep(t, configs)), 0o600))
	return verilate(t, dir, names, "lockstep.cpp", flags)
}

// runtime is Verilator's own code, compiled without flags: the same in all programs.
var runtime = map[string][]byte{"verilated.o": nil, "verilated_threads.o": nil}

// verilate builds the files of a folder, a module lockstep among them, and what plays it. g++ spends most of the time
// on Verilator's headers, so all is one file, unless counters of coverage make that a huge one.
func verilate(t testing.TB, dir string, names []string, harness, flags string) string {
	harness, err := filepath.Abs(filepath.Join("testdata", harness))
	require.NoError(t, err)
	obj := filepath.Join(dir, "obj")
	require.NoError(t, os.Mkdir(obj, 0o700))
	args := strings.Fields("--cc --exe --build --assert --top-module lockstep -Mdir obj -Wno-fatal -Wno-lint " +
		"--x-assign unique --x-initial unique " + flags)
	if flags != "" {
		args = append(args, "--output-split", "20000")
	} else {
		args = append(args, "--output-split", "1000000000", "-MAKEFLAGS",
			"OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0")
		for name, object := range runtime {
			if object != nil { // it is older than the makefile, but not to be made again
				args = append(args, "-MAKEFLAGS", "-o "+name)
				require.NoError(t, os.WriteFile(filepath.Join(obj, name), object, 0o600))
			}
		}
	}
	run(t, dir, "verilator", slices.Concat(args, names, []string{"lockstep.sv", harness})...)
	if flags == "" {
		for name := range runtime {
			runtime[name], err = os.ReadFile(filepath.Join(obj, name))
			require.NoError(t, err)
		}
	}
	return filepath.Join(obj, "Vlockstep")
}

func run(t testing.TB, dir, name string, args ...string) string {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %s\n%s", name, strings.Join(args, " "), out)
	return string(out)
}

// lockstep returns a module with an instance for each configuration; sel_i chooses the one whose clock runs.
func lockstep(t testing.TB, configs []config) string {
	var b strings.Builder
	b.WriteString(`module lockstep (
  input logic clk_i, input logic rst_ni, input logic [7:0] sel_i, input logic launch_i, input logic req_valid_i,
  input weaver_pkg::fn_e req_fn_i, input logic [7:0] req_warp_i, input logic [31:0] req_mask_i,
  input logic [15:0] req_tag_i, input logic [1023:0] req_a_i, input logic [1023:0] req_b_i, input logic [1023:0] req_c_i,
  input logic rsp_ready_i, output logic req_ready_o, output logic rsp_valid_o, output logic [15:0] rsp_tag_o,
  output logic [1023:0] rsp_data_o, output logic rsp_set_mask_o, output logic [31:0] rsp_mask_o, output logic [1:0] err_o,
  output logic [3:0] state_o, output logic [31:0] ced_vid_o, output logic [31:0] ced_loc_o, output logic [31:0] ced_deg_o,
  output logic [16:0] cursor_o, output logic [31:0] filled_o, output logic [15:0] dt_reads_o, output logic st_read_o,
  output logic skip_hit_o, output logic drop_o);
  weaver_pkg::trace_t trace;
  assign state_o = trace.state;
  assign {ced_vid_o, ced_loc_o, ced_deg_o} = trace.ced;
  assign cursor_o = trace.cursor;
  assign filled_o = trace.filled;
  assign dt_reads_o = trace.dt_reads;
  assign st_read_o = trace.st_read;
  assign skip_hit_o = trace.skip_hit;
  assign drop_o = trace.drop;
`)
	cases := ""
	for i, c := range configs {
		u, err := Weaver(c.spec, c.warps, c.threads)
		require.NoError(t, err)
		u.Parameters[len(u.Parameters)-1].Value = 16 // tags
		var params []string
		for _, p := range u.Parameters {
			params = append(params, fmt.Sprintf(".%s(%d)", p.Name, p.Value))
		}
		warpBits := 1
		for 1<<warpBits < c.warps {
			warpBits++
		}
		fmt.Fprintf(&b, `  logic ready_%[1]d, valid_%[1]d, set_%[1]d;
  logic [15:0] tag_%[1]d;
  logic [%[2]d-1:0] mask_%[1]d;
  logic [%[2]d*32-1:0] data_%[1]d;
  weaver_pkg::err_e err_%[1]d;
  weaver_pkg::trace_t trace_%[1]d;
  weaver #(%[3]s) u_%[1]d (.clk_i(clk_i & (sel_i == %[1]d)), .rst_ni, .launch_i,
    .req_valid_i(req_valid_i & (sel_i == %[1]d)), .req_ready_o(ready_%[1]d), .req_fn_i,
    .req_warp_i(req_warp_i[%[4]d:0]), .req_mask_i(req_mask_i[%[2]d-1:0]), .req_tag_i,
    .req_a_i(req_a_i[%[2]d*32-1:0]), .req_b_i(req_b_i[%[2]d*32-1:0]), .req_c_i(req_c_i[%[2]d*32-1:0]),
    .rsp_valid_o(valid_%[1]d), .rsp_ready_i, .rsp_tag_o(tag_%[1]d), .rsp_data_o(data_%[1]d), .rsp_set_mask_o(set_%[1]d),
    .rsp_mask_o(mask_%[1]d), .err_o(err_%[1]d), .trace_o(trace_%[1]d));
`, i, c.threads, strings.Join(params, ", "), warpBits-1)
		cases += fmt.Sprintf("      %[1]d: {req_ready_o, rsp_valid_o, rsp_set_mask_o, rsp_tag_o, rsp_mask_o, rsp_data_o, "+
			"err_o, trace} = "+
			"{ready_%[1]d, valid_%[1]d, set_%[1]d, tag_%[1]d, 32'(mask_%[1]d), 1024'(data_%[1]d), err_%[1]d, trace_%[1]d};\n", i)
	}
	b.WriteString("  always_comb begin\n    case (sel_i)\n" + cases +
		"      default: {req_ready_o, rsp_valid_o, rsp_set_mask_o, rsp_tag_o, rsp_mask_o, rsp_data_o, err_o, trace} = '0;\n" +
		"    endcase\n  end\nendmodule\n")
	return b.String()
}

// compare plays inputs to an instance, and returns the first difference from the outputs that the Go model has.
func compare(program string, sel int, c config, ins []input, outs []output) error {
	cmd := exec.Command(program, "+verilator+rand+reset+2", "+verilator+seed+7")
	cmd.Dir = filepath.Dir(program)
	cmd.Stdin = bytes.NewReader(encode(sel, ins))
	var got, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &got, &errs
	failed := cmd.Run()
	reads := [2]uint32{}
	for i := range outs {
		rtl, err := decode(&got)
		if err != nil {
			return fmt.Errorf("the SystemVerilog ends in cycle %d of %d: %v\n%s", i, len(outs), failed, errs.String())
		}
		if diff := differ(c, outs[i], rtl, &reads); diff != "" {
			return fmt.Errorf("cycle %d of %d: %s\ninputs: %+v\nthe model's outputs:     %+v\nthe SystemVerilog's: %+v",
				i, len(outs), diff, ins[i], outs[i], rtl)
		}
	}
	if failed != nil {
		return fmt.Errorf("the SystemVerilog: %v\n%s", failed, errs.String())
	}
	return nil
}

// differ names what is different; empty: nothing.
func differ(c config, model, rtl output, reads *[2]uint32) string {
	reads[0] += model.STReads
	reads[1] += rtl.STReads
	if c.spec.Prefetch && c.spec.TableLatency <= 2 { // read when needed: as often, but later
		if reads[1] > reads[0] {
			return "reads of the ST"
		}
		model.STReads = rtl.STReads
	}
	if !rtl.SetMask {
		model.Mask, rtl.Mask = 0, 0
	}
	if model.Err != 0 { // the model has registered the lanes before the mistake; the program ends here
		model.State, model.Cursor, model.Filled, model.CED, model.STReads = rtl.State, rtl.Cursor, rtl.Filled, rtl.CED,
			rtl.STReads
	}
	if model == rtl {
		return ""
	}
	a, b := fmt.Sprintf("%+v", model), fmt.Sprintf("%+v", rtl)
	as, bs := strings.Fields(a), strings.Fields(b)
	for i := range as {
		if as[i] != bs[i] {
			return as[i] + " is " + bs[i]
		}
	}
	return "outputs"
}

func encode(sel int, ins []input) []byte {
	var b bytes.Buffer
	put := func(words ...uint32) { _ = binary.Write(&b, binary.NativeEndian, words) }
	put(uint32(sel)<<24|8, 0, 0)
	for _, in := range ins {
		flags, mask := uint32(sel)<<24, uint32(0)
		if in.launch {
			flags |= 1
		}
		if in.ready {
			flags |= 4
		}
		if r := in.req; r != nil {
			flags |= 2 | uint32(r.fn)<<8 | uint32(r.warp)<<16
			mask = r.mask
		}
		put(flags, mask, in.tag)
		if r := in.req; r != nil {
			put(r.a[:]...)
			put(r.b[:]...)
			put(r.c[:]...)
		}
	}
	return b.Bytes()
}

func decode(r io.Reader) (o output, err error) {
	var w [6]uint32
	if err := binary.Read(r, binary.NativeEndian, &w); err != nil {
		return o, err
	}
	f := w[0]
	o = output{
		Ready: f&1 != 0, Valid: f&2 != 0, STReads: f >> 3 & 1, Err: f >> 4 & 3, State: f >> 8 & 15, DTReads: f >> 16,
		SkipHit: f>>6&1 != 0, Dropped: f>>7&1 != 0,
		CED: weaver.Entry{VID: w[1], Loc: w[2], Deg: w[3]}, Cursor: w[4], Filled: w[5],
	}
	if !o.Valid {
		return o, nil
	}
	o.SetMask = f&4 != 0
	var head [2]uint32
	if err := binary.Read(r, binary.NativeEndian, &head); err != nil {
		return o, err
	}
	o.Tag, o.Mask = head[0], head[1]
	return o, binary.Read(r, binary.NativeEndian, &o.Data)
}
