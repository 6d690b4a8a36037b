package cmd

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
)

// profileVariable names the file that a profile of the process's processor time is written to: what default.pgo, by
// which the compiler optimises this program, is made of.
const profileVariable = "CPUPROFILE"

// profileRate is in samples a second of processor time: as many as Linux takes. Go's own 100 are too few for runs of a
// second.
const profileRate = 250

// profile begins the profile, if one is wanted. It is over when end is called.
func profile() (end func()) {
	name := os.Getenv(profileVariable)
	if name == "" {
		return func() {}
	}
	f, err := os.Create(name)
	if err == nil {
		runtime.SetCPUProfileRate(profileRate) // kept by StartCPUProfile, which says that it could not set its own
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
