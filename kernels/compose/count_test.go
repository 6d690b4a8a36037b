package compose

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/kernels/layout"
)

// TestCount: the counts agree with an enumeration, and the published factors give the published number.
func TestCount(t *testing.T) {
	all, fused := 0, 0
	for _, c := range Count() {
		require.LessOrEqual(t, c.Choices, c.All)
		require.Positive(t, c.Software, c.Algorithm)
		require.LessOrEqual(t, c.Fused, c.All)
		all, fused = all+c.All, fused+c.Fused
	}
	require.Len(t, legal(), all)
	require.Len(t, fusable(), fused)
	_, published := Product(Factors())
	require.Equal(t, 4480, published, "GRAssembler, Table 3")
}

func TestFamily(t *testing.T) {
	for name, want := range map[string]string{"csr": "csr", "csc": "csr", "csr-csc": "csr", "coo": "coo",
		"block-coo": "coo"} {
		l, err := layout.ByName(name)
		require.NoError(t, err)
		require.Equal(t, want, family(l))
	}
}
