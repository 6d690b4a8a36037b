package testenv

import (
	"os"
	"strconv"
	"testing"
)

// LongVariable has tests that are long by nature run whole: random campaigns draw as many cases as evidence needs, all
// combinations run, and so does what is skipped otherwise. 1 is that much; n draws n times as many cases.
const LongVariable = "HEDDLE_LONG"

// SeedVariable is the seed from which random campaigns draw instead of their own.
const SeedVariable = "HEDDLE_SEED"

// Long returns how many times the long size of a campaign is asked for; 0 means the short one.
func Long(t testing.TB) uint64 {
	t.Helper()
	return number(t, LongVariable, 0)
}

// NeedLong skips a test that runs only with LongVariable, and says why.
func NeedLong(t testing.TB, why string) {
	t.Helper()
	if Long(t) == 0 {
		t.Skipf("skipped: %s (%s=1, as make long sets it, runs it)", why, LongVariable)
	}
}

// Cases returns how many cases a campaign draws: short, or with LongVariable a multiple of long.
func Cases(t testing.TB, short, long uint64) uint64 {
	t.Helper()
	if n := Long(t); n > 0 {
		return n * long
	}
	return short
}

// Seed returns the seed of a campaign: otherwise, unless SeedVariable names one.
func Seed(t testing.TB, otherwise uint64) uint64 {
	t.Helper()
	return number(t, SeedVariable, otherwise)
}

func number(t testing.TB, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		t.Fatalf("%s=%s: expected an integer from 0 to 4294967295", name, text)
	}
	return n
}

// Some returns a few of all values, for each nth case others, so that the cases together have all; with LongVariable
// each has all.
func Some[T any](t testing.TB, nth, few int, all []T) (some []T) {
	t.Helper()
	if Long(t) > 0 {
		return all
	}
	for i := range min(few, len(all)) {
		some = append(some, all[(nth*few+i)%len(all)])
	}
	return some
}
