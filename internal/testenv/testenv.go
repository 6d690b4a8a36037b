// Package testenv gives tests the surroundings that they need, whichever ones they are started in.
package testenv

import (
	"os"
	"os/signal"
	"syscall"
)

// HandleSignals has programs that this process starts begin with the default action of signals that it was started to
// ignore itself: SIGHUP under nohup, SIGINT in the background of a shell without job control. An ignored signal stays
// ignored in a new program, and one that is handled does not. TestMain calls it where tests send signals to programs.
// Go's runtime handles all others from the beginning.
func HandleSignals() {
	dropped := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(s) {
			signal.Notify(dropped, s)
		}
	}
}
