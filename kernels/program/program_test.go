package program_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/weaver"
	"heddle/experiment/config"
	"heddle/graph"
	"heddle/graph/graphspec"
	"heddle/internal/tools"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/kernels/host"
	"heddle/kernels/program"
	"heddle/kernels/reference"
	"heddle/kernels/workload"
)

// functional is a device that also executes checking launches.
type functional struct{ *host.Functional }

func (d functional) LaunchFunctional(ctx context.Context, p *isa.Program, arg uint32) error {
	_, err := d.Launch(ctx, p, arg)
	return err
}

func device(t *testing.T, cores, warps, threads int, withWeaver bool) functional {
	t.Helper()
	cfg := emu.Config{Cores: cores, Warps: warps, Threads: threads}
	var d *host.Functional
	var err error
	if withWeaver {
		spec := weaver.DefaultSpec()
		d, err = host.NewFunctional(cfg, &spec)
	} else {
		d, err = host.NewFunctional(cfg, nil)
	}
	require.NoError(t, err)
	return functional{d}
}

// testWorkload has a program, and everything else at its default.
func testWorkload(t *testing.T, file, hostText string, more ...string) workload.Workload {
	t.Helper()
	e, err := config.Parse("test", []byte("name: t\ngraph: {erdos_renyi: {vertices: 9, edges: 9}}\nworkload:\n"+
		"  program: "+file+"\n  host: "+hostText+"\n"+strings.Join(more, "")))
	require.NoError(t, err)
	return e.Workload
}

const (
	bfsHost       = `{graph: [csr], arrays: ["level[vertices] = 0xFFFFFFFF", "more[1]"], init: [begin], steps: [expand], until: more, result: level, check: bfs}`
	trianglesHost = `{graph: [csr, coo], arrays: ["triangles[vertices]"], steps: [count], result: triangles, check: triangles}`
	lookupHost    = `{graph: [csr], parameters: [queries = 123], arrays: ["found[123] = 0xFFFFFFFF"], steps: [%s], check_kernel: verify}`
	inDegreeHost  = `{graph: [coo], arrays: ["degree[vertices]"], steps: [count], result: degree, check: in-degree}`
)

// drawn is a graph of any small size, without edges at times.
func drawn(t *testing.T, r *rand.Rand, clean graphspec.Clean) *graph.Graph {
	t.Helper()
	n := 1 + r.IntN(80)
	spec := graphspec.Graph{ErdosRenyi: &graphspec.ErdosRenyi{Vertices: n, Edges: r.IntN(min(4*n, n*(n-1)/2+1))},
		Clean: clean}
	spec.SetSeed(r.Uint64N(1000))
	g, err := graph.Load(spec)
	require.NoError(t, err)
	return g
}

var simple = graphspec.Clean{Symmetrise: true, DropSelfLoops: true, DropDuplicates: true}

// TestExamples: the shipped programs are correct on graphs and machines of all small sizes.
func TestExamples(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for _, c := range []struct {
		file, host string
		weaver     bool
	}{
		{"in-degree.s", inDegreeHost, false},
		{"bfs.c", bfsHost, false},
		{"triangles.c", trianglesHost, false},
		{"lookup.c", fmt.Sprintf(lookupHost, "search"), false},
		{"lookup.c", fmt.Sprintf(lookupHost, "weave"), true},
	} {
		t.Run(c.file+" "+c.host, func(t *testing.T) {
			if strings.HasSuffix(c.file, ".c") {
				tools.Need(t, program.DefaultCompiler)
			}
			w := testWorkload(t, c.file, c.host)
			p, err := program.Open(t.Context(), &w)
			require.NoError(t, err)
			for range 12 {
				g := drawn(t, r, simple)
				d := device(t, 1+r.IntN(3), 1+r.IntN(5), 1+r.IntN(9), c.weaver)
				run, err := p.NewRun(d, g, w)
				require.NoError(t, err)
				require.NoError(t, run.Do(t.Context()))
				checked, err := run.Verify(t.Context(), d)
				require.True(t, checked)
				require.NoError(t, err, "%d vertices, %d edges, %+v", g.Vertices(), g.Edges(), d.Shape())
				edges := uint64(0)
				for _, l := range run.Launches {
					edges += l.Result.Edges
				}
				if c.file == "in-degree.s" {
					require.Equal(t, uint64(g.Edges()), edges, "every edge is counted once")
				}
			}
		})
	}
}

