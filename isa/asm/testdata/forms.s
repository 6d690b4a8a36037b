# Every pseudo-instruction, directive and operand form that GNU as knows too.
/* a comment
   over lines */
.equ  TEN, 10
.set  n, TEN * 2 + (1 << 3) - 0x4 / 2 & 0xff | 1 ^ 2
n2 = n + 1
.text
.globl _start
_start:
  nop; mv a0, a1; not a2, a3; neg a4, a5     # three on a line
  seqz t0, t1; snez t0, t1; sltz t0, t1; sgtz t0, t1
  zext.b a0, a1
  sgt a0, a1, a2; sgtu a0, a1, a2
1:
  beqz a0, 1b
  bnez a0, 1f
  blez a0, 1b; bgez a0, 1b; bltz a0, 1f; bgtz a0, 1f
  bgt a0, a1, 1b; ble a0, a1, 1b; bgtu a0, a1, 1f; bleu a0, a1, 1f
1:
  j 1b
  jal _start
  jal t0, far
  jr a0
  jr t1
  jalr a0
  jalr a0, a1
  jalr a0, 4(a1)
  jalr a0, (a1)
  jalr a0, a1, 8
  ret
  call far
  tail far
  la a0, far
  lla a0, datum
  li a0, 0; li a0, -1; li a0, 2047; li a0, 2048; li a0, -2048; li a0, -2049
  li a0, 0x12345678; li a0, 0x80000000; li a0, 0xffffffff; li a0, 0x7ffff800; li a0, 0xfffff7ff; li a0, 4096
  li a0, n; li a0, n2; li a0, 'A'; li a0, '\n'; li a0, ~TEN; li a0, -(TEN+1)
  lw a0, far
  lbu a0, datum
  sw a0, far, t0
  flw fa0, far, t0
  fsw fa0, far, t0
  lui a0, %hi(far)
  addi a0, a0, %lo(far)
  lw a1, %lo(far)(a0)
  sw a1, %lo(far)(a0)
2:
  auipc a0, %pcrel_hi(far)
  addi a0, a0, %pcrel_lo(2b)
  lw a1, %pcrel_lo(2b)(a0)
  sw a1, %pcrel_lo(2b)(a0)
  lw a0, (a1); lw a0, TEN*4(a1); sw a0, -4(sp); sb a0, 0(gp); lh a0, 2(tp)
  add a0, a1, 5; and a0, a1, -1; or a0, a1, TEN; xor a0, a1, 3; slt a0, a1, 4; sltu a0, a1, 4
  sll a0, a1, 31; srl a0, a1, 1; sra a0, a1, TEN
  lui a0, 0xfffff; auipc x31, 0
  csrr a0, mhartid; csrw mscratch, a0; csrs 0x001, a1; csrc 2, a1
  csrwi fcsr, 31; csrsi frm, 1; csrci fflags, 2; csrrw a0, mscratch, a1; csrrwi a0, 0x340, 4
  frcsr a0; fscsr a0; fscsr a0, a1; frrm a0; fsrm a0; fsrm a0, a1; fsrmi 2
  frflags a0; fsflags a0; fsflags a0, a1; fsflagsi 3
  csrr a0, mcycle; csrr a0, minstret; csrr a0, mcycleh; csrr a0, minstreth
  fence; fence rw, w; fence iorw, iorw; fence i, o; fence.i; ecall; ebreak
  mul a0, a1, a2; mulh a0, a1, a2; mulhsu a0, a1, a2; mulhu a0, a1, a2
  div a0, a1, a2; divu a0, a1, a2; rem a0, a1, a2; remu a0, a1, a2
  lr.w a0, (a1); sc.w a0, a2, (a1); amoadd.w a0, a2, (a1); amoswap.w.aq a0, a2, (a1)
  amoxor.w.rl a0, a2, 0(a1); amoand.w.aqrl a0, a2, (a1); amoor.w a0, a2, (a1); amomin.w x0, x1, (x2)
  amomax.w a0, a2, (a1); amominu.w a0, a2, (a1); amomaxu.w a0, a2, (a1); lr.w.aq a0, (a1); sc.w.rl a0, a2, (a1)
  flw fa0, 4(a0); fsw fs0, -4(a0); fmv.s fa0, fa1; fabs.s fa0, fa1; fneg.s fa0, fa1
  fgt.s a0, fa0, fa1; fge.s a0, fa0, fa1; fmv.x.s a0, fa0; fmv.s.x fa0, a0; fmv.x.w a0, ft11; fmv.w.x f31, x31
  fadd.s fa0, fa1, fa2; fadd.s fa0, fa1, fa2, rtz; fsub.s f0, f1, f2, rdn; fmul.s fa0, fa1, fa2, rup
  fdiv.s fa0, fa1, fa2, rmm; fsqrt.s fa0, fa1; fsqrt.s fa0, fa1, rne; fdiv.s fa0, fa1, fa2, dyn
  fmadd.s fa0, fa1, fa2, fa3; fmsub.s fa0, fa1, fa2, fa3, rtz; fnmadd.s fa0, fa1, fa2, fa3; fnmsub.s fa0, fa1, fa2, fa3
  fsgnj.s fa0, fa1, fa2; fsgnjn.s fa0, fa1, fa2; fsgnjx.s fa0, fa1, fa2; fmin.s fa0, fa1, fa2; fmax.s fa0, fa1, fa2
  feq.s a0, fa0, fa1; flt.s a0, fa0, fa1; fle.s a0, fa0, fa1; fclass.s a0, fa0
  fcvt.w.s a0, fa0, rtz; fcvt.wu.s a0, fa0; fcvt.s.w fa0, a0, rne; fcvt.s.wu fa0, a0
  .insn r 0x0B, 1, 0, x0, t0, t1
  .insn r CUSTOM_1, 0, 2, a0, a1, a2
  .insn r 0x53, 0, 8, a0, fa1, fa2
  .insn r 0x2B, 0, 1, x0, a0, a1, a2
  .insn r4 0x2B, 0, 1, x0, a0, a1, a2
  .insn i 0x13, 0, a0, a1, -5
  .insn i LOAD, 2, a0, 12(a1)
  .insn s 0x23, 2, a0, 12(a1)
  .insn b 0x63, 0, a0, a1, _start
  .insn sb BRANCH, 1, a0, a1, _start
  .insn u 0x37, a0, 0x12345
  .insn j 0x6f, a0, _start
.ifndef TEN
  .word 0
.else
  .word 1
.endif
.ifdef nowhere
  .word 2
  .if 1
  .word 3
  .endif
.endif
.if TEN == 10
  .word 4
.else
  .word 5
.endif
  .balign 16
far:
  .word 0x12345678, -1, far, . , far + 4, 3f - far, 'x'
3:
  .half 1, 0xffff; .byte 1, 2, 3, -128
  .balign 4
  .asciz "hello\t\"w\"\n", "a\101\x42"
  .ascii "no end"
  .string ""
  .space 5
  .space 3, 0xAA
  .zero 2
  .p2align 3
  .align 2
  .float 1.5, -2.25, 1e9, 0.1
  .4byte 7; .2byte 8; .long 9; .short 10
datum:
  .word datum - _start
