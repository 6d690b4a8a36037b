package ctrlproc

import (
	"heddle/components/balance"
	"heddle/components/clock"
)

// Ideal balances in every cycle in zero time, after all units have ticked: it is on an observer's clock, and yet
// changes the units' state. It balances the differences that polls would balance; down to a single edge, every pop
// would move short lists to other cores, and lines would be read out of their order.
type Ideal struct {
	clock.Base
	units   []balance.Unit
	control *Control
}

// NewIdeal returns an Ideal for the units that control serves.
func NewIdeal(name string, control *Control, units []balance.Unit) *Ideal {
	return &Ideal{Base: clock.NewBase(name), units: units, control: control}
}

// Start begins a launch.
func (d *Ideal) Start() { d.ClockHandle().Wake() }

// Tick moves edges until no difference of loads reaches the threshold, or the more loaded units have none that can be
// moved.
func (d *Ideal) Tick(now clock.Cycle) bool {
	for d.move(now) {
	}
	return !d.control.processor.done
}

// move lets the most loaded unit with edges in its table give to the least loaded.
func (d *Ideal) move(now clock.Cycle) bool {
	most, least := -1, 0
	for i, u := range d.units {
		if u.Movable() && (most < 0 || u.EFS() > d.units[most].EFS()) {
			most = i
		}
		if u.EFS() < d.units[least].EFS() {
			least = i
		}
	}
	if most < 0 {
		return false
	}
	p := d.control.processor
	high, low := uint64(d.units[most].EFS()), uint64(d.units[least].EFS())
	if !p.unbalanced(high, low) {
		return false
	}
	r := d.units[most].Take(now, uint32((high-low)/2))
	d.units[least].Give(now, r)
	s := &p.Stats
	s.Offers++
	s.Taken++
	s.EdgesMoved += uint64(r.End - r.Start)
	return true
}
