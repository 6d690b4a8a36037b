// Package traces records the instructions that a machine's warps execute, in files, and replays such files on machines.
//
// A file holds the code of the launched programs, and for each warp and launch only the information that the code
// lacks: control decisions, addresses of memory accesses, requests to graph units and their answers.
//
// This package knows no kernels, graphs or algorithms, and no unit by name.
//
// # The format
//
// Version 2. Numbers are little endian; uvarint is that of encoding/binary, zigzag maps differences 0, −1, 1, −2 …
// (modulo 2³²) to 0, 1, 2, 3 …. A reader refuses other versions (1 had no column host: record again), checks every size
// before it allocates, and every checksum.
//
//	header   "heddletr", u32 version
//	blocks   each: ten columns, each a zstd frame of its own; a column without bytes has none
//	meta     zstd frame: JSON (Meta): provenance, the programs' images, the launches
//	index    zstd frame
//	trailer  meta: u64 offset, u32 bytes, u32 bytes expanded, u32 CRC-32C; the same of the index;
//	         u32 CRC-32C of these 40 bytes; "heddletr"
//
// The index is uvarints: the number of blocks, and for each block its launch, its offset, the bytes of its ten columns
// in the file, the CRC-32C of all of them (4 bytes), the number of its chunks, and for each chunk the warp (core ×
// warps + warp; for the host cores × warps), its instructions, and the expanded bytes of its ten columns. A block
// belongs to one launch. A column of a block is the chunks' pieces one after the other; a warp's column in a launch is
// its chunks' pieces in the order of the blocks. So a launch, or a warp, is read without the rest. Blocks with the same
// bytes are in the file once: super-steps repeat each other.
//
// The instructions themselves are not there: their addresses follow from the program's image and the columns. A warp
// begins with lane 0 active, and an instruction without an entry below goes on at pc + 4 with the same lanes.
//
// # Columns
//
// Entries are in the order of execution.
//
//   - turns: a bit a conditional branch, 1: taken; from the lowest bit of a byte to the highest.
//   - control: where the warp starts (uvarint; at a launch, and after each wspawn that starts it again); the target of
//     an indirect jump (uvarint); the operands of a control instruction: a byte whose bits 0, 1 and 2 say that A (rs1
//     of the last active lane), B (rs2) and pred (bit 0 of rs1, by lane) differ from the last ones of this warp here,
//     then each of those: the zigzag difference for A and B, exclusive or for pred, as uvarints.
//   - forms, low, high: vectors (see below): the addresses of a memory access, divided by its size; rs1, rs2 and rs3 of
//     a unit instruction.
//   - answers, answer-low, answer-high: the vector of a unit's answer, in the order of the requests; after each in
//     answers the exclusive or of the lanes that asked and of the new mask (uvarint).
//   - wrote: the lanes of which a conditional atomic (sc.w, amocas.w) wrote (uvarint), in the order of the atomics.
//   - host: the host's actions before the launch, in order; only the host's chunks have it. Byte 0: an act on graph
//     units; byte 1: words of memory, and the address / 4 (uvarint). Then the number of words, and the zigzag
//     difference of each to the one before (first: to 0), as uvarints.
//
// The words of an act on GraphPEGs or worklists are 0 and a set-up's registers in the order of graphpeg.DecodeSetup and
// the words of memory that all lists have; or 1, list, 1 if cyclic, and the vertices; or 2 and the two lists that are
// swapped; or 3: all lists are emptied. On EGHW: vertices, addresses of offsets, edges, addresses of other ends and
// weights.
//
// # Vectors
//
// A vector has a value for each active lane. Its form is a byte; d is the zigzag difference to the lane's value when
// this warp executed this instruction last (0 before the first time).
//
//   - 0 to 239: all lanes have d = form.
//   - 240: all lanes have the same d, a uvarint in high.
//   - 241: uvarints in high: d of the first active lane, and the zigzag s; lane l has the first lane's value + s · (l −
//     first).
//   - 242, 244: each lane's d: one byte in low; 244: and d >> 8 as a uvarint in high.
//   - 243, 245: d of the first lane, then each lane's zigzag difference to the lane before it; in low, and with 245 in
//     high, in the same way.
package traces
