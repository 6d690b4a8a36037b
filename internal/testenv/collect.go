package testenv

import (
	"os"
	"runtime/debug"
)

// Tests make many short-lived machines and graphs: with Go's own setting a third of their processor time goes to
// collecting them, with this one a tenth. GOGC overrides it.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(800)
	}
}
