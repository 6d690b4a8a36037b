package schema

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Basics is embedded: its keys are those of the section around it.
type Basics struct {
	Size int   `key:"size" default:"4" min:"1" max:"9" unit:"" doc:"Size."`
	Deep inner `key:"deep" doc:"A section in an embedded struct."`
}

// Validate is hidden by the struct around it.
func (b Basics) Validate() error { return &FieldError{Key: "size", Msg: "not asked"} }

type extended struct {
	First int `key:"first" default:"7" min:"0" max:"9" unit:"" doc:"First."`
	Basics
	Extra *inner `key:"extra" doc:"An optional section beside it."`
}

func (e extended) Validate() error {
	if e.Extra != nil && e.Extra.N > e.Size {
		return &FieldError{Key: "extra.n", Msg: "larger than size"}
	}
	return nil
}

type withEmbedded struct {
	Part extended `key:"part" doc:"The section."`
}

func TestEmbeddedKeysBelongToTheSectionAround(t *testing.T) {
	s := New[withEmbedded]("")
	l, err := s.Load(Input{Data: []byte("part: {size: 5, deep: {n: 3}}"), Set: []string{"part.extra.n=5"}})
	require.NoError(t, err)
	require.Equal(t, 7, l.Value.Part.First)
	require.Equal(t, 5, l.Value.Part.Size)
	require.Equal(t, 3, l.Value.Part.Deep.N)
	require.Equal(t, 5, l.Value.Part.Extra.N)
	_, err = s.Load(Input{Data: []byte("part: {extra: {n: 6}}")})
	require.ErrorContains(t, err, "part.extra.n: larger than size")
	require.PanicsWithValue(t, `BUG: schema: schema.Basics.Size: key "size" is declared twice`, func() {
		New[struct {
			Size int `key:"size" default:"1" min:"0" max:"9" unit:"" doc:"d"`
			Basics
		}]("")
	})
}
