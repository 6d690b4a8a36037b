# PageRank's gather, an edge a lane:
#   sum[v] = Σ contribution[u] over the in-edges u → v
# A lane takes every LANESth edge of a list sorted by target, so a warp has
# neighbouring edges: it loads both ends coalesced, and its lanes differ only in the
# last step. Sums are shared, so every edge is an atomic; sum must be zero before.
#
# 11 instructions for as many edges as a warp has lanes: 2 loads that coalesce, one
# that scatters, an atomic whose lanes mostly hit one or a few words. Bounded by the
# scattered load (the coalescer, the misses) and the atomics (the L2 performs those of
# a line one after the other), about as much by one as by the other.
#
# Arguments: words from the address in mscratch on; kernels/pagerank/arguments.go
# has all of them.
.equ EDGES,        4            # m
.equ SOURCES,     12            # address of m words: where each edge comes from
.equ TARGETS,     16            # address of m words: where it goes, ascending
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
  li   t0, -1
  tmc  t0                       # all lanes on
  csrr a0, mscratch
  csrr t0, mhartid
  csrr t1, vx_num_threads
  csrr t2, vx_num_warps
  csrr t3, vx_num_cores
  csrr t4, vx_tid
  lw   s1, SOURCES(a0)
  lw   s2, TARGETS(a0)
  lw   s3, CONTRIBUTION(a0)
  lw   s4, SUM(a0)
  lw   s7, EDGES(a0)
  slli t0, t0, 2
  sub  t4, t1, t4
  addi t4, t4, -1
  slli t4, t4, 2                # bytes from this lane's edge to the last lane's
  mul  t1, t1, t2
  mul  t1, t1, t3
  slli s6, t1, 2                # LANES of the device, in bytes
  slli s7, s7, 2
  add  s7, s1, s7               # where a lane's edges end
  sub  s8, s7, t4               # where they end for all lanes of the warp together
  add  s1, s1, t0
  add  s2, s2, t0
  j    1f

heddle.phase.edge_access:
heddle.edge:
  lw   t0, 0(s1)
  lw   t1, 0(s2)
heddle.phase.gather_sum:
  add  s1, s1, s6
  slli t0, t0, 2
  add  t0, t0, s3
  lw   t0, 0(t0)
  add  s2, s2, s6
  slli t1, t1, 2
  add  t1, t1, s4
  amofadd.w zero, t0, (t1)
heddle.phase.schedule:
1:
  bltu s1, s8, heddle.edge      # the same for all lanes
  sltu t0, s1, s7               # the warp's last step: lanes that have an edge
  vote.ballot t0, t0
  beqz t0, 2f
  tmc  t0
  j    heddle.edge

heddle.phase.other:
2:                              # warp 0 of core 0 stores the exit code
  csrr t0, vx_cid
  csrr t1, vx_wid
  or   t0, t0, t1
  bnez t0, 3f
  sw   zero, 0x88(zero)
3:
  tmc  zero
