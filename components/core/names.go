package core

import "heddle/internal/enum"

// Policy is a warp scheduling policy: an index of policies.
type Policy uint8

// Divider is the implementation of integer division.
type Divider uint8

// DividerDPI is the pipelined divider of the RTL's simulation model; DividerSerial is the iterative one that is
// synthesised.
const (
	DividerDPI Divider = iota
	DividerSerial
)

// Fence is the implementation of fences.
type Fence uint8

// FenceFlush walks the caches; FenceWait only waits for the core's outstanding accesses.
const (
	FenceFlush Fence = iota
	FenceWait
)

// DeviceBarrier is the effect on memory of a barrier across cores.
type DeviceBarrier uint8

// BarrierFlush waits for the core's requests and then invalidates its L1D; BarrierSignal leaves memory alone.
const (
	BarrierFlush DeviceBarrier = iota
	BarrierSignal
)

var (
	policyNames  = enum.Of[Policy]("core policy", namesOfPolicies()...)
	dividerNames = enum.Of[Divider]("core idiv", "dpi", "serial")
	fenceNames   = enum.Of[Fence]("core fence", "flush", "wait")
	barrierNames = enum.Of[DeviceBarrier]("core device_barrier", "flush", "signal")
)

func namesOfPolicies() (names []string) {
	for i := range policies {
		names = append(names, policies[i].name)
	}
	return names
}

// Names lists the policies, for the configuration.
func (Policy) Names() []string { return policyNames.List() }

func (p Policy) String() string  { return policyNames.Name(p) }
func (d Divider) String() string { return dividerNames.Name(d) }
func (f Fence) String() string   { return fenceNames.Name(f) }

func (b DeviceBarrier) String() string { return barrierNames.Name(b) }

// MarshalText writes the name that a configuration uses.
func (p Policy) MarshalText() ([]byte, error) { return policyNames.Marshal(p) }

// MarshalText writes the name that a configuration uses.
func (d Divider) MarshalText() ([]byte, error) { return dividerNames.Marshal(d) }

// MarshalText writes the name that a configuration uses.
func (f Fence) MarshalText() ([]byte, error) { return fenceNames.Marshal(f) }

// UnmarshalText reads the name that a configuration uses.
func (p *Policy) UnmarshalText(text []byte) error { return policyNames.Unmarshal(text, p) }

// UnmarshalText reads the name that a configuration uses.
func (d *Divider) UnmarshalText(text []byte) error { return dividerNames.Unmarshal(text, d) }

// UnmarshalText reads the name that a configuration uses.
func (f *Fence) UnmarshalText(text []byte) error { return fenceNames.Unmarshal(text, f) }

// MarshalText writes the name that a configuration uses.
func (b DeviceBarrier) MarshalText() ([]byte, error) { return barrierNames.Marshal(b) }

// UnmarshalText reads the name that a configuration uses.
func (b *DeviceBarrier) UnmarshalText(text []byte) error { return barrierNames.Unmarshal(text, b) }
