package weaver

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
//	unit KEY=VALUE…           a new unit; warps, threads, and the knobs
//	CYCLE OP WARP [LANES] …   a request enters the queue; lanes are a mask, all if absent
//	run                       until nothing is left to do
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
	t              *testing.T
	f              *FSM
	warps, threads int
	now            uint64
	queue          []arrival
	out            []string
}

type arrival struct {
	at uint64
	r  *emu.UnitRequest
}

func (s *script) line(line string) {
	s.out = append(s.out, line)
	words := strings.Fields(line)
	switch {
	case len(words) == 0 || strings.HasPrefix(words[0], "#"):
	case words[0] == "unit":
		s.unit(words[1:])
	case words[0] == "run":
		s.run()
	default:
		s.request(words)
	}
}

func (s *script) unit(words []string) {
	knobs := map[string]int{"warps": 3, "threads": 4, "st_entries": 12, "table_latency": 1, "st_row": 0, "prefetch": 1,
		"skip_empty": 1, "mask_by_unit": 0}
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		require.Contains(s.t, knobs, key)
		knobs[key] = s.number(value)
	}
	spec := Spec{
		STEntries: knobs["st_entries"], DTEntries: 1024, TableLatency: knobs["table_latency"], STRow: knobs["st_row"],
		Prefetch: knobs["prefetch"] != 0, SkipEmpty: knobs["skip_empty"] != 0, MaskByUnit: knobs["mask_by_unit"] != 0,
	}
	s.warps, s.threads, s.now, s.queue = knobs["warps"], knobs["threads"], 0, nil
	s.f = NewFSM(spec.Derived(s.warps, s.threads, 1), s.warps, s.threads)
	s.f.Launch()
}

func (s *script) number(text string) int {
	n, err := strconv.ParseInt(text, 0, 64)
	require.NoError(s.t, err)
	return int(n)
}

var functions = map[string]uint8{"reg": isa.WeaverReg, "skip": isa.WeaverSkip, "dec.id": isa.WeaverDecID,
	"dec.loc": isa.WeaverDecLoc}

// request reads "CYCLE OP WARP": reg has vid:loc:deg or - for each lane, skip vids, the
// others may have a mask.
func (s *script) request(words []string) {
	require.GreaterOrEqual(s.t, len(words), 3)
	require.Contains(s.t, functions, words[1])
	r := &emu.UnitRequest{Fn: functions[words[1]], Warp: s.number(words[2]), Mask: 1<<s.threads - 1}
	for _, v := range []*[]uint32{&r.A, &r.B, &r.C, &r.Out} {
		*v = make([]uint32, s.threads)
	}
	switch args := words[3:]; {
	case words[1] == "reg" || words[1] == "skip":
		s.operands(r, args)
	case len(args) > 0:
		r.Mask = uint32(s.number(args[0]))
	}
	r.NewMask = r.Mask
	s.queue = append(s.queue, arrival{uint64(s.number(words[0])), r})
}

func (s *script) operands(r *emu.UnitRequest, args []string) {
	r.Mask = 0
	for l, arg := range args {
		if arg == "-" {
			continue
		}
		r.Mask |= 1 << l
		for i, field := range strings.Split(arg, ":") {
			[]([]uint32){r.A, r.B, r.C}[i][l] = uint32(s.number(field))
		}
	}
}

// run prints the cycles in which something happened.
func (s *script) run() {
	before := numStates
	for end := s.now + 10_000; ; s.now++ {
		require.Less(s.t, s.now, end, "the script does not end")
		var head *emu.UnitRequest
		if len(s.queue) > 0 && s.queue[0].at <= s.now {
			head = s.queue[0].r
		}
		during := s.f.at
		step := s.f.Cycle(s.now, head, true)
		if step.Took {
			s.queue = s.queue[1:]
		}
		if text := s.describe(head, step); text != "" || during != before {
			s.out = append(s.out, strings.TrimRight(fmt.Sprintf("    %3d %-9s%s", s.now, during, text), " "))
		}
		before = during
		if len(s.queue) == 0 && s.f.Idle() && !step.Took {
			break
		}
	}
	require.NoError(s.t, s.f.CheckInvariants())
	c := s.f.Stats
	s.out = append(s.out, fmt.Sprintf("    = %d edges issued, %d dropped; batches %d full, %d partial, %d empty; %d "+
		"rows of the ST read; states %d",
		c.LanesFilled, c.EdgesDropped, c.BatchesFull, c.BatchesPartial, c.BatchesEmpty, c.RowsRead, c.States))
}

func (s *script) describe(head *emu.UnitRequest, step Step) string {
	text := ""
	if step.Took {
		for name, fn := range functions {
			if fn == head.Fn {
				text = fmt.Sprintf("  takes %s of warp %d", name, head.Warp)
			}
		}
	}
	if step.Err != nil {
		text += "; error: " + step.Err.Error()
	}
	if r := step.Answer; r != nil {
		text += fmt.Sprintf("  answers warp %d: %d", r.Warp, signed(r.Out))
		if r.Fn == isa.WeaverDecID {
			text += fmt.Sprintf(", edges %d", signed(s.f.Row(r.Warp)))
		}
		if r.NewMask != r.Mask {
			text += fmt.Sprintf(", mask %b", r.NewMask)
		}
	}
	return text
}

func signed(v []uint32) (out []int32) {
	for _, x := range v {
		out = append(out, int32(x))
	}
	return out
}
