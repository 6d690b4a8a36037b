package compose

// Spill is the storage for values of a kernel that do not fit into registers.
type Spill string

// Storage for spilled values.
const (
	SpillMemory    Spill = "memory"    // each thread's stack
	SpillRegisters Spill = "registers" // free float registers, then the stack
)

// Spills lists all values, the default first.
func Spills() []Spill { return []Spill{SpillMemory, SpillRegisters} }
