# PageRank as ordered tasks, for machines of Swarm tiles: a round is a launch. Tasks at timestamp 0 pass on what vertices
# hold, with a task of its own for each write, as UGF's Swarm code does (Fig. 5-2); those at 1 compute the ranks.
#
# graph: csr; parameters: damping, rest = 1 - damping; arrays: f32 rank, inverse, contribution, sum [vertices];
# init: begin; steps: round; result: rank; check: pagerank.
.text
.globl _start
_start:                         # the first task, at timestamp 0
  csrr s0, mscratch
  lw   a1, hd_block_vertices(s0)
  li   a0, 0
  lw   t0, hd_block_kernel(s0)
  jr   t0

begin:
  la   a2, first
  li   s1, 0
  j    all
round:
  la   a2, pass
  la   t0, range
  swarm.enqueue t0, zero
  la   a2, apply
  li   s1, 1
all:
  la   t0, range
  swarm.enqueue t0, s1
  swarm.finish

range:                          # a task a2 for each vertex from a0 to a1, by halves
  sub  t0, a1, a0
  li   t1, 4
  bgeu t1, t0, few
  mv   s1, a1
  add  s2, a0, a1
  srli s2, s2, 1
  la   s3, range
  mv   a1, s2
  swarm.enqueue s3, a6
  mv   a0, s2
  mv   a1, s1
  swarm.enqueue s3, a6
  swarm.finish
one:
  swarm.enqueue a2, a6
  addi a0, a0, 1
few:
  bltu a0, a1, one
  swarm.finish

first:                          # a0: vertex
  csrr s0, mscratch
  slli t1, a0, 2
  lw   t0, hd_block_csr_offsets(s0)
  add  t0, t0, t1
  lw   t2, 0(t0)
  lw   t3, 4(t0)
  sub  t2, t3, t2               # out-degree
  fcvt.s.wu ft0, t2
  li   t4, 0x3F800000           # 1.0
  fmv.w.x ft1, t4
  fmv.w.x ft2, zero
  beqz t2, sink
  fdiv.s ft2, ft1, ft0
sink:
  lw   t0, hd_block_inverse(s0)
  add  t0, t0, t1
  fsw  ft2, 0(t0)
  lw   t2, hd_block_vertices(s0)
  fcvt.s.wu ft0, t2
  fdiv.s ft1, ft1, ft0
  lw   t0, hd_block_rank(s0)
  add  t0, t0, t1
  fsw  ft1, 0(t0)
  fmul.s ft1, ft1, ft2
  lw   t0, hd_block_contribution(s0)
  add  t0, t0, t1
  fsw  ft1, 0(t0)
  swarm.finish

pass:                           # a0: vertex
  csrr s0, mscratch
  slli t1, a0, 2
  lw   t0, hd_block_csr_offsets(s0)
  add  t0, t0, t1
  lw   s1, 0(t0)
  lw   s2, 4(t0)
  lw   t0, hd_block_contribution(s0)
  add  t0, t0, t1
  lw   a1, 0(t0)
  lw   s3, hd_block_csr_ids(s0)
  slli s1, s1, 2
  slli s2, s2, 2
  add  s1, s1, s3
  add  s2, s2, s3
  la   s4, add
  j    more
edge:
heddle.edge:
  lw   a0, 0(s1)
  swarm.enqueue s4, a6
  addi s1, s1, 4
more:
  bltu s1, s2, edge
  swarm.finish

add:                            # a0: vertex, a1: what it receives
  csrr s0, mscratch
  lw   t0, hd_block_sum(s0)
  slli t1, a0, 2
  add  t0, t0, t1
  flw  ft0, 0(t0)
  fmv.w.x ft1, a1
  fadd.s ft0, ft0, ft1
  fsw  ft0, 0(t0)
  swarm.finish

apply:                          # a0: vertex
  csrr s0, mscratch
  slli t1, a0, 2
  lw   t0, hd_block_sum(s0)
  add  t0, t0, t1
  flw  ft0, 0(t0)
  sw   zero, 0(t0)
  flw  ft1, hd_block_damping(s0)
  flw  ft2, hd_block_rest(s0)
  lw   t3, hd_block_vertices(s0)
  fcvt.s.wu ft3, t3
  fdiv.s ft2, ft2, ft3
  fmadd.s ft0, ft0, ft1, ft2
  lw   t0, hd_block_rank(s0)
  add  t0, t0, t1
  fsw  ft0, 0(t0)
  lw   t0, hd_block_inverse(s0)
  add  t0, t0, t1
  flw  ft1, 0(t0)
  fmul.s ft0, ft0, ft1
  lw   t0, hd_block_contribution(s0)
  add  t0, t0, t1
  fsw  ft0, 0(t0)
  swarm.finish
