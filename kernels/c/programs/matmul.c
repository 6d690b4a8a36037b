/* C = A * B for float matrices whose sides are no multiples of anything. */
#include "program.h"

enum { ROWS = 19, INNER = 23, COLUMNS = 17, N = ROWS * COLUMNS };

struct product {
	const float *a, *b; /* ROWS x INNER, INNER x COLUMNS */
	float *c;
};

static float a[ROWS * INNER], b[INNER * COLUMNS], c[N], expected[N];

static float dot(const struct product *p, unsigned row, unsigned column)
{
	float sum = 0;
	for (unsigned k = 0; k < INNER; k++)
		sum += p->a[row * INNER + k] * p->b[k * COLUMNS + column];
	return sum;
}

static void matmul(void *arg)
{
	const struct product *p = arg;
	for (unsigned first = 0; first < N; first += hd_num_harts()) {
		unsigned i = first + hd_hart();
		HD_IF (i < N) {
			p->c[i] = dot(p, i / COLUMNS, i % COLUMNS);
		}
		HD_ENDIF
	}
}

static void prepare(const struct product *p)
{
	unsigned state = 2;
	for (unsigned i = 0; i < ROWS * INNER; i++)
		a[i] = next_quarter(&state);
	for (unsigned i = 0; i < INNER * COLUMNS; i++)
		b[i] = next_quarter(&state);
	for (unsigned i = 0; i < N; i++)
		expected[i] = dot(p, i / COLUMNS, i % COLUMNS);
}

int main(void)
{
	struct product p = {a, b, c};
	if (hd_core() == 0)
		prepare(&p);
	hd_device_barrier();
	hd_launch(matmul, &p);
	hd_device_barrier();
	return hd_core() == 0 ? report("matmul", c, expected, N) : 0;
}
