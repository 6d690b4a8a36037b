package core

import (
	"fmt"
	"math/bits"

	"heddle/isa"
	"heddle/isa/emu"
)

// flightID names an instruction in flight: an index into flights.
type flightID uint16

// flight is an instruction between issue and write-back. What the stages ask of it is worked out once.
type flight struct {
	op     *emu.Op // nil: a packet or a part of one, which takes a turn at commit and releases nothing
	at     uint64  // the cycle from which it can leave the buffer that it is in
	access int16   // memory instructions: index into Core.accesses; graph units': the call
	warp   uint8
	rest   uint8 // packets that follow the first, in a unit with fewer lanes than the warp
	unit   isa.Unit
	class  isa.Class
	next   flightID // released in the same cycle; noFlight: none
}

// flights are a core's instructions in flight, and the free places among them. As many places are
// made as have been needed at once, which the buffers of the pipeline bound.
type flights struct {
	all   []flight
	spare []flightID
}

// noFlight is no instruction.
const noFlight = ^flightID(0)

// start takes a place for an instruction.
func (f *flights) start(op *emu.Op, warp uint8) flightID {
	id := f.place()
	f.all[id] = flight{op: op, warp: warp, access: -1, class: op.LatencyClass(), unit: op.Unit()}
	return id
}

// part takes a place for a packet or a part of an instruction.
func (f *flights) part(warp uint8) flightID {
	id := f.place()
	f.all[id] = flight{warp: warp, access: -1}
	return id
}

func (f *flights) place() flightID {
	if n := len(f.spare) - 1; n >= 0 {
		id := f.spare[n]
		f.spare = f.spare[:n]
		return id
	}
	f.all = append(f.all, flight{})
	return flightID(len(f.all) - 1)
}

// end frees a place.
func (f *flights) end(id flightID) { f.spare = append(f.spare, id) }

// buffer is an elastic buffer of the RTL of up to bufferPlaces places, whose ready flag is a register:
// producers see a freed place from the next cycle on. Stages run back to front, so what a consumer finds in it
// came in an earlier cycle.
type buffer struct {
	ring            [bufferPlaces]flightID
	head, n, places uint8
	freed           uint8  // places freed in cycle freedAt
	freedAt         uint64 //
	bit             uint64 // of the slice's set of buffers that are not empty
	of              *owner
	name            string // the owner's and its own
}

const bufferPlaces = 16

func newBuffer(places int, bit uint, of *owner, name string) buffer {
	if places > bufferPlaces {
		panic(fmt.Sprintf("BUG: %s @0: %d places", name, places))
	}
	return buffer{places: uint8(places), bit: 1 << bit, of: of, name: name}
}

func (b *buffer) front() flightID { return b.ring[b.head%bufferPlaces] }

// put adds an instruction. It needs a free place.
func (b *buffer) put(id flightID) {
	if b.n == b.places {
		b.overflow()
	}
	b.ring[(b.head+b.n)%bufferPlaces] = id
	b.n++
}

// take removes the first.
func (b *buffer) take(now uint64) flightID {
	id := b.ring[b.head%bufferPlaces]
	b.head++
	b.n--
	if b.freedAt != now {
		b.freed, b.freedAt = 0, now
	}
	b.freed++
	return id
}

// overflow is a put into a full buffer.
//
//go:noinline
func (b *buffer) overflow() { panic(b.of.overflow(b.name, "buffer")) }

// pop is take where producers see the freed place at once.
func (b *buffer) pop() flightID {
	id := b.ring[b.head%bufferPlaces]
	b.head++
	b.n--
	return id
}

func (b *buffer) full() bool { return b.n == b.places }

// closed reports whether producers see no place in this cycle.
func (b *buffer) closed(now uint64) bool {
	return b.n == b.places || b.freedAt == now && b.n+b.freed >= b.places
}

func (b *buffer) level(see func(string, int, int)) { see(b.name, int(b.n), int(b.places)) }

// line is a buffer whose entries stay in it for a time of their own, the flight's at: a unit's pipeline, or
// several buffers in a row that nothing else enters.
type line struct {
	first   uint64 // the cycle from which the first entry can leave; never: there is none
	ring    []flightID
	head, n int
	places  int
	freedAt uint64 // the cycle in which a place was freed last, for producers that see it in the next
	bit     uint64
	of      *owner
	name    string
}

