package checkpoint

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sort"
	"unsafe"
)

// piece is a piece of memory that holds n consecutive values of a type.
type piece struct {
	at     unsafe.Pointer
	layout *layout
	count  int
	order  int // index in the order of the walk
}

func (p *piece) begin() uintptr { return uintptr(p.at) }
func (p *piece) end() uintptr   { return uintptr(p.at) + uintptr(p.count)*p.layout.size }

// Census numbers the parts of a graph, and keeps all of them alive. found is filled by the walk; ready derives the
// other fields from it when a state is first saved or loaded.
type Census struct {
	*Layouts
	root        reflect.Value    // a pointer
	found       []*piece         // pieces in the order of the walk, possibly within each other; nil after ready
	roots       map[*layout]bool // layouts of the root and of values in interfaces
	pieces      []*piece         // pieces by number, disjoint
	byAddress   []int            // numbers of pieces, sorted by address
	dicts       dicts
	opaques     table
	funcs       table
	funcTypes   []reflect.Type
	opaqueTypes []reflect.Type          // types of opaques
	typesByName map[string]reflect.Type // types that Load may allocate, by name; nil before ready
	signature   [sha256.Size]byte       // equal for graphs that are constructed alike
}

// dicts numbers maps.
type dicts struct {
	table
	steps []*step // a step that leads to each map
}

// table numbers pointers.
type table struct {
	number map[unsafe.Pointer]int
	all    []unsafe.Pointer
}

// add returns the number of a pointer, and whether it is new.
func (t *table) add(p unsafe.Pointer) (n int, isNew bool) {
	if n, ok := t.number[p]; ok {
		return n, false
	}
	if t.number == nil {
		t.number = map[unsafe.Pointer]int{}
	}
	t.number[p] = len(t.all)
	t.all = append(t.all, p)
	return len(t.all) - 1, true
}

// NewCensus takes the census of the graph that the pointer root reaches. The graph must be as it was constructed, and
// must not change meanwhile. Sorting is left to ready, since most runs end without a checkpoint.
func NewCensus(root any, layouts *Layouts) (*Census, error) {
	c := &Census{Layouts: layouts, root: reflect.ValueOf(root), roots: map[*layout]bool{}}
	w := newWalk(c, nil)
	if err := w.from(c.root); err != nil {
		return nil, err
	}
	c.found = w.found
	return c, nil
}

// ready sorts and numbers the pieces.
func (c *Census) ready() (err error) {
	if c.typesByName != nil {
		return nil
	}
	if c.pieces, err = mergePieces(c.found); err != nil {
		return err
	}
	c.found = nil
	c.index()
	c.sign()
	return c.nameTypes()
}

