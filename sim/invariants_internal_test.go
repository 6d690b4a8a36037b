package sim

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/mem"
	"heddle/configs"
	"heddle/isa/micro"
)

// checked runs a program that misses and writes, and checks it.
func checked(t *testing.T) *Machine {
	t.Helper()
	l, err := configs.LoadMachine("vortex-rtl-m6", nil, nil)
	require.NoError(t, err)
	m, err := New(l.Value, Options{Check: true})
	require.NoError(t, err)
	for _, name := range []string{"ld_rand", "st_coal"} {
		p, err := micro.Program(name, 3)
		require.NoError(t, err)
		_, err = m.Run(context.Background(), p)
		require.NoError(t, err)
	}
	require.NoError(t, m.CheckInvariants())
	return m
}

func (a *auditor) port(t *testing.T, name string) *wire {
	for _, l := range a.levels {
		for _, w := range l.wires {
			if w.name == name {
				return w
			}
		}
	}
	t.Fatalf("no port %s", name)
	return nil
}

// TestBrokenInvariantsAreFound puts a message or a count too many where no unit knows of it.
func TestBrokenInvariantsAreFound(t *testing.T) {
	const far = 0xF0000000
	for name, c := range map[string]struct {
		fault func(*testing.T, *Machine)
		says  []string
	}{
		"a read without an answer": {
			func(t *testing.T, m *Machine) {
				m.auditor.port(t, "Memory.port1").request(&mem.Request{Addr: far, Tag: 7, Op: mem.Read})
			},
			[]string{"Memory.port1: invariant violated: " + allAnswered + ": 1 have none"},
		},
		"two requests of one tag": {
			func(t *testing.T, m *Machine) {
				for range 2 {
					m.auditor.port(t, "Socket1.L1D.port2").request(&mem.Request{Addr: far, Tag: 7, Op: mem.Atomic})
				}
			},
			[]string{"Socket1.L1D.port2: invariant violated: " + allAnswered +
				": atomic of 0xf0000000 has tag 7, and so has a atomic that is not answered"},
		},
		"an answer to nothing": {
			func(t *testing.T, m *Machine) { m.auditor.port(t, "L2.port0").response(&mem.Response{Tag: 99}) },
			[]string{"L2.port0: invariant violated: " + allAnswered +
				": an answer with tag 99, which nothing asked for"},
		},
		"two fills of a line": {
			func(t *testing.T, m *Machine) {
				m.auditor.port(t, "Memory.port0").request(&mem.Request{Addr: far, Tag: 7, Op: mem.Read})
				m.auditor.port(t, "Memory.port1").request(&mem.Request{Addr: far + 60, Tag: 8, Op: mem.Read})
			},
			[]string{"L2: invariant violated: " + oneFill + ": line 0xf0000000 is asked for again"},
		},
		"a write that is lost": {
			func(t *testing.T, m *Machine) {
				m.auditor.port(t, "Memory.port0").request(&mem.Request{Addr: far, Op: mem.Write})
			},
			[]string{"L2: invariant violated: " + conserved + ": it has sent writes of ",
				"Memory: invariant violated: " + conserved + ": it has received writes of "},
		},
		"a write that comes from nowhere": {
			func(t *testing.T, m *Machine) { m.auditor.port(t, "L2.port3").sent[mem.Write]-- },
			[]string{"Socket1.L1D: invariant violated: " + conserved, "L2: invariant violated: " + conserved},
		},
		"a request that a core has not counted": {
			func(_ *testing.T, m *Machine) { m.Cores[4].Coalesced-- },
			[]string{"Core4: invariant violated: " + conserved + ": it has sent "},
		},
		"a load that a core has counted as an atomic": {
			func(_ *testing.T, m *Machine) { m.Cores[4].LoadRequests--; m.Cores[4].AtomicRequests++ },
			[]string{"Core4: invariant violated: " + conserved + ": it has sent reads of "},
		},
		"a request that stays in its link": {
			func(t *testing.T, m *Machine) {
				l := m.auditor.port(t, "Socket0.L1I.port0").req
				l.Observe(nil)
				l.Push(mem.Request{Addr: far, Op: mem.Read})
			},
			[]string{"Socket0.L1I.port0: invariant violated: " + allTaken},
		},
		"an instruction that has not ended": {
			func(_ *testing.T, m *Machine) { m.Cores[2].Committed-- },
			[]string{"Core2: invariant violated: instructions issued = committed"},
		},
		"a warp's cycle of no phase": {
			func(_ *testing.T, m *Machine) { m.Cores[1].Phases.Cycles[0]-- },
			[]string{"Core1: invariant violated: warp-cycles of phases add up to resident warp-cycles"},
		},
		"a scheduler's cycle of two phases": {
			func(_ *testing.T, m *Machine) { m.Cores[1].Phases.Time[2]++ },
			[]string{"Core1: invariant violated: scheduler-cycles of phases add up to slices × cycles"},
		},
		"an instruction of two phases": {
			func(_ *testing.T, m *Machine) { m.Cores[1].Phases.Instrs[3]++ },
			[]string{"Core1: invariant violated: instructions of phases add up to instructions issued"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := checked(t)
			c.fault(t, m)
			err := m.CheckInvariants()
			require.IsType(t, &InvariantsError{}, err)
			for _, says := range c.says {
				require.ErrorContains(t, err, says)
			}
		})
	}
}
