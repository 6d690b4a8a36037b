// Package traces records what the warps of a machine execute, in files, and replays such
// files on machines.
//
// A file holds the code of the programs that were launched, and for each warp and launch
// only what the code does not tell: which way control went, the addresses of memory
// accesses, what graph units were asked and answered. docs/reference/traces.md describes the format.
//
// This package knows no kernels, graphs or algorithms, and no unit by name.
package traces
