/* c = a + b, one element a lane. */
#include "program.h"

enum { N = 1000 };

static float a[N], b[N], c[N], expected[N];

static void vecadd(void *arg)
{
	(void)arg;
	/* The trip count is the same for all harts; the tail is a condition. */
	for (unsigned first = 0; first < N; first += hd_num_harts()) {
		unsigned i = first + hd_hart();
		HD_IF (i < N) {
			c[i] = a[i] + b[i];
		}
		HD_ENDIF
	}
}

static void prepare(void)
{
	unsigned state = 1;
	for (unsigned i = 0; i < N; i++) {
		a[i] = next_quarter(&state);
		b[i] = next_quarter(&state);
		expected[i] = a[i] + b[i];
	}
}

int main(void)
{
	if (hd_core() == 0)
		prepare();
	hd_device_barrier();
	hd_launch(vecadd, NULL);
	hd_device_barrier();
	return hd_core() == 0 ? report("vecadd", c, expected, N) : 0;
}
