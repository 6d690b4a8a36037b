/* Every intrinsic that needs no graph unit, checked on all lanes of the device. */
#include "heddle.h"

enum { MAX_HARTS = 4096 };

static unsigned failed; /* line of the first check that did not hold */
static unsigned counter, reserved_counter, swapped_counter;
static unsigned ones = ~0u, zeros, toggled, low = ~0u, high;
static int lowest = 1 << 20, highest = -(1 << 20);
static float sum;
static unsigned flags[MAX_HARTS];

#define CHECK(condition)                                                     \
	do {                                                                 \
		HD_IF (!(condition)) {                                       \
			hd_atomic_cas(&failed, 0, __LINE__);                 \
		}                                                            \
		HD_ENDIF                                                     \
	} while (0)

static unsigned all_lanes(void) { return (unsigned)((1ull << hd_num_threads()) - 1); }

static void check_csrs(void)
{
	CHECK(hd_hart() == (hd_core() * hd_num_warps() + hd_warp()) * hd_num_threads() + hd_lane());
	CHECK(hd_hart() < hd_num_harts());
	CHECK(hd_active_threads() == all_lanes());
	CHECK(hd_active_warps() >> hd_warp() & 1);
	CHECK(hd_local_mem_base() == 0xFFFF0000u);
	CHECK(hd_weaver_capacity() == 0 || hd_units() & HD_HAS_WEAVER);
	CHECK(hd_arg() == 0x1234);
	CHECK((hd_cycleh() == 0) & (hd_instreth() == 0));
	unsigned cycles = hd_cycle(), instructions = hd_instret();
	CHECK((hd_cycle() > cycles) & (hd_instret() > instructions));
}

static void check_divergence(void)
{
	unsigned odd = all_lanes() & 0xAAAAAAAAu, even = all_lanes() & 0x55555555u, seen = 0;
	HD_IF (hd_lane() & 1) {
		seen = hd_active_threads();
	} HD_ELSE {
		seen = ~hd_active_threads();
	}
	HD_ENDIF
	CHECK(seen == hd_select(hd_lane() & 1, odd, ~even));
	CHECK(hd_active_threads() == all_lanes());

	unsigned predicate = hd_lane() & 1, depth = hd_split_n(&predicate);
	if (predicate)
		seen = hd_active_threads() * 2;
	hd_join(depth);
	CHECK(seen == hd_select(hd_lane() & 1, odd * 2, ~even));

	unsigned turns = 0;
	HD_WHILE (turns < hd_lane()) {
		turns++;
	}
	HD_ENDWHILE
	CHECK(turns == hd_lane());
}

/* What pred does can be seen only while lanes are off, when C code must do as
 * little as possible; see hd_tmc. */
static __attribute__((noinline)) void mask_after_pred(unsigned predicate, unsigned otherwise, unsigned *mask)
{
	hd_pred(predicate, otherwise);
	*mask = hd_active_threads();
	hd_tmc(~0u);
}

static __attribute__((noinline)) void mask_after_pred_n(unsigned predicate, unsigned otherwise, unsigned *mask)
{
	hd_pred_n(predicate, otherwise);
	*mask = hd_active_threads();
	hd_tmc(~0u);
}

static void check_pred(void)
{
	unsigned *mask = (unsigned *)hd_scratchpad() + hd_warp();
	mask_after_pred(hd_lane() == 0, 0, mask);
	CHECK(*mask == 1);
	mask_after_pred(0, 1, mask);
	CHECK(*mask == 1);
	mask_after_pred_n(hd_lane() != 0, 0, mask);
	CHECK(*mask == 1);
	mask_after_pred_n(1, 1, mask);
	CHECK(*mask == 1);
}

static void check_votes(void)
{
	unsigned last = hd_num_threads() - 1;
	CHECK(hd_vote_all(1) & !hd_vote_all(hd_lane() != last));
	CHECK(hd_vote_any(hd_lane() == last) & !hd_vote_any(0));
	CHECK(hd_vote_uni(0) & hd_vote_uni(7) & (hd_vote_uni(hd_lane() == last) == (last == 0)));
	CHECK(hd_vote_ballot(hd_lane() == last) == 1u << last);
	CHECK(hd_vote_ballot(2) == all_lanes()); /* true is any value but 0 */
	HD_IF (hd_lane() == last) {
		CHECK(hd_vote_ballot(1) == 1u << last);
	}
	HD_ENDIF
}

static void check_shuffles(void)
{
	unsigned lane = hd_lane(), last = hd_num_threads() - 1;
	unsigned v = lane * 10 + 1;
	CHECK(hd_shfl_up(v, 1) == hd_select(lane >= 1, v - 10, v));
	CHECK(hd_shfl_down(v, 2) == hd_select(lane + 2 <= last, v + 20, v));
	CHECK(hd_shfl_bfly(v, 1) == hd_select((lane ^ 1) <= last, (lane ^ 1) * 10 + 1, v));
	CHECK(hd_shfl_idx(v, last) == last * 10 + 1);
	unsigned pairs = hd_shfl_control(0, 1, 0x3E); /* the first lane of each pair */
	CHECK(hd_shfl_idx_raw(v, pairs) == (lane & ~1u) * 10 + 1);
}

