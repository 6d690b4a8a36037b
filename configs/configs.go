// Package configs defines the configuration: the typed tree of a machine, its presets, and the layering of files, the
// environment and --set.
//
// The parameters of a unit are the fields of its Spec, with their documentation; this package only assembles the units.
// It knows nothing that runs.
package configs

import (
	"cmp"

	"heddle/components/accel"
	_ "heddle/components/all"
	"heddle/components/cache"
	"heddle/components/concentrator"
	"heddle/components/core"
	"heddle/components/ctrlproc"
	"heddle/components/swarm"
	"heddle/configs/schema"
)

// Machine describes a timed machine.
type Machine struct {
	Sockets        int `key:"sockets" default:"1" min:"1" max:"256" unit:"sockets" doc:"Sockets, each with an L1I and an L1D for its cores."`
	CoresPerSocket int `key:"cores_per_socket" default:"1" min:"1" max:"16" unit:"cores"`

	Core Core        `key:"core" doc:"A core: pipeline, load-store unit, scratchpad, and the graph unit in its socket."`
	L1I  cache.Spec  `key:"l1i" defaults:"write_enable=false; response_queue=0" doc:"Instruction cache of a socket."`
	L1D  cache.Spec  `key:"l1d" doc:"Data cache of a socket."`
	L2   *cache.Spec `key:"l2" defaults:"bytes=1MiB; ways=8" doc:"Cache behind all sockets; absent: the L1s reach memory."`
	L3   *cache.Spec `key:"l3" defaults:"bytes=2MiB; ways=8"`

	SocketPort bool `key:"socket_port" default:"false"`

	Concentrator *concentrator.Spec `key:"concentrator"`

	CtrlProc ctrlproc.Spec `key:"ctrlproc"`

	Atomics core.Atomics `key:"atomics" doc:"Atomic instructions on memory; those on the scratchpad are performed there."`

	ToL1D    Wires  `key:"to_l1d" defaults:"request=1; response=2"`
	ToL2     Wires  `key:"to_l2" defaults:"request=3; response=5" doc:"Registers between L1D and L2; the L1I has one less each way."`
	ToL3     Wires  `key:"to_l3" defaults:"request=3; response=5" doc:"Registers between L2 and L3, as between L1 and L2."`
	ToMemory Wires  `key:"to_memory" defaults:"request=3; response=4"`
	Memory   Memory `key:"memory" doc:"Main memory."`

	Swarm *swarm.Spec `key:"swarm"`
}

// Docs has the long descriptions of keys.
func (Machine) Docs() map[string]string {
	return map[string]string{
		"cores_per_socket": "Cores of a socket. 1 gives every core L1s of its own. RTL: SOCKET_SIZE.",
		"l3":               "Cache behind the L2; absent: the L2 reaches memory. RTL: L3_CACHE_SIZE 2 MB.",
		"socket_port": "A socket's L1I shares the port of the next level with the L1D's first, in front of which " +
			"an arbiter prefers it; one of the registers of to_l2 is the arbiter's. false: each has a " +
			"port. RTL: true, with an L2.",
		"concentrator": "Shared path of some sockets' L1s and graph units to the L2, in front of to_l2; absent: " +
			"each has a port of the L2, which has 64, so that more than 32 sockets need one.",
		"ctrlproc": "The control processor's balancing between the cores' GraphPEGs (ACM TACO 2021, §3.3.2); " +
			"without them it does nothing.",
		"to_l1d": "Registers between a core and its L1D; the response of an L1D that cores share takes one " +
			"more, for its arbiter.",
		"to_memory": "Registers between the last cache and memory; the L1I has one less each way.",
		"swarm": "A machine of Swarm tiles (MICRO 2015) in place of all of the above but sockets, which are tiles, " +
			"and cores_per_socket, the cores of one: its cores have one warp of one thread and execute ordered " +
			"tasks. Each key says where its value comes from: MICRO 2015 and a second public description; MICRO " +
			"2015 alone, which could not be read here, so that the value is quoted from memory of its Table 3 and " +
			"is to be checked before it is cited; or ours, assumed. Simplified: coherence is MSI, without an " +
			"exclusive state; coalescers and splitters move tasks without traffic in the caches; instructions hit " +
			"in their cache. Absent: none.",
	}
}

