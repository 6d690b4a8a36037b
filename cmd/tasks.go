package cmd

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"

	"heddle/configs"
	"heddle/experiment"
	"heddle/kernels/host"
	"heddle/sim/stats"
)

// tilesLack refuses to show warps of a machine that consists of Swarm tiles.
func tilesLack(m *configs.Machine, name string, window *windowFlags, stop *stopFlags, hot *hotFlags) error {
	if m.Swarm == nil || !window.wanted() && !window.list && !stop.wanted() && hot.to == "" {
		return nil
	}
	return fmt.Errorf("%s consists of Swarm tiles: --window, --break, --at-cycle and --report show warps, "+
		"which it has not", name)
}

// taskTable writes the fates of the tasks of a run on Swarm tiles; nothing for other machines.
func taskTable(w io.Writer, d host.Device) {
	m, ok := d.(*host.Timed)
	if !ok || !m.Machine.Tiles() {
		return
	}
	all := m.Machine.Statistics()
	count := func(name string) uint64 {
		s, _ := all.Get("swarm." + name)
		n, _ := s.Uint()
		return n
	}
	t := newTable(w, "tasks", "", "executions", "", "core-cycles", "")
	row := func(task, execution, cycles string) {
		cell := func(name string) string {
			if name == "" {
				return ""
			}
			return experiment.Thousands(count(name))
		}
		share := ""
		if total := coreCycleSum(all); total > 0 {
			share = fmt.Sprintf("%.1f %%", 100*float64(count("core_cycles."+cycles))/total)
		}
		t.AppendRow(table.Row{last(task), cell(task), last(execution), cell(execution), cycles, share})
	}
	row("tasks.enqueued", "tasks.dispatched", "committed")
	row("tasks.committed", "aborts.conflict", "aborted")
	row("tasks.discarded", "aborts.dependent", "spill")
	row("tasks.spilled", "aborts.parent", "stalled")
	row("", "aborts.resource", "empty")
	t.Render()
}

// last is the last part of a statistic's name.
func last(name string) string {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' {
			group := name[:i]
			if group == "aborts" {
				return "aborted: " + name[i+1:]
			}
			return name[i+1:]
		}
	}
	return name
}

func coreCycleSum(all stats.Tree) (sum float64) {
	for _, name := range []string{"committed", "aborted", "spill", "stalled", "empty"} {
		s, _ := all.Get("swarm.core_cycles." + name)
		sum += s.Float()
	}
	return sum
}
