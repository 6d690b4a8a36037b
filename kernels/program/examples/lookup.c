/* Hash look-ups (SparseWeaver, HPCA 2025, §VII-A, Algorithm 1): a bucket's entries are a row, and a key is
 * looked for among those of its bucket. The table is the graph: bucket v holds the keys that v's row does.
 * Query q looks for key_of(q) in bucket_of(q), both drawn by a hash.
 *
 * In software a lane goes through its query's bucket (kernel search). Through the Weaver's general
 * instructions (kernel weave), lanes register their queries' buckets, and then take entries, whichever
 * bucket they are of; one that has found its key skips what is left of the bucket. The machine's Weaver
 * has mask_by_unit: false.
 *
 * graph: csr; parameters: queries = 2000; arrays: found[2000] = 0xFFFFFFFF;
 * steps: search or weave; check_kernel: verify. */
#include "heddle_block.h"

#define NONE 0xFFFFFFFFu

static unsigned mix(unsigned x) /* the finalizer of MurmurHash3 */
{
	x = (x ^ x >> 16) * 0x85EBCA6Bu;
	x = (x ^ x >> 13) * 0xC2B2AE35u;
	return x ^ x >> 16;
}

static unsigned bucket_of(const struct hd_block *b, unsigned q) { return mix(2 * q + 1) % b->vertices; }
static unsigned key_of(const struct hd_block *b, unsigned q) { return mix(2 * q + 2) % b->vertices; }

static void look(const struct hd_block *b, unsigned q)
{
	unsigned bucket = bucket_of(b, q), key = key_of(b, q), at = NONE;
	unsigned i = b->csr_offsets[bucket], end = b->csr_offsets[bucket + 1];
	HD_WHILE (i < end) {
		unsigned hit = hd_edge(&b->csr_ids[i]) == key;
		at = hd_select(hit, i, at);
		i = hd_select(hit, end, i + 1);
	}
	HD_ENDWHILE
	b->found[q] = at;
}

void search(void *arg)
{
	const struct hd_block *b = arg;
	for (unsigned first = 0; first < b->queries; first += hd_num_harts()) {
		unsigned q = first + hd_hart();
		HD_IF (q < b->queries) {
			look(b, q);
		}
		HD_ENDIF
	}
}

static void take_entries(const struct hd_block *b)
{
	for (;;) {
		int q = hd_weaver_dec_id();
		if (!hd_vote_any(q != -1))
			return;
		HD_IF (q != -1) {
			unsigned i = (unsigned)hd_weaver_dec_loc();
			HD_IF (hd_edge(&b->csr_ids[i]) == key_of(b, (unsigned)q)) {
				hd_atomic_minu(&b->found[q], i);
				hd_weaver_skip((unsigned)q);
			}
			HD_ENDIF
		}
		HD_ENDIF
	}
}

void weave(void *arg)
{
	const struct hd_block *b = arg;
	unsigned capacity = hd_weaver_capacity();
	unsigned slot = hd_warp() * hd_num_threads() + hd_lane();
	unsigned first = hd_core() * capacity, step = hd_num_cores() * capacity;
	for (; first < b->queries; first += step) {
		unsigned q = first + slot;
		HD_IF ((slot < capacity) & (q < b->queries)) {
			unsigned bucket = bucket_of(b, q), begin = b->csr_offsets[bucket];
			hd_weaver_reg(q, begin, b->csr_offsets[bucket + 1] - begin);
		}
		HD_ENDIF
		hd_barrier(); /* nobody decodes before all have registered */
		take_entries(b);
		hd_barrier(); /* nobody registers anew before all have seen the end */
	}
}

/* Every query once more, from the bucket's end, so that the first entry with the key comes last. */
static void look_again(const struct hd_block *b, unsigned q)
{
	unsigned bucket = bucket_of(b, q), at = NONE;
	unsigned begin = b->csr_offsets[bucket], i = b->csr_offsets[bucket + 1];
	HD_WHILE (i > begin) {
		i--;
		at = hd_select(b->csr_ids[i] == key_of(b, q), i, at);
	}
	HD_ENDWHILE
	HD_IF (b->found[q] != at) {
		hd_wrong();
	}
	HD_ENDIF
}

void verify(void *arg)
{
	const struct hd_block *b = arg;
	for (unsigned first = 0; first < b->queries; first += hd_num_harts()) {
		unsigned q = first + hd_hart();
		HD_IF (q < b->queries) {
			look_again(b, q);
		}
		HD_ENDIF
	}
}