// Core is a core and the unit in its accelerator socket.
type Core struct {
	core.Spec
	Unit GraphUnit
}

// GraphUnit is the content of a core's accelerator socket: the settings of one of the registered units.
type GraphUnit struct{ Spec accel.Spec } // nil: none

// Alternatives are the sections of the units.
func (GraphUnit) Alternatives() (list []schema.Alternative) {
	for _, u := range accel.Registered() {
		list = append(list, schema.Alternative{
			Key: u.Key, Doc: u.Doc, Section: u.New(), Aliases: u.Aliases(),
			Taken: "the core has a " + u.Title + ": its socket takes one graph unit",
		})
	}
	return list
}

// Is reports whether the unit has that name in isa.
func (g GraphUnit) Is(name string) bool {
	u := accel.KindOf(g.Spec)
	return u != nil && u.Name == name
}

// DefaultUnit returns the settings of a graph unit that is given without any.
func DefaultUnit(u *accel.Kind) accel.Spec {
	return Schema.DefaultSection("core." + u.Key).(accel.Spec)
}

// BarriersSignal reports whether the machine's barriers across cores do not order memory, so that programs need a fence
// before them.
func (m *Machine) BarriersSignal() bool {
	return m.Sockets*m.CoresPerSocket > 1 && m.Core.DeviceBarrier == core.BarrierSignal
}

// UnitShape describes the machine to core n's graph unit.
func (m *Machine) UnitShape(n int) accel.Shape {
	c := &m.Core
	return accel.Shape{
		Core: n, Cores: m.Sockets * m.CoresPerSocket, Warps: c.Warps, Threads: c.Threads, LineBytes: m.unitLine(),
		ScratchpadBytes: c.ScratchpadBytes, ScratchpadLatency: core.ScratchpadLatency,
	}
}

// Wires are the registers on the way between two levels.
type Wires struct {
	Request  int `key:"request" default:"1" min:"1" max:"1000" unit:"cycles"`
	Response int `key:"response" default:"1" min:"1" max:"1000" unit:"cycles" doc:"The way back."`

	RequestEntries  int `key:"request_entries" default:"0" min:"0" max:"2000" unit:"requests"`
	ResponseEntries int `key:"response_entries" default:"0" min:"0" max:"2000" unit:"responses"`
}

// Docs has the long descriptions of keys.
func (Wires) Docs() map[string]string {
	return map[string]string{
		"request": "From a request's leaving one level to its being seen by the next.",
		"response_entries": "The same of the way back; of an L1I it is never less than the answers that it awaits. RTL: " +
			"MRSQ_SIZE, the crossbar's two entries behind it, and the entries in front of them.",
		"request_entries": "Requests that these registers hold, one each at least. 0: one each, and one more. RTL: the " +
			"buffers of a cache's memory side, its arbiters and adapters, one or two entries each " +
			"(MEM_OUT_BUF, REQ_OUT_BUF).",
	}
}

// entries returns the capacity of a path with that many registers: one entry per register, and a skid entry, unless
// given.
func entries(registers, given int) int { return cmp.Or(given, registers+1) }

// Fit has the way hold a value a register. It is for who draws machines at random.
func (w *Wires) Fit() {
	for hold, registers := range map[*int]int{&w.RequestEntries: w.Request, &w.ResponseEntries: w.Response} {
		if *hold != 0 {
			*hold = max(*hold, registers)
		}
	}
}

// Shorter returns the path with that many registers fewer in each direction, and the corresponding capacity.
func (w Wires) Shorter(request, response int) Wires {
	w.Request, w.Response = w.Request-request, w.Response-response
	if w.RequestEntries > 0 {
		w.RequestEntries -= request
	}
	if w.ResponseEntries > 0 {
		w.ResponseEntries -= response
	}
	return w
}

// Entries returns the capacity of either direction.
func (w Wires) Entries() (request, response int) {
	return entries(w.Request, w.RequestEntries), entries(w.Response, w.ResponseEntries)
}
