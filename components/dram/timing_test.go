package dram

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestConstraints holds each standard's rules, resolved with its preset's
// timing, to those that Ramulator holds. Per-bank refresh is not ours; GDDR6's
// PRE → REF and the rules between ranks are ours only.
func TestConstraints(t *testing.T) {
	want := map[string]map[string]int{}
	for _, f := range readCSV(t, "constraints.csv") {
		config, from, to := f[0], commandOf(f[2]), commandOf(f[3])
		if strings.HasPrefix(from+to, "REFpb") || strings.Contains(from+to, "REFsb") ||
			strings.HasSuffix(to, "REFpb") || f[6] == "1" {
			continue
		}
		kind := EachPair
		if f[5] == "4" {
			kind = FourthBack
		}
		if want[config] == nil {
			want[config] = map[string]int{}
		}
		strongest(want[config], ourLevel(f[1]), from, to, kind, number(t, f[4]))
	}
	require.Equal(t, 6, len(want))
	for config, rules := range want {
		t.Run(config, func(t *testing.T) {
			constraints, err := configSpec(t, config).Constraints()
			require.NoError(t, err)
			ours := map[string]int{}
			for _, c := range constraints {
				if c.Kind == Sibling || configSpec(t, config).Standard == GDDR6 && c.From == PRE && c.To == REF {
					continue
				}
				strongest(ours, c.Level.String(), c.From.String(), c.To.String(), c.Kind, c.Clocks)
			}
			assert.Equal(t, rules, ours)
		})
	}
}

// strongest keeps the greatest clocks of a pair; 0 is no rule.
func strongest(rules map[string]int, level, from, to string, kind Kind, clocks int) {
	key := fmt.Sprintf("%s %s → %s kind %d", level, from, to, kind)
	if clocks > rules[key] {
		rules[key] = clocks
	}
}

func ourLevel(ramulator string) string {
	l := strings.ToLower(ramulator)
	if l == "pseudochannel" {
		return "rank"
	}
	return l
}

// TestParameters holds the presets to the values Ramulator resolved.
func TestParameters(t *testing.T) {
	ours := map[string]string{"nRFCab": "nRFC"}
	for _, f := range readCSV(t, "params.csv") {
		symbol := f[1]
		if o, ok := ours[symbol]; ok {
			symbol = o
		}
		spec := configSpec(t, f[0])
		var got int
		switch symbol {
		case "tCK_ps":
			got = spec.TCKps
		case "row":
			got = spec.Rows
		case "bankgroup":
			got = spec.BankGroups
		case "bank":
			got = spec.Banks
		case "pseudochannel", "rank":
			got = spec.Ranks
		default:
			v, err := spec.Timing.symbol(symbol)
			if err != nil || v == 0 {
				continue // not a parameter of ours, or not used
			}
			got = v
		}
		assert.Equal(t, f[2], fmt.Sprint(got), "%s %s", f[0], symbol)
	}
}

// timedPresets are all presets with timing rules, DDR4's with two ranks so that
// sibling rules bite.
func timedPresets(t testing.TB) []Spec {
	var all []Spec
	for _, name := range Presets() {
		s := preset(t, name)
		if s.Standard != Ideal {
			if s.Standard == DDR4 {
				s.Ranks = 2
			}
			all = append(all, s)
		}
	}
	return all
}

// TestEachRule asks every rule alone one clock early, on time, and where it does
// not hold.
func TestEachRule(t *testing.T) {
	for _, spec := range timedPresets(t) {
		constraints, err := spec.Constraints()
		require.NoError(t, err)
		for _, c := range constraints {
			if c.Clocks > 0 {
				t.Run(fmt.Sprintf("%s/%s %s %s %d", spec.Preset, c.Level, c.From, c.To, c.Kind), func(t *testing.T) {
					askRule(t, spec, c)
				})
			}
		}
	}
}

const allCommands = ^CommandSet(0)

func askRule(t *testing.T, spec Spec, c Constraint) {
	const start = 1000
	s := newBankState(spec, newTimingTable([]Constraint{c}, allCommands))
	first := uint64(start)
	at := first
	if c.Kind == FourthBack {
		for range window - 1 {
			s.issue(c.From, &s.banks[0], 0, at)
			assert.True(t, allowed(s, c.To, 0, at), "window not full")
			at++
		}
	}
	s.issue(c.From, &s.banks[0], 0, at)

	inside, outside := reach(spec, c)
	legal := first + uint64(c.Clocks)
	assert.False(t, allowed(s, c.To, inside, legal-1), "one clock early")
	assert.True(t, allowed(s, c.To, inside, legal), "on time")
	if outside >= 0 {
		assert.True(t, allowed(s, c.To, outside, first), "out of reach")
	}
}

func allowed(s *bankState, cmd Command, bank int, now uint64) bool {
	b := &s.banks[bank]
	if cmd.rankWide() {
		return s.rankReadyAt(cmd, b.rank) <= now
	}
	return b.readyAt(cmd) <= now
}

// reach returns the most distant bank from bank 0 that the rule holds for, and
// the nearest it does not hold for, or -1.
func reach(spec Spec, c Constraint) (inside, outside int) {
	perRank := spec.BankGroups * spec.Banks
	if c.Kind == Sibling {
		return perRank*spec.Ranks - 1, perRank - 1
	}
	switch c.Level {
	case LevelBank:
		return 0, 1
	case LevelBankGroup:
		return spec.Banks - 1, spec.Banks
	case LevelRank:
		if spec.Ranks > 1 {
			return perRank - 1, perRank
		}
	}
	return perRank*spec.Ranks - 1, -1
}

// TestRulesTogether asks for every pair of commands of the whole table one clock
// before and at the strongest rule's clock.
func TestRulesTogether(t *testing.T) {
	for _, spec := range timedPresets(t) {
		t.Run(spec.Preset, func(t *testing.T) {
			constraints, err := spec.Constraints()
			require.NoError(t, err)
			for from := range numCommands {
				for to := range numCommands {
					clocks := 0
					for _, c := range constraints {
						if c.From == from && c.To == to && c.Kind == EachPair {
							clocks = max(clocks, c.Clocks)
						}
					}
					s := newBankState(spec, newTimingTable(constraints, allCommands))
					s.issue(from, &s.banks[0], 0, 5000)
					if clocks > 0 {
						assert.False(t, allowed(s, to, 0, uint64(5000+clocks-1)), "%s → %s early", from, to)
					}
					assert.True(t, allowed(s, to, 0, uint64(5000+clocks)), "%s → %s", from, to)
				}
			}
		})
	}
}

func TestExpressions(t *testing.T) {
	timing := Timing{CL: 7, BL: 4, CWL: 2}
	for expr, want := range map[string]int{"nCL + nBL + 2 - nCWL": 11, "nBL": 4, "2": 2, "nCWL - nCL": 0} {
		got, err := timing.eval(expr)
		require.NoError(t, err)
		assert.Equal(t, want, got, expr)
	}
	for _, expr := range []string{"nXX", "CL", "nCL * 2"} {
		_, err := timing.eval(expr)
		assert.Error(t, err, expr)
	}
}
