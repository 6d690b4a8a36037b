/* Triangles: each is counted at its least vertex, u < v < w. A lane has an edge u-v, and merges what is
 * left of its ends' rows. Edges come from a list (coo), so that no lane has a hub's edges alone.
 *
 * graph: csr, coo, of a graph with both directions of every edge, without loops and duplicates;
 * arrays: triangles[vertices]; steps: count; result: triangles; check: triangles. */
#include "heddle_block.h"

static void merge(const struct hd_block *b, unsigned u, unsigned v)
{
	unsigned i = b->csr_offsets[u], i_end = b->csr_offsets[u + 1];
	unsigned k = b->csr_offsets[v], k_end = b->csr_offsets[v + 1];
	unsigned found = 0;
	HD_WHILE ((i < i_end) & (k < k_end)) {
		unsigned x = b->csr_ids[i], y = b->csr_ids[k];
		/* Rows ascend. A vertex behind v that both have closes a triangle. */
		found += hd_select((x == y) & (x > v), 1, 0);
		i += hd_select(x <= y, 1, 0);
		k += hd_select(y <= x, 1, 0);
	}
	HD_ENDWHILE
	HD_IF (found > 0) {
		hd_atomic_add(&b->triangles[u], found);
	}
	HD_ENDIF
}

void count(void *arg)
{
	const struct hd_block *b = arg;
	for (unsigned first = 0; first < b->edges; first += hd_num_harts()) {
		unsigned e = first + hd_hart();
		HD_IF (e < b->edges) {
			unsigned u = hd_edge(&b->coo_sources[e]), v = b->coo_destinations[e];
			HD_IF (u < v) {
				merge(b, u, v);
			}
			HD_ENDIF
		}
		HD_ENDIF
	}
}
