package schema

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

type inner struct {
	N int `key:"n" default:"1" min:"0" max:"9" unit:"" doc:"N."`
}

type recursive struct {
	Next *recursive `key:"next" doc:"d"`
}

type twiceDescribed struct {
	A int `key:"a" default:"1" min:"0" max:"9" unit:"" doc:"A."`
}

func (twiceDescribed) Docs() map[string]string { return map[string]string{"a": "A too."} }

type wronglyDescribed struct {
	A int `key:"a" default:"1" min:"0" max:"9" unit:"" doc:"A."`
}

func (wronglyDescribed) Docs() map[string]string { return map[string]string{"b": "B."} }

type wronglyTagged struct {
	A int `key:"a" default:"1" min:"0" max:"9" unit:"" doc:"A."`
}

func (wronglyTagged) Tags() map[string]string { return map[string]string{"b": `pow2:"true"`} }

type twiceTagged struct {
	A int `key:"a" default:"1" min:"0" max:"9" unit:"" doc:"A."`
}

func (twiceTagged) Tags() map[string]string { return map[string]string{"a": `max:"8"`} }

type tagged struct {
	A string `key:"a" default:"y" doc:"A."`
	B int    `key:"g.b" default:"1" min:"0" max:"9" unit:"" doc:"B."`
}

func (tagged) Docs() map[string]string { return map[string]string{"g": "G."} }
func (tagged) Tags() map[string]string {
	return map[string]string{"a": `oneof:"x,y"`, "g.b": `was:"b"`}
}

type Described struct {
	EmbeddedDescribed
	A int `key:"a" default:"1" min:"0" max:"9" unit:"" doc:"A."`
}

type EmbeddedDescribed struct {
	B int `key:"b" default:"1" min:"0" max:"9" unit:""`
}

func (EmbeddedDescribed) Docs() map[string]string { return map[string]string{"b": "B."} }

type badText struct{}

func (badText) MarshalText() ([]byte, error)  { return []byte("x"), nil }
func (*badText) UnmarshalText(b []byte) error { return nil }

