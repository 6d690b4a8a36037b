package activeset

import "fmt"

// Memory is the device's, as the host sees it.
type Memory interface {
	ReadWords(addr uint32, words []uint32)
	WriteWords(addr uint32, words []uint32)
	// Lists are the vertex-lists of the device's graph units.
	Lists() Lists
}

// Lists are vertex-lists, by their numbers. What the host does with them takes no time.
type Lists interface {
	// Deal deals vertices out to the cores' lists.
	Deal(list int, vertices []uint32) error
	Size(list int) int
	Read(list int) []uint32
	Swap(a, b int)
}

// Array is memory that a set needs. Roles are the names by which kernels know it: in
// super-step i it has role i mod len(Roles).
type Array struct {
	Name  string
	Words int
	Roles []string
	Addr  uint32 // filled in by who places it
}

// Role is the array's name for kernels in a super-step.
func (a *Array) Role(step int) string { return a.Roles[step%len(a.Roles)] }

// State is the host's side of a set.
type State interface {
	// Arrays are placed, and zeroed, before Start.
	Arrays() []*Array
	// Words are parameters of the coming super-step by their names.
	Words() map[string]uint32
	// Start makes the active set of the first super-step. Nothing of it takes time: it
	// comes with the graph.
	Start(m Memory, active []uint32) error
	// Next goes on to the next super-step, and tells how many vertices are active in it:
	// the word that the host reads back. For maps it is only zero or not.
	Next(m Memory) (uint32, error)
	// Active returns the active vertices, in no special order, some perhaps twice. The
	// host looks them up for statistics and for its choice of direction.
	Active(m Memory) []uint32
}

// rotating makes arrays that pass their roles on: the one of role i has role i+1 next.
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

// with finds the array that has a role.
func with(arrays []*Array, role string, step int) *Array {
	for _, a := range arrays {
		if a.Role(step) == role {
			return a
		}
	}
	panic("BUG: activeset: no array is " + role)
}

// take reads a word, and zeroes it.
func take(m Memory, a *Array) uint32 {
	word := []uint32{0}
	m.ReadWords(a.Addr, word)
	m.WriteWords(a.Addr, []uint32{0})
	return word[0]
}

// Overflow says that more was added to a queue than it has room for.
type Overflow struct{ Size, Room int }

func (o *Overflow) Error() string {
	return fmt.Sprintf("a super-step added %d vertices to a queue with room for %d: give workload.dedup", o.Size, o.Room)
}