// TestChecksAreChecks: a result that is wrong in one word does not pass, by whatever it is checked.
func TestChecksAreChecks(t *testing.T) {
	g := drawn(t, rand.New(rand.NewPCG(8, 1)), graphspec.Clean{})
	want := reference.InDegrees(g.CSR())
	file := filepath.Join(t.TempDir(), "expected.txt")
	write := func(numbers []uint32) {
		var s strings.Builder
		for _, n := range numbers {
			fmt.Fprintln(&s, n)
		}
		require.NoError(t, os.WriteFile(file, []byte("# degrees\n"+s.String()), 0o644))
	}
	write(want)
	byFile := strings.Replace(inDegreeHost, "check: in-degree", "check_file: "+file, 1)
	verify := func(hostText string, spoil bool) error {
		w := testWorkload(t, "in-degree.s", hostText)
		p, err := program.Open(t.Context(), &w)
		require.NoError(t, err)
		d := device(t, 2, 2, 4, false)
		run, err := p.NewRun(d, g, w)
		require.NoError(t, err)
		require.NoError(t, run.Do(t.Context()))
		if spoil {
			at := run.Layout[len(run.Layout)-1]
			require.Equal(t, "degree", at.Name)
			word := []uint32{0}
			d.ReadWords(at.Addr, word)
			d.WriteWords(at.Addr, []uint32{word[0] + 1})
		}
		checked, err := run.Verify(t.Context(), d)
		require.True(t, checked)
		return err
	}
	for _, hostText := range []string{inDegreeHost, byFile} {
		require.NoError(t, verify(hostText, false))
		require.ErrorIs(t, verify(hostText, true), reference.ErrWrong)
	}
	file2 := assembly(t, "count: j end\nfinds: ebreak\n")
	w := testWorkload(t, file2, `{steps: [count], check_kernel: finds}`)
	p, err := program.Open(t.Context(), &w)
	require.NoError(t, err)
	d := device(t, 1, 2, 2, false)
	run, err := p.NewRun(d, g, w)
	require.NoError(t, err)
	require.NoError(t, run.Do(t.Context()))
	checked, err := run.Verify(t.Context(), d)
	require.True(t, checked)
	require.ErrorIs(t, err, reference.ErrWrong)
	require.ErrorContains(t, err, "workload.host.check_kernel: kernel finds: ")

	want[len(want)-1]++
	write(want)
	require.ErrorIs(t, verify(byFile, false), reference.ErrWrong)
}

// TestCheckFileOfFloats: within a tolerance a finite number is as near as that, and an infinity or NaN only itself.
func TestCheckFileOfFloats(t *testing.T) {
	file := filepath.Join(t.TempDir(), "expected.txt")
	verify := func(got, want, tolerance string) error {
		require.NoError(t, os.WriteFile(file, []byte(strings.Repeat(want+"\n", 9)), 0o644))
		w := testWorkload(t, assembly(t, "nothing: j end\n"),
			fmt.Sprintf(`{steps: [nothing], arrays: ["f32 x[vertices] = %s"], `+
				`result: x, check_file: %s, check_tolerance: %s}`, got, file, tolerance))
		p, err := program.Open(t.Context(), &w)
		require.NoError(t, err)
		d := device(t, 1, 1, 1, false)
		g, err := graph.Load(graphspec.Graph{ErdosRenyi: &graphspec.ErdosRenyi{Vertices: 9}})
		require.NoError(t, err)
		run, err := p.NewRun(d, g, w)
		require.NoError(t, err)
		require.NoError(t, run.Do(t.Context()))
		_, err = run.Verify(t.Context(), d)
		return err
	}
	values := []string{"0", "1", "-3e38", "inf", "-inf", "nan"}
	for _, tolerance := range []string{"0", "1e-6", "1"} {
		for _, got := range values {
			for _, want := range values {
				// 0 and 1 are within all of 1; nothing else here is within the tolerance of another.
				if err := verify(got, want, tolerance); got == want ||
					tolerance == "1" && got == "0" && want != "-inf" && want != "inf" && want != "nan" {
					require.NoError(t, err, "%s for %s within %s", got, want, tolerance)
				} else if tolerance != "1" || strings.ContainsAny(got+want, "inf") {
					require.ErrorIs(t, err, reference.ErrWrong, "%s for %s within %s", got, want, tolerance)
				}
			}
		}
	}
}

