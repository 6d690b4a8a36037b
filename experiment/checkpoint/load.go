package checkpoint

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"unsafe"
)

// ErrOther is the error of a state of a graph that was constructed differently.
var ErrOther = errors.New("it is the state of a machine that was assembled in another way")

// errWrong is the error of bytes that are not a state.
var errWrong = errors.New("its contents are not a valid state")

// Load loads a saved state into the graph, which must be unchanged since the census. It copes with hostile input: it
// never panics, and allocates no more than it reads, except for memory that was allocated after the census, which is
// bounded by room, in bytes. After an error the graph must not be used.
func (c *Census) Load(from io.Reader, room uint64) error {
	if err := c.ready(); err != nil {
		return err
	}
	l := &loader{Census: c, Reader: bufio.NewReaderSize(from, 1<<16), room: room}
	if err := l.all(); err != nil {
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		return err
	}
	return nil
}

// loader reads a state.
type loader struct {
	*Census
	*bufio.Reader
	allPieces []*piece // pieces of the census, then later ones
	maps      []unsafe.Pointer
	mapsOf    []*step
	texts     []string
	room      uint64
	boxes     int // nesting depth of interfaces
}

// maxBoxes bounds the nesting of interfaces, so that the input cannot exhaust the stack.
const maxBoxes = 64

func (l *loader) all() error {
	var signature [len(l.signature)]byte
	if _, err := io.ReadFull(l, signature[:]); err != nil {
		return err
	}
	if signature != l.signature {
		return ErrOther
	}
	if err := l.makePieces(); err != nil {
		return err
	}
	if err := l.makeMaps(); err != nil {
		return err
	}
	for _, p := range l.allPieces {
		if err := l.values(p.at, p.layout, p.count); err != nil {
			return err
		}
	}
	for i, m := range l.maps {
		if err := l.entries(l.mapsOf[i].mapAt(m), l.mapsOf[i]); err != nil {
			return err
		}
	}
	if n, err := l.number(); err != nil || n != end {
		return errors.Join(err, wrong(n != end))
	}
	return nil
}

func wrong(is bool) error {
	if is {
		return errWrong
	}
	return nil
}

// makePieces allocates the pieces that are not in the census.
func (l *loader) makePieces() error {
	l.allPieces = append(l.allPieces, l.pieces...)
	n, err := l.number()
	for i := uint64(0); i < n && err == nil; i++ {
		var of *layout
		if of, err = l.typeOf(); err != nil {
			return err
		}
		var many uint64
		if many, err = l.number(); err != nil {
			return err
		}
		if of.size == 0 || many == 0 || many > l.room/uint64(of.size) {
			return errWrong
		}
		l.room -= many * uint64(of.size)
		s := reflect.MakeSlice(reflect.SliceOf(of.t), int(many), int(many))
		l.allPieces = append(l.allPieces, &piece{s.UnsafePointer(), of, int(many), 0})
	}
	return err
}

// mapBytes is the approximate size of an empty map.
const mapBytes = 64

func (l *loader) makeMaps() error {
	l.maps, l.mapsOf = append(l.maps, l.dicts.all...), append(l.mapsOf, l.dicts.steps...)
	n, err := l.number()
	for i := uint64(0); i < n && err == nil; i++ {
		var of *layout
		if of, err = l.typeOf(); err != nil {
			return err
		}
		if of.t.Kind() != reflect.Map || l.room < mapBytes {
			return errWrong
		}
		l.room -= mapBytes
		m := reflect.MakeMap(of.t)
		l.maps, l.mapsOf = append(l.maps, m.UnsafePointer()), append(l.mapsOf, &of.steps[0])
	}
	return err
}

// typeOf reads a type's name, and returns its layout.
func (l *loader) typeOf() (*layout, error) {
	name, err := l.text()
	if err != nil {
		return nil, err
	}
	t, ok := l.typesByName[name]
	if !ok {
		return nil, fmt.Errorf("%w: a type %.100q", errWrong, name)
	}
	return l.layout(t)
}

func (l *loader) number() (uint64, error) { return binary.ReadUvarint(l.Reader) }

// below reads a number below n.
func (l *loader) below(n int) (int, error) {
	x, err := l.number()
	if err == nil && x >= uint64(n) {
		err = errWrong
	}
	return int(x), err
}

func (l *loader) text() (string, error) {
	i, err := l.below(len(l.texts) + 1)
	if err != nil || i < len(l.texts) {
		return l.textAt(i, err)
	}
	n, err := l.below(maxText + 1)
	if err != nil {
		return "", err
	}
	b := make([]byte, 0, min(n, 1<<12))
	for len(b) < n {
		more := min(n-len(b), 1<<12)
		b = append(b, make([]byte, more)...)
		if _, err := io.ReadFull(l, b[len(b)-more:]); err != nil {
			return "", err
		}
	}
	l.texts = append(l.texts, string(b))
	return l.texts[i], nil
}

func (l *loader) textAt(i int, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return l.texts[i], nil
}

func (l *loader) raw(p unsafe.Pointer, n uintptr) error {
	_, err := io.ReadFull(l, unsafe.Slice((*byte)(p), n))
	return err
}

