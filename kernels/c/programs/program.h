/* What the example programs share: input, and how they end. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "heddle.h"

/* A linear congruential generator (the constants of Numerical Recipes); its low
 * bits have short periods, so the high ones are used. */
static inline unsigned next_random(unsigned *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 16;
}

/* Multiples of 1/4 in -8 .. 7.75. Sums of some thousand products of two of them
 * are exact in a float, so results do not depend on the order of addition and
 * can be compared with ==. */
static inline float next_quarter(unsigned *state)
{
	return (float)((int)(next_random(state) % 64) - 32) * 0.25f;
}

/* Where a float result first differs from the expected one; n if nowhere. For
 * one lane. */
static inline unsigned first_difference(const float *got, const float *expected, unsigned n)
{
	unsigned i = 0;
	while (i < n && got[i] == expected[i])
		i++;
	return i;
}

/* Prints the result line and returns the exit code. */
static inline int report(const char *name, const float *got, const float *expected, unsigned n)
{
	unsigned i = first_difference(got, expected, n);
	if (i == n) {
		hd_printf("%s: %u results, all right\n", name, n);
		return 0;
	}
	hd_printf("%s: WRONG at %u: %.4f, expected %.4f\n", name, i, (double)got[i], (double)expected[i]);
	return 1;
}

#endif