func newLine(places int, bit uint, of *owner, name string) line {
	size := 1
	for size < places {
		size *= 2
	}
	return line{first: never, ring: make([]flightID, size), places: places, bit: 1 << bit, of: of, name: name}
}

func (l *line) full() bool { return l.n == l.places }

// closed reports whether producers whose ready flag is a register see no place in this cycle.
func (l *line) closed(now uint64) bool {
	return l.n == l.places || l.freedAt == now && l.n+1 >= l.places
}

func (l *line) at(i int) *flightID { return &l.ring[(l.head+i)&(len(l.ring)-1)] }

// put adds an instruction that can leave from cycle at on. It needs a free place.
func (l *line) put(f *flights, id flightID, at uint64) {
	if l.n == l.places {
		l.overflow()
	}
	*l.at(l.n) = id
	f.all[id].at = at
	if l.n == 0 {
		l.first = at
	}
	l.n++
}

//go:noinline
func (l *line) overflow() { panic(l.of.overflow(l.name, "line")) }

// insert is put for instructions that leave in the order in which they are ready.
func (l *line) insert(f *flights, id flightID, at uint64) {
	l.put(f, id, at)
	for i := l.n - 1; i > 0 && f.all[*l.at(i - 1)].at > at; i-- {
		*l.at(i), *l.at(i - 1) = *l.at(i - 1), *l.at(i)
	}
	l.first = f.all[*l.at(0)].at
}

// take removes the first.
func (l *line) take(f *flights) flightID {
	id := *l.at(0)
	l.head++
	if l.n--; l.n == 0 {
		l.first = never
	} else {
		l.first = f.all[*l.at(0)].at
	}
	return id
}

// front is the first, which there must be.
func (l *line) front() flightID { return l.ring[l.head&(len(l.ring)-1)] }

// next returns the cycle at which the first entry can leave, if that is to come and before at; else at.
func (l *line) next(now, at uint64) uint64 {
	if l.first > now {
		return min(at, l.first)
	}
	return at
}

func (l *line) level(see func(string, int, int)) { see(l.name, l.n, l.places) }

// releases are instructions by the cycle, less than 64 ahead, in which the scoreboard forgets them.
type releases struct {
	cycles uint64       // those with some, a bit each
	first  [64]flightID // by cycle
}

func (r *releases) put(f *flights, id flightID, at uint64) {
	slot := at % 64
	f.all[id].next = noFlight
	if r.cycles>>slot&1 == 0 {
		r.cycles |= 1 << slot
		r.first[slot] = id
		return
	}
	last := r.first[slot]
	for f.all[last].next != noFlight {
		last = f.all[last].next
	}
	f.all[last].next = id
}

func (r *releases) due(now uint64) bool { return r.cycles>>(now%64)&1 != 0 }

// take returns the first of those that are due, with the others behind it.
func (r *releases) take(now uint64) flightID {
	r.cycles &^= 1 << (now % 64)
	return r.first[now%64]
}

// next returns the first cycle after now with some, or never.
func (r *releases) next(now uint64) uint64 {
	if r.cycles == 0 {
		return never
	}
	return now + 1 + uint64(bits.TrailingZeros64(bits.RotateLeft64(r.cycles, -int((now+1)%64))))
}

// agenda are warps by the cycle, less than 32 ahead, in which something becomes of them.
type agenda struct {
	cycles uint32     // those with some, a bit each
	warps  [32]uint64 // by cycle
}

func (a *agenda) put(at, warps uint64) {
	a.warps[at%32] |= warps
	a.cycles |= 1 << (at % 32)
}

// take returns the warps whose cycle this is, and forgets them.
func (a *agenda) take(now uint64) (warps uint64) {
	if a.cycles>>(now%32)&1 != 0 {
		warps = a.warps[now%32]
		a.warps[now%32] = 0
		a.cycles &^= 1 << (now % 32)
	}
	return warps
}

// next returns the first cycle after now with warps, or never.
func (a *agenda) next(now uint64) uint64 {
	if a.cycles == 0 {
		return never
	}
	return now + 1 + uint64(bits.TrailingZeros32(bits.RotateLeft32(a.cycles, -int((now+1)%32))))
}
