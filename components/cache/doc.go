// Package cache is a non-blocking, banked cache after Vortex's RTL (hw/rtl/cache of 2024-10 to 2025-10), cycle-exact in
// a bank's pipeline.
//
// A bank accepts one operation per cycle: a replay, else a fill, else a step of a flush, else a request. An operation
// accepted in cycle T is in stage 0 in T+1 and in stage 1 in T+2, where it takes effect: a hit's response and a miss's
// memory request are visible outside in T+3. After a fill accepted in F, the requests that waited for the line are
// replayed in order from F+ReplayDelay on. Spec gives the delays of the crossbars around the banks.
//
// Writes are not answered. By default they go through to the next level, update a present line and allocate nothing. A
// write that misses while its line is being filled is sent on at once and replayed after the fill, as in the RTL,
// because the fill may be older than the write. The RTL since 2025 sends such a write a second time when it is replayed
// (Spec.ResendWrites).
//
// With write_policy back, a write that misses fetches its line like a read, and a dirty line goes to memory when the
// fill that replaces it is in stage 1, or when a flush's walk reaches it. The RTL holds fills back while the memory
// queue is almost full; here the queue has one more slot per MSHR, since two such levels could otherwise wait for each
// other.
//
// With Spec.Sectors above 1, which the RTL lacks, neighbouring lines share a way and its tag: requests, MSHRs, misses
// and fills remain those of one line, and the lines of a way leave together.
//
// Of the RTL's parameters there are keys for NUM_BANKS, MEM_PORTS, CRSQ_SIZE, MREQ_SIZE, MSHR_SIZE, and for whether the
// registers of CORE_OUT_BUF and MEM_OUT_BUF are there; what those and MRSQ_SIZE hold is a part of the ways between
// levels (to_l2.request_entries and others of a machine). Not offered, as nothing here would follow them: DIRTY_BYTES,
// output buffers without a register (CORE_OUT_BUF, MEM_OUT_BUF 1 and 2), the sizes of the crossbars' buffers, which are
// constants of the RTL (2 entries in front of banks by default, 2 behind arbiters, 2 of responses from memory).
//
// Atomics are performed by one level (PerformAtomics) when they find their line in stage 1: see atomics. Levels before
// it write their line back or drop it, and pass the atomic on like a miss of its own.
//
// A fence becomes a flush. It holds back all later requests, waits until every bank's MSHRs are empty, and then walks
// each bank, one set per cycle. As in the RTL the walk invalidates all lines. The flush itself is then an ordinary
// request: see Spec.ForwardFlush. An invalidation is a flush that is never forwarded.
//
// Requests carry no data: the contents of lines are in the one functional memory image, which this package does not
// know. Nor does it know cores, or the levels beyond its memory ports.
//
// The cost of a cycle is proportional to the items that move. Links and queues keep a bit of a word set while they hold
// something (sets). A bank in which nothing can move is not stepped until one of its inputs changes, and then books the
// cycles that it waited. Queues have no notion of time: registers that delay an item by a cycle are modelled by copies
// of the sets taken at the beginning of the cycle. In a cache of one bank and one port, as most L1s are, cycles with
// nothing but reads that hit take a shortcut (fastPath), with the same results. While an L1I of this shape holds only
// reads that hit, it does not tick: its core computes when the answers are there, or runs its cycles (clock.Trailing).
//
// The logic is in plain structs without a clock (bank, mshr, tags, arbiter, queue); Cache moves messages between them
// and the links.
package cache
