package graphit

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Schedule is a program's schedule: how the labelled statements run.
type Schedule struct {
	File string
	// GPU are the schedules that applyGPUSchedule gives labels, in order.
	GPU []Applied
	// CPU are the calls of GraphIt's scheduling language for CPUs, in order.
	CPU []CPUOption
	// Swarm are the schedules that applySwarmSchedule gives labels, in order.
	Swarm []SwarmApplied
	Pos   Pos
}

// Applied is a schedule of a label. Exactly one of the two is there.
type Applied struct {
	Label  string // "s1", or "s0:s1": the statement s1 within s0
	Simple *SimpleGPUSchedule
	Hybrid *HybridGPUSchedule
	Pos    Pos
}

// Setting is an option of a schedule: the configuring function's arguments.
type Setting struct {
	Args []Arg
	Pos  Pos
}

// Arg is an argument of a scheduling function: a word, a string or a number, as it is written.
type Arg struct {
	Text   string
	Quoted bool
}

// Range is the range of a schedule's number.
type Range struct {
	least, most float64
	whole       bool
}

// Ranges of the numbers.
var (
	Blocks     = Range{1, 1 << 27, true} // vertices of a block, as workload.layout.block_vertices
	Deltas     = Range{1, math.MaxInt32, true}
	Thresholds = Range{0, 1, false} // a part of all vertices
	Counts     = Range{1, math.MaxInt32, true}
)

// Bounds returns the minimum and maximum, and whether the number must be an integer.
func (r Range) Bounds() (least, most float64, whole bool) { return r.least, r.most, r.whole }

// Number parses a number; wrong describes an error.
func (r Range) Number(text string) (x float64, wrong string) {
	x, err := strconv.ParseFloat(text, 64)
	if err == nil && x >= r.least && x <= r.most && !(r.whole && x != math.Trunc(x)) {
		return x, ""
	}
	kind := "number"
	if r.whole {
		kind = "whole number"
	}
	return 0, fmt.Sprintf("expected a %s from %.0f to %.0f, found %q", kind, r.least, r.most, text)
}

// Wrong describes an invalid argument; empty: valid, or given on the command line.
func (r Range) Wrong(a Arg) string {
	if _, ok := a.Argv(); ok {
		return ""
	}
	_, wrong := r.Number(a.Text)
	return wrong
}

// SimpleGPUSchedule is UGF's (Table 3.1). A setting that is nil is at its default.
type SimpleGPUSchedule struct {
	LoadBalance, Direction, FrontierCreation, Deduplication, Delta, KernelFusion *Setting
}

// HybridGPUSchedule chooses between two schedules whenever a statement runs (Table 3.2).
type HybridGPUSchedule struct {
	Threshold Arg // of the input's size, as a part of all vertices
	Above     *SimpleGPUSchedule
	Below     *SimpleGPUSchedule
}

// ThresholdArguments returns the numbers of the arguments that are thresholds of hybrid schedules.
func (s *Schedule) ThresholdArguments() (list []int) {
	if s == nil {
		return nil
	}
	for i := range s.GPU {
		if h := s.GPU[i].Hybrid; h != nil {
			if n, ok := h.Threshold.Argv(); ok {
				list = append(list, n)
			}
		}
	}
	return list
}

// CPUOption is a call of the scheduling language for CPUs.
type CPUOption struct {
	Name string
	Args []Arg
	Pos  Pos
}

// ParseSchedule reads a schedule from a separate file, with or without "schedule:" before it. For a file with a program
// it returns the program's schedule.
func ParseSchedule(file string, src []byte) (s *Schedule, err error) {
	p, err := newParser(file, src)
	if err != nil {
		return nil, err
	}
	defer p.catch(&err)
	if t := p.peek(); t.is("element") || t.is("const") || t.is("func") {
		if s = p.program().Schedule; s == nil {
			p.errorf(p.peek().pos, "expected \"schedule:\", found a program without one")
		}
		return s, nil
	}
	return p.schedule(), nil
}

