# Takes all edges of the input list with GraphPEGs, counts each in OUT[edge number] and adds what
# identifies it, and pushes the destinations with an even number. The test appends the graph and the set-up.
	.equ OUT, 0x90000000
_start:	la a0, warp
	csrr t0, vx_num_warps
	wspawn t0, a0
warp:	li t0, -1
	tmc t0
	li s1, 0		# the input list
	li s2, 1		# the output list
	li s3, OUT
loop:	li t0, -1
	tmc t0
	peg.pop.idx a0, s1
	addi t0, a0, 1
	snez t0, t0
	vote.any t1, t0
	beqz t1, over
	peg.get.src a1
	peg.get.dst a2
	peg.get.wt a3
	split t2, t0
	beqz t0, joined
	slli t3, a0, 4
	add t3, t3, s3
	lw t4, 0(t3)
	addi t4, t4, 1
	sw t4, 0(t3)
	sw a1, 4(t3)
	sw a2, 8(t3)
	sw a3, 12(t3)
	andi t5, a2, 1
	xori t5, t5, 1
	split t6, t5
	beqz t5, odd
	peg.push a2, s2
odd:	join t6
joined:	join t2
	j loop
over:	sw zero, 0x88(zero)
	tmc zero
