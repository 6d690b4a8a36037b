package testenv

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Used returns the processor time of another process; 0 if there is none. A test that waits for processor time, not for
// wall time, works on a busy host too.
func Used(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, behind, _ := strings.Cut(string(text), ") ") // the name, which may contain anything but this
	fields := strings.Fields(behind)
	const user, system, ticks = 11, 12, 100
	if len(fields) <= system {
		return 0
	}
	sum := time.Duration(0)
	for _, f := range fields[user : system+1] {
		n, _ := strconv.Atoi(f)
		sum += time.Duration(n) * time.Second / ticks
	}
	return sum
}
