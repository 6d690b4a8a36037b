package layout

// DefaultShard is the default number of vertices per shard: the words of a 16 KiB scratchpad.
const DefaultShard = 4096

// gShard lists edges shard by shard, each with the value that it contributes beside it (G-Shards: Khorasani, Vora,
// Gupta, Bhuyan: CuSha, HPDC 2014, as in GRAssembler, PACT '22, §4.2 and §6.5).
var gShard = shards(DefaultSizes())

// shards returns gShard with shards of that size.
func shards(s Sizes) *Layout {
	b := &blocks{"gshard", uint32(s.ShardVertices), ByDestination}
	return b.layout(&Layout{
		Doc: "both ends of every edge, shard by shard: edges whose destinations are of the same so many vertices, " +
			"sorted by source; a kernel before each gather writes what each edge brings beside it, window by " +
			"window, and the gather reads that (CuSha's G-Shards as GRAssembler has them). No shard is a thread " +
			"block's, destinations are summed up in memory and not in the scratchpad, and no super-step sees what " +
			"others of its threads did",
		Gathers: "gshard.values",
		Sized:   shards,
		Keys:    []string{"shard_vertices"},
	})
}
