package graphit

// Intersection is how the function that counts common neighbours finds them, and the vectors that it reads, by name.
type Intersection struct {
	By                       Intersecting
	Starts, Degrees, Targets string // of rows
	Bits                     string // of Bitmap: a bit for each vertex in each row
	// Of Hash: tables with open addressing, where they begin, and one less than their sizes, powers of two.
	Hashes, HashStarts, HashMasks string
}

// Intersecting is a way to intersect rows.
type Intersecting uint8

// Ways: a merge of both rows, a binary search, a look-up in a hash table, for each element of the shorter row, in the
// other one, and the rows as bits.
const (
	Merge Intersecting = iota
	Search
	Hash
	Bitmap
)

// intersectings are the words of configIntersection. Those of GraphIt that skip ahead in a merge differ in speed alone.
var intersectings = map[string]Intersecting{
	"NaiveIntersection": Merge, "HiroshiIntersection": Merge, "MultiskipIntersection": Merge, "CombinedIntersection": Merge,
	"BinarySearchIntersection": Search, "HashIntersection": Hash, "BitmapIntersection": Bitmap,
}

// Intersects returns the way that a schedule's configIntersection names; false: it is no such way.
func Intersects(o *CPUOption) (by Intersecting, ok bool) {
	if len(o.Args) == 2 {
		by, ok = intersectings[o.Args[1].Text]
	}
	return by, ok
}

// Methods of edges that only Check writes, of an intersection's vectors, and what marks a place of a hash table that is
// empty.
const (
	RowBits, RowHashes    = "getRowBits", "getRowHashes"
	HashStarts, HashMasks = "getHashStarts", "getHashMasks"
	HashEmpty             = 1<<32 - 1
)

// HashOf spreads a vertex over the words; of a table of a size that is a power of two the lower bits count.
func HashOf(v uint32) uint32 {
	h := v * HashFactor
	return h ^ h>>HashShift
}

// HashFactor and HashShift are HashOf's numbers: the golden ratio's, and half a word's.
const HashFactor, HashShift = 0x9E3779B1, 15

// intersection makes the vectors of the way that the schedule names, which all of a program's intersections take.
func (e *elaborator) intersection(of *rows) *Intersection {
	x := &Intersection{Starts: of.starts, Degrees: of.degrees, Targets: of.targets}
	if s := e.f.Schedule; s != nil {
		for i := range s.CPU {
			if o := &s.CPU[i]; o.Name == "configIntersection" {
				x.By, _ = Intersects(o) // which is checked with the schedule
			}
		}
	}
	g := e.globals[e.graph()]
	vector := func(name, method string, perEdge bool) string {
		t := &Type{Kind: Vector, Element: g.Type.Ends[0], Of: tInt, Pos: g.Pos}
		if perEdge {
			t = &Type{Kind: Vector, Of: tUint, PerEdge: true, Pos: g.Pos}
		}
		v := &Var{Name: e.unique(name), Type: t, Const: true, Pos: g.Pos,
			Init: &Method{node{Pos: g.Pos}, &Name{node: node{Pos: g.Pos}, Name: g.Name}, method, nil}}
		e.global(v)
		return v.Name
	}
	switch x.By {
	case Bitmap:
		x.Bits = vector("row_bits", RowBits, true)
	case Hash:
		x.Hashes = vector("row_hashes", RowHashes, true)
		x.HashStarts = vector("hash_starts", HashStarts, false)
		x.HashMasks = vector("hash_masks", HashMasks, false)
	}
	return x
}
