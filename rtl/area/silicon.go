package area

import "fmt"

// MM2 is an estimate of an area in mm² at 28 nm: between what cells side by side take, and what a loose layout does.
type MM2 struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

func (a MM2) String() string { return fmt.Sprintf("%.2g to %.2g", a.Low, a.High) }

// Plus returns the sum.
func (a MM2) Plus(b MM2) MM2 { return MM2{a.Low + b.Low, a.High + b.High} }

// Middle returns the mean of both ends.
func (a MM2) Middle() float64 { return (a.Low + a.High) / 2 }

// Times returns the area of n.
func (a MM2) Times(n int) MM2 { return MM2{float64(n) * a.Low, float64(n) * a.High} }

// Densities at 28 nm. gateDensity and cell are TSMC's of its 28 nm low-power process, "raw": of NAND gates and of
// 6-transistor cells side by side (Symposium on VLSI Technology 2009; Electronic Design, 9 July 2009). twoPorts is what
// an 8-transistor cell, with a port to read beside the one to write, takes against one of 6 (Chang et al., Symposium on
// VLSI Technology 2005: 30 % more, from memory: check it before you cite it). The shares are ours: how much of the
// area, at worst, gates and cells fill.
const (
	gateDensity = 3.9e6    // per mm²
	cell        = 0.127e-6 // mm²
	twoPorts    = 1.3
	gatesFill   = 1. / 2
	macroFills  = 1. / 2 // of a cache or a register file
	bankFills   = 1. / 3 // of a memory of a unit, some hundred bits to some ten thousand
)

// Silicon returns the area of the part's logic and registers.
func (p *Part) Silicon() MM2 {
	raw := p.Gates / gateDensity
	return MM2{raw, raw / gatesFill}
}

// Silicon returns the area of all banks.
func (m *Memory) Silicon() MM2 {
	return MM2{cell, twoPorts * cell / bankFills}.Times(m.Banks * m.Bits)
}

// Silicon returns the area of the unit, memories included.
func (m *Mapping) Silicon() MM2 {
	total := m.Total()
	a := total.Silicon()
	for i := range m.Memories {
		a = a.Plus(m.Memories[i].Silicon())
	}
	return a
}

// Silicon returns the area of all of the structure's copies. A register file has two ports, an ALWT is a memory of a
// unit, the others have one port.
func (s *Storage) Silicon() MM2 {
	a := MM2{cell, cell / macroFills}
	switch s.What {
	case registerFile:
		a = MM2{twoPorts * cell, twoPorts * cell / macroFills}
	case alwt:
		a = MM2{cell, twoPorts * cell / bankFills}
	}
	return a.Times(s.Number * s.Bits)
}
