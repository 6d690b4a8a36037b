package config

import (
	"fmt"

	"heddle/configs/schema"
)

// Sample configures sampled simulation: parts of every launch are simulated, and the rest is estimated from them.
type Sample struct {
	Period   int `key:"period" default:"0" min:"0" max:"100000000" unit:"warp instructions a warp"`
	Interval int `key:"interval" default:"20" min:"1" max:"1000000" unit:"warp instructions a warp"`
	WarmUp   int `key:"warm_up" default:"16" min:"0" max:"1000000" unit:"warp instructions a warp"`
	Begin    int `key:"begin" default:"40" min:"1" max:"1000000" unit:"warp instructions a warp"`
	Steps    int `key:"steps" default:"0" min:"0" max:"1000000" unit:"super-steps"`
}

// Docs describes the keys.
func (Sample) Docs() map[string]string {
	return map[string]string{
		"period": "Length of a period, of which one interval is simulated in time, in warp instructions (times the " +
			"warps of the machine). The rest is executed functionally, which keeps caches, open rows and units' " +
			"tables warm, and its time is estimated. Cycles and statistics are then estimates with 95 % confidence " +
			"intervals. 0: everything is simulated. A good value is 1000. See docs/guide/sampling.md.",
		"interval": "The part of each period that is measured.",
		"warm_up":  "The part of each period that is simulated before the measured interval, and not counted.",
		"begin":    "The beginning of every launch, which is always simulated. A shorter launch is simulated as a whole.",
		"steps": "Sampling by super-step, instead of period: of so many super-steps that are alike (the same kernels, and " +
			"as many active vertices and edges, to a factor of two), one is simulated in time and the others are emulated, " +
			"at about a sixtieth of the host time; their cycles are estimated from their instructions. While the active " +
			"set changes, the first 16 launches are simulated. A good value is 20. 0: none. See docs/guide/sampling.md.",
	}
}

// On reports whether anything is sampled.
func (s Sample) On() bool { return s.Period > 0 || s.Steps > 0 }

// Key returns the key that turns sampling on, and its value.
func (s Sample) Key() (key string, value int) {
	if s.Steps > 0 {
		return "sample.steps", s.Steps
	}
	return "sample.period", s.Period
}

// Validate returns an error for a period of which nearly everything would be simulated.
func (s Sample) Validate() error {
	if s.Steps > 0 && s.Period > 0 {
		return &schema.FieldError{Key: "steps",
			Msg: fmt.Sprintf("%d, beside period: %d: expected one of them, the other 0", s.Steps, s.Period)}
	}
	if least := 2 * (s.Interval + s.WarmUp); s.Period > 0 && s.Period < least {
		return &schema.FieldError{Key: "period",
			Msg: fmt.Sprintf("%d: expected at least %d, twice interval + warm_up, or 0, which samples nothing",
				s.Period, least)}
	}
	return nil
}

// validateSample returns an error for sampling beside a feature that needs the cycles of the complete run.
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
	key, value := e.Sample.Key()
	return &schema.FieldError{Key: key, Msg: fmt.Sprintf("%d, beside %s: expected one of them alone", value, why)}
}
