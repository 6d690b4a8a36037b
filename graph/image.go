package graph

import (
	"fmt"
	"slices"
	"strings"

	"heddle/isa"
	"heddle/isa/emu"
)

// ArrayBase is the default start of arrays: far from the low addresses and programs.
const ArrayBase = 0x10000000

// Region is a piece of the address space that arrays must not touch.
type Region struct {
	Name string
	Addr uint32
	Size uint64
}

func (r Region) end() uint64 { return uint64(r.Addr) + r.Size }

// Reserved returns the reserved regions of a device with that many harts that runs p (nil: none): low memory, program,
// stacks, scratchpads. See docs/guide/programs.md.
func Reserved(harts int, p *isa.Program) []Region {
	stacks := min(uint64(harts)*emu.StackBytes, emu.StackTop)
	list := []Region{
		{"console, exit code and uncached memory", 0, emu.UncachedEnd},
		{"stacks", uint32(emu.StackTop - stacks), stacks},
		{"scratchpads", emu.ScratchpadBase, 1<<32 - emu.ScratchpadBase},
	}
	if p == nil {
		return list
	}
	for _, s := range p.Segments {
		list = append(list, Region{"program", s.Addr, uint64(s.Size)})
	}
	return list
}

// Array is a named piece of memory.
type Array struct {
	Name  string
	Addr  uint32
	Words int
	Data  []uint32 // nil: memory is left unchanged

	shared bool // a device may read Data where it is
}

// Bytes is the array's size.
func (a *Array) Bytes() uint64 { return 4 * uint64(a.Words) }

// Image places arrays in the simulated address space, upwards from a base and around reserved regions. Each begins on a
// cache line.
type Image struct {
	next     uint64
	line     uint64
	reserved []Region // by address
	arrays   []Array
	names    map[string]int
}

// NewImage starts an empty image at base, of a machine whose caches have lines of that many
// bytes, a power of two.
func NewImage(base uint32, lineBytes int, reserved ...Region) *Image {
	im := &Image{next: uint64(base), line: uint64(lineBytes), reserved: slices.Clone(reserved), names: map[string]int{}}
	slices.SortStableFunc(im.reserved, func(a, b Region) int { return int(int64(a.Addr) - int64(b.Addr)) })
	return im
}

// Place allocates an array with contents, which it keeps and does not copy.
func (im *Image) Place(name string, data []uint32) (Array, error) {
	return im.add(Array{Name: name, Words: len(data), Data: data})
}

// Share is Place for contents that are not modified: a device reads them in place, and copies on write, so that a graph
// is in memory once for all programs.
func (im *Image) Share(name string, data []uint32) (Array, error) {
	return im.add(Array{Name: name, Words: len(data), Data: data, shared: true})
}

// Reserve allocates an array without contents.
func (im *Image) Reserve(name string, words int) (Array, error) {
	return im.add(Array{Name: name, Words: words})
}

func (im *Image) add(a Array) (Array, error) {
	if _, twice := im.names[a.Name]; twice {
		return Array{}, fmt.Errorf("array %s: there is one of that name", a.Name)
	}
	addr := im.fit(a.Bytes())
	if addr+a.Bytes() > 1<<32 {
		return Array{}, im.full(a)
	}
	a.Addr = uint32(addr)
	im.next = addr + max(a.Bytes(), 1)
	im.names[a.Name] = len(im.arrays)
	im.arrays = append(im.arrays, a)
	return a, nil
}

// fit finds the next line from which size bytes are free. An empty array, too,
// has an address that nothing else has.
func (im *Image) fit(size uint64) uint64 {
	addr := im.align(im.next)
	for _, r := range im.reserved {
		if addr < r.end() && uint64(r.Addr) < addr+max(size, 1) {
			addr = im.align(r.end())
		}
	}
	return addr
}

func (im *Image) align(addr uint64) uint64 { return (addr + im.line - 1) &^ (im.line - 1) }

// full returns the error that an array does not fit, with the arrays that occupy the space.
func (im *Image) full(a Array) error {
	var b strings.Builder
	fmt.Fprintf(&b, "array %s of %d bytes does not fit the address space of 4 GiB", a.Name, a.Bytes())
	for _, x := range im.arrays {
		fmt.Fprintf(&b, "\n  %08x..%08x %s", x.Addr, uint64(x.Addr)+x.Bytes(), x.Name)
	}
	for _, r := range im.reserved {
		fmt.Fprintf(&b, "\n  %08x..%08x %s (reserved)", r.Addr, r.end(), r.Name)
	}
	return fmt.Errorf("%s", b.String())
}

// Arrays lists the arrays in order of their addresses. Not to be changed.
func (im *Image) Arrays() []Array { return im.arrays }

// Array finds an array by its name.
func (im *Image) Array(name string) (Array, bool) {
	i, ok := im.names[name]
	if !ok {
		return Array{}, false
	}
	return im.arrays[i], true
}

// Bytes is the memory of all arrays, without gaps.
func (im *Image) Bytes() uint64 {
	sum := uint64(0)
	for _, a := range im.arrays {
		sum += a.Bytes()
	}
	return sum
}

// SharedBytes is the memory of the arrays that are shared, by name.
func (im *Image) SharedBytes() map[string]uint64 {
	sum := map[string]uint64{}
	for _, a := range im.arrays {
		if a.shared {
			sum[a.Name] = a.Bytes()
		}
	}
	return sum
}

// WordWriter is memory that an image can be written to, such as a host.Device.
type WordWriter interface {
	WriteWords(addr uint32, words []uint32)
	ShareWords(addr uint32, words []uint32)
}

// Write writes the arrays that have contents.
func (im *Image) Write(to WordWriter) {
	for _, a := range im.arrays {
		if a.shared {
			to.ShareWords(a.Addr, a.Data)
		} else {
			to.WriteWords(a.Addr, a.Data)
		}
	}
}

// PlacedAdjacency holds the addresses of a CSR or a CSC; Weights is the zero value without weights.
type PlacedAdjacency struct{ Offsets, IDs, Weights Array }

// PlaceAdjacency allocates name.offsets, name.ids and, with weights, name.weights.
func (im *Image) PlaceAdjacency(name string, a *Adjacency) (PlacedAdjacency, error) {
	var p PlacedAdjacency
	err := im.placeAll([]placement{
		{name + ".offsets", a.Offsets, &p.Offsets}, {name + ".ids", a.IDs, &p.IDs}, {name + ".weights", a.Weights, &p.Weights},
	})
	return p, err
}

// PlacedCOO holds the addresses of a COO.
type PlacedCOO struct{ Sources, Destinations, Weights Array }

// PlaceCOO allocates name.sources, name.destinations and, with weights, name.weights.
func (im *Image) PlaceCOO(name string, c COO) (PlacedCOO, error) {
	var p PlacedCOO
	err := im.placeAll([]placement{
		{name + ".sources", c.Sources, &p.Sources}, {name + ".destinations", c.Destinations, &p.Destinations}, {name + ".weights", c.Weights, &p.Weights},
	})
	return p, err
}

type placement struct {
	name string
	data []uint32
	at   *Array
}

// placeAll places the arrays that are not nil: absent weights are.
func (im *Image) placeAll(list []placement) error {
	for _, p := range list {
		if p.data == nil {
			continue
		}
		a, err := im.Share(p.name, p.data)
		if err != nil {
			return err
		}
		*p.at = a
	}
	return nil
}
