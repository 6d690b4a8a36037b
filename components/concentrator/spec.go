package concentrator

import (
	"fmt"

	"heddle/internal/enum"
)

// Spec holds the parameters of a machine's concentrators.
type Spec struct {
	Sockets      int     `key:"sockets" default:"1" min:"1" max:"64" unit:"sockets" doc:"Sockets whose L1s and graph units share one. GPGPU-Sim: a cluster, of one core in its configurations of Fermi and Kepler (gpgpu_n_cores_per_cluster)."`
	Ports        int     `key:"ports" default:"1" min:"1" max:"16" unit:"ports" doc:"Ports to the next level that one has; each takes a request and brings an answer a cycle. RTL: L1_MEM_PORTS; GPGPU-Sim: 1."`
	Arbiter      Arbiter `key:"arbiter" default:"round_robin" oneof:"round_robin,priority"`
	Request      int     `key:"request" default:"1" min:"1" max:"1000" unit:"cycles" doc:"From a requester to the concentrator, beyond the way from there to the next level."`
	Response     int     `key:"response" default:"1" min:"1" max:"1000" unit:"cycles" doc:"The way back."`
	RequestQueue int     `key:"request_queue" default:"2" min:"1" max:"1024" unit:"requests" doc:"Entries in front of the concentrator, for each requester. RTL: REQ_OUT_BUF 3, a buffer of two."`
	LineCycles   int     `key:"line_cycles" default:"1" min:"1" max:"256" unit:"cycles"`
	Outstanding  int     `key:"outstanding" default:"64" min:"1" max:"4096" unit:"requests"`
}

// Docs has the long descriptions of keys.
func (Spec) Docs() map[string]string {
	return map[string]string{
		"outstanding": "Requests of a requester that have left and whose answers it has not taken: each has an " +
			"entry reserved. Ours: as many as an L2 bank of the Kepler machine has MSHRs, and twice those " +
			"of its L1Ds.",
		"line_cycles": "For which an answer with a line occupies a port; other answers, and requests, take one. GPGPU-Sim's " +
			"network: 5, a line of 128 bytes and 8 of address in flits of 32.",
		"arbiter": "Whose request a port takes. round_robin: after a requester's the next one's. priority: the " +
			"first that has one, of graph units that bypass their L1D, L1Is and L1Ds in this order. RTL: " +
			"ARBITER \"P\", the L1I before the L1D.",
	}
}

// Arbiter is the arbitration policy of a port.
type Arbiter uint8

// RoundRobin prefers the requester after the one served last, Priority the lowest.
const (
	RoundRobin Arbiter = iota
	Priority
)

var arbiters = enum.Of[Arbiter]("concentrator arbiter", "round_robin", "priority")

func (a Arbiter) String() string { return arbiters.Name(a) }

// MarshalText writes the name that a configuration uses.
func (a Arbiter) MarshalText() ([]byte, error) { return arbiters.Marshal(a) }

// UnmarshalText reads the name that a configuration uses.
func (a *Arbiter) UnmarshalText(text []byte) error { return arbiters.Unmarshal(text, a) }

// MaxRequesters is the largest number of requesters of a concentrator.
const MaxRequesters = 64

// Validate returns an error that names the first invalid field as configurations spell it.
func (s Spec) Validate() error {
	for _, v := range []struct {
		field           string
		value, min, max int
	}{
		{"sockets", s.Sockets, 1, 64}, {"ports", s.Ports, 1, 16}, {"request", s.Request, 1, 1000}, {"response", s.Response, 1, 1000},
		{"request_queue", s.RequestQueue, 1, 1024}, {"line_cycles", s.LineCycles, 1, 256}, {"outstanding", s.Outstanding, 1, 4096},
	} {
		if v.value < v.min || v.value > v.max {
			return fmt.Errorf("concentrator %s = %d: expected %d..%d", v.field, v.value, v.min, v.max)
		}
	}
	return arbiters.Check(s.Arbiter)
}

// RequestEntries returns the depth of a requester's link: a register per cycle of latency, and the queue behind it.
func (s Spec) RequestEntries() int { return s.Request - 1 + s.RequestQueue }
