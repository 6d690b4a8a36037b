# ldv2 : LOADS random loads per iteration and lane (each of its own line), NWU warps, lanes of LMASK, footprint FOOT bytes; DEP=1: the next address waits for the load
# entry 0x80000000; every core starts warp 0 lane 0; registers hold garbage at entry
.ifndef ITERS
.set ITERS, 16
.endif
.ifndef NWU
.set NWU, 0
.endif
.ifndef LMASK
.set LMASK, -1
.endif
.ifndef FOOT
.set FOOT, 0x7ffc
.endif
.ifndef LOADS
.set LOADS, 2
.endif
.ifndef DEP
.set DEP, 1
.endif
.text
.globl _start
_start:
.if NWU
  li   t0, NWU
.else
  csrr t0, 0xFC1
.endif
  la   t1, warp_entry
  .insn r 0x0B, 1, 0, x0, t0, t1      # wspawn
warp_entry:
  li   t0, LMASK
  .insn r 0x0B, 0, 0, x0, t0, x0      # tmc
  csrr s0, 0xF14                      # hart
  csrr s2, 0xCC1                      # warp
  csrr s3, 0xCC2                      # core
  li   s8, ITERS
  li   a0, 1
  li   t3, 0x90000000
  li   t4, 1664525
  li   t5, 1013904223
  li   t6, FOOT
  mul  a1, s0, t4
  add  a1, a1, t5
loop:
  mul  a1, a1, t4
  add  a1, a1, t5
  srli a2, a1, 5
  and  a2, a2, t6
  add  a2, a2, t3
  lw   a3, 0(a2)
.if LOADS > 1
  lw   a4, 64(a2)
  add  a0, a0, a4
.endif
.if DEP
  add  a0, a0, a3
.else
  add  a0, a0, a2
.endif
  addi s8, s8, -1
  bnez s8, loop

  li   t0, 0xA0000000
  slli t1, s0, 2
  add  t0, t0, t1
  sw   a0, 0(t0)
  or   t2, s2, s3
  bnez t2, 9f
  li   t0, 1
  .insn r 0x0B, 0, 0, x0, t0, x0
  li   t1, 0x88
  sw   x0, 0(t1)
  fence
9:
  .insn r 0x0B, 0, 0, x0, x0, x0
