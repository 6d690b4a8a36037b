// Package lower runs GraphIt programs on a simulated machine: operators over edges become traversals that compose's
// schedules, layouts, directions, active sets and hardware units handle; their functions, and those of vertices, become
// kernels.
//
// The host program runs on the host. A machine has float32 only: float is that, and double is refused unless it is
// asked to be that, too. Every run is compared with the reference of graphit/eval.
package lower