static void check_choices(void)
{
	int lane = (int)hd_lane();
	unsigned chosen = hd_select(lane & 1, 5, 6);
	float real = hd_selectf(lane & 1, 1.5f, (float)lane);
	HD_IF (lane & 1) {
		CHECK((chosen == 5) & (real == 1.5f));
	} HD_ELSE {
		CHECK((chosen == 6) & (real == (float)lane));
	}
	HD_ENDIF
	CHECK((hd_min(-1, lane) == -1) & (hd_max(-1, lane) == lane));
	CHECK((hd_minu(~0u, hd_lane()) == hd_lane()) & (hd_maxu(~0u, hd_lane()) == ~0u));
	CHECK((hd_minf(0.5f, (float)lane) <= 0.5f) & (hd_maxf(0.5f, (float)lane) >= 0.5f));
	CHECK(hd_bits_float(hd_float_bits(-0.75f)) == -0.75f);
}

static void add_by_cas(unsigned *word)
{
	unsigned live = 1;
	HD_WHILE (live) {
		unsigned old = *(volatile unsigned *)word;
		live = hd_atomic_cas(word, old, old + 1) != old;
	}
	HD_ENDWHILE
}

static void add_by_reservation(unsigned *word)
{
	unsigned live = 1;
	HD_WHILE (live) {
		live = hd_store_conditional(word, hd_load_reserved(word) + 1);
	}
	HD_ENDWHILE
}

static void use_atomics(void)
{
	unsigned hart = hd_hart();
	CHECK(hd_atomic_add(&counter, 1) < hd_num_harts());
	add_by_cas(&swapped_counter);
	add_by_reservation(&reserved_counter);
	hd_atomic_and(&ones, ~(1u << hart % 32));
	hd_atomic_or(&zeros, 1u << hart % 32);
	hd_atomic_xor(&toggled, hart);
	hd_atomic_min(&lowest, -hart);
	hd_atomic_max(&highest, hart - 7);
	hd_atomic_minu(&low, hart + 3);
	hd_atomic_maxu(&high, ~hart);
	hd_atomic_addf(&sum, 0.5f);
	CHECK(hd_atomic_swap(&flags[hart], hart + 1) == 0);
}

/* Everybody has swapped in his flag before anybody looks. */
static void check_barriers(void)
{
	hd_barrier();
	unsigned neighbour = (hd_warp() + 1) % hd_num_warps();
	unsigned hart = (hd_core() * hd_num_warps() + neighbour) * hd_num_threads() + hd_lane();
	CHECK(flags[hart] == hart + 1);
	hd_device_barrier();
	unsigned in_next_core = (hd_hart() + hd_num_warps() * hd_num_threads()) % hd_num_harts();
	CHECK(flags[in_next_core] == in_next_core + 1);
	hd_fence();
}

/* Lanes copy to and from addresses of different alignment. */
static void check_memory(void)
{
	unsigned char from[40], to[40];
	unsigned at = hd_lane() % 4;
	for (unsigned i = 0; i < sizeof from; i++)
		from[i] = (unsigned char)(i * 7);
	memset(to, 0xA5, sizeof to);
	memcpy(to + at, from + 3 - at, 21);
	CHECK((to[at] == (3 - at) * 7) & (to[at + 20] == ((3 - at) + 20) * 7) & (to[at + 21] == 0xA5));
	CHECK(memcmp(to + at, from + 3 - at, 21) == 0);
	CHECK(memcmp(to + at, from + 3 - at, 22) == 0xA5 - (int)(24 - at) * 7);

	unsigned up = hd_lane() & 1; /* lanes move towards either end, over themselves */
	memmove(from + 4 * up, from + 4 * (1 - up), 32);
	CHECK((from[4 * up] == 4 * (1 - up) * 7) & (from[4 * up + 31] == (unsigned char)((4 * (1 - up) + 31) * 7)));
}

static void kernel(void *arg)
{
	(void)arg;
	check_csrs();
	check_divergence();
	check_pred();
	check_votes();
	check_shuffles();
	check_choices();
	use_atomics();
	check_barriers();
	check_memory();
}

static void check_totals(void)
{
	unsigned harts = hd_num_harts(), all = 0;
	for (unsigned h = 0; h < harts; h++)
		all ^= h;
	CHECK(counter == harts);
	CHECK(swapped_counter == harts);
	CHECK(reserved_counter == harts);
	unsigned bits = harts >= 32 ? ~0u : (1u << harts) - 1;
	CHECK(ones == ~bits);
	CHECK(zeros == bits);
	CHECK(toggled == all);
	CHECK(lowest == 1 - (int)harts);
	CHECK(highest == (int)harts - 8);
	CHECK(low == 3);
	CHECK(high == ~0u);
	CHECK(sum == 0.5f * (float)harts);
}

int main(void)
{
	hd_launch(kernel, NULL);
	hd_device_barrier();
	if (hd_core() != 0)
		return 0;
	check_totals();
	if (failed)
		hd_printf("intrinsics.c:%u: check failed\n", failed);
	else
		hd_puts("intrinsics: all right");
	return failed != 0;
}
