// Package concentrator lets many requesters share few ports of the next level, as Vortex's
// sockets do (VX_mem_arb behind the L1s of VX_socket.sv) and the clusters of GPGPU-Sim, which
// have one port to the network each, whatever is in them.
//
// Requester i uses port i mod ports, always, so that what one requester sends keeps its order.
// A port takes a request and brings an answer a cycle. A request that will be answered leaves
// when its answer has a slot behind the concentrator: answers never wait for each other's
// takers, so requesters that need one another's answers (an L1I whose core waits for its L1D)
// cannot block each other.
//
// As in the RTL the requester's number travels in the low bits of the tag. This package knows
// neither what asks nor what answers.
//
// arbiter is the logic; Concentrator moves messages between links and holds none itself.
package concentrator
