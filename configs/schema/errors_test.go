package schema

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBadFiles(t *testing.T) {
	const known = "; known here: name, machine, graph, metrics, buffers, schedule, notes, sweep, compare, exclude"
	for _, c := range []struct {
		name, text string
		want       string // without "e.yaml:", lines joined by " & "
	}{
		// keys
		{
			"misspelt", "name: e\nmachine:\n  core:\n    wraps: 3\n",
			"4:5: machine.core.wraps: unknown key; did you mean machine.core.warps?",
		},
		{"wrong level", "name: e\nwarps: 3\n", "2:1: warps: unknown key; did you mean machine.core.warps?"},
		{"misspelt, wrong level", "name: e\nst_entrie: 3\n", "2:1: st_entrie: unknown key; did you mean machine.core.weaver.st_entries?"},
		{"unknown", "name: e\nquux_foo_bar: 3\n", "2:1: quux_foo_bar: unknown key" + known},
		{"case", "Name: e\n", "1:1: Name: unknown key; did you mean name?"},
		{"duplicate", "name: e\nmachine: {cores: 1,\n cores: 1}\n", "3:2: machine.cores: duplicate key; first on line 2"},
		{"number as key", "name: e\n1: 2\n", "2:1: 1: unknown key" + known},
		{"list as key", "name: e\n? [a]\n: 2\n", "2:3: expected a key; found a list"},
		{"empty key", "name: e\n\"\": 2\n", "2:1: expected a key; found \"\""},
		// types
		{"text for integer", "name: e\nmachine: {cores: four}\n", "2:18: machine.cores: expected an integer 1..1024 (cores); found four"},
		{"quoted integer", "name: e\nmachine: {cores: \"4\"}\n", "2:18: machine.cores: expected an integer 1..1024 (cores); found \"4\""},
		{"fraction", "name: e\nmachine: {cores: 4.5}\n", "2:18: machine.cores: expected an integer 1..1024 (cores); found 4.5"},
		{"leading zero", "name: e\nmachine: {cores: 010}\n", "2:18: machine.cores: expected an integer 1..1024 (cores); found 010"},
		{
			"section for integer", "name: e\nmachine: {cores: {a: 1}}\n",
			"2:18: machine.cores: expected an integer 1..1024 (cores); found a section",
		},
		{
			"nothing for integer", "name: e\nmachine:\n  cores:\n",
			"3:9: machine.cores: expected an integer 1..1024 (cores); found nothing",
		},
		{"null for integer", "name: e\nmachine: {cores: null}\n", "2:18: machine.cores: expected an integer 1..1024 (cores); found null"},
		{"number for string", "name: 12\n", "1:7: name: expected a string; found 12"},
		{"boolean for string", "name: true\n", "1:7: name: expected a string; found true"},
		{"list for string", "name: [e]\n", "1:7: name: expected a string; found a list"},
		{"yes", "name: e\nmachine: {core: {banked: yes}}\n", "2:26: machine.core.banked: expected true or false; found yes"},
		{
			"scalar for list", "name: e\nmetrics: ipc\n",
			"2:10: metrics: expected a list, each of it one of cycles, ipc, speedup, l1d.miss_rate; found ipc",
		},
		{
			"element", "name: e\nmetrics:\n  - ipc\n  - icp\n",
			"4:5: metrics[1]: expected one of cycles, ipc, speedup, l1d.miss_rate; found icp; did you mean ipc?",
		},
		{"scalar for section", "name: e\nmachine: {core: 3}\n", "2:17: machine.core: expected a section; found 3"},
		{"list for section", "name: e\ngraph: [1]\n", "2:8: graph: expected a section, or null for none; found a list"},
		{"null for section", "name: e\nmachine: {core: null}\n", "2:17: machine.core: expected a section; found null"},
		{
			"nothing for section", "name: e\nmachine:\n  core:\n",
			"3:3: machine.core: expected a section; found nothing: write {} for a section of defaults",
		},
		{
			"nothing for optional section", "name: e\ngraph:\n",
			"2:1: graph: expected a section, or null for none; found nothing: write {} for a section of defaults",
		},
		{"number for preset", "name: e\nmachine: 3\n", "2:10: machine: expected a section, or the name of one of the machines; found 3"},
		{"list at top", "- name\n", "1:1: expected a section, or the name of one of the experiments; found a list"},
		// ranges
		{"too small", "name: e\nmachine: {cores: 0}\n", "2:18: machine.cores: expected an integer 1..1024 (cores); found 0"},
		{"too large", "name: e\nmachine: {cores: 1025}\n", "2:18: machine.cores: expected an integer 1..1024 (cores); found 1025"},
		{
			"beyond 64 bits", "name: e\nmachine: {cores: 99999999999999999999}\n",
			"2:18: machine.cores: expected an integer 1..1024 (cores); found 99999999999999999999",
		},
		{
			"negative unsigned", "name: e\ngraph: {rmat: {scale: 3, seed: -1}}\n",
			"2:32: graph.rmat.seed: expected an integer of 64 bits; found -1",
		},
		{
			"multiple", "name: e\nmachine: {core: {threads: 6}}\n",
			"2:27: machine.core.threads: expected an integer 4..32, multiple of 4 (lanes); found 6",
		},
		{
			"power of two", "name: e\nmachine: {core: {l1d: {size: 48K}}}\n",
			"2:30: machine.core.l1d.size: expected a size such as 4096 or 64KiB, 1KiB..64MiB, power of two (bytes); found 48K",
		},
		{
			"kilobytes", "name: e\nmachine: {core: {l1d: {size: 64KB}}}\n",
			"2:30: machine.core.l1d.size: expected a size such as 4096 or 64KiB, 1KiB..64MiB, power of two (bytes); found 64KB",
		},
		{
			"number", "name: e\nmachine: {clock_ratio: 9}\n",
			"2:24: machine.clock_ratio: expected a number 0.5..8 (core cycles per memory cycle); found 9",
		},
		{
			"not a number", "name: e\nmachine: {clock_ratio: .nan}\n",
			"2:24: machine.clock_ratio: expected a number 0.5..8 (core cycles per memory cycle); found .nan",
		},
		{
			"enumeration", "name: e\nschedule: vertx\n",
			"2:11: schedule: expected one of vortex, vertex, edge, weaver, two-level; found vertx; did you mean vertex?",
		},
		{
			"typed enumeration", "name: e\nmachine: {core: {policy: gta}}\n",
			"2:26: machine.core.policy: expected one of rr, gto; found gta; did you mean gto?",
		},
		// missing, and rules across fields
		{"required", "machine: small\n", "1:1: name: missing; expected a string"},
		{"required below", "name: e\ngraph:\n  rmat: {}\n", "3:3: graph.rmat.scale: missing; expected an integer 1..30 (log2 vertices)"},
		{"nothing at all", "", "1:1: name: missing; expected a string"},
		{"comments only", "# hi\n", "1:1: name: missing; expected a string"},
		{"section's rule", "name: e\nmachine: small\ngraph: {}\n", "3:1: graph: expected either file or rmat"},
		{"field's rule", "name: e\nmachine:\n  core:\n    l1d: {ways: 5}\n", "4:17: machine.core.l1d.ways: expected at most warps = 4"},
		{
			"rule on a default", "name: e\nmachine:\n  core:\n    warps: 2\n",
			"3:3: machine.core.l1d.ways: expected at most warps = 2 (4 is its default)",
		},
		{"both rules", "name: e\nmachine: {core: {warps: 2, l1d: {ways: 3}, threads: 20, banked: false}}\n",
			"2:40: machine.core.l1d.ways: expected at most warps = 2 & e.yaml:2:11: machine.core: more than 16 threads need banked"},
		// extends
		{"no such preset", "name: e\nmachine: smal\n", "2:10: machine.extends: preset smal of machines: unknown; did you mean small?"},
		{
			"no such preset, not near", "name: e\nmachine: {extends: vortex}\n",
			"2:20: machine.extends: preset vortex of machines: unknown; there are: broken, large, loop, loop_b, path, small",
		},
		{"no such file", "name: e\nmachine: no/such.yaml\n", "2:10: machine.extends: no/such.yaml: no such file or directory"},
		{"escape", "name: e\nmachine: '..'\n", "2:10: machine.extends: preset .. of machines: unknown"},
		{
			"cycle", "name: e\nmachine: loop\n",
			"machines/loop_b.yaml:2:10: machine.extends: extends itself: e.yaml → machines preset loop → machines preset " +
				"loop_b → machines preset loop",
		},
		{
			"error in preset", "name: e\nmachine: broken\n",
			"machines/broken.yaml:1:8: machine.cores: expected an integer 1..1024 (cores); found 0",
		},
		{
			"path in preset", "name: e\nmachine: path\n",
			`machines/path.yaml:1:10: machine.extends: "./small.yaml": a preset extends presets only, by name`,
		},
		{
			"out of place", "name: e\nmachine: {core: {extends: small}}\n",
			"2:18: machine.core.extends: extends stands at the top of a file, or in machine",
		},
		{"list", "extends: [a, b]\n", "1:10: extends: expected the name of a preset or of a file; found a list"},
		{"twice", "extends: base\nextends: base\n", "2:1: extends: duplicate key; first on line 1"},
		// axes
		{
			"axis unknown", "name: e\nsweep: {machine.core.wraps: [1]}\n",
			"2:9: machine.core.wraps: unknown key; did you mean machine.core.warps?",
		},
		{
			"axis value", "name: e\nsweep:\n  machine.core.warps: [1, 65]\n",
			"3:27: sweep.machine.core.warps[1]: expected an integer 1..64 (warps); found 65",
		},
		{
			"axis twice", "name: e\nsweep:\n  machine.core.warps: [1]\n  machine.core.warps: [2]\n",
			"4:3: sweep.machine.core.warps: duplicate key; first on line 3",
		},
		{"axis repeats", "name: e\nsweep: {buffers: [[1K], [1024]]}\n", "2:25: sweep.buffers[1]: [1KiB] stands twice"},
		{"axis without values", "name: e\nsweep: {name: []}\n", "2:15: sweep.name: expected a list of values; found an empty list"},
		{"axis scalar", "name: e\nsweep: {name: a}\n", "2:15: sweep.name: expected a list of values; found a"},
		{
			"axis scalar number", "name: e\nsweep: {machine.core.warps: 4}\n",
			"2:29: sweep.machine.core.warps: expected a list of values, or a range such as {from: 1, to: 8, step: 1} or {from: 1, " +
				"to: 8, times: 2}; found 4",
		},
		{
			"range of names", "name: e\nsweep: {name: {from: a, to: b}}\n",
			"2:15: sweep.name: expected a list of values; found a section: ranges are for numbers",
		},
		{
			"range key", "name: e\nsweep: {machine.core.warps: {from: 1, to: 8, stpe: 1}}\n",
			"2:46: sweep.machine.core.warps.stpe: unknown key; did you mean step?",
		},
		{
			"range twice", "name: e\nsweep: {machine.core.warps: {from: 1, from: 2, to: 8, step: 1}}\n",
			"2:39: machine.core.warps.from: duplicate key; first on line 2",
		},
		{
			"range open", "name: e\nsweep: {machine.core.warps: {from: 1, step: 1}}\n",
			"2:29: sweep.machine.core.warps: expected a range: from, to, and either step or times",
		},
		{
			"range both", "name: e\nsweep: {machine.core.warps: {from: 1, to: 8, step: 1, times: 2}}\n",
			"2:29: sweep.machine.core.warps: expected a range: from, to, and either step or times",
		},
		{
			"range backwards", "name: e\nsweep: {machine.core.warps: {from: 8, to: 1, step: 1}}\n",
			"2:29: sweep.machine.core.warps: expected from to be at most to",
		},
		{
			"range stands", "name: e\nsweep: {machine.core.warps: {from: 1, to: 8, step: 0}}\n",
			"2:29: sweep.machine.core.warps: expected step to be above 0",
		},
		{
			"range of one factor", "name: e\nsweep: {machine.core.warps: {from: 1, to: 8, times: 1}}\n",
			"2:29: sweep.machine.core.warps: expected times to be above 1, and from to be above 0",
		},
		{
			"range out of range", "name: e\nsweep: {machine.core.warps: {from: 32, to: 128, times: 2}}\n",
			"2:29: sweep.machine.core.warps: the range comes to 128: expected an integer 1..64 (warps)",
		},
		{
			"range of words", "name: e\nsweep: {machine.core.warps: {from: few, to: 8, step: 1}}\n",
			"2:36: sweep.machine.core.warps.from: expected an integer; found few",
		},
		{
			"range of fractions", "name: e\nsweep: {machine.core.warps: {from: 1, to: 8, step: 0.5}}\n",
			"2:52: sweep.machine.core.warps.step: expected an integer; found 0.5",
		},
		{
			"range too long",
			"name: e\nsweep: {buffers: [[1]], machine.clock_ratio: {from: 0.5, to: 1, step: 0.00001}}\n",
			"2:46: sweep.machine.clock_ratio: expected a range of at most 4096 values",
		},
		{
			"rows", "name: e\nsweep: {'machine.core.warps, schedule': [1, 2]}\n",
			"2:42: sweep.machine.core.warps, schedule[0]: expected a list of 2 values, one for each key; found 1 & e.yaml:2:45: " +
				"sweep.machine.core.warps, schedule[1]: expected a list of 2 values, one for each key; found 2",
		},
		{
			"row short", "name: e\nsweep: {'machine.core.warps, schedule': [[1]]}\n",
			"2:42: sweep.machine.core.warps, schedule[0]: expected a list of 2 values, one for each key; found a list of 1",
		},
		{
			"row value", "name: e\nsweep: {'machine.core.warps, schedule': [[1, edge], [65, edge]]}\n",
			"2:54: sweep.machine.core.warps, schedule[1][0]: expected an integer 1..64 (warps); found 65",
		},
		{
			"row twice", "name: e\nsweep: {'machine.core.warps, schedule': [[1, edge], [1, edge]]}\n",
			"2:53: sweep.machine.core.warps, schedule[1]: [1, edge] stands twice",
		},
		{
			"rows missing", "name: e\nsweep: {'machine.core.warps, schedule': []}\n",
			"2:41: sweep.machine.core.warps, schedule: expected a list of lists, each with 2 values; found an empty list",
		},
		{
			"row key unknown", "name: e\nsweep: {'machine.core.warps, schedul': [[1, edge]]}\n",
			"2:9: schedul: unknown key; did you mean schedule?",
		},
		{
			"row key twice", "name: e\nsweep: {schedule: [edge], 'machine.core.warps, schedule': [[1, edge]]}\n",
			"2:27: sweep.schedule: stands twice among the axes",
		},
		{
			"exclude", "name: e\nexclude: {schedule: edge}\n",
			"2:10: exclude: expected a list of points to leave out, each with axes and values; found a section",
		},
		{
			"exclude nothing", "name: e\nexclude: [{}]\n",
			"2:11: exclude[0]: expected axes, each with the value, or a list of values, to leave out; found a section",
		},
		{
			"exclude value", "name: e\nexclude: [{schedule: [edge, edg]}]\n",
			"2:29: exclude[0].schedule[1]: expected one of vortex, vertex, edge, weaver, two-level; found edg; did you mean edge?",
		},
		{"exclude key", "name: e\nexclude: [{schedul: edge}]\n", "2:12: schedul: unknown key; did you mean schedule?"},
		{"exclude sweep", "name: e\nexclude: [{sweep: edge}]\n", "2:12: exclude.sweep: axes cannot be an axis: it has no single value"},
		{
			"axis section", "name: e\nsweep: {machine.core: [1]}\n",
			"2:9: sweep.machine.core: section cannot be an axis: it has no single value",
		},
		{
			"axis preset", "name: e\nsweep: {machine: [small, lage]}\n",
			"2:26: machine.extends: preset lage of machines: unknown; did you mean large?",
		},
		{"axis below leaf", "name: e\nsweep: {name.x: [1]}\n", "2:9: name.x: name is no section"},
		{"zipped", "name: e\ncompare: {schedule: [vertex, edge], machine: [small, small, large]}\n",
			"2:46: compare.machine: expected as many values as schedule has, 2, since they go together; found 3"},
		{
			"variants", "name: e\ncompare: 3\n",
			"2:10: compare: expected a list of variants, or keys, each with a list of values that go together; found 3",
		},
		{
			"variant", "name: e\ncompare: [3]\n",
			"2:11: compare[0]: expected a variant: name, the keys that it sets, and sweep, if it has axes of its own; found 3",
		},
		{
			"variant without a name", "name: e\ncompare: [{schedule: edge}]\n",
			"2:11: compare[0].name: missing; expected the variant's name in tables and figures",
		},
		{
			"variant's name", "name: e\ncompare: [{name: []}]\n",
			"2:18: compare[0].name: expected a name of at most 48 characters, in one line; found a list",
		},
		{"variants of one name", "name: e\ncompare: [{name: a}, {name: a}]\n", "2:22: compare[1].name: a stands twice"},
		{"variant's key", "name: e\ncompare: [{name: a, wraps: 3}]\n", "2:21: compare[0].wraps: unknown key; did you mean warps?"},
		{
			"variant's path", "name: e\ncompare: [{name: a, machine.core.wraps: 3}]\n",
			"2:21: machine.core.wraps: unknown key; did you mean machine.core.warps?",
		},
		{
			"variant's value", "name: e\ncompare: [{name: a, machine: {core: {warps: 65}}}]\n",
			"2:45: machine.core.warps: expected an integer 1..64 (warps); found 65",
		},
		{
			"variant's key twice", "name: e\ncompare: [{name: a, warps: 3, machine: {core: {warps: 4}}}]\n",
			"2:31: compare[0]: machine.core.warps stands twice",
		},
		{
			"variant's preset", "name: e\ncompare: [{name: a, machine: smal}]\n",
			"2:30: machine.extends: preset smal of machines: unknown; did you mean small?",
		},
		{
			"variant's sweep", "name: e\ncompare: [{name: a, sweep: {machine.core.warps: 3}}]\n",
			"2:49: compare[0].sweep.machine.core.warps: expected a list of values, or a range such as {from: 1, to: 8, step: 1} " +
				"or {from: 1, to: 8, times: 2}; found 3",
		},
		{"variant of axes", "name: e\ncompare: [{name: a, exclude: []}]\n", "2:21: compare[0].exclude: stands outside variants"},
		{"axes", "name: e\nsweep: [1]\n", "2:8: sweep: expected keys, each with a list of values; found a list"},
		// YAML
		{"tab", "name: e\nmachine:\n\tcores: 1\n", "3:1: found a tab character in the indentation"},
		{"tab after spaces", "name: e\nmachine:\n  cores: 1\n  \tcore: 1\n", "4:1: found a tab character in the indentation"},
		{"first line", "name: @e\n", "1:1: found character that cannot start any token"},
		{"colon", "name: e\n\nschedule: a: b\n", "3:1: mapping values are not allowed in this context"},
		{"indentation", "# c\n\nname: e\nmachine:\n  cores: 1\n core: {}\n", "6:1: did not find expected key; is the indentation right?"},
		{"list in section", "# c\nname: e\nmachine:\n  cores: 1\n  - 3\n", "5:1: did not find expected key; is the indentation right?"},
		{"open bracket", "name: e\nmetrics: [ipc\nschedule: edge\n", "2:1: did not find expected ',' or ']'"},
		{"open quote", "name: e\nschedule: 'edge\n", "2:1: found unexpected end of stream"},
		{"two documents", "name: e\n---\nname: f\n", "2:1: a second document begins here; one is allowed"},
		{"anchor", "name: &n e\nschedule: edge\n", "1:7: anchors are refused; use extends, or write the value out"},
		{
			"alias", "name: &n e\nschedule: *n\n",
			"1:7: anchors are refused; use extends, or write the value out & e.yaml:2:11: aliases are refused; use extends, or " +
				"write the value out",
		},
		{"unknown alias", "name: e\nschedule: *n\n", "2:1: aliases are refused; use extends, or write the value out"},
		{"merge", "name: e\n<<: {schedule: edge}\n", "2:1: merge keys are refused; use extends"},
		{"tag", "name: !!str 3\n", "1:7: tags are refused; types follow from the keys"},
		{"own tag", "name: !file x\n", "1:7: tags are refused; types follow from the keys"},
		{"Latin-1", "name: e\nnotes: [caf\xe9]\n", "2:12: not UTF-8"},
		{"control", "name: \x00\n", "1:7: control character U+0000"},
		{"UTF-16", "\xff\xfen\x00", "1:1: not UTF-8"},
		{"deep", "name: e\nnotes: " + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "\n", "2:39: nested deeper than 32 levels"},
		{"bottomless", strings.Repeat("[", 1<<20), "1:1: exceeded max depth of 10000"},
		{"huge", strings.Repeat("#", 1<<20+1), "larger than 1048576 bytes"},
	} {
		_, err := experiments.Load(input(c.text))
		if !assert.Error(t, err, c.name) {
			continue
		}
		want := c.want
		switch {
		case c.name == "huge":
			want = "e.yaml: " + want
		case !strings.HasPrefix(want, "machines/"):
			want = "e.yaml:" + want
		}
		assert.Equal(t, want, strings.ReplaceAll(err.Error(), "\n", " & "), c.name)
	}
}

