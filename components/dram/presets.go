package dram

import (
	"fmt"
	"slices"
)

// ramulator21 holds the parameters that Ramulator 2.1 uses for every part.
var ramulator21 = Spec{
	Mapping: RoBaRaCoCh, PagePolicy: OpenPage, Scheduler: FRFCFS,
	ReadQueue: 32, WriteQueue: 32, DrainHigh: 26, DrainLow: 6,
	MergeWrites: true, Refresh: true,
}

// asRamulator20 changes a spec to the behaviour of Ramulator 2.0's controller.
func asRamulator20(s Spec) Spec {
	s.ReadQueue, s.WriteQueue = 33, 33
	s.MergeWrites, s.StallOnBlockedPrecharge, s.OneReadAClock = false, true, true
	s.CommandBus = SingleBus
	return s
}

// presets in the order of their names. All but hbm3-5.2gbps, gddr5 and ideal are
// checked against Ramulator 2 (see the package documentation).
var presets = []Spec{
	hbm2At2Gbps(), hbm2At2GbpsR20(), hbm2JEDEC(), hbm3At5Gbps(), ddr4At3200(), ddr4At3200R20(), gddr6(), gddr5(), ideal(),
}

// Presets returns the presets' names.
func Presets() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.Preset
	}
	return names
}

// Preset returns the spec of that name.
func Preset(name string) (Spec, error) {
	i := slices.IndexFunc(presets, func(s Spec) bool { return s.Preset == name })
	if i < 0 {
		return Spec{}, fmt.Errorf("dram preset %q: expected one of %v", name, Presets())
	}
	return presets[i], nil
}

// hbm2At2Gbps is the physical machine's DRAM: the timing of Vortex's
// HBM2_2Gbps (Ramulator 2.0 preset) with refresh and the split command bus, as
// configuration r21_hbm2v. 8 channels of 32 GB/s.
func hbm2At2Gbps() Spec {
	s := ramulator21
	s.Preset, s.Standard, s.TCKps = "hbm2-2gbps", HBM2, 1000
	s.Channels, s.Ranks, s.BankGroups, s.Banks, s.Rows, s.Columns, s.LineBytes = 8, 2, 4, 4, 1<<16, 32, 64
	s.CommandBus = SplitBus
	s.Timing = Timing{
		BL: 4, CL: 7, CWL: 2, RCDRD: 7, RCDWR: 7, RP: 7, RAS: 17, RC: 19, RTPL: 3, WR: 8,
		CCDS: 1, CCDL: 2, RRDS: 2, RRDL: 3, FAW: 15, WTRS: 3, WTRL: 4, RFC: 160, REFI: 3900,
	}
	return s
}

// hbm2At2GbpsR20 is the DRAM that Vortex's simulators link (configuration r20_hbm2): no
// refresh, since Ramulator 2.0's refresh manager finds no rank in HBM2. Only for
// parity with them.
func hbm2At2GbpsR20() Spec {
	s := asRamulator20(hbm2At2Gbps())
	s.Preset, s.Standard, s.Refresh = "hbm2-2gbps-r20", HBM2R20, false
	s.Rows = 1 << 15
	s.Timing.RTPS, s.Timing.RFC = 2, 350
	return s
}

// hbm2JEDEC has Ramulator 2.1's own HBM2_2000Mbps timing (r21_hbm2j): bursts of
// two clocks, 32 B lines, CL 14.
func hbm2JEDEC() Spec {
	s := hbm2At2Gbps()
	s.Preset, s.LineBytes = "hbm2-2gbps-jedec", 32
	s.Timing = Timing{
		BL: 2, CL: 14, CWL: 5, RCDRD: 14, RCDWR: 12, RP: 14, RAS: 34, RC: 48, RTPL: 5, WR: 16,
		CCDS: 2, CCDL: 4, RRDS: 4, RRDL: 4, FAW: 15, WTRS: 6, WTRL: 8, RFC: 350, REFI: 3900,
	}
	return s
}

