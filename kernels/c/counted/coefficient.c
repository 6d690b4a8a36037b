/* What GraphSum's coefficient 1/sqrt(outdegree * indegree) costs when C computes it in double on a core that has none (RV32IMAF):
 * warp instructions of one lane, call by call. It needs a libm: README.md says how it is built. */
#include "heddle.h"

double sqrt(double x);

#define CALLED static __attribute__((noinline, noipa))

/* 1.0 / sqrt(product), the product in double. */
CALLED float of_doubles(unsigned out, unsigned in) { return (float)(1.0 / sqrt((double)out * in)); }

/* The same with the product of integers. */
CALLED float of_product(unsigned out, unsigned in) { return (float)(1.0 / sqrt((double)(out * in))); }

/* With a square root in float, 1.0 / sqrtf(product), as public C code of GraphSum has it: the division is in double, and gcc shortens it. */
CALLED float of_floats(unsigned out, unsigned in) { return (float)(1.0 / (double)__builtin_sqrtf((float)(out * in))); }

/* The same by a compiler that does what C says, and no more. */
CALLED float of_division(unsigned out, unsigned in)
{
	double quotient = 1.0 / (double)__builtin_sqrtf((float)(out * in));
	__asm__("" : "+r"(quotient));
	return (float)quotient;
}

CALLED float nothing(unsigned out, unsigned in)
{
	(void)out;
	(void)in;
	return 0;
}

/* The parts, as calls of their own. */
CALLED double part_convert(unsigned x) { return x; }
CALLED double part_extend(float x) { return (double)x; }
CALLED double part_multiply(double x, double y) { return x * y; }
CALLED double part_root(double x) { return sqrt(x); }
CALLED double part_divide(double x) { return 1.0 / x; }
CALLED float part_truncate(double x) { return (float)x; }

/* Of calls, less what measuring costs. */
#define COUNT(sum, call)                                                   \
	do {                                                               \
		unsigned from_ = hd_instret();                             \
		volatile __typeof__(call) result_ = call;                  \
		sum += hd_instret() - from_ - idle;                        \
		(void)result_;                                             \
	} while (0)

enum { CALLS = 1000 };

static unsigned state = 1;

/* Degrees as skewed graphs have them: each order of magnitude up to 2^15 as often as the next. */
static unsigned degree(void)
{
	state = state * 1664525u + 1013904223u;
	unsigned bits = 1u << (1 + (state >> 16) % 15);
	state = state * 1664525u + 1013904223u;
	return 1 + (state >> 16) % bits;
}

int main(void)
{
	unsigned software = 0, product = 0, hardware = 0, division = 0, extend = 0, convert = 0, multiply = 0, root = 0, divide = 0, truncate = 0;
	unsigned least = ~0u, most = 0, idle = 0, empty = 0;
	if (hd_core() != 0)
		return 0;
	COUNT(empty, nothing(1, 1));
	idle = empty - 2; /* nothing's own two: a move and the return */
	for (unsigned i = 0; i < CALLS; i++) {
		unsigned out = degree(), in = degree(), one = 0;
		COUNT(one, of_doubles(out, in));
		software += one;
		least = one < least ? one : least;
		most = one > most ? one : most;
		COUNT(product, of_product(out, in));
		COUNT(hardware, of_floats(out, in));
		COUNT(division, of_division(out, in));
		double x = out, y = in, p = x * y, r = sqrt(p), q = 1.0 / r;
		COUNT(convert, part_convert(out));
		COUNT(extend, part_extend((float)out));
		COUNT(multiply, part_multiply(x, y));
		COUNT(root, part_root(p));
		COUNT(divide, part_divide(r));
		COUNT(truncate, part_truncate(q));
	}
	hd_printf("software %u, from %u to %u\n", software / CALLS, least, most);
	hd_printf("software, product of integers %u\n", product / CALLS);
	hd_printf("software-division %u\n", division / CALLS);
	hd_printf("hardware %u\n", hardware / CALLS);
	hd_printf("convert %u\nextend %u\nmultiply %u\nroot %u\ndivide %u\ntruncate %u\n", convert / CALLS, extend / CALLS, multiply / CALLS,
		  root / CALLS, divide / CALLS, truncate / CALLS);
	return 0;
}
