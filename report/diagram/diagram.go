// Package diagram draws a machine: its sockets, cores and their units, caches and memory, with the sizes that its
// configuration gives them.
package diagram

import (
	"fmt"
	"reflect"
	"strings"

	"heddle/components/accel"
	"heddle/components/balance"
	"heddle/components/cache"
	"heddle/components/ctrlproc"
	"heddle/components/dram"
	"heddle/configs"
)

// The page, in pixels at which texts have their nominal size.
const (
	width  = 700
	margin = 14
	gap    = 22 // between levels, for the wires
)

// Machine draws a machine as an SVG file that follows the reader's light or dark theme.
func Machine(name string, m *configs.Machine) string {
	d := &drawing{}
	cores := m.Sockets * m.CoresPerSocket
	d.text(margin, 24, "name", name)
	d.textEnd(width-margin, 24, "detail", fmt.Sprintf("%s × %s × %s", count(cores, "core"), count(m.Core.Warps, "warp"),
		count(m.Core.Threads, "lane")))
	bottom := d.sockets(m, 40)
	bottom = d.levels(m, bottom)
	return d.svg(bottom + margin)
}

// sockets draws one socket in front of the others, and returns where it ends.
func (d *drawing) sockets(m *configs.Machine, top float64) float64 {
	const inset, head = 10, 22
	layers := min(m.Sockets, 3) - 1
	s := box{margin, top + 5*float64(layers), width - 2*margin - 5*float64(layers), 0}
	cores := min(m.CoresPerSocket, 3) - 1
	c := box{s.x + inset, s.y + head + 5*float64(cores), s.w - 2*inset - 5*float64(cores), coreHeight}
	l1 := c.y + c.h + gap
	s.h = l1 + rowHeight + inset - s.y
	d.stack(s, layers, "level")
	d.text(s.x+inset, s.y+15, "label", times("socket", m.Sockets))
	d.stack(c, cores, "core")
	d.text(c.x+inset, c.y+15, "label", times("core", m.CoresPerSocket))
	if p := m.Core.Unit; p.Spec != nil {
		d.controlProcessor(m, s.x+s.w-inset, s.y+15)
	}
	d.core(m, c, l1)
	return s.y + s.h
}

const (
	rowHeight  = 44
	coreHeight = 3*rowHeight + 2*gap + 34
)

// core draws a core, and the L1s below it, whose tops are at l1.
func (d *drawing) core(m *configs.Machine, c box, l1 float64) {
	const inset, between = 12, 12
	spec := m.Core.Derived()
	w := (c.w - 2*inset - 3*between) / 4
	column := func(i int) float64 { return c.x + inset + float64(i)*(w+between) }
	row := func(i int) float64 { return c.y + 24 + float64(i)*(rowHeight+gap) }

	var front [4]box
	for i, part := range [][2]string{
		{"Fetch, decode", fmt.Sprintf("%s, %d a cycle", spec.Schedule.Policy, spec.FetchWidth)},
		{"Instruction buffers", fmt.Sprintf("%s × %d", count(spec.Warps, "warp"), spec.IBuffer)},
		{"Issue, scoreboard", fmt.Sprintf("%s, %s", count(spec.Issue.Slices, "slice"), spec.Issue.Policy)},
		{"Operand collectors", fmt.Sprintf("%d a slice", spec.Collectors)},
	} {
		front[i] = box{column(i), row(0), w, rowHeight}
		d.box(front[i], "part", part[0], part[1])
		if i > 0 {
			d.arrow(front[i-1].x+w, front[i].y+rowHeight/2, front[i].x, front[i].y+rowHeight/2)
		}
	}
	bus := row(1) - gap/2
	d.line(front[3].x+w/2, row(0)+rowHeight, front[3].x+w/2, bus)
	d.line(column(0)+w/2, bus, front[3].x+w/2, bus)
	for i, unit := range [][2]string{
		{"ALU", lanes(spec.ALULanes, spec.Issue.Slices)},
		{"FPU", lanes(spec.FPULanes, spec.Issue.Slices)},
		{"SFU", count(spec.SFULanes, "lane") + "; warps, CSRs"},
		{"Load-store unit", fmt.Sprintf("%s, merges %d B", count(spec.LSULanes, "lane"), spec.ChannelBytes)},
	} {
		d.box(box{column(i), row(1), w, rowHeight}, "part", unit[0], unit[1])
		d.arrow(column(i)+w/2, bus, column(i)+w/2, row(1))
	}
	d.box(box{column(3), row(2), w, rowHeight}, "part", "Scratchpad", bytes(spec.ScratchpadBytes))
	d.both(column(3)+w/2, row(1)+rowHeight, row(2))

	socket := box{column(0) + between, row(2), column(3) - column(0) - 2*between, rowHeight}
	d.unit(m, socket, column(2)+w/2, row(1)+rowHeight)

	l1i := box{column(0), l1, w, rowHeight}
	d.cache(l1i, "L1I", &m.L1I)
	d.elbow(c.x+inset/2-1, l1i.x, l1+rowHeight/2, front[0].y+rowHeight/2)
	l1d := box{column(2), l1, 2*w + between, rowHeight}
	d.cache(l1d, "L1D", &m.L1D)
	right := column(3) + w + inset/2
	d.line(column(3)+w, row(1)+rowHeight/2, right, row(1)+rowHeight/2)
	d.line(right, row(1)+rowHeight/2, right, l1-gap/2)
	d.line(right, l1-gap/2, column(3)+w/2, l1-gap/2)
	d.arrow(column(3)+w/2, l1-gap/2, column(3)+w/2, l1)
	d.unitMemory(m, socket, column(2)+w/2, column(1)+w/2, l1)
	end := l1 + rowHeight
	d.both(column(0)+w/2, end, end+10+gap)
	d.both(column(3), end, end+10+gap)
}

