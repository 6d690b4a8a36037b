// Package eghw is edge-generating hardware, the unit that SparseWeaver is compared with (HPCA 2025, §V-H): warps push
// vertices into a buffer in the scratchpad; the unit reads their offsets, loads neighbours and weights itself, and
// writes complete edges to a second buffer, from which warps pop them.
//
// The paper describes the unit in one paragraph; all further detail is ours. Lines are read in the order of the
// vertices and written to the buffer in that order, with few in flight: their latency is not hidden, which is the
// paper's point. Both buffers share one scratchpad port beside the core's own, which moves one word per lane and cycle.
//
// Engine models the unit cycle by cycle without a clock; EGHW is the clocked component around it; Functional runs the
// same Engine to each answer, with a memory that answers at once. This package knows no core.
package eghw