// hbm3At5Gbps is a stack of HBM3 at 5.2 Gb/s a pin (JESD238): 16 channels of two pseudo channels of 32 bits, 16 GB. The
// command clock is a quarter of the data rate (5.236 Gb/s, a memory clock of 2,619 MHz, as an H100 reports), so a burst
// of 8 beats, 32 B, takes two clocks of a pseudo channel's bus. A request here is 64 B: two bursts of one row, as an
// H100 reads even for one word (docs/results/silicon). The second waits for CCDL = 4, while another bank group's bursts
// take the bus in between; hence BL 4 and CCDS 4, and CCDL 8.
//
// The other times are those of Ramulator 2's users for this rate, after JESD238A (scale-snu/attacc_simulator,
// HBM3_5.2Gbps): CL, RCD, RP 14.5 ns, RAS 35, RC 48, WR 16, CWL 6, RTP 8, RRD 2 and 4, WTR 8 and 11 clocks, REFI
// 3.9 µs. FAW is not: the 30 ns there allow 21 G activations a second of 160 pseudo channels, and an H100 reads 32.5 G
// random 64-byte blocks a second. It is HBM2's 16 ns (JESD235), which allow 39 G. RFC is JESD235's 350 ns for 8 Gb a
// channel. The two halves of an 8-high stack (stack IDs) are further banks: 32 of 1 KB rows a pseudo channel.
//
// Neighbouring lines go to channels, pseudo channels, bank groups and banks before a row is used again: one stream
// would otherwise fill a row of one pseudo channel, at half of a channel's rate.
func hbm3At5Gbps() Spec {
	s := ramulator21
	s.Preset, s.Standard, s.TCKps, s.Mapping = "hbm3-5.2gbps", HBM3, 764, RoCoBaRaCh
	s.Channels, s.Ranks, s.BankGroups, s.Banks, s.Rows, s.Columns, s.LineBytes = 16, 2, 4, 8, 1<<14, 16, 64
	s.CommandBus = SplitBus
	s.Timing = Timing{
		BL: 4, CL: 19, CWL: 6, RCDRD: 19, RCDWR: 19, RP: 19, RAS: 45, RC: 63, RTPL: 8, WR: 21,
		CCDS: 4, CCDL: 8, RRDS: 2, RRDL: 4, FAW: 21, WTRS: 8, WTRL: 11, RFC: 455, REFI: 5070,
	}
	return s
}

// ddr4At3200 is DDR4_8Gb_x8 at DDR4_3200AA, Ramulator 2.1. One channel of
// 25.6 GB/s.
func ddr4At3200() Spec {
	s := ramulator21
	s.Preset, s.Standard, s.TCKps = "ddr4-3200", DDR4, 625
	s.Channels, s.Ranks, s.BankGroups, s.Banks, s.Rows, s.Columns, s.LineBytes = 1, 1, 4, 4, 1<<16, 128, 64
	s.Timing = Timing{
		BL: 4, CL: 22, CWL: 16, RCD: 22, RP: 22, RAS: 52, RC: 74, RTP: 12, WR: 24, CCDS: 4, CCDL: 8,
		RRDS: 4, RRDL: 8, FAW: 34, WTRS: 4, WTRL: 12, CS: 2, RFC: 576, REFI: 12480,
	}
	return s
}

// ddr4At3200R20 is the same in Ramulator 2.0.
func ddr4At3200R20() Spec {
	s := asRamulator20(ddr4At3200())
	s.Preset = "ddr4-3200-r20"
	return s
}

// gddr6 is GDDR6_8Gb_x16 at GDDR6_14000_1350mV_double, Ramulator 2.1. A channel
// of 16 bits and 28 GB/s.
func gddr6() Spec {
	s := ramulator21
	s.Preset, s.Standard, s.TCKps = "gddr6", GDDR6, 570
	s.Channels, s.Ranks, s.BankGroups, s.Banks, s.Rows, s.Columns, s.LineBytes = 8, 1, 4, 4, 1<<14, 64, 32
	s.Timing = Timing{
		BL: 2, CL: 24, CWL: 6, RCDRD: 27, RCDWR: 16, RP: 27, RAS: 53, RC: 79, RTP: 4, WR: 27, CCDS: 2, CCDL: 4,
		RRDS: 8, RRDL: 8, FAW: 29, WTRS: 9, WTRL: 11, PPD: 1, RFC: 211, REFI: 3333,
	}
	return s
}

// gddr5 is a 1 Gb x32 part at 4 Gb/s, 16 GB/s a channel. NOT checked against
// Ramulator 2, which has no GDDR5. RRD, RCD, RAS, RP, RC, CL, CWL, WTR, WR, CCDL
// and RTP are those GPGPU-Sim's GTX 480 configuration gives for Hynix
// H5GQ1H24AFR; RCDWR, FAW, PPD, RFC and REFI, which it lacks, and the
// organisation are Ramulator 1's GDDR5_4000 and GDDR5_1Gb_x32. The device's
// 32-activate window is not modelled.
func gddr5() Spec {
	s := ramulator21
	s.Preset, s.Standard, s.TCKps = "gddr5", GDDR5, 1000
	s.Channels, s.Ranks, s.BankGroups, s.Banks, s.Rows, s.Columns, s.LineBytes = 8, 1, 4, 4, 1<<12, 64, 32
	s.Timing = Timing{
		BL: 2, CL: 12, CWL: 4, RCDRD: 12, RCDWR: 10, RP: 12, RAS: 28, RC: 40, RTP: 2, WR: 12, CCDS: 2, CCDL: 3,
		RRDS: 6, RRDL: 6, FAW: 23, WTRS: 5, WTRL: 5, PPD: 1, RFC: 110, REFI: 3900,
	}
	return s
}

// ideal answers 100 clocks after arrival, 16 B per clock and channel. It resembles no part; it serves to separate
// effects.
func ideal() Spec {
	return Spec{
		Preset: "ideal", Standard: Ideal, TCKps: 1000,
		Channels: 8, Ranks: 1, BankGroups: 1, Banks: 1, Rows: 1 << 24, Columns: 1, LineBytes: 64,
		ReadQueue: 128, WriteQueue: 128, IdealLatency: 100, IdealInterval: 4,
	}
}