// TestUnchecked: a run without a check reports that it is unchecked.
func TestUnchecked(t *testing.T) {
	w := testWorkload(t, "in-degree.s", `{graph: [coo], arrays: ["degree[vertices]"], steps: [count]}`)
	p, err := program.Open(t.Context(), &w)
	require.NoError(t, err)
	d := device(t, 1, 2, 2, false)
	run, err := p.NewRun(d, drawn(t, rand.New(rand.NewPCG(1, 1)), graphspec.Clean{}), w)
	require.NoError(t, err)
	require.NoError(t, run.Do(t.Context()))
	checked, err := run.Verify(t.Context(), d)
	require.False(t, checked)
	require.NoError(t, err)
}

// head brings all lanes of all warps to the kernel that is launched, and tail ends them with exit code 0.
const (
	head = `
_start: csrr t0, vx_num_warps
 la t1, all
 wspawn t0, t1
all: li t0, -1
 tmc t0
 csrr s0, mscratch
 lw t0, hd_block_kernel(s0)
 beqz t0, end
 jr t0
`
	tail = `
end: fence
 li t0, 1
 tmc t0
 csrr t0, vx_cid
 csrr t1, vx_wid
 or t0, t0, t1
 bnez t0, over
 li t0, 0x88
 sw zero, 0(t0)
over: tmc zero
`
)

// assembly writes a program of those kernels.
func assembly(t *testing.T, kernels string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "own.s")
	require.NoError(t, os.WriteFile(file, []byte(head+kernels+tail), 0o644))
	return file
}

// TestWhatAProgramIsHanded: every word of the block, of every array that can be asked for, read by the program itself.
func TestWhatAProgramIsHanded(t *testing.T) {
	copyWord := func(word string, to int) string {
		return fmt.Sprintf(" lw t0, hd_block_%s(s0)\n li t1, %d\n add t1, t1, s1\n sw t0, 0(t1)\n", word, 4*to)
	}
	text := "look: lw s1, hd_block_seen(s0)\n"
	names := []string{"limit", "alpha", "below", "seen"}
	for _, w := range program.Words() {
		names = append(names, w.Name)
	}
	for i, n := range names {
		text += copyWord(n, i)
	}
	file := assembly(t, text+" j end\n")
	w := testWorkload(t, file, `{graph: [csr, csc, coo, weights, degrees], parameters: [limit = 7, alpha = 0.5, below = -3], arrays: ["seen[64]", "f32 x[vertices*2 + edges + 3] = 1.5"], steps: [look]}`, "  source: 5\n")
	p, err := program.Open(t.Context(), &w)
	require.NoError(t, err)
	g, err := graph.Load(graphspec.Graph{ErdosRenyi: &graphspec.ErdosRenyi{Vertices: 30, Edges: 60},
		Weights: graphspec.Weights{From: graphspec.RandomWeights, Min: 1, Max: 9}})
	require.NoError(t, err)
	d := device(t, 1, 1, 1, false)
	run, err := p.NewRun(d, g, w)
	require.NoError(t, err)
	require.NoError(t, run.Do(t.Context()))
	at := map[string]graph.Region{}
	for _, r := range run.Layout {
		at[r.Name] = r
	}
	seen := make([]uint32, 64)
	d.ReadWords(at["seen"].Addr, seen)
	got := map[string]uint32{}
	for i, n := range names {
		got[n] = seen[i]
	}
	require.Equal(t, []uint32{7, 0x3F000000, 0xFFFFFFFD, at["seen"].Addr}, seen[:4])
	require.Equal(t, []uint32{30, uint32(g.Edges()), 1, 5},
		[]uint32{got["vertices"], got["edges"], got["step"], got["source"]})
	require.Equal(t, uint32(4*(program.OwnWords+5)), got["size"])
	words := func(name string, n int) []uint32 {
		require.NotZero(t, got[name], name)
		out := make([]uint32, n)
		d.ReadWords(got[name], out)
		return out
	}
	out, in := g.CSR(), g.CSC()
	require.Equal(t, out.Offsets, words("csr_offsets", 31))
	require.Equal(t, out.IDs, words("csr_ids", g.Edges()))
	require.Equal(t, out.Weights, words("csr_weights", g.Edges()))
	require.Equal(t, in.Offsets, words("csc_offsets", 31))
	require.Equal(t, in.IDs, words("csc_ids", g.Edges()))
	require.Equal(t, in.Weights, words("csc_weights", g.Edges()))
	coo := g.COOBySource()
	require.Equal(t, coo.Sources, words("coo_sources", g.Edges()))
	require.Equal(t, coo.Destinations, words("coo_destinations", g.Edges()))
	require.Equal(t, coo.Weights, words("coo_weights", g.Edges()))
	for v := range 30 {
		require.Equal(t, uint32(out.Degree(v)), words("out_degrees", 30)[v])
		require.Equal(t, uint32(in.Degree(v)), words("in_degrees", 30)[v])
	}
	x := make([]uint32, 30*2+g.Edges()+3)
	require.Equal(t, uint64(4*len(x)), at["x"].Size)
	d.ReadWords(at["x"].Addr, x)
	for _, v := range x {
		require.Equal(t, uint32(0x3FC00000), v)
	}
}