func TestMalformedDeclarations(t *testing.T) {
	for _, c := range []struct {
		build func()
		want  string
	}{
		{func() { New[int]("") }, "int is no struct"},
		{func() { New[twiceDescribed]("") }, `.A: key "a" is described by a tag and by Docs`},
		{func() { New[wronglyDescribed]("") }, `schema.wronglyDescribed: Docs describes "b", which is no key`},
		{func() { New[struct{ A int }]("") }, `.A: no key tag; key:"-" keeps it out of the configuration`},
		{func() { New[struct{ inner }]("") }, `.inner: no key tag; key:"-" keeps it out of the configuration`},
		{func() {
			New[struct {
				a int `key:"a"`
			}]("")
		}, ".a: has a key but is not exported"},
		{func() {
			New[struct {
				A int `key:"aB" doc:"d"`
			}]("")
		}, `.A: key "aB" is not lower snake case`},
		{func() {
			New[struct {
				A int `key:"a.b.c" doc:"d"`
			}]("")
		}, `.A: no doc`},
		{func() { New[groupKey]("") }, `.A: key "b.c" is not lower snake case`},
		{func() { New[twoMain]("") }, `.B: a is the main key of g already`},
		{func() { New[wasKey]("") }, `.B: was:"a" is a key`},
		{func() { New[undottedMain]("") }, `.A: main and was are for keys of groups`},
		{func() { New[listMain]("") }, `.A: the main key of a group is a single value`},
		{func() { New[notGroup]("") }, `.B: "a" is a key already, and no group`},
		{func() {
			New[struct {
				A int `key:"a__b" doc:"d"`
			}]("")
		}, `.A: key "a__b" is not lower snake case`},
		{func() {
			New[struct {
				A int `key:"_a" doc:"d"`
			}]("")
		}, `.A: key "_a" is not lower snake case`},
		{func() {
			New[struct {
				A int `key:"extends" doc:"d"`
			}]("")
		}, `.A: key "extends" is reserved`},
		{func() {
			New[struct {
				A bool `key:"a" default:"true" doc:"d"`
				B bool `key:"a" default:"true" doc:"d"`
			}]("")
		}, `.B: key "a" is declared twice`},
		{func() {
			New[struct {
				A bool `key:"a" default:"true"`
			}]("")
		}, ".A: no doc"},
		{func() {
			New[struct {
				A bool `key:"a" default:"true" doc:"d" min:"1"`
			}]("")
		}, ".A: tag min means nothing on this field"},
		{func() {
			New[struct {
				A bool `key:"a" defualt:"true" doc:"d"`
			}]("")
		}, ".A: tag defualt means nothing on this field"},
		{func() {
			New[struct {
				A bool `key:"a" doc:"d"`
			}]("")
		}, `.A: needs a default or required:"true", and not both`},
		{func() {
			New[struct {
				A bool `key:"a" doc:"d" default:"true" required:"true"`
			}]("")
		}, `.A: needs a default or required:"true", and not both`},
		{func() {
			New[struct {
				A bool `key:"a" doc:"d" required:"yes"`
			}]("")
		}, `.A: required:"yes": only "true" means something`},
		{func() {
			New[struct {
				A bool `key:"a" doc:"d" default:"maybe"`
			}]("")
		}, `.A: default "maybe": expected true or false`},
		{func() {
			New[struct {
				A int `key:"a" doc:"d" default:"1" min:"0" unit:""`
			}]("")
		}, ".A: no max"},
		{func() {
			New[struct {
				A int `key:"a" doc:"d" default:"1" min:"0" max:"3"`
			}]("")
		}, `.A: no unit; unit:"" for a pure number`},
		{func() {
			New[struct {
				A int `key:"a" doc:"d" default:"4" min:"0" max:"3" unit:""`
			}]("")
		}, `.A: default "4": expected an integer 0..3`},
		{func() {
			New[struct {
				A int `key:"a" doc:"d" default:"4" min:"5" max:"3" unit:""`
			}]("")
		}, ".A: min is above max"},
		{func() {
			New[struct {
				A int8 `key:"a" doc:"d" default:"4" min:"5" max:"128" unit:""`
			}]("")
		}, `.A: max "128" is no int8`},
		{func() {
			New[struct {
				A int `key:"a" doc:"d" default:"4" min:"0" max:"9" multiple:"0" unit:""`
			}]("")
		}, ".A: multiple must be positive"},
		{func() {
			New[struct {
				A float64 `key:"a" doc:"d" default:"4" min:"0" max:"inf" unit:""`
			}]("")
		}, `.A: max "inf" is no number`},
		{func() {
			New[struct {
				A float64 `key:"a" doc:"d" default:"4" min:"9" max:"1" unit:""`
			}]("")
		}, ".A: min is above max"},
		{func() {
			New[struct {
				A string `key:"a" doc:"d" default:"x" oneof:"a,b"`
			}]("")
		}, `.A: default "x": expected one of a, b`},
		{func() {
			New[struct {
				A badText `key:"a" doc:"d" default:"x"`
			}]("")
		}, ".A: no oneof"},
		{func() {
			New[struct {
				A badText `key:"a" doc:"d" default:"x" oneof:"x,y"`
			}]("")
		}, `.A: oneof: "y" does not survive reading and writing`},
		{func() {
			New[struct {
				A policy `key:"a" doc:"d" default:"rr" oneof:"rr,lru"`
			}]("")
		}, `.A: oneof: "lru" does not survive reading and writing`},
		{func() {
			New[struct {
				A time.Time `key:"a" doc:"d" default:"x"`
			}]("")
		}, ".A: no oneof"},
		{func() {
			New[struct {
				A map[string]int `key:"a" doc:"d" default:"x"`
			}]("")
		}, ".A: type map[string]int is none of the schema's"},
		{func() {
			New[struct {
				A []inner `key:"a" doc:"d" default:"x"`
			}]("")
		}, ".A: type schema.inner is none of the schema's"},
		{func() {
			New[struct {
				A *int `key:"a" doc:"d" default:"x"`
			}]("")
		}, ".A: type *int is none of the schema's"},
		{func() {
			New[struct {
				A inner `key:"a" doc:"d" default:"x"`
			}]("")
		}, ".A: tag default means nothing on this field"},
		{func() {
			New[struct {
				A inner `key:"a" doc:"d" defaults:"m=1"`
			}]("")
		}, "defaults name a.m, which is no leaf"},
		{func() {
			New[struct {
				A inner `key:"a" doc:"d" defaults:"n"`
			}]("")
		}, `.A: defaults: "n" is not key=value`},
		{func() {
			New[struct {
				A inner `key:"a" doc:"d" defaults:"n=10"`
			}]("")
		}, `schema.inner.N: default "10": expected an integer 0..9`},
		{func() { New[wronglyTagged]("") }, `schema.wronglyTagged: Tags has "b", which is no key`},
		{func() { New[twiceTagged]("") }, "schema.twiceTagged.A: tag max is repeated"},
		{func() { New[recursive]("") }, "schema.recursive.Next: schema.recursive contains itself"},
		{func() {
			New[struct {
				A Axes `key:"a" doc:"d" default:""`
			}]("")
		}, ".A: tag default means nothing on this field"},
	} {
		msg := panicText(c.build)
		assert.Contains(t, msg, "BUG: schema: ")
		assert.True(t, len(msg) >= len(c.want) && msg[len(msg)-len(c.want):] == c.want, "got  %s\nwant …%s", msg,
			c.want)
	}
}

