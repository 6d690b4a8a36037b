package checkpoint

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"reflect"
	"slices"
	"unsafe"
)

// Reserved numbers; those of pieces, maps, functions and constants are offset by first.
const (
	isNil   = 0
	isEmpty = 1 // a non-nil pointer to a value of size 0, or an empty slice
	first   = 2
)

// maxText bounds a string.
const maxText = 1 << 24

// Save writes the current state of the graph, and returns the number of bytes that were allocated after the census. The
// graph must not change meanwhile.
func (c *Census) Save(to io.Writer) (later uint64, err error) {
	if err := c.ready(); err != nil {
		return 0, err
	}
	w := newWalk(c, c)
	if err := w.since(); err != nil {
		return 0, err
	}
	pieces, err := mergePieces(w.found)
	if err != nil {
		return 0, err
	}
	if err := c.checkDisjoint(pieces); err != nil {
		return 0, err
	}
	s := &saver{Census: c, Writer: bufio.NewWriterSize(to, 1<<16), later: pieces, dicts: w.dicts,
		texts: map[string]int{}}
	s.sort()
	for _, p := range pieces {
		later += uint64(p.end() - p.begin())
	}
	return later, s.all()
}

// checkDisjoint returns an error if a later piece encloses a piece of the census.
func (c *Census) checkDisjoint(later []*piece) error {
	for _, p := range later {
		i, _ := slices.BinarySearchFunc(c.byAddress, p.begin(),
			func(i int, at uintptr) int { return int(c.pieces[i].begin() - at) })
		if i < len(c.byAddress) && c.pieces[c.byAddress[i]].begin() < p.end() || c.find(p.at) >= 0 {
			return failf(p.layout.t.String(), "encloses a smaller piece that was there when the graph was made")
		}
	}
	return nil
}

// saver writes a state. The bufio.Writer keeps the first error until Flush.
type saver struct {
	*Census
	*bufio.Writer
	later     []*piece
	laterSort []int
	dicts     *dicts
	texts     map[string]int
	buffer    [binary.MaxVarintLen64]byte
}

func (s *saver) sort() {
	for i := range s.later {
		s.laterSort = append(s.laterSort, i)
	}
	slices.SortFunc(s.laterSort, func(a, b int) int { return int(s.later[a].begin() - s.later[b].begin()) })
}

func (s *saver) all() error {
	s.Write(s.signature[:]) //nolint:errcheck // the writer keeps it
	s.number(len(s.later))
	for _, p := range s.later {
		s.text(typeName(p.layout.t))
		s.number(p.count)
	}
	s.number(len(s.dicts.all))
	for _, of := range s.dicts.steps {
		s.text(typeName(of.t))
	}
	for _, list := range [][]*piece{s.pieces, s.later} {
		for _, p := range list {
			if err := s.values(p.at, p.layout, p.count); err != nil {
				return err
			}
		}
	}
	for _, d := range []*dicts{&s.Census.dicts, s.dicts} {
		for i, m := range d.all {
			if err := s.dict(d.steps[i].mapAt(m), d.steps[i]); err != nil {
				return err
			}
		}
	}
	s.number(end)
	return s.Flush()
}

// end marks the end of a state.
const end = 0x656e64

func (s *saver) number(n int) {
	s.Write(binary.AppendUvarint(s.buffer[:0], uint64(n))) //nolint:errcheck // the writer keeps it
}

func (s *saver) text(t string) {
	if i, ok := s.texts[t]; ok {
		s.number(i)
		return
	}
	s.number(len(s.texts))
	s.texts[t] = len(s.texts)
	s.number(len(t))
	s.WriteString(t) //nolint:errcheck // the writer keeps it
}

func (s *saver) raw(p unsafe.Pointer, n uintptr) {
	s.Write(unsafe.Slice((*byte)(p), n)) //nolint:errcheck // the writer keeps it
}

func (s *saver) values(at unsafe.Pointer, of *layout, n int) error {
	if of.flat {
		s.raw(at, uintptr(n)*of.size)
		return nil
	}
	for i := range n {
		if err := s.value(unsafe.Add(at, uintptr(i)*of.size), of); err != nil {
			return err
		}
	}
	return nil
}

