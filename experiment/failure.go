package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"heddle/experiment/config"
	"heddle/graphit/eval"
	"heddle/kernels/compose"
	"heddle/kernels/reference"
	"heddle/kernels/schedule"
	"heddle/sim"
)

// Classes of failures.
const (
	WrongResult = "wrong result"
	NoProgress  = "no progress"
	Limit       = "limit"
	OutOfMemory = "out of memory"
	Interrupted = "interrupted"
	Crashed     = "crash"
	OtherError  = "error"
)

// Final reports whether a failure of this class would recur, so that the point is not run again. Limits and the host's
// resources may differ the next time.
func Final(class string) bool {
	return class != Limit && class != OutOfMemory && class != Interrupted
}

// Class returns the class of a failure; "" without an error. It is stored and shown in summaries.
func Class(err error) string {
	var stored *StoredError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &stored):
		return stored.Failure
	case errors.Is(err, reference.ErrWrong), errors.Is(err, eval.ErrCheck):
		return WrongResult
	case errors.As(err, new(*sim.StallError)), errors.Is(err, eval.ErrStopped):
		return NoProgress
	case errors.As(err, new(*sim.CycleLimitError)), errors.As(err, new(*TimeLimitError)),
		errors.As(err, new(*AbandonedError)):
		return Limit
	case errors.As(err, new(*MemoryError)):
		return OutOfMemory
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Interrupted
	case errors.As(err, new(*Crash)):
		return Crashed
	}
	return OtherError
}

// overtaken adds to a failure what may be its cause on a machine whose barriers, as the RTL's, let accesses be
// overtaken: it has been seen with several thread blocks a core alone.
func overtaken(cfg *config.Experiment, err error) error {
	core := &cfg.Machine.Core
	threads := cmp.Or(cfg.Workload.WarpsPerCore, core.Warps) * core.Threads
	block := cfg.Workload.CTAThreads
	if block == 0 {
		block = compose.BlockOf(schedule.Variant(cfg.Workload.Variant))
	}
	if block == 0 && cfg.Workload.Recipe == "sepgraph" {
		block = compose.BlockOf(schedule.SEPGraph)
	}
	if core.OrderedBarrier || block == 0 || block >= threads {
		return err
	}
	if class := Class(err); class != WrongResult && class != NoProgress {
		return err
	}
	return fmt.Errorf("%w; as several thread blocks share a core, an access may have been overtaken at a barrier: "+
		"set machine.core.ordered_barrier to true", err)
}

// Crash is a broken invariant of the simulator.
type Crash struct {
	Message string
	Stack   []byte
}

func (c *Crash) Error() string { return "the simulator failed: " + c.Message }

// AbandonedError ends a point whose cycles exceed the bound of a search; a sampled one, between two launches or, by
// super-step, at its end.
type AbandonedError struct{ Cycles uint64 }

func (e *AbandonedError) Error() string {
	return fmt.Sprintf("cycle limit reached: about %d", e.Cycles)
}

// TimeLimitError ends a point that exceeds Runner.TimeLimit on the host.
type TimeLimitError struct{ Limit time.Duration }

func (e *TimeLimitError) Error() string { return fmt.Sprintf("time limit reached: %v", e.Limit) }

// MemoryError ends a point because the process exceeded Runner.MemoryLimit.
type MemoryError struct{ Used, Limit uint64 }

func (e *MemoryError) Error() string {
	return fmt.Sprintf("memory limit reached: the process has %d MiB, and may have %d MiB: give a higher "+
		"--memory-limit, or take a smaller graph", e.Used>>20, e.Limit>>20)
}
