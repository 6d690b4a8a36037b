// Package cache is a non-blocking, banked cache after Vortex's RTL (hw/rtl/cache of
// 2024-10 to 2025-10), exact to the cycle in a bank's pipeline.
//
// A bank accepts one operation a cycle: a replay, else a fill, else a step of a
// flush, else a request. An operation accepted in cycle T is in stage 0 in T+1 and
// in stage 1 in T+2, where it takes effect: a hit's response and a miss's memory
// request can be seen by others in T+3. After a fill accepted in F the requests
// that waited for the line are replayed in order from F+ReplayDelay on. What the
// crossbars around the banks add is in Spec.
//
// Writes are not answered. By default they go through, update a line that is there and
// allocate nothing. A write that misses while its line is being filled is sent on at once
// and replayed after the fill, as in the RTL, because the fill may be older than
// the write. The RTL since 2025 sends such a write a second time as it is replayed
// (Spec.ResendWrites).
//
// With write_policy back a write that misses brings its line in like a read, and a line
// that was written goes to memory as the fill that replaces it is in stage 1, or as a
// flush's walk comes to it. The RTL holds fills back while the memory queue is almost
// full; here the queue has a slot more for each MSHR, since two such levels could
// otherwise wait for each other.
//
// Of the RTL's parameters there are keys for NUM_BANKS, MEM_PORTS, CRSQ_SIZE, MREQ_SIZE, MSHR_SIZE, and for whether the
// registers of CORE_OUT_BUF and MEM_OUT_BUF are there; what those and MRSQ_SIZE hold is a part of the ways between
// levels (to_l2.request_entries and others of a machine). Not offered, as nothing here would follow them: DIRTY_BYTES,
// output buffers without a register (CORE_OUT_BUF, MEM_OUT_BUF 1 and 2), the sizes of the crossbars' buffers, which are
// constants of the RTL (2 entries in front of banks by default, 2 behind arbiters, 2 of responses from memory).
//
// Atomics are performed by one level (PerformAtomics) when they find their line in
// stage 1: see atomics. Levels before it send their line back or throw it out, and
// pass the atomic on like a miss of its own.
//
// A fence becomes a flush. It holds back all later requests, waits until
// every bank's MSHRs are empty, and then walks each bank, a set a cycle. As in the
// RTL the walk invalidates all lines. The flush itself is then a request like others:
// see Spec.ForwardFlush. An invalidation is a flush that is never forwarded.
//
// Requests carry no data: what a line holds is in the one functional memory image,
// which this package does not know. It knows neither cores nor what lies beyond its
// memory ports.
//
// A cycle costs what moves in it. Links and queues keep a bit of a word set while they
// hold something (sets), a bank that stands still is not stepped until an input of it
// changes, and counts then for how long it waited (settle). Queues know no time: what a
// register holds back for a cycle is in the sets as they were when the cycle began. In a
// cache of one bank and one port, as most L1s are, cycles with nothing but reads that hit
// go a short way (single), with the same results.
//
// The logic is in plain structs without a clock (bank, mshr, tags, arbiter, queue);
// Cache moves messages between them and the links.
package cache
