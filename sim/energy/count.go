package energy

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"heddle/components/accel"
	"heddle/configs"
	"heddle/internal/suggest"
	"heddle/sim/stats"
)

// term is a product of a number, properties of the machine, and one statistic at most.
type term struct {
	factor     float64
	quantities []string
	stat       string // "": none
}

// quantities are the numbers of a machine that counts may contain.
var quantities = map[string]func(m *configs.Machine) float64{
	"machine.chip":          func(*configs.Machine) float64 { return 1 },
	"machine.cores":         func(m *configs.Machine) float64 { return float64(cores(m)) },
	"machine.threads":       func(m *configs.Machine) float64 { return float64(m.Core.Threads) },
	"machine.warps":         func(m *configs.Machine) float64 { return float64(m.Core.Warps) },
	"machine.units":         func(m *configs.Machine) float64 { return unitsOf(m) },
	"machine.registers_kib": func(m *configs.Machine) float64 { return registerBytes(m) / 1024 },
	"machine.scratchpad_kib": func(m *configs.Machine) float64 {
		c, _ := capacity(m, "scratchpad")
		return c * float64(cores(m)) / 1024
	},
	"machine.l1_kib": func(m *configs.Machine) float64 {
		return float64(m.Sockets*(m.L1I.Bytes+m.L1D.Bytes)) / 1024
	},
	"machine.l2_kib": func(m *configs.Machine) float64 {
		l2, _ := capacity(m, "l2")
		l3, _ := capacity(m, "l3")
		return (l2 + l3) / 1024
	},
}

func quantityNames() []string { return slices.Sorted(maps.Keys(quantities)) }

func cores(m *configs.Machine) int { return m.Sockets * m.CoresPerSocket }

// unitsOf is the number of graph units.
func unitsOf(m *configs.Machine) float64 {
	if accel.KindOf(m.Core.Unit.Spec) == nil {
		return 0
	}
	return float64(cores(m))
}

// registerBytes is the size of all register files: 64 registers, integer and float, of 32 bits.
func registerBytes(m *configs.Machine) float64 {
	return float64(cores(m) * m.Core.Warps * m.Core.Threads * 64 * 4)
}

// capacity is the size of a memory, in bytes; ok is false if the machine has none.
func capacity(m *configs.Machine, of string) (bytes float64, ok bool) {
	switch {
	case of == "scratchpad" && m.Core.Scratchpad:
		return float64(m.Core.ScratchpadBytes), true
	case of == "l1i":
		return float64(m.L1I.Bytes), true
	case of == "l1d":
		return float64(m.L1D.Bytes), true
	case of == "l2" && m.L2 != nil:
		return float64(m.L2.Bytes), true
	case of == "l3" && m.L3 != nil:
		return float64(m.L3.Bytes), true
	}
	return 0, false
}

// width returns the bits that an access to a memory moves.
func width(m *configs.Machine, of, width string) (bits float64) {
	line := map[string]int{"l1i": m.L1I.LineBytes, "l1d": m.L1D.LineBytes}
	request := map[string]int{"l1d": m.Core.Derived().ChannelBytes, "l1i": 4 * max(1, m.Core.FetchBlock),
		"l2": m.L1D.LineBytes}
	if m.L2 != nil {
		line["l2"], request["l3"] = m.L2.LineBytes, m.L2.LineBytes
	}
	if m.L3 != nil {
		line["l3"] = m.L3.LineBytes
	}
	switch width {
	case "request":
		return 8 * float64(request[of])
	case "line":
		return 8 * float64(line[of])
	}
	return 32
}

// parseCount parses a sum of products; a power has no statistics.
func parseCount(text string, power bool) (sum []term, err error) {
	for _, product := range strings.Split(text, "+") {
		t := term{factor: 1}
		for _, f := range strings.Split(product, "*") {
			if err := t.multiply(strings.TrimSpace(f)); err != nil {
				return nil, err
			}
		}
		switch {
		case power && t.stat != "":
			return nil, fmt.Errorf("%s: a power lasts for the whole time: expected numbers and %s", t.stat,
				strings.Join(quantityNames(), ", "))
		case !power && t.stat == "":
			return nil, fmt.Errorf("%s: expected a statistic in each summand of an energy", strings.TrimSpace(product))
		}
		sum = append(sum, t)
	}
	return sum, nil
}

// multiply adds a factor to a product.
func (t *term) multiply(f string) error {
	if v, err := strconv.ParseFloat(f, 64); err == nil {
		if !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("%s: expected a number of 0 or more", f)
		}
		t.factor *= v
		return nil
	}
	switch {
	case f == "" || strings.ContainsAny(f, " \t\n-/()"):
		return fmt.Errorf("%q: expected statistics, numbers and the signs + and *", f)
	case strings.HasPrefix(f, "machine."):
		if quantities[f] == nil {
			return fmt.Errorf("%s: expected one of %s%s", f, strings.Join(quantityNames(), ", "),
				suggest.DidYouMean(f, quantityNames()))
		}
		t.quantities = append(t.quantities, f)
	case t.stat != "":
		return fmt.Errorf("%s*%s: expected one statistic in a product", t.stat, f)
	default:
		t.stat = accel.StatisticOf(f)
	}
	return nil
}

// counter evaluates counts of one run.
type counter struct {
	machine *configs.Machine
	stats   stats.Tree
}

// of returns the value of a count, and half its 95 % confidence interval if statistics are estimates.
func (c *counter) of(sum []term) (n, half float64, err error) {
	for _, t := range sum {
		f := t.factor
		for _, q := range t.quantities {
			f *= quantities[q](c.machine)
		}
		if t.stat == "" {
			n += f
			continue
		}
		s, ok := c.stats.Get(t.stat)
		if !ok {
			if err := c.absent(t.stat); err != nil {
				return 0, 0, err
			}
			continue
		}
		if s.Float() < 0 {
			return 0, 0, fmt.Errorf("%s is %v: a count is not negative", t.stat, s.Float())
		}
		n, half = n+f*s.Float(), half+f*s.Half
	}
	return n, half, nil
}

// parts of machines that not every machine has, by the first part of their statistics' names.
var optional = []string{"l2", "l3", "ctrlproc", "concentrator"}

// absent returns an error unless a statistic is one of a part that the machine does not have, which has counted
// nothing.
func (c *counter) absent(name string) error {
	first, _, _ := strings.Cut(name, ".")
	known := slices.ContainsFunc(c.stats, func(s stats.Stat) bool { return strings.HasPrefix(s.Name, first+".") })
	isUnit := slices.ContainsFunc(accel.Registered(), func(u *accel.Kind) bool { return u.Name == first })
	if !known && (isUnit || slices.Contains(optional, first)) {
		return nil
	}
	names := make([]string, len(c.stats))
	for i, s := range c.stats {
		names[i] = s.Name
	}
	if strings.HasPrefix(name, "thread_instrs.") || name == openRanks {
		return fmt.Errorf("the result has no statistic %s, which results of an earlier heddle lack: simulate it again "+
			"(heddle run --fresh)", name)
	}
	return errors.New("the result has no statistic " + name + suggest.DidYouMean(name, names) +
		" (heddle stats describe lists them)")
}
