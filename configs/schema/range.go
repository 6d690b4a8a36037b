package schema

import (
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"heddle/internal/suggest"
)

// maxRange is the maximum number of values in a range; more indicate a mistake.
const maxRange = 4096

// span is a range of numbers: from, then step more or times as much, up to to. Steps are
// exact: 0.1, 0.2, 0.3 and not 0.30000000000000004.
type span struct{ from, to, step, times *big.Rat }

// orRange adds to messages that a range is allowed.
func orRange(key *Field) string {
	if key.isNumber() {
		return ", or a range such as {from: 1, to: 8, step: 1} or {from: 1, to: 8, times: 2}"
	}
	return ""
}

// isNumber reports whether a key's value is a single number.
func (f *Field) isNumber() bool {
	if f.list {
		return false
	}
	switch f.scalar.(type) {
	case *integer, *float:
		return true
	}
	return false
}

// axisRange writes a range out.
func (c *checker) axisRange(s source, name string, key *Field, n *yaml.Node) (values []string) {
	r, ok := c.span(s, name, key, n)
	if !ok {
		return nil
	}
	for v := r.from; v.Cmp(r.to) <= 0; v = r.next(v, key) {
		text := numberText(key, v)
		value, ok := key.scalar.parse(text)
		switch {
		case !ok:
			c.bad.add(s.at(n), name, "the range comes to %s: expected %s", text, key.scalar.expected())
			return nil
		case len(values) == maxRange:
			c.bad.add(s.at(n), name, "expected a range of at most %d values", maxRange)
			return nil
		}
		values = append(values, key.scalar.text(value))
	}
	return values
}

func (c *checker) span(s source, name string, key *Field, n *yaml.Node) (r span, ok bool) {
	if !key.isNumber() {
		c.bad.add(s.at(n), name, "expected a list of values; found a section: ranges are for numbers")
		return r, false
	}
	parts := map[string]**big.Rat{"from": &r.from, "to": &r.to, "step": &r.step, "times": &r.times}
	before, seen := c.bad.count(), map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if !c.fresh(s, key, k, seen) {
			continue
		}
		part := parts[k.Value]
		if part == nil {
			c.bad.add(s.at(k), join(name, clip(k.Value)), "unknown key%s",
				suggest.DidYouMean(k.Value, []string{"from", "to", "step", "times"}))
			continue
		}
		if *part, ok = number(key, v, k.Value == "times"); !ok {
			c.bad.add(s.at(v), join(name, k.Value), "expected %s; found %s", numberExpected(key, k.Value), describe(v))
		}
	}
	if c.bad.count() > before {
		return r, false
	}
	if msg := r.wrong(); msg != "" {
		c.bad.add(s.at(n), name, "expected %s", msg)
		return r, false
	}
	return r, true
}

// wrong returns the error text of an invalid range; empty if valid.
func (r *span) wrong() string {
	switch {
	case r.from == nil || r.to == nil || (r.step == nil) == (r.times == nil):
		return "a range: from, to, and either step or times"
	case r.from.Cmp(r.to) > 0:
		return "from to be at most to"
	case r.step != nil && r.step.Sign() <= 0:
		return "step to be above 0"
	case r.times != nil && (r.times.Cmp(big.NewRat(1, 1)) <= 0 || r.from.Sign() <= 0):
		return "times to be above 1, and from to be above 0"
	}
	return ""
}

func (r *span) next(v *big.Rat, key *Field) *big.Rat {
	if r.step != nil {
		v = new(big.Rat).Add(v, r.step)
	} else {
		v = new(big.Rat).Mul(v, r.times)
	}
	if _, whole := key.scalar.(*integer); whole {
		return v
	}
	x, _ := v.Float64() // the rounded value is the start of the next step, so that digits do not accumulate
	v, _ = decimal(x)
	return v
}

// number reads a number of a range, in the key's own notation; a factor has no unit.
func number(key *Field, n *yaml.Node, factor bool) (*big.Rat, bool) {
	if !isPlain(n) {
		return nil, false
	}
	if s, ok := key.scalar.(*integer); ok {
		if factor {
			s = &integer{typ: s.typ}
		}
		i, ok := s.parseNumber(n.Value)
		if !ok || i.BitLen() > 64 {
			return nil, false
		}
		return new(big.Rat).SetInt(i), true
	}
	x, ok := (&float{typ: reflect.TypeFor[float64](), lo: -math.MaxFloat64, hi: math.MaxFloat64}).parse(n.Value)
	if !ok {
		return nil, false
	}
	return decimal(x.Float())
}

// decimal is the shortest decimal number that is x. Numbers far from 1 would have many digits, and are no knob's.
func decimal(x float64) (*big.Rat, bool) {
	if a := math.Abs(x); a != 0 && (a < 1e-30 || a > 1e30) {
		return new(big.Rat).SetInt64(math.MaxInt64), false
	}
	return new(big.Rat).SetString(strconv.FormatFloat(x, 'f', -1, 64))
}

func numberText(key *Field, v *big.Rat) string {
	if v.IsInt() {
		return v.Num().String()
	}
	x, _ := v.Float64()
	return strconv.FormatFloat(x, 'g', -1, key.typ.Bits())
}

func numberExpected(key *Field, part string) string {
	s, whole := key.scalar.(*integer)
	switch {
	case !whole:
		return "a number"
	case part != "times" && s.bytes():
		return "a size such as 4096 or 64KiB"
	}
	return "an integer"
}

// groups are the axes, those that go together in one.
func (a Axes) groups() (out []Axes) {
	for i, x := range a {
		if x.With && i > 0 {
			out[len(out)-1] = append(out[len(out)-1], x)
			continue
		}
		out = append(out, Axes{x})
	}
	return out
}

// names joins the keys of axes that go together, as a file has them.
func (a Axes) names() string {
	var keys []string
	for _, x := range a {
		keys = append(keys, x.Key)
	}
	return strings.Join(keys, ", ")
}