// TestCAndAssemblySeeTheSameBlock: the header's offsets are the symbols'.
func TestCAndAssemblySeeTheSameBlock(t *testing.T) {
	tools.Need(t, program.DefaultCompiler)
	spec := workload.HostProgram{Parameters: []string{"f32 a = 1", "i32 b = 2", "c = 3"},
		Arrays: []string{"f32 d[1]", "e[2]"}}
	h, err := program.NewHost(spec)
	require.NoError(t, err)
	var text strings.Builder
	text.WriteString("#include \"heddle_block.h\"\n#include <stddef.h>\n")
	for name, at := range h.Symbols() {
		fmt.Fprintf(&text, "_Static_assert(offsetof(struct hd_block, %s) == %d, \"%s\");\n",
			strings.TrimPrefix(name, "hd_block_"), at, name)
	}
	text.WriteString("int main(void) { return 0; }\n")
	file := filepath.Join(t.TempDir(), "own.c")
	require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o644))
	w := testWorkload(t, file, `{parameters: [f32 a = 1, i32 b = 2, c = 3], arrays: ["f32 d[1]", "e[2]"]}`)
	_, err = program.Open(t.Context(), &w)
	require.NoError(t, err)
	require.Contains(t, string(h.Include()), ".equ hd_block_e, ")
}

