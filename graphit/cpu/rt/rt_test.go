package rt

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// FuzzGraph: whatever a file says, there is a graph whose every edge has its vertices, or an error.
func FuzzGraph(f *testing.F) {
	b := make([]byte, graphFixed)
	copy(b, graphMagic)
	binary.LittleEndian.PutUint32(b[8:], 1)
	binary.LittleEndian.PutUint64(b[16:], 2)
	binary.LittleEndian.PutUint64(b[24:], 1)
	for _, w := range []uint32{0, 0, 1, 1, 0} { // checksum, offsets, the edge
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	f.Add(b)
	out, in, err := parseGraph(bytes.NewReader(b), int64(len(b)), needs{in: true, ints: true, floats: true})
	if err != nil || in == nil || out.vertices() != 2 {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		out, in, err := parseGraph(bytes.NewReader(b), int64(len(b)), needs{in: true, ints: true})
		if err != nil {
			return
		}
		for v := range uint32(out.vertices()) {
			for _, d := range out.row(v) {
				if !slices.Contains(in.row(d), v) {
					t.Fatalf("edge %d → %d has no other end", v, d)
				}
			}
		}
	})
}

// TestQueue: buckets come in the order of a plain search for the least, whatever is changed meanwhile, with any number
// of open ones, and with priorities below the current bucket.
func TestQueue(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 1 + r.IntN(40)
		m := newMachine("test", &adjacency{offsets: make([]uint32, n+1)}, nil, n, 1)
		prio := make([]int32, n)
		for v := range prio {
			prio[v] = int32(r.IntN(400) - 100)
		}
		delta := int64(1 + r.IntN(9))
		q := newQueue(m, "test", prio, delta, 1, -1, 1+r.IntN(8), 0)
		waits := slices.Repeat([]bool{true}, n)
		for range 200 {
			least := int64(1 << 40)
			for v, w := range waits {
				if w {
					least = min(least, floor(int64(prio[v]), delta))
				}
			}
			var want []uint32
			for v, w := range waits {
				if w && floor(int64(prio[v]), delta) == least {
					want = append(want, uint32(v))
					waits[v] = false
				}
			}
			if q.finished() != (len(want) == 0) {
				t.Fatalf("seed %d: finished is %v with %d that wait", seed, q.finished(), len(want))
			}
			got := q.ready().vertices()
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Fatalf("seed %d: %v are ready, expected %v", seed, got, want)
			}
			if len(want) > 0 && q.current != least*delta {
				t.Fatalf("seed %d: the current priority is %d, expected %d", seed, q.current, least*delta)
			}
			var changed []uint32
			for range r.IntN(4) {
				v := r.IntN(n)
				prio[v] -= int32(r.IntN(60))
				waits[v], q.waits[v] = true, 1
				changed = append(changed, uint32(v))
			}
			if r.IntN(5) == 0 {
				v := r.IntN(n)
				prio[v] += int32(r.IntN(100))
				q.outdate()
			}
			q.insert(changed)
		}
	}
}

func floor(a, b int64) int64 {
	n := a / b
	if a%b < 0 {
		n--
	}
	return n
}

// TestSets: a set is the same as a list, a bitmap and a boolmap, and its memory is empty when it is used again.
func TestSets(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	m := newMachine("test", &adjacency{offsets: make([]uint32, 301)}, nil, 300, 2)
	for range 100 {
		var list []uint32
		for v := range uint32(300) {
			if r.IntN(3) == 0 {
				list = append(list, v)
			}
		}
		s := m.listSet(slices.Clone(list))
		bits := &set{m: m, bits: slices.Clone(s.bitmap()), count: s.count}
		words := &set{m: m, words: slices.Clone(s.boolmap()), count: s.count}
		if !slices.Equal(bits.vertices(), list) || !slices.Equal(words.vertices(), list) ||
			!slices.Equal(words.bitmap(), s.bits) {
			t.Fatal("a set has changed with its form")
		}
		m.reuse(s)
		m.reuse(bits)
	}
}

// TestEach: every piece is done once, and what goes wrong in one comes out, with its place.
func TestEach(t *testing.T) {
	for _, workers := range []int{1, 4} {
		m := newMachine("test", &adjacency{offsets: []uint32{0}}, nil, 0, workers)
		done := make([]int, 100)
		m.each("p.gt:1:1", len(done), func(_, p int) { done[p]++ })
		if slices.Min(done) != 1 || slices.Max(done) != 1 {
			t.Fatal(done)
		}
		func() {
			defer func() {
				if f, ok := recover().(failure); !ok || f.Error() != "p.gt:1:1: index out of range [100] with length 100" {
					t.Fatal(f)
				}
			}()
			m.each("p.gt:1:1", 101, func(_, p int) { done[p]++ })
		}()
	}
}

// TestRanges: ranges cover all vertices once, and share no word of a bitmap.
func TestRanges(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		n := r.IntN(2000)
		a := &adjacency{offsets: make([]uint32, n+1)}
		for v := range n {
			a.offsets[v+1] = a.offsets[v] + uint32(r.IntN(5)*r.IntN(5)*r.IntN(30))
		}
		a.ids = make([]uint32, a.offsets[n])
		m := newMachine("test", a, nil, n, 1+r.IntN(5))
		for _, by := range []*adjacency{a, nil} {
			b := m.bounds(by)
			if b[0] != 0 || b[len(b)-1] != uint32(n) {
				t.Fatal(n, b)
			}
			for i := range len(b) - 1 {
				if b[i] >= b[i+1] || b[i]%wordBits != 0 {
					t.Fatal(n, b)
				}
			}
		}
	}
}

// TestMissing: a file that is not there, and one that is none, are refused by name.
func TestMissing(t *testing.T) {
	if _, _, err := readGraph("/nowhere/x.hgr", needs{}); !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if _, _, err := readGraph("rt_test.go", needs{}); err == nil {
		t.Fatal("a program is no graph")
	}
}
