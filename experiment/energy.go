package experiment

import (
	"heddle/configs"
	"heddle/experiment/config"
	"heddle/sim/energy"
	"heddle/sim/stats"
)

// Energies computes the energies of points by one table, or by the table for each machine's memory.
type Energies struct {
	name   string // config.EnergyByMachine: the one for the memory
	tables map[string]*energy.Table
}

// NewEnergies takes the name of a table or of a file, or config.EnergyByMachine.
func NewEnergies(name string) (*Energies, error) {
	e := &Energies{name: name, tables: map[string]*energy.Table{}}
	if name == config.EnergyByMachine {
		return e, nil
	}
	_, err := e.table(name)
	return e, err
}

func (e *Energies) table(name string) (t *energy.Table, err error) {
	if e.tables[name] == nil {
		if e.tables[name], err = energy.Load(name); err != nil {
			return nil, err
		}
	}
	return e.tables[name], nil
}

// Of computes the energy of a run on a machine from its statistics.
func (e *Energies) Of(m *configs.Machine, s stats.Tree) (*energy.Result, error) {
	name, err := e.name, error(nil)
	if name == config.EnergyByMachine {
		if name, err = energy.DefaultName(m); err != nil {
			return nil, err
		}
	}
	t, err := e.table(name)
	if err != nil {
		return nil, err
	}
	return t.Of(m, s)
}