// TestRefused: errors in the user's input are reported with the key.
func TestRefused(t *testing.T) {
	fine := assembly(t, "count: j end\n")
	endless := assembly(t, "again: lw t1, hd_block_more(s0)\n li t0, 1\n sw t0, 0(t1)\n j end\n")
	wrong := assembly(t, "nothing: ebreak\n")
	low := filepath.Join(t.TempDir(), "low.elf")
	require.NoError(t, os.WriteFile(low, elfAt(0x10), 0o644))
	numbers := filepath.Join(t.TempDir(), "numbers.txt")
	require.NoError(t, os.WriteFile(numbers, []byte("1\n2\nx\n"), 0o644))
	few := filepath.Join(t.TempDir(), "few.txt")
	require.NoError(t, os.WriteFile(few, []byte("1\n2\n"), 0o644))
	for _, c := range []struct{ file, host, more, says string }{
		{"nothing.s", `{}`, "", "workload.program: nothing.s: no such file, and none of the programs that are shipped: bfs.c"},
		{"nothing.txt", `{}`, "", "workload.program: nothing.txt: no such file"},
		{fine, `{steps: [cuont]}`, "", "workload.host.steps: cuont: " + fine + " has no such symbol; it has all, count"},
		{fine, `{steps: [count], check_kernel: verify}`, "", "workload.host.check_kernel: verify: "},
		{fine, `{init: [count]}`, "", "workload.host.init: without steps"},
		{fine, `{until: x}`, "", "workload.host.until: without steps"},
		{fine, `{steps: [count], until: x}`, "", "workload.host.until: x: expected one of host.arrays"},
		{fine, `{steps: [count], result: x, check: bfs}`, "", "workload.host.result: x: expected one of host.arrays"},
		{fine, `{steps: [count], arrays: ["x[1]"], result: x, check: bsf}`, "", "workload.host.check: bsf: expected one of pagerank, bfs"},
		{fine, `{steps: [count], arrays: ["x[1]"], result: x, check: bfs}`, "", "workload.host.result: x has 1 words, and the result of bfs has 9"},
		{fine, `{steps: [count], arrays: ["x[vertices]"], result: x, check: stcon}`, "", "workload.algorithm.target: host.check stcon looks for a target"},
		{fine, `{steps: [count], arrays: ["x[vertices]"], result: x, check_file: ` + numbers + `}`, "", "workload.host.check_file: " + numbers + `:3: "x" is no u32`},
		{fine, `{steps: [count], arrays: ["x[vertices]"], result: x, check_file: ` + few + `}`, "", "workload.host.check_file: " + few + " has 2 numbers, and x has 9 words"},
		{fine, `{steps: [count], graph: [csr, weights]}`, "", "workload.host.graph: weights: the graph has none"},
		{fine, `{steps: [count], arrays: ["x[vertices*edges*4096*4096*8]"]}`, "", "workload.host.arrays: x: more than 2^30 words on a graph of 9 vertices and 18 edges"},
		{fine, `{steps: [count], arrays: ["x[edges*33554432]", "y[edges*33554432]", "z[edges*33554432]", "w[edges*33554432]"]}`, "", "does not fit the address space"},
		{fine, `{steps: [count], arrays: ["x[0]"], until: x}`, "", "workload.host.until: x has no words"},
		{fine, `{steps: [count]}`, "  source: 9\n", "workload.algorithm.source: 9: the graph has vertices 0 to 8"},
		{fine, `{steps: [count], defines: [A=b]}`, "", "workload.host.defines: A=b: expected a number"},
		{fine, `{steps: [count], defines: [A b]}`, "", "workload.host.defines: \"A b\": expected NAME=VALUE"},
		{fine, `{steps: [count], sha256: "00"}`, "", "workload.host.sha256: "},
		{endless, `{steps: [again], arrays: ["more[1]"], until: more}`, "", "workload.host.until: more is still 1 after 10000 super-steps"},
		{endless, `{steps: [again], arrays: ["more[1]"], until: more}`, "  max_iterations: 3\n", "workload.host.until: more is still 1 after workload.max_iterations = 3"},
		{wrong, `{steps: [nothing]}`, "", "kernel nothing: "},
		{low, `{}`, "", "lies over console, exit code and uncached memory"},
	} {
		err := tryRun(t, c.file, c.host, c.more)
		require.ErrorContains(t, err, c.says, "%s %s", c.file, c.host)
	}
}

// TestNeitherIsGuessed: a file with the name of a shipped program is not passed over in silence.
func TestNeitherIsGuessed(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("in-degree.s", []byte(head+"count: j end\n"+tail), 0o644))
	require.ErrorContains(t, tryRun(t, "in-degree.s", `{steps: [count]}`, ""),
		"workload.program: in-degree.s: heddle ships a program of that name")
	require.NoError(t, tryRun(t, "./in-degree.s", `{steps: [count]}`, ""))
}

func tryRun(t *testing.T, file, hostText, more string) error {
	w := testWorkload(t, file, hostText, more)
	p, err := program.Open(t.Context(), &w)
	if err != nil {
		return err
	}
	g, err := graph.Load(graphspec.Graph{ErdosRenyi: &graphspec.ErdosRenyi{Vertices: 9, Edges: 9}})
	require.NoError(t, err)
	run, err := p.NewRun(device(t, 1, 1, 1, false), g, w)
	if err != nil {
		return err
	}
	return run.Do(t.Context())
}