// go vet refuses these in a struct.
func TestMalformedTags(t *testing.T) {
	for text, want := range map[string]string{
		`key:"a" key:"b"`: "tag key is repeated", `key:"\q"`: `malformed tags at key:"\q"`,
		`:"a"`: `malformed tags at :"a"`, `Key:"a"`: `malformed tags at Key:"a"`, "key:`a`": "malformed tags at key:`a`",
		`key:a`: "malformed tags at key:a", `key:"a`: `malformed tags at key:"a`, `key:"a"; min:"1"`: `malformed tags at ; min:"1"`,
	} {
		assert.Equal(t, "BUG: schema: "+want, panicText(func() { (&builder{tags: map[string]string{}}).parseTags(text) }))
	}
}

func panicText(f func()) (msg string) {
	defer func() {
		if r := recover(); r != nil {
			msg = r.(string)
		}
	}()
	f()
	return ""
}

// TestTags: tags of the method Tags hold as those beside the field do.
func TestTags(t *testing.T) {
	s := New[tagged]("")
	l, err := s.Load(Input{File: "x.yaml", Data: []byte("a: x\nb: 3\n")})
	assert.NoError(t, err)
	assert.Equal(t, tagged{"x", 3}, l.Value)
	_, err = s.Load(Input{Set: []string{"a=z"}})
	assert.ErrorContains(t, err, "expected one of x, y")
}

func TestDocs(t *testing.T) {
	type outer struct {
		Section Described `key:"section" doc:"d"`
	}
	s := New[outer]("")
	for key, doc := range map[string]string{"section.a": "A.", "section.b": "B."} {
		f, ok := s.Lookup(key)
		assert.True(t, ok, key)
		assert.Equal(t, doc, f.Doc)
	}
}

// An outer section's defaults win over an inner one's.
func TestNestedDefaults(t *testing.T) {
	type mid struct {
		In inner `key:"in" defaults:"n=2" doc:"d"`
	}
	s := New[struct {
		A mid `key:"a" doc:"d"`
		B mid `key:"b" defaults:"in.n=3" doc:"d"`
	}]("")
	l, err := s.Load(Input{})
	assert.NoError(t, err)
	assert.Equal(t, 2, l.Value.A.In.N)
	assert.Equal(t, 3, l.Value.B.In.N)
}
