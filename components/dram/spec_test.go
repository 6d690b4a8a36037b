package dram

import (
	"encoding"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPresetsAreValid(t *testing.T) {
	for _, name := range Presets() {
		s := preset(t, name)
		assert.NoError(t, s.Validate(), name)
		assert.Equal(t, name, s.Preset)
	}
	_, err := Preset("ddr9")
	assert.ErrorContains(t, err, `dram preset "ddr9": expected one of [hbm2-2gbps `)
}

// TestValidate breaks one field at a time.
func TestValidate(t *testing.T) {
	for want, change := range map[string]func(*Spec){
		"tck_ps = 0":           func(s *Spec) { s.TCKps = 0 },
		"channels = 3":         func(s *Spec) { s.Channels, s.Mapping = 3, ChRaBaRoCo },
		"ranks = 32":           func(s *Spec) { s.Ranks = 32 },
		"bank_groups = 0":      func(s *Spec) { s.BankGroups = 0 },
		"banks = 5":            func(s *Spec) { s.Banks = 5 },
		"rows = -1":            func(s *Spec) { s.Rows = -1 },
		"columns = 12":         func(s *Spec) { s.Columns = 12 },
		"line_bytes = 48":      func(s *Spec) { s.LineBytes = 48 },
		"read_queue = 0":       func(s *Spec) { s.ReadQueue = 0 },
		"write_queue = 5000":   func(s *Spec) { s.WriteQueue = 5000 },
		"drain_high = 33":      func(s *Spec) { s.DrainHigh = 33 },
		"drain_low = 26":       func(s *Spec) { s.DrainLow = 26 },
		"standard = 99":        func(s *Spec) { s.Standard = 99 },
		"mapping = 99":         func(s *Spec) { s.Mapping = 99 },
		"page_policy = 9":      func(s *Spec) { s.PagePolicy = 9 },
		"scheduler = 9":        func(s *Spec) { s.Scheduler = 9 },
		"command_bus = 9":      func(s *Spec) { s.CommandBus = 9 },
		"nCL = -1":             func(s *Spec) { s.Timing.CL = -1 },
		"nBL = 0":              func(s *Spec) { s.Timing.BL = 0 },
		"nRCD = 7: not used":   func(s *Spec) { s.Timing.RCD = 7 },
		"nREFI = 320":          func(s *Spec) { s.Timing.REFI = 320 },
		"not used by standard": func(s *Spec) { s.IdealLatency = 7 },
		"ideal_latency = 0":    func(s *Spec) { *s = ideal(); s.IdealLatency = 0 },
		"ideal_interval = -1":  func(s *Spec) { *s = ideal(); s.IdealInterval = -1 },
		"no refresh":           func(s *Spec) { *s = ideal(); s.Refresh = true },
		"gddr6 has 1":          func(s *Spec) { *s = gddr6(); s.Ranks = 2 },
	} {
		s := preset(t, "hbm2-2gbps")
		change(&s)
		assert.ErrorContains(t, s.Validate(), want)
		_, err := NewChannel(s)
		assert.Error(t, err, want)
	}
}

// TestNames reads every name that is written.
func TestNames(t *testing.T) {
	for v, into := range map[encoding.TextMarshaler]encoding.TextUnmarshaler{
		GDDR5: new(Standard), ClosedPage: new(PagePolicy), FRFCFSRowHit: new(Scheduler),
		SplitBus: new(CommandBus), ChRaBaRoCo: new(Mapping),
	} {
		text, err := v.MarshalText()
		require.NoError(t, err)
		require.NoError(t, into.UnmarshalText(text))
		back, err := into.(encoding.TextMarshaler).MarshalText()
		require.NoError(t, err)
		assert.Equal(t, text, back)
		assert.ErrorContains(t, into.UnmarshalText([]byte("nonsense")), "expected one of")
	}
}

// TestMappings: every mapping is a bijection, wraps, and puts neighbours where
// its name says.
func TestMappings(t *testing.T) {
	for _, channels := range []int{3, 10, 36} {
		s := Spec{Channels: channels, Ranks: 2, BankGroups: 2, Banks: 2, Rows: 8, Columns: 4}
		lines := uint64(channels * 2 * 2 * 2 * 8 * 4)
		for _, s.Mapping = range []Mapping{RoBaRaCoCh, RoCoBaRaCh, RoBaRaCoChXor} {
			mapper, seen := NewMapper(s), map[Location]bool{}
			for line := range lines {
				at := mapper.Map(line)
				assert.Equal(t, at.Channel, mapper.Channel(line))
				assert.Less(t, at.Bank, 8)
				seen[at] = true
			}
			assert.Len(t, seen, int(lines), "%s, %d channels", s.Mapping, channels)
		}
		mapper, used := NewMapper(s), map[int]bool{}
		for i := range uint64(8 * channels) {
			used[mapper.Channel(i*uint64(channels))] = true
		}
		assert.Len(t, used, channels, "a stride of as many lines")
	}
	s := Spec{Channels: 2, Ranks: 2, BankGroups: 2, Banks: 4, Rows: 8, Columns: 4}
	lines := uint64(s.Channels * s.Ranks * s.BankGroups * s.Banks * s.Rows * s.Columns)
	for m := range mappings.List() {
		s.Mapping = Mapping(m)
		mapper := NewMapper(s)
		seen := map[Location]bool{}
		for line := range lines {
			at := mapper.Map(line)
			assert.Equal(t, at.Channel, mapper.Channel(line))
			assert.Equal(t, at, mapper.Map(line+lines))
			assert.Less(t, at.Bank, s.Ranks*s.BankGroups*s.Banks)
			seen[at] = true
		}
		assert.Len(t, seen, int(lines), s.Mapping)
	}
	testInterleave(t)
	one := map[Mapping]Location{
		RoBaRaCoCh: {Channel: 1}, RoCoBaRaCh: {Channel: 1}, ChRaBaRoCo: {Column: 1}, RoBaRaCoChXor: {Channel: 1},
	}
	eight := map[Mapping]Location{ // past the channel and the column bits
		RoBaRaCoCh: {Bank: 8}, RoCoBaRaCh: {Bank: 1 << 0}, ChRaBaRoCo: {Row: 2}, RoBaRaCoChXor: {Bank: 8},
	}
	for m, want := range one {
		s.Mapping = m
		mapper := NewMapper(s)
		assert.Equal(t, want, mapper.Map(1), m)
		assert.Equal(t, eight[m], mapper.Map(8), m)
	}
}

// testInterleave: neighbours of an interleaved region are columns of one row, regions follow the mapping, and every
// line has a place of its own.
func testInterleave(t *testing.T) {
	for _, channels := range []int{1, 2, 3, 10, 16} {
		for _, mapping := range []Mapping{RoBaRaCoCh, RoCoBaRaCh, RoBaRaCoChXor} {
			s := Spec{Channels: channels, Ranks: 2, BankGroups: 2, Banks: 2, Rows: 8, Columns: 16, LineBytes: 32}
			s.Mapping = mapping
			for s.Interleave = 32; s.Interleave <= 16*32; s.Interleave *= 2 {
				whole, together := s, s.Interleave/32
				whole.Interleave, whole.Columns = 0, s.Columns/together
				mapper, regions, seen := NewMapper(s), NewMapper(whole), map[Location]bool{}
				lines := channels * 2 * 2 * 2 * 8 * 16
				for line := range lines {
					at, want := mapper.Map(uint64(line)), regions.Map(uint64(line/together))
					want.Column = want.Column*uint32(together) + uint32(line%together)
					require.Equal(t, want, at, "%s, %d channels, %d bytes, line %d", mapping, channels, s.Interleave, line)
					require.Equal(t, at.Channel, mapper.Channel(uint64(line)))
					seen[at] = true
				}
				require.Len(t, seen, lines)
			}
		}
	}
}

// TestInterleaveInRange: what is no power of two from an access to a row is refused.
func TestInterleaveInRange(t *testing.T) {
	for n, says := range map[int]string{
		0: "", 32: "", 256: "", 2048: "", 16: "from 32", 96: "power of two", 4096: "to 2048",
	} {
		s := preset(t, "gddr5")
		s.Interleave = n
		if err := s.Validate(); says == "" {
			assert.NoError(t, err, n)
		} else {
			assert.ErrorContains(t, err, says)
		}
	}
	s := preset(t, "gddr5")
	s.Mapping, s.Interleave = ChRaBaRoCo, 256
	assert.ErrorContains(t, s.Validate(), "interleave = 256: with mapping ChRaBaRoCo")
}

func TestIdeal(t *testing.T) {
	s := preset(t, "ideal")
	c := newChannel(t, s)
	for id := range uint64(3) {
		require.True(t, c.Enqueue(10, Request{ID: id, Line: id, Write: id == 1}))
	}
	for id := range uint64(3) {
		due := uint64(10 + s.IdealLatency + int(id)*s.IdealInterval)
		require.Equal(t, due, c.NextEvent(10))
		_, ok := c.PopDone(due - 1)
		require.False(t, ok)
		d, ok := c.PopDone(due)
		require.True(t, ok)
		assert.Equal(t, Done{ID: id, Clock: due, Write: id == 1}, d)
	}
	assert.Equal(t, never, c.NextEvent(200))
}

// TestBackPressure: full queues refuse, and an owner that pops nothing gets
// refusals, never a lost completion.
func TestBackPressure(t *testing.T) {
	for _, name := range Presets() {
		s := preset(t, name)
		c := newChannel(t, s)
		accepted := 0
		for clock := uint64(0); clock < 20_000; clock++ {
			c.Tick(clock)
			for c.Enqueue(clock, Request{Line: uint64(accepted), Write: accepted%3 == 0}) {
				accepted++
			}
		}
		popped := 0
		for _, ok := c.PopDone(20_000); ok; _, ok = c.PopDone(20_000) {
			popped++
		}
		assert.Equal(t, accepted, popped, name)
		st := c.Stats(20_000)
		assert.Positive(t, st.ReadsFull+st.WritesFull, name)
	}
}

// TestQueueSizes: a queue takes as many as it has entries in one clock.
func TestQueueSizes(t *testing.T) {
	s := preset(t, "hbm2-2gbps-r20")
	for _, write := range []bool{false, true} {
		c, n := newChannel(t, s), 0
		for c.Enqueue(0, Request{Line: uint64(n), Write: write}) {
			n++
		}
		assert.Equal(t, 33, n)
	}
}

// TestNoAllocation: steady state allocates nothing.
func TestNoAllocation(t *testing.T) {
	for _, name := range Presets() {
		s := preset(t, name)
		s.Channels = 1
		c := newChannel(t, s)
		clock, lines := uint64(0), lcg(1)
		assert.Zero(t, testing.AllocsPerRun(2000, func() {
			c.Tick(clock)
			for _, ok := c.PopDone(clock); ok; _, ok = c.PopDone(clock) {
			}
			c.Enqueue(clock, Request{Line: lines.next(), Write: clock%3 == 0})
			clock++
		}), name)
	}
}

// The bandwidths that the presets' comments and their parts' datasheets give.
func TestPeakBytes(t *testing.T) {
	for name, gigabytes := range map[string]float64{
		"hbm2-2gbps": 8 * 32, "hbm2-2gbps-jedec": 8 * 32, "hbm3-5.2gbps": 3350. / 5, "ddr4-3200": 25.6, "gddr6": 8 * 28.07, "gddr5": 8 * 16, "ideal": 8 * 16,
	} {
		s, err := Preset(name)
		require.NoError(t, err)
		require.InEpsilon(t, gigabytes, s.PeakBytes()*1000/float64(s.TCKps), 0.001, name)
	}
	s, err := Preset("ideal")
	require.NoError(t, err)
	s.IdealInterval = 0
	require.Zero(t, s.PeakBytes(), "no limit")
}