// nameTypes collects the types that the graph consists of by name.
func (c *Census) nameTypes() error {
	c.typesByName = map[string]reflect.Type{}
	seen, todo := map[*layout]bool{}, slices.Collect(maps.Keys(c.roots))
	for len(todo) > 0 {
		o := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if o == nil || seen[o] {
			continue
		}
		seen[o] = true
		for i := range o.steps {
			todo = append(todo, o.steps[i].elem, o.steps[i].key)
		}
		for _, t := range o.named {
			if err := c.nameType(t); err != nil {
				return err
			}
			if t.Name() != "" {
				if err := c.nameType(reflect.PointerTo(t)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (c *Census) nameType(t reflect.Type) error {
	name := typeName(t)
	if other, ok := c.typesByName[name]; ok && other != t {
		return failf(name, "two types have this name")
	}
	c.typesByName[name] = t
	return nil
}

// index sorts the pieces by address.
func (c *Census) index() {
	c.byAddress = make([]int, len(c.pieces))
	for i := range c.byAddress {
		c.byAddress[i] = i
	}
	slices.SortFunc(c.byAddress, func(a, b int) int { return cmp.Compare(c.pieces[a].begin(), c.pieces[b].begin()) })
}

// find returns the piece that an address lies in, or -1.
func (c *Census) find(p unsafe.Pointer) int { return findIn(c.pieces, c.byAddress, p) }

func findIn(pieces []*piece, byAddress []int, p unsafe.Pointer) int {
	i := sort.Search(len(byAddress), func(i int) bool { return pieces[byAddress[i]].begin() > uintptr(p) }) - 1
	if i < 0 || uintptr(p) >= pieces[byAddress[i]].end() {
		return -1
	}
	return byAddress[i]
}

// sign computes the signature.
func (c *Census) sign() {
	h := sha256.New()
	for _, p := range c.pieces {
		fmt.Fprintf(h, "%s %d\n", p.layout.name, p.count)
	}
	fmt.Fprintln(h, len(c.dicts.all), len(c.opaques.all), len(c.funcs.all))
	h.Sum(c.signature[:0])
}

// Pieces returns the number of the graph's pieces of memory, and their size.
func (c *Census) Pieces() (n int, bytes uint64, err error) {
	if err := c.ready(); err != nil {
		return 0, 0, err
	}
	for _, p := range c.pieces {
		bytes += uint64(p.end() - p.begin())
	}
	return len(c.pieces), bytes, nil
}

// walk finds everything reachable.
type walk struct {
	*Census
	known *Census // parts to skip; nil: none
	later bool    // the walk has left the census: it visits memory that was allocated later
	seen  map[visit]bool
	found []*piece
	todo  []visit
	dicts *dicts
}

// visit identifies a piece that has been reached.
type visit struct {
	at unsafe.Pointer
	of *layout
	n  int
}

// newWalk returns the walk of a census or, with known, a walk for the memory that was allocated after it.
func newWalk(c, known *Census) *walk {
	w := &walk{Census: c, known: known, seen: map[visit]bool{}, dicts: &c.dicts}
	if known != nil {
		w.dicts = &dicts{}
	}
	return w
}

// since walks from all pieces and maps of the census.
func (w *walk) since() error {
	for _, p := range w.known.pieces {
		if err := w.values(p.at, p.layout, p.count); err != nil {
			return err
		}
	}
	for i, m := range w.known.dicts.all {
		if err := w.entries(w.known.dicts.steps[i].mapAt(m), w.known.dicts.steps[i]); err != nil {
			return err
		}
	}
	w.later = true
	return w.through()
}

// mapAt returns the map with this pointer.
func (s *step) mapAt(m unsafe.Pointer) reflect.Value {
	return reflect.NewAt(s.t, unsafe.Pointer(&m)).Elem()
}

// from walks from a root.
func (w *walk) from(root reflect.Value) error {
	of, err := w.layout(root.Type().Elem())
	if err != nil {
		return err
	}
	w.roots[of] = true
	w.reach(root.UnsafePointer(), of, 1)
	return w.through()
}

// reach records a piece, and queues it to be visited. Pieces of the census are skipped.
func (w *walk) reach(at unsafe.Pointer, of *layout, n int) {
	if at == nil || n == 0 || of.size == 0 {
		return
	}
	v := visit{at, of, n}
	if w.seen[v] {
		return
	}
	w.seen[v] = true
	if w.known != nil {
		if i := w.known.find(at); i >= 0 && uintptr(at)+uintptr(n)*of.size <= w.known.pieces[i].end() {
			return
		}
	}
	w.found = append(w.found, &piece{at, of, n, len(w.found)})
	if of.links {
		w.todo = append(w.todo, v)
	}
}

// through visits pieces until the queue is empty.
func (w *walk) through() error {
	for len(w.todo) > 0 {
		v := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		if err := w.values(v.at, v.of, v.n); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) values(at unsafe.Pointer, of *layout, n int) error {
	if !of.links {
		return nil
	}
	for i := range n {
		if err := w.value(unsafe.Add(at, uintptr(i)*of.size), of); err != nil {
			return err
		}
	}
	return nil
}

// header is the header of a slice.
type header struct {
	data     unsafe.Pointer
	len, cap int
}

// value reaches everything that one value refers to.
func (w *walk) value(at unsafe.Pointer, of *layout) (err error) {
	for i := range of.steps {
		s := &of.steps[i]
		p := unsafe.Add(at, s.off)
		switch s.kind {
		case pointer:
			w.reach(*(*unsafe.Pointer)(p), s.elem, 1)
		case slice:
			h := (*header)(p)
			w.reach(h.data, s.elem, h.cap)
		case repeat:
			err = w.values(p, s.elem, s.n)
		case boxed:
			err = w.box(p, s)
		case dict:
			err = w.dict(p, s)
		case opaque:
			err = w.constant(*(*unsafe.Pointer)(p), s)
		case function:
			err = w.function(*(*unsafe.Pointer)(p), s)
		case absent:
			err = zero(p, s)
		case kept:
			if w.later {
				err = zero(p, s)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// zero returns an error unless a value that cannot be saved is zero.
func zero(p unsafe.Pointer, s *step) error {
	for _, b := range unsafe.Slice((*byte)(p), s.bytes) {
		if b != 0 && s.kind == kept {
			return failf(s.at, "is set in a value that was not there when the graph was made, and is tagged %s",
				Assembled)
		}
		if b != 0 {
			return failf(s.at, "a %s cannot be written down", s.t)
		}
	}
	return nil
}

func (w *walk) constant(p unsafe.Pointer, s *step) error {
	if p == nil {
		return nil
	}
	if w.known == nil {
		if _, isNew := w.opaques.add(p); isNew {
			w.opaqueTypes = append(w.opaqueTypes, s.t)
		}
	} else if _, ok := w.opaques.number[p]; !ok {
		return failf(s.at, "a %s that was not there when the graph was made", s.t)
	}
	return nil
}

func (w *walk) function(p unsafe.Pointer, s *step) error {
	if p == nil {
		return nil
	}
	if w.known == nil {
		if _, isNew := w.funcs.add(p); isNew {
			w.funcTypes = append(w.funcTypes, s.t)
		}
	} else if _, ok := w.funcs.number[p]; !ok {
		return failf(s.at, "a function that was not there when the graph was made")
	}
	return nil
}

// inBox copies the value in an interface.
func inBox(p unsafe.Pointer, s *step) (v reflect.Value, ok bool) {
	in := reflect.NewAt(s.t, p).Elem().Elem()
	if !in.IsValid() {
		return v, false
	}
	v = reflect.New(in.Type())
	v.Elem().Set(in)
	return v, true
}

func (w *walk) box(p unsafe.Pointer, s *step) error {
	v, ok := inBox(p, s)
	if !ok {
		return nil
	}
	t := v.Type().Elem()
	if w.known != nil {
		if _, ok := w.known.typesByName[typeName(t)]; !ok {
			return failf(s.at, "a %s, of which there was none when the graph was made", t)
		}
	}
	of, err := w.layout(t)
	if err != nil {
		return err
	}
	if w.known == nil {
		w.roots[of] = true
	}
	return w.value(v.UnsafePointer(), of)
}

func (w *walk) dict(p unsafe.Pointer, s *step) error {
	m := *(*unsafe.Pointer)(p)
	if m == nil {
		return nil
	}
	if w.known != nil {
		if _, ok := w.known.dicts.number[m]; ok {
			return nil
		}
	}
	if _, isNew := w.dicts.add(m); !isNew {
		return nil
	}
	w.dicts.steps = append(w.dicts.steps, s)
	return w.entries(s.mapAt(m), s)
}

func (w *walk) entries(m reflect.Value, s *step) error {
	if !s.elem.links {
		return nil
	}
	for _, k := range sortedKeys(m) {
		v := reflect.New(s.elem.t)
		v.Elem().Set(m.MapIndex(k))
		if err := w.value(v.UnsafePointer(), s.elem); err != nil {
			return err
		}
	}
	return nil
}

// sortedKeys returns the keys of a map in ascending order.
func sortedKeys(m reflect.Value) []reflect.Value {
	keys := m.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int {
		switch {
		case a.Kind() == reflect.String:
			return cmp.Compare(a.String(), b.String())
		case a.CanInt():
			return cmp.Compare(a.Int(), b.Int())
		}
		return cmp.Compare(a.Uint(), b.Uint())
	})
	return keys
}

// mergePieces merges overlapping pieces, and returns the disjoint ones in the order in which they, or pieces within
// them, were reached.
func mergePieces(found []*piece) ([]*piece, error) {
	sorted := slices.Clone(found)
	slices.SortFunc(sorted, func(a, b *piece) int {
		return cmp.Or(cmp.Compare(a.begin(), b.begin()), cmp.Compare(b.end(), a.end()), cmp.Compare(a.order, b.order))
	})
	var out []*piece
	for _, p := range sorted {
		if len(out) == 0 || p.begin() >= out[len(out)-1].end() {
			out = append(out, p)
			continue
		}
		if err := out[len(out)-1].merge(p); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b *piece) int { return cmp.Compare(a.order, b.order) })
	return out, nil
}

// merge merges p, which begins within o, into o.
func (o *piece) merge(p *piece) error {
	o.order = min(o.order, p.order)
	off := p.begin() - o.begin()
	switch {
	case p.end() > o.end(): // two overlapping slices of one array
		if o.layout != p.layout || off%o.layout.size != 0 {
			return failf(p.layout.t.String(), "lies partly in a %s", o.layout.t)
		}
		o.count = int((p.end() - o.begin()) / o.layout.size)
	case consecutive(o.layout.t, o.count, off, p.layout.t) >= p.count:
	case off == 0 && p.end() == o.end() && consecutive(p.layout.t, p.count, 0, o.layout.t) >= o.count:
		// p is the same memory by its outer type
		o.layout, o.count = p.layout, p.count
	default:
		return failf(p.layout.t.String(), "lies in a %s, which has none there", o.layout.t)
	}
	return nil
}
