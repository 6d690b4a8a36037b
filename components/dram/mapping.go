package dram

import (
	"math/bits"

	"heddle/internal/enum"
)

// Mapping is the split of a line number into a location, named from high to low bits: row, bank (with bank group below
// it), rank or pseudo channel, column, channel. Lines beyond the capacity wrap around.
//
// A number of channels that is no power of two has no bits of its own: the channel is a remainder, and the rest of the
// location is the quotient. The remainder is that of line + quotient, so that strides that share factors with the
// number of channels use all of them.
//
// With Spec.Interleave of more than a line, the lowest bits are the column's, so that so many neighbouring lines are in
// one row of one channel; the rest of the number is cut as the mapping says.
type Mapping uint8

// The mappings.
const (
	// RoBaRaCoCh is Ramulator 2's default: neighbouring lines go to
	// neighbouring channels, then fill a row.
	RoBaRaCoCh Mapping = iota
	// RoCoBaRaCh spreads neighbouring lines over the banks before a row is used
	// again.
	RoCoBaRaCh
	// ChRaBaRoCo keeps a contiguous region in one bank.
	ChRaBaRoCo
	// RoBaRaCoChXor is RoBaRaCoCh with rank, bank group and bank XORed with the
	// low row bits (permutation-based interleaving, Zhang et al., MICRO 2000), so
	// power-of-two strides do not meet in one bank.
	RoBaRaCoChXor
)

var mappings = enum.Of[Mapping]("dram mapping", "RoBaRaCoCh", "RoCoBaRaCh", "ChRaBaRoCo", "RoBaRaCoChXor")

func (m Mapping) String() string { return mappings.Name(m) }

// MarshalText writes the name that a configuration uses.
func (m Mapping) MarshalText() ([]byte, error) { return mappings.Marshal(m) }

// UnmarshalText reads the name that a configuration uses.
func (m *Mapping) UnmarshalText(text []byte) error { return mappings.Unmarshal(text, m) }

// part is one component of a location.
type part uint8

const (
	partChannel part = iota
	partRank
	partGroup
	partBank
	partRow
	partColumn
	numParts
)

// mappingOrder lists each mapping's parts from the lowest line bits up.
var mappingOrder = [][numParts]part{
	RoBaRaCoCh:    {partChannel, partColumn, partRank, partGroup, partBank, partRow},
	RoCoBaRaCh:    {partChannel, partRank, partGroup, partBank, partColumn, partRow},
	ChRaBaRoCo:    {partColumn, partRow, partBank, partGroup, partRank, partChannel},
	RoBaRaCoChXor: {partChannel, partColumn, partRank, partGroup, partBank, partRow},
}

// channelsLowest reports whether neighbouring lines are in neighbouring channels.
func (m Mapping) channelsLowest() bool {
	return int(m) < len(mappingOrder) && mappingOrder[m][0] == partChannel
}

// Location is the position of a line. Bank counts all banks of a channel: rank major, then bank group, then bank.
type Location struct {
	Channel, Bank int
	Row, Column   uint32
}

// Mapper maps line numbers to locations.
type Mapper struct {
	shift     [numParts]uint8
	mask      [numParts]uint32
	groupBits uint8
	bankBits  uint8
	xorMask   uint32
	channels  uint64 // if their number is no power of two; else 0
	together  uint8  // log₂ of the neighbouring lines in a channel
}

// NewMapper returns the mapper of a valid spec.
func NewMapper(s Spec) Mapper {
	size := [numParts]int{partChannel: s.Channels, partRank: s.Ranks, partGroup: s.BankGroups,
		partBank: s.Banks, partRow: s.Rows, partColumn: s.Columns / s.together()}
	m := Mapper{groupBits: log2(s.BankGroups), bankBits: log2(s.Banks), together: log2(s.together())}
	if s.Channels&(s.Channels-1) != 0 {
		m.channels, size[partChannel] = uint64(s.Channels), 1
	}
	at := uint8(0)
	for _, p := range mappingOrder[s.Mapping] {
		m.shift[p], m.mask[p] = at, uint32(size[p]-1)
		at += log2(size[p])
	}
	if s.Mapping == RoBaRaCoChXor {
		m.xorMask = uint32(s.Ranks*s.BankGroups*s.Banks - 1)
	}
	return m
}

// together returns the number of neighbouring lines in one channel.
func (s *Spec) together() int { return max(1, s.Interleave/max(1, s.LineBytes)) }

func log2(powerOfTwo int) uint8 { return uint8(bits.TrailingZeros(uint(powerOfTwo))) }

func (m *Mapper) cut(line uint64, p part) uint32 { return uint32(line>>(m.shift[p]&63)) & m.mask[p] }

// Channel returns the channel of a line.
func (m *Mapper) Channel(line uint64) int {
	line >>= m.together & 63
	if m.channels != 0 {
		return int((line + line/m.channels) % m.channels)
	}
	return int(m.cut(line, partChannel))
}

// Map returns the location of a line.
func (m *Mapper) Map(line uint64) Location {
	channel, low := m.Channel(line), uint32(line)&(1<<m.together-1)
	line >>= m.together & 63
	if m.channels != 0 {
		line /= m.channels
	}
	row := m.cut(line, partRow)
	bank := (m.cut(line, partRank)<<m.groupBits|m.cut(line, partGroup))<<m.bankBits | m.cut(line, partBank)
	return Location{
		Channel: channel,
		Bank:    int(bank ^ row&m.xorMask),
		Row:     row,
		Column:  m.cut(line, partColumn)<<m.together | low,
	}
}