func TestBadTexts(t *testing.T) {
	for _, c := range []struct {
		env, set []string
		want     string
	}{
		{[]string{"HEDDLE_MACHINE__CORES=0"}, nil, "$HEDDLE_MACHINE__CORES: machine.cores: expected an integer 1..1024 (cores); found 0"},
		{[]string{"HEDDLE_MACHINE__CORES="}, nil, "$HEDDLE_MACHINE__CORES: machine.cores: expected an integer 1..1024 (cores); found "},
		{[]string{"HEDDLE_MACHINE_CORES=1"}, nil, "$HEDDLE_MACHINE_CORES: unknown variable; did you mean HEDDLE_MACHINE__CORES?"},
		{[]string{"HEDDLE_machine__cores=1"}, nil, "$HEDDLE_machine__cores: unknown variable; did you mean HEDDLE_MACHINE__CORES?"},
		{[]string{"HEDDLE_QQQQQQ=1"}, nil, "$HEDDLE_QQQQQQ: unknown variable; two underscores part the keys, as in HEDDLE_EXCLUDE"},
		{[]string{"HEDDLE_=1"}, nil, "$HEDDLE_: unknown variable; two underscores part the keys, as in HEDDLE_EXCLUDE"},
		{[]string{"HEDDLE_NAME=\xff"}, nil, `$HEDDLE_NAME: name: expected a string; found "\xff"`},
		{
			[]string{"HEDDLE_METRICS=ipc,icp"},
			nil,
			"$HEDDLE_METRICS: metrics[1]: expected one of cycles, ipc, speedup, l1d.miss_rate; found \"icp\"; did you mean ipc?",
		},
		{
			nil,
			[]string{"machine.core.wraps=1"},
			"--set machine.core.wraps: machine.core.wraps: unknown key; did you mean machine.core.warps?",
		},
		{nil, []string{"machine.core.warps"}, "--set machine.core.warps: expected KEY=VALUE"},
		{nil, []string{"machine.core.warps.x=1"}, "--set machine.core.warps.x: machine.core.warps.x: machine.core.warps is no section"},
		{
			nil,
			[]string{"=1"},
			"--set : unknown key; known here: name, machine, graph, metrics, buffers, schedule, notes, sweep, compare, exclude",
		},
		{nil, []string{"machine.core=1"}, "--set machine.core: machine.core: expected a section; found \"1\""},
		{nil, []string{"machine.core=null"}, "--set machine.core: machine.core: expected a section; found null"},
		{nil, []string{"machine=smal"}, "--set machine: machine.extends: preset smal of machines: unknown; did you mean small?"},
		{nil, []string{"buffers=[1,"}, "--set buffers: did not find expected node content"},
		{nil, []string{"graph.rmat={scale: 3, seed: x}"}, "--set graph.rmat: graph.rmat.seed: expected an integer of 64 bits; found x"},
		{nil, []string{"schedule=a"}, "--set schedule: schedule: expected one of vortex, vertex, edge, weaver, two-level; found \"a\""},
		{nil, []string{"sweep="}, "--set sweep: sweep: expected keys, each with a list of values; found nothing"},
	} {
		in := input("name: e\n")
		in.Env, in.Set = c.env, c.set
		_, err := experiments.Load(in)
		assert.EqualError(t, err, c.want)
	}
}

