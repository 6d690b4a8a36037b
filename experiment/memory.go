package experiment

import (
	"context"
	"runtime/metrics"
	"sync"
	"time"
)

// memoryWatch ends points when the process exceeds its memory limit, the one started last first, since the others have
// come further. Points share graphs and a heap, so the memory of a single point is unknown.
type memoryWatch struct {
	limit uint64 // 0: none
	used  func() uint64

	mu      sync.Mutex
	running []*runningPoint // in the order of their start
}

// runningPoint is a point that the watch may end.
type runningPoint struct {
	end   context.CancelCauseFunc
	ended bool
}

const (
	memoryTick = 50 * time.Millisecond
	// memoryTicks is the number of consecutive ticks above the limit after which a point ends, so that the garbage
	// collector gets a chance first.
	memoryTicks = 4
)

// processMemory returns the memory that Go's runtime holds, as debug.SetMemoryLimit counts it.
func processMemory() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() - s[1].Value.Uint64()
}

// watch checks the memory until ctx is done.
func (m *memoryWatch) watch(ctx context.Context) {
	t := time.NewTicker(memoryTick)
	defer t.Stop()
	over := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		used := m.used()
		if over++; used <= m.limit {
			over = 0
		}
		if over >= memoryTicks {
			m.endLast(used)
			over = 0
		}
	}
}

// endLast ends the point started last, unless one is ending already.
func (m *memoryWatch) endLast(used uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.running) == 0 {
		return
	}
	for _, f := range m.running {
		if f.ended {
			return
		}
	}
	last := m.running[len(m.running)-1]
	last.ended = true
	last.end(&MemoryError{used, m.limit})
}

func (m *memoryWatch) begin(end context.CancelCauseFunc) *runningPoint {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := &runningPoint{end: end}
	m.running = append(m.running, f)
	return f
}

func (m *memoryWatch) end(f *runningPoint) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.running {
		if m.running[i] == f {
			m.running = append(m.running[:i], m.running[i+1:]...)
			return
		}
	}
}
