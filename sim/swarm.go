package sim

import (
	"context"
	"errors"
	"fmt"

	"heddle/components/clock"
	"heddle/components/dram"
	"heddle/components/swarm"
	"heddle/configs"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/sim/stats"
)

// Tiles reports whether the machine consists of Swarm tiles: it has no Cores and no Caches then, and its programs are
// of tasks.
func (m *Machine) Tiles() bool { return m.tasks != nil }

// errTiles returns the error of an option that machines of Swarm tiles do not have.
func errTiles(what string) error {
	return errors.New("machine.swarm: " + what + ": expected a machine without Swarm tiles")
}

// assembleTiles assembles a machine of Swarm tiles.
func assembleTiles(cfg configs.Machine, opt Options, system *clock.System) (*Machine, error) {
	switch {
	case opt.Source != nil:
		return nil, errTiles("no traces are recorded or replayed")
	case opt.Sampling != nil:
		return nil, errTiles("no statistics over time are kept")
	case opt.Counters != NoCounters:
		return nil, errTiles("its cores have no performance counters")
	}
	m := &Machine{System: system, cfg: cfg, arg: opt.Arg}
	var err error
	if m.Arch, err = emu.New(emu.Config{
		Cores: cfg.Sockets * cfg.CoresPerSocket, Warps: 1, Threads: 1, Arg: opt.Arg, Out: opt.Out,
	}); err != nil {
		return nil, err
	}
	if m.domain, err = system.AddDomain("core", corePeriod); err != nil {
		return nil, err
	}
	m.outer = m.domain
	e, err := swarm.NewEngine(*cfg.Swarm, cfg.Sockets, cfg.CoresPerSocket, m.Arch)
	if err != nil {
		return nil, err
	}
	if opt.Check {
		e.Audit()
	}
	m.tasks = swarm.NewMachine("Swarm", e)
	m.tasks.Join(m.domain, m.tasks)
	m.tasks.Ended = func() { m.watchdog.look() }
	// The tiles' memory is part of them: this one, which nothing is connected to, stands where others have theirs.
	if m.Memory, err = dram.NewHarness("Memory", 1, 0, m.domain); err != nil {
		return nil, err
	}
	return m, m.watchdog.join(m, opt)
}

// launchTasks runs a program's tasks, and checks the run against them one after another.
func (m *Machine) launchTasks(ctx context.Context, p *isa.Program, arg uint32) (r Result, err error) {
	before, executed := m.tasks.Remember(), m.Arch.Stats()
	if err := m.tasks.Launch(p, arg); err != nil {
		return Result{}, err
	}
	m.tasks.Start()
	m.watchdog.arm(ctx, m.domain.After()-1)
	err = m.System.Run()
	m.Arch.FlushConsole()
	r = Result{Stats: m.Arch.Stats().Since(executed), Cycles: m.tasks.Cycles(), LastTime: m.tasks.LastTime()}
	switch {
	case m.watchdog.err != nil:
		err = m.watchdog.err
	case err == nil && m.tasks.Err() != nil:
		err = m.tasks.Err()
	case err == nil:
		err = m.tasks.Verify(ctx, p, arg, before)
	}
	m.spent = err != nil
	return r, err
}

// executeTasks executes a program's tasks one after another, without time.
func (m *Machine) executeTasks(ctx context.Context, p *isa.Program, arg uint32) (Result, error) {
	if m.spent {
		return Result{}, errSpent
	}
	m.Arch.SetArg(arg)
	m.Arch.Load(p)
	before := m.Arch.Stats()
	_, err := m.Arch.RunTasks(ctx, p, nil)
	m.spent = err != nil
	return Result{Stats: m.Arch.Stats().Since(before)}, err
}

// UseCores makes coming launches use the first cores only, tile by tile; only machines of Swarm tiles can.
func (m *Machine) UseCores(n int) error {
	if m.tasks == nil {
		return errors.New("expected a machine of Swarm tiles")
	}
	return m.tasks.UseCores(n)
}

// taskStats returns the statistics of a machine of Swarm tiles.
func (m *Machine) taskStats() stats.Tree {
	s, cycles, c := m.Arch.Stats(), m.tasks.Total(), &m.tasks.Stats
	t := append(stats.Tree{stats.Count("cycles", "cycles", "Until the last task had committed, of all launches.", cycles)},
		executed(&s)...)
	t = append(t,
		stats.Ratio("ipc", "warp instructions/cycle", "Instructions of committed tasks a cycle, of all cores together.",
			float64(s.WarpInstrs), float64(cycles)),
		edges(&s),
		stats.Ratio("edges_per_cycle", "edges/cycle", "Edges handled a cycle.", float64(s.Edges), float64(cycles)),
		stats.Ratio("swarm.tasks_per_cycle", "tasks/cycle", "Tasks that committed a cycle.", float64(c.Committed),
			float64(cycles)),
		stats.Ratio("swarm.abort_rate", "", "Share of executions that were aborted.", float64(c.Aborts.Total()),
			float64(c.Hosted)),
	)
	return append(append(t, Instructions(s)...), stats.Walk("swarm", c)...)
}

// checkTiles checks the counts of the tiles.
func (m *Machine) checkTiles() error {
	if err := m.tasks.CheckInvariants(); err != nil {
		return &InvariantsError{[]error{err}}
	}
	return nil
}

// tileWaits describes how far the tasks are.
func (m *Machine) tileWaits() []string {
	s := &m.tasks.Stats
	return []string{fmt.Sprintf("%s: %d tasks have committed, %d executions were aborted", m.tasks.Name(), s.Committed,
		s.Aborts.Total())}
}
