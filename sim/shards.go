package sim

import "heddle/components/clock"

// shardsEach is the number of shards per goroutine: more shards balance the goroutines better, but each costs some
// instructions per cycle.
const shardsEach = 8

// shards splits the cores' clock, if several goroutines tick it: neighbouring sockets share a shard, and the last shard
// is for the units behind the sockets, whose atomics follow the cores' actions in the same cycle.
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

// outerShard returns the shard of the units behind the sockets.
func (b *builder) outerShard() *clock.Domain { return b.shards[len(b.shards)-1] }
