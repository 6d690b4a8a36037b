/* Breadth-first search by vertex mapping: a lane has a vertex, and walks its edges.
 *
 * graph: csr; arrays: level[vertices] = 0xFFFFFFFF, more[1]; init: begin; steps: expand;
 * until: more; result: level; check: bfs. */
#include "heddle_block.h"

#define NONE 0xFFFFFFFFu

void begin(void *arg)
{
	const struct hd_block *b = arg;
	HD_PHASE(init);
	HD_IF (hd_hart() == 0) {
		b->level[b->source] = 0;
	}
	HD_ENDIF
}

static void walk(const struct hd_block *b, unsigned v)
{
	unsigned e = b->csr_offsets[v], end = b->csr_offsets[v + 1];
	HD_WHILE (e < end) {
		unsigned to = hd_edge(&b->csr_ids[e++]);
		HD_IF (b->level[to] == NONE) {
			/* All who come here in a super-step store the same. */
			b->level[to] = b->step;
			*b->more = 1;
		}
		HD_ENDIF
	}
	HD_ENDWHILE
}

void expand(void *arg)
{
	const struct hd_block *b = arg;
	HD_PHASE(gather_sum);
	for (unsigned first = 0; first < b->vertices; first += hd_num_harts()) {
		unsigned v = first + hd_hart();
		HD_IF (v < b->vertices) {
			HD_IF (b->level[v] == b->step - 1) {
				walk(b, v);
			}
			HD_ENDIF
		}
		HD_ENDIF
	}
}