func TestWithoutFile(t *testing.T) {
	_, err := experiments.Load(Input{})
	assert.EqualError(t, err, "default: name: missing; expected a string")
	_, err = experiments.Load(Input{Set: []string{"name=x", "machine=small"}})
	assert.EqualError(t, err, "--set machine: machine.extends: preset small of machines: unknown")
	l, err := experiments.Load(Input{Set: []string{"name=x"}})
	require.NoError(t, err)
	assert.Empty(t, l.Files)
}

func TestManyErrors(t *testing.T) {
	in := input("name: 1\nnope: 2\nmachine: {cores: 0}\n")
	in.Env = []string{"HEDDLE_NOPE=1"}
	in.Set = []string{"nope=1"}
	_, err := experiments.Load(in)
	var all *Errors
	require.ErrorAs(t, err, &all)
	var at []string
	for _, e := range all.List {
		at = append(at, e.At.String())
	}
	assert.Equal(t, []string{"e.yaml:1:7", "e.yaml:2:1", "e.yaml:3:18", "$HEDDLE_NOPE", "--set nope"}, at,
		"all layers, in order")
	var one *Error
	require.ErrorAs(t, err, &one)
	assert.Equal(t, "name", one.Key)

	_, err = experiments.Load(input(strings.Repeat("nope: 1\n", 100)))
	require.ErrorAs(t, err, &all)
	assert.Len(t, all.List, maxErrors)
	assert.True(t, strings.HasSuffix(err.Error(), "\nand 80 more errors"), err)
}

