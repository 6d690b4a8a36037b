package ctrlproc

import (
	"fmt"
	"math"

	"heddle/components/balance"
)

// Processor decides on donations between units, and detects the end of all work.
type Processor struct {
	Stats
	spec  Spec
	group int            // cores per group
	moves [numKinds]bool // kinds of work that the policy balances
	cores []core
	epoch uint32 // number of launches
	done  bool

	next    uint64 // first cycle in which the next poll may start
	polling bool
	reading int // next core in the round of reads: of all cores, or of each group
	unread  int // reads without an answer
	open    int // donations between the command to the donor and the receiver's acknowledgement
}

// kind is a kind of work that can be balanced.
type kind uint8

const (
	edges    kind = iota // of the edge frontier, by R_EFS
	vertices             // of the output lists, by their length
	numKinds
)

// orders maps each kind to its donation order.
var orders = [numKinds]balance.Order{edges: balance.Donate, vertices: balance.DonateVertices}

// policies maps each policy to the kinds of work that it balances by polling.
var policies = map[string][numKinds]bool{
	"none": {}, PolicyIdeal: {}, "ef": {edges: true}, "vl": {vertices: true}, "ef+vl": {true, true},
}

// core is the control processor's view of a core.
type core struct {
	load     [numKinds]uint32 // as of the last read
	drained  bool
	receiver [numKinds]int // core that it has been ordered to donate to; -1: none
	donor    [numKinds]int // core that donates to it; -1: none
	out      []balance.Command
}

// NewProcessor returns the control processor of that many cores.
func NewProcessor(s Spec, cores int) *Processor {
	return &Processor{spec: s, group: s.GroupOf(cores), moves: policies[s.Policy],
		cores: make([]core, cores), done: true}
}

// turn returns the distance between the cores that are read in one cycle: without groups one core is read.
func (p *Processor) turn() int {
	if p.group == 1 {
		return len(p.cores)
	}
	return p.group
}

// Launch begins a launch in cycle now: no unit is drained. Messages of earlier launches are void.
func (p *Processor) Launch(now uint64) {
	p.epoch++
	p.Abandoned += uint64(p.open)
	p.done, p.polling, p.unread, p.open, p.next = false, false, 0, 0, now+uint64(p.spec.Interval)
	for i := range p.cores {
		c := &p.cores[i]
		*c = core{receiver: [numKinds]int{-1, -1}, donor: [numKinds]int{-1, -1}, out: c.out[:0]}
	}
}

// Report handles a unit's message.
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
		c.load = [numKinds]uint32{r.Edges, r.Vertices}
		p.unread--
	case balance.Drained, balance.NotDrained:
		c.drained = r.Event == balance.Drained
	case balance.Donated:
		p.EdgesMoved += uint64(r.Range.End - r.Range.Start)
		p.Taken++
		p.order(c.receiver[edges], balance.Command{Order: balance.Receive, Range: r.Range})
	case balance.Refused:
		p.Refused++
		p.order(c.receiver[edges], balance.Command{Order: balance.Release})
		p.close(c.receiver[edges], edges)
	case balance.Inserted:
		p.close(i, edges)
	case balance.DonatedVertices:
		p.vertices(c.receiver[vertices], r)
	case balance.InsertedVertices:
		p.close(i, vertices)
	}
}

// vertices forwards the address of a donor's vertices, if it has donated any.
func (p *Processor) vertices(receiver int, r balance.Report) {
	if r.Vertices == 0 {
		p.Refused++
		p.close(receiver, vertices)
		return
	}
	p.Taken++
	p.VerticesMoved += uint64(r.Vertices)
	p.order(receiver, balance.Command{Order: balance.ReceiveVertices, Vertices: r.Vertices, Addr: r.Addr})
}

// close ends a donation.
func (p *Processor) close(receiver int, k kind) {
	donor := &p.cores[receiver].donor[k]
	p.cores[*donor].receiver[k] = -1
	*donor = -1
	p.open--
}

// order queues a command to core i.
func (p *Processor) order(i int, c balance.Command) {
	c.Epoch = p.epoch
	p.Commands++
	p.cores[i].out = append(p.cores[i].out, c)
}

// Next returns the oldest command to core i that has not left.
func (p *Processor) Next(i int) (c balance.Command, ok bool) {
	if q := p.cores[i].out; len(q) > 0 {
		return q[0], true
	}
	return c, false
}

