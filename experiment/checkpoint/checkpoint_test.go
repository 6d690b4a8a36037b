package checkpoint

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// world is a graph with everything in it that a machine has.
type world struct {
	*base
	mu       sync.Mutex //lint:ignore U1000 for the walk to meet
	parts    []part
	byPlace  [3]*part // into parts
	words    []uint64 // of which flags and views are pieces
	flags    []*uint64
	views    [][]uint64
	queue    []*item // whose items are exchanged, and made
	free     []*item
	spare    *item
	act      func(*world) int
	shape    shape
	any      any
	counts   map[uint32]count
	names    map[string]*item
	empty    []int
	nothing  *struct{}
	text     string
	log      []string
	fixed    *constant
	cache    *cached
	looked   int `checkpoint:"assembled"`
	nested   *world
	pages    store
	list     *item // linked
	cyclic   *world
	rows     [][]row
	yes      bool
	floats   [2]float32
	padded   padded
	dense    [4]padded
	function func() int
}

type base struct{ name string }

type part struct {
	id     int
	mine   *uint64
	to     *part
	lanes  [2]lane
	waits  bool
	hidden func(int) int
}

type lane struct {
	at  *lane
	val uint16
	ok  bool
}

type item struct {
	n    int
	next *item
	w    *world
}

type shape interface{ area() int }

type square struct{ side int }

func (s *square) area() int { return s.side * s.side }

type strip struct {
	w *world
	n int
}

func (s strip) area() int { return s.n + s.w.shape2() }

func (w *world) shape2() int { return w.parts[0].id }

type count struct {
	n    uint64
	item *item
}

type row struct {
	names []string
	value float64
}

type padded struct {
	a uint8
	b uint32
	c uint8
}

type constant struct {
	big [4]int //lint:ignore U1000 for the walk to meet
}

type cached struct{ n int }

// store is a Saver.
type store struct{ b []byte }

func (s *store) SaveState(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%d %s\n", len(s.b), s.b)
	return err
}

func (s *store) LoadState(r io.Reader) error {
	var n int
	if _, err := fmt.Fscanf(r, "%d", &n); err != nil || n < 0 || n > 1<<10 {
		return errWrong
	}
	s.b = make([]byte, n)
	one := make([]byte, 1)
	if _, err := io.ReadFull(r, one); err != nil {
		return err
	}
	if _, err := io.ReadFull(r, s.b); err != nil {
		return err
	}
	_, err := io.ReadFull(r, one)
	return err
}

var layouts = NewLayouts(Rules{Opaque: []reflect.Type{reflect.TypeFor[constant]()},
	Forgotten: []reflect.Type{reflect.TypeFor[cached]()}})

func newWorld(c *constant) *world {
	w := &world{base: &base{"w"}, parts: make([]part, 5, 8), words: make([]uint64, 16), fixed: c,
		counts: map[uint32]count{}, names: map[string]*item{}, empty: []int{}}
	for i := range w.parts {
		p := &w.parts[i]
		p.id, p.mine, p.to = i, &w.words[i], &w.parts[(i+2)%5]
		p.lanes[0].at = &w.parts[(i+1)%5].lanes[1]
		p.hidden = func(n int) int { return n * p.id }
		w.flags = append(w.flags, &w.words[2*i])
	}
	w.byPlace = [3]*part{&w.parts[4], &w.parts[0], &w.parts[2]}
	w.views = [][]uint64{w.words[0:4:4], w.words[4:8], w.words[8:]}
	for i := range 6 {
		w.queue = append(w.queue, &item{n: i, w: w})
	}
	w.act = func(w *world) int { return w.parts[1].id }
	other := w.queue[5]
	w.function = func() int { return other.n }
	w.shape, w.any, w.cyclic = &square{3}, strip{w, 1}, w
	w.nested = &world{base: w.base, text: "nested"}
	return w
}

