# In-degrees, counted one by one: a lane has an edge, and adds 1 at its destination. What a program of
# heddle's own host looks like in assembly: mscratch holds the address of the block, whose words have
# the symbols hd_block_…; workload.host.steps names the symbols that are launched.
#
# graph: coo; arrays: degree[vertices]; steps: count; result: degree; check: in-degree.
.text
.globl _start
_start:                         # warp 0, lane 0 of every core
  csrr t0, vx_num_warps
  la   t1, all
  wspawn t0, t1
all:                            # every warp of every core
  li   t0, -1
  tmc  t0
  csrr s0, mscratch
  lw   t0, hd_block_kernel(s0)
  jr   t0

count:
  lw   s1, hd_block_edges(s0)
  lw   s2, hd_block_coo_destinations(s0)
  lw   s3, hd_block_degree(s0)
  csrr s4, mhartid              # this lane's next edge
  csrr t0, vx_num_cores
  csrr t1, vx_num_warps
  mul  t0, t0, t1
  csrr t1, vx_num_threads
  mul  s5, t0, t1               # lanes of the device
  li   s6, 1
  mv   s7, zero                 # the first edge of the device's turn: all lanes agree on it
  beqz s1, end
turn:
  sltu t0, s4, s1
  split t1, t0
  beqz t0, skip
  slli t2, s4, 2
  add  t2, t2, s2
heddle.edge:
  lw   t2, 0(t2)
  slli t2, t2, 2
  add  t2, t2, s3
  amoadd.w zero, s6, (t2)
skip:
  join t1
  add  s4, s4, s5
  add  s7, s7, s5
  bltu s7, s1, turn
end:
  fence
  li   t0, 1
  tmc  t0
  csrr t0, vx_cid
  csrr t1, vx_wid
  or   t0, t0, t1
  bnez t0, over
  li   t0, 0x88                 # warp 0 of core 0: exit code 0
  sw   zero, 0(t0)
over:
  tmc  zero
