package layout

// DefaultShard is how many vertices a shard has unless that is said: words of a scratchpad of 16 KiB.
const DefaultShard = 4096

// gShard lists edges shard by shard, with what each brings beside it (G-Shards: Khorasani, Vora, Gupta, Bhuyan: CuSha,
// HPDC 2014, as GRAssembler has it, CGO 2024, §4.2 and §6.5).
var gShard = shards(DefaultSizes())

// shards is gShard with shards of such a size.
func shards(s Sizes) *Layout {
	b := &blocks{"gshard", uint32(s.ShardVertices), ByDestination}
	return b.layout(&Layout{
		Doc: "both ends of every edge, shard by shard: edges whose destinations are of the same so many vertices, sorted by source; a kernel before each gather writes what each edge brings beside it, " +
			"window by window, and the gather reads that (CuSha's G-Shards as GRAssembler has them). No shard is a thread block's, destinations are summed up in memory and not in the scratchpad, and no super-step sees what others of its threads did",
		Gathers: "gshard.values",
		Sized:   shards,
		Keys:    []string{"shard_vertices"},
	})
}
