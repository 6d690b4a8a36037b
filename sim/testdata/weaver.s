# Deals the edges of VERTICES vertices out to all lanes with the Weaver, one table full at a time,
# and marks each edge with its vertex + 1: whoever gets an edge twice, or another's, is seen.
# Works with and without mask_by_unit. With SKIP not 0, a lane whose edge has the number
# n with n & SKIP == 0 skips the rest of its vertex.
	.equ OUT, 0x90000000
_start:	la a0, warp
	csrr t0, vx_num_warps
	wspawn t0, a0
warp:	li t0, -1
	tmc t0
	csrr s0, vx_wid
	csrr t1, vx_num_threads
	mul s0, s0, t1
	csrr t0, vx_tid
	add s0, s0, t0		# this lane's slot
	csrr s1, weaver_capacity
	csrr s2, vx_cid
	mul s2, s2, s1		# first vertex of the epoch
	csrr s3, vx_num_cores
	mul s3, s3, s1
	li s4, VERTICES
	csrr s5, vx_num_warps
epoch:	bgeu s2, s4, done
	sltu t0, s0, s1
	add s6, s2, s0
	sltu t1, s6, s4
	and t0, t0, t1
	split t2, t0
	beqz t0, joined
	slli t3, s6, 6		# first edge: 64 · vertex
	li t5, 11
	mul t4, s6, t5		# degree: (11 · vertex mod 64) · bits 3 and 4 of it, in 0 and 1
	srli t5, t4, 3
	srli t6, t4, 4
	and t5, t5, t6
	andi t5, t5, 1
	neg t5, t5
	andi t4, t4, 63
	and t4, t4, t5
	weaver.reg s6, t3, t4
joined:	join t2
	bar zero, s5
loop:	li t0, -1
	tmc t0
	weaver.dec.id a0
	addi t0, a0, 1
	snez t0, t0
	vote.any t1, t0
	beqz t1, over
	split t2, t0
	beqz t0, marked
	weaver.dec.loc a1
	slli a1, a1, 2
	li a2, OUT
	add a1, a1, a2
	addi a3, a0, 1
	amoadd.w zero, a3, (a1)
	li t0, SKIP
	beqz t0, marked
	srli t1, a1, 2
	and t1, t1, t0
	seqz t1, t1
	split t3, t1
	beqz t1, stay
	weaver.skip a0
stay:	join t3
marked:	join t2
	j loop
over:	bar zero, s5
	add s2, s2, s3
	j epoch
done:	sw zero, 0x88(zero)
	tmc zero
