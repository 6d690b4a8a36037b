package graph

// column is a list of words that grows without copying: a list of tens of millions is never in memory twice.
type column struct {
	full [][]uint32 // blocks of blockWords
	last []uint32
}

const (
	blockWords = 1 << 11 // small enough for ranges of sources to have blocks of their own
	firstWords = 1 << 9  // of the first block, which does grow: most lists are short
)

// add appends a word.
func (c *column) add(w uint32) {
	if len(c.last) == cap(c.last) {
		c.grow()
	}
	c.last = append(c.last, w)
}

func (c *column) grow() {
	switch n := len(c.last); {
	case n == blockWords:
		c.full = append(c.full, c.last)
		c.last = make([]uint32, 0, blockWords)
	default:
		c.last = append(make([]uint32, 0, max(firstWords, 2*n)), c.last...)
	}
}

// len is the number of words.
func (c *column) len() int { return len(c.full)*blockWords + len(c.last) }

// at returns word i.
func (c *column) at(i int) uint32 {
	if b := i / blockWords; b < len(c.full) {
		return c.full[b][i%blockWords]
	}
	return c.last[i%blockWords]
}

// blocks are the words in their order, to be read and changed. Columns of one length have blocks of the same lengths.
func (c *column) blocks() [][]uint32 { return append(c.full[:len(c.full):len(c.full)], c.last) }

// change replaces each word by f's.
func (c *column) change(f func(uint32) uint32) {
	for _, b := range c.blocks() {
		for i, w := range b {
			b[i] = f(w)
		}
	}
}

// renumber replaces each word w by number[w].
func (c *column) renumber(number []uint32) {
	for _, b := range c.blocks() {
		for i, w := range b {
			b[i] = number[w]
		}
	}
}

// edges is a list as a file or a generator gives it.
type edges struct {
	vertices int
	src, dst column
	weights  column // as long, or empty: none
	kind     WeightKind
}

// add appends an edge.
func (l *edges) add(src, dst uint32) {
	l.src.add(src)
	l.dst.add(dst)
}

// addBoth appends an edge and its reverse.
func (l *edges) addBoth(a, b uint32) {
	l.add(a, b)
	l.add(b, a)
}

// len is the number of edges.
func (l *edges) len() int { return l.src.len() }

// weighted reports whether the edges have weights.
func (l *edges) weighted() bool { return l.weights.len() > 0 }
