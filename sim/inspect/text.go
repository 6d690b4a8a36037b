package inspect

import (
	"fmt"
	"io"
	"math"
	"math/bits"
	"reflect"
	"strings"

	"heddle/isa"
)

// Write writes the state as text.
func (s *State) Write(w io.Writer) {
	fmt.Fprintln(w, s.Stopped)
	for i := range s.Cores {
		s.Cores[i].write(w)
	}
	if len(s.Pending) > 0 {
		fmt.Fprintln(w, "pending")
	}
	for _, p := range s.Pending {
		fmt.Fprintln(w, "  "+p)
	}
}

func (c *Core) write(w io.Writer) {
	fmt.Fprintf(w, "core %d, active warps:%s\n", c.Core, set(c.Active))
	for _, b := range c.Barriers {
		of := "warps"
		if b.Device {
			of = "cores"
		}
		fmt.Fprintf(w, "  barrier %d for %d %s, arrived:%s\n", b.ID, b.Count, of, set(b.Arrived))
	}
	for i := range c.Warps {
		c.Warps[i].write(w)
	}
	if c.Pipeline != nil {
		fmt.Fprintln(w, "  load-store unit")
		fields(w, "    ", reflect.ValueOf(*c.Pipeline))
	}
	if c.Holds != nil {
		fmt.Fprintln(w, "  "+c.Unit)
		fields(w, "    ", reflect.ValueOf(c.Holds))
	}
}

func set(s uint64) (text string) {
	for ; s != 0; s &= s - 1 {
		text += fmt.Sprintf(" %d", bits.TrailingZeros64(s))
	}
	return text
}

func (k *Warp) write(w io.Writer) {
	fmt.Fprintf(w, "  warp %d: %s, pc 0x%08x", k.Warp, k.State, uint32(k.PC))
	if k.Symbol != "" {
		fmt.Fprintf(w, " <%s>", k.Symbol)
	}
	fmt.Fprintf(w, " %s, lanes %08x, fcsr %02x\n", k.Inst, uint32(k.Lanes), k.Fcsr)
	if p := k.Pipeline; p != nil {
		fmt.Fprintf(w,
			"    pipeline: %s, fetch pc 0x%08x, in flight %d, instruction buffer %v, before the scoreboard %q, awaits%s\n",
			p.State, p.FetchPC, p.InFlight, p.IBuffer, p.Staged, held(k))
	}
	for i, s := range k.Splits {
		fmt.Fprintf(w, "    split %d: lanes %08x, other side %08x at 0x%08x, first side over %v\n", i, s.All, s.Other,
			s.PC, s.Half)
	}
	for _, r := range k.Registers {
		r.write(w)
	}
}

func held(k *Warp) (text string) {
	for _, h := range k.Pipeline.Scoreboard {
		text += fmt.Sprintf(" %s (%s)", h.Reg, h.By)
	}
	if text == "" {
		return " nothing"
	}
	return text
}

// floats are the names of float registers.
var floats = func() map[string]bool {
	names := map[string]bool{}
	for r := isa.F; r < isa.Reg(isa.NumRegs); r++ {
		names[r.String()] = true
	}
	return names
}()

func (r *Register) write(w io.Writer) {
	fmt.Fprintf(w, "    %-4s", r.Name)
	for _, v := range r.Lanes {
		if floats[r.Name] {
			fmt.Fprintf(w, " %g", math.Float32frombits(uint32(v)))
			continue
		}
		fmt.Fprintf(w, " %08x", uint32(v))
	}
	fmt.Fprintln(w)
}

// fields writes the fields of a structure by their JSON names: one line per field, and for a list of structures one
// line per element. Empty lists are omitted.
func fields(w io.Writer, indent string, v reflect.Value) {
	for i := range v.NumField() {
		f, name := v.Field(i), jsonName(v.Type().Field(i))
		if (f.Kind() == reflect.Slice || f.Kind() == reflect.String) && f.Len() == 0 {
			continue
		}
		if f.Kind() != reflect.Slice || f.Type().Elem().Kind() != reflect.Struct {
			fmt.Fprintf(w, "%s%s: %s\n", indent, name, value(f))
			continue
		}
		fmt.Fprintf(w, "%s%s:\n", indent, name)
		for k := range f.Len() {
			fmt.Fprintf(w, "%s  %s\n", indent, value(f.Index(k)))
		}
	}
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// value formats a value on one line.
func value(v reflect.Value) string {
	if v.Kind() != reflect.Struct {
		return fmt.Sprint(v.Interface())
	}
	var parts []string
	for i := range v.NumField() {
		text := value(v.Field(i))
		if v.Field(i).Kind() == reflect.Uint32 && wide[jsonName(v.Type().Field(i))] {
			text = fmt.Sprintf("0x%08x", v.Field(i).Uint())
		}
		parts = append(parts, jsonName(v.Type().Field(i))+" "+text)
	}
	return strings.Join(parts, ", ")
}

// wide are the fields that are displayed in base 16: addresses and lanes.
var wide = map[string]bool{"pc": true, "addr": true, "lanes": true}
