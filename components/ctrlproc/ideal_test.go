package ctrlproc

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"heddle/components/balance"
)

// pile is a unit with edges of one vertex, all of which can be moved.
type pile struct {
	balance.Unit
	edges uint32
}

func (p *pile) EFS() uint32                    { return p.edges }
func (p *pile) Movable() bool                  { return p.edges > 0 }
func (p *pile) Give(_ uint64, r balance.Range) { p.edges += r.End - r.Start }
func (p *pile) Take(_ uint64, n uint32) balance.Range {
	p.edges -= n
	return balance.Range{End: n}
}

// TestIdealThreshold: the ideal balances what polls would balance, at once, and no more.
func TestIdealThreshold(t *testing.T) {
	for _, c := range []struct {
		name         string
		set          func(*Spec)
		loads, after []uint32
	}{
		{"N = 4, at it", func(*Spec) {}, []uint32{160, 150, 150}, []uint32{155, 155, 150}},
		{"N = 4, below it", func(*Spec) {}, []uint32{160, 151, 151}, []uint32{160, 151, 151}},
		{"N = 2", func(s *Spec) { s.ThresholdShift = 2 }, []uint32{100, 75, 80}, []uint32{88, 87, 80}},
		{"512 edges", func(s *Spec) { s.Threshold = 512 }, []uint32{1000, 489}, []uint32{1000, 489}},
		{"512 edges, at it", func(s *Spec) { s.Threshold = 512 }, []uint32{1000, 488}, []uint32{744, 744}},
		{"evenly", func(s *Spec) { s.Threshold = 1 }, []uint32{9, 0, 1}, []uint32{3, 4, 3}},
		{"small loads", func(*Spec) {}, []uint32{1, 0}, []uint32{1, 0}},
	} {
		s := DefaultSpec()
		s.Policy = PolicyIdeal
		c.set(&s)
		control, err := New("Control", s, len(c.loads))
		require.NoError(t, err)
		control.processor.Launch(0)
		var units []balance.Unit
		for _, n := range c.loads {
			units = append(units, &pile{edges: n})
		}
		d := NewIdeal("Ideal", control, units)
		assert.True(t, d.Tick(1), c.name)
		for i, u := range units {
			assert.Equal(t, c.after[i], u.EFS(), "%s: unit %d", c.name, i)
		}
	}
}
