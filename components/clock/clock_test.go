package clock_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"heddle/components/clock"
)

const ns = clock.Femto(1_000_000)

func newSystem() *clock.System { return clock.NewSystem("Clock", sim.NewSerialEngine()) }

func addDomain(t testing.TB, s *clock.System, name string, period clock.Femto) *clock.Domain {
	d, err := s.AddDomain(name, period)
	require.NoError(t, err)
	return d
}

// unit calls its function and records its ticks.
type unit struct {
	at    clock.Handle
	ticks []clock.Cycle
	f     func(now clock.Cycle) bool
}

func (u *unit) Tick(now clock.Cycle) bool {
	u.ticks = append(u.ticks, now)
	return u.f != nil && u.f(now)
}

func add(d *clock.Domain, f func(clock.Cycle) bool) *unit {
	u := &unit{f: f}
	u.at = d.Add(u)
	return u
}

func TestSleepersDoNotTick(t *testing.T) {
	s := newSystem()
	d := addDomain(t, s, "core", ns)
	a := add(d, func(now clock.Cycle) bool { return now < 3 })
	b := add(d, nil)
	a.at.Wake()
	require.NoError(t, s.Run())
	require.Equal(t, []clock.Cycle{1, 2, 3}, a.ticks)
	require.Empty(t, b.ticks)
	b.at.WakeAt(100)
	a.at.WakeAt(7)
	require.NoError(t, s.Run())
	require.Equal(t, []clock.Cycle{1, 2, 3, 7}, a.ticks)
	require.Equal(t, []clock.Cycle{100}, b.ticks)
	require.Equal(t, 100*ns, s.Now())
}

// A wake takes effect in the next cycle, whether the woken unit comes before
// or after its waker, and whatever word of the bit set it is in.
func TestWakeIsForTheNextCycle(t *testing.T) {
	for _, n := range []int{2, 65, 200} {
		for waker := range n {
			s := newSystem()
			d := addDomain(t, s, "core", ns)
			units := make([]*unit, n)
			for i := range units {
				units[i] = add(d, nil)
			}
			units[waker].f = func(clock.Cycle) bool {
				for i, u := range units {
					if i != waker {
						u.at.Wake()
					}
				}
				return false
			}
			units[waker].at.WakeAt(5)
			require.NoError(t, s.Run())
			for i, u := range units {
				require.Equal(t, []clock.Cycle{map[bool]clock.Cycle{true: 5, false: 6}[i == waker]}, u.ticks)
			}
		}
	}
}

func TestTheEarlierTimerCounts(t *testing.T) {
	s := newSystem()
	u := add(addDomain(t, s, "core", ns), nil)
	u.at.WakeAt(50)
	u.at.WakeAt(20)
	u.at.WakeAt(90)
	require.NoError(t, s.Run())
	require.Equal(t, []clock.Cycle{20}, u.ticks)
}

// Clocks of a rational ratio meet exactly, for ever: 1.0 ns and 0.625 ns share
// every fifth edge of the slower one.
func TestRationalClocks(t *testing.T) {
	s := newSystem()
	var order []string
	slow := addDomain(t, s, "slow", ns)
	fast := addDomain(t, s, "fast", 625_000)
	note := func(d *clock.Domain, until clock.Cycle) func(clock.Cycle) bool {
		return func(now clock.Cycle) bool {
			order = append(order, fmt.Sprintf("%s@%d", d.Name(), s.Now()/1000))
			return now < until
		}
	}
	a, b := add(slow, note(slow, 5)), add(fast, note(fast, 8))
	a.at.Wake()
	b.at.Wake()
	require.NoError(t, s.Run())
	require.Equal(t, []string{
		"fast@625", "slow@1000", "fast@1250", "fast@1875", "slow@2000", "fast@2500", "slow@3000",
		"fast@3125", "fast@3750", "slow@4000", "fast@4375", "slow@5000", "fast@5000",
	}, order)
}

func TestLinkIsNotReadInTheCycleItIsPushed(t *testing.T) {
	for _, latency := range []clock.Cycle{1, 3} {
		s := newSystem()
		d := addDomain(t, s, "core", ns)
		var got []clock.Cycle
		var l *clock.Link[int]
		consumer := add(d, func(now clock.Cycle) bool {
			if l.Ready() {
				got = append(got, now)
				l.Pop()
			}
			return l.Len() > 0
		})
		producer := add(d, func(now clock.Cycle) bool {
			l.Push(int(now))
			return now < 4
		})
		l = clock.NewLink[int]("l", 8, latency, producer.at, consumer.at)
		producer.at.WakeAt(2)
		require.NoError(t, s.Run())
		require.Equal(t, []clock.Cycle{2 + latency, 3 + latency, 4 + latency}, got)
	}
}

