/* Each intrinsic once, in the order that the test expects their instructions. */
#include "heddle.h"

void encodings(unsigned x, volatile unsigned *word, volatile float *real)
{
	hd_tmc(x);
	hd_wspawn(x, 0);
	unsigned depth = hd_split(&x);
	hd_join(depth);
	depth = hd_split_n(&x);
	hd_join(depth);
	hd_pred(x, depth);
	hd_pred_n(x, depth);
	hd_bar(x, depth);

	x += hd_vote_all(x);
	x += hd_vote_any(x);
	x += hd_vote_uni(x);
	x += hd_vote_ballot(x);
	x += hd_shfl_up_raw(x, depth);
	x += hd_shfl_down_raw(x, depth);
	x += hd_shfl_bfly_raw(x, depth);
	x += hd_shfl_idx_raw(x, depth);

	*real = hd_atomic_addf(real, 1);
	x += hd_atomic_cas(word, x, depth);

	hd_weaver_reg(x, depth, 3);
	hd_weaver_skip(x);
	x += (unsigned)hd_weaver_dec_id();
	x += (unsigned)hd_weaver_dec_loc();

	x += (unsigned)hd_peg_pop_src(x);
	x += (unsigned)hd_peg_pop_dst(x);
	x += (unsigned)hd_peg_pop_wt(x);
	x += (unsigned)hd_peg_pop_idx(x);
	x += (unsigned)hd_peg_get_src();
	x += (unsigned)hd_peg_get_dst();
	x += (unsigned)hd_peg_get_wt();
	x += (unsigned)hd_peg_get_idx();
	x += (unsigned)hd_peg_popv(x);
	hd_peg_push(x, depth);

	hd_eghw_push(x);
	x += (unsigned)hd_eghw_pop();
	x += (unsigned)hd_eghw_get_other();
	x += (unsigned)hd_eghw_get_wt();

	x += (unsigned)hd_hwwl_pop();
	hd_hwwl_push(x);
}

int main(void) { return 0; }
