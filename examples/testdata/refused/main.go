// Command refused gives cmd.Main entries that cannot be added: which, its first argument says.
package main

import (
	"os"

	"heddle"
	"heddle/cmd"
	"heddle/components/accel"
	"heddle/components/clock"
	"heddle/isa"
	"heddle/isa/emu"
)

type Spec struct {
	Delay int `key:"delay" default:"1" min:"1" max:"10" unit:"cycles" doc:"A delay."`
}

func (s *Spec) FitsCore(accel.Shape) (key, msg string, ok bool) { return "", "", true }
func (s *Spec) NewUnit(name string, at accel.Shape) (accel.Unit, error) {
	return &unit{Base: clock.NewBase(name)}, nil
}
func (s *Spec) NewFunctional(accel.Shape) (emu.Unit, error) { return twin{}, nil }

type undocumented struct {
	Spec
	Room int `key:"room" default:"1" min:"1" max:"10" unit:""`
}

type uncounted struct{ Spec }

func (s *uncounted) NewUnit(name string, at accel.Shape) (accel.Unit, error) {
	return &unit{Base: clock.NewBase(name), stats: &struct{ N uint64 }{}}, nil
}

type twin struct{}

func (twin) Name() string                   { return "x" }
func (twin) Launch()                        {}
func (twin) Presence() uint32               { return 1 << 16 }
func (twin) CSR(uint16) (v uint32, ok bool) { return 0, false }
func (twin) Exec(*emu.UnitRequest) error    { return nil }

type unit struct {
	clock.Base
	stats any
}

func (u *unit) Name() string                      { return u.Base.Name() }
func (u *unit) Architecture() emu.Unit            { return twin{} }
func (u *unit) Traits() []accel.Traits            { return nil }
func (u *unit) QueueEntries() int                 { return 1 }
func (u *unit) Plug(*accel.Socket)                {}
func (u *unit) Tick(clock.Cycle) bool             { return false }
func (u *unit) CheckInvariants(clock.Cycle) error { return nil }
func (u *unit) Waits() string                     { return "" }
func (u *unit) Statistics(clock.Cycle) any {
	if u.stats == nil {
		return &struct{}{}
	}
	return u.stats
}

func unitKind(change func(u *heddle.Unit), instructions ...isa.UnitInstruction) *heddle.Unit {
	u := &heddle.Unit{
		Instructions: isa.UnitExtension("x", "An x.", 1<<16, instructions...), Key: "x", Part: "X", Title: "x", Doc: "An x.", Exec: "give every core an x",
		New: func() accel.Spec { return new(Spec) },
	}
	if change != nil {
		change(u)
	}
	return u
}

func row(change func(u *heddle.Unit), instructions ...isa.UnitInstruction) heddle.Entry {
	return heddle.WithUnit(unitKind(change, instructions...))
}

func main() {
	schedule := &heddle.Schedule{Name: "mine", Doc: "d", EachEdge: func(*heddle.Site, *heddle.Visitor) {}}
	next := isa.UnitInstruction{Name: "x.next", Opcode: isa.Custom3, Operands: "rd", Doc: "rd = next"}
	wrong := next
	wrong.Operands = "rd, rs3"
	same := next
	same.Name = "x.more"
	entries := map[string][]heddle.Entry{
		"empty":        {{}},
		"twice":        {heddle.WithSchedule(schedule), heddle.WithSchedule(schedule)},
		"taken":        {heddle.WithSchedule(&heddle.Schedule{Name: "vertex", Doc: "d", EachEdge: schedule.EachEdge})},
		"nil-unit":     {heddle.WithUnit(nil)},
		"bit":          {row(func(u *heddle.Unit) { u.Instructions = isa.UnitExtension("x", "An x.", isa.HasHWWL) })},
		"bits":         {row(func(u *heddle.Unit) { u.Instructions = isa.UnitExtension("x", "An x.", 3<<16) })},
		"name":         {row(func(u *heddle.Unit) { u.Instructions = isa.UnitExtension("weaver", "An x.", 1<<16) })},
		"key":          {row(func(u *heddle.Unit) { u.Key = "warps" })},
		"unit-key":     {row(func(u *heddle.Unit) { u.Key = "graphpeg" })},
		"no-key":       {row(func(u *heddle.Unit) { u.Key = "" })},
		"no-new":       {row(func(u *heddle.Unit) { u.New = nil })},
		"another":      {row(func(u *heddle.Unit) { u.Instructions = isa.UnitExtension("y", "A y.", 1<<17) })},
		"operands":     {row(nil, wrong)},
		"encoding":     {row(nil, next, same)},
		"tags":         {row(func(u *heddle.Unit) { u.New = func() accel.Spec { return new(undocumented) } })},
		"counts":       {row(func(u *heddle.Unit) { u.New = func() accel.Spec { return new(uncounted) } })},
		"unit-sched":   {heddle.WithUnit(unitKind(nil, next), &heddle.Schedule{Name: "cta", Doc: "d", EachEdge: schedule.EachEdge})},
		"stat-name":    {heddle.WithStatistic(heddle.Derived{Name: "A b", Doc: "d", Over: []string{"edges"}})},
		"stat-over":    {heddle.WithStatistic(heddle.Derived{Name: "a", Doc: "d"})},
		"stat-scale":   {heddle.WithStatistic(heddle.Derived{Name: "a", Doc: "d", Over: []string{"edges"}, Scale: 2})},
		"stat-taken":   {heddle.WithStatistic(heddle.Derived{Name: "ipc", Doc: "d", Over: []string{"edges"}})},
		"stat-ratio":   {heddle.WithStatistic(heddle.Derived{Name: "a", Doc: "d", Over: []string{"ipc"}})},
		"stat-unknown": {heddle.WithStatistic(heddle.Derived{Name: "a.b", Doc: "d", Over: []string{"edgse"}})},
		"good":         {row(nil, next), heddle.WithSchedule(schedule)},
	}[os.Args[1]]
	os.Args = append(os.Args[:1], os.Args[2:]...)
	cmd.Main(entries...)
}
