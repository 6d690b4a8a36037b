package cache

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/count"
	"heddle/components/mem"
	"heddle/components/queue"
)

var update = flag.Bool("update", false, "rewrite the traces of testdata/*.txt")

// script is the state of one file: # comments, blank lines, and commands each
// followed by the lines "> …" that it answered.
type script interface {
	// run does a command and returns its answer, without the final newline.
	run(t *testing.T, words []string) string
}

func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			var s script = &bankScript{}
			if strings.HasPrefix(filepath.Base(file), "mshr") {
				s = &mshrScript{}
			}
			got := replayScript(t, s, string(want))
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
				return
			}
			require.Equal(t, string(want), got, "go test ./components/cache -update, and read the difference")
		})
	}
}

func replayScript(t *testing.T, s script, text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, ">") {
			continue
		}
		out.WriteString(line + "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		for answer := range strings.SplitSeq(s.run(t, strings.Fields(line)), "\n") {
			if answer != "" {
				out.WriteString("> " + answer + "\n")
			}
		}
	}
	return out.String()
}

func number(t *testing.T, word string) int {
	_, value, ok := strings.Cut(word, "=")
	if !ok {
		value = word
	}
	n, err := strconv.Atoi(value)
	require.NoError(t, err, "%q", word)
	return n
}

// mshrScript: new N; allocate read|write LINE TAG; miss ID; pending LINE;
// join HEAD ID; pass ID; release ID; fill ID; dequeue [keep].
type mshrScript struct{ m mshr }

func (s *mshrScript) run(t *testing.T, w []string) string {
	arg := func(i int) int16 { return int16(number(t, w[i])) }
	switch w[0] {
	case "new":
		s.m = newMSHR(number(t, w[1]))
		return ""
	case "allocate":
		r := request{line: uint32(arg(2)), mem: mem.Request{Op: opOf(t, w[1]), Tag: uint32(arg(3))}}
		return fmt.Sprintf("id %d, full %t", s.m.allocate(&r), s.m.full())
	case "miss":
		s.m.miss(arg(1))
	case "pending":
		return fmt.Sprintf("head %d", s.m.pending(uint32(arg(1))))
	case "pass":
		s.m.pass(arg(1))
	case "join":
		s.m.join(arg(1), arg(2))
	case "release":
		s.m.release(arg(1))
	case "waits":
		return fmt.Sprint(s.m.waits(arg(1)))
	case "fill":
		return fmt.Sprintf("line %d", s.m.fill(arg(1)).line)
	case "dequeue":
		if s.m.replay == none {
			return "none"
		}
		_, r := s.m.dequeue(len(w) > 1)
		return fmt.Sprintf("%s tag %d, used %d", opName(r.mem.Op), r.mem.Tag, s.m.used)
	default:
		t.Fatalf("unknown command %v", w)
	}
	return ""
}

func opOf(t *testing.T, word string) mem.Op {
	op, ok := map[string]mem.Op{"read": mem.Read, "write": mem.Write, "flush": mem.Flush, "invalidate": mem.Invalidate,
		"atomic": mem.Atomic}[word]
	require.True(t, ok, "operation %q", word)
	return op
}

func opName(op mem.Op) string { return []string{"read", "write", "flush", "invalidate", "atomic"}[op] }

// bankScript: bank KEY=VALUE … makes a bank; a request "read LINE TAG" is offered
// until it is accepted, as is "fill ID", or "bring LINE" if memory was asked for that line; both words may share a
// line; "idle N" lets cycles pass. "hold rsp" and "hold mreq" stop a queue from leaving the bank, "free rsp|mreq" lets
// it go again; in "lines" an asterisk marks written words; "walk" begins a flush's walk. An atomic is performed in
// the bank if it was made with atomics=INTERVAL: "atomic LINE TAG" is one operation, "ops N" changes that, "dry" ones
// do not write. Every cycle is a line: accepted | now in stages 0 and 1 | left the bank.
type bankScript struct {
	b         *bank
	now       uint64
	held      map[string]bool
	ops       uint8
	dry       bool
	performed string // in this cycle
}

// Perform performs atomics, whose references are tags.
func (s *bankScript) Perform(ref uint32) bool {
	s.performed += fmt.Sprintf(" performs #%d", ref)
	return !s.dry
}

func (s *bankScript) run(t *testing.T, w []string) string {
	switch w[0] {
	case "bank":
		s.make(t, w[1:])
		return ""
	case "hold":
		s.held[w[1]] = true
		return ""
	case "free":
		s.held[w[1]] = false
		return ""
	case "walk":
		s.b.flush.begin()
		return ""
	case "ops":
		s.ops = uint8(number(t, w[1]))
		return ""
	case "dry":
		s.dry = true
		return ""
	case "lines":
		return s.lines()
	case "stats":
		return nonZero(s.b.stats)
	case "idle":
		var out []string
		for range number(t, w[1]) {
			line, _ := s.cycle(none, nil)
			out = append(out, line)
		}
		return strings.Join(out, "\n")
	}
	return s.offer(t, w)
}

