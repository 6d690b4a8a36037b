package rtl

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/weaver"
	"heddle/internal/testenv"
	"heddle/isa"
)

// scriptConfigs are those of the scripts of the Go model, components/weaver/testdata.
func scriptConfigs(t *testing.T) (configs []config) {
	for _, s := range scripts(t) {
		if !slices.Contains(configs, s.config) {
			configs = append(configs, s.config)
		}
	}
	return testenv.Some(t, 0, 4, configs) // each takes a second to build
}

// playScripts plays the scripts of these configurations, the program's from an index on: as they are, and with a core
// that takes answers late.
func playScripts(t *testing.T, program string, first int, configs []config) {
	list := slices.DeleteFunc(scripts(t), func(s script) bool { return !slices.Contains(configs, s.config) })
	cycles := 0
	for _, s := range list {
		for seed := range testenv.Cases(t, 4, 40) {
			own := s
			own.late = rand.New(rand.NewPCG(seed, 42))
			own.taken = [...]int{4, 4, 1, 2, 3}[min(seed, 4)]
			ins, outs := record(t, s.config, &own)
			err := compare(program, first+slices.Index(configs, s.config), s.config, ins, outs)
			require.NoError(t, err, "%s, seed %d", s.name, seed)
			cycles += len(ins)
		}
	}
	require.NotEmpty(t, list)
	t.Logf("%d scripts, %d configurations, %d cycles", len(list), len(configs), cycles)
}

// script is a unit of a script, as a stimulus.
type script struct {
	config
	name     string
	requests []arrival
	late     *rand.Rand
	taken    int // of 4: how often the core takes an answer
}

type arrival struct {
	at    uint64 // earliest cycle
	quiet bool   // nothing may be under way: the script has run to its end before
	*request
}

func (s *script) next(d *driver, now uint64, pending *request) (req *request, ready, launch, end bool) {
	if pending == nil && len(s.requests) > 0 {
		if a := s.requests[0]; a.at <= now && (!a.quiet || d.quiet()) {
			pending, s.requests = a.request, s.requests[1:]
		}
	}
	done := pending == nil && len(s.requests) == 0 && d.quiet() && now > 0
	return pending, s.late.IntN(4) < s.taken, false, done
}

// scripts reads all scripts, by the format of the test of package weaver with that name.
func scripts(t *testing.T) (list []script) {
	files, err := filepath.Glob("../components/weaver/testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		ran := false
		for n, line := range strings.Split(string(text), "\n") {
			words := strings.Fields(line)
			switch {
			case len(words) == 0 || words[0][0] == '#' || line[0] == ' ':
			case words[0] == "unit":
				list = append(list, script{config: unitOf(t, words[1:]), name: file + ":" + strconv.Itoa(n+1)})
				ran = false
			case words[0] == "run":
				ran = true
			default:
				s := &list[len(list)-1]
				at := uint64(integer(t, words[0]))
				s.requests = append(s.requests, arrival{at, ran, requestOf(t, s.threads, words)})
				ran = false
			}
		}
	}
	return list
}

func integer(t *testing.T, text string) int {
	n, err := strconv.ParseInt(text, 0, 64)
	require.NoError(t, err)
	return int(n)
}

func unitOf(t *testing.T, words []string) config {
	knobs := map[string]int{"warps": 3, "threads": 4, "st_entries": 12, "table_latency": 1, "st_row": 0, "prefetch": 1,
		"skip_empty": 1, "mask_by_unit": 0}
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		require.Contains(t, knobs, key)
		knobs[key] = integer(t, value)
	}
	s := weaver.Spec{
		STEntries: knobs["st_entries"], DTEntries: 1024, TableLatency: knobs["table_latency"], STRow: knobs["st_row"],
		Prefetch: knobs["prefetch"] != 0, SkipEmpty: knobs["skip_empty"] != 0, MaskByUnit: knobs["mask_by_unit"] != 0,
	}
	warps, threads := knobs["warps"], knobs["threads"]
	return config{spec: s.Derived(warps, threads, 1), warps: warps, threads: threads}
}

// requestOf reads "CYCLE OP WARP" and operands.
func requestOf(t *testing.T, threads int, words []string) *request {
	functions := map[string]uint8{"reg": isa.WeaverReg, "skip": isa.WeaverSkip, "dec.id": isa.WeaverDecID,
		"dec.loc": isa.WeaverDecLoc}
	require.Contains(t, functions, words[1])
	r := &request{fn: functions[words[1]], warp: integer(t, words[2]), mask: 1<<threads - 1}
	args := words[3:]
	if r.fn != isa.WeaverReg && r.fn != isa.WeaverSkip {
		if len(args) > 0 {
			r.mask = uint32(integer(t, args[0]))
		}
		return r
	}
	r.mask = 0
	for l, arg := range args {
		if arg == "-" {
			continue
		}
		r.mask |= 1 << l
		for i, field := range strings.Split(arg, ":") {
			[]*[32]uint32{&r.a, &r.b, &r.c}[i][l] = uint32(integer(t, field))
		}
	}
	return r
}
