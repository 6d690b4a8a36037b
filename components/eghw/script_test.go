package eghw

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/scripts"
	"heddle/isa"
	"heddle/isa/emu"
)

// TestScripts plays testdata/*.txt and compares their traces. A script says:
//
//	unit KEY=VALUE…          a new unit; shape, knobs, latency of memory
//	graph DEGREE…            the degrees of vertices 0, 1, …; edge i leads to 100 + i, with weight 1000 + i
//	CYCLE push WARP VERTEX…
//	CYCLE pop WARP [MASK]
//	CYCLE other|wt WARP
//	launch                   a kernel launch
//	run                      until nothing is left to do
func TestScripts(t *testing.T) {
	scripts.Play(t, "testdata/*.txt", func(t *testing.T, commands []string) []string {
		s := script{t: t}
		for _, line := range commands {
			s.line(line)
		}
		return s.out
	})
}

// script is a script being played; out is it with traces.
type script struct {
	t       *testing.T
	e       *Engine
	latency uint64
	weights bool
	now     uint64
	ops     []scriptOp
	queue   []*emu.UnitRequest
	reads   []flight
	out     []string
}

// scriptOp is an instruction that comes in a cycle.
type scriptOp struct {
	at      uint64
	request *emu.UnitRequest
}

// flight is a read under way.
type flight struct {
	tag uint32
	at  uint64
}

func (s *script) line(line string) {
	s.out = append(s.out, line)
	words := strings.Fields(line)
	switch {
	case len(words) == 0 || strings.HasPrefix(words[0], "#"):
	case words[0] == "unit":
		s.unit(words[1:])
	case words[0] == "graph":
		s.graph(s.numbers(words[1:]))
	case words[0] == "launch":
		s.e.Launch()
	case words[0] == "run":
		s.run()
	default:
		s.op(words)
	}
}

func (s *script) numbers(words []string) (out []uint32) {
	for _, w := range words {
		n, err := strconv.ParseInt(w, 0, 64)
		require.NoError(s.t, err)
		out = append(out, uint32(n))
	}
	return out
}

// unit makes a unit; numbers are knobs or the shape's.
func (s *script) unit(words []string) {
	k := map[string]int{
		"warps": 3, "threads": 4, "line": 16, "buffer_entries": 8, "outstanding_lines": 4, "lookahead": 4, "edges_per_read": 16, "write_words": 3, "read_words": 3,
		"buffer_latency": 1, "memory": 6, "weights": 0,
	}
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		require.Contains(s.t, k, key)
		k[key] = int(s.numbers([]string{value})[0])
	}
	spec := Spec{
		BufferEntries: k["buffer_entries"], OutstandingLines: k["outstanding_lines"], Lookahead: k["lookahead"],
		EdgesPerRead: k["edges_per_read"], WriteWords: k["write_words"], ReadWords: k["read_words"],
		BufferLatency: k["buffer_latency"], RequestQueue: 1,
	}
	shape := Shape{Warps: k["warps"], Threads: k["threads"], LineBytes: k["line"]}
	require.NoError(s.t, spec.Check(shape))
	*s = script{t: s.t, out: s.out, e: NewEngine(spec, shape), latency: uint64(k["memory"]), weights: k["weights"] != 0}
	s.e.UseMemory(emu.NewMemory())
}

func (s *script) graph(degrees []uint32) {
	s.e.setup, s.e.configured = place(s.e.mem, degrees), true
	if !s.weights {
		s.e.setup.Weights = 0
	}
	s.e.Launch()
}

// place writes a graph: edge i leads to 100 + i, with weight 1000 + i.
func place(mem *emu.Memory, degrees []uint32) Setup {
	edges := uint32(0)
	for v, d := range degrees {
		mem.Store32(0x1000+uint32(4*v), edges)
		edges += d
	}
	mem.Store32(0x1000+uint32(4*len(degrees)), edges)
	for i := range edges {
		mem.Store32(0x20000+4*i, 100+i)
		mem.Store32(0x30008+4*i, 1000+i)
	}
	return Setup{Vertices: uint32(len(degrees)), Offsets: 0x1000, Edges: edges, Neighbours: 0x20000, Weights: 0x30008}
}

