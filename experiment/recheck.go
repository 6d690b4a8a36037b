package experiment

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"

	"heddle/sim/stats"
)

// RecheckError reports a known point that has other results when it is simulated again.
type RecheckError struct {
	Name     string // of the value that differs
	Was, Now string
}

func (e *RecheckError) Error() string {
	return fmt.Sprintf("the known result differs from this heddle's: %s was %s, and is %s. The stored result "+
		"is kept; other known results may be wrong too (--fresh simulates all)", e.Name, e.Was, e.Now)
}

// draw selects a share of the known points for a recheck, by their identities, so that the same ones are drawn each
// time, whatever their positions; at least one.
func (k *Known) draw(done map[int]Outcome, elsewhere map[int]bool, share float64) map[int]Outcome {
	drawn, least, first := map[int]Outcome{}, -1, uint64(math.MaxUint64)
	for i, o := range done {
		if !o.Counts() || elsewhere[i] {
			continue
		}
		digits, err := hex.DecodeString(k.wanted[i][:16])
		if err != nil {
			panic("BUG: known points @0: an identity is no number")
		}
		x := binary.BigEndian.Uint64(digits)
		if float64(x) < share*math.MaxUint64 {
			drawn[i] = o
		}
		if x < first || least < 0 || x == first && i < least {
			least, first = i, x
		}
	}
	if len(drawn) == 0 && least >= 0 {
		drawn[least] = done[least]
	}
	return drawn
}

// recheck returns an error if an outcome differs from the known one of its point.
func recheck(was, now *Outcome) error {
	if was.Cycles != now.Cycles {
		return &RecheckError{"cycles", Thousands(was.Cycles), Thousands(now.Cycles)}
	}
	if was.Stats.Equal(now.Stats) {
		return nil
	}
	before := map[string]stats.Stat{}
	for _, s := range was.Stats.Tree() {
		before[s.Name] = s
	}
	for _, s := range now.Stats.Tree() {
		if b, ok := before[s.Name]; !ok || b.String() != s.String() {
			return &RecheckError{s.Name, textOr(b, ok), s.String()}
		}
		delete(before, s.Name)
	}
	for name, s := range before {
		return &RecheckError{name, s.String(), "missing"}
	}
	return &RecheckError{"a statistic", "another", "rounded alike"}
}

func textOr(s stats.Stat, ok bool) string {
	if !ok {
		return "missing"
	}
	return s.String()
}
