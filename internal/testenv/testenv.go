// Package testenv gives tests a defined environment, whatever the one in which they are started.
package testenv

import (
	"os"
	"os/signal"
	"syscall"
)

// HandleSignals ensures that programs that this process starts begin with the default action for signals that this
// process inherited as ignored: SIGHUP under nohup, SIGINT in the background of a shell without job control. An ignored
// signal stays ignored in a new program, and a handled one does not. TestMain calls it where tests send signals to
// programs. Go's runtime handles all others from the beginning.
func HandleSignals() {
	dropped := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(s) {
			signal.Notify(dropped, s)
		}
	}
}
