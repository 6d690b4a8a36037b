package sim

import "heddle/components/clock"

// shardsEach is how many shards there are for each goroutine: with more of them the goroutines have more equal work,
// and each shard costs some instructions a cycle.
const shardsEach = 8

// shards parts the cores' clock, if several goroutines tick it: neighbouring sockets are together, and the last shard
// is for what is behind them, whose atomics follow what cores do in the same cycle.
func shards(d *clock.Domain, threads, sockets int) []*clock.Domain {
	all := []*clock.Domain{d}
	if threads <= 1 {
		return all
	}
	for range min(sockets, threads*shardsEach) {
		all = append(all, d.Shard())
	}
	return all
}

// shardOf returns the shard of a socket.
func (b *builder) shardOf(socket int) *clock.Domain {
	return b.shards[socket*max(1, len(b.shards)-1)/b.cfg.Sockets]
}

// outerShard returns the shard of what is behind the sockets.
func (b *builder) outerShard() *clock.Domain { return b.shards[len(b.shards)-1] }
