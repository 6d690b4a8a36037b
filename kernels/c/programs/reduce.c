/* Sum and maximum of an array: within a warp by shuffles, within a core through
 * the scratchpad, between cores with atomics. */
#include "program.h"

enum { N = 3000 };

static float x[N];
static float result[2], expected[2]; /* sum, maximum */
static int maximum;                  /* x's are multiples of 1/4: as integers, for amomax */

/* After the round with distance d, lane l holds the sum of lanes l .. l+2d-1:
 * right for any number of lanes. Lanes past the end add nothing. */
static float warp_sum(float v)
{
	for (unsigned d = 1; d < hd_num_threads(); d <<= 1) {
		float other = hd_bits_float(hd_shfl_down(hd_float_bits(v), d));
		v += hd_selectf(hd_lane() + d < hd_num_threads(), other, 0);
	}
	return v;
}

/* Lanes past the end get their own value, which changes no maximum. */
static float warp_max(float v)
{
	for (unsigned d = 1; d < hd_num_threads(); d <<= 1)
		v = hd_maxf(v, hd_bits_float(hd_shfl_down(hd_float_bits(v), d)));
	return v;
}

/* One warp adds up what the core's warps left in the scratchpad. */
static void core_result(const float *sums, const float *maxima)
{
	float sum = 0, max = maxima[0];
	for (unsigned w = 0; w < hd_num_warps(); w++) {
		sum += sums[w];
		max = hd_maxf(max, maxima[w]);
	}
	HD_IF (hd_lane() == 0) {
		hd_atomic_addf(&result[0], sum);
		hd_atomic_max(&maximum, (unsigned)(int)(max * 4));
	}
	HD_ENDIF
}

static void reduce(void *arg)
{
	(void)arg;
	float sum = 0, max = x[0];
	for (unsigned first = 0; first < N; first += hd_num_harts()) {
		unsigned i = first + hd_hart();
		HD_IF (i < N) {
			sum += x[i];
			max = hd_maxf(max, x[i]);
		}
		HD_ENDIF
	}
	sum = warp_sum(sum);
	max = warp_max(max);

	float *sums = hd_scratchpad(), *maxima = sums + hd_num_warps();
	HD_IF (hd_lane() == 0) {
		sums[hd_warp()] = sum;
		maxima[hd_warp()] = max;
	}
	HD_ENDIF
	hd_barrier();
	if (hd_warp() == 0)
		core_result(sums, maxima);
}

static void prepare(void)
{
	unsigned state = 3;
	for (unsigned i = 0; i < N; i++)
		x[i] = next_quarter(&state);
	expected[1] = x[0];
	for (unsigned i = 0; i < N; i++) {
		expected[0] += x[i];
		if (x[i] > expected[1])
			expected[1] = x[i];
	}
	maximum = (int)(x[0] * 4);
}

int main(void)
{
	if (hd_core() == 0)
		prepare();
	hd_device_barrier();
	hd_launch(reduce, NULL);
	hd_device_barrier();
	if (hd_core() != 0)
		return 0;
	result[1] = (float)maximum * 0.25f;
	hd_printf("reduce: sum %.2f, maximum %.2f\n", (double)result[0], (double)result[1]);
	return report("reduce", result, expected, 2);
}
