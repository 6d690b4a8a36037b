package emu

import "encoding/binary"

// read returns size bytes at w.addr[l], which is aligned.
func (w *Warp) read(l int, size uint8) (uint32, error) {
	a := w.addr[l]
	if a-UncachedEnd < ScratchpadBase-UncachedEnd {
		return w.m.Mem.load(a, size), nil
	}
	if a >= ScratchpadBase {
		return w.readScratchpad(l, size)
	}
	if a < NullEnd {
		return 0, nullAccess(l, a)
	}
	return w.m.Mem.load(a, size), nil
}

// write stores size bytes at w.addr[l], which is aligned.
func (w *Warp) write(l int, size uint8, v uint32) error {
	a := w.addr[l]
	if len(w.m.resv.list) > 0 {
		w.m.resv.written(w.hart(l), w.deviceAddr(l))
	}
	if a-UncachedEnd < ScratchpadBase-UncachedEnd {
		w.m.Mem.store(a, size, v)
		return nil
	}
	if a >= ScratchpadBase {
		return w.writeScratchpad(l, size, v)
	}
	return w.writeDevice(l, size, v)
}

// writeDevice stores to the uncached region, where the console and the exit
// code are.
func (w *Warp) writeDevice(l int, size uint8, v uint32) error {
	a := w.addr[l]
	switch {
	case a < NullEnd:
		return nullAccess(l, a)
	case a < ConsoleEnd && size == 1:
		w.m.console.put(a-ConsoleBase, byte(v))
	case a == ExitAddr:
		w.m.exit, w.m.exited = v, true
	}
	w.m.Mem.store(a, size, v)
	return nil
}

func nullAccess(l int, a uint32) error {
	return faultf(AccessFault, l, "address 0x%08x: nothing below 0x%x may be accessed (null pointer?)", a, NullEnd)
}

// local returns the scratchpad bytes that w.addr[l] names.
func (w *Warp) local(l int, size uint8) ([]byte, error) {
	o := w.addr[l] - ScratchpadBase
	s := w.core.scratch
	if uint64(o)+uint64(size) > uint64(len(s)) {
		return nil, faultf(AccessFault, l, "address 0x%08x is beyond the scratchpad of %d bytes at 0x%08x", w.addr[l], len(s), uint32(ScratchpadBase))
	}
	return s[o : o+uint32(size)], nil
}

func (w *Warp) readScratchpad(l int, size uint8) (uint32, error) {
	b, err := w.local(l, size)
	if err != nil {
		return 0, err
	}
	switch size {
	case 1:
		return uint32(b[0]), nil
	case 2:
		return uint32(binary.LittleEndian.Uint16(b)), nil
	default:
		return binary.LittleEndian.Uint32(b), nil
	}
}

func (w *Warp) writeScratchpad(l int, size uint8, v uint32) error {
	b, err := w.local(l, size)
	if err != nil {
		return err
	}
	switch size {
	case 1:
		b[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(v))
	default:
		binary.LittleEndian.PutUint32(b, v)
	}
	return nil
}

// deviceAddr tells the words of all scratchpads and of memory apart: one
// scratchpad's addresses carry its core above bit 32.
func (w *Warp) deviceAddr(l int) uint64 {
	a := uint64(w.addr[l])
	if a >= ScratchpadBase {
		a |= uint64(w.core.id+1) << 32
	}
	return a
}
