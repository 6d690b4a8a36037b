package traces

import (
	"heddle/isa"
)

// decoder reads the trace of one warp in one launch.
type decoder struct {
	memory
	columns [numColumns]cursor
	left    uint64 // instructions
	turns   byte
	turnN   uint8
}

// bad reports whether a column ended too soon, or contained invalid data.
func (d *decoder) bad() bool {
	for i := range d.columns {
		if d.columns[i].bad {
			return true
		}
	}
	return false
}

// rest reports whether unread data remain.
func (d *decoder) rest() bool {
	for i := range d.columns {
		if len(d.columns[i].b) > 0 {
			return true
		}
	}
	return d.left > 0
}

func (d *decoder) turn() bool {
	if d.turnN == 0 {
		d.turns, d.turnN = d.columns[colTurns].byte(), 8
	}
	taken := d.turns&1 != 0
	d.turns >>= 1
	d.turnN--
	return taken
}

func (d *decoder) control(s *site) isa.ControlArgs {
	c := &d.columns[colControl]
	changed := c.byte()
	if changed > changedAll {
		c.fail()
	}
	if changed&changedA != 0 {
		s.args.A += unzigzag(c.uvarint32())
	}
	if changed&changedB != 0 {
		s.args.B += unzigzag(c.uvarint32())
	}
	if changed&changedPred != 0 {
		s.args.Pred ^= c.uvarint32()
	}
	return s.args
}

func (d *decoder) address() uint32 { return d.columns[colControl].uvarint32() }

func (d *decoder) addresses(s *site, mask uint32, size uint8, x *lanes) {
	s.vectors[0].decode(d.columns[colForms:], mask, shiftOf(size), x)
}

func (d *decoder) operands(s *site, mask uint32, all ...*lanes) {
	for i, x := range all {
		s.vectors[i].decode(d.columns[colForms:], mask, 0, x)
	}
}

// answer reads a unit's answer to a request of the lanes in mask, and the mask it set.
func (d *decoder) answer(s *site, mask uint32, out *lanes) (newMask uint32) {
	s.vectors[unitAnswer].decode(d.columns[colAnswers:], mask, 0, out)
	return mask ^ d.columns[colAnswers].uvarint32()
}

func (d *decoder) wrote() uint32 { return d.columns[colWrote].uvarint32() }
