package configs

import (
	"fmt"

	"heddle/components/dram"
)

// Memory is main memory. The preset supplies values that are "preset" or 0.
type Memory struct {
	Preset     string  `key:"preset" default:"hbm2-2gbps" oneof:"vortex-harness,hbm2-2gbps,hbm2-2gbps-r20,hbm2-2gbps-jedec,hbm3-5.2gbps,ddr4-3200,ddr4-3200-r20,gddr6,gddr5,ideal"`
	Channels   int     `key:"channels" default:"0" min:"0" max:"128" unit:"channels"`
	ClockRatio float64 `key:"clock_ratio" default:"0" min:"0" max:"100" unit:"core cycles"`
	Scheduler  string  `key:"scheduler" default:"preset" oneof:"preset,frfcfs,row-hit-first,fcfs"`
	PagePolicy string  `key:"page_policy" default:"preset" oneof:"preset,open,closed"`
	Mapping    string  `key:"mapping" default:"preset" oneof:"preset,RoBaRaCoCh,RoCoBaRaCh,ChRaBaRoCo,RoBaRaCoChXor"`
	Interleave int     `key:"interleave" default:"32" min:"32" max:"8KiB" pow2:"true" unit:"bytes"`
	Refresh    string  `key:"refresh" default:"preset" oneof:"preset,on,off"`
	ReadQueue  int     `key:"read_queue" default:"0" min:"0" max:"4096" unit:"requests" doc:"Reads that a channel holds. 0: the preset's, 32."`
	WriteQueue int     `key:"write_queue" default:"0" min:"0" max:"4096" unit:"requests"`
	DrainHigh  int     `key:"drain_high" default:"0" min:"0" max:"4096" unit:"requests"`
	DrainLow   int     `key:"drain_low" default:"-1" min:"-1" max:"4095" unit:"requests"`
}

// Docs has the long descriptions of keys.
func (Memory) Docs() map[string]string {
	return map[string]string{
		"channels": "DRAM channels; a power of two with mapping ChRaBaRoCo. 0: the preset's; vortex-harness has " +
			"2, as RTL's PLATFORM_MEMORY_NUM_BANKS.",
		"clock_ratio": "Core clock over DRAM clock. 0: the preset's clock beside a core of 1 GHz; hbm2: 1, " +
			"hbm3-5.2gbps: 0.764, ddr4-3200: 0.625. Timing in DRAM clocks stays as it is.",
		"page_policy": "open: a row stays open until another is wanted or a refresh is due; every preset's. " +
			"closed: it is closed with the last queued access to it.",
		"refresh":     "All-bank refresh of each rank at its interval. Presets: on, but hbm2-2gbps-r20.",
		"write_queue": "Writes that a channel holds. 0: the preset's, 32.",
		"drain_high":  "From this many queued writes on, writes go before reads. 0: the preset's, 26.",
		"drain_low": "With this many queued writes or fewer, and a read that waits, reads go first again. -1: " +
			"the preset's, 6.",
		"preset": "A DRAM (see package dram for timing and sources), or vortex-harness: the memory model of " +
			"Vortex's RTL and SimX simulations, for cycle parity with them and not a physical memory.",
		"scheduler": "Order of requests. frfcfs: the oldest whose next command is ready, as Ramulator 2; every " +
			"preset's. row-hit-first: and no row is closed that any queued request waits for. fcfs: in " +
			"order of arrival; only the oldest request of a queue may open a row.",
		"mapping": "How a line's number is cut into row, bank, rank, column and channel, from its high to its " +
			"low bits; Xor: bank and rank XORed with the low row bits. Presets: RoBaRaCoCh; hbm3-5.2gbps " +
			"RoCoBaRaCh.",
		"interleave": "Consecutive bytes in one row of one channel, before the next channel's, up to a row; at least an " +
			"access of the DRAM, of 32 or 64 bytes. More is not for mapping ChRaBaRoCo. GPGPU-Sim's " +
			"configurations: 256 (dramid@8).",
	}
}

// Harness is the memory preset for parity with Vortex's simulations.
const Harness = "vortex-harness"

