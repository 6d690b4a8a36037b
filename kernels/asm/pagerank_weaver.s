# PageRank's gather, edges dealt out by the Weaver:
#   sum[v] = Σ contribution[u] over the in-edges u → v
# In an epoch a core's lanes register a vertex each, as many as the Weaver's table
# holds, and after a barrier take edges, whichever vertex they are of, until none is
# left. Several lanes may hold edges of one vertex, so every edge is an atomic; sum
# must be zero before. Cores share an epoch's vertices, as many at a time as a warp has
# lanes.
#
# A vertex is registered as the address of its sum: the unit only passes it on, the
# gather needs nothing else of it, and being even it differs in bit 0 from the -1 of a
# lane without an edge.
#
# 11 instructions for as many edges as a warp has lanes (10 with MASK_BY_UNIT): a load
# that mostly coalesces, one that scatters, an atomic whose lanes mostly hit a few
# words. Bounded by the scattered load and the atomics, as the edge schedule is, and by
# how soon the unit has the next batch. An epoch costs a warp about 25 instructions and
# two barriers more.
#
# Define MASK_BY_UNIT for a unit that sets the thread mask (mask_by_unit: true).
#
# Arguments: words from the address in mscratch on; kernels/pagerank/arguments.go
# has all of them.
.equ VERTICES,     0            # n
.equ OFFSETS,      8            # address of n+1 words: v's in-edges begin at offsets[v]
.equ SOURCES,     12            # address of m words: where each in-edge comes from
.equ CONTRIBUTION,28            # address of n floats
.equ SUM,         32            # address of n floats

.text
.globl _start
_start:
heddle.phase.init:
  csrr t0, vx_num_warps
  la   t1, warp
  wspawn t0, t1
warp:
  li   s10, -1
  tmc  s10                      # all lanes on
  csrr a0, mscratch
  csrr t0, vx_tid
  csrr t1, vx_wid
  csrr t2, vx_num_threads
  csrr t3, vx_cid
  csrr t4, vx_num_cores
  csrr t5, weaver_capacity
  csrr s5, vx_num_warps
  csrr s10, vx_active_threads   # all lanes, and no bits beyond
  lw   s1, OFFSETS(a0)
  lw   s2, SOURCES(a0)
  lw   s3, CONTRIBUTION(a0)
  lw   s4, SUM(a0)
  lw   s7, VERTICES(a0)
  mul  t1, t1, t2               # the warp's first slot of the table
  sub  t6, t5, t1
  bltu t6, t2, 6f
  mv   t6, t2                   # all lanes have a slot, or none
6:                              # lanes of the warp that have a slot
  mul  t6, t3, t6
  mul  t3, t1, t4
  add  t3, t3, t6
  add  t3, t3, t0               # the lane's first vertex: neighbouring warps' are of different cores
  add  t0, t0, t1               # its slot
  sltu t1, t0, t5               # the table has it
  mul  t4, t4, t5
  slli s6, t4, 2                # vertices of an epoch of all cores, in bytes
  slli s7, s7, 2
  add  s7, s1, s7               # where vertices end
  neg  t1, t1
  and  s8, s7, t1               # and where the lane's do: at once if it has no slot
  mv   s9, s1                   # the epoch's first vertex
  slli t3, t3, 2
  add  s1, s1, t3
  add  s4, s4, t3
.ifndef MASK_BY_UNIT
  mv   s11, s10                 # lanes that take edges
.else
  li   s11, -1
.endif
  j    5f

heddle.phase.registration:
1:                              # an epoch
  sltu t0, s1, s8
  vote.ballot t0, t0
  beqz t0, 2f                   # no lane of the warp registers
  tmc  t0
  lw   a1, 0(s1)
  lw   a2, 4(s1)
  sub  a2, a2, a1
  weaver.reg s4, a1, a2
  tmc  s10
2:
  bar  zero, s5                 # no warp takes an edge before all have registered
  j    3f
heddle.phase.edge_access:
heddle.edge:
  slli t1, t1, 2
  add  t1, t1, s2
  lw   t1, 0(t1)
heddle.phase.gather_sum:
  slli t1, t1, 2
  add  t1, t1, s3
  lw   t1, 0(t1)
  amofadd.w zero, t1, (t0)
heddle.phase.schedule:
3:
  weaver.dec.id t0
  weaver.dec.loc t1             # before it is known whether there is an edge: it takes time
.ifdef MASK_BY_UNIT
  bne  t0, s11, heddle.edge     # the same for all lanes that are on
.else
  vote.ballot t2, t0            # lanes without an edge
  beqz t2, heddle.edge
  xor  t2, t2, s11              # the epoch's last edges, for some lanes, or none
  beqz t2, 4f
  mv   s11, t2
  tmc  t2
  j    heddle.edge
.endif
4:
  tmc  s10
.ifndef MASK_BY_UNIT
  mv   s11, s10
.endif
  bar  zero, s5                 # no warp registers anew before all have seen the end
heddle.phase.registration.next:
  add  s1, s1, s6
  add  s4, s4, s6
  add  s9, s9, s6
5:
  bltu s9, s7, 1b               # the same for all warps of the core

heddle.phase.other:
                                # warp 0 of core 0 stores the exit code
  csrr t0, vx_cid
  csrr t1, vx_wid
  or   t0, t0, t1
  bnez t0, 6f
  sw   zero, 0x88(zero)
6:
  tmc  zero
