package sim

import (
	akita "github.com/sarchlab/akita/v3/sim"

	"heddle/components/clock"
	"heddle/configs"
)

// NewScattered assembles a machine whose units tick in an order drawn from the seed.
func NewScattered(cfg configs.Machine, opt Options, seed uint64) (*Machine, error) {
	s := clock.NewSystem("Clock", akita.NewSerialEngine())
	s.Scatter(seed)
	return assemble(cfg, opt, s)
}

// Forsake makes the tiles of a machine deadlock where queues are small.
func (m *Machine) Forsake() { m.tasks.Forsake() }
