package monitor

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
)

var (
	errBusy = errors.New("the machine is between two launches: its host program is at work; ask again")
	errGone = errors.New("the machine has ended")
)

// desk queues requests for the goroutine that simulates a machine.
type desk struct {
	asked  chan func()
	turned chan struct{} // paused may have changed
	gone   chan struct{} // closed when requests are no longer served
	paused atomic.Bool
}

func newDesk() desk {
	return desk{asked: make(chan func()), turned: make(chan struct{}, 1), gone: make(chan struct{})}
}

// serve handles requests, and returns when there are none and the machine is not to pause, or ctx ends.
func (d *desk) serve(ctx context.Context) {
	for {
		select {
		case f := <-d.asked:
			f()
			continue
		default:
		}
		if !d.paused.Load() {
			return
		}
		select {
		case f := <-d.asked:
			f()
		case <-d.turned:
		case <-ctx.Done():
			return
		}
	}
}

// ask executes f in the simulating goroutine. A panic in f becomes an error: inspection never ends a simulation.
func (d *desk) ask(ctx context.Context, f func()) (err error) {
	done := make(chan struct{})
	request := func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("BUG: monitor: %v", p)
			}
		}()
		f()
	}
	select {
	case d.asked <- request:
		<-done
		return err
	case <-d.gone:
		return errGone
	case <-ctx.Done():
		return errBusy
	}
}

// pause has the machine stop before its next batch of cycles, or go on.
func (d *desk) pause(yes bool) {
	d.paused.Store(yes)
	select {
	case d.turned <- struct{}{}:
	default: // it will look anyway
	}
}
