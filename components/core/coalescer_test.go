package core

import (
	"flag"
	"fmt"
	"math/bits"
	"os"
	"strconv"
	"strings"
	"testing"

	akita "github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"heddle/components/clock"
	"heddle/components/mem"
	"heddle/configs/schema"
	"heddle/isa"
	"heddle/isa/asm"
	"heddle/isa/emu"
)

// TestCoalescerScript plays testdata/coalescer/*.txt on a coalescer alone. A script says:
//
//	core KEY=VALUE…            a new one; keys as in the configuration, and mode=, combine=
//	load|store|atomic ADDR…    an access of warp 0: an address a lane, - for a lane that is off
//	fence
//	cycles N                   the coalescer's actions in them
//	answer BATCH CHANNEL       an answer arrives (an atomic is performed before)
//	hold CHANNEL, free CHANNEL the L1D takes nothing there
//
// In a trace SEND is the RTL's second state, in which a batch is made.
func TestCoalescerScript(t *testing.T) {
	for _, file := range []string{"testdata/coalescer/coalescer.txt", "testdata/coalescer/atomics.txt"} {
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		s := coalescerScript{t: t}
		for line := range strings.Lines(string(want)) {
			s.line(strings.TrimSuffix(line, "\n"))
		}
		got := strings.Join(s.out, "\n") + "\n"
		if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
			require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
			continue
		}
		require.Equal(t, string(want), got, "go test ./components/core -run Coalescer -update, and read the difference")
	}
}

type coalescerScript struct {
	t    *testing.T
	out  []string
	sys  *clock.System
	core *Core
	arch *emu.Machine
	ops  map[string]*emu.Op
	held uint32
	sent []string
	refs map[[2]int]uint32 // of atomics, by batch and channel
}

// coalescerOps are the instructions that a script can name; addresses are in t0.
const coalescerOps = "lw t1, 0(t0)\n sw t1, 0(t0)\n amoadd.w t1, t1, (t0)\n fence"

func (s *coalescerScript) line(line string) {
	if strings.HasPrefix(line, "    ") {
		return // an old trace
	}
	s.out = append(s.out, line)
	w := strings.Fields(line)
	number := func(i int) int {
		n, err := strconv.ParseInt(w[i], 0, 64)
		require.NoError(s.t, err, line)
		return int(n)
	}
	switch {
	case len(w) == 0 || strings.HasPrefix(w[0], "#"):
	case w[0] == "core":
		s.make(w[1:])
	case w[0] == "cycles":
		for range number(1) {
			require.NoError(s.t, s.sys.Run())
		}
	case w[0] == "hold":
		s.held |= 1 << number(1)
	case w[0] == "free":
		s.held &^= 1 << number(1)
	case w[0] == "answer":
		s.answer(number(1), number(2))
	default:
		s.access(w[0], w[1:])
	}
}

func (s *coalescerScript) make(words []string) {
	var mode Atomics
	var keys []string
	for _, w := range words {
		switch k, v, _ := strings.Cut(w, "="); k {
		case "mode":
			require.NoError(s.t, mode.Mode.UnmarshalText([]byte(v)))
		case "combine":
			mode.Combine = v == "true"
		default:
			keys = append(keys, w)
		}
	}
	l, err := schema.New[Spec]("").Load(schema.Input{Set: keys})
	require.NoError(s.t, err)
	spec := l.Value
	spec.Atomics = mode
	s.arch, err = emu.New(emu.Config{Cores: 1, Warps: spec.Warps, Threads: spec.Threads})
	require.NoError(s.t, err)
	p, err := asm.Assemble("ops.s", []byte(coalescerOps), asm.Options{Base: 0x80000000})
	require.NoError(s.t, err)
	s.arch.Load(p)
	s.core, err = New("Core0", spec, Program(s.arch.Core(0)))
	require.NoError(s.t, err)
	s.ops, s.held, s.refs = map[string]*emu.Op{}, 0, map[[2]int]uint32{}
	for i, name := range []string{"load", "store", "atomic", "fence"} {
		s.ops[name], err = s.arch.Core(0).Warp(0).Decode(0x80000000 + 4*uint32(i))
		require.NoError(s.t, err)
	}
	s.connect()
}

