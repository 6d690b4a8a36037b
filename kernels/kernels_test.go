package kernels_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa/emu"
	"heddle/kernels"
)

// TestAllAssemble: every program, at its address.
func TestAllAssemble(t *testing.T) {
	require.Contains(t, kernels.Names(), "pagerank_weaver")
	for _, name := range kernels.Names() {
		for _, base := range []uint32{emu.CodeBase, 0x80120000} {
			p, err := kernels.Assemble(name, base)
			require.NoError(t, err)
			require.Equal(t, base, p.Entry, name)
			require.Equal(t, base, p.Segments[0].Addr)
		}
	}
	_, err := kernels.Assemble("pagerankk", emu.CodeBase)
	require.ErrorContains(t, err, `no program "pagerankk": expected one of hello, `)
}
