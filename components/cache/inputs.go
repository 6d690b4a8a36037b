package cache

import (
	"fmt"
	"math/bits"

	"heddle/components/queue"
)

// input is a requester of the banks: a port, or several behind an arbiter, such as the cores of a socket that share an
// L1, or a socket's L1I and L1D at the L2 (RTL: VX_mem_arb in VX_cache_cluster and VX_socket). The arbiter moves one
// request per cycle into a two-entry buffer, which costs a cycle, and a flush at the buffer's head holds up the
// requests behind it.
type input struct {
	ports uint64               // a set
	port  int                  // the lowest of ports
	one   bool                 // a single port, whose link is read directly
	buf   queue.Queue[request] // of a shared input
	arb   arbiter              // over ports
	rsp   arbiter              // over banks, for responses
}

// arbiterEntries is the depth of the buffer behind an arbiter (RTL: REQ_OUT_BUF 2 and 3, a skid buffer).
const arbiterEntries = 2

// makeInputs groups the ports by Spec.Inputs, and returns the number of inputs.
func (c *Cache) makeInputs() (n int) {
	for i := range c.spec.Ports {
		in := i
		if c.spec.Inputs != nil {
			in = int(c.spec.Inputs[i])
		}
		for ; n <= in; n++ {
			c.inputs[n] = &input{port: i}
		}
		c.ports[i].in = uint8(in)
		c.inputs[in].ports |= bit(i)
	}
	for i, in := range c.inputs[:n] {
		if in.one = in.ports == bit(in.port); !in.one {
			in.buf = queue.New[request](arbiterEntries, &c.self, fmt.Sprintf("arbiter of input %d", i))
			in.buf.Flag(&c.sets.arrived, i)
			c.shared = append(c.shared, in)
		}
	}
	return n
}

// head copies input i's first request to heads, and reports whether there is one.
func (c *Cache) head(i int) bool {
	in := c.inputs[i&(maxPorts-1)]
	if !in.one {
		c.heads[i&(maxPorts-1)] = *in.buf.Front()
		return true
	}
	link := c.ports[in.port&(maxPorts-1)].req
	if !link.Ready() {
		return false
	}
	c.heads[i&(maxPorts-1)].set(link.Front(), c.lineShift, in.port)
	return true
}

// pop removes the first request of an input.
func (c *Cache) pop(i int) {
	in := c.inputs[i&(maxPorts-1)]
	if !in.one {
		in.buf.Drop()
		return
	}
	c.popPort(in.port)
}

// popPort removes the first request of a port.
func (c *Cache) popPort(i int) {
	link := c.ports[i&(maxPorts-1)].req
	if c.NumHooks() != 0 {
		c.callHooks(HookPosRequest, i, *link.Front())
	}
	link.Drop()
}

// arbitrate moves a request into the buffer of each shared input that had a slot when the cycle began.
func (c *Cache) arbitrate() {
	for ports := c.sets.queued; ports != 0; {
		in := c.inputs[c.ports[first(ports)].in&(maxPorts-1)]
		if !in.buf.Full() {
			c.arbitrateInput(in, ports&in.ports)
		}
		ports &^= in.ports
	}
}

// arbitrateInput moves a request from one of the ports whose links hold requests.
func (c *Cache) arbitrateInput(in *input, ports uint64) {
	var ready uint64
	for ; ports != 0; ports &= ports - 1 {
		if i := first(ports); c.ports[i].req.Ready() {
			ready |= bit(i)
		}
	}
	if ready == 0 {
		return
	}
	i := in.arb.pick(ready)
	if !c.spec.PriorityInputs {
		in.arb.grant(i)
	}
	c.stats.BankConflicts += uint64(bits.OnesCount64(ready) - 1)
	var r request
	r.set(c.ports[i].req.Front(), c.lineShift, i)
	in.buf.Push(r)
	c.popPort(i)
	c.moved = true
}
