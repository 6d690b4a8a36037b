package emu

// Snapshot returns a memory with the same contents. The pages are shared until either is written.
func (m *Memory) Snapshot() *Memory {
	s := NewMemory()
	for i, t := range &m.root {
		if t == nil {
			continue
		}
		c := new([1 << tableBits]page)
		for j := range t {
			p := &t[j]
			if p.data == nil {
				continue
			}
			if !p.shared {
				m.pages--
			}
			p.shared = true
			c[j].data, c[j].shared = p.data, true
		}
		s.root[i] = c
	}
	return s
}

// FirstDifference returns the lowest address of a word at which two memories differ.
func (m *Memory) FirstDifference(o *Memory) (addr uint32, differ bool) {
	var none [pageBytes]byte
	data := func(x *Memory, n uint32) *[pageBytes]byte {
		if p := x.page(n); p != nil {
			return p.data
		}
		return &none
	}
	for i := range m.root {
		if m.root[i] == nil && o.root[i] == nil {
			continue
		}
		for j := range uint32(1 << tableBits) {
			n := uint32(i)<<tableBits | j
			a, b := data(m, n), data(o, n)
			if a == b || *a == *b {
				continue
			}
			for k := range a {
				if a[k] != b[k] {
					return n<<pageBits | uint32(k)&^3, true
				}
			}
		}
	}
	return 0, false
}
