package traces

import (
	"bufio"
	"fmt"
	"io"
	"math/bits"
	"strings"

	"heddle/isa"
)

// Selection selects the instructions to show.
type Selection struct {
	Launch, Warp int    // -1: all
	Limit        uint64 // instructions of a warp and launch; 0: all
}

// Dump writes instructions in readable form: warp, address, lanes, instruction, symbol, and the lanes' accesses or
// requests.
func (f *File) Dump(out io.Writer, sel Selection) error {
	w := bufio.NewWriter(out)
	host := func(launch int, did cursor) error {
		lines, err := hostLines(did)
		for _, line := range lines {
			fmt.Fprintf(w, "# launch %d, host: %s\n", launch, line)
		}
		return err
	}
	err := f.each(sel.Launch, sel.Warp, host, func(launch, warp int, k *Walker) error {
		fmt.Fprintf(w, "launch %d, %s: %d instructions\n", launch, f.Meta.Shape.Name(warp), k.Left())
		for n := uint64(0); sel.Limit == 0 || n < sel.Limit; n++ {
			more, err := k.Next()
			if !more {
				return err
			}
			f.line(w, launch, &k.Step)
		}
		return nil
	})
	if e := w.Flush(); err == nil {
		err = e
	}
	return err
}

// each calls do with the trace of each warp, or of one, in each launch, or in one.
func (f *File) each(launch, warp int, host func(launch int, did cursor) error,
	do func(launch, warp int, k *Walker) error) error {
	first, end := launch, launch+1
	if launch < 0 {
		first, end = 0, len(f.Meta.Launches)
	}
	for i := first; i < end; i++ {
		if warp >= 0 || launch >= len(f.Meta.Launches) {
			k, err := f.Walk(i, warp)
			if err == nil {
				err = do(i, warp, k)
			}
			if err != nil {
				return err
			}
			continue
		}
		all, did, err := f.launch(i, nil)
		if err == nil {
			err = host(i, did)
		}
		if err != nil {
			return err
		}
		for n := range all {
			if all[n].left == 0 {
				continue
			}
			if err := do(i, n, f.walker(i, n, all[n])); err != nil {
				return err
			}
		}
	}
	return nil
}

// line writes one instruction.
func (f *File) line(w io.Writer, launch int, s *Step) {
	fmt.Fprintf(w, "%08x %08x  %s", s.PC, s.Mask, s.Inst.Text(s.PC))
	p := f.codes[f.Meta.Launches[launch].Program].program
	if name, off, ok := p.Where(s.PC); ok {
		fmt.Fprintf(w, "  <%s+0x%x>", name, off)
	}
	io.WriteString(w, details(s)) //nolint:errcheck // Flush returns the error
	fmt.Fprintln(w)
}

// details returns the information that the code does not contain.
func details(s *Step) string {
	var b strings.Builder
	if s.Addrs != nil {
		fmt.Fprintf(&b, "  @%s", values(s.Addrs, s.Mask))
	}
	if s.Wrote != 0 {
		fmt.Fprintf(&b, "  wrote %08x", s.Wrote)
	}
	if s.Args != nil {
		fmt.Fprintf(&b, "  args %x %x", s.Args[0], s.Args[1])
	}
	if s.In != nil {
		for i, r := range [...]isa.Reg{s.Inst.Rs1, s.Inst.Rs2, s.Inst.Rs3} {
			if r != 0 {
				fmt.Fprintf(&b, "  %v%s", r, values(&s.In[i], s.Mask))
			}
		}
	}
	if s.Out != nil {
		fmt.Fprintf(&b, "  answer%s", values(s.Out, s.Mask))
	}
	switch {
	case s.Active == 0:
		b.WriteString("  ends")
	case s.Active != s.Mask:
		fmt.Fprintf(&b, "  mask %08x", s.Active)
	}
	if s.Next != s.PC+4 && s.Active != 0 {
		fmt.Fprintf(&b, "  to %08x", s.Next)
	}
	return b.String()
}

// values lists the values of the lanes in mask; runs with a constant step are abbreviated.
func values(x *lanes, mask uint32) string {
	var b strings.Builder
	for mask != 0 {
		l := bits.TrailingZeros32(mask)
		n := run(x, mask, l)
		if step := int32(x[(l+1)&31] - x[l]); n > 2 {
			fmt.Fprintf(&b, " %x%+d×%d", x[l], step, n)
		} else {
			n = 1
			fmt.Fprintf(&b, " %x", x[l])
		}
		mask &^= uint32(1<<n-1) << l
	}
	return b.String()
}

