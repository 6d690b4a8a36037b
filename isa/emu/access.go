package emu

import "encoding/binary"

// read returns the bytes that lane l addresses.
func (x *Access) read(l int) (uint32, error) {
	a, size, w := x.Addr[l], x.op.size, x.w
	if a-UncachedEnd < ScratchpadBase-UncachedEnd {
		return w.m.Mem.load(a, size), nil
	}
	if a >= ScratchpadBase {
		return w.core.readScratchpad(l, a, size)
	}
	if a < NullEnd {
		return 0, nullAccess(l, a)
	}
	return w.m.Mem.load(a, size), nil
}

// write stores v where lane l addresses.
func (x *Access) write(l int, v uint32) error {
	a, size, w := x.Addr[l], x.op.size, x.w
	if len(w.m.resv.list) > 0 {
		w.m.resv.written(w.hart(l), x.deviceAddr(l))
	}
	if a-UncachedEnd < ScratchpadBase-UncachedEnd {
		w.m.Mem.store(a, size, v)
		return nil
	}
	if a >= ScratchpadBase {
		return w.core.writeScratchpad(l, a, size, v)
	}
	return w.m.writeDevice(l, a, size, v)
}

// writeDevice stores to the uncached region, where the console and the exit
// code are.
func (m *Machine) writeDevice(l int, a uint32, size uint8, v uint32) error {
	switch {
	case a < NullEnd:
		return nullAccess(l, a)
	case a < ConsoleEnd && size == 1:
		m.console.put(a-ConsoleBase, byte(v))
	case a == ExitAddr:
		m.exit, m.exited = v, true
	}
	m.Mem.store(a, size, v)
	return nil
}

func nullAccess(l int, a uint32) error {
	return faultf(AccessFault, l, "address 0x%08x: nothing below 0x%x may be accessed (null pointer?)", a, NullEnd)
}

// local returns the scratchpad bytes at an address.
func (c *Core) local(l int, a uint32, size uint8) ([]byte, error) {
	o := a - ScratchpadBase
	s := c.scratch
	if uint64(o)+uint64(size) > uint64(len(s)) {
		return nil, faultf(AccessFault, l, "address 0x%08x is beyond the scratchpad of %d bytes at 0x%08x", a, len(s),
			uint32(ScratchpadBase))
	}
	c.stats.Scratchpad++
	return s[o : o+uint32(size)], nil
}

func (c *Core) readScratchpad(l int, a uint32, size uint8) (uint32, error) {
	b, err := c.local(l, a, size)
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

func (c *Core) writeScratchpad(l int, a uint32, size uint8, v uint32) error {
	b, err := c.local(l, a, size)
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

// deviceAddr makes addresses of all scratchpads and of memory distinct: a scratchpad's address carries its core above
// bit 32.
func (x *Access) deviceAddr(l int) uint64 {
	a := uint64(x.Addr[l])
	if a >= ScratchpadBase {
		a |= uint64(x.w.core.id+1) << 32
	}
	return a
}
