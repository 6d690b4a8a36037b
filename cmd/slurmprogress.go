package cmd

import (
	"fmt"
	"time"

	"heddle/experiment"
)

// throughput estimates the remaining time of a job from the work that its tasks have done together since they were
// first seen running, on any number of hosts.
type throughput struct {
	work  []float64 // estimated work of each point, of which only ratios matter
	begun time.Time // when tasks were first seen running; zero: not yet
	first float64   // work done by then
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

// text reports the number of points that have ended and, once a point has ended since tasks were first seen running,
// the time left.
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

// slurmRunning lists Slurm's states of running tasks.
var slurmRunning = []string{"RUNNING", "COMPLETING"}

// pollsBetween is the least number of polls between two reports while states do not change.
const pollsBetween = 6

// report logs the state of a job if it has changed.
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
	states                 string // states of its tasks
	running                bool   // whether some task is running
	said                   time.Time
	lastStates, lastPoints string
}