func (s *bankScript) make(t *testing.T, words []string) {
	spec := DefaultSpec()
	spec.LineBytes, spec.Ways, spec.Bytes = 64, 2, 2*2*64
	interval := 0
	for _, w := range words {
		n := number(t, w)
		switch key, _, _ := strings.Cut(w, "="); key {
		case "sets":
			spec.Bytes = n * spec.Ways * spec.LineBytes
		case "back":
			spec.WritePolicy = WritePolicy(n)
		case "atomics":
			interval = n
		case "mshrs":
			spec.MSHRs = n
		case "mreq":
			spec.MemoryQueue = n
		case "rsp":
			spec.ResponseQueue = n
		case "replay_delay":
			spec.ReplayDelay = n
		case "resend":
			spec.ResendWrites = n != 0
		case "forward_flush":
			spec.ForwardFlush = n != 0
		default:
			t.Fatalf("unknown key %q", key)
		}
	}
	require.NoError(t, spec.Validate())
	*s = bankScript{b: newBank(&queue.Owner{Unit: "b"}, &spec, 0), held: map[string]bool{}, ops: 1}
	if interval > 0 {
		s.b.atomics = atomics{performer: s, interval: uint64(interval)}
	}
}

// offer repeats a cycle's inputs until they are all accepted.
func (s *bankScript) offer(t *testing.T, w []string) string {
	fill, r := none, (*request)(nil)
	for len(w) > 0 {
		if w[0] == "fill" {
			fill = int16(number(t, w[1]))
			w = w[2:]
			continue
		}
		if w[0] == "bring" {
			fill = s.b.mshr.pending(uint32(number(t, w[1])))
			w = w[2:]
			continue
		}
		line := uint32(number(t, w[1]))
		r = &request{line: line, mem: mem.Request{Op: opOf(t, w[0]), Addr: line * 64, Tag: uint32(number(t, w[2]))}}
		if w[0] == "atomic" {
			r.mem.Atomic = mem.MakeAtomicRef(r.mem.Tag, int(s.ops))
		}
		w = w[3:]
	}
	var out []string
	for range 6 {
		line, did := s.cycle(fill, r)
		out = append(out, line)
		if did.has(tookRequest) {
			r = nil
		}
		if did.has(tookFill) {
			fill = none
		}
		if r == nil && fill == none {
			return strings.Join(out, "\n")
		}
	}
	return strings.Join(append(out, "not accepted"), "\n")
}

func (s *bankScript) cycle(fill int16, r *request) (string, actions) {
	b := s.b
	before := b.stats
	s.performed = ""
	b.in.fill = fill
	out := b.step(s.now, r)
	b.finish()
	count.In(&b.stats).Settle(s.now + 1)
	line := fmt.Sprintf("%3d: %-18s | st0 %-14s | st1 %-14s |", s.now, s.accepted(out), show(b.st0), show(b.st1))
	line += s.performed + s.leaves() + s.why(before) + map[bool]string{true: " walked"}[out.has(walked)]
	s.now++
	return strings.TrimRight(line, " "), out
}

func (s *bankScript) accepted(out actions) string {
	if b := s.b; out.has(tookRequest|tookFill) || b.st0.kind != bubble && b.waiting == 0 {
		return "accept " + show(b.st0)
	}
	return "-"
}

// leaves empties the queues that are not held.
func (s *bankScript) leaves() (text string) {
	if s.b.rsp.Len() > 0 && !s.held["rsp"] {
		text += fmt.Sprintf(" answer #%d", s.b.rsp.Front().mem.Tag)
		s.b.rsp.Drop()
	}
	if s.b.mreq.Len() > 0 && !s.held["mreq"] {
		r := s.b.mreq.Front()
		text += fmt.Sprintf(" to memory %s %d", opName(r.Op), r.Addr/64)
		if r.Op != mem.Write {
			text += fmt.Sprintf(" id %d", r.Tag)
		}
		s.b.mreq.Drop()
	}
	return text
}

func (s *bankScript) why(before Stats) string {
	for _, c := range []struct {
		was, is count.Span
		text    string
	}{
		{before.MSHRFull, s.b.stats.MSHRFull, " (mshr full)"},
		{before.MemoryQueueFull, s.b.stats.MemoryQueueFull, " (memory queue full)"},
		{before.ResponseQueueFull, s.b.stats.ResponseQueueFull, " (response queue full)"},
	} {
		if c.is.Count() != c.was.Count() {
			return c.text
		}
	}
	return ""
}

func (s *bankScript) lines() string {
	var out []string
	for set := range s.b.sets {
		text := fmt.Sprintf("set %d:", set)
		for way := range s.b.tags.ways {
			i := set*s.b.tags.ways + way
			if l := s.b.tags.line[i]; l == invalid {
				text += " -"
			} else {
				text += fmt.Sprintf(" %d", l)
			}
			if s.b.tags.dirty != nil && s.b.tags.dirty[i] {
				text += "*"
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, "\n")
}

// nonZero writes the counts that are not 0.
func nonZero(s Stats) string {
	var out []string
	v := reflect.ValueOf(&s).Elem()
	for i := range v.NumField() {
		n := uint64(0)
		if c, ok := v.Field(i).Addr().Interface().(*count.Span); ok {
			n = c.Count()
		} else {
			n = v.Field(i).Uint()
		}
		if n != 0 {
			out = append(out, fmt.Sprintf("%s %d", v.Type().Field(i).Name, n))
		}
	}
	return strings.Join(out, ", ")
}

func show(op *operation) string {
	switch op.kind {
	case creq:
		return fmt.Sprintf("%s %d #%d", opName(op.mem.Op), op.line, op.mem.Tag)
	case replayed:
		return fmt.Sprintf("replay %d #%d", op.line, op.mem.Tag)
	case fill:
		return fmt.Sprintf("fill %d", op.line)
	case passed:
		return fmt.Sprintf("passed %d", op.line)
	case flushSet:
		return fmt.Sprintf("flush set %d", op.step)
	}
	return "-"
}
