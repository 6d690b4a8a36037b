package ctrlproc

import (
	"fmt"

	"heddle/components/balance"
)

// Processor decides who gives work to whom, and when there is none left.
type Processor struct {
	Stats
	spec  Spec
	polls bool // the policy wants loads to be read
	cores []core
	epoch uint32 // launches
	done  bool

	next    uint64 // when the next poll may start
	polling bool
	reading int // the next core to be read in this poll
	unread  int // reads that have not been answered
	open    int // donations between the command to the donor and the receiver's acknowledgement
}

// core is what the control processor knows of one.
type core struct {
	efs       uint32 // R_EFS when it was read last
	drained   bool
	receiver  int  // to whom it has been told to donate; -1: it has answered
	receiving bool // it has a donation coming
	out       []balance.Command
}

// NewProcessor makes the control processor of that many cores.
func NewProcessor(s Spec, cores int) *Processor {
	p := &Processor{spec: s, polls: s.Policy == "ef", cores: make([]core, cores)}
	p.done = true
	return p
}

// Launch is a kernel launch in cycle now: nobody is drained. What is under way of an
// earlier launch is void.
func (p *Processor) Launch(now uint64) {
	p.epoch++
	p.done, p.polling, p.unread, p.open, p.next = false, false, 0, 0, now+uint64(p.spec.Interval)
	for i := range p.cores {
		c := &p.cores[i]
		c.efs, c.drained, c.receiver, c.receiving, c.out = 0, false, -1, false, c.out[:0]
	}
}

// Report takes a unit's message.
func (p *Processor) Report(i int, r balance.Report) {
	p.Reports++
	if r.Epoch != p.epoch {
		if r.Event == balance.Donated {
			p.EdgesAbandoned += uint64(r.Range.End - r.Range.Start)
		}
		return
	}
	c := &p.cores[i]
	switch r.Event {
	case balance.Value:
		c.efs = r.Edges
		p.unread--
	case balance.Drained, balance.NotDrained:
		c.drained = r.Event == balance.Drained
	case balance.Donated:
		p.EdgesMoved += uint64(r.Range.End - r.Range.Start)
		p.Taken++
		p.order(c.receiver, balance.Command{Order: balance.Receive, Range: r.Range})
		c.receiver = -1
	case balance.Refused:
		p.Refused++
		p.order(c.receiver, balance.Command{Order: balance.Release})
		p.close(c.receiver)
		c.receiver = -1
	case balance.Inserted:
		p.close(i)
	}
}

// close ends a donation.
func (p *Processor) close(receiver int) {
	p.cores[receiver].receiving = false
	p.open--
}

// order has a command sent to core i.
func (p *Processor) order(i int, c balance.Command) {
	c.Epoch = p.epoch
	p.Commands++
	p.cores[i].out = append(p.cores[i].out, c)
}

// Cycle is one cycle after its reports. It returns the next in which something happens
// without a report; 0: none.
func (p *Processor) Cycle(now uint64) (wakeAt uint64) {
	if p.done || p.end() || !p.polls {
		return 0
	}
	if !p.polling && now >= p.next {
		p.polling, p.reading, p.next = true, 0, now+uint64(p.spec.Interval)
		p.Polls++
	}
	if p.polling {
		return p.poll(now)
	}
	return p.next
}

// poll reads one core a cycle and, when all have answered, balances.
func (p *Processor) poll(now uint64) (wakeAt uint64) {
	if p.reading < len(p.cores) {
		p.order(p.reading, balance.Command{Order: balance.Read})
		p.reading++
		p.unread++
		return now + 1
	}
	if p.unread > 0 {
		return 0
	}
	p.polling = false
	p.balance()
	return max(p.next, now+1)
}

// balance lets the most loaded core donate to the least, if it is worth it.
func (p *Processor) balance() {
	most, least := 0, 0
	for i := range p.cores {
		efs := p.cores[i].efs
		p.LoadSum += uint64(efs)
		if efs > p.cores[most].efs {
			most = i
		}
		if efs < p.cores[least].efs {
			least = i
		}
	}
	donor, receiver := &p.cores[most], &p.cores[least]
	p.LoadMax += uint64(donor.efs)
	size := (donor.efs - receiver.efs) / 2
	if size < 1 || donor.efs-receiver.efs < p.threshold(donor.efs) {
		return
	}
	if receiver.receiving || donor.receiver >= 0 {
		p.Busy++
		return
	}
	p.Offers++
	p.open++
	donor.receiver, receiver.receiving = least, true
	p.order(most, balance.Command{Order: balance.Donate, Edges: size})
	p.order(least, balance.Command{Order: balance.Standby})
}

// threshold is the least difference that is balanced.
func (p *Processor) threshold(most uint32) uint32 {
	if p.spec.Threshold > 0 {
		return uint32(p.spec.Threshold)
	}
	return most >> p.spec.ThresholdShift
}

// end says that all is done, when all units are drained and nothing is between them.
func (p *Processor) end() bool {
	for i := range p.cores {
		if !p.cores[i].drained {
			return false
		}
	}
	if p.open > 0 {
		return false
	}
	p.done = true
	for i := range p.cores {
		p.order(i, balance.Command{Order: balance.Done})
	}
	return true
}

// String describes what it waits for.
func (p *Processor) String() string {
	drained := 0
	for i := range p.cores {
		if p.cores[i].drained {
			drained++
		}
	}
	return fmt.Sprintf("%d of %d cores are drained, %d donations are open", drained, len(p.cores), p.open)
}
