package config

import (
	"fmt"

	"heddle/configs/schema"
)

// Sample says of which parts of every launch the cycles are simulated; those of the rest are estimated.
type Sample struct {
	Period   int `key:"period" default:"0" min:"0" max:"100000000" unit:"warp instructions a warp" doc:"Of every so many warp instructions (times the warps of the machine), an interval is simulated in time; what lies between is executed without time, which keeps caches, open rows and units' tables warm, and estimated. Cycles and statistics are then estimates with 95 % confidence intervals. 0: everything is simulated. A good value is 1000. See docs/guide/sampling.md."`
	Interval int `key:"interval" default:"20" min:"1" max:"1000000" unit:"warp instructions a warp" doc:"What is measured of a period."`
	WarmUp   int `key:"warm_up" default:"16" min:"0" max:"1000000" unit:"warp instructions a warp" doc:"What is simulated before an interval, and not measured."`
	Begin    int `key:"begin" default:"40" min:"1" max:"1000000" unit:"warp instructions a warp" doc:"What is simulated of every launch first. A launch that is over within is simulated whole."`
}

// On reports whether anything is sampled.
func (s Sample) On() bool { return s.Period > 0 }

// Validate refuses a period of which as good as all would be simulated.
func (s Sample) Validate() error {
	if least := 2 * (s.Interval + s.WarmUp); s.On() && s.Period < least {
		return &schema.FieldError{Key: "period",
			Msg: fmt.Sprintf("%d: expected at least %d, twice interval + warm_up, or 0, which samples nothing",
				s.Period, least)}
	}
	return nil
}

// validateSample refuses what needs all of a run's cycles.
func (e *Experiment) validateSample() error {
	why := ""
	switch {
	case !e.Sample.On():
		return nil
	case e.Workload.Trace != "":
		why = "workload.trace: a trace is replayed with its times, and cannot be executed without"
	case e.Stats.Interval > 0:
		why = "stats.interval: a timeline has all cycles, and most are not simulated"
	case e.Stop.MaxEdges > 0:
		why = "stop.max_edges: the run would end within a launch, whose cycles are not known before its end"
	default:
		return nil
	}
	return &schema.FieldError{Key: "sample.period",
		Msg: fmt.Sprintf("%d, beside %s: expected one of them alone", e.Sample.Period, why)}
}
