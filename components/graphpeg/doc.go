// Package graphpeg is the GraphPEG unit (ACM TACO 18(3), 2021): it walks a list of
// active vertices, loads their edges itself, and gives warps full batches of edges. Between
// cores, a control processor moves pieces of adjacency lists that have not been requested.
//
// Engine is the unit cycle by cycle without a clock, made of the lists (list), the adjacency list
// working table (alwt), the edge buffer (buffer), the edge gathering and vertex coordination
// units (engine.go), the EF exchange unit (exchange.go) and the ports. PEG is the component around
// it; Untimed runs the same Engine to each answer, with a memory that answers at once. This
// package knows no core and no control processor.
//
// Lists, buffer and latched edges lie in the scratchpad, with ports of their own: the core's
// accesses to the scratchpad and the unit's do not delay each other.
package graphpeg
