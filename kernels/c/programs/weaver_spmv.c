/* The same product with the edges dealt out by the Weaver: lanes register rows,
 * then take edges, whichever row they are of, until none is left. For a unit with
 * mask_by_unit: false, as every C program (see heddle.h). */
#include "graph.h"

static struct matrix m;
static float x[VERTICES], y[VERTICES], expected[VERTICES];

static void register_row(unsigned v)
{
	hd_weaver_reg(v, m.row[v], m.row[v + 1] - m.row[v]);
}

static void take_edges(void)
{
	for (;;) {
		int v = hd_weaver_dec_id();
		if (!hd_vote_any(v != -1))
			return;
		HD_IF (v != -1) {
			int e = hd_weaver_dec_loc();
			hd_atomic_addf(&y[v], m.value[e] * x[m.column[e]]);
		}
		HD_ENDIF
	}
}

static void spmv(void *arg)
{
	(void)arg;
	unsigned capacity = hd_weaver_capacity();
	unsigned slot = hd_warp() * hd_num_threads() + hd_lane();
	unsigned first = hd_core() * capacity, step = hd_num_cores() * capacity;
	for (; first < VERTICES; first += step) {
		/* Not `first + slot < VERTICES` alone: a slot past the capacity is another core's. */
		HD_IF ((slot < capacity) & (first + slot < VERTICES)) {
			register_row(first + slot);
		}
		HD_ENDIF
		hd_barrier(); /* nobody decodes before all have registered */
		take_edges();
		hd_barrier(); /* nobody registers anew before all have seen the end */
	}
}

int main(void)
{
	if (!(hd_units() & HD_HAS_WEAVER)) {
		if (hd_core() == 0)
			hd_puts("weaver_spmv: this machine has no Weaver");
		return 2;
	}
	if (hd_core() == 0) {
		make_matrix(&m, x, 4);
		multiply(&m, x, expected);
	}
	hd_device_barrier();
	hd_launch(spmv, NULL);
	hd_device_barrier();
	return hd_core() == 0 ? report("weaver_spmv", y, expected, VERTICES) : 0;
}
