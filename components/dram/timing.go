package dram

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"heddle/internal/enum"
)

// Command is a DRAM command.
type Command uint8

// The commands: activate, precharge, read, write, the same with auto-precharge,
// precharge all banks of a rank, refresh all banks of a rank.
const (
	ACT Command = iota
	PRE
	RD
	WR
	RDA
	WRA
	PREA
	REF
	numCommands
)

var commandNames = enum.Of[Command]("dram command", "ACT", "PRE", "RD", "WR", "RDA", "WRA", "PREA", "REF")

func (c Command) String() string { return commandNames.Name(c) }

// rankWide reports whether the command addresses all banks of a rank.
func (c Command) rankWide() bool { return c >= PREA }

// CommandSet is a set of commands.
type CommandSet uint8

func setOf(cmds ...Command) CommandSet {
	var s CommandSet
	for _, c := range cmds {
		s |= 1 << c
	}
	return s
}

// Has reports whether c is in the set.
func (s CommandSet) Has(c Command) bool { return s>>(c&(numCommands-1))&1 != 0 }

// Level is the level of the hierarchy at which a rule holds: between commands with the same nodes down to that level.
type Level uint8

// The levels. In HBM a rank is a pseudo channel.
const (
	LevelChannel Level = iota
	LevelRank
	LevelBankGroup
	LevelBank
	numLevels
)

var levelNames = enum.Of[Level]("dram level", "channel", "rank", "bankgroup", "bank")

func (l Level) String() string { return levelNames.Name(l) }

// Kind selects the preceding command that a rule counts from.
type Kind uint8

// EachPair counts from the last preceding command, FourthBack from the fourth
// last (the four-activate window), Sibling from the last one in another node of
// the level.
const (
	EachPair Kind = iota
	FourthBack
	Sibling
)

// window is the number of commands that FourthBack looks back.
const window = 4

// Rule is one timing rule: at Level, after a command of From, commands of To
// must wait Clocks, a sum of timing symbols (nRP) and numbers.
type Rule struct {
	Level    Level
	From, To CommandSet
	Clocks   string
	Kind     Kind
}

// Constraint is a resolved rule for one pair of commands.
type Constraint struct {
	Level    Level
	From, To Command
	Clocks   int
	Kind     Kind
}

// Rules returns the standard's table of timing rules.
func (s Standard) Rules() []Rule { return standardRules[s] }

// Constraints resolves the standard's rules with the spec's timing.
func (s Spec) Constraints() ([]Constraint, error) {
	var all []Constraint
	for _, r := range s.Standard.Rules() {
		clocks, err := s.Timing.eval(r.Clocks)
		if err != nil {
			return nil, err
		}
		for from := range numCommands {
			for to := range numCommands {
				if r.From.Has(from) && r.To.Has(to) {
					all = append(all, Constraint{r.Level, from, to, clocks, r.Kind})
				}
			}
		}
	}
	return all, nil
}

// eval computes a sum such as "nCL + nBL + 2 - nCWL". A sum below zero is no
// constraint: 0.
func (t Timing) eval(expr string) (int, error) {
	sum, sign := 0, 1
	for _, word := range strings.Fields(expr) {
		switch word {
		case "+":
			sign = 1
		case "-":
			sign = -1
		default:
			v, err := t.symbol(word)
			if err != nil {
				return 0, fmt.Errorf("dram timing %q: %w", expr, err)
			}
			sum += sign * v
		}
	}
	return max(sum, 0), nil
}

func (t Timing) symbol(word string) (int, error) {
	field, ok := strings.CutPrefix(word, "n")
	if !ok {
		return strconv.Atoi(word)
	}
	v := reflect.ValueOf(t).FieldByName(field)
	if !v.IsValid() {
		return 0, fmt.Errorf("no parameter %s", word)
	}
	return int(v.Int()), nil
}

// controllerSymbols are the parameters that the controller itself uses.
const controllerSymbols = "nCL nCWL nBL nRFC nREFI"

// validateTiming checks the range of each parameter, and that exactly those used by the standard are set: a value
// without effect would mislead.
func (s Spec) validateTiming() error {
	used := controllerSymbols
	for _, r := range s.Standard.Rules() {
		used += " " + r.Clocks
	}
	words := map[string]bool{}
	for _, w := range strings.Fields(used) {
		words[w] = true
	}
	v := reflect.ValueOf(s.Timing)
	for i := range v.NumField() {
		symbol, value := "n"+v.Type().Field(i).Name, int(v.Field(i).Int())
		if value < 0 || value > maxClocks {
			return fmt.Errorf("dram timing %s = %d: expected 0..%d", symbol, value, maxClocks)
		}
		if value != 0 && !words[symbol] {
			return fmt.Errorf("dram timing %s = %d: not used by standard %s", symbol, value, s.Standard)
		}
	}
	if s.Timing.BL < 1 {
		return fmt.Errorf("dram timing nBL = %d: expected at least 1", s.Timing.BL)
	}
	return nil
}
