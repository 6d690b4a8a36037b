package emu_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"heddle/isa/emu"
)

// Of four lanes, of which 1, 2 and 3 are active, all go where the last or the first of them goes.
func TestDivergentBranches(t *testing.T) {
	const lanes123 = "addi t6, zero, 14; tmc t6; csrrs t0, vx_tid, zero\n"
	for _, c := range []struct {
		name, src   string
		last, first uint32 // a0: 1 fell through, 2 jumped
	}{
		{"the last takes it", "addi t1, zero, 3; beq t0, t1, there", 2, 1},
		{"the first takes it", "addi t1, zero, 1; beq t0, t1, there", 1, 2},
		{"both", "addi t1, zero, 2; bne t0, t1, there", 2, 2},
		{"neither", "addi t1, zero, 2; beq t0, t1, there", 1, 1},
		{"a lane that is off", "beq t0, zero, there", 1, 1},
		{"an indirect jump", "la t1, here; la t2, there; sub t2, t2, t1; srli t3, t0, 1; mul t2, t2, t3; add t1, t1, t2; jalr zero, 0(t1)", 2, 1},
		{"a direct jump", "jal zero, there", 2, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := lanes123 + c.src + "\nhere: addi a0, zero, 1; tmc zero\nthere: addi a0, zero, 2; tmc zero\n"
			for _, f := range []struct {
				how  emu.Divergence
				want uint32
			}{{emu.DivergentFollowsLast, c.last}, {emu.DivergentFollowsFirst, c.first}} {
				cfg := shape(1, 1, 4)
				cfg.Divergent = f.how
				m := run(t, cfg, src)
				assert.Equal(t, []uint32{0, f.want, f.want, f.want}, lanes(m, a0, 4), emu.Divergences[f.how])
			}
		})
	}
	cfg := shape(1, 1, 4)
	cfg.Divergent = emu.DivergentFollowsLast
	var trap *emu.Trap
	require.ErrorAs(t, load(t, cfg, lanes123+
		"la t1, bad; add t1, t1, t0; bad: jalr zero, -1(t1)").Run(context.Background()), &trap)
	assert.Equal(t, emu.MisalignedFetch, trap.Cause)
}
