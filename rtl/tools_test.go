package rtl

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"heddle/components/weaver"
	"heddle/internal/testenv"
	"heddle/internal/tools"
)

// TestLint: neither Verilator, with all its warnings, nor Yosys finds anything in the sources.
func TestLint(t *testing.T) {
	corners := []config{
		{spec: weaver.DefaultSpec().Derived(32, 32, 6), warps: 32, threads: 32},
		{spec: of(1, 1, 1, false, false, false, 1), warps: 1, threads: 1},
		{spec: of(13, 3, 64, true, false, true, 7), warps: 5, threads: 2},
	}
	for i, c := range corners {
		u, err := Weaver(c.spec, c.warps, c.threads)
		require.NoError(t, err)
		dir := t.TempDir()
		names, err := u.Write(dir)
		require.NoError(t, err)
		args := []string{"--lint-only", "-Wall", "--top-module", u.Top}
		for _, p := range u.Parameters {
			args = append(args, fmt.Sprintf("-G%s=%s", p.Name, p.Literal()))
		}
		tools.Need(t, "verilator")
		assert.Empty(t, run(t, dir, "verilator", append(args, names...)...))
		if i == 1 { // Yosys takes seconds for the others
			tools.Need(t, "yosys")
			run(t, dir, "yosys", "-q", "-p", fmt.Sprintf("read_verilog -sv %s; hierarchy -check -top %s%s; proc; check -assert",
				strings.Join(names, " "), u.Top, u.Chparams()))
		}
	}
}

// TestEveryKnobIsAParameter, or is known not to need one.
func TestEveryKnobIsAParameter(t *testing.T) {
	u, err := Weaver(weaver.DefaultSpec().Derived(32, 32, 6), 32, 32)
	require.NoError(t, err)
	// The DT has a row for each warp; more words are not used. Model chooses the SystemVerilog.
	without := map[string]bool{"DTEntries": true, "Model": true}
	for f := range reflect.TypeFor[weaver.Spec]().Fields() {
		name := strings.Replace(f.Name, "STEntries", "StEntries", 1)
		name = strings.Replace(name, "STRow", "StRow", 1)
		has := slices.ContainsFunc(u.Parameters, func(p Parameter) bool { return p.Name == name })
		assert.NotEqual(t, without[f.Name], has, f.Name)
	}
	_, err = Weaver(weaver.DefaultSpec().Derived(4, 12, 6), 4, 12)
	require.EqualError(t, err,
		"core.threads = 12: the Weaver in SystemVerilog needs a power of two, since its tables are banked by lane")
	_, err = Weaver(weaver.Spec{STEntries: 8, DTEntries: 8, STRow: 3}, 2, 4)
	require.ErrorContains(t, err, "core.weaver.st_row = 3: ")
}

// mutations are mistakes in the SystemVerilog.
var mutations = []struct{ file, from, to string }{
	{"weaver_fsm.sv", "else if (left_i) state_d = weaver_pkg::StFetch;", "else if (left_i) state_d = weaver_pkg::StLoad;"},
	{"weaver_fsm.sv", "if (room_i) state_d = weaver_pkg::StWait;", "if (room_i) state_d = weaver_pkg::StFill;"},
	{"weaver_fsm.sv", "decode_o = decode_i && room_i;", "decode_o = decode_i;"},
	{"weaver_od.sv", "assign drop = drop_q || ", "assign drop = "},
	{"weaver_od.sv", "given < most", "given <= most"},
	{"weaver_st.sv", "wait_d = WaitW'(Latency - 2);", "wait_d = WaitW'(Latency - 1);"},
	{"weaver_st.sv", "if (reg_i && epoch_i) valid_d = '0;", ""},
	{"weaver_slot.sv", "entry = kept_vld_i ? kept_q : ram_i;", "entry = ram_i;"},
	{"weaver_dt.sv", "else if (launch_i) valid_q <= '0;", ""},
	{"weaver_dt.sv", "count_q == CountW'(Latency)", "count_q == CountW'(Latency - 1)"},
	{"weaver_unit.sv", "room_i && !dt_valid", "room_i"},
	{"weaver_st.sv", "assign err_twice_o = !epoch_i && (hit & valid_q) != '0;", "assign err_twice_o = 1'b0;"},
	{"weaver_st.sv", "else err_slot_o = 1'b1;", ""},
	{"weaver_st.sv", "if (launch_i || (reg_i && epoch_i)) cursor_d = '0;", "if (launch_i) cursor_d = '0;"},
	{"weaver_st.sv", "else if (promote || begin_i || launch_i) kept_vld_q <= 1'b0;", "else if (promote) kept_vld_q <= 1'b0;"},
	{"weaver_slot.sv", "some_o  = entry.deg != '0;", "some_o  = 1'b1;"},
	{"weaver_lane.sv", "loc_i + 32'(rank_i)", "loc_i"},
	{"weaver_od.sv", "filled_d = (clear_i || emit_i) ? '0", "filled_d = emit_i ? '0"},
	{"weaver_dt.sv", "arrives_q <= read_i && !launch_i;", "arrives_q <= read_i;"},
	{"weaver_fsm.sv", "if (reg_i) state_d = weaver_pkg::StInit;", ""},
	{"weaver_fifo.sv", "assign full_o  = count_q == CountW'(Depth);", "assign full_o  = count_q == CountW'(Depth) && !pop_i;"},
}