type otherError struct{}

func (otherError) Error() string    { return "other" }
func (otherError) FieldKey() string { return "n" }
func (otherError) FieldMsg() string { return "not mine" }

type blaming struct {
	N int      `key:"n" default:"1" min:"0" max:"9" unit:"" doc:"N."`
	K []int    `key:"k" default:"1" min:"0" max:"9" unit:"" doc:"K."`
	S struct{} `key:"s" doc:"S."`
}

// Validate's result follows from n, which survives the filling.
func (b *blaming) Validate() error {
	return map[int]error{
		2: otherError{}, 3: &FieldError{"k[0]", "element"}, 4: &FieldError{"s", "section"},
		5: &FieldError{"zz", "not here"},
		6: errors.Join(errors.New("a"), errors.New("b")),
	}[b.N]
}

func TestBlame(t *testing.T) {
	s := New[blaming]("")
	for n, want := range map[string]string{
		"2": "f:1:4: n: not mine", "3": "f:1:1: k[0]: element ([1] is its default)",
		"4": "f:1:1: s: section", "5": "f:1:1: zz = not here", "6": "f:1:1: a\nf:1:1: b",
	} {
		_, err := s.Load(Input{File: "f", Data: []byte("n: " + n)})
		assert.EqualError(t, err, want)
	}
}