// live changes it as a run does.
func (w *world) live(draw *rand.Rand) {
	newItem := func() *item { return &item{n: draw.Int(), next: w.list, w: w} }
	for range 200 {
		switch i, j := draw.IntN(5), draw.IntN(5); draw.IntN(22) {
		case 0:
			w.parts[i].id, w.parts[i].waits = draw.IntN(9), draw.IntN(2) == 0
		case 1:
			*w.flags[i]++
		case 2:
			w.views[i%3][j%3] = draw.Uint64()
		case 3:
			w.queue[i], w.queue[j] = w.queue[j], w.queue[i]
		case 4:
			w.free = append(w.free, w.queue[i])
			w.queue[i] = newItem()
		case 5:
			w.list = newItem()
			w.spare = w.list.next
		case 6:
			w.counts[draw.Uint32N(20)] = count{draw.Uint64(), w.queue[i]}
			delete(w.counts, draw.Uint32N(20))
		case 7:
			w.names[fmt.Sprint(draw.IntN(9))] = newItem()
		case 8:
			w.shape = []shape{&square{draw.IntN(9)}, strip{w, j}, nil, w.shape}[draw.IntN(4)]
		case 9:
			w.any = []any{7, "text", draw.Uint64(), strip{w, 3}, &square{4}, w.parts[2:4], w.act, nil,
				padded{1, 2, 3}}[draw.IntN(9)]
		case 10:
			w.parts[i].to, w.byPlace[i%3] = &w.parts[j], &w.parts[i]
		case 11:
			w.parts[i].lanes[j%2] = lane{&w.parts[j].lanes[0], uint16(draw.Uint32()), draw.IntN(2) == 0}
		case 12:
			w.rows = append(w.rows, []row{{[]string{"a", fmt.Sprint(draw.IntN(4))}, draw.Float64()}, {}})
		case 13:
			w.log = append(w.log, fmt.Sprint("line ", draw.IntN(30)))
		case 14:
			w.pages.b = append(w.pages.b, byte(draw.Uint32()))
		case 15:
			w.cache, w.looked = &cached{5}, w.looked+1
		case 16:
			w.flags[i], w.empty = &w.words[draw.IntN(16)], nil
		case 17:
			w.views[i%3] = w.words[j : j+5]
		case 18:
			w.act, w.nested.function = nil, w.function
		case 19:
			w.text, w.yes, w.nothing = fmt.Sprint(i), j == 2, &struct{}{}
		case 20:
			w.padded, w.dense[i%4] = padded{uint8(i), uint32(j), 9}, padded{1, draw.Uint32(), 2}
		case 21:
			w.queue = w.queue[:5+draw.IntN(2)]
			w.floats[j%2] = draw.Float32()
		}
	}
}

func saved(t testing.TB, c *Census) []byte {
	t.Helper()
	var b bytes.Buffer
	_, err := c.Save(&b)
	require.NoError(t, err)
	return b.Bytes()
}

func census(t testing.TB, w *world) *Census {
	t.Helper()
	c, err := NewCensus(w, layouts)
	require.NoError(t, err)
	return c
}

// A graph made anew that takes a state goes on as the one whose state it was: also what only functions reach.
func TestAStateGoesOn(t *testing.T) {
	c := &constant{}
	for seed := range uint64(300) {
		one, two := newWorld(c), newWorld(c)
		a, b := census(t, one), census(t, two)
		draw := rand.New(rand.NewPCG(seed, 1))
		one.live(draw)
		state := saved(t, a)
		require.Equal(t, state, saved(t, a), "saving changes nothing")
		require.NoError(t, b.Load(bytes.NewReader(state), 1<<20))
		require.Nil(t, two.cache, "forgotten")
		require.Zero(t, two.looked, "kept")
		one.cache = nil
		again := rand.New(rand.NewPCG(seed, 2))
		one.live(again)
		two.live(rand.New(rand.NewPCG(seed, 2)))
		x, y := a, b
		require.Equal(t, saved(t, x), saved(t, y), "seed %d", seed)
		require.Equal(t, one.function(), two.function())
		for i := range one.parts {
			require.Equal(t, one.parts[i].hidden(3), two.parts[i].hidden(3))
		}
		require.Same(t, c, two.fixed)
	}
}

