package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs/schema"
)

type mapped struct {
	Of    schema.Mapping `key:"of" default:"{}" doc:"A mapping."`
	Sweep schema.Axes    `key:"sweep" doc:"Axes."`
}

// TestMapping: a mapping is kept in one line, and read back as it was written; whatever the layer.
func TestMapping(t *testing.T) {
	s := schema.New[mapped]("")
	for _, c := range []struct{ text, want string }{
		{"", "{}"},
		{"of: {}", "{}"},
		{"of:\n  a:b: {x: TWC, z: [1, \"2\", no]}\n  'two words': 0.5 # a comment\n", `{a:b: {x: TWC, z: [1, "2", "no"]}, "two words": 0.5}`},
		{"of: {a: null, b: true, \"1\": \"a\\nb\", c: \"a: b\"}", `{a: null, b: true, "1": "a\nb", c: "a: b"}`},
	} {
		l, err := s.Load(schema.Input{File: "f", Data: []byte(c.text)})
		require.NoError(t, err)
		require.Equal(t, schema.Mapping(c.want), l.Value.Of)
		again, err := s.Load(schema.Input{File: "f", Data: s.YAML(l.Value)})
		require.NoError(t, err)
		require.Equal(t, l.Value, again.Value)
		set, err := s.Load(schema.Input{Set: []string{"of=" + c.want}})
		require.NoError(t, err)
		require.Equal(t, l.Value, set.Value)
	}
	l, err := s.Load(schema.Input{File: "f", Data: []byte("sweep: {of: [{a: 1}, {a: 2}]}")})
	require.NoError(t, err)
	require.Equal(t, []string{"{a: 1}", "{a: 2}"}, l.Value.Sweep[0].Values)
	p, err := l.With("of={a: 2}")
	require.NoError(t, err)
	require.Equal(t, schema.Mapping("{a: 2}"), p.Value.Of)
	again, err := s.Load(schema.Input{File: "f", Data: s.YAML(l.Value)})
	require.NoError(t, err)
	require.Equal(t, l.Value, again.Value)
	for text, says := range map[string]string{
		"of: [1]": "f:1:5: of: expected a mapping, as {key: value}; found a list", "of: x": "expected a mapping", "of:": "found nothing",
		"of: {a: &b 1}": "anchors are refused", "sweep: {of: {a: 1}}": "sweep.of",
	} {
		_, err := s.Load(schema.Input{File: "f", Data: []byte(text)})
		require.ErrorContains(t, err, says, text)
	}
}
