# The guest side of the comparison with QEMU: a user-mode Linux program that
# reads batches of cases from stdin, runs each, and writes what it left behind.
#
# A case's registers are loaded from, and dumped to, page 0, which imm(x0)
# reaches without a register of its own. The layout is that of qemu_test.go.
.equ CASES,   256
.equ REGS,    0x100             # x0's slot holds fcsr; then f0..f31
.equ DATA,    0x400             # memory that a case may touch
.equ PTR_IN,  0x80              # where the loop keeps its pointers meanwhile
.equ PTR_OUT, 0x84
.equ IN,      0x20000           # cases: 64 words of registers, 64 of data, 32 of code
.equ IN_SIZE, CASES * 640
.equ OUT,     0x60000           # results: 64 words of registers, 64 of data
.equ OUT_SIZE, CASES * 512

.globl _start
_start:
  # mmap(0, 4096, rw, private|anonymous|fixed, -1, 0)
  li a0, 0; li a1, 4096; li a2, 3; li a3, 0x32; li a4, -1; li a5, 0; li a7, 222
  ecall
  bnez a0, fail
  # mmap(IN, 512 KiB, rwx, …)
  li a0, IN; li a1, 0x80000; li a2, 7; li a3, 0x32; li a4, -1; li a5, 0; li a7, 222
  ecall
  li t0, IN
  bne a0, t0, fail

batch:
  li s0, IN
  li s1, IN + IN_SIZE
1:
  li a0, 0; mv a1, s0; sub a2, s1, s0; li a7, 63    # read
  ecall
  blez a0, done
  add s0, s0, a0
  bltu s0, s1, 1b
  fence.i
  li s0, IN
  li s1, OUT
next:
  li t0, 0                      # 64 words of registers, 64 of data
2:
  add t1, s0, t0
  lw t2, 0(t1)
  lw t3, 256(t1)
  sw t2, REGS(t0)
  sw t3, DATA(t0)
  addi t0, t0, 4
  li t1, 256
  bne t0, t1, 2b
  sw s0, PTR_IN(x0)
  sw s1, PTR_OUT(x0)
  lw t0, REGS(x0)
  fscsr t0
  flw f0, REGS+128(x0); flw f1, REGS+132(x0); flw f2, REGS+136(x0); flw f3, REGS+140(x0)
  flw f4, REGS+144(x0); flw f5, REGS+148(x0); flw f6, REGS+152(x0); flw f7, REGS+156(x0)
  flw f8, REGS+160(x0); flw f9, REGS+164(x0); flw f10, REGS+168(x0); flw f11, REGS+172(x0)
  flw f12, REGS+176(x0); flw f13, REGS+180(x0); flw f14, REGS+184(x0); flw f15, REGS+188(x0)
  flw f16, REGS+192(x0); flw f17, REGS+196(x0); flw f18, REGS+200(x0); flw f19, REGS+204(x0)
  flw f20, REGS+208(x0); flw f21, REGS+212(x0); flw f22, REGS+216(x0); flw f23, REGS+220(x0)
  flw f24, REGS+224(x0); flw f25, REGS+228(x0); flw f26, REGS+232(x0); flw f27, REGS+236(x0)
  flw f28, REGS+240(x0); flw f29, REGS+244(x0); flw f30, REGS+248(x0); flw f31, REGS+252(x0)
  addi x31, s0, 512             # the case's code; its first instruction loads x31
  lw x1, REGS+4(x0); lw x2, REGS+8(x0); lw x3, REGS+12(x0); lw x4, REGS+16(x0)
  lw x5, REGS+20(x0); lw x6, REGS+24(x0); lw x7, REGS+28(x0); lw x8, REGS+32(x0)
  lw x9, REGS+36(x0); lw x10, REGS+40(x0); lw x11, REGS+44(x0); lw x12, REGS+48(x0)
  lw x13, REGS+52(x0); lw x14, REGS+56(x0); lw x15, REGS+60(x0); lw x16, REGS+64(x0)
  lw x17, REGS+68(x0); lw x18, REGS+72(x0); lw x19, REGS+76(x0); lw x20, REGS+80(x0)
  lw x21, REGS+84(x0); lw x22, REGS+88(x0); lw x23, REGS+92(x0); lw x24, REGS+96(x0)
  lw x25, REGS+100(x0); lw x26, REGS+104(x0); lw x27, REGS+108(x0); lw x28, REGS+112(x0)
  lw x29, REGS+116(x0); lw x30, REGS+120(x0)
  jr x31

