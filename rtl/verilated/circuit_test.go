package verilated

import (
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/components/ctrlproc"
	"heddle/components/graphpeg"
	"heddle/components/weaver"
	"heddle/internal/tools"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/rtl"
)

const warps, lanes = 3, 4

var spec = weaver.Spec{STEntries: 12, DTEntries: 12, TableLatency: 5, STRow: 2, Prefetch: true, SkipEmpty: true,
	MaskByUnit: true, RequestQueue: 3, Model: weaver.ModelRTL}

func needTools(t *testing.T) {
	for _, name := range requiredTools {
		tools.Need(t, name)
	}
}

func newCircuit(t *testing.T) *Circuit {
	needTools(t)
	c, err := New("Core0.Weaver", spec, warps, lanes)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestWithoutTools: the message says what to install.
func TestWithoutTools(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := weaver.New("Core0.Weaver", spec, warps, lanes)
	require.ErrorIs(t, err, ErrNoTools)
	require.ErrorContains(t, err, "core.weaver.model = rtl: verilator not found: ")
	require.ErrorContains(t, err, "apt-get install verilator g++ make")

	peg := graphpeg.DefaultSpec().Derived(warps, 6)
	peg.Model = graphpeg.ModelRTL
	_, err = graphpeg.New("Core0.GraphPEG", peg, graphpeg.Shape{Cores: 1, Warps: warps, Threads: lanes, LineBytes: 64})
	require.ErrorIs(t, err, ErrNoTools)
	require.ErrorContains(t, err, "core.graphpeg.model = rtl: verilator not found: ")

	control := ctrlproc.DefaultSpec()
	control.Model = ctrlproc.ModelRTL
	_, err = ctrlproc.New("CtrlProc", control, 2)
	require.ErrorIs(t, err, ErrNoTools)
	require.ErrorContains(t, err, "ctrlproc.model = rtl: verilator not found: ")
	control.Policy = ctrlproc.PolicyIdeal
	_, err = ctrlproc.New("CtrlProc", control, 2)
	require.ErrorIs(t, err, rtl.ErrNone)
}

// TestAProgramIsKept, by parameters and sources.
func TestAProgramIsKept(t *testing.T) {
	c := newCircuit(t)
	before, err := os.Stat(c.program)
	require.NoError(t, err)
	c = newCircuit(t)
	after, err := os.Stat(c.program)
	require.NoError(t, err)
	require.Equal(t, before.ModTime(), after.ModTime())

	one, err := rtl.Weaver(spec, warps, lanes)
	require.NoError(t, err)
	queue, other := spec, spec
	queue.RequestQueue, other.TableLatency = 2, 6 // the socket has the queue
	seen := map[string]bool{}
	for _, s := range []weaver.Spec{spec, queue, other} {
		u, err := rtl.Weaver(s, warps, lanes)
		require.NoError(t, err)
		dir, err := folder("cache", u)
		require.NoError(t, err)
		seen[dir] = true
	}
	require.Len(t, seen, 2)
	digest, err := one.Digest()
	require.NoError(t, err)
	require.Len(t, digest, 64)
}

// TestAtRestNothingChanges after table_latency cycles without a request: a circuit that plays no more of them has the
// outputs of one that plays all.
func TestAtRestNothingChanges(t *testing.T) {
	short, long := newCircuit(t), newCircuit(t)
	long.settles = 1 << 20
	require.NoError(t, short.Launch())
	require.NoError(t, long.Launch())
	r := rand.New(rand.NewPCG(40, 1))
	d := &requests{Rand: r}
	states := map[weaver.S]int{}
	var a, b weaver.Outputs
	for cycle := range 6000 {
		if cycle%1500 == 1499 {
			require.NoError(t, short.Launch())
			require.NoError(t, long.Launch())
			*d = requests{Rand: r}
			a, b = weaver.Outputs{}, weaver.Outputs{}
		}
		in := weaver.Inputs{Room: r.IntN(3) > 0}
		rests := d.head == nil && a.Reads == 0 && (a.State == weaver.S0 || a.State == weaver.S6 || a.State == weaver.S8)
		if rests && r.IntN(3) == 0 {
			in.Idle = r.Uint64N(200)
			states[a.State]++
		}
		in.New = d.head == nil && r.IntN(3) > 0 && d.draw(&a)
		in.Head = d.head
		require.NoError(t, short.Cycle(in, &a))
		require.NoError(t, long.Cycle(in, &b))
		require.Equal(t, a, b, "cycle %d", cycle)
		if a.Took {
			d.head = nil
		}
	}
	for _, s := range []weaver.S{weaver.S0, weaver.S6, weaver.S8} {
		require.NotZero(t, states[s], s)
	}
}

// requests draws what a core asks.
type requests struct {
	*rand.Rand
	registered int // warps of the epoch
	head       *emu.UnitRequest
}

func (d *requests) draw(a *weaver.Outputs) bool {
	q := newRequest(d.IntN(warps), 1<<lanes-1)
	switch {
	case a.State == weaver.S8 && d.registered == warps && d.IntN(4) == 0:
		d.registered = 0
		fallthrough
	case d.registered < warps:
		if a.State != weaver.S0 && a.State != weaver.S8 {
			return false
		}
		q.Fn, q.Warp = isa.WeaverReg, d.registered
		d.registered++
		for l := range lanes {
			q.A[l], q.B[l], q.C[l] = d.Uint32N(5), d.Uint32(), d.Uint32N(9)
		}
	default:
		q.Fn = [...]uint8{isa.WeaverDecID, isa.WeaverDecID, isa.WeaverDecLoc, isa.WeaverSkip}[d.IntN(4)]
		for l := range lanes {
			q.A[l] = d.Uint32N(5)
		}
	}
	d.head = q
	return true
}

func newRequest(warp int, mask uint32) *emu.UnitRequest {
	words := make([]uint32, 3*lanes)
	return &emu.UnitRequest{Warp: warp, Mask: mask, A: words[:lanes], B: words[lanes : 2*lanes], C: words[2*lanes:]}
}

// TestProcesses end with their circuit, and one that ends too early ends the run with what it has said.
func TestProcesses(t *testing.T) {
	ends := func(p *process) {
		select {
		case <-p.done:
		case <-time.After(time.Minute):
			require.Fail(t, "the process goes on")
		}
	}
	c := newCircuit(t)
	require.NoError(t, c.Launch())
	p := c.process
	require.NoError(t, c.Close())
	ends(p)
	require.NoError(t, p.err)

	require.NoError(t, c.Launch(), "it begins anew")
	require.NoError(t, syscall.Kill(c.process.pid, syscall.SIGKILL))
	ends(c.process)
	var out weaver.Outputs
	err := c.Cycle(weaver.Inputs{}, &out)
	require.ErrorContains(t, err, "the process of Core0.Weaver has ended (signal: killed")

	c = newCircuit(t)
	require.NoError(t, c.Launch())
	err = c.Cycle(weaver.Inputs{New: true, Head: newRequest(0, 0)}, &out)
	if err == nil {
		err = c.Cycle(weaver.Inputs{}, &out)
	}
	require.ErrorContains(t, err, "RequestHasALane")
}
