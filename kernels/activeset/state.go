package activeset

import "fmt"

// Memory is the device's memory as seen by the host.
type Memory interface {
	ReadWords(addr uint32, words []uint32)
	WriteWords(addr uint32, words []uint32)
	// Lists returns the vertex-lists of the device's graph units.
	Lists() Lists
}

// Lists gives the host access to vertex-lists by number. Host access takes no simulated time.
type Lists interface {
	// Deal distributes vertices over the cores' lists.
	Deal(list int, vertices []uint32) error
	Size(list int) int
	Read(list int) []uint32
	Swap(a, b int)
}

// Array is memory that a set needs. Roles are its names in the kernels: in super-step i it has role i mod len(Roles).
type Array struct {
	Name  string
	Words int
	Roles []string
	Addr  uint32 // set by the caller that allocates it
}

// Role returns the array's name in the kernels of a super-step.
func (a *Array) Role(step int) string { return a.Roles[step%len(a.Roles)] }

// State is the host side of a set.
type State interface {
	// Arrays returns the arrays to place and zero before Start.
	Arrays() []*Array
	// Words returns parameters of the coming super-step by name.
	Words() map[string]uint32
	// Start fills the active set of the first super-step. It takes no simulated time: the set is part of the input,
	// like the graph.
	Start(m Memory, active []uint32) error
	// Next advances to the next super-step and returns its number of active vertices: the word that the host reads
	// back. For maps it is only zero or non-zero.
	Next(m Memory) (uint32, error)
	// Active returns the active vertices in unspecified order, some perhaps twice. The host uses them for statistics
	// and for its choice of direction.
	Active(m Memory) []uint32
}

// rotating returns arrays that pass on their roles: the array with role i has role i+1 in the next super-step.
func rotating(name string, words int, roles ...string) []*Array {
	arrays := make([]*Array, len(roles))
	for i := range arrays {
		a := &Array{Name: name + string(rune('0'+i)), Words: words}
		for s := range roles {
			a.Roles = append(a.Roles, roles[(i+s)%len(roles)])
		}
		arrays[i] = a
	}
	return arrays
}

// with returns the array that has a role.
func with(arrays []*Array, role string, step int) *Array {
	for _, a := range arrays {
		if a.Role(step) == role {
			return a
		}
	}
	panic("BUG: activeset: no array is " + role)
}

// take reads a word and zeroes it.
func take(m Memory, a *Array) uint32 {
	word := []uint32{0}
	m.ReadWords(a.Addr, word)
	m.WriteWords(a.Addr, []uint32{0})
	return word[0]
}

// Overflow is the error of a queue that received more entries than it has room for.
type Overflow struct{ Size, Room int }

func (o *Overflow) Error() string {
	return fmt.Sprintf("a super-step added %d vertices to a queue with room for %d: give workload.frontier.dedup bitmap "+
		"or monotonic", o.Size, o.Room)
}
