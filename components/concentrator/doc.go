// Package concentrator lets many requesters share few ports of the next level, as do Vortex's sockets (VX_mem_arb
// behind the L1s of VX_socket.sv) and the clusters of GPGPU-Sim, which have one port to the network each.
//
// Requester i always uses port i mod ports, so the requests of a requester stay in order. A port takes one request and
// delivers one answer per cycle, or a line in several (line_cycles). A request with an answer leaves only when its
// answer has a slot behind the concentrator: answers never wait for the consumers of other answers, so requesters that
// depend on each other (an L1I whose core waits for its L1D) cannot block each other.
//
// As in the RTL the requester's number travels in the low bits of the tag, and with it, if that matters, whether the
// answer is a line. This package knows neither requesters nor the next level.
//
// Messages that are no memory requests, such as those between graph units and the control processor, may take turns at
// a port (CarryThere, CarryBack).
//
// arbiter is the logic; Concentrator moves messages between links and holds none itself.
package concentrator
