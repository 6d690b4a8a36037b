# PageRank's gather, a vertex a lane:
#   sum[v] = Σ contribution[u] over the in-edges u → v
# A lane takes every LANESth vertex and walks its in-edges; no other lane adds to its
# sum, so no atomics. Lanes of a warp drop out of the walk as their lists end, and
# meet again after the longest.
#
# Of each warp, 9 instructions a step of the walk, 2 of them loads that scatter, and 17
# a vertex; a warp takes as many steps as its longest list has edges. Loads are ahead
# of their use, the next edge's source and the contribution that the next step adds,
# so that pred and branch, on which the warp waits, go on meanwhile. What bounds it is
# the coalescer while many lanes walk (as many lines a load as lanes), and fetch, pred
# and branch in the long lists at the end.
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
  li   t0, -1
  tmc  t0                       # all lanes on
  csrr a0, mscratch
  csrr t0, vx_wid
  csrr t1, vx_num_threads
  csrr t2, vx_num_warps
  csrr t3, vx_num_cores
  csrr t4, vx_tid
  csrr t5, vx_cid
  lw   s1, OFFSETS(a0)
  lw   s2, SOURCES(a0)
  lw   s3, CONTRIBUTION(a0)
  lw   s4, SUM(a0)
  lw   s7, VERTICES(a0)
  mul  t0, t0, t3
  add  t0, t0, t5
  mul  t0, t0, t1
  add  t0, t0, t4               # (warp·cores + core)·lanes + lane
  slli t0, t0, 2
  sub  t4, t1, t4
  addi t4, t4, -1
  slli t4, t4, 2                # bytes from this lane's vertex to the last lane's
  mul  t1, t1, t2
  mul  t1, t1, t3
  slli s6, t1, 2                # LANES of the device, in bytes
  slli s7, s7, 2
  add  s7, s1, s7               # where a lane's vertices end
  sub  s8, s7, t4               # where they end for all lanes of the warp together
  add  s1, s1, t0
  add  s4, s4, t0
  li   s9, -1                   # lanes that have a vertex
  j    3f

heddle.phase.registration:
1:                              # a vertex
  lw   a1, 0(s1)
  lw   a2, 4(s1)
  fmv.w.x fa0, zero
  fmv.w.x fa1, zero
  slli a1, a1, 2
  add  a1, a1, s2               # its next edge
  slli a2, a2, 2
  add  a2, a2, s2               # their end
heddle.phase.schedule:
  sltu t1, a1, a2               # it has an edge
  pred t1, s9
  beqz t1, 2f                   # no lane has
heddle.phase.edge_access:
  lw   t0, 0(a1)
heddle.phase.gather_sum:
heddle.edge:
  slli t0, t0, 2
  add  t0, t0, s3
  fadd.s fa0, fa0, fa1          # the edge before, at first 0
  flw  fa1, 0(t0)
heddle.phase.edge_access.next:
  addi a1, a1, 4
  lw   t0, 0(a1)                # the next edge's source, or a word that is not used
heddle.phase.schedule.next:
  sltu t1, a1, a2
  pred t1, s9                   # lanes with another edge, or when there is none all of s9
  bnez t1, heddle.edge
heddle.phase.gather_sum.last:
2:
  fadd.s fa0, fa0, fa1          # each lane's last edge
  fsw  fa0, 0(s4)
heddle.phase.registration.next:
  add  s1, s1, s6
  add  s4, s4, s6
3:
  bltu s1, s8, 1b               # the same for all lanes
  sltu t0, s1, s7               # the warp's last step: lanes that have a vertex
  vote.ballot s9, t0
  beqz s9, 4f
  tmc  s9
  j    1b

heddle.phase.other:
4:                              # warp 0 of core 0 stores the exit code
  csrr t0, vx_cid
  csrr t1, vx_wid
  or   t0, t0, t1
  bnez t0, 5f
  sw   zero, 0x88(zero)
5:
  tmc  zero
