package schema

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type drawn struct {
	Ways  int    `key:"ways" default:"4" min:"1" max:"9" unit:"" doc:"W."`
	Bytes int    `key:"bytes" default:"64" min:"8" max:"1024" unit:"bytes" doc:"B."`
	Line  int    `key:"line" default:"8" min:"4" max:"32" pow2:"true" unit:"bytes" doc:"L."`
	Step  int    `key:"step" default:"6" min:"4" max:"10" multiple:"3" unit:"" doc:"S."`
	Seed  uint64 `key:"seed" default:"0" unit:"" doc:"Any."`
	Name  string `key:"name" default:"a" oneof:"a,b,c" doc:"N."`
	On    bool   `key:"on" default:"true" doc:"O."`
	Extra *struct {
		N    int     `key:"n" default:"3" min:"0" max:"5" unit:"" doc:"N."`
		Part float64 `key:"part" default:"0.5" min:"0" max:"1" unit:"" doc:"P."`
	} `key:"extra" doc:"E."`
}

// The keys hang together as those of a cache do.
func (d drawn) Validate() error {
	if d.Bytes%(d.Ways*d.Line) != 0 {
		return &FieldError{"bytes", "expected a multiple of ways × line"}
	}
	return nil
}

func TestDrawReachesAllLegalValues(t *testing.T) {
	s := New[drawn]("")
	seen := map[any]bool{}
	d := Drawing[drawn]{Rand: rand.New(rand.NewPCG(1, 1)), Fit: func(d *drawn) {
		set := d.Ways * d.Line
		d.Bytes = max(1, d.Bytes/set) * set
	}}
	v := s.Default()
	require.Equal(t, 64, v.Bytes)
	for range 2000 {
		var err error
		v, err = s.Draw(v, d)
		require.NoError(t, err)
		_, err = s.Load(Input{Data: s.YAML(v)})
		require.NoError(t, err)
		seen[[2]int{v.Ways, v.Line}], seen[v.Step], seen[v.Name], seen[v.On], seen[v.Extra != nil] = true, true, true,
			true, true
		if v.Extra != nil {
			seen[[2]any{"n", v.Extra.N}] = true
		}
	}
	for ways := range 9 {
		for shift := range 4 {
			assert.True(t, seen[[2]int{ways + 1, 4 << shift}], "%d ways, lines of %d", ways+1, 4<<shift)
		}
	}
	for _, x := range []any{6, 9, "a", "b", "c", true, false, [2]any{"n", 0}, [2]any{"n", 5}} {
		assert.True(t, seen[x], "%v", x)
	}
}

// Rules that the schema does not know are kept as its own.
func TestDrawAsksWhatElseIsRefused(t *testing.T) {
	s, v, refused := New[drawn](""), New[drawn]("").Default(), 0
	d := Drawing[drawn]{Rand: rand.New(rand.NewPCG(1, 1)), Refused: func(d drawn) error {
		if d.On && d.Name == "a" {
			refused++
			return errors.New("on with a")
		}
		return nil
	}}
	v.On = false
	for range 200 {
		var err error
		v, err = s.Draw(v, d)
		require.NoError(t, err)
		require.False(t, v.On && v.Name == "a")
	}
	require.NotZero(t, refused)
}

func TestExtremes(t *testing.T) {
	all, err := New[drawn]("").Extremes(New[drawn]("").Default(),
		Drawing[drawn]{Keep: []string{"seed"}, Most: map[string]int64{"bytes": 512}})
	require.NoError(t, err)
	var keys []string
	for k := range all {
		keys = append(keys, k)
	}
	// 9 ways and lines of 32 do not divide 64 bytes, and 8 bytes are less than a set.
	assert.ElementsMatch(t, []string{"ways=1", "bytes=512", "line=4", "step=6", "step=9", "name=a", "name=b", "name=c",
		"on=true", "on=false"}, keys)
}

type strayed struct {
	N int `key:"n" default:"1" min:"0" max:"9" unit:"" doc:"N."`
}

func (s strayed) Validate() error {
	if s.N != 1 {
		return &FieldError{"part.m", "is no key"}
	}
	return nil
}

type nameless struct {
	S string `key:"s" default:"" doc:"S."`
}

func TestDrawFindsMistakesOfTheSchema(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	_, err := New[strayed]("").Draw(strayed{N: 1}, Drawing[strayed]{Rand: r})
	assert.EqualError(t, err, "a Validator blames part.m, which is no key")
	_, err = New[nameless]("").Draw(nameless{}, Drawing[nameless]{Rand: r})
	assert.EqualError(t, err, "s has no values to draw from")
	illegal, err := New[drawn]("").Legal(drawn{Ways: 10})
	assert.NoError(t, err)
	var list *Errors
	assert.True(t, errors.As(illegal, &list))
}
