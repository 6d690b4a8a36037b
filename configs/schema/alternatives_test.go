package schema

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A part is a lamp or a horn.
type part interface{ Loud() bool }

type lamp struct {
	Watts int `key:"watts" default:"40" min:"1" max:"99" unit:"W" doc:"Power."`
}

type horn struct {
	Tones []int `key:"tones" default:"3,4" min:"0" max:"9" unit:"" doc:"Tones."`
}

func (*lamp) Loud() bool { return false }
func (*horn) Loud() bool { return true }

func (h *horn) Validate() error {
	if len(h.Tones) > 2 {
		return &FieldError{Key: "tones", Msg: "expected two at most"}
	}
	return nil
}

type socket struct{ Part part }

func (socket) Alternatives() []Alternative {
	return []Alternative{
		{Key: "lamp", Doc: "Shines.", Section: (*lamp)(nil), Taken: "there is a lamp"},
		{Key: "horn", Doc: "Sounds.", Section: (*horn)(nil), Taken: "there is a horn"},
	}
}

type bicycle struct {
	Gears int `key:"gears" default:"7" min:"1" max:"30" unit:"" doc:"G."`
	Front socket
}

type shed struct {
	Bicycle bicycle `key:"bicycle" doc:"B."`
}

func TestAlternatives(t *testing.T) {
	s := New[shed]("")
	load := func(text string, set ...string) (part, error) {
		l, err := s.Load(Input{Data: []byte(text), Set: set})
		if err != nil {
			return nil, err
		}
		again, err := s.Load(Input{Data: s.YAML(l.Value)})
		require.NoError(t, err)
		require.Equal(t, l.Value, again.Value)
		require.Empty(t, s.Diff(l.Value, again.Value))
		return l.Value.Bicycle.Front.Part, nil
	}
	for _, c := range []struct {
		text string
		set  []string
		want part
	}{
		{"bicycle: {gears: 3}", nil, nil},
		{"bicycle: {lamp: {}}", nil, &lamp{40}},
		{"bicycle: {horn: {tones: [1]}}", nil, &horn{[]int{1}}},
		{"bicycle: {lamp: {watts: 5}}", []string{"bicycle.lamp.watts=6"}, &lamp{6}},
		{"bicycle: {lamp: {watts: 5}}", []string{"bicycle.lamp=null", "bicycle.horn.tones=7,8"}, &horn{[]int{7, 8}}},
	} {
		got, err := load(c.text, c.set...)
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, got, c.text)
	}
	_, err := load("bicycle:\n  lamp: {}\n  horn: {}\n")
	require.EqualError(t, err, "input:3:3: bicycle.horn: there is a lamp")
	_, err = load("bicycle: {horn: {tones: [1, 2, 3]}}")
	require.ErrorContains(t, err, "bicycle.horn.tones: expected two at most")
	f, ok := s.Lookup("bicycle.horn.tones")
	require.True(t, ok)
	require.Equal(t, "Tones.", f.Doc)
}

// Drawn configurations share no memory with their origin; each alternative, and none, is drawn at times.
func TestDrawAlternatives(t *testing.T) {
	s, seen := New[shed](""), map[string]bool{}
	v, d := s.Default(), Drawing[shed]{Rand: rand.New(rand.NewPCG(3, 4))}
	for range 200 {
		before := string(s.YAML(v))
		next, err := s.Draw(v, d)
		require.NoError(t, err)
		require.Equal(t, before, string(s.YAML(v)))
		_, err = s.Load(Input{Data: s.YAML(next)})
		require.NoError(t, err)
		switch v = next; p := v.Bicycle.Front.Part.(type) {
		case *lamp:
			seen["lamp"] = true
		case *horn:
			seen["horn"] = true
			assert.LessOrEqual(t, len(p.Tones), 2)
		default:
			seen["none"] = true
		}
	}
	require.Len(t, seen, 3)
}

type badSocket struct{ Part any }

func (badSocket) Alternatives() []Alternative {
	return []Alternative{{Key: "lamp", Doc: "d", Section: lamp{}, Taken: "x"}}
}

type twice struct{ Part part }

func (twice) Alternatives() []Alternative {
	return []Alternative{{Key: "gears", Doc: "d", Section: (*lamp)(nil), Taken: "x"}}
}

func TestBadAlternatives(t *testing.T) {
	type bad struct{ Front badSocket }
	require.PanicsWithValue(t, "BUG: schema: schema.bad.Front lamp: schema.lamp is no pointer to a struct that "+
		"schema.badSocket can hold", func() { New[bad]("") })
	type worse struct {
		Gears int `key:"gears" default:"7" min:"1" max:"30" unit:"" doc:"G."`
		Front twice
	}
	require.PanicsWithValue(t, `BUG: schema: schema.worse.Front gears: key "gears" is declared twice`,
		func() { New[worse]("") })
}
