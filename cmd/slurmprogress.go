package cmd

import (
	"fmt"
	"time"

	"heddle/experiment"
)

// throughput estimates the time that a job still takes from the work that all its tasks together have done since they
// were first seen to run, on however many hosts.
type throughput struct {
	work  []float64 // of each point, as it was estimated: only their ratios count
	begun time.Time // zero: nothing has run yet
	first float64   // work that was done then
}

func (s *launch) throughput() *throughput {
	t := &throughput{work: make([]float64, len(s.runner.Points))}
	cost, err := s.runner.EstimateCost(nil)
	for i := range t.work {
		if t.work[i] = 1; err == nil && cost.Points[i].Seconds > 0 {
			t.work[i] = cost.Points[i].Seconds
		}
	}
	return t
}

// text gives the number of points that have ended, and the time left once a point has ended since tasks were first seen
// to run.
func (t *throughput) text(now time.Time, ended map[int]bool, running bool) string {
	done, all := 0.0, 0.0
	for i, w := range t.work {
		all += w
		if ended[i] {
			done += w
		}
	}
	if t.begun.IsZero() && running {
		t.begun, t.first = now, done
	}
	text := fmt.Sprintf("%d of %d points have ended", len(ended), len(t.work))
	if gained := done - t.first; !t.begun.IsZero() && gained > 0 && done < all {
		left := time.Duration(float64(now.Sub(t.begun)) * (all - done) / gained)
		text += ", about " + left.Round(time.Second).String() + " left in all"
	}
	return text
}

// Slurm's states of tasks that run.
var slurmRunning = []string{"RUNNING", "COMPLETING"}

// pollsBetween is the least number of polls between two reports while tasks do not change their states.
const pollsBetween = 6

// report logs the state of a job, if it has changed.
func (s *launch) report(j *job, how string, r *jobReport) {
	now := time.Now()
	if r.states == r.lastStates && now.Sub(r.said) < pollsBetween*s.flags.poll {
		return
	}
	points := r.done.text(now, experiment.Ended(s.dir), r.running)
	if r.states == r.lastStates && points == r.lastPoints {
		return
	}
	s.say("slurm job %s %s: %s; %s", j.Job, how, r.states, points)
	r.said, r.lastStates, r.lastPoints = now, r.states, points
}

// jobReport is the state of a job as it was last reported.
type jobReport struct {
	done                   *throughput
	states                 string // of its tasks
	running                bool   // some task
	said                   time.Time
	lastStates, lastPoints string
}
