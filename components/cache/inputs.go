package cache

import (
	"fmt"
	"math/bits"

	"heddle/components/clock"
)

// input is a requester of the banks: a port, or several behind an arbiter, as the cores of a socket are that
// share an L1, and a socket's L1I and L1D at the L2 (RTL: VX_mem_arb in VX_cache_cluster and VX_socket). The arbiter
// sends one request a cycle into a buffer of two places, which costs a cycle, and a flush at its end holds up those
// behind it.
type input struct {
	ports []int
	one   bool           // there is one port, whose link is read directly
	buf   queue[request] // of several ports
	arb   arbiter        // over ports
	rsp   arbiter        // over banks, for responses
}

// arbiterPlaces is the depth of the buffer behind an arbiter (RTL: REQ_OUT_BUF 2 and 3, a skid buffer).
const arbiterPlaces = 2

// makeInputs groups the ports by Spec.Inputs.
func (c *Cache) makeInputs() {
	for i := range c.ports {
		in := i
		if c.spec.Inputs != nil {
			in = int(c.spec.Inputs[i])
		}
		for len(c.inputs) <= in {
			c.inputs = append(c.inputs, input{})
		}
		c.ports[i].in = uint8(in)
		c.inputs[in].ports = append(c.inputs[in].ports, i)
	}
	for i := range c.inputs {
		in := &c.inputs[i]
		if in.one = len(in.ports) == 1; !in.one {
			in.buf = newQueue[request](arbiterPlaces, &c.self, fmt.Sprintf("arbiter of input %d", i))
			in.buf.flag(&c.sets.arrived, i)
			c.shared = append(c.shared, i)
		}
	}
	c.heads, c.rspTo = make([]request, len(c.inputs)), make([]uint64, len(c.inputs))
}

// head takes note of input i's first request, if there is one.
func (c *Cache) head(i int, now clock.Cycle) bool {
	in := &c.inputs[i]
	if in.one {
		p := in.ports[0]
		link := c.ports[p].req
		if !link.Ready() {
			return false
		}
		c.heads[i].set(link.Front(), c.lineShift, p)
		return true
	}
	r := in.buf.front(now)
	if r != nil {
		c.heads[i] = *r
	}
	return r != nil
}

// pop takes the first request from an input.
func (c *Cache) pop(i int) {
	in := &c.inputs[i]
	if !in.one {
		in.buf.pop()
		return
	}
	p := in.ports[0]
	r := c.ports[p].req.Pop()
	c.hook(HookPosRequest, p, r)
}

// arbitrate moves a request into the buffer of each shared input that has had a place since the last cycle.
func (c *Cache) arbitrate(now clock.Cycle) (moved bool) {
	for _, i := range c.shared {
		in := &c.inputs[i]
		if in.buf.full() {
			continue
		}
		var ready uint64
		for k, p := range in.ports {
			if c.ports[p].req.Ready() {
				ready |= 1 << k
			}
		}
		if ready == 0 {
			continue
		}
		k := in.arb.pick(ready)
		if !c.spec.PriorityInputs {
			in.arb.grant(k)
		}
		c.stats.BankConflicts += uint64(bits.OnesCount64(ready) - 1)
		p := in.ports[k]
		r := c.ports[p].req.Pop()
		c.hook(HookPosRequest, p, r)
		in.buf.push(request{r, r.Addr >> c.lineShift, uint8(p)}, now+1)
		moved = true
	}
	return moved
}