// What cannot be written down is refused with the name of the field.
func TestRefusals(t *testing.T) {
	type holder struct {
		f func()
		c chan int
		a any
		//lint:ignore U1000 for the walk to meet
		k struct {
			x *int `checkpoint:"assembled"`
		}
		list []struct {
			x int `checkpoint:"assembled"`
		}
	}
	for _, x := range []struct {
		change func(h *holder)
		says   string
	}{
		{func(h *holder) { h.f = func() { h.c = nil } }, "checkpoint.holder.f: a function that was not there"},
		{func(h *holder) { h.c = make(chan int) }, "checkpoint.holder.c: a chan int cannot be written down"},
		{func(h *holder) { h.a = fmt.Errorf("x") }, "checkpoint.holder.a: a *fmt.wrapError, of which there was none"},
		{func(h *holder) {
			h.list = append(h.list, struct {
				x int `checkpoint:"assembled"`
			}{4})
		}, "is tagged assembled"},
	} {
		h := &holder{}
		c, err := NewCensus(h, NewLayouts(Rules{}))
		require.NoError(t, err)
		x.change(h)
		_, err = c.Save(io.Discard)
		if x.says == "checkpoint.holder.a: a *fmt.wrapError, of which there was none" {
			require.ErrorContains(t, err, "checkpoint.holder.a: a *errors.errorString")
			continue
		}
		require.ErrorContains(t, err, x.says)
	}
	_, err := NewCensus(&map[any]int{}, NewLayouts(Rules{}))
	require.ErrorContains(t, err, "has no order")
	_, err = NewCensus(&struct {
		x int `checkpoint:"asembled"`
	}{}, NewLayouts(Rules{}))
	require.ErrorContains(t, err, `tag checkpoint:"asembled"`)
}

// A graph that was made in another way takes no state.
func TestAnotherGraph(t *testing.T) {
	one, two := newWorld(&constant{}), newWorld(&constant{})
	two.queue = append(two.queue, &item{})
	a, b := census(t, one), census(t, two)
	require.ErrorIs(t, b.Load(bytes.NewReader(saved(t, a)), 1<<20), ErrOther)
}

// What is cut off or changed is an error, or a state, and never a panic.
func TestDamage(t *testing.T) {
	one := newWorld(&constant{})
	a := census(t, one)
	one.live(rand.New(rand.NewPCG(7, 7)))
	state := saved(t, a)
	for n := range state {
		b := census(t, newWorld(&constant{}))
		require.Error(t, b.Load(bytes.NewReader(state[:n]), 1<<20))
	}
	draw := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		bad := bytes.Clone(state)
		for range 1 + draw.IntN(3) {
			bad[draw.IntN(len(bad))] = byte(draw.Uint32())
		}
		w := newWorld(&constant{})
		b := census(t, w)
		if b.Load(bytes.NewReader(bad), 1<<20) == nil {
			_, err := b.Save(io.Discard)
			require.NoError(t, err, "what was taken is whole")
		}
	}
}

func FuzzLoad(f *testing.F) {
	one := newWorld(&constant{})
	a := census(f, one)
	f.Add(saved(f, a))
	one.live(rand.New(rand.NewPCG(7, 7)))
	f.Add(saved(f, a))
	f.Fuzz(func(t *testing.T, state []byte) {
		b := census(t, newWorld(&constant{}))
		copy(state, b.signature[:])
		if b.Load(bytes.NewReader(state), 1<<20) == nil {
			_, err := b.Save(io.Discard)
			require.NoError(t, err)
		}
	})
}
