# PageRank, before the first super-step: a lane takes every LANESth vertex.
#   rank[v] = 1/n; inverse[v] = 1/outdegree[v], 0 where there is no out-edge;
#   contribution[v] = rank[v]·inverse[v]; sum[v] = 0
# Arguments: words from the address in mscratch on; kernels/pagerank/arguments.go
# has all of them.
.equ VERTICES,     0            # n
.equ OUT_DEGREE,  20            # address of n words
.equ INVERSE,     24            # address of n floats
.equ CONTRIBUTION,28            # address of n floats
.equ SUM,         32            # address of n floats
.equ RANK,        36            # address of n floats
.equ FIRST_RANK,  40            # 1/n, a float

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
  lw   s1, OUT_DEGREE(a0)
  lw   s2, INVERSE(a0)
  lw   s3, CONTRIBUTION(a0)
  lw   s4, SUM(a0)
  lw   s5, RANK(a0)
  lw   s7, VERTICES(a0)
  flw  fs0, FIRST_RANK(a0)
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
  add  s2, s2, t0
  add  s3, s3, t0
  add  s4, s4, t0
  add  s5, s5, t0
  li   t0, 1
  fcvt.s.w fs1, t0
  j    2f
1:
  lw   t0, 0(s1)
  fsw  fs0, 0(s5)
  sw   zero, 0(s4)
  fcvt.s.wu fa0, t0
  snez t0, t0
  fdiv.s fa0, fs1, fa0          # infinite where there is no out-edge
  neg  t0, t0
  fmv.x.w t1, fa0
  and  t0, t0, t1
  fmv.w.x fa0, t0
  sw   t0, 0(s2)
  fmul.s fa0, fa0, fs0
  fsw  fa0, 0(s3)
  add  s1, s1, s6
  add  s2, s2, s6
  add  s3, s3, s6
  add  s4, s4, s6
  add  s5, s5, s6
2:
  bltu s1, s8, 1b               # the same for all lanes
  sltu t0, s1, s7               # the warp's last step: lanes that have a vertex
  vote.ballot t0, t0
  beqz t0, 3f
  tmc  t0
  j    1b

heddle.phase.other:
3:                              # warp 0 of core 0 stores the exit code
  csrr t0, vx_cid
  csrr t1, vx_wid
  or   t0, t0, t1
  bnez t0, 4f
  sw   zero, 0x88(zero)
4:
  tmc  zero
