// Package lower runs GraphIt programs on a simulated machine: operators over edges become traversals with compose's
// schedules, layouts, directions, active sets and hardware units; their functions, and those of operators over
// vertices, become kernels.
//
// The host program runs on the host. The machine has float32 only: float is lowered to it, and double is refused unless
// the user requests the same for it. Every run is compared with the reference of graphit/eval.
package lower
