package sim_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs"
)

// scatter has every hart store to lines of its own and load them again, more than the way to the L2 takes.
const scatter = spread + `
	li a2, 0x90000000
	slli t3, t1, 12
	add a2, a2, t3
	li t5, 24
loop:	sw t5, 0(a2)
	sw t5, 64(a2)
	sw t5, 128(a2)
	lw t6, 0(a2)
	addi a2, a2, 192
	addi t5, t5, -1
	bnez t5, loop
	tmc zero`

// TestWayEntries: the number of entries between two levels changes cycles and no result. One more than registers is the
// default.
func TestWayEntries(t *testing.T) {
	cycles := func(set ...string) uint64 {
		o, _ := run(t, load(t, "vortex-rtl-m6", append(set, "core.warps=4", "core.threads=8")...), source(t, scatter))
		return o.Cycles
	}
	plain := cycles()
	for _, way := range []string{"to_l2", "to_memory"} {
		w := load(t, "vortex-rtl-m6").ToL2
		if way == "to_memory" {
			w = load(t, "vortex-rtl-m6").ToMemory
		}
		require.Equal(t, plain, cycles(fmt.Sprintf("%s.request_entries=%d", way, w.Request+1),
			fmt.Sprintf("%s.response_entries=%d", way, w.Response+1)), way)
	}
	few, many := cycles("to_l2.request_entries=3"), cycles("to_l2.request_entries=40")
	require.NotEqual(t, plain, few)
	require.NotEqual(t, plain, many)
	require.Less(t, many, few, "cores wait for the L2 with fewer")
}

// TestWayEntriesRefused: a way holds a value in each of its registers.
func TestWayEntriesRefused(t *testing.T) {
	for set, says := range map[string]string{
		"to_l2.request_entries=2":      "to_l2.request_entries: 2, and to_l2.request is 3: expected one for each register, or 0",
		"to_memory.response_entries=2": "to_memory.response_entries: 2, and to_memory.response is 3: expected one for each register, or 0",
		"to_l3.request_entries=2001":   "expected an integer 0..2000",
	} {
		_, err := configs.LoadMachine("vortex-rtl-m6", nil, []string{set})
		require.ErrorContains(t, err, says)
	}
	l, err := configs.LoadMachine("vortex-rtl-m6", nil, []string{"to_l2.request_entries=3", "to_l2.response_entries=5"})
	require.NoError(t, err)
	require.Equal(t, configs.Wires{Request: 2, Response: 4, RequestEntries: 2, ResponseEntries: 4},
		l.Value.ToL2.Shorter(1, 1))
}
