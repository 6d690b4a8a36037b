package core

import "fmt"

// Policy is a way to choose among warps: a row of policies.
type Policy uint8

// Divider says how integer division is built.
type Divider uint8

// DividerDPI is the pipelined divider of the RTL's simulation model, DividerSerial
// the iterative one that is synthesised.
const (
	DividerDPI Divider = iota
	DividerSerial
)

// Fence says what a fence does.
type Fence uint8

// FenceFlush walks the caches, FenceWait waits for what the core has outstanding.
const (
	FenceFlush Fence = iota
	FenceWait
)

var (
	dividerNames = []string{"dpi", "serial"}
	fenceNames   = []string{"flush", "wait"}
)

func policyNames() (names []string) {
	for i := range policies {
		names = append(names, policies[i].name)
	}
	return names
}

// Names lists the policies, for the configuration.
func (Policy) Names() []string { return policyNames() }

func (p Policy) String() string  { return nameOf(policyNames(), p) }
func (d Divider) String() string { return nameOf(dividerNames, d) }
func (f Fence) String() string   { return nameOf(fenceNames, f) }

// MarshalText writes the name that a configuration uses.
func (p Policy) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// MarshalText writes the name that a configuration uses.
func (d Divider) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// MarshalText writes the name that a configuration uses.
func (f Fence) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads the name that a configuration uses.
func (p *Policy) UnmarshalText(text []byte) error { return parse("policy", policyNames(), text, p) }

// UnmarshalText reads the name that a configuration uses.
func (d *Divider) UnmarshalText(text []byte) error { return parse("idiv", dividerNames, text, d) }

// UnmarshalText reads the name that a configuration uses.
func (f *Fence) UnmarshalText(text []byte) error { return parse("fence", fenceNames, text, f) }

func nameOf[T ~uint8](names []string, v T) string {
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("(%d)", v)
}

func parse[T ~uint8](what string, names []string, text []byte, out *T) error {
	for i, n := range names {
		if n == string(text) {
			*out = T(i)
			return nil
		}
	}
	return fmt.Errorf("core %s = %q: expected one of %v", what, text, names)
}
