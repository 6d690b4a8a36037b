# Every warp adds up the squares of its lanes' hart numbers with shuffles; one
# warp after the other prints its sum. Run it with any number of warps and lanes:
#   heddle exec kernels/asm/hello.s --functional --warps 8 --threads 16
.text
.globl _start
_start:
  csrr t0, vx_num_warps
  la   t1, warp
  wspawn t0, t1
warp:
  li   t0, -1
  tmc  t0                       # all lanes on
  csrr s0, mhartid
  csrr s1, vx_tid
  csrr s2, vx_wid
  csrr s3, vx_num_threads
  csrr s4, vx_num_warps
  mul  a0, s0, s0

  # Sum over the lanes: after the step of distance d, a lane holds the sum of
  # the 2d lanes from its own on. Lanes beyond the last count nothing.
  li   t0, 1
1:
  li   t1, 63 << 6              # c: no segment ends before the warp does
  or   t1, t1, t0
  shfl.down t2, a0, t1
  add  t3, s1, t0
  slt  t3, t3, s3               # lane + d is a lane of the warp
  neg  t3, t3
  and  t2, t2, t3
  add  a0, a0, t2
  slli t0, t0, 1
  blt  t0, s3, 1b

  # Warps print in turn: step i, a barrier, step i+1.
  li   s5, 0
2:
  bne  s5, s2, 3f
  jal  print
3:
  li   t0, 0
  bar  t0, s4
  addi s5, s5, 1
  blt  s5, s4, 2b

  # Warp 0 of core 0 stores the exit code.
  csrr t0, vx_cid
  or   t0, t0, s2
  bnez t0, 4f
  li   t0, 1
  tmc  t0
  sw   zero, 0x88(zero)
  fence
4:
  tmc  zero

# print writes a line about the warp, with lane 0 only.
print:
  mv   s6, ra                   # in all lanes: they return together
  li   t0, 1
  tmc  t0
  la   a1, text_core
  jal  puts
  csrr a2, vx_cid
  jal  putn
  la   a1, text_warp
  jal  puts
  mv   a2, s2
  jal  putn
  la   a1, text_sum
  jal  puts
  mv   a2, a0
  jal  putn
  li   t1, '\n'
  csrr t0, vx_cid
  andi t0, t0, 63
  sb   t1, 0x40(t0)
  li   t0, -1
  tmc  t0
  jr   s6

# puts prints the string at a1; a core has a console slot of its own.
puts:
  csrr t0, vx_cid
  andi t0, t0, 63
1:
  lbu  t1, 0(a1)
  beqz t1, 2f
  sb   t1, 0x40(t0)
  addi a1, a1, 1
  j    1b
2:
  ret

# putn prints a2 in decimal: digits go to a small buffer on the stack first.
putn:
  csrr t0, mhartid
  slli t0, t0, 13
  li   t1, 0xFFFF0000
  sub  t1, t1, t0
  addi t1, t1, -1
  sb   zero, 0(t1)
  li   t2, 10
1:
  remu t3, a2, t2
  addi t3, t3, '0'
  addi t1, t1, -1
  sb   t3, 0(t1)
  divu a2, a2, t2
  bnez a2, 1b
  mv   a1, t1
  j    puts

.data
text_core: .asciz "core "
text_warp: .asciz " warp "
text_sum:  .asciz ": sum of squares "