.globl back                     # where every case's code ends
back:
  sw x1, REGS+4(x0); sw x2, REGS+8(x0); sw x3, REGS+12(x0); sw x4, REGS+16(x0)
  sw x5, REGS+20(x0); sw x6, REGS+24(x0); sw x7, REGS+28(x0); sw x8, REGS+32(x0)
  sw x9, REGS+36(x0); sw x10, REGS+40(x0); sw x11, REGS+44(x0); sw x12, REGS+48(x0)
  sw x13, REGS+52(x0); sw x14, REGS+56(x0); sw x15, REGS+60(x0); sw x16, REGS+64(x0)
  sw x17, REGS+68(x0); sw x18, REGS+72(x0); sw x19, REGS+76(x0); sw x20, REGS+80(x0)
  sw x21, REGS+84(x0); sw x22, REGS+88(x0); sw x23, REGS+92(x0); sw x24, REGS+96(x0)
  sw x25, REGS+100(x0); sw x26, REGS+104(x0); sw x27, REGS+108(x0); sw x28, REGS+112(x0)
  sw x29, REGS+116(x0); sw x30, REGS+120(x0); sw x31, REGS+124(x0)
  fsw f0, REGS+128(x0); fsw f1, REGS+132(x0); fsw f2, REGS+136(x0); fsw f3, REGS+140(x0)
  fsw f4, REGS+144(x0); fsw f5, REGS+148(x0); fsw f6, REGS+152(x0); fsw f7, REGS+156(x0)
  fsw f8, REGS+160(x0); fsw f9, REGS+164(x0); fsw f10, REGS+168(x0); fsw f11, REGS+172(x0)
  fsw f12, REGS+176(x0); fsw f13, REGS+180(x0); fsw f14, REGS+184(x0); fsw f15, REGS+188(x0)
  fsw f16, REGS+192(x0); fsw f17, REGS+196(x0); fsw f18, REGS+200(x0); fsw f19, REGS+204(x0)
  fsw f20, REGS+208(x0); fsw f21, REGS+212(x0); fsw f22, REGS+216(x0); fsw f23, REGS+220(x0)
  fsw f24, REGS+224(x0); fsw f25, REGS+228(x0); fsw f26, REGS+232(x0); fsw f27, REGS+236(x0)
  fsw f28, REGS+240(x0); fsw f29, REGS+244(x0); fsw f30, REGS+248(x0); fsw f31, REGS+252(x0)
  frcsr t0
  sw t0, REGS(x0)
  lw s0, PTR_IN(x0)
  lw s1, PTR_OUT(x0)
  li t0, 0
3:
  add t1, s1, t0
  lw t2, REGS(t0)
  lw t3, DATA(t0)
  sw t2, 0(t1)
  sw t3, 256(t1)
  addi t0, t0, 4
  li t1, 256
  bne t0, t1, 3b
  addi s0, s0, 640
  addi s1, s1, 512
  li t0, IN + IN_SIZE
  bne s0, t0, next

  li s0, OUT
  li s1, OUT + OUT_SIZE
4:
  li a0, 1; mv a1, s0; sub a2, s1, s0; li a7, 64    # write
  ecall
  blez a0, fail
  add s0, s0, a0
  bltu s0, s1, 4b
  j batch

done:
  li a0, 0
  j quit
fail:
  li a0, 1
quit:
  li a7, 93
  ecall
