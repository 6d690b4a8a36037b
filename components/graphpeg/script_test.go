package graphpeg

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/balance"
	"heddle/internal/scripts"
	"heddle/isa"
	"heddle/isa/emu"
)

// TestScripts plays testdata/*.txt and compares their traces. A script says:
//
//	unit KEY=VALUE…          a new unit; shape, knobs, latency of memory
//	graph DEGREE…            the degrees of vertices 0, 1, …; edge i leads to 100 + i
//	list LIST VERTEX…        the host fills a list
//	CYCLE pop|popv|get WARP FIELD [MASK]
//	CYCLE push WARP LIST VERTEX…
//	CYCLE donate EDGES       the control processor orders
//	CYCLE receive BASE START END
//	CYCLE give VERTICES | take VERTICES ADDRESS
//	CYCLE standby | release | read | done
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
	mem     *emu.Memory
	latency uint64
	threads int
	now     uint64
	ops     []scriptOp
	queue   []*emu.UnitRequest
	reads   []flight
	out     []string
}

// scriptOp is the action of a cycle.
type scriptOp struct {
	at      uint64
	request *emu.UnitRequest
	command balance.Command
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
	case words[0] == "list":
		v := s.numbers(words[1:])
		require.NoError(s.t, Host{[]*Engine{s.e}}.Fill(int(v[0]), v[1:], Block))
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

// unit makes a unit; numbers are knobs or the shape's, other words choices.
func (s *script) unit(words []string) {
	k := map[string]int{
		"warps": 3, "threads": 4, "line": 16, "alwt_entries": 3, "edge_buffer_bytes": 4 * 8, "list_words": 20, "buffer_latency": 1,
		"memory": 4, "fields": 2, "arrival": 0, "return": 0, "donation": 0, "vertex_mode": 0, "pull": 0, "list_region": 64,
		"tlb_entries": 0, "tlb_page": 1024, "tlb_walk": 1,
	}
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		require.Contains(s.t, k, key)
		k[key] = int(s.numbers([]string{value})[0])
	}
	choose := func(key, yes, no string) string {
		if k[key] != 0 {
			return yes
		}
		return no
	}
	spec := Spec{
		ALWTEntries: k["alwt_entries"], EdgeBufferBytes: k["edge_buffer_bytes"],
		ScratchpadLimit: k["edge_buffer_bytes"] + 2*4*k["list_words"], VertexLists: 2, ListRegion: k["list_region"],
		BufferLatency: k["buffer_latency"], PopOrder: choose("arrival", "arrival", "ring"),
		FERelease: choose("return", "return", "issue"), DonationPriority: choose("donation", "donation", "fi"),
		TLBEntries: k["tlb_entries"], TLBPage: k["tlb_page"], TLBWalk: k["tlb_walk"],
	}
	shape := Shape{Cores: 1, Warps: k["warps"], Threads: k["threads"], LineBytes: k["line"]}
	require.NoError(s.t, spec.Check(shape.Threads, shape.LineBytes))
	*s = script{t: s.t, out: s.out, e: NewEngine(spec, shape), mem: emu.NewMemory(), latency: uint64(k["memory"]),
		threads: k["threads"]}
	s.e.UseMemory(s.mem)
	s.e.setup = Setup{VertexMode: k["vertex_mode"] != 0, Pull: k["pull"] != 0, Fields: uint32(k["fields"])}
}

func (s *script) graph(degrees []uint32) {
	edges := uint32(0)
	for v, d := range degrees {
		s.mem.Store32(0x1000+uint32(4*v), edges)
		edges += d
	}
	s.mem.Store32(0x1000+uint32(4*len(degrees)), edges)
	for i := range edges {
		s.mem.Store32(0x2000+4*i, 100+i)
		s.mem.Store32(0x3000+4*i, 1000+i)
	}
	set := s.e.setup
	set.Out, set.Vertices, set.Edges, set.Offsets, set.Neighbours, set.Weights, set.Regions = 1, uint32(len(degrees)),
		edges, 0x1000, 0x2000, 0x3000, 0x4000
	require.NoError(s.t, s.e.Configure(set))
	s.e.Launch()
}

var orders = map[string]balance.Order{
	"donate": balance.Donate, "give": balance.DonateVertices, "take": balance.ReceiveVertices, "receive": balance.Receive, "standby": balance.Standby, "release": balance.Release, "read": balance.Read, "done": balance.Done,
}