func TestLinkBetweenClocks(t *testing.T) {
	s := newSystem()
	core, dram := addDomain(t, s, "core", ns), addDomain(t, s, "dram", 1_700_000)
	var at []clock.Femto
	var l *clock.Link[int]
	consumer := add(dram, func(clock.Cycle) bool {
		for l.Ready() {
			at = append(at, s.Now())
			l.Pop()
		}
		return false
	})
	producer := add(core, func(now clock.Cycle) bool {
		l.Push(0)
		return now < 4
	})
	l = clock.NewLink[int]("l", 8, 1, producer.at, consumer.at)
	producer.at.Wake()
	require.NoError(t, s.Run())
	// Pushed at 1, 2, 3, 4 ns, ready one core cycle later, read at the next edge.
	require.Equal(t, []clock.Femto{3_400_000, 3_400_000, 5_100_000, 5_100_000}, at)
}

func TestPushToAFullLinkIsABug(t *testing.T) {
	s := newSystem()
	d := addDomain(t, s, "core", ns)
	u := add(d, nil)
	l := clock.NewLink[int]("core.out", 1, 1, u.at, u.at)
	require.False(t, l.Full())
	l.Push(1)
	require.True(t, l.Full())
	require.PanicsWithValue(t, "BUG: core.out @0: push to a full link", func() { l.Push(2) })
	require.PanicsWithValue(t, "BUG: core.out @0: pop of nothing", func() { l.Pop() })
}

// TestRoom: slots that are taken from in a cycle are seen free in the next, and whoever asked is woken for it.
func TestRoom(t *testing.T) {
	s := newSystem()
	d := addDomain(t, s, "core", ns)
	var l *clock.Link[int]
	var asked []string
	producer := add(d, func(now clock.Cycle) bool {
		asked = append(asked, fmt.Sprint(now, l.Room(1), l.Room(2), l.Room(3)))
		return false
	})
	consumer := add(d, func(now clock.Cycle) bool {
		if now == 5 || now == 9 {
			l.Pop()
		}
		return now < 9
	})
	l = clock.NewLink[int]("l", 3, 1, producer.at, consumer.at)
	l.Push(1)
	l.Push(2)
	producer.at.WakeAt(5)
	consumer.at.Wake()
	require.NoError(t, s.Run())
	require.Equal(t, []string{"5 true false false", "6 true true false", "10 true true true"}, asked)
}

// chain is a random machine: stages connected by links, each passing values on
// with its own stalls. It returns when each value reached the end.
func chain(t *testing.T, seed uint64, order func(n int) []int) (arrivals []string, traffic []uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	const stages, values = 6, 200
	s := newSystem()
	core, mem := addDomain(t, s, "core", ns), addDomain(t, s, "mem", clock.Femto(300_000+r.IntN(2_000_000)))
	units := make([]*unit, stages)
	clockOf := make([]*clock.Domain, stages)
	for i := range units {
		units[i] = &unit{}
		clockOf[i] = []*clock.Domain{core, mem}[r.IntN(2)]
	}
	for _, i := range order(stages) {
		units[i].at = clockOf[i].Add(units[i])
	}
	links := make([]*clock.Link[int], stages)
	for i := 1; i < stages; i++ {
		links[i] = clock.NewLink[int](fmt.Sprint("l", i), 1+r.IntN(3), clock.Cycle(1+r.IntN(4)), units[i-1].at,
			units[i].at)
	}
	sent := 0
	for i, u := range units {
		stall := uint64(1 + r.IntN(4))
		u.f = func(now clock.Cycle) bool {
			if now%stall != 0 {
				return true
			}
			if i == 0 {
				if sent < values && !links[1].Full() {
					links[1].Push(sent)
					sent++
				}
				return sent < values
			}
			in := links[i]
			if !in.Ready() {
				return in.Len() > 0
			}
			if i == stages-1 {
				arrivals = append(arrivals, fmt.Sprintf("%d@%d", in.Pop(), s.Now()))
				return true
			}
			if links[i+1].Full() {
				return false // woken when there is a slot
			}
			links[i+1].Push(in.Pop())
			return true
		}
	}
	units[0].at.Wake()
	require.NoError(t, s.Run())
	for _, l := range links[1:] {
		pushed, popped := l.Traffic()
		require.Equal(t, pushed, popped, "%s is drained", l.Name())
		traffic = append(traffic, pushed)
	}
	return arrivals, traffic
}

