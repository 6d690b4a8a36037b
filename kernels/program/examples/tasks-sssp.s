# Shortest paths as ordered tasks, for machines of Swarm tiles: Δ-stepping, whose buckets are timestamps. A task relaxes
# a vertex with a distance; its timestamp is the distance divided by Δ = 2^delta. With Δ = 1 the first task of a vertex
# has its distance, as in Dijkstra's algorithm; with others later tasks may lower it.
#
# graph: csr, weights; parameters: delta; arrays: dist[vertices] = 0xFFFFFFFF; result: dist; check: sssp.
.text
.globl _start
_start:                         # the first task, at timestamp 0
  csrr s0, mscratch
  lw   a0, hd_block_source(s0)
  li   a1, 0
  la   t0, relax
  swarm.enqueue t0, zero
  swarm.finish

relax:                          # a0: vertex, a1: distance
  csrr s0, mscratch
  lw   t0, hd_block_dist(s0)
  slli t1, a0, 2
  add  t0, t0, t1
  lw   t2, 0(t0)
  bgeu a1, t2, end
  sw   a1, 0(t0)
  lw   t0, hd_block_csr_offsets(s0)
  add  t0, t0, t1
  lw   s1, 0(t0)                # this edge
  lw   s2, 4(t0)                # behind the last
  lw   s3, hd_block_csr_ids(s0)
  lw   s4, hd_block_csr_weights(s0)
  lw   s5, hd_block_delta(s0)
  mv   s6, a1
  la   s7, relax
  slli s1, s1, 2
  slli s2, s2, 2
  j    more
edge:
  add  t0, s1, s3
  add  t1, s1, s4
heddle.edge:
  lw   a0, 0(t0)
  lw   t2, 0(t1)
  add  a1, s6, t2
  srl  t3, a1, s5
  swarm.enqueue s7, t3
  addi s1, s1, 4
more:
  bltu s1, s2, edge
end:
  swarm.finish