func (s *script) op(words []string) {
	at := uint64(s.numbers(words[:1])[0])
	if order, ok := orders[words[1]]; ok {
		v := append(s.numbers(words[2:]), 0, 0, 0)
		s.ops = append(s.ops, scriptOp{at: at,
			command: balance.Command{Order: order, Epoch: s.e.exchange.epoch, Edges: v[0], Vertices: v[0], Addr: v[1],
				Range: balance.Range{Base: v[0], Start: v[1], End: v[2]}}})
		return
	}
	r := &emu.UnitRequest{Warp: int(s.numbers(words[2:3])[0]), Mask: 1<<s.threads - 1}
	for _, v := range []*[]uint32{&r.A, &r.B, &r.C, &r.Out} {
		*v = make([]uint32, s.threads)
	}
	args := words[3:]
	switch words[1] {
	case "pop", "get":
		r.Fn = map[string]uint8{"pop": isa.PegPop, "get": isa.PegGet}[words[1]]
		for f, name := range fieldNames {
			if args[0] == name {
				r.Fn += uint8(f)
			}
		}
		args = args[1:]
	case "popv":
		r.Fn = isa.PegPopV
	case "push":
		v := s.numbers(args)
		r.Fn, r.Mask, args = isa.PegPush, 1<<(len(v)-1)-1, nil
		copy(r.A, v[1:])
		for l := range r.B {
			r.B[l] = v[0]
		}
	}
	if len(args) > 0 {
		r.Mask = s.numbers(args)[0]
	}
	s.ops = append(s.ops, scriptOp{at: at, request: r})
}

// run prints the cycles in which something happened.
func (s *script) run() {
	before := s.state()
	for end := s.now + 10_000; ; s.now++ {
		require.Less(s.t, s.now, end, "the script does not end")
		events := s.inputs()
		var head *emu.UnitRequest
		if len(s.queue) > 0 {
			head = s.queue[0]
		}
		step := s.e.Cycle(s.now, head, true, true)
		events = append(events, s.outputs(head, &step)...)
		after := s.state()
		if len(events) > 0 || after != before {
			s.out = append(s.out, strings.TrimRight(fmt.Sprintf("    %3d %-58s %s", s.now, after,
				strings.Join(events, "; ")), " "))
		}
		before = after
		idle := !step.Moved && step.WakeAt == 0
		if s.e.Err() != nil || len(s.ops)+len(s.queue)+len(s.reads)+s.e.answers.Len() == 0 && idle {
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
		op := s.ops[0]
		s.ops = s.ops[1:]
		if op.request != nil {
			s.queue = append(s.queue, op.request)
			continue
		}
		s.e.Command(op.command)
		for name, o := range orders {
			if o == op.command.Order {
				events = append(events, "ordered to "+name)
			}
		}
	}
	return events
}

func (s *script) outputs(head *emu.UnitRequest, step *Step) (events []string) {
	if step.Took {
		events = append(events, fmt.Sprintf("takes warp %d's", head.Warp))
		s.queue = s.queue[1:]
	}
	if step.HasRequest {
		verb := "writes"
		if !step.Request.Write {
			verb = "reads"
			s.reads = append(s.reads, flight{step.Request.Tag, s.now + s.latency})
		}
		events = append(events, fmt.Sprintf("%s %x", verb, step.Request.Addr))
	}
	if step.Answer != nil {
		out := []int32{}
		for _, v := range step.Answer.Out {
			out = append(out, int32(v))
		}
		events = append(events, fmt.Sprintf("answers warp %d: %d", step.Answer.Warp, out))
	}
	for r, ok := s.e.Report(); ok; r, ok = s.e.Report() {
		s.e.Reported()
		text := []string{"value", "drained", "not drained", "donated", "refused", "inserted", "donated vertices",
			"inserted vertices"}[r.Event]
		switch r.Event {
		case balance.Value:
			text += fmt.Sprint(" ", r.Edges)
		case balance.DonatedVertices:
			text += fmt.Sprintf(" %d at %x", r.Vertices, r.Addr)
		case balance.Donated:
			text += fmt.Sprintf(" %d..%d of %d", r.Range.Start, r.Range.End, r.Range.Base)
		}
		events = append(events, "says "+text)
	}
	for _, err := range []error{step.Err, s.e.Err()} {
		if err != nil {
			events = append(events, "error: "+err.Error())
		}
	}
	return events
}

// state is table and buffer: entries as status, vertex and edges left; slots valid in front/valid/reserved and valid.
func (s *script) state() string {
	var all []string
	for _, t := range s.e.table.entries {
		text := t.status.String()
		if t.status != IVD {
			text += fmt.Sprintf(" %d", t.base)
		}
		if t.status >= RD {
			text += fmt.Sprintf(":%d-%d", t.start, t.end)
		}
		all = append(all, text)
	}
	return fmt.Sprintf("[%s] buffer %d/%d/%d lists", strings.Join(all, ", "), s.e.buffer.run, s.e.buffer.filled,
		s.e.buffer.n) + s.sizes()
}

func (s *script) sizes() (text string) {
	for i := range s.e.lists {
		l := &s.e.lists[i]
		text += fmt.Sprintf(" %d", l.head.Len())
		if l.spilled+l.coming+l.tail.Len() > 0 {
			text += fmt.Sprintf("+%d+%d", l.line*(l.spilled+l.coming), l.tail.Len())
		}
	}
	return text
}