// TestMutationsAreFound by the comparison, or by an assertion.
func TestMutationsAreFound(t *testing.T) {
	testenv.NeedLong(t, "a build for each mutation, some 10 s of processor time")
	c := config{spec: of(11, 5, 2, true, true, true, 3), warps: 3, threads: 4} // a slot short
	for _, m := range mutations {
		changed := false
		program := build(t, []config{c}, "", func(name, text string) string {
			if name != m.file {
				return text
			}
			changed = strings.Contains(text, m.from)
			return strings.Replace(text, m.from, m.to, 1)
		})
		require.True(t, changed, "%s has no %q", m.file, m.from)
		found := error(nil)
		for seed := uint64(0); seed < 60 && found == nil; seed++ {
			ins, outs := record(t, c, newCampaign(seed, 1500))
			found = compare(program, 0, c, ins, outs)
		}
		if assert.Error(t, found, "%s: %s -> %s", m.file, m.from, m.to) {
			t.Logf("%s: %s -> %s\n    %.120s", m.file, m.from, m.to, found)
		}
	}
}

// coverPoint finds the kind of a point, and its module; inPlace, what is of one instance.
var (
	coverPoint = regexp.MustCompile(`\x01page\x02v_(\w+?)/(\w+?)(?:__\w+)?\x01`)
	inPlace    = regexp.MustCompile(`\x01(h\x02[^\x01']*|page\x02[^\x01']*)`)
)

// coverage are the counts of points by kind, module and place in the sources, instances together.
type coverage map[coverPlace]int

type coverPlace struct{ kind, module, place string }

// add adds the counts of the program's last run.
func (c coverage) add(t *testing.T, program, unit string) {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(program), "coverage.dat"))
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		at := strings.LastIndexByte(line, ' ')
		if at < 0 || line[0] != 'C' {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSpace(line[at:]))
		require.NoError(t, err)
		if m := coverPoint.FindStringSubmatch(line[:at]); m != nil && strings.HasPrefix(m[2], unit) { // not of the bench
			c[coverPlace{m[1], m[2], inPlace.ReplaceAllString(line[:at], "")}] += n
		}
	}
}

// report logs the shares of points that have been reached by module, and the lines and branches that have not. Of all
// lines and branches, least have to be, and of bits, which count for both edges, toggles.
func (c coverage) report(t *testing.T, least, toggles float64) {
	type sum struct{ hit, all int }
	sums := map[coverPlace]*sum{} // without a place
	var missed []string
	for p, n := range c {
		for _, module := range []string{p.module, "all modules"} {
			of := coverPlace{kind: p.kind, module: module}
			if sums[of] == nil {
				sums[of] = &sum{}
			}
			sums[of].all++
			sums[of].hit += min(n, 1)
		}
		if n == 0 && p.kind != "toggle" {
			missed = append(missed, strings.NewReplacer("\x01", " ", "\x02", "=").Replace(p.place))
		}
	}
	var table []string
	for of, s := range sums {
		share := float64(s.hit) / float64(s.all)
		table = append(table, fmt.Sprintf("%s, %s: %d of %d, %.1f %%", of.module, of.kind, s.hit, s.all, 100*share))
		if of.module == "all modules" {
			bar := map[string]float64{"toggle": toggles, "line": least, "branch": least}[of.kind]
			assert.GreaterOrEqual(t, share, bar, of.kind)
		}
	}
	require.NotEmpty(t, table)
	slices.Sort(table)
	slices.Sort(missed)
	t.Logf("reached:\n%s\nmissed:\n%s", strings.Join(table, "\n"), strings.Join(missed, "\n"))
}

// TestCoverage reports which lines and branches of the Weaver the campaigns execute and which signals they toggle, as
// Verilator counts them.
func TestCoverage(t *testing.T) {
	testenv.NeedLong(t, "a build with counters, minutes of processor time")
	program := build(t, chosen, "--coverage-line --coverage-toggle", nil)
	counts := coverage{}
	for i, c := range chosen {
		for seed := range uint64(12) {
			ins, outs := record(t, c, newCampaign(seed, 1500))
			require.NoError(t, compare(program, i, c, ins, outs))
			counts.add(t, program, "weaver")
		}
	}
	counts.report(t, 1, 0.95)
}
