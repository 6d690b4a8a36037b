package sim_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// words is a program of which each lane loads a word of the scratchpad sixty times: number lane · step · scale of it.
const words = `
	csrr t0, 0xcc0     # the lane
	li t1, %d
	mul t0, t0, t1
	li t1, %d
	and t0, t0, t1
	slli t0, t0, 2
	li a0, 0xffff0000
	add a0, a0, t0
	li t5, 60
loop:
	lw t6, 0(a0)
	add t6, t6, t6
	addi t5, t5, -1
	bnez t5, loop
	tmc zero`

// TestBroadcast: with scratchpad_broadcast, lanes that load one word are served as fast as if each had a bank; lanes
// that load different words of a bank are not.
func TestBroadcast(t *testing.T) {
	cycles := func(scale, mask int, broadcast bool) uint64 {
		o, _ := run(t, load(t, "vortex-rtl-d", fmt.Sprint("core.scratchpad_broadcast=", broadcast)),
			source(t, spread+fmt.Sprintf(words, scale, mask)))
		return o.Cycles
	}
	apart := cycles(1, 1023, false)
	require.Equal(t, apart, cycles(1, 1023, true), "a bank a lane")
	one := cycles(0, 0, false)
	require.Greater(t, one, apart+60*31)
	require.Equal(t, apart, cycles(0, 0, true), "one word")
	require.Equal(t, apart, cycles(1, 7, true), "eight words")
	require.Greater(t, cycles(1, 7, false), apart)
	require.Equal(t, cycles(32, 1023, false), cycles(32, 1023, true), "32 words of one bank")
	require.Less(t, cycles(32, 127, true), cycles(32, 127, false), "four words of one bank")
	require.Greater(t, cycles(32, 127, true), apart)
}