func TestExtendsLimits(t *testing.T) {
	endless := func(kind, name string) (string, []byte, error) {
		return name, []byte("extends: " + name + "x\n"), nil
	}
	_, err := experiments.Load(Input{File: "e", Data: []byte("extends: x\n"), Presets: endless})
	assert.ErrorContains(t, err, "extends: more than 16 files extend each other: e → experiments preset x → ")
	_, err = New[blaming]("").Load(Input{File: "e", Data: []byte("extends: x\n")})
	assert.EqualError(t, err, `e:1:10: extends: "x": there are no presets for this, expected a path such as ./base.yaml`)
}

// Time must grow with the file, not with its square: this one once took 45 s.
func TestLongSweep(t *testing.T) {
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, "%d,", i)
	}
	start := time.Now()
	l := load(t, input("name: e\nsweep: {buffers: [["+strings.ReplaceAll(b.String(), ",", "],[")+"]]}\n"))
	assert.Len(t, l.Value.Sweep[0].Values, 100_001)
	assert.Less(t, time.Since(start), 20*time.Second)
}

// Above the size that is worth reparsing, a broken block is reported where it
// begins.
func TestBrokenBlockInLargeFile(t *testing.T) {
	text := strings.Repeat("# c\n", maxBisect/4) + "name: e\nmachine:\n  cores: 1\n core: {}\n"
	_, err := experiments.Load(input(text))
	assert.EqualError(t, err, fmt.Sprintf("e.yaml:%d:1: did not find expected key; is the indentation right?",
		maxBisect/4+1))
}

// Texts that would do more on a terminal than be read are refused, wherever they come from.
func TestTextsAreShownAsTheyAre(t *testing.T) {
	const says = "name: expected a string on one line, without control characters; found "
	for text, shown := range map[string]string{
		`"a\nb"`: `"a\nb"`, `"\e[31mred"`: `"\x1b[31mred"`, `"abc\u202edcba"`: `"abc\u202edcba"`, `"\u200b"`: `"\u200b"`, `"\ufeffx"`: `"\ufeffx"`,
	} {
		_, err := experiments.Load(Input{File: "e.yaml", Data: []byte("name: " + text + "\n"), Presets: presets})
		assert.EqualError(t, err, "e.yaml:1:7: "+says+shown)
	}
	_, err := experiments.Load(Input{Set: []string{"name=a\u2066b"}, Presets: presets})
	assert.ErrorContains(t, err, "name: expected a string on one line")
	l, err := experiments.Load(Input{File: "e.yaml", Data: []byte("name: Größe 漢字 × 7\n"), Presets: presets})
	require.NoError(t, err)
	assert.Equal(t, "Größe 漢字 × 7", l.Value.Name)
}
