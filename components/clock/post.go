package clock

// post holds what one worker's domains have done in an instant to links between shards. That worker writes it while
// domains tick, and the workers of the links' other ends read it at the beginning of the next instant, while that
// worker writes another.
type post struct {
	boxes []box // by worker of the other ends
	wakes Femto // the earliest instant at which it may wake a unit
	_     [lineBytes]byte
}

// box is the part of a post for one worker.
type box struct {
	pushes []pushes
	pops   []pops
	_      [lineBytes]byte
}

// pushes are n values that a link's producer has pushed, and the consumer's cycle from which they can be read.
type pushes struct {
	l     *linkState
	n     uint64
	ready Cycle
}

// pops are n values that a link's consumer has taken.
type pops struct {
	l *linkState
	n uint64
}

// to returns the box for links whose other end is on d.
func (p *post) to(d *Domain) *box { return &p.boxes[d.worker] }

// empty reports whether no link has been used.
func (p *post) empty() bool {
	for i := range p.boxes {
		if b := &p.boxes[i]; len(b.pushes)|len(b.pops) != 0 {
			return false
		}
	}
	return true
}

// clear empties the boxes after their delivery.
func (p *post) clear() {
	p.wakes = Femto(Never)
	for i := range p.boxes {
		b := &p.boxes[i]
		b.pushes, b.pops = b.pushes[:0], b.pops[:0]
	}
}

// deliver shows the other ends what was done at an instant. Their domains do not tick meanwhile.
func (b *box) deliver(at Femto) {
	for _, p := range b.pushes {
		p.l.arrive(p.n, p.ready)
	}
	for _, p := range b.pops {
		p.l.free(p.n, at)
	}
}
