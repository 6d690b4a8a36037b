package testenv

import (
	"os"
	"strconv"
	"testing"
)

// LongVariable enables the full size of long tests: random campaigns draw as many cases as evidence requires, all
// combinations run, and skipped tests run. 1 is that size; n draws n times as many cases. 0 keeps the short sizes, but
// skips no slow test (NeedSlow): .ci/run runs them so. Without it half of the short sizes run.
const LongVariable = "HEDDLE_LONG"

// SeedVariable overrides the seed of random campaigns.
const SeedVariable = "HEDDLE_SEED"

// Long returns the requested multiple of a campaign's long size; 0: the short size.
func Long(t testing.TB) uint64 {
	t.Helper()
	return number(t, LongVariable, 0)
}

// NeedLong skips a test that runs only with LongVariable, and gives the reason.
func NeedLong(t testing.TB, why string) {
	t.Helper()
	if Long(t) == 0 {
		t.Skipf("skipped: %s (%s=1, as make long sets it, runs it)", why, LongVariable)
	}
}

// NeedSlow skips a test of several seconds that go test ./... can do without, since others pass through the same code:
// campaigns, mutations, programs that compilers build, browsers. It gives the reason. It runs if LongVariable is set to
// any number: .ci/run sets it for all tests that call NeedSlow.
func NeedSlow(t testing.TB, why string) {
	t.Helper()
	if !Slow() {
		t.Skipf("skipped: %s (%s=0, as .ci/run sets it, runs it)", why, LongVariable)
	}
}

// Slow reports whether slow tests run.
func Slow() bool { return os.Getenv(LongVariable) != "" }

// Cases returns the number of cases that a campaign draws: half of short, short, or a multiple of long, as LongVariable
// says.
func Cases(t testing.TB, short, long uint64) uint64 {
	t.Helper()
	if n := Long(t); n > 0 {
		return n * long
	}
	if !Slow() {
		return (short + 1) / 2
	}
	return short
}

// Seed returns the seed of a campaign: SeedVariable's if set, else otherwise.
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

// Some returns a few of all values (half as many without LongVariable), different ones for each nth case, so that the
// cases together cover all; with 1 or more each case has all.
func Some[T any](t testing.TB, nth, few int, all []T) (some []T) {
	t.Helper()
	if Long(t) > 0 {
		return all
	}
	if !Slow() {
		few = (few + 1) / 2
	}
	for i := range min(few, len(all)) {
		some = append(some, all[(nth*few+i)%len(all)])
	}
	return some
}
