package isa

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Two rows overlap when some word matches both.
func TestNoTwoEncodingsOverlap(t *testing.T) {
	for i, a := range All() {
		for _, b := range All()[i+1:] {
			common := a.Enc.Mask & b.Enc.Mask
			assert.NotEqual(t, a.Enc.Match&common, b.Enc.Match&common, "%s and %s", a.Name, b.Name)
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	require.Len(t, byName, len(All()))
}
