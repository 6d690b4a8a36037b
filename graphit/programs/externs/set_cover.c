/* Bucketed set cover (Blelloch, Peng and Tangwongsan, SPAA 2011; Julienne, SPAA 2017): vertices are sets of their
 * neighbours. Of a bucket's sets those that still have enough uncovered elements acquire them, each element goes to the
 * set with the least number, and sets that keep enough of them are in the cover. */
#include "graphit.h"
#include <math.h>

#define MOST (1 << 16)
#define FREE 0xFFFFFFFFu
#define COVERED 0xFFFFFFFEu

static unsigned acquired[MOST]; /* by which set + 1; 0: by none */
static unsigned char in_cover[MOST], still[MOST];
static int covers;

static unsigned bucket_of(unsigned n)
{
	return n == 0 ? 0xFFFFFFFFu : (unsigned)floor(1.0 / log(1.01) * log((double)n));
}

gt_set extern_function(gt_set active)
{
	for (unsigned i = 0; i < active.size; i++) {
		unsigned v = active.vertices[i], left = 0;
		for (unsigned e = gt_begin[v]; e < gt_begin[v + 1]; e++)
			left += acquired[gt_neighbour[e]] != COVERED;
		D[v] = bucket_of(left);
		still[v] = left > 0 && (int)D[v] >= gt_priority;
	}
	for (unsigned i = 0; i < active.size; i++) {
		unsigned v = active.vertices[i];
		for (unsigned e = gt_begin[v]; still[v] && e < gt_begin[v + 1]; e++) {
			unsigned *by = &acquired[gt_neighbour[e]];
			if (*by != COVERED && (*by == 0 || v + 1 < *by))
				*by = v + 1;
		}
	}
	for (unsigned i = 0; i < active.size; i++) {
		unsigned v = active.vertices[i], won = 0;
		for (unsigned e = gt_begin[v]; still[v] && e < gt_begin[v + 1]; e++)
			won += acquired[gt_neighbour[e]] == v + 1;
		if (won > 0 && (int)bucket_of(won) >= gt_priority - 1) {
			D[v] = FREE;
			in_cover[v] = 1;
			covers++;
		}
	}
	for (unsigned i = 0; i < active.size; i++) {
		unsigned v = active.vertices[i];
		for (unsigned e = gt_begin[v]; still[v] && e < gt_begin[v + 1]; e++)
			if (acquired[gt_neighbour[e]] == v + 1)
				acquired[gt_neighbour[e]] = in_cover[v] ? COVERED : 0;
	}
	return active;
}

int get_cover_size(void) { return covers; }