// Left removes the oldest command to core i.
func (p *Processor) Left(i int) {
	q := &p.cores[i].out
	*q = (*q)[:copy(*q, (*q)[1:])]
}

// Cycle runs one cycle, after its reports. It returns the next cycle in which something happens without a report; 0:
// none.
func (p *Processor) Cycle(now uint64) (wakeAt uint64) {
	if p.done || p.end() || p.moves == [numKinds]bool{} {
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

// poll reads one core per cycle, of each group, and balances when all have answered.
func (p *Processor) poll(now uint64) (wakeAt uint64) {
	if p.reading < p.turn() {
		for i := p.reading; i < len(p.cores); i += p.turn() {
			p.order(i, balance.Command{Order: balance.Read})
			p.unread++
		}
		p.reading++
		return now + 1
	}
	if p.unread > 0 {
		return 0
	}
	p.polling = false
	for k, moves := range p.moves {
		if moves {
			p.balance(kind(k))
		}
	}
	return max(p.next, now+1)
}

// balance starts donations between groups, and between the cores of each.
func (p *Processor) balance(k kind) {
	most, _, _ := p.extremes(k, 0, len(p.cores))
	p.LoadMax += uint64(p.cores[most].load[k])
	p.between(k)
	if p.group == 1 {
		return
	}
	for first := 0; first < len(p.cores); first += p.group {
		p.within(k, first)
	}
}

// within lets the most loaded core of a group donate to the least loaded, among those without a donation in progress.
func (p *Processor) within(k kind, first int) {
	most, least := -1, -1
	for i := first; i < min(first+p.group, len(p.cores)); i++ {
		c := &p.cores[i]
		if c.receiver[k] >= 0 || c.donor[k] >= 0 {
			continue
		}
		if most < 0 || c.load[k] > p.cores[most].load[k] {
			most = i
		}
		if least < 0 || c.load[k] < p.cores[least].load[k] {
			least = i
		}
	}
	if most >= 0 {
		p.offer(k, most, least, uint64(p.cores[most].load[k]), uint64(p.cores[least].load[k]))
	}
}

// between lets the most loaded core of the most loaded group donate to the least loaded core of the least loaded group;
// without groups each core is one.
func (p *Processor) between(k kind) {
	var from, to int
	var high, low uint64
	for first := 0; first < len(p.cores); first += p.group {
		most, least, sum := p.extremes(k, first, first+p.group)
		p.LoadSum += sum
		if first == 0 || sum > high {
			from, high = most, sum
		}
		if first == 0 || sum < low {
			to, low = least, sum
		}
	}
	p.offer(k, from, to, high, low)
}

// extremes returns the cores with the largest and the smallest load of a range, the first of equal ones, and the sum of
// the loads.
func (p *Processor) extremes(k kind, first, end int) (most, least int, sum uint64) {
	most, least = first, first
	for i := first; i < min(end, len(p.cores)); i++ {
		load := p.cores[i].load[k]
		sum += uint64(load)
		if load > p.cores[most].load[k] {
			most = i
		}
		if load < p.cores[least].load[k] {
			least = i
		}
	}
	return most, least, sum
}

// offer lets a core donate to another, if the difference between their loads, or their groups', reaches the threshold.
func (p *Processor) offer(k kind, most, least int, high, low uint64) {
	donor, receiver := &p.cores[most], &p.cores[least]
	if !p.unbalanced(high, low) {
		return
	}
	if receiver.donor[k] >= 0 || donor.receiver[k] >= 0 {
		p.Busy++
		return
	}
	p.Offers++
	p.open++
	donor.receiver[k], receiver.donor[k] = least, most
	half := uint32(min((high-low)/2, math.MaxUint32))
	p.order(most, balance.Command{Order: orders[k], Edges: half, Vertices: half})
	if k == edges {
		p.order(least, balance.Command{Order: balance.Standby})
	}
}

// unbalanced reports whether the difference between two loads reaches the threshold, and has a half to move.
func (p *Processor) unbalanced(high, low uint64) bool {
	threshold := high >> p.spec.ThresholdShift
	if p.spec.Threshold > 0 {
		threshold = uint64(p.spec.Threshold)
	}
	return high >= low+max(threshold, 2)
}

// end ends the launch's work when all units are drained and no work is in transit.
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

// String describes the pending work.
func (p *Processor) String() string {
	drained := 0
	for i := range p.cores {
		if p.cores[i].drained {
			drained++
		}
	}
	return fmt.Sprintf("%d of %d cores are drained, %d donations are open", drained, len(p.cores), p.open)
}
