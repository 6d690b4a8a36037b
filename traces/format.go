package traces

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/klauspost/compress/zstd"
)

// A file is a header, blocks, the description (JSON), the index, and a trailer with the positions of the last two.
// Numbers are little endian.
const (
	magic   = "heddletr"
	Version = 2 // of the format; files of any other version are refused

	headerBytes  = len(magic) + 4
	sectionBytes = 8 + 4 + 4 + 4
	trailerBytes = 2*sectionBytes + 4 + len(magic)
)

// Limits that a reader enforces.
const (
	maxSectionBytes = 256 << 20 // of description and index, expanded
	maxBlockBytes   = 16 << 20  // of a block, expanded
	maxLaunchBytes  = 4 << 30   // of a launch, expanded
	maxLaunches     = 1 << 20
)

// A block is written when it reaches this size, and a warp's chunk enters a block when a column does; less if there are
// many warps, whose columns are in memory until then.
const (
	blockBytes = 256 << 10
	chunkBytes = 48 << 10
	smallChunk = 512
	heldBytes  = 64 << 20 // of a column, over all warps
)

// chunkLimit returns the size at which a machine's chunks end.
func chunkLimit(s Shape) int {
	return min(chunkBytes, max(smallChunk, heldBytes/(s.Cores*s.Warps)))
}

// section is the position and size of the description or index.
type section struct {
	offset      uint64
	bytes, full uint32 // in the file, and expanded
	sum         uint32
}

func (s *section) put(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, s.offset)
	for _, x := range [...]uint32{s.bytes, s.full, s.sum} {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	return b
}

func (s *section) get(b []byte) {
	s.offset = binary.LittleEndian.Uint64(b)
	s.bytes, s.full, s.sum = binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:]),
		binary.LittleEndian.Uint32(b[16:])
}

// block is an entry of the index: chunks of one launch, and their columns, each compressed separately.
type block struct {
	launch int
	offset uint64
	bytes  [numColumns]uint32 // in the file
	sum    uint32             // CRC-32C of these
	chunks []chunk
}

// chunk is a part of one warp's trace. A block has the chunks' parts of the first column, then those of the second, and
// so on.
type chunk struct {
	warp   int
	instrs uint64
	bytes  [numColumns]uint32 // expanded
}

// size returns the number of bytes of a block in the file.
func (b *block) size() (n uint64) {
	for _, x := range b.bytes {
		n += uint64(x)
	}
	return n
}

// expanded returns a column's uncompressed size, and full the whole block's.
func (b *block) expanded(col int) (n uint64) {
	for i := range b.chunks {
		n += uint64(b.chunks[i].bytes[col])
	}
	return n
}

func (b *block) full() (n uint64) {
	for col := range numColumns {
		n += b.expanded(col)
	}
	return n
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// compressor returns a compressor that works synchronously, in the caller's goroutine; expander is its counterpart.
func compressor() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
		zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		panic(fmt.Sprintf("BUG: traces: zstd: %v", err))
	}
	return e
}

func expander() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxSectionBytes),
		zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic(fmt.Sprintf("BUG: traces: zstd: %v", err))
	}
	return d
}

// expand returns the n bytes that a compressed part expands to.
func expand(d columnExpander, b []byte, n uint64) ([]byte, error) {
	if n == 0 && len(b) == 0 {
		return nil, nil
	}
	out, err := d.DecodeAll(b, make([]byte, 0, n))
	if err != nil {
		return nil, err
	}
	if uint64(len(out)) != n {
		return nil, fmt.Errorf("%d bytes, and the index says %d", len(out), n)
	}
	return out, nil
}

// index is written as varints.
type index struct {
	blocks []block
}

func (x *index) put() []byte {
	u := binary.AppendUvarint
	b := u(nil, uint64(len(x.blocks)))
	for i := range x.blocks {
		k := &x.blocks[i]
		b = u(u(b, uint64(k.launch)), k.offset)
		for _, n := range k.bytes {
			b = u(b, uint64(n))
		}
		b = u(binary.LittleEndian.AppendUint32(b, k.sum), uint64(len(k.chunks)))
		for _, c := range k.chunks {
			b = u(u(b, uint64(c.warp)), c.instrs)
			for _, n := range c.bytes {
				b = u(b, uint64(n))
			}
		}
	}
	return b
}
