package reproduce

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"heddle/components/accel"
	"heddle/configs"
	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/rtl/area"
	"heddle/sim/energy"
	"heddle/sim/stats"
)

// cost has the inputs from which the costs of a point are computed. Checks name them as they name statistics.
type cost struct {
	machine *configs.Machine
	stats   stats.Tree
}

// Names of costs begin with these: an energy or a power by the table for the machine's memory, and the hardware of the
// machine's graph units.
const (
	energyCosts = "energy."
	unitCosts   = "units."
)

// costNames are the costs that there are.
var costNames = []string{
	energyCosts + "total", energyCosts + "low", energyCosts + "high", energyCosts + "dynamic", energyCosts + "power",
	energyCosts + "dynamic_power", unitCosts + "mm2", unitCosts + "mm2_low", unitCosts + "mm2_high",
	unitCosts + "registers", unitCosts + "luts", unitCosts + "memory_bits", unitCosts + "lines",
}

// costs returns the costs that a pack names.
func costs(p *config.Pack) (list []string, err error) {
	var names []string
	for i := range p.Checks {
		names = append(names, p.Checks[i].Metric, p.Checks[i].Per)
	}
	for i := range p.Figures {
		names = append(append(names, p.Figures[i].Metric, p.Figures[i].Per), p.Figures[i].Metrics...)
	}
	for _, n := range strings.Split(strings.Join(names, "+"), "+") {
		n = strings.TrimSpace(n)
		switch {
		case !strings.HasPrefix(n, energyCosts) && !strings.HasPrefix(n, unitCosts):
		case !slices.Contains(costNames, n):
			return nil, fmt.Errorf("%s: no cost %s: expected one of %s", p.File, n, strings.Join(costNames, ", "))
		default:
			addOnce(&list, n)
		}
	}
	return list, nil
}

// addCosts computes the costs that a pack names for all points, as further statistics.
func addCosts(p *config.Pack, points []Point) error {
	names, err := costs(p)
	if err != nil || len(names) == 0 {
		return err
	}
	by, err := experiment.NewEnergies(config.EnergyByMachine)
	if err != nil {
		return err
	}
	for i := range points {
		if err := points[i].addCosts(names, by); err != nil {
			return fmt.Errorf("%s: %s %s: %w", p.File, points[i].Experiment, points[i].Label, err)
		}
	}
	return nil
}

func (p *Point) addCosts(names []string, by *experiment.Energies) error {
	if !p.Counts || p.cost.machine == nil {
		return nil
	}
	named := func(prefix string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, prefix) })
	}
	if named(energyCosts) {
		r, err := by.Of(p.cost.machine, p.cost.stats)
		if err != nil {
			return err
		}
		maps.Copy(p.Stats, energies(r))
	}
	if named(unitCosts) && accel.KindOf(p.cost.machine.Core.Unit.Spec) != nil {
		h, err := area.Whole(context.Background(), p.cost.machine)
		if err != nil {
			return err
		}
		maps.Copy(p.Stats, hardware(&h))
	}
	return nil
}

// energies are the energies of a run in joules, with all values of the table nominal, low and high, and mean powers in
// watts.
func energies(r *energy.Result) map[string]float64 {
	total := r.Total()
	return map[string]float64{
		energyCosts + "total": total.Nominal, energyCosts + "low": total.Low, energyCosts + "high": total.High,
		energyCosts + "dynamic": r.Dynamic(), energyCosts + "power": r.Watts(total.Nominal),
		energyCosts + "dynamic_power": r.Watts(r.Dynamic()),
	}
}

// hardware is the cost of all graph units of a machine; without SystemVerilog of them, their areas alone.
func hardware(m *area.Machine) map[string]float64 {
	all := map[string]float64{
		unitCosts + "mm2": m.Units.Middle(), unitCosts + "mm2_low": m.Units.Low, unitCosts + "mm2_high": m.Units.High,
	}
	if m.Mapping != nil {
		t, n := m.Mapping.Total(), float64(m.Cores)
		all[unitCosts+"registers"], all[unitCosts+"luts"] = n*float64(t.Registers), n*float64(t.LUTs)
		all[unitCosts+"memory_bits"] = n * float64(m.Mapping.MemoryBits())
		all[unitCosts+"lines"] = float64(m.Lines)
	}
	return all
}
