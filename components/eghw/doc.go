// Package eghw is edge-generating hardware, the unit that SparseWeaver compares itself with
// (HPCA 2025, §V-H): warps push vertices into a buffer in the scratchpad; the unit reads their
// offsets, loads other ends and weights itself, and writes ready edges to a second buffer, from which
// warps pop them.
//
// The paper describes it in one paragraph; all below that is ours. Lines are read in the order of the
// vertices and written to the buffer in that order, with few of them under way: what their
// latency costs is not hidden, which is the paper's point. Both buffers share one scratchpad port, beside the
// core's own: a cycle of it moves a word a lane.
//
// Engine is the unit cycle by cycle without a clock; EGHW is the component around it; Untimed runs the same
// Engine to each answer, with a memory that answers at once. This package knows no core.
package eghw
