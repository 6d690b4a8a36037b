package emu

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
)

// How a page is written down.
const (
	pageOwn    = iota + 1 // its number and bytes follow
	pageShared            // the host's array, which whoever reads this has shared too; its number follows
	pagesEnd
)

// errPages is the error for bytes that are no pages of this image.
var errPages = errors.New("it holds pages of memory that cannot be")

// SaveState writes the image's pages. The host's arrays are not written: they are there again when the host program has
// placed them.
func (m *image) SaveState(to io.Writer) error {
	w := bufio.NewWriterSize(to, 1<<16)
	for high, t := range m.root {
		if t == nil {
			continue
		}
		for low := range t {
			p := &t[low]
			if p.data == nil {
				continue
			}
			number := []byte{pageOwn, 0, 0, 0, 0}
			if p.shared {
				number[0] = pageShared
			}
			binary.LittleEndian.PutUint32(number[1:], uint32(high<<tableBits|low))
			w.Write(number) //nolint:errcheck // the writer keeps it
			if !p.shared {
				w.Write(p.data[:]) //nolint:errcheck // the writer keeps it
			}
		}
	}
	w.Write([]byte{pagesEnd, 0, 0, 0, 0}) //nolint:errcheck // the writer keeps it
	return w.Flush()
}

// LoadState reads pages into the image of a machine whose host has placed the same arrays. The input may be hostile: a
// page is allocated only after its bytes have been read.
func (m *image) LoadState(from io.Reader) error {
	had, number := m.numbers(), [5]byte{}
	for last := int64(-1); ; {
		if _, err := io.ReadFull(from, number[:]); err != nil {
			return err
		}
		n := binary.LittleEndian.Uint32(number[1:])
		if number[0] == pagesEnd {
			break
		}
		if int64(n) <= last || n >= 1<<(2*tableBits) {
			return errPages
		}
		last = int64(n)
		if len(had) > 0 && had[0] < n {
			return errPages // it would have lost one
		}
		if len(had) > 0 && had[0] == n {
			had = had[1:]
		}
		if err := m.loadPage(from, n, number[0]); err != nil {
			return err
		}
	}
	if len(had) > 0 {
		return errPages
	}
	return nil
}

// numbers are those of all pages, in order.
func (m *image) numbers() (all []uint32) {
	for high, t := range m.root {
		if t == nil {
			continue
		}
		for low := range t {
			if t[low].data != nil {
				all = append(all, uint32(high<<tableBits|low))
			}
		}
	}
	return all
}

func (m *image) loadPage(from io.Reader, n uint32, as byte) error {
	var p *page
	if t := m.root[n>>tableBits]; t != nil {
		p = &t[n%(1<<tableBits)]
	}
	switch {
	case as == pageShared && p != nil && p.shared:
		return nil
	case as != pageOwn:
		return errPages
	}
	if p == nil || p.data == nil || p.shared {
		data := new([pageBytes]byte)
		if _, err := io.ReadFull(from, data[:]); err != nil {
			return err
		}
		p = (&Memory{image: m}).entry(n)
		p.data, p.shared = data, false
		m.pages++
		return nil
	}
	p.forgetCode()
	_, err := io.ReadFull(from, p.data[:])
	return err
}
