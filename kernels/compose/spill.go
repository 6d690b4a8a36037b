package compose

// Spill is where a kernel's values go that no register is left for.
type Spill string

// Spills.
const (
	SpillMemory    Spill = "memory"    // each thread's stack
	SpillRegisters Spill = "registers" // float registers that are free, and then the stack
)

// Spills lists them, the default first.
func Spills() []Spill { return []Spill{SpillMemory, SpillRegisters} }