// Finish applies the effects of the requests sent.
func (s *coalescerScript) Finish(now clock.Cycle) { s.core.Finish(now) }

// connect puts the coalescer on a clock that stops after each cycle.
func (s *coalescerScript) connect() {
	s.sys = clock.NewSystem("Clock", akita.NewSerialEngine())
	d, err := s.sys.AddDomain("core", 1_000_000)
	require.NoError(s.t, err)
	s.core.Join(d, s)
	var out []*clock.Link[mem.Request]
	var in []*clock.Link[mem.Response]
	for range s.core.spec.Channels() {
		out = append(out, clock.NewLink[mem.Request]("out", 1, 1, s.core.DataHandle(), s.core.DataHandle()))
		in = append(in, clock.NewLink[mem.Response]("in", 1, 1, s.core.DataHandle(), s.core.DataHandle()))
	}
	s.core.ConnectData(out, in)
	s.core.DataHandle().Wake()
}

// Tick is a cycle of the coalescer between an L1D that takes a request a channel and the queue
// before it.
func (s *coalescerScript) Tick(now uint64) bool {
	s.sent = nil
	l := &s.core.lsu
	l.stepCoalescer(now)
	l.coalescer.freed = 0
	for ch, link := range l.out {
		if link.Ready() && s.held>>ch&1 == 0 {
			s.took(ch, link.Pop())
		}
	}
	state := "WAIT"
	if l.coalescer.sending {
		state = "SEND"
	}
	text := fmt.Sprintf("    %3d %s", now, state)
	toTake := 0
	for ch, link := range l.out {
		toTake |= link.Len() << ch
	}
	if toTake != 0 {
		text += fmt.Sprintf(", to be taken on %0*b", len(l.out), toTake)
	}
	if !l.coalescer.fresh {
		text += fmt.Sprintf(", lanes left %0*b", s.core.spec.Threads, l.coalescer.rest)
	}
	if len(s.sent) > 0 {
		text += " | taken: " + strings.Join(s.sent, "; ")
	}
	s.out = append(s.out, text)
	s.sys.Stop()
	return true
}

func (s *coalescerScript) took(ch int, r mem.Request) {
	text := fmt.Sprintf("%s 0x%x on %d", r.Op, r.Addr, ch)
	if r.Op != mem.Write {
		text += fmt.Sprintf(" of batch %d", r.Tag)
	}
	if r.Op == mem.Atomic {
		text += fmt.Sprintf(", %d operations", r.Atomic.Operations())
		s.refs[[2]int{int(r.Tag), ch}] = r.Atomic.Name()
	}
	s.sent = append(s.sent, text)
}

// access puts an access before the coalescer.
func (s *coalescerScript) access(name string, lanes []string) {
	c, op := s.core, s.ops[name]
	require.NotNil(s.t, op, "unknown command %s", name)
	in := inst{op: op, access: -1, id: s.core.start(op, 0)}
	if name != "fence" {
		warp := s.arch.Core(0).Warp(0)
		mask := uint32(0)
		for l, word := range lanes {
			if word == "-" {
				continue
			}
			addr, err := strconv.ParseUint(word, 0, 32)
			require.NoError(s.t, err)
			mask |= 1 << l
			warp.SetReg(isa.Reg(5), l, uint32(addr)) // t0
		}
		warp.SetMask(mask)
		in.access = c.lsu.takeAccess()
		require.NoError(s.t, warp.Issue(op, &c.lsu.accesses[in.access]))
		c.lsu.pendingLanes[in.access] = int16(bits.OnesCount32(mask))
	}
	require.False(s.t, c.lsu.switched.Full(), "the access before has not left")
	c.lsu.switched.Push(in, 0)
}

func (s *coalescerScript) answer(id, ch int) {
	if ref, ok := s.refs[[2]int{id, ch}]; ok {
		s.core.PerformAtomic(ref)
		delete(s.refs, [2]int{id, ch})
	}
	lanes := s.core.lsu.answer(id, ch)
	s.out = append(s.out, fmt.Sprintf("    %d lanes, %d of %d batches free", lanes, len(s.core.lsu.coalescer.free),
		len(s.core.lsu.coalescer.tags)))
}
