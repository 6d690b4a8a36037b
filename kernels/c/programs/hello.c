/* Every core says what it is, in order; then every hart of the device leaves its
 * mark and core 0 looks whether all did. */
#include "program.h"

enum { MAX_HARTS = 1 << 16 };

static unsigned mark[MAX_HARTS];

static void leave_mark(void *arg)
{
	unsigned *to = arg;
	to[hd_hart()] = hd_core() << 16 | hd_warp() << 8 | hd_lane();
}

static unsigned count_right(void)
{
	unsigned right = 0, at = 0;
	for (unsigned c = 0; c < hd_num_cores(); c++)
		for (unsigned w = 0; w < hd_num_warps(); w++)
			for (unsigned t = 0; t < hd_num_threads(); t++)
				right += mark[at++] == (c << 16 | w << 8 | t);
	return right;
}

int main(void)
{
	for (unsigned turn = 0; turn < hd_num_cores(); turn++) {
		if (turn == hd_core())
			hd_printf("hello from core %u of %u: %u warps of %u lanes\n", hd_core(), hd_num_cores(), hd_num_warps(), hd_num_threads());
		hd_device_barrier();
	}
	if (hd_num_harts() > MAX_HARTS) {
		if (hd_core() == 0)
			hd_printf("hello: more than %d harts\n", MAX_HARTS);
		return 2;
	}
	hd_launch(leave_mark, mark);
	hd_device_barrier();
	if (hd_core() != 0)
		return 0;
	unsigned right = count_right();
	hd_printf("hello: %u of %u harts\n", right, hd_num_harts());
	return right != hd_num_harts();
}
