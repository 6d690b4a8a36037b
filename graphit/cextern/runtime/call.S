# gt_call calls a function for each active lane, one lane after the other, as code that gcc compiles for one thread may
# branch as it likes. tp has the address of the lane's frame, and gp that of where to go on; all other registers are as
# before when it does.
#
# A frame has the integer arguments in bytes 0 to 31, those in float registers from 32 on, the results from 64 on (a0, a1,
# fa0), the function's address at 76, saved registers from 128 on, and the function's stack at its end.
	.text
	.globl gt_start, gt_call

# gt_start is where a launch by the host enters, with the frame in mscratch.
gt_start:
	csrr tp, mscratch
	la gp, 1f
	j gt_call
1:	sw zero, 0x88(zero)
	.insn r 0x0B, 0, 0, x0, x0, x0

	.macro each what, fwhat
	.irp n, 1,2,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	\what x\n, 128 + 4 * \n(tp)
	.endr
	.irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	\fwhat f\n, 256 + 4 * \n(tp)
	.endr
	.endm

gt_call:
	each sw, fsw
	csrr s0, 0xCC4          # the active lanes
	mv s1, s0               # those that have not called
1:	neg t0, s1
	and s2, s1, t0          # one of them
	.insn r 0x0B, 0, 0, x0, s2, x0
	lw t1, 76(tp)
	.irp n, 0,1,2,3,4,5,6,7
	lw a\n, 4 * \n(tp)
	flw fa\n, 32 + 4 * \n(tp)
	.endr
	addi sp, tp, 2032
	addi sp, sp, 2032
	jalr ra, t1
	sw a0, 64(tp)
	sw a1, 68(tp)
	fsw fa0, 72(tp)
	.insn r 0x0B, 0, 0, x0, s0, x0
	xor s1, s1, s2          # in all lanes
	bnez s1, 1b
	each lw, flw
	jr gp