// elfAt is an executable of one word at an address.
func elfAt(addr uint32) []byte {
	b := make([]byte, 52+32+4)
	copy(b, "\x7fELF\x01\x01\x01")
	le := binary.LittleEndian
	le.PutUint16(b[16:], 2)
	le.PutUint16(b[18:], 243)
	le.PutUint32(b[20:], 1)
	le.PutUint32(b[24:], addr)
	le.PutUint32(b[28:], 52)
	le.PutUint16(b[40:], 52)
	le.PutUint16(b[42:], 32)
	le.PutUint16(b[44:], 1)
	for i, v := range []uint32{1, 84, addr, addr, 4, 4, 5, 4} {
		le.PutUint32(b[52+4*i:], v)
	}
	le.PutUint32(b[84:], 0x13)
	return b
}

// TestDeclarations: valid and invalid declarations.
func TestDeclarations(t *testing.T) {
	for _, c := range []struct{ parameter, array, says string }{
		{"", "x[vertices]", ""},
		{"", "i32 x [ 2*vertices + edges * 3 + 1 ] = -1", ""},
		{"", "f32 x[1] = 2", ""},
		{"a = 4294967295", "", ""},
		{"a = 4294967296", "", "workload.host.parameters: \"a = 4294967296\": 4294967296 is no u32"},
		{"i32 a = -2147483649", "", "is no i32"},
		{"u32 a = 0.5", "", "is no u32"},
		{"f32 a = 1e99", "", "is no f32"},
		{"a", "", "workload.host.parameters: \"a\": expected NAME = VALUE"},
		{"1a = 2", "", "expected NAME = VALUE"},
		{"edges = 2", "", "workload.host.parameters: edges: the name is taken, by a word of every program's block"},
		{"while = 2", "", "workload.host.parameters: while: expected a name that C does not have"},
		{"x = 2", "x[1]", "workload.host.arrays: x: the name is taken, by workload.host.parameters"},
		{"", "x", "workload.host.arrays: \"x\": expected NAME[WORDS]"},
		{"", "x[]", "expected numbers, vertices and edges"},
		{"", "x[nodes]", "\"nodes\": expected numbers, vertices and edges"},
		{"", "x[-1]", "expected numbers"},
		{"", "x[65536*65536]", "up to 2^30 words"},
		{"", "u64 x[1]", "expected NAME[WORDS]"},
		{"", "x[" + strings.Repeat("1+", 20) + "1]", "at most 16 terms"},
		{"", "x[" + strings.Repeat("1*", 20) + "1]", "at most 16 factors"},
	} {
		spec := workload.HostProgram{}
		if c.parameter != "" {
			spec.Parameters = []string{c.parameter}
		}
		if c.array != "" {
			spec.Arrays = []string{c.array}
		}
		_, err := program.NewHost(spec)
		if c.says == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, c.says)
		}
	}
}

// FuzzHost: a declaration is refused or accepted, and an accepted one can be written out.
func FuzzHost(f *testing.F) {
	f.Add("f32 a = 0.5", "i32 x[2*vertices + edges] = -1")
	f.Add("a = 0x10", "more[1]")
	f.Fuzz(func(t *testing.T, parameter, array string) {
		h, err := program.NewHost(workload.HostProgram{Parameters: []string{parameter}, Arrays: []string{array}})
		if err != nil {
			return
		}
		if len(h.Symbols()) != len(program.Words())+2 || len(h.Header()) == 0 || len(h.Include()) == 0 {
			t.Fatal("a word is lost")
		}
	})
}

// TestBlockIsDocumented: docs/guide/programs.md has every word, at its place.
func TestBlockIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/guide/programs.md")
	require.NoError(t, err)
	for i, w := range program.Words() {
		require.Contains(t, string(page), fmt.Sprintf("\n| %d | `%s` | %s |\n", i, w.Name, w.Doc))
	}
	for _, name := range program.Shipped() {
		require.Contains(t, string(page), "`"+name+"`")
	}
}
