package swarm

import (
	"math/bits"
	"slices"
)

// array is the tags of a cache, with least recently used replacement.
type array struct {
	ways, sets int
	divide     uint32 // lines are numbered by line/divide within the cache: an L3 bank has every so manyth line
	tags       []uint32
	used       []uint64
	modified   []bool
	canaries   []time // of an L2: the earliest task for which other tiles have been checked
	uses       uint64
}

func newArray(bytes, ways, line, divide int) array {
	n := bytes / line
	return array{
		ways: ways, sets: n / ways, divide: uint32(divide), tags: make([]uint32, n), used: make([]uint64, n),
		modified: make([]bool, n),
	}
}

// find returns the index of a line; -1: it is not there.
func (a *array) find(line uint32) int {
	first := int(line/a.divide) & (a.sets - 1) * a.ways
	for i, tag := range a.tags[first : first+a.ways] {
		if tag == line+1 {
			a.uses++
			a.used[first+i] = a.uses
			return first + i
		}
	}
	return -1
}

// fill enters a line, and returns its index, and the line that it replaces.
func (a *array) fill(line uint32) (at int, victim uint32, full bool) {
	first := int(line/a.divide) & (a.sets - 1) * a.ways
	at = first
	for i := first; i < first+a.ways; i++ {
		if a.tags[i] == 0 {
			at = i
			break
		}
		if a.used[i] < a.used[at] {
			at = i
		}
	}
	victim, full = a.tags[at]-1, a.tags[at] != 0
	a.uses++
	a.tags[at], a.used[at], a.modified[at] = line+1, a.uses, false
	return at, victim, full
}

// drop invalidates a line.
func (a *array) drop(line uint32) {
	if i := a.find(line); i >= 0 {
		a.tags[i] = 0
	}
}

// demote makes a line's copy read-only.
func (a *array) demote(line uint32) {
	if i := a.find(line); i >= 0 {
		a.modified[i] = false
	}
}

func (a *array) clear() { clear(a.tags) }

// entry is a line's directory entry. A tile's bit stays while a signature of its tasks matches the line, even if its L2
// does not have it any more, so that checks reach it.
type entry struct {
	tiles   uint64 // that have a copy, or a task that has read or written the line
	writers uint64 // that have a writable copy, or a task that has written it
	owner   uint8  // the tile with a writable copy, plus 1; 0: none
}

const entriesPerPage = 1 << 12

// entry returns a line's directory entry.
func (e *Engine) entry(line uint32) *entry {
	p := &e.directory[line/entriesPerPage]
	if *p == nil {
		*p = new([entriesPerPage]entry)
	}
	return &(*p)[line%entriesPerPage]
}

// access performs the coherence and the conflict check of an access of a core's task, and returns the cycles that it
// takes beyond the instruction's own.
func (e *Engine) access(c *core, t *task, line uint32, write bool) uint64 {
	if write {
		e.Stats.Writes++
	} else {
		e.Stats.Reads++
	}
	tile := c.tile
	i := c.l1.find(line)
	if i >= 0 && (!write || c.l1.modified[i]) {
		e.Stats.L1Hits++
		if e.auditing {
			e.audit(t, line, write, "L1")
		}
		return 0
	}
	at := e.now + uint64(e.spec.L1Latency)
	if !e.faults.ignoreTile {
		at += e.check(tile, t.time, t, line, write, &e.Stats.Aborts.Conflict)
	}
	at += uint64(e.spec.L2Latency)
	j := tile.l2.find(line)
	there := j >= 0 && (!write || tile.l2.modified[j])
	switch {
	case there && !(t.time.before(tile.l2.canaries[j]) && !e.faults.ignoreCanary):
		e.Stats.L2Hits++
		if e.auditing {
			e.audit(t, line, write, "L2")
		}
	default:
		if there {
			e.Stats.Canaries++
		}
		at = e.global(tile, t, line, write, j, at)
	}
	for _, o := range tile.cores {
		switch {
		case o == c:
		case write:
			o.l1.drop(line)
		default:
			o.l1.demote(line)
		}
	}
	if i < 0 {
		i, _, _ = c.l1.fill(line)
	}
	c.l1.modified[i] = write
	return at - e.now
}

// global asks the line's directory: it checks other tiles, and obtains the line and the right to write it. j is its
// index in the tile's L2, or -1.
func (e *Engine) global(tile *tile, t *task, line uint32, write bool, j int, at uint64) uint64 {
	e.Stats.Global++
	d, home := e.entry(line), e.tiles[int(line)%len(e.tiles)]
	at = e.send(tile, home, at, control) + uint64(e.spec.L3Latency)
	targets := d.writers
	if write {
		targets |= d.tiles
	}
	own := uint64(1) << tile.id
	done, supplied := at, d.owner != 0
	for rest := targets &^ own; rest != 0 && !e.faults.ignoreOthers; rest &= rest - 1 {
		n := bits.TrailingZeros64(rest)
		done = max(done, e.probe(e.tiles[n], home, t, line, write, at))
	}
	if !supplied {
		done = max(done, e.fetch(home, line, at))
	}
	done = e.send(home, tile, done, e.lineFlits())
	if j < 0 {
		j = e.fillL2(tile, line)
	}
	d.tiles |= own
	switch {
	case write:
		d.writers |= own
		d.owner = uint8(tile.id) + 1
		tile.l2.modified[j], tile.l2.canaries[j] = true, t.time
	case !tile.l2.modified[j]: // of a writable line, the readers have not been checked
		tile.l2.canaries[j] = t.time
	}
	return done
}

