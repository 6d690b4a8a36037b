package cmd

import (
	"context"
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"heddle/experiment"
	"heddle/report/monitor"
	"heddle/sim"
)

// monitorFlags holds the flags of the page that shows machines while they run.
type monitorFlags struct {
	address string
	when    []string

	hold     monitor.Hold
	listener net.Listener
}

// monitorNames lists the flags.
var monitorNames = []string{"monitor", "monitor-hold"}

func (f *monitorFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.address, "monitor", "",
		"show machines on a page while they run, at this loopback `address`, such as 127.0.0.1:8080 (without one: "+
			"at a free port); the page's URL goes to stderr (docs/guide/looking.md)")
	fl.Lookup("monitor").NoOptDefVal = monitor.Default
	fl.StringSliceVar(&f.when, "monitor-hold", nil,
		"have machines wait for the page's continue at these `times`: start, failure, end")
}

// listen opens the page's address, if the page is requested, before anything else starts.
func (f *monitorFlags) listen() (err error) {
	for _, w := range f.when {
		at, ok := map[string]*bool{"start": &f.hold.Start, "failure": &f.hold.Failure, "end": &f.hold.End}[w]
		if !ok {
			return fmt.Errorf("--monitor-hold %s: expected start, failure or end", w)
		}
		*at = true
	}
	if f.address == "" {
		if f.when != nil {
			return fmt.Errorf("--monitor-hold: expected --monitor beside it")
		}
		return nil
	}
	if f.listener, err = monitor.Listen(f.address); err != nil {
		return fmt.Errorf("--monitor=%w", err)
	}
	return nil
}

// shown is the page of a run; nil: no page.
type shown struct {
	*monitor.Server
	points []experiment.Point
}

// serve starts the page if it is requested, and prints its address.
func (f *monitorFlags) serve(c *cobra.Command, name string, total, done int, points []experiment.Point) *shown {
	if f.listener == nil {
		return nil
	}
	s := &shown{monitor.New(name, total, done, f.hold).Serve(f.listener), points}
	fmt.Fprintf(c.ErrOrStderr(), "monitor: %s\n", s.URL())
	return s
}

// join makes the page show a runner's points.
func (s *shown) join(r *experiment.Runner) {
	if s != nil {
		r.Monitor = s
	}
}

// Begin shows a point's machine.
func (s *shown) Begin(ctx context.Context, point int, edges uint64, m *sim.Machine) experiment.Monitored {
	return s.Server.Begin(ctx, experiment.Label(s.points[point].Axes), edges, m)
}

// alone shows the machine of a program. The caller calls the returned function at the end of the run.
func (s *shown) alone(ctx context.Context, program string, m *sim.Machine) func(error) {
	if s == nil {
		return func(error) {}
	}
	return s.Server.Begin(ctx, program, 0, m).End
}

// finished counts a point.
func (s *shown) finished(err error) {
	if s != nil {
		s.Finished(err != nil)
	}
}

// close ends the page.
func (s *shown) close() {
	if s != nil {
		_ = s.Close() // the process is about to end
	}
}
