package cmd

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
)

// profileVariable names the file for a CPU profile of the process, from which default.pgo is made, by which the
// compiler optimises this program.
const profileVariable = "CPUPROFILE"

// profileRate is in samples for each second of processor time, the most that Linux takes. Go's default of 100 is too
// low for runs of a second.
const profileRate = 250

// profile starts the profile if it is requested; end completes it.
func profile() (end func()) {
	name := os.Getenv(profileVariable)
	if name == "" {
		return func() {}
	}
	f, err := os.Create(name)
	if err == nil {
		runtime.SetCPUProfileRate(profileRate) // kept by StartCPUProfile, which reports that it could not set its own
		err = pprof.StartCPUProfile(f)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "heddle: %s: %v\n", profileVariable, err)
		return func() {}
	}
	return func() {
		pprof.StopCPUProfile()
		if err := f.Close(); err != nil {
			fmt.Fprintf(os.Stderr, "heddle: %s: %v\n", profileVariable, err)
		}
	}
}