func TestResultsDoNotDependOnRegistrationOrder(t *testing.T) {
	ordered := func(n int) []int { return rand.New(rand.NewPCG(0, 0)).Perm(n) }
	for seed := range uint64(50) {
		want, traffic := chain(t, seed, ordered)
		require.Len(t, want, 200)
		require.Equal(t, []uint64{200, 200, 200, 200, 200}, traffic)
		for shuffle := range uint64(5) {
			got, _ := chain(t, seed, rand.New(rand.NewPCG(seed, shuffle+1)).Perm)
			require.Equal(t, want, got, "seed %d, order %d", seed, shuffle)
		}
	}
}

// TestScatter: seeds give orders of their own, of units and of domains, and the same again.
func TestScatter(t *testing.T) {
	order := func(seed uint64) (ticked []string) {
		s := newSystem()
		if seed > 0 {
			s.Scatter(seed)
		}
		for _, name := range []string{"core", "dram", "late"} {
			d := addDomain(t, s, name, ns)
			for i := range 70 {
				add(d, func(clock.Cycle) bool { ticked = append(ticked, fmt.Sprint(name, i)); return false }).at.Wake()
			}
		}
		require.NoError(t, s.Run())
		return ticked
	}
	plain := order(0)
	require.Equal(t, []string{"core0", "core1"}, plain[:2])
	firsts := map[string]bool{}
	for seed := uint64(1); seed < 20; seed++ {
		got := order(seed)
		require.ElementsMatch(t, plain, got)
		require.Equal(t, got, order(seed))
		firsts[got[0][:4]] = true
		require.NotEqual(t, got, order(seed+1))
	}
	require.Len(t, firsts, 3, "each domain is first for some seed")
	s := newSystem()
	addDomain(t, s, "core", ns)
	require.PanicsWithValue(t, "BUG: Clock @0: scattered after domain core was added", func() { s.Scatter(1) })
}

func TestStopAndGoOn(t *testing.T) {
	s := newSystem()
	d := addDomain(t, s, "core", ns)
	u := add(d, func(now clock.Cycle) bool {
		if now == 10 {
			s.Stop()
		}
		return now < 20
	})
	u.at.Wake()
	require.NoError(t, s.Run())
	require.Len(t, u.ticks, 10)
	require.NoError(t, s.Run())
	require.Len(t, u.ticks, 20)
}

func BenchmarkDomain(b *testing.B) {
	for _, n := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("awake=%d", n), func(b *testing.B) {
			s := newSystem()
			d := addDomain(b, s, "core", ns)
			left := b.N
			for i := range n {
				h := d.Add(tickFunc(func(clock.Cycle) bool {
					if i == 0 {
						left--
					}
					return left > 0
				}))
				h.Wake()
			}
			b.ReportAllocs()
			b.ResetTimer()
			_ = s.Run()
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/tick")
		})
	}
}

type tickFunc func(clock.Cycle) bool

func (f tickFunc) Tick(now clock.Cycle) bool { return f(now) }

func BenchmarkLink(b *testing.B) {
	s := newSystem()
	d := addDomain(b, s, "core", ns)
	var l *clock.Link[[2]uint64]
	sent := 0
	consumer := d.Add(tickFunc(func(clock.Cycle) bool {
		if l.Ready() {
			l.Pop()
		}
		return l.Len() > 0
	}))
	producer := d.Add(tickFunc(func(clock.Cycle) bool {
		if !l.Full() {
			l.Push([2]uint64{})
			sent++
		}
		return sent < b.N
	}))
	l = clock.NewLink[[2]uint64]("l", 4, 1, producer, consumer)
	producer.Wake()
	b.ReportAllocs()
	b.ResetTimer()
	_ = s.Run()
}

// TestFlags: a consumer's bit is set while the link holds values, a producer's from when it was full until one is
// taken.
func TestFlags(t *testing.T) {
	s := newSystem()
	d := addDomain(t, s, "core", ns)
	var l *clock.Link[int]
	var filled, stuck uint64
	var seen []string
	producer := add(d, func(now clock.Cycle) bool {
		for now == 1 && !l.Full() {
			l.Push(int(now))
		}
		seen = append(seen, fmt.Sprint(now, filled, stuck))
		return false
	})
	consumer := add(d, func(now clock.Cycle) bool {
		if now >= 4 {
			l.Drop()
		}
		return now < 5
	})
	l = clock.NewLink[int]("l", 2, 1, producer.at, consumer.at)
	l.Flag(&filled, 3)
	l.FlagStuck(&stuck, 5)
	producer.at.Wake()
	consumer.at.Wake()
	require.NoError(t, s.Run())
	require.Equal(t, []string{"1 8 32", "5 8 0"}, seen, "woken for the first slot only: it does not ask again")
	require.Zero(t, filled)
}
