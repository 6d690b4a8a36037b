// Package traces records the instructions that a machine's warps execute, in files, and replays such files on machines.
//
// A file holds the code of the launched programs, and for each warp and launch only the information that the code
// lacks: control decisions, addresses of memory accesses, requests to graph units and their answers.
// docs/reference/traces.md describes the format.
//
// This package knows no kernels, graphs or algorithms, and no unit by name.
package traces
