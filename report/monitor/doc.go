// Package monitor shows running machines on a page in a browser: their progress, all their fields, the occupancy of
// their buffers, which component waits for which, and their statistics. It can pause them.
//
// Only the goroutine that simulates a machine reads its state, before a batch of cycles: requests wait for that at a
// desk. So the page never sees a partial cycle, there is no lock, and neither cycles nor counts depend on observers.
//
// Each machine has a history of its counts, in a ring of rows, and the process one of its memory and speed.
//
// The server listens only on loopback and answers only to loopback host names, which prevents DNS rebinding; it changes
// nothing by GET or for another origin.
//
// It knows machines, and no experiments.
package monitor