// probe checks another tile for an access, and takes its copy of the line, or its right to write it, away.
func (e *Engine) probe(target, home *tile, t *task, line uint32, write bool, at uint64) uint64 {
	d, bit := e.entry(line), uint64(1)<<target.id
	at = e.send(home, target, at, control)
	at += e.check(target, t.time, t, line, write, &e.Stats.Aborts.Conflict)
	flits := uint64(control)
	if d.owner == uint8(target.id)+1 {
		at += uint64(e.spec.L2Latency)
		flits, d.owner = e.lineFlits(), 0
	}
	if write {
		target.drop(line)
		if !e.touched(target, line, true) {
			d.tiles &^= bit
		}
	} else {
		target.demote(line)
	}
	if !e.touched(target, line, false) {
		d.writers &^= bit
	}
	return e.send(target, home, at, flits)
}

// fetch reads a line from its L3 bank, or from memory.
func (e *Engine) fetch(home *tile, line uint32, at uint64) uint64 {
	if home.l3.find(line) >= 0 {
		e.Stats.L3Hits++
		return at
	}
	e.Stats.Memory++
	n := int(line/uint32(len(e.tiles))) % len(e.controllers)
	m := &e.controllers[n]
	at = e.send(home, m.tile, at, control)
	at = m.calendar.reserve(at, uint64(e.spec.MemoryInterval)) + uint64(e.spec.MemoryLatency)
	at = e.send(m.tile, home, at, e.lineFlits())
	if _, victim, full := home.l3.fill(line); full {
		d := e.entry(victim)
		for tiles := d.tiles; tiles != 0; tiles &= tiles - 1 {
			e.tiles[bits.TrailingZeros64(tiles)].drop(victim)
		}
		d.owner = 0
	}
	return at
}

// fillL2 enters a line into a tile's L2, and returns its index.
func (e *Engine) fillL2(tile *tile, line uint32) int {
	j, victim, full := tile.l2.fill(line)
	if full {
		for _, c := range tile.cores {
			c.l1.drop(victim)
		}
		if d := e.entry(victim); d.owner == uint8(tile.id)+1 {
			d.owner = 0
			e.send(tile, e.tiles[int(victim)%len(e.tiles)], e.now, e.lineFlits())
		}
	}
	return j
}

// drop invalidates a tile's copies of a line.
func (t *tile) drop(line uint32) {
	t.l2.drop(line)
	for _, c := range t.cores {
		c.l1.drop(line)
	}
}

// demote makes them read-only.
func (t *tile) demote(line uint32) {
	t.l2.demote(line)
	for _, c := range t.cores {
		c.l1.demote(line)
	}
}

// control is the length in flits of a message without data.
const control = 1

// descriptorBytes is the size of a task in a message: function, timestamp and arguments (MICRO 2015: 51 bytes).
const descriptorBytes = 51

// lineFlits returns the length of a message with a line.
func (e *Engine) lineFlits() uint64 { return control + e.flits(e.spec.LineBytes) }

func (e *Engine) flits(bytes int) uint64 {
	return uint64(bytes+e.spec.LinkBytes-1) / uint64(e.spec.LinkBytes)
}

// send passes a message over the mesh, X first, and returns its arrival.
func (e *Engine) send(from, to *tile, at, flits uint64) uint64 {
	if from == to {
		return at
	}
	e.Stats.Messages++
	x, y := from.x, from.y
	for x != to.x || y != to.y {
		n := (y*e.width + x) * 4
		switch {
		case x < to.x:
			x++
		case x > to.x:
			n, x = n+1, x-1
		case y < to.y:
			n, y = n+2, y+1
		default:
			n, y = n+3, y-1
		}
		leaves := e.links[n].reserve(at, flits)
		e.Stats.Queued += leaves - at
		e.Stats.Hops++
		at = leaves + uint64(e.spec.HopLatency)
	}
	return at + flits - 1
}

// controller is a memory controller, at a tile of the edge.
type controller struct {
	tile     *tile
	calendar calendar
}

// placeControllers spreads the memory controllers evenly over the tiles of the edge.
func (e *Engine) placeControllers() {
	var edge []*tile
	rows := (len(e.tiles) + e.width - 1) / e.width
	for _, t := range e.tiles {
		if t.x == 0 || t.y == 0 || t.x == e.width-1 || t.y == rows-1 {
			edge = append(edge, t)
		}
	}
	slices.SortStableFunc(edge, func(a, b *tile) int { return a.around(e.width, rows) - b.around(e.width, rows) })
	e.controllers = make([]controller, e.spec.MemoryControllers)
	for i := range e.controllers {
		e.controllers[i].tile = edge[i*len(edge)/len(e.controllers)]
	}
}

// around numbers the tiles of the edge clockwise.
func (t *tile) around(width, rows int) int {
	switch {
	case t.y == 0:
		return t.x
	case t.x == width-1:
		return width + t.y
	case t.y == rows-1:
		return 2*width + rows - t.x
	}
	return 2*width + 2*rows - t.y
}
