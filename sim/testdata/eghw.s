# Has edge-generating hardware deal out the edges of VERTICES vertices, one a thread at a time. Each adds its vertex + 1
# to OUT[2·other end], and its weight to the word behind: whoever gets an edge twice, or another's, is seen.
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
	add s0, s0, t0		# thread of the core
	csrr s5, vx_num_warps
	mul s1, t1, s5		# threads of a core
	csrr s2, vx_cid
	mul s2, s2, s1		# first vertex of the epoch
	csrr s3, vx_num_cores
	mul s3, s3, s1
	li s4, VERTICES
epoch:	bgeu s2, s4, done
	add s6, s2, s0
	sltu t0, s6, s4
	split t2, t0
	beqz t0, joined
	eghw.push s6
joined:	join t2
	bar zero, s5
loop:	li t0, -1
	tmc t0
	eghw.pop a0
	addi t0, a0, 1
	snez t0, t0
	vote.any t1, t0
	beqz t1, over
	split t2, t0
	beqz t0, marked
	eghw.get.other a1
	eghw.get.wt a4
	slli a1, a1, 3
	li a2, OUT
	add a1, a1, a2
	addi a3, a0, 1
	amoadd.w zero, a3, (a1)
	addi a1, a1, 4
	amoadd.w zero, a4, (a1)
marked:	join t2
	j loop
over:	bar zero, s5
	add s2, s2, s3
	j epoch
done:	sw zero, 0x88(zero)
	tmc zero
