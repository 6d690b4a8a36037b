// Package vcd writes value change dumps (IEEE 1364-2005, §18), for GTKWave and others. States are variables of
// GTKWave's type string, which shows them by name.
//
// It knows no machine, and opens no files.
package vcd

import (
	"fmt"
	"strconv"
	"strings"
)

// Var is a variable. The parts of its name, with dots between them, are scopes.
type Var struct {
	Name string
	Bits int // 0: a text
}

// Encoder turns values into the lines of a file.
type Encoder struct {
	vars    []Var
	ids     []string
	numbers []uint64
	texts   []string
	known   []bool // by variable: whether it has a value
	begun   bool
	changes []byte // of the time that is being written
}

// NewEncoder makes an encoder for these variables. No two may have one name.
func NewEncoder(vars []Var) *Encoder {
	e := &Encoder{vars: vars, ids: make([]string, len(vars)), numbers: make([]uint64, len(vars)),
		texts: make([]string, len(vars)), known: make([]bool, len(vars))}
	for i := range vars {
		e.ids[i] = id(i)
	}
	return e
}

// id is the i-th short name: of printable characters, as few as possible.
func id(i int) string {
	const first, chars = '!', '~' - '!' + 1
	s := ""
	for {
		s += string(rune(first + i%chars))
		if i /= chars; i == 0 {
			return s
		}
		i--
	}
}

// scope is a scope of the hierarchy: its variables, and its inner scopes, in order.
type scope struct {
	name   string
	vars   []int
	inner  []*scope
	byName map[string]*scope
}

func (s *scope) get(name string) *scope {
	if in := s.byName[name]; in != nil {
		return in
	}
	in := &scope{name: name, byName: map[string]*scope{}}
	s.inner, s.byName[name] = append(s.inner, in), in
	return in
}

// Header is the file's beginning. Time is counted in the unit: 1ns.
func (e *Encoder) Header(comment, unit string) []byte {
	root := &scope{byName: map[string]*scope{}}
	for i, v := range e.vars {
		at, parts := root, strings.Split(v.Name, ".")
		for _, part := range parts[:len(parts)-1] {
			at = at.get(part)
		}
		at.vars = append(at.vars, i)
	}
	b := fmt.Appendf(nil, "$comment %s $end\n$timescale %s $end\n", comment, unit)
	return append(e.declare(b, root), "$enddefinitions $end\n"...)
}

func (e *Encoder) declare(b []byte, s *scope) []byte {
	for _, i := range s.vars {
		name, bits, kind := e.vars[i].Name, e.vars[i].Bits, "wire"
		if bits == 0 {
			bits, kind = 1, "string"
		}
		b = fmt.Appendf(b, "$var %s %d %s %s", kind, bits, e.ids[i], name[strings.LastIndexByte(name, '.')+1:])
		if bits > 1 {
			b = fmt.Appendf(b, " [%d:0]", bits-1)
		}
		b = append(b, " $end\n"...)
	}
	for _, in := range s.inner {
		b = fmt.Appendf(b, "$scope module %s $end\n", in.name)
		b = append(e.declare(b, in), "$upscope $end\n"...)
	}
	return b
}

// Number gives variable i a value.
func (e *Encoder) Number(i int, v uint64) {
	if e.known[i] && e.numbers[i] == v {
		return
	}
	bits := e.vars[i].Bits
	if bits == 0 || bits < 64 && v>>bits != 0 {
		panic(fmt.Sprintf("BUG: vcd: %s of %d bits is to be %d", e.vars[i].Name, bits, v))
	}
	e.known[i], e.numbers[i] = true, v
	if bits > 1 {
		e.changes = append(e.changes, 'b')
	}
	e.changes = strconv.AppendUint(e.changes, v, 2)
	if bits > 1 {
		e.changes = append(e.changes, ' ')
	}
	e.end(i)
}

// Text gives variable i a value, whose spaces become low lines: the format has no others.
func (e *Encoder) Text(i int, v string) {
	if e.known[i] && e.texts[i] == v {
		return
	}
	e.known[i], e.texts[i] = true, v
	e.changes = append(e.changes, 's')
	e.changes = append(e.changes, strings.ReplaceAll(v, " ", "_")...)
	e.changes = append(e.changes, ' ')
	e.end(i)
}

func (e *Encoder) end(i int) {
	e.changes = append(e.changes, e.ids[i]...)
	e.changes = append(e.changes, '\n')
}

// Take returns the lines of a time whose values have been given; none: nothing has changed. The first time has
// all values.
func (e *Encoder) Take(at uint64) []byte {
	if len(e.changes) == 0 {
		return nil
	}
	b := Time(at)
	if !e.begun {
		b = append(b, "$dumpvars\n"...)
	}
	b = append(b, e.changes...)
	if !e.begun {
		b = append(b, "$end\n"...)
	}
	e.begun, e.changes = true, e.changes[:0]
	return b
}

// Time returns the line of a time; alone at the end of the file it is the end of the last values.
func Time(at uint64) []byte { return fmt.Appendf(nil, "#%d\n", at) }
