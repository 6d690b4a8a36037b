// Package graphpeg is the GraphPEG unit (ACM TACO 18(3), 2021): it walks a list of active vertices, loads their edges
// itself, and gives warps full batches of edges. A control processor moves pieces of adjacency lists that have not been
// requested between cores.
//
// Engine models the unit cycle by cycle without a clock. It consists of the vertex-lists (list), the adjacency list
// working table (alwt), the edge buffer (buffer), the edge gathering and vertex coordination units (engine.go), the EF
// exchange unit (exchange.go) and the memory port (port.go). PEG is the clocked component around it. Functional runs
// the same Engine to each answer, with a memory that answers at once. This package knows neither cores nor the control
// processor.
//
// Lists, buffer and latched edges are in the scratchpad, with ports of their own: accesses by the core and by the unit
// do not delay each other.
package graphpeg
