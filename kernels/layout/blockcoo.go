package layout

// DefaultBlock is the default number of vertices per block.
const DefaultBlock = 16384

// blockCOO lists edges block by block (EdgeBlocking: UGF, §5.2.3, Algorithms 2 and 3; GRAssembler's Block-COO).
var blockCOO = blockedBy(DefaultSizes())

// blockedBy returns blockCOO with blocks of that size.
func blockedBy(s Sizes) *Layout {
	b := &blocks{"block-coo", uint32(s.BlockVertices), s.BlockBy, s.BlockEqual}
	return b.layout(&Layout{
		Doc: "both ends of every edge, block by block: edges whose destinations, sources or both are of the same " +
			"range of vertices follow each other, and a vertex's edges in a block are a row, of a virtual vertex. No " +
			"thread waits for a block's end",
		Sized: blockedBy,
		Keys:  []string{"block_vertices", "block_by", "block_equal"},
	})
}
