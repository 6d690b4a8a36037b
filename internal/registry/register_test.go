package registry_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/registry"
)

func TestName(t *testing.T) {
	there := []string{"vertex", "csr-csc"}
	for _, name := range []string{"v", "vector", "my-own", "my_own2", "a1-b2"} {
		require.NoError(t, registry.Name(name, there), name)
	}
	for name, says := range map[string]string{
		"": "no name", "vertex": "of that name already", "csr-csc": "of that name already", "auto": "means something else", "none": "means something else",
		"Vector": "small letters", "a b": "small letters", "a,b": "small letters", "a/b": "small letters", "-a": "small letters", "a--b": "small letters",
		"2": "small letters", "ä": "small letters", "a\n": "small letters",
	} {
		require.ErrorContains(t, registry.Name(name, there), says, name)
	}
}

// TestAdd: entries are added in their order up to the first that fails, whatever it fails with, and none once
// configurations have been read.
func TestAdd(t *testing.T) {
	var added []string
	entry := func(name string, err error) registry.Entry {
		return registry.New("thing", name, func() error {
			added = append(added, name)
			return err
		})
	}
	require.NoError(t, registry.Add())
	require.NoError(t, registry.Add(entry("a", nil), entry("b", nil)))
	require.EqualError(t, registry.Add(entry("c", nil), entry("d", errors.New("no")), entry("e", nil)),
		`cannot add thing "d": no`)
	require.Equal(t, []string{"a", "b", "c", "d"}, added)
	require.ErrorContains(t, registry.Add(registry.Entry{}), "the entry is empty")
	require.ErrorContains(t, registry.Add(registry.New("thing", "x", func() error { panic("oh") })),
		`cannot add thing "x": oh`)
	registry.Close()
	require.ErrorContains(t, registry.Add(entry("f", nil)),
		`cannot add thing "f": configurations have been read already`)
	require.Len(t, added, 4)
}
