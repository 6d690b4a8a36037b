package swarm

// calendar is the time of something that serves one thing after another, as a link of the mesh: cycles in windows, each
// with the number of cycles that are taken. Accesses reserve its cycles when they are issued, for the time at which
// they will be there, which does not come in order; so within a window the order of arrival is not kept, and there is
// no queue whose head would block.
type calendar struct {
	windows [calendarWindows]window
}

type window struct {
	number uint64 // of the window: cycles are number·windowCycles and on
	taken  uint64
}

const (
	windowCycles    = 64
	calendarWindows = 64
)

// reserve takes so many cycles, up to windowCycles, from a cycle on, and returns the first of them.
func (c *calendar) reserve(at, cycles uint64) uint64 {
	for n := at / windowCycles; ; n++ {
		w := &c.windows[n%calendarWindows]
		if w.number != n {
			if w.number > n { // the window has passed out of the calendar
				return at
			}
			*w = window{number: n}
		}
		if w.taken+cycles <= windowCycles {
			at = max(at, n*windowCycles+w.taken)
			w.taken += cycles
			return at
		}
		at = max(at, (n+1)*windowCycles)
	}
}
