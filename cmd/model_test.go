package cmd

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/version"
)

// The command has the sources by which points are known: another build of it has the same points unless those differ.
func TestModel(t *testing.T) { require.Regexp(t, "^[0-9a-f]{24}$", version.Model()) }