// scheduleParser has the schedules that have names.
type scheduleParser struct {
	*parser
	to     *Schedule
	simple map[string]*SimpleGPUSchedule
	hybrid map[string]*HybridGPUSchedule
	swarm  map[string]*SimpleSwarmSchedule
}

// schedule reads to the end of the file.
func (p *parser) schedule() *Schedule {
	s := &scheduleParser{p, &Schedule{File: p.file, Pos: p.peek().pos}, map[string]*SimpleGPUSchedule{},
		map[string]*HybridGPUSchedule{}, map[string]*SimpleSwarmSchedule{}}
	if p.peek().kind == identifier && p.peek().text == "schedule" {
		p.next()
		p.want(":")
	}
	for p.peek().kind != endOfFile {
		s.statement()
	}
	return s.to
}

func (s *scheduleParser) statement() {
	t := s.name("a statement of a schedule")
	switch {
	case t.text == "SimpleGPUSchedule":
		s.declareSimple()
	case t.text == "HybridGPUSchedule":
		s.declareHybrid()
	case t.text == "SimpleSwarmSchedule":
		s.declareSwarm()
	case strings.HasPrefix(t.text, "Swarm") || t.text == "CompositeSwarmSchedule":
		s.errorf(t.pos, "%s: expected SimpleSwarmSchedule", t.text)
	case s.peek().is("->"):
		if t.text != "program" {
			s.errorf(t.pos, "expected program, found the name %s", t.text)
		}
		for s.got("->") {
			s.call()
		}
	case s.peek().is("."):
		s.configure(t)
	default:
		s.errorf(t.pos, "expected SimpleGPUSchedule, HybridGPUSchedule, SimpleSwarmSchedule, program-> or a call as "+
			"s1.configDirection(PUSH), found the name %s", t.text)
	}
	s.want(";")
}

// fresh is a name that no schedule has yet.
func (s *scheduleParser) fresh() string {
	t := s.name("the name of a schedule")
	if s.simple[t.text] != nil || s.hybrid[t.text] != nil || s.swarm[t.text] != nil {
		s.errorf(t.pos, "there is a schedule %s already", t.text)
	}
	return t.text
}

func (s *scheduleParser) known() *SimpleGPUSchedule {
	t := s.name("the name of a SimpleGPUSchedule")
	x := s.simple[t.text]
	if x == nil {
		s.errorf(t.pos, "there is no SimpleGPUSchedule %s", t.text)
	}
	return x
}

// declareSimple parses SimpleGPUSchedule NAME, with = OTHER or (OTHER) after it for a copy.
func (s *scheduleParser) declareSimple() {
	name, x := s.fresh(), SimpleGPUSchedule{}
	switch {
	case s.got("="):
		x = *s.known()
	case s.got("("):
		x = *s.known()
		s.want(")")
	}
	s.simple[name] = &x
}

// declareHybrid is HybridGPUSchedule NAME(INPUT_VERTEXSET_SIZE, THRESHOLD, S1, S2).
func (s *scheduleParser) declareHybrid() {
	name := s.fresh()
	s.want("(")
	if t := s.name("INPUT_VERTEXSET_SIZE"); t.text != "INPUT_VERTEXSET_SIZE" {
		s.errorf(t.pos, "expected INPUT_VERTEXSET_SIZE, found the name %s", t.text)
	}
	s.want(",")
	at := s.peek().pos
	h := &HybridGPUSchedule{Threshold: s.argument()}
	if !h.Threshold.isNumber() {
		s.errorf(at, "expected a threshold: a number, or an argument as \"argv[3]\"")
	}
	s.want(",")
	below := *s.known()
	s.want(",")
	above := *s.known()
	h.Below, h.Above = &below, &above
	s.want(")")
	s.hybrid[name] = h
}

// isNumber reports whether it is a number or an argument of the command line.
func (a Arg) isNumber() bool {
	if _, ok := a.Argv(); ok {
		return true
	}
	_, err := strconv.ParseFloat(a.Text, 64)
	return err == nil && !a.Quoted
}

