/* Shapes of control flow from which gcc, left to itself, copies a join: where a
 * value known on one side decides a later branch, where paths meet at the end of
 * a loop, where one side needs a stack frame. (Without heddle.h's pragma, gcc 12
 * copies two of the joins at -O2, and the results are wrong.) The plain
 * functions say what is expected; they run with one lane. */
#include "heddle.h"

enum { MAX_HARTS = 4096, LENGTH = 12 };

static unsigned input[MAX_HARTS][LENGTH];
static unsigned got[MAX_HARTS][5];

static __attribute__((noinline)) unsigned mix(unsigned *x)
{
	return *x = *x * 2654435761u ^ *x >> 7;
}

static __attribute__((noinline)) unsigned meet_in_loop(const unsigned *a, unsigned n)
{
	unsigned s = 0, t = 1;
	for (unsigned i = 0; i < n; i++) {
		HD_IF (a[i] & 1) {
			s += a[i] * 3;
			t ^= s;
		} HD_ELSE {
			t += a[i];
			s ^= t;
		}
		HD_ENDIF
	}
	return s + 31 * t;
}

static unsigned meet_in_loop_plain(const unsigned *a, unsigned n)
{
	unsigned s = 0, t = 1;
	for (unsigned i = 0; i < n; i++) {
		if (a[i] & 1)
			t ^= s += a[i] * 3;
		else
			s ^= t += a[i];
	}
	return s + 31 * t;
}

/* x is not 0 on either side, which gcc can see of one only: the one that most
 * lanes take, so that they are the first to sleep at the join. */
static __attribute__((noinline)) unsigned known_on_one_side(unsigned *a, unsigned y)
{
	unsigned x;
	HD_IF (a[0] % 7 < 5) {
		x = 1;
		a[1] = 7;
	} HD_ELSE {
		x = y;
	}
	HD_ENDIF
	if (x)
		return mix(a) + x;
	return 0;
}

static unsigned known_on_one_side_plain(unsigned *a, unsigned y)
{
	unsigned x = y;
	if (a[0] % 7 < 5) {
		x = 1;
		a[1] = 7;
	}
	return mix(a) + x;
}

static __attribute__((noinline)) unsigned frame_on_one_side(unsigned *a, unsigned y)
{
	HD_IF (a[2] % 3 == 0) {
		y += mix(a + 2);
		y += mix(a + 3);
	}
	HD_ENDIF
	return y;
}

static unsigned frame_on_one_side_plain(unsigned *a, unsigned y)
{
	if (a[2] % 3 == 0) {
		y += mix(a + 2);
		y += mix(a + 3);
	}
	return y;
}

/* Lanes find theirs at different turns; the loop ends for all together. */
static __attribute__((noinline)) unsigned search(const unsigned *a, unsigned n)
{
	unsigned at = n;
	for (unsigned i = 0; i < n && hd_vote_any(at == n); i++) {
		HD_IF ((at == n) & (a[i] % 5 == 0)) {
			at = i;
		}
		HD_ENDIF
	}
	return at;
}

static unsigned search_plain(const unsigned *a, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (a[i] % 5 == 0)
			return i;
	return n;
}

static __attribute__((noinline)) unsigned nested(const unsigned *a, unsigned n)
{
	unsigned steps = 0;
	for (unsigned i = 0; i < n; i++) {
		unsigned v = a[i] % 97 + 1;
		HD_WHILE (v != 1) {
			HD_IF (v & 1) {
				v = 3 * v + 1;
			} HD_ELSE {
				v /= 2;
				HD_IF (v % 3 == 0) {
					steps += 100;
				}
				HD_ENDIF
			}
			HD_ENDIF
			steps++;
		}
		HD_ENDWHILE
	}
	return steps;
}

static unsigned nested_plain(const unsigned *a, unsigned n)
{
	unsigned steps = 0;
	for (unsigned i = 0; i < n; i++) {
		for (unsigned v = a[i] % 97 + 1; v != 1; steps++) {
			if (v & 1)
				v = 3 * v + 1;
			else if ((v /= 2) % 3 == 0)
				steps += 100;
		}
	}
	return steps;
}

static void fill(unsigned hart, unsigned *a)
{
	unsigned x = hart + 1;
	for (unsigned i = 0; i < LENGTH; i++)
		a[i] = mix(&x) >> 8;
}

static void kernel(void *arg)
{
	(void)arg;
	unsigned *a = input[hd_hart()], *r = got[hd_hart()];
	fill(hd_hart(), a);
	r[0] = meet_in_loop(a, LENGTH);
	r[1] = search(a, LENGTH);
	r[2] = nested(a, LENGTH / 3);
	r[3] = known_on_one_side(a, hd_hart() + 1);
	r[4] = frame_on_one_side(a, hd_hart());
}

static unsigned right(unsigned hart)
{
	unsigned a[LENGTH], *r = got[hart];
	fill(hart, a);
	unsigned ok = r[0] == meet_in_loop_plain(a, LENGTH);
	ok &= r[1] == search_plain(a, LENGTH);
	ok &= r[2] == nested_plain(a, LENGTH / 3);
	ok &= r[3] == known_on_one_side_plain(a, hart + 1);
	ok &= r[4] == frame_on_one_side_plain(a, hart);
	return ok;
}

int main(void)
{
	hd_launch(kernel, NULL);
	hd_device_barrier();
	if (hd_core() != 0)
		return 0;
	unsigned sum = 0;
	for (unsigned h = 0; h < hd_num_harts(); h++)
		sum += right(h);
	hd_printf("divergence: %s\n", sum == hd_num_harts() ? "all right" : "WRONG");
	return sum != hd_num_harts();
}
