// Package balance holds the messages between graph units and the control processor that balances work among them
// (GraphPEG, ACM TACO 2021, §3.3.2). Names of registers and states are the paper's.
package balance

import "heddle/components/clock"

// Order is a command of the control processor to a unit.
type Order uint8

// Orders.
const (
	Read    Order = iota // of the loads: answered by Value
	Donate               // R_BC = ED: donate up to Edges edges; answered by Donated or Refused
	Standby              // R_BC = ERS: edges will come
	Release              // R_BC back to none: no edges will come
	Receive              // R_BC = ER: Range is in R_BW; answered by Inserted, once it is in the table
	Done                 // no unit has work left
	// donate up to Vertices of the output list; answered by DonatedVertices, possibly of none
	DonateVertices
	// Vertices are in memory at Addr; answered by InsertedVertices, once they are in the output list
	ReceiveVertices
)

// Range is a piece of one adjacency list that has not been requested.
type Range struct {
	Start, End uint32 // R_BW0, R_BW1: edge numbers
	Base       uint32 // R_BW2 (ours: without it the base vertex would be lost)
}

// Command goes from the control processor to a unit.
type Command struct {
	Order Order
	Epoch uint32 // launch that it belongs to
	Edges uint32
	Range Range

	Vertices, Addr uint32
}

// Event is a notification of the control processor by a unit.
type Event uint8

// Events.
const (
	Value      Event = iota // of R_EFS, and the length of the output list
	Drained                 // R_BS: no work is left here
	NotDrained              // R_BS: there is work again
	Donated                 // R_BS: Range has been cut off
	Refused                 // R_BS: there was no entry to cut
	Inserted                // R_BS: the received range is in the table

	DonatedVertices
	InsertedVertices
)

// Report goes from a unit to the control processor.
type Report struct {
	Event Event
	Epoch uint32
	Edges uint32
	Range Range

	Vertices, Addr uint32
}

// Unit is a graph unit whose work can be balanced.
type Unit interface {
	Direct
	ClockHandle() clock.Handle
	ConnectBalance(commands *clock.Link[Command], reports *clock.Link[Report])
	// Balanced returns the numbers of edges and vertices donated and received.
	Balanced() (donated, received [2]uint64)
}

// Direct is a unit whose work can be moved in zero time, as no hardware could.
type Direct interface {
	EFS() uint32
	// Movable reports whether Take would find edges.
	Movable() bool
	// Take cuts up to n edges off, in cycle now; Give adds edges.
	Take(now uint64, n uint32) Range
	Give(now uint64, r Range)
}

// Ideal moves work in zero time, between two instants.
type Ideal interface {
	clock.Unit
	Join(d *clock.Domain, u clock.Unit)
	// Start begins a launch.
	Start()
}

// Own is a Spec of units that the control processor does not balance: Balancer returns the component that does. done
// reports whether no unit has work left, and all have been notified.
type Own interface {
	Balancer(units []Unit, done func() bool) Ideal
}