// unit draws the graph unit, or its empty socket; at and from are the ends of the SFU's wire.
func (d *drawing) unit(m *configs.Machine, b box, at, from float64) {
	u := accel.KindOf(m.Core.Unit.Spec)
	if u == nil {
		d.box(b, "empty", "Accelerator socket", "no graph unit")
		return
	}
	d.box(b, "unit", u.Part, strings.Join(sizes(m.Core.Unit.Spec, b.w), ", "))
	d.both(at, from, b.y)
}

// unitMemory draws the path of a graph unit with its own memory port.
func (d *drawing) unitMemory(m *configs.Machine, b box, inL1, past, l1 float64) {
	s, ok := m.Core.Unit.Spec.(accel.MemorySpec)
	if !ok {
		return
	}
	if s.BypassesL1() {
		d.both(past, b.y+b.h, l1+rowHeight+10+gap)
		return
	}
	d.both(inL1, b.y+b.h, l1)
}

// controlProcessor names the one that moves work between cores, if there is one.
func (d *drawing) controlProcessor(m *configs.Machine, x, y float64) {
	u, err := m.Core.Unit.Spec.NewUnit("Unit", m.UnitShape(0))
	_, balanced := u.(balance.Unit)
	_, own := m.Core.Unit.Spec.(balance.Own)
	if err != nil || !balanced || m.Sockets*m.CoresPerSocket == 1 || m.CtrlProc.Policy == ctrlproc.PolicyNone && !own {
		return
	}
	how := "cores share work by a network of their own"
	if !own {
		how = fmt.Sprintf("control processor balances cores: %s, every %d cycles", m.CtrlProc.Policy,
			m.CtrlProc.Interval)
	}
	d.textEnd(x, y, "detail", how)
}

// levels draws the parts that all sockets share, and returns their lower end.
func (d *drawing) levels(m *configs.Machine, y float64) float64 {
	y += gap
	full := func() box { return box{margin, y, width - 2*margin, rowHeight} }
	next := func() { d.both(width/2, y+rowHeight, y+rowHeight+gap); y += rowHeight + gap }
	if c := m.Concentrator; c != nil {
		n := (m.Sockets + c.Sockets - 1) / c.Sockets
		d.box(full(), "level", times("Concentrator", n),
			fmt.Sprintf("%s, %s, %s", count(c.Sockets, "socket"), count(c.Ports, "port"), c.Arbiter))
		next()
	}
	for _, l := range []struct {
		name string
		spec *cache.Spec
	}{{"L2", m.L2}, {"L3", m.L3}} {
		if l.spec != nil {
			d.cache(full(), l.name, l.spec)
			next()
		}
	}
	d.box(full(), "memory", "Memory", memory(&m.Memory))
	return y + rowHeight
}

func (d *drawing) cache(b box, name string, s *cache.Spec) {
	detail := fmt.Sprintf("%s, %d ways", bytes(s.Bytes), s.Ways)
	if s.Keeps == cache.Nothing {
		detail = "keeps nothing"
	}
	if b.w > 200 {
		detail += fmt.Sprintf(", %s × %s", count(s.Banks, "bank"), count(s.MSHRs, "MSHR"))
	}
	if b.w > 400 {
		if s.Sectors > 1 {
			detail += fmt.Sprintf(", %d sectors a way", s.Sectors)
		}
		detail += fmt.Sprintf(", %d-byte lines, write-%s", s.LineBytes, s.WritePolicy)
	}
	d.box(b, "level", name, detail)
}

// memory describes main memory in one line.
func memory(m *configs.Memory) string {
	if m.Preset == configs.Harness {
		return "as the RTL's test bench answers"
	}
	s, err := m.Spec()
	if err != nil {
		return m.Preset
	}
	if s.Standard == dram.Ideal {
		return fmt.Sprintf("ideal: %s, %d ns", count(s.Channels, "channel"), s.IdealLatency*s.TCKps/1000)
	}
	return fmt.Sprintf("%s: %s, %d banks each, %s, %s page",
		m.Preset, count(s.Channels, "channel"), s.Ranks*s.BankGroups*s.Banks, s.Scheduler, s.PagePolicy)
}

// sizes are the numbers of a graph unit's configuration, less times and those that follow from others (0), as far as
// they fit.
func sizes(spec accel.Spec, room float64) (out []string) {
	v := reflect.Indirect(reflect.ValueOf(spec))
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		if !v.Field(i).CanInt() || v.Field(i).Int() == 0 || tag.Get("unit") == "cycles" || tag.Get("key") == "" {
			continue
		}
		n := int(v.Field(i).Int())
		text := fmt.Sprintf("%s %d", tag.Get("key"), n)
		if tag.Get("unit") == "bytes" {
			text = fmt.Sprintf("%s %s", strings.TrimSuffix(tag.Get("key"), "_bytes"), bytes(n))
		}
		if textWidth("detail", strings.Join(append(out, text), ", ")) > room-10 {
			break
		}
		out = append(out, text)
	}
	return out
}

func lanes(n, slices int) string {
	if slices == 1 {
		return count(n, "lane")
	}
	return fmt.Sprintf("%d × %s", slices, count(n, "lane"))
}

func times(what string, n int) string {
	if n == 1 {
		return what
	}
	return fmt.Sprintf("%s × %d", what, n)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// bytes writes a size with the largest unit that divides it.
func bytes(n int) string {
	for _, u := range []struct {
		shift int
		name  string
	}{{20, "MiB"}, {10, "KiB"}} {
		if n>>u.shift > 0 && n&(1<<u.shift-1) == 0 {
			return fmt.Sprintf("%d %s", n>>u.shift, u.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}
