package enum

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

type colour uint8

var colours = Of[colour]("bicycle colour", "red", "blue")

func (c colour) String() string                { return colours.Name(c) }
func (c colour) MarshalText() ([]byte, error)  { return colours.Marshal(c) }
func (c *colour) UnmarshalText(b []byte) error { return colours.Unmarshal(b, c) }

func TestNames(t *testing.T) {
	for v, name := range colours.List() {
		b, err := json.Marshal(colour(v))
		require.NoError(t, err)
		require.Equal(t, `"`+name+`"`, string(b))
		var c colour
		require.NoError(t, json.Unmarshal(b, &c))
		require.Equal(t, colour(v), c)
	}
	require.Equal(t, "(2)", colour(2).String())
	require.NoError(t, colours.Check(1))
	require.EqualError(t, colours.Check(2), "bicycle colour = 2: expected one of red, blue")
	c := colour(1)
	require.EqualError(t, c.UnmarshalText([]byte("Red")), `bicycle colour = "Red": expected one of red, blue`)
	require.Equal(t, colour(1), c, "stays as it was")
}
