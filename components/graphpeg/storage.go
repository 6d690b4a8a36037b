package graphpeg

import (
	"math/bits"
	"reflect"
)

// Storage is the state of a unit outside the scratchpad, by structure (§4.6). It is computed from the engine's own
// structures and their depths.
type Storage struct {
	Entry     uint64 `stat:"entry" unit:"bits" doc:"One entry of the ALWT: base vertex, start, end, status."`
	Table     uint64 `stat:"alwt" unit:"bytes" doc:"All entries of the ALWT."`
	Control   uint64 `stat:"control" unit:"bytes" doc:"Order of the ready entries, validity and pointers of the edge buffer, and pointers and refills of the vertex-lists."`
	Registers uint64 `stat:"registers" unit:"bytes" doc:"The set-up, R_EFS, R_BC, R_BS and R_BW."`
	Latches   uint64 `stat:"latches" unit:"bytes" doc:"The edges of each warp's last pop, all four fields (ours, for peg.get): a register of each lane in the paper, for all it says."`
}

// bitsFor returns the number of bits that distinguish n values.
func bitsFor(n int) uint64 { return uint64(bits.Len(uint(max(n, 1) - 1))) }

const wordBits = 32

// storage adds up the structures of a unit of that spec and shape.
func (s *Spec) storage(shape *Shape) (t Storage) {
	t.Entry = 3*wordBits + bitsFor(int(numStatuses))
	t.Table = inBytes(uint64(s.ALWTEntries) * t.Entry)
	t.Control = inBytes(s.tableControl() + s.bufferControl() + uint64(s.VertexLists)*s.listControl(shape))
	t.Registers = inBytes(setupBits() + exchangeBits)
	t.Latches = inBytes(uint64(shape.Warps*4*shape.Threads) * wordBits)
	return t
}

func inBytes(bits uint64) uint64 { return (bits + 7) / 8 }

// tableControl returns the bits of the FIFO of ready entries, the FE entry, and the entries' second line of offsets.
func (s *Spec) tableControl() uint64 {
	n := bitsFor(s.ALWTEntries)
	return uint64(s.ALWTEntries)*(n+1) + 2*n + n + 1
}

// bufferControl returns the bits of a valid flag per slot, head, length and the valid run.
func (s *Spec) bufferControl() uint64 {
	slots := s.slots(1)
	return uint64(slots) + 3*bitsFor(slots+1)
}

// listControl returns the bits of head and length of both on-chip parts, the region with its first line and number of
// lines, and the lines in flight.
func (s *Spec) listControl(shape *Shape) uint64 {
	line := shape.LineBytes / 4
	words := bitsFor(s.listWords(line) + 1)
	lines := bitsFor(s.ListRegion/shape.LineBytes + 1)
	return 4*words + wordBits + 2*lines + maxRefills*(lines+1)
}

// setupBits returns the bits of a set-up: a word per number, a bit per boolean.
func setupBits() (n uint64) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Setup]()) {
		if f.Type.Kind() == reflect.Bool {
			n++
			continue
		}
		n += wordBits
	}
	return n
}

// exchangeBits: R_EFS; R_BC: none, ED, ERS, ER; R_BS: drained, answered, refused, pending; R_BW0 to 2.
const exchangeBits = wordBits + 2 + 4 + 3*wordBits