func (l *loader) values(at unsafe.Pointer, of *layout, n int) error {
	if of.flat {
		return l.raw(at, uintptr(n)*of.size)
	}
	for i := range n {
		if err := l.value(unsafe.Add(at, uintptr(i)*of.size), of); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) value(at unsafe.Pointer, of *layout) (err error) {
	for i := range of.steps {
		f := &of.steps[i]
		p := unsafe.Add(at, f.off)
		switch f.kind {
		case raw:
			err = l.raw(p, f.bytes)
		case truth:
			err = l.truth((*bool)(p))
		case pointer:
			*(*unsafe.Pointer)(p), err = l.pointer(f, 1)
		case slice:
			err = l.slice((*header)(p), f)
		case text:
			*(*string)(p), err = l.text()
		case dict:
			err = l.dict((*unsafe.Pointer)(p), f)
		case boxed:
			err = l.box(p, f)
		case opaque:
			*(*unsafe.Pointer)(p), err = l.known(&l.opaques, l.opaqueTypes, f)
		case function:
			*(*unsafe.Pointer)(p), err = l.known(&l.funcs, l.funcTypes, f)
		case forgotten:
			*(*unsafe.Pointer)(p) = nil
		case repeat:
			err = l.values(p, f.elem, f.n)
		case own:
			err = reflect.NewAt(f.t, p).Interface().(Saver).LoadState(l.Reader)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) truth(to *bool) error {
	b, err := l.ReadByte()
	if err == nil && b > 1 {
		return errWrong
	}
	*to = b == 1
	return err
}

// known reads the number of a constant or a function, which must have the type of the field.
func (l *loader) known(t *table, types []reflect.Type, f *step) (unsafe.Pointer, error) {
	n, err := l.below(first + len(t.all))
	switch {
	case err != nil || n == isNil:
		return nil, err
	case n < first || types[n-first] != f.t && !types[n-first].ConvertibleTo(f.t):
		return nil, errWrong
	}
	return t.all[n-first], nil
}

// pointer reads a pointer to many values of the type that the field points to.
func (l *loader) pointer(f *step, many int) (unsafe.Pointer, error) {
	p, n, _, err := l.place(f)
	if err == nil && p != nil && n < many {
		err = errWrong
	}
	return p, err
}

// place reads a reference to values of the type that the field points to, and returns their largest number.
func (l *loader) place(f *step) (p unsafe.Pointer, most int, empty bool, err error) {
	n, err := l.below(first + len(l.allPieces))
	switch {
	case err != nil || n == isNil:
		return nil, 0, false, err
	case n == isEmpty && f.elem.size == 0:
		return reflect.New(f.elem.t).UnsafePointer(), 1 << 30, false, nil
	case n == isEmpty:
		return nil, 0, true, wrong(f.kind != slice)
	}
	to := l.allPieces[n-first]
	off, err := l.below(int(to.end() - to.begin()))
	if err != nil {
		return nil, 0, false, err
	}
	most = consecutive(to.layout.t, to.count, uintptr(off), f.elem.t)
	return unsafe.Add(to.at, off), most, false, wrong(most == 0)
}

func (l *loader) slice(to *header, f *step) error {
	p, most, empty, err := l.place(f)
	if err != nil || p == nil && !empty {
		*to = header{}
		return err
	}
	n, err := l.number()
	if err != nil {
		return err
	}
	places, err := l.number()
	if err != nil {
		return err
	}
	if n > places || places > uint64(most) {
		return errWrong
	}
	if empty {
		p = reflect.MakeSlice(f.t, 0, 0).UnsafePointer()
	}
	*to = header{p, int(n), int(places)}
	return nil
}

func (l *loader) dict(to *unsafe.Pointer, f *step) error {
	n, err := l.below(first + len(l.maps))
	switch {
	case err != nil:
		return err
	case n == isNil:
		*to = nil
		return nil
	case n < first || l.mapsOf[n-first].t != f.t:
		return errWrong
	}
	*to = l.maps[n-first]
	return nil
}

// entries reads the entries of a map.
func (l *loader) entries(m reflect.Value, f *step) error {
	m.Clear()
	n, err := l.number()
	for i := uint64(0); i < n && err == nil; i++ {
		k, v := reflect.New(f.key.t), reflect.New(f.elem.t)
		if err = l.value(k.UnsafePointer(), f.key); err == nil {
			err = l.value(v.UnsafePointer(), f.elem)
		}
		m.SetMapIndex(k.Elem(), v.Elem())
	}
	return err
}

// box reads the value of an interface. If the interface holds a value of the same type, that is the initial value,
// which keeps its assembled fields.
func (l *loader) box(p unsafe.Pointer, f *step) error {
	to := reflect.NewAt(f.t, p).Elem()
	n, err := l.below(first + 1)
	switch {
	case err != nil:
		return err
	case n == isNil:
		to.SetZero()
		return nil
	case n != first:
		return errWrong
	}
	of, err := l.typeOf()
	if err != nil {
		return err
	}
	if !of.t.Implements(f.t) || l.boxes == maxBoxes {
		return errWrong
	}
	l.boxes++
	defer func() { l.boxes-- }()
	v, ok := inBox(p, f)
	if !ok || v.Type().Elem() != of.t {
		v = reflect.New(of.t)
	}
	if err := l.value(v.UnsafePointer(), of); err != nil {
		return err
	}
	to.Set(v.Elem())
	return nil
}
