# Start-up, and running a C function on all lanes.
#
# Every core starts here with warp 0, lane 0, and garbage in its registers.
# main runs there on every core; core 0's result is the exit code. The loader
# has cleared .bss: several cores doing so at once would clear each other's work.

.set STACK_TOP,   0xFFFF0000
.set STACK_SHIFT, 13            # 8 KB a hart
.set RESERVED,    16            # above every stack; that of warp 0, lane 0 holds
                                # the function and argument of the core's launch
.set EXIT_CODE,   0x88

.set CSR_LANE,    0xCC0
.set CSR_WARP,    0xCC1
.set CSR_CORE,    0xCC2
.set CSR_HART,    0xF14
.set CSR_THREADS, 0xFC0
.set CSR_WARPS,   0xFC1

.macro tmc mask
  .insn r 0x0B, 0, 0, x0, \mask, x0
.endm

.macro wspawn n, entry
  .insn r 0x0B, 1, 0, x0, \n, \entry
.endm

.macro set_gp
  .option push
  .option norelax               # it would be computed from itself
  la   gp, __global_pointer$
  .option pop
.endm

# to = first stack address of the hart whose number is in to
.macro stack_of to, tmp
  slli \to, \to, STACK_SHIFT
  li   \tmp, STACK_TOP - RESERVED
  sub  \to, \tmp, \to
.endm

# On all lanes of a warp: call the function that hd_launch was given, and wait
# for what it wrote.
.macro call_kernel
  csrr t0, CSR_CORE
  csrr t1, CSR_WARPS
  mul  t0, t0, t1
  csrr t1, CSR_THREADS
  mul  t0, t0, t1               # hart of warp 0, lane 0
  stack_of t0, t1
  lw   t1, 0(t0)
  lw   a0, 4(t0)
  jalr t1
  fence
.endm

.section .text.init, "ax"
.globl _start
.type _start, @function
_start:
  set_gp
  csrr sp, CSR_HART
  stack_of sp, t0
  call main
  csrr t0, CSR_CORE
  bnez t0, 1f
  li   t0, EXIT_CODE
  sw   a0, 0(t0)
1:
  fence
  tmc  x0
.size _start, . - _start

.text
# void hd_launch(void (*kernel)(void *), void *arg)
.globl hd_launch
.type hd_launch, @function
hd_launch:
  addi sp, sp, -16
  sw   ra, 12(sp)
  csrr t0, CSR_HART
  stack_of t0, t1
  sw   a0, 0(t0)
  sw   a1, 4(t0)
  fence                         # before other warps look there
  csrr t0, CSR_WARPS
  la   t1, warp_entry
  wspawn t0, t1

  li   t0, -1
  tmc  t0
  # Lane 0 keeps its stack, where the caller's frames are; the other lanes hold
  # garbage and get theirs. Without a branch, since the lanes differ.
  set_gp
  csrr t0, CSR_HART
  stack_of t0, t1
  csrr t1, CSR_LANE
  snez t1, t1
  neg  t1, t1
  xor  t0, t0, sp
  and  t0, t0, t1
  xor  sp, sp, t0
  call_kernel
  li   t0, 1
  tmc  t0

  la   t1, warp_entry
  wspawn t0, t1                 # starts none, but first waits until all others have ended
  lw   ra, 12(sp)
  addi sp, sp, 16
  ret
.size hd_launch, . - hd_launch

# Where warps 1 and up begin, with lane 0 only.
.type warp_entry, @function
warp_entry:
  li   t0, -1
  tmc  t0
  set_gp
  csrr sp, CSR_HART
  stack_of sp, t0
  call_kernel
  tmc  x0
.size warp_entry, . - warp_entry

.section .note.GNU-stack, "", @progbits