// Argv is the number of the argument of the command line that it stands for.
func (a Arg) Argv() (n int, ok bool) {
	in, ok := strings.CutPrefix(a.Text, "argv[")
	if !ok || !a.Quoted || !strings.HasSuffix(in, "]") {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSuffix(in, "]"))
	return n, err == nil && n >= 0
}

// argument is a name, a string, a number, or a list in braces.
func (s *scheduleParser) argument() Arg {
	if s.got("{") {
		var parts []string
		for !s.peek().is("}") {
			parts = append(parts, s.argument().Text)
			if !s.got(",") {
				break
			}
		}
		s.want("}")
		return Arg{strings.Join(parts, ","), true}
	}
	minus := ""
	if s.got("-") {
		minus = "-"
	}
	switch t := s.next(); t.kind {
	case text:
		return Arg{t.text, true}
	case identifier, keyword:
		return Arg{t.text, false}
	case integer, real:
		return Arg{minus + t.text, false}
	}
	s.at--
	s.expected("an argument: a word, a string or a number")
	return Arg{}
}

func (s *scheduleParser) args() (list []Arg) {
	s.want("(")
	for !s.peek().is(")") {
		list = append(list, s.argument())
		if !s.got(",") {
			break
		}
	}
	s.want(")")
	return list
}

// Words of the configuring functions. Those of our own units are besides UGF's.
var (
	LoadBalances = []string{
		"VERTEX_BASED", "EDGE_ONLY", "TWC", "TWCE", "ETWC", "STRICT", "WM", "CM", "WEAVER", "PEG", "HWWL", "EGHW",
	}
	directions = []string{"PUSH", "PULL"}
	frontiers  = []string{"FUSED", "UNFUSED_BITMAP", "UNFUSED_BOOLMAP"}
	mapWords   = []string{"BITMAP", "BOOLMAP"}
	enabled    = []string{"ENABLED", "DISABLED"}
	dedups     = []string{"FUSED", "UNFUSED", "MONOTONIC_COUNTERS", "BITMAP", "BOOLMAP"}
	blocked    = []string{"BLOCKED"}
)

// config is one of the configuring functions: the words of its arguments in order, the first ones needed; nil: a
// number.
type config struct {
	name   string
	words  [][]string
	needed int
	of     func(x *SimpleGPUSchedule) **Setting
}

var configFunctions = []config{
	{"configLoadBalance", [][]string{LoadBalances, blocked, nil}, 1, func(x *SimpleGPUSchedule) **Setting { return &x.LoadBalance }},
	{"configDirection", [][]string{directions, mapWords}, 1, func(x *SimpleGPUSchedule) **Setting { return &x.Direction }},
	{"configFrontierCreation", [][]string{frontiers}, 1, func(x *SimpleGPUSchedule) **Setting { return &x.FrontierCreation }},
	{"configDeduplication", [][]string{enabled, dedups}, 1, func(x *SimpleGPUSchedule) **Setting { return &x.Deduplication }},
	{"configDelta", [][]string{nil}, 1, func(x *SimpleGPUSchedule) **Setting { return &x.Delta }},
	{"configKernelFusion", [][]string{enabled}, 1, func(x *SimpleGPUSchedule) **Setting { return &x.KernelFusion }},
}

// wrong describes the invalid arguments of a configuring function; empty: none.
func (c *config) wrong(args []Arg) string {
	if len(args) < c.needed || len(args) > len(c.words) {
		return fmt.Sprintf(" takes %d to %d arguments, found %d", c.needed, len(c.words), len(args))
	}
	for n, a := range args {
		switch words := c.words[n]; {
		case words == nil && !a.isNumber():
			return fmt.Sprintf(": expected a number or an argument as \"argv[3]\", found %s", a.Text)
		case words != nil && (a.Quoted || !slices.Contains(words, a.Text)):
			return fmt.Sprintf(": expected one of %s, found %s", strings.Join(words, ", "), a.Text)
		}
	}
	return ""
}