// run counts neighbouring lanes, starting from l, whose values increase by the same step.
func run(x *lanes, mask uint32, l int) (n int) {
	for n = 1; l+n < len(x) && mask>>(l+n)&1 != 0; n++ {
		if n > 1 && x[l+n]-x[l+n-1] != x[l+1]-x[l] {
			break
		}
	}
	return n
}

// Difference is the point where the traces of one warp diverge, or the host's actions.
type Difference struct {
	Launch, Warp int    // cores × warps: the host
	At           uint64 // number of instructions, or host actions, before it
	A, B         string // "": ended there
}

// Diff returns, for each launch and warp in which two files differ, the first difference; and for the host.
func Diff(a, b *File) (out []Difference, err error) {
	if a.Meta.Shape != b.Meta.Shape {
		return nil, fmt.Errorf("%s was recorded on %v, %s on %v: their warps are not the same", a.path, a.Meta.Shape,
			b.path, b.Meta.Shape)
	}
	for i := range max(len(a.Meta.Launches), len(b.Meta.Launches)) {
		x, didA, err := a.warps(i)
		if err != nil {
			return nil, err
		}
		y, didB, err := b.warps(i)
		if err != nil {
			return nil, err
		}
		d, differ, err := hostParting(didA, didB)
		if err != nil {
			return nil, fmt.Errorf("launch %d of %s or %s, host: %w", i, a.path, b.path, err)
		}
		if d.Launch, d.Warp = i, a.Meta.Shape.Host(); differ {
			out = append(out, d)
		}
		for w := range x {
			d, differ, err := parting(x[w], y[w])
			if err != nil {
				return nil, err
			}
			if d.Launch, d.Warp = i, w; differ {
				out = append(out, d)
			}
		}
	}
	return out, nil
}

// warps returns all warps of a launch, and the host's actions; empty if there is no such launch.
func (f *File) warps(launch int) (out []*Walker, host cursor, err error) {
	all := make([]decoder, f.Meta.Shape.Cores*f.Meta.Shape.Warps)
	if launch < len(f.Meta.Launches) {
		if all, host, err = f.launch(launch, nil); err != nil {
			return nil, host, err
		}
	}
	for w := range all {
		if launch >= len(f.Meta.Launches) {
			out = append(out, &Walker{})
			continue
		}
		out = append(out, f.walker(launch, w, all[w]))
	}
	return out, host, nil
}

// parting finds the first instruction, or effect of one, in which two traces differ.
func parting(x, y *Walker) (d Difference, differ bool, err error) {
	for ; ; d.At++ {
		more, err := x.Next()
		if err != nil {
			return d, false, err
		}
		other, err := y.Next()
		if err != nil {
			return d, false, err
		}
		if !more && !other {
			return d, false, nil
		}
		if more == other && x.Step.same(&y.Step) {
			continue
		}
		if more {
			d.A = x.Step.text()
		}
		if other {
			d.B = y.Step.text()
		}
		return d, true, nil
	}
}

// same compares instructions and their effects.
func (s *Step) same(o *Step) bool {
	if s.PC != o.PC || s.Mask != o.Mask || s.Next != o.Next || s.Active != o.Active || s.Wrote != o.Wrote ||
		s.Start != o.Start {
		return false
	}
	if !sameLanes(s.Addrs, o.Addrs, s.Mask) || !sameLanes(s.Out, o.Out, s.Mask) || (s.In == nil) != (o.In == nil) {
		return false
	}
	for i := range s.In {
		if s.In != nil && !sameLanes(&s.In[i], &o.In[i], s.Mask) {
			return false
		}
	}
	if s.Args != nil && o.Args != nil && *s.Args != *o.Args {
		return false
	}
	return s.Inst.Raw == o.Inst.Raw
}

func sameLanes(a, b *lanes, mask uint32) bool {
	if a == nil || b == nil {
		return a == b
	}
	for ; mask != 0; mask &= mask - 1 {
		if l := bits.TrailingZeros32(mask); a[l] != b[l] {
			return false
		}
	}
	return true
}

func (s *Step) text() string {
	return fmt.Sprintf("%08x %08x  %s%s", s.PC, s.Mask, s.Inst.Text(s.PC), details(s))
}
