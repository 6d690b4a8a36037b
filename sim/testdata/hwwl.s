# Pops all vertices of a hardware worklist, counts each in OUT[vertex], and pushes the even ones. Vertices from
# SLOW on take their time.
	.equ OUT, 0x90000000
_start:	la a0, warp
	csrr t0, vx_num_warps
	wspawn t0, a0
warp:	li s3, OUT
loop:	li t0, -1
	tmc t0
	li s3, OUT
	li s4, SLOW
	hwwl.pop a0
	addi t0, a0, 1
	snez t0, t0
	vote.any t1, t0
	beqz t1, over
	split t2, t0
	beqz t0, joined
	slli t3, a0, 2
	add t3, t3, s3
	li t4, 1
	amoadd.w zero, t4, (t3)
	andi t5, a0, 1
	xori t5, t5, 1
	split t6, t5
	beqz t5, odd
	hwwl.push a0
odd:	join t6
	sltu t5, a0, s4
	xori t5, t5, 1
	vote.any t5, t5
	beqz t5, joined
	li t5, 300
spin:	addi t5, t5, -1
	bnez t5, spin
joined:	join t2
	j loop
over:	sw zero, 0x88(zero)
	tmc zero
