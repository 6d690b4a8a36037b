# Breadth-first search as ordered tasks, for machines of Swarm tiles: a task visits a vertex, and its timestamp is the
# level. There are no super-steps, and no barriers between levels.
#
# graph: csr; arrays: level[vertices] = 0xFFFFFFFF; result: level; check: bfs.
.text
.globl _start
_start:                         # the first task, at timestamp 0
  csrr s0, mscratch
  lw   a0, hd_block_source(s0)
  la   t0, visit
  swarm.enqueue t0, zero
  swarm.finish

visit:                          # a0: vertex, a6: timestamp
  csrr s0, mscratch
  lw   t0, hd_block_level(s0)
  slli t1, a0, 2
  add  t0, t0, t1
  lw   t2, 0(t0)
  li   t3, -1
  bne  t2, t3, end              # it has been visited
  sw   a6, 0(t0)
  lw   t0, hd_block_csr_offsets(s0)
  add  t0, t0, t1
  lw   s1, 0(t0)
  lw   s2, 4(t0)
  lw   s3, hd_block_csr_ids(s0)
  slli s1, s1, 2
  slli s2, s2, 2
  add  s1, s1, s3               # this edge
  add  s2, s2, s3               # behind the last
  addi s4, a6, 1
  la   s5, visit
  j    more
edge:
heddle.edge:
  lw   a0, 0(s1)
  swarm.enqueue s5, s4
  addi s1, s1, 4
more:
  bltu s1, s2, edge
end:
  swarm.finish
