# PageRank, the end of every super-step: a lane takes every LANESth vertex.
#   rank[v] = base + d·sum[v]; contribution[v] = rank[v]·inverse[v]; sum[v] = 0
# 12 instructions for as many vertices as a warp has lanes, 2 of them loads and 3
# stores, all coalesced: bounded by memory.
# With RESIDUAL defined, the absolute changes of all ranks are added to a word: 4
# instructions more, and at the end log2(lanes) shuffles and one atomic a warp.
# Arguments: words from the address in mscratch on; kernels/pagerank/arguments.go
# has all of them.
.equ VERTICES,     0            # n
.equ INVERSE,     24            # address of n floats: 1/outdegree
.equ CONTRIBUTION,28            # address of n floats
.equ SUM,         32            # address of n floats
.equ RANK,        36            # address of n floats
.equ BASE,        44            # (1-d)/n, a float
.equ DAMPING,     48            # d, a float
.equ CHANGE,      52            # address of a float

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
  lw   s1, SUM(a0)
  lw   s2, INVERSE(a0)
  lw   s3, CONTRIBUTION(a0)
  lw   s4, RANK(a0)
  lw   s7, VERTICES(a0)
  flw  fs0, BASE(a0)
  flw  fs1, DAMPING(a0)
  mul  t0, t0, t3
  add  t0, t0, t5
  mul  t0, t0, t1
  add  t0, t0, t4               # (warp·cores + core)·lanes + lane
  slli t0, t0, 2
  sub  t4, t1, t4
  addi t4, t4, -1
  slli t4, t4, 2                # bytes from this lane's vertex to the last lane's
  mul  t2, t1, t2
  mul  t2, t2, t3
  slli s6, t2, 2                # LANES of the device, in bytes
  slli s7, s7, 2
  add  s7, s1, s7               # where a lane's vertices end
  sub  s8, s7, t4               # where they end for all lanes of the warp together
  add  s1, s1, t0
  add  s2, s2, t0
  add  s3, s3, t0
  add  s4, s4, t0
.ifdef RESIDUAL
  fmv.w.x fs2, zero             # the lane's changes so far
.endif
  j    2f
heddle.phase.apply:
1:
  flw  fa0, 0(s1)
  flw  fa1, 0(s2)
.ifdef RESIDUAL
  flw  fa2, 0(s4)
.endif
  sw   zero, 0(s1)
  fmadd.s fa0, fa0, fs1, fs0
  fmul.s fa1, fa0, fa1
.ifdef RESIDUAL
  fsub.s fa2, fa0, fa2
  fabs.s fa2, fa2
  fadd.s fs2, fs2, fa2
.endif
  fsw  fa0, 0(s4)
  fsw  fa1, 0(s3)
  add  s1, s1, s6
  add  s2, s2, s6
  add  s3, s3, s6
  add  s4, s4, s6
2:
  bltu s1, s8, 1b               # the same for all lanes
  sltu t0, s1, s7               # the warp's last step: lanes that have a vertex
  vote.ballot t0, t0
  beqz t0, 3f
  tmc  t0
  j    1b
3:

.ifdef RESIDUAL
  li   t0, -1
  tmc  t0
  csrr s1, vx_num_threads
  csrr s2, vx_tid
  lw   a1, CHANGE(a0)
  fmv.x.w a2, fs2
  li   t1, 1
  li   t2, 63 << 6              # no segment ends before the warp does
  j    5f
4:                              # after the step of distance d, lane 0 holds 2d lanes' changes
  or   t3, t1, t2
  shfl.down a3, a2, t3
  add  t3, s2, t1
  slt  t3, t3, s1               # lane + d is a lane of the warp
  neg  t3, t3
  and  a3, a3, t3
  fmv.w.x fa0, a2
  fmv.w.x fa1, a3
  fadd.s fa0, fa0, fa1
  fmv.x.w a2, fa0
  slli t1, t1, 1
5:
  blt  t1, s1, 4b
  li   t0, 1
  tmc  t0
  amofadd.w zero, a2, (a1)
.endif
heddle.phase.other:
                                # warp 0 of core 0 stores the exit code
  csrr t0, vx_cid
  csrr t1, vx_wid
  or   t0, t0, t1
  bnez t0, 6f
  sw   zero, 0x88(zero)
6:
  tmc  zero