var functions = map[string]uint8{"push": isa.EghwPush, "pop": isa.EghwPop, "other": isa.EghwGetOther,
	"wt": isa.EghwGetWt}

func (s *script) op(words []string) {
	threads := s.e.shape.Threads
	fn, ok := functions[words[1]]
	require.True(s.t, ok, words[1])
	n := s.numbers(words[2:])
	r := &emu.UnitRequest{Fn: fn, Warp: int(n[0]), Mask: 1<<threads - 1, A: make([]uint32, threads),
		Out: make([]uint32, threads)}
	switch {
	case fn == isa.EghwPush:
		r.Mask = 1<<copy(r.A, n[1:]) - 1
	case len(n) > 1:
		r.Mask = n[1]
	}
	s.ops = append(s.ops, scriptOp{uint64(s.numbers(words[:1])[0]), r})
}

// run prints the cycles in which something happened.
func (s *script) run() {
	before := ""
	for end := s.now + 10_000; ; s.now++ {
		require.Less(s.t, s.now, end, "the script does not end")
		events := s.inputs()
		var head *emu.UnitRequest
		if len(s.queue) > 0 {
			head = s.queue[0]
		}
		step := s.e.Cycle(s.now, head, true, true)
		events = append(events, s.outputs(head, &step)...)
		if after := s.state(); len(events) > 0 || after != before {
			s.out = append(s.out, strings.TrimRight(fmt.Sprintf("    %3d %-52s %s", s.now, after,
				strings.Join(events, "; ")), " "))
			before = after
		}
		if s.e.Err() != nil || len(s.ops)+len(s.queue)+len(s.reads)+s.e.answers.Len() == 0 && !step.Moved &&
			step.WakeAt == 0 {
			break
		}
	}
	if s.e.Err() == nil {
		require.NoError(s.t, s.e.CheckInvariants())
	}
	s.now++
}

// inputs holds the arrivals of a cycle.
func (s *script) inputs() (events []string) {
	if len(s.reads) > 0 && s.reads[0].at <= s.now {
		s.e.Arrive(s.reads[0].tag)
		s.reads = s.reads[1:]
		events = append(events, "data")
	}
	for len(s.ops) > 0 && s.ops[0].at <= s.now {
		s.queue = append(s.queue, s.ops[0].request)
		s.ops = s.ops[1:]
	}
	return events
}

func (s *script) outputs(head *emu.UnitRequest, step *Step) (events []string) {
	if step.Took {
		events = append(events, fmt.Sprintf("takes warp %d's", head.Warp))
		s.queue = s.queue[1:]
	}
	if step.HasRequest {
		s.reads = append(s.reads, flight{step.Request.Tag, s.now + s.latency})
		events = append(events, fmt.Sprintf("reads %x", step.Request.Addr))
	}
	if step.Answer != nil {
		var out []int32
		for _, v := range step.Answer.Out {
			out = append(out, int32(v))
		}
		events = append(events, fmt.Sprintf("answers warp %d: %d", step.Answer.Warp, out))
	}
	for _, err := range []error{step.Err, s.e.Err()} {
		if err != nil {
			events = append(events, "error: "+err.Error())
		}
	}
	return events
}

// state lists everything that waits: vertices; rows with the edges not asked for, ? of those whose offsets are not
// known; edges on their way and ready; the oldest pop's reason to wait.
func (s *script) state() string {
	var rows []string
	for i := range s.e.ahead.Len() {
		r := s.e.ahead.At(i)
		text := fmt.Sprintf("%d:%d", r.vertex, r.end-r.next)
		if r.awaited > 0 {
			text = fmt.Sprintf("%d:?", r.vertex)
		}
		rows = append(rows, text)
	}
	return fmt.Sprintf("vertices %d [%s] edges %d+%d %s", s.e.vertices.Len(), strings.Join(rows, " "), s.e.reserved,
		s.e.buffer.Len(), stateDocs[s.e.state].name)
}
