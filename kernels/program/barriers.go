package program

import (
	"fmt"
	"strings"

	"heddle/isa"
)

// UnfencedBarriers is a warning about a program's device-wide barriers before which a warp may have stored something
// without a fence, for machines of several cores on which such a barrier does nothing to memory; empty: there are none.
// Lines may be nil.
func UnfencedBarriers(file string, image *isa.Program, lines *isa.Lines) string {
	const most = 3
	addrs := image.UnfencedBarriers()
	if len(addrs) == 0 {
		return ""
	}
	var at []string
	for i, addr := range addrs {
		if i == most {
			at = append(at, fmt.Sprintf("%d more", len(addrs)-most))
			break
		}
		name, line, ok := lines.At(addr)
		if ok {
			at = append(at, fmt.Sprintf("%s:%d", name, line))
		} else {
			at = append(at, fmt.Sprintf("0x%08x", addr))
		}
	}
	return fmt.Sprintf("core.device_barrier = signal: %s may have device-wide barriers without a fence before them "+
		"(%s): other cores may read what was there before, which hardware does and values here do not show: "+
		"expected a fence between the last store and the barrier, flush, or one core", file, strings.Join(at, ", "))
}

// UnfencedBarriers is the function's warning about the program.
func (p *Program) UnfencedBarriers() string { return UnfencedBarriers(p.File, p.image, p.Lines) }
