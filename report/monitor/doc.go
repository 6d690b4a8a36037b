// Package monitor shows machines while they run, on a page in a browser: how far they are, all their
// fields, how full their buffers are, who waits for whom, and what they have counted. It can pause them.
//
// Whatever is read of a machine is read by the goroutine that simulates it, before a batch of cycles:
// requests wait for that at a desk. So the page sees no half cycle, there is no lock, and neither
// cycles nor counts depend on who looks.
//
// Each machine has a history of what it has counted, in a ring of rows, and the process one of its memory and speed.
//
// The server listens on loopback only, answers to names of loopback only (a page elsewhere cannot
// reach it by a name of its own that leads here), and changes nothing by GET or for another origin.
//
// It knows machines, and no experiments.
package monitor
