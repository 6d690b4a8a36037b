package stats

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"sync"
)

// Packed holds a tree's values in a few bytes each, for thousands of points. Ratios are stored as constants. The zero
// value is an empty tree.
type Packed struct {
	names *names
	text  string // each value, followed by half its confidence interval if there are any
	half  bool   // there are
}

// names are shared by the trees of equal machines.
type names struct {
	of []Stat // without values
	at map[string]int
}

// known holds all sets of names, by length and first name: there are only a few shapes of machines.
var known struct {
	sync.Mutex
	lists map[shape][]*names
}

type shape struct {
	n           int
	first, last string
}

// Pack packs a tree.
func Pack(t Tree) Packed {
	if len(t) == 0 {
		return Packed{}
	}
	p := Packed{names: namesOf(t), half: slices.ContainsFunc(t, func(s Stat) bool { return s.Half != 0 })}
	b := make([]byte, 0, 4*len(t))
	for i := range t {
		s := &t[i]
		if s.isF {
			b = appendFloat(b, s.ratio)
		} else {
			b = binary.AppendUvarint(b, s.count)
		}
		if p.half {
			b = appendFloat(b, s.Half)
		}
	}
	p.text = string(b)
	return p
}

// appendFloat appends a float in few bytes if it has few digits.
func appendFloat(b []byte, x float64) []byte {
	return binary.AppendUvarint(b, reversed(math.Float64bits(x)))
}

// reversed has the bytes of a float that are 0 in front, where a varint drops them.
func reversed(x uint64) uint64 { return bits.ReverseBytes64(x) }

func namesOf(t Tree) *names {
	of := shape{len(t), t[0].Name, t[len(t)-1].Name}
	known.Lock()
	defer known.Unlock()
	for _, n := range known.lists[of] {
		if n.fit(t) {
			return n
		}
	}
	n := &names{of: make([]Stat, len(t)), at: make(map[string]int, len(t))}
	for i, s := range t {
		n.of[i] = Stat{Name: s.Name, Unit: s.Unit, Doc: s.Doc, isF: s.isF}
		if _, twice := n.at[s.Name]; !twice {
			n.at[s.Name] = i
		}
	}
	if known.lists == nil {
		known.lists = map[shape][]*names{}
	}
	known.lists[of] = append(known.lists[of], n)
	return n
}

func (n *names) fit(t Tree) bool {
	for i := range t {
		a, b := &n.of[i], &t[i]
		if a.isF != b.isF || a.Name != b.Name || a.Unit != b.Unit || a.Doc != b.Doc {
			return false
		}
	}
	return true
}

// Len is the number of statistics.
func (p Packed) Len() int {
	if p.names == nil {
		return 0
	}
	return len(p.names.of)
}

// each visits the statistics until visit returns false.
func (p Packed) each(visit func(i int, s Stat) bool) {
	rest := []byte(p.text)
	next := func() uint64 {
		v, n := binary.Uvarint(rest)
		rest = rest[n:]
		return v
	}
	for i := range p.Len() {
		s := p.names.of[i]
		if v := next(); s.isF {
			s.ratio = math.Float64frombits(bits.ReverseBytes64(v))
		} else {
			s.count = v
		}
		if p.half {
			s.Half = math.Float64frombits(bits.ReverseBytes64(next()))
		}
		if !visit(i, s) {
			return
		}
	}
}

// Tree unpacks it.
func (p Packed) Tree() Tree {
	if p.names == nil {
		return nil
	}
	t := make(Tree, p.Len())
	p.each(func(i int, s Stat) bool { t[i] = s; return true })
	return t
}

// Get returns the statistic of that name.
func (p Packed) Get(name string) (found Stat, ok bool) {
	if p.names == nil {
		return found, false
	}
	at, ok := p.names.at[name]
	if ok {
		p.each(func(i int, s Stat) bool { found = s; return i < at })
	}
	return found, ok
}

// Equal reports whether two have the same statistics and values.
func (p Packed) Equal(q Packed) bool { return p == q }

// SameNames reports whether two have the same statistics, whatever their values.
func (p Packed) SameNames(q Packed) bool { return p.names == q.names }
