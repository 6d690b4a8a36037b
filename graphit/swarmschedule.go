package graphit

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// SimpleSwarmSchedule is a schedule for machines of Swarm tiles: GraphIt's, with the task boundaries and the number of
// cores of UGF's §3.2, to which the paper gives no names. A setting that is nil is at its default.
type SimpleSwarmSchedule struct {
	Direction, Deduplication, LoadBalance, Delta, QueueType, LoopCoarsening, SpatialHint, Stride *Setting
	TaskGranularity, NumCores                                                                    *Setting
}

// SwarmApplied is a Swarm schedule of a label.
type SwarmApplied struct {
	Label  string
	Simple *SimpleSwarmSchedule
	Pos    Pos
}

// swarmFunctions are the configuring functions.
var swarmFunctions = []struct {
	config
	of func(x *SimpleSwarmSchedule) **Setting
}{
	{config{name: "configDirection", words: [][]string{directions, mapWords}, needed: 1}, func(x *SimpleSwarmSchedule) **Setting { return &x.Direction }},
	{config{name: "configDeduplication", words: [][]string{enabled}, needed: 1}, func(x *SimpleSwarmSchedule) **Setting { return &x.Deduplication }},
	{config{name: "configLoadBalance", words: [][]string{{"VERTEX_BASED", "EDGE_BASED"}}, needed: 1}, func(x *SimpleSwarmSchedule) **Setting { return &x.LoadBalance }},
	{config{name: "configDelta", words: [][]string{nil}, needed: 1}, func(x *SimpleSwarmSchedule) **Setting { return &x.Delta }},
	{config{name: "configQueueType", words: [][]string{{"PRIOQUEUE", "BUCKETQUEUE", "UNORDEREDQUEUE"}}, needed: 1}, func(x *SimpleSwarmSchedule) **Setting { return &x.QueueType }},
	{config{name: "configLoopCoarsening", words: [][]string{{"COARSEN_ENABLED", "COARSEN_DISABLED"}}, needed: 1}, func(x *SimpleSwarmSchedule) **Setting { return &x.LoopCoarsening }},
	{config{name: "configSpatialHint", words: [][]string{{"HINTS_ENABLED", "HINTS_DISABLED"}}, needed: 1}, func(x *SimpleSwarmSchedule) **Setting { return &x.SpatialHint }},
	{config{name: "configStride", words: [][]string{{"STRIDE_ON", "STRIDE_OFF"}}, needed: 1}, func(x *SimpleSwarmSchedule) **Setting { return &x.Stride }},
	{config{name: "configTaskGranularity", words: [][]string{{"FINE", "COARSE"}}, needed: 1}, func(x *SimpleSwarmSchedule) **Setting { return &x.TaskGranularity }},
	{config{name: "configNumCores", words: [][]string{nil}, needed: 1}, func(x *SimpleSwarmSchedule) **Setting { return &x.NumCores }},
}

// Settings calls f with the schedule's settings.
func (x *SimpleSwarmSchedule) Settings(f func(name string, s *Setting)) {
	for _, c := range swarmFunctions {
		if s := *c.of(x); s != nil {
			f(c.name, s)
		}
	}
}

// declareSwarm parses SimpleSwarmSchedule NAME, with = OTHER or (OTHER) after it for a copy.
func (s *scheduleParser) declareSwarm() {
	name, x := s.fresh(), SimpleSwarmSchedule{}
	bracket := s.got("(")
	if bracket || s.got("=") {
		t := s.name("the name of a SimpleSwarmSchedule")
		if s.swarm[t.text] == nil {
			s.errorf(t.pos, "there is no SimpleSwarmSchedule %s", t.text)
		}
		x = *s.swarm[t.text]
	}
	if bracket {
		s.want(")")
	}
	s.swarm[name] = &x
}

// configureSwarm is S.configX(ARGS) of a Swarm schedule.
func (s *scheduleParser) configureSwarm(x *SimpleSwarmSchedule) {
	s.want(".")
	t := s.name("a function as configTaskGranularity")
	var names []string
	for i := range swarmFunctions {
		c := &swarmFunctions[i]
		if names = append(names, c.name); c.name != t.text {
			continue
		}
		args := s.args()
		if wrong := c.wrong(args); wrong != "" {
			s.errorf(t.pos, "%s%s", c.name, wrong)
		}
		*c.of(x) = &Setting{args, t.pos}
		return
	}
	s.errorf(t.pos, "a SimpleSwarmSchedule has no %s: expected one of %s", t.text, strings.Join(names, ", "))
}

// applySwarm is applySwarmSchedule("LABEL", SCHEDULE).
func (s *scheduleParser) applySwarm(at Pos) {
	s.want("(")
	if s.peek().kind != text {
		s.expected(`a label as "s0:s1"`)
	}
	a := SwarmApplied{Label: s.next().text, Pos: at}
	s.want(",")
	t := s.name("the name of a SimpleSwarmSchedule")
	if s.swarm[t.text] == nil {
		s.errorf(t.pos, "there is no SimpleSwarmSchedule %s", t.text)
	}
	now := *s.swarm[t.text]
	a.Simple = &now
	s.want(")")
	s.to.Swarm = append(s.to.Swarm, a)
}

// swarmKey is the key of a label's Swarm schedule in YAML.
const swarmKey = "swarm"

// swarmOf separates a label's Swarm schedule from the rest of a mapping; nil: it has none.
func swarmOf(n *yaml.Node) (rest, swarm *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		return n, nil
	}
	other := *n
	other.Content = nil
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == swarmKey && swarm == nil {
			swarm = n.Content[i+1]
			continue
		}
		other.Content = append(other.Content, n.Content[i:i+2]...)
	}
	return &other, swarm
}

// swarmSchedule reads a Swarm schedule's settings.
func swarmSchedule(where string, n *yaml.Node) (*SimpleSwarmSchedule, error) {
	x := &SimpleSwarmSchedule{}
	err := entries(n, where, func(key string, n *yaml.Node) error {
		var known []string
		for i := range swarmFunctions {
			c := &swarmFunctions[i]
			if known = append(known, c.key()); c.key() != key {
				continue
			}
			args, err := arguments(where+"."+key, n)
			if err != nil {
				return err
			}
			if wrong := c.wrong(args); wrong != "" {
				return fmt.Errorf("%s.%s%s", where, key, wrong)
			}
			*c.of(x) = &Setting{Args: args}
			return nil
		}
		return fmt.Errorf("%s.%s: unknown key: expected one of %s", where, key, strings.Join(known, ", "))
	})
	return x, err
}