func (s *saver) value(at unsafe.Pointer, of *layout) (err error) {
	for i := range of.steps {
		f := &of.steps[i]
		p := unsafe.Add(at, f.off)
		switch f.kind {
		case raw:
			s.raw(p, f.bytes)
		case truth:
			s.raw(p, 1)
		case pointer:
			err = s.pointer(*(*unsafe.Pointer)(p), 1, f)
		case slice:
			h := (*header)(p)
			if err = s.pointer(h.data, h.cap, f); err == nil && h.data != nil {
				s.number(h.len)
				s.number(h.cap)
			}
		case text:
			t := *(*string)(p)
			if len(t) > maxText {
				err = failf(f.at, "a text of %d bytes: expected at most %d", len(t), maxText)
			}
			s.text(t)
		case dict:
			err = s.dictNumber(*(*unsafe.Pointer)(p), f)
		case boxed:
			err = s.box(p, f)
		case opaque:
			s.known(&s.opaques, *(*unsafe.Pointer)(p))
		case function:
			s.known(&s.funcs, *(*unsafe.Pointer)(p))
		case repeat:
			err = s.values(p, f.elem, f.n)
		case own:
			err = reflect.NewAt(f.t, p).Interface().(Saver).SaveState(s.Writer)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// known writes the number of a pointer in a table.
func (s *saver) known(t *table, p unsafe.Pointer) {
	if p == nil {
		s.number(isNil)
	} else {
		s.number(first + t.number[p])
	}
}

// pointer writes a reference to many values of the type that the field points to.
func (s *saver) pointer(p unsafe.Pointer, many int, f *step) error {
	switch {
	case p == nil:
		s.number(isNil)
		return nil
	case f.elem.size == 0 || many == 0:
		s.number(isEmpty)
		return nil
	}
	n, piece := s.find(p), (*piece)(nil)
	if n >= 0 {
		piece = s.pieces[n]
	} else if n = findIn(s.later, s.laterSort, p); n >= 0 {
		piece = s.later[n]
		n += len(s.pieces)
	}
	if piece == nil {
		panic("BUG: checkpoint: " + f.at + " points to memory that the walk has not reached")
	}
	off := uintptr(p) - piece.begin()
	if consecutive(piece.layout.t, piece.count, off, f.elem.t) < many {
		return failf(f.at, "points to a %s, which contains no %s there", piece.layout.t, f.elem.t)
	}
	s.number(first + n)
	s.number(int(off))
	return nil
}

func (s *saver) dictNumber(m unsafe.Pointer, f *step) error {
	if m == nil {
		s.number(isNil)
		return nil
	}
	of := s.Census.dicts.steps
	n, ok := s.Census.dicts.number[m]
	if !ok {
		n, of = s.dicts.number[m], s.dicts.steps
	}
	if of[n].t != f.t {
		return failf(f.at, "is a %s, and also known as a %s", f.t, of[n].t)
	}
	if !ok {
		n += len(s.Census.dicts.all)
	}
	s.number(first + n)
	return nil
}

// dict writes the entries of a map.
func (s *saver) dict(m reflect.Value, f *step) error {
	s.number(m.Len())
	for _, k := range sortedKeys(m) {
		for _, x := range []struct {
			v  reflect.Value
			of *layout
		}{{k, f.key}, {m.MapIndex(k), f.elem}} {
			v := reflect.New(x.of.t)
			v.Elem().Set(x.v)
			if err := s.value(v.UnsafePointer(), x.of); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *saver) box(p unsafe.Pointer, f *step) error {
	v, ok := inBox(p, f)
	if !ok {
		s.number(isNil)
		return nil
	}
	s.number(first)
	t := v.Type().Elem()
	s.text(typeName(t))
	of, err := s.layout(t)
	if err != nil {
		return fmt.Errorf("%s: %w", f.at, err)
	}
	return s.value(v.UnsafePointer(), of)
}
