package graphpeg

import "heddle/components/queue"

// source is the part of the unit that made a request.
type source uint8

const (
	offsetSource source = iota
	edgeSource          // edges and weights
	spillSource
	refillSource
	numSources
)

// Request is a request to memory. The answer to a read carries its Tag.
type Request struct {
	Addr  uint32
	Tag   uint32
	Write bool
}

// pendingRead is a read in flight.
type pendingRead struct {
	source source
	of     int32 // index of the entry, chunk or list
	ticket int32
}

// memoryPort sends one request per cycle, round-robin over the sources.
type memoryPort struct {
	queues   [numSources]queue.Queue[Request] // by source; a source makes new requests only when its queue is empty
	turn     source
	reads    []pendingRead // by tag
	spare    []uint32
	inFlight int // reads without an answer
}

// boxEntries covers a line of edges and the three lines that its weights may span if lines are short.
const boxEntries = 4

// newMemoryPort returns a port for lists that spill in that many requests at a time.
func newMemoryPort(of *queue.Owner, spills int) (p memoryPort) {
	for s := range p.queues {
		depth := boxEntries
		if source(s) == spillSource {
			depth = max(depth, spills)
		}
		p.queues[s] = queue.New[Request](depth, of, "requests for "+sourceNames[s])
	}
	return p
}

// free reports whether the source may make requests.
func (p *memoryPort) free(s source) bool { return p.queues[s].Empty() }

// outstanding returns the number of reads without an answer and of writes that have not left.
func (p *memoryPort) outstanding() int {
	return p.inFlight + p.queues[spillSource].Len()
}

// waiting returns the number of requests that have not left.
func (p *memoryPort) waiting() (n int) {
	for s := range p.queues {
		n += p.queues[s].Len()
	}
	return n
}

func (p *memoryPort) put(s source, r Request) {
	p.queues[s].Push(r)
}

// write sends a line to memory.
func (p *memoryPort) write(s source, addr uint32) { p.put(s, Request{Addr: addr, Write: true}) }

// read requests the line at addr. The number of tags is the largest number of reads ever in flight at once, which
// slots, entries and maxRefills bound.
func (e *Engine) read(s source, addr uint32, of, ticket int) {
	p, u := &e.port, pendingRead{s, int32(of), int32(ticket)}
	n := len(p.spare) - 1
	tag := uint32(len(p.reads))
	if n < 0 {
		p.reads = append(p.reads, u)
	} else {
		tag, p.spare = p.spare[n], p.spare[:n]
		p.reads[tag] = u
	}
	p.inFlight++
	e.LinesRead++
	p.put(s, Request{Addr: addr &^ (4*e.line - 1), Tag: tag})
}

// send sends the next source's request whose address is translated.
func (e *Engine) send(free bool) {
	e.walked()
	p := &e.port
	for i := range numSources {
		s := (p.turn + i) % numSources
		b := &p.queues[s]
		if b.Empty() || !e.held(b.Front().Addr) {
			continue
		}
		if !free {
			return
		}
		e.step.Request, e.step.HasRequest, e.moved = b.Pop(), true, true
		e.translate(e.step.Request.Addr)
		p.turn = (s + 1) % numSources
		return
	}
}

// Arrive handles the answer to a read.
func (e *Engine) Arrive(tag uint32) {
	p := &e.port
	u := p.reads[tag]
	p.spare = append(p.spare, tag)
	p.inFlight--
	e.LinesAnswered++
	switch u.source {
	case offsetSource:
		e.offsets(int(u.of))
	case edgeSource:
		e.data(int(u.of))
	case refillSource:
		if u.ticket >= maxRefills {
			e.exchanged(int(u.ticket))
			return
		}
		e.lists[u.of].arrive(int(u.ticket), e.mem)
	}
}