// configure is S.configX(ARGS).
func (s *scheduleParser) configure(of token) {
	if x := s.swarm[of.text]; x != nil {
		s.configureSwarm(x)
		return
	}
	x := s.simple[of.text]
	if x == nil {
		s.errorf(of.pos, "there is no SimpleGPUSchedule %s", of.text)
	}
	s.want(".")
	t := s.name("a function as configLoadBalance")
	i := slices.IndexFunc(configFunctions, func(c config) bool { return c.name == t.text })
	if i < 0 {
		var names []string
		for _, c := range configFunctions {
			names = append(names, c.name)
		}
		s.errorf(t.pos, "a SimpleGPUSchedule has no %s: expected one of %s", t.text, strings.Join(names, ", "))
	}
	c, args := &configFunctions[i], s.args()
	if wrong := c.wrong(args); wrong != "" {
		s.errorf(t.pos, "%s%s", c.name, wrong)
	}
	*c.of(x) = &Setting{args, t.pos}
}

// cpuOptions are the functions of the scheduling language for CPUs (GraphIt, OOPSLA 2018, Table 3; CGO 2020, Table 2),
// with how many arguments they take at most.
var cpuOptions = map[string]int{
	"configApplyDirection": 2, "configApplyParallelization": 4, "configApplyDenseVertexSet": 4, "configApplyNumSSG": 4,
	"configApplyNUMA": 3, "configApplyPriorityUpdate": 2, "configApplyPriorityUpdateDelta": 2,
	"configBucketMergeThreshold": 2,
	"configNumOpenBuckets":       2, "configIntersection": 2, "configParForGrainSize": 2, "setApply": 3,
	"setVertexSet": 2,
	"fuseFields":   8, "fuseForLoop": 4, "fuseApplyFunctions": 4, "splitForLoop": 6,
}

// call parses the text after program->.
func (s *scheduleParser) call() {
	t := s.name("a function of the program's, as applyGPUSchedule")
	if t.text == "applyGPUSchedule" {
		s.apply(t.pos)
		return
	}
	if t.text == "applySwarmSchedule" {
		s.applySwarm(t.pos)
		return
	}
	most, ok := cpuOptions[t.text]
	if !ok {
		s.errorf(t.pos, "there is no scheduling function %s", t.text)
	}
	args := s.args()
	if len(args) == 0 || len(args) > most {
		s.errorf(t.pos, "%s takes 1 to %d arguments, found %d", t.text, most, len(args))
	}
	s.to.CPU = append(s.to.CPU, CPUOption{t.text, args, t.pos})
}

// apply is applyGPUSchedule("LABEL", SCHEDULE).
func (s *scheduleParser) apply(at Pos) {
	s.want("(")
	if s.peek().kind != text {
		s.expected(`a label as "s0:s1"`)
	}
	a := Applied{Label: s.next().text, Pos: at}
	s.want(",")
	t := s.name("the name of a schedule")
	// a copy of its present state: later configuration does not apply to this label
	if x := s.simple[t.text]; x != nil {
		now := *x
		a.Simple = &now
	} else if a.Hybrid = s.hybrid[t.text]; a.Hybrid == nil {
		s.errorf(t.pos, "there is no schedule %s", t.text)
	}
	s.want(")")
	s.to.GPU = append(s.to.GPU, a)
}

// arguments calls f with every argument of the scheduling functions.
func (s *Schedule) arguments(f func(a Arg, at Pos)) {
	simple := func(g *SimpleGPUSchedule) {
		if g == nil {
			return
		}
		for _, x := range []*Setting{g.LoadBalance, g.Direction, g.FrontierCreation, g.Deduplication, g.Delta,
			g.KernelFusion} {
			if x != nil {
				for _, a := range x.Args {
					f(a, x.Pos)
				}
			}
		}
	}
	for i := range s.GPU {
		g := &s.GPU[i]
		simple(g.Simple)
		if h := g.Hybrid; h != nil {
			f(h.Threshold, g.Pos)
			simple(h.Above)
			simple(h.Below)
		}
	}
	for _, w := range s.Swarm {
		w.Simple.Settings(func(_ string, x *Setting) {
			for _, a := range x.Args {
				f(a, x.Pos)
			}
		})
	}
	for _, o := range s.CPU {
		for _, a := range o.Args {
			f(a, o.Pos)
		}
	}
}
