/* y = M * x with M sparse, one row a lane: lanes whose rows are short wait for
 * those whose rows are long. */
#include "graph.h"

static struct matrix m;
static float x[VERTICES], y[VERTICES], expected[VERTICES];

static float row_sum(unsigned v)
{
	float sum = 0;
	unsigned e = m.row[v], end = m.row[v + 1];
	HD_WHILE (e < end) {
		sum += m.value[e] * x[m.column[e]];
		e++;
	}
	HD_ENDWHILE
	return sum;
}

static void spmv(void *arg)
{
	(void)arg;
	for (unsigned first = 0; first < VERTICES; first += hd_num_harts()) {
		unsigned v = first + hd_hart();
		HD_IF (v < VERTICES) {
			y[v] = row_sum(v);
		}
		HD_ENDIF
	}
}

int main(void)
{
	if (hd_core() == 0) {
		make_matrix(&m, x, 4);
		multiply(&m, x, expected);
	}
	hd_device_barrier();
	hd_launch(spmv, NULL);
	hd_device_barrier();
	return hd_core() == 0 ? report("spmv", y, expected, VERTICES) : 0;
}