// leastInterleave is the default of memory.interleave, which no DRAM's access is below.
const leastInterleave = 32

// asPreset stands for the preset's value.
const asPreset = "preset"

// Spec returns the DRAM: the preset with the differing keys applied. It is for presets other than Harness.
func (m Memory) Spec() (dram.Spec, error) {
	s, err := dram.Preset(m.Preset)
	if err != nil {
		return s, err
	}
	for _, f := range []struct {
		to           *int
		value, unset int
	}{
		{&s.Channels, m.Channels, 0}, {&s.ReadQueue, m.ReadQueue, 0}, {&s.WriteQueue, m.WriteQueue, 0},
		{&s.DrainHigh, m.DrainHigh, 0}, {&s.DrainLow, m.DrainLow, -1},
	} {
		if f.value != f.unset {
			*f.to = f.value
		}
	}
	if m.Interleave > s.LineBytes {
		s.Interleave = m.Interleave
	}
	for _, f := range []struct {
		to    interface{ UnmarshalText([]byte) error }
		value string
	}{{&s.Scheduler, m.Scheduler}, {&s.PagePolicy, m.PagePolicy}, {&s.Mapping, m.Mapping}} {
		if f.value != asPreset {
			if err := f.to.UnmarshalText([]byte(f.value)); err != nil {
				return s, err
			}
		}
	}
	if m.Refresh != asPreset {
		s.Refresh = m.Refresh == "on"
	}
	return s, s.Validate()
}

// isSet returns the keys that differ from the presets' defaults, in order; those that an ideal memory also has come
// first.
func (m *Memory) isSet() (ideal, timed []string) {
	for _, k := range []struct {
		key          string
		set, ofIdeal bool
	}{
		{"clock_ratio", m.ClockRatio != 0, true}, {"mapping", m.Mapping != asPreset, true},
		{"interleave", m.Interleave != leastInterleave, false},
		{"read_queue", m.ReadQueue != 0, true}, {"write_queue", m.WriteQueue != 0, true},
		{"scheduler", m.Scheduler != asPreset, false}, {"page_policy", m.PagePolicy != asPreset, false},
		{"refresh", m.Refresh != asPreset, false}, {"drain_high", m.DrainHigh != 0, false}, {"drain_low", m.DrainLow != -1, false},
	} {
		switch {
		case k.set && k.ofIdeal:
			ideal = append(ideal, k.key)
		case k.set:
			timed = append(timed, k.key)
		}
	}
	return ideal, timed
}

func memoryFits(m *Machine) (key, why string) {
	if n := m.Memory.Channels; n&(n-1) != 0 && (m.Memory.Preset == Harness ||
		m.Memory.Mapping == dram.ChRaBaRoCo.String()) {
		return "memory.channels", fmt.Sprintf("%d: expected 0 or a power of two with memory.preset %s and memory.mapping %s",
			n, m.Memory.Preset, m.Memory.Mapping)
	}
	ideal, timed := m.Memory.isSet()
	switch {
	case m.Memory.Preset == Harness:
		return harnessFits(m, append(ideal, timed...))
	case m.Memory.Preset == "ideal" && len(timed) > 0:
		return "memory." + timed[0], "memory.preset ideal has no rows, no refresh and one queue: it answers in order of " +
			"arrival"
	}
	s, err := m.Memory.Spec()
	if err != nil {
		return "memory", err.Error()
	}
	if line := m.MemoryLine(); line < s.LineBytes {
		levels := m.levels()
		return levels[len(levels)-1].key + ".line_bytes",
			fmt.Sprintf("%d: a burst of memory.preset %s carries %d", line, m.Memory.Preset, s.LineBytes)
	}
	return "", ""
}

// harnessFits refuses any change to the harness: it is the memory of Vortex's simulations.
func harnessFits(m *Machine, set []string) (key, why string) {
	if m.MemoryLine() != 64 {
		return "memory.preset", "vortex-harness answers lines of 64 bytes only"
	}
	if len(set) > 0 {
		return "memory." + set[0], "memory.preset vortex-harness is the memory of Vortex's simulations, and cannot be " +
			"changed; choose a DRAM"
	}
	return "", ""
}
