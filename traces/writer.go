package traces

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"heddle/internal/files"
)

// writer writes a file, under a temporary name until it is complete.
type writer struct {
	path  string
	file  *files.File
	out   *bufio.Writer
	at    uint64
	zstd  *zstd.Encoder
	index index
	same  map[[sha256.Size]byte]uint64 // positions of the blocks already written, by content
	err   error

	launch  int
	block   block
	columns [numColumns][]byte
	packed  []byte
}

func create(path string) (*writer, error) {
	f, err := files.Create(path)
	if err != nil {
		return nil, err
	}
	w := &writer{path: path, file: f, out: bufio.NewWriterSize(f, 1<<18), zstd: compressor(),
		same: map[[sha256.Size]byte]uint64{}}
	w.write(binary.LittleEndian.AppendUint32([]byte(magic), Version))
	return w, nil
}

func (w *writer) write(b []byte) {
	if w.err != nil {
		return
	}
	_, w.err = w.out.Write(b)
	w.at += uint64(len(b))
}

// begin starts the chunks of the next launch.
func (w *writer) begin(launch int) { w.launch = launch }

// add takes a warp's columns.
func (w *writer) add(warp int, e *encoder) {
	c := chunk{warp: warp, instrs: e.instrs}
	n := 0
	for i := range e.columns {
		b := e.columns[i].b
		w.columns[i] = append(w.columns[i], b...)
		c.bytes[i] = uint32(len(b))
		e.columns[i].b = b[:0]
		n += len(w.columns[i])
	}
	e.instrs = 0
	w.block.chunks = append(w.block.chunks, c)
	if n >= blockBytes {
		w.flush()
	}
}

// flush ends the block.
func (w *writer) flush() {
	if len(w.block.chunks) == 0 {
		return
	}
	b := w.block
	b.launch, w.packed = w.launch, w.packed[:0]
	for i, c := range w.columns {
		before := len(w.packed)
		if len(c) > 0 {
			w.packed = w.zstd.EncodeAll(c, w.packed)
		}
		b.bytes[i] = uint32(len(w.packed) - before)
		w.columns[i] = c[:0]
	}
	b.sum, b.offset = checksum(w.packed), w.place(w.packed)
	w.index.blocks = append(w.index.blocks, b)
	w.block = block{}
}

// place writes a block, unless an equal one exists: super-steps repeat each other.
func (w *writer) place(b []byte) uint64 {
	hash := sha256.Sum256(b)
	if at, ok := w.same[hash]; ok {
		return at
	}
	at := w.at
	w.same[hash] = at
	w.write(b)
	return at
}

// close completes the file, and renames it.
func (w *writer) close(m *Meta) error {
	text, err := json.Marshal(m)
	if err != nil {
		return errors.Join(err, w.abort())
	}
	meta := w.section(text)
	index := w.section(w.index.put())
	t := index.put(meta.put(nil))
	w.write(append(binary.LittleEndian.AppendUint32(t, checksum(t)), magic...))
	if w.err == nil {
		w.err = w.out.Flush()
	}
	if w.err != nil {
		return errors.Join(fmt.Errorf("%s: %w", w.path, w.err), w.abort())
	}
	return w.file.Commit()
}

func (w *writer) section(b []byte) section {
	packed := w.zstd.EncodeAll(b, nil)
	s := section{offset: w.at, bytes: uint32(len(packed)), full: uint32(len(b)), sum: checksum(packed)}
	w.write(packed)
	if len(b) > maxSectionBytes && w.err == nil {
		w.err = fmt.Errorf("description or index of %d bytes: expected at most %d; record fewer super-steps", len(b),
			maxSectionBytes)
	}
	return s
}

// abort discards the file.
func (w *writer) abort() error { return w.file.Abort() }
