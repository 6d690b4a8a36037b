/* A*'s lower bounds without coordinates: distances from a landmark (ALT; Goldberg and Harrelson, 2005). With the
 * distances of both from it, and no negative weights, a vertex is at least their difference away from another. */
#include "graphit.h"

#define MOST (1 << 16)
#define FAR 2147483647

static int landmark[MOST];

void load_coords(const char *filename, int num_nodes)
{
	(void)filename;
	for (int v = 0; v < num_nodes && v < MOST; v++)
		landmark[v] = v == 0 ? 0 : FAR;
	for (int again = num_nodes <= MOST; again;) {
		again = 0;
		for (int v = 0; v < num_nodes; v++) {
			if (landmark[v] == FAR)
				continue;
			for (unsigned e = gt_begin[v]; e < gt_begin[v + 1]; e++) {
				int d = landmark[v] + gt_weight[e];
				if (d < landmark[gt_neighbour[e]]) {
					landmark[gt_neighbour[e]] = d;
					again = 1;
				}
			}
		}
	}
}

double calculate_distance(unsigned source, unsigned destination)
{
	if (source >= MOST || destination >= MOST || landmark[source] == FAR || landmark[destination] == FAR)
		return 0;
	double d = (double)landmark[destination] - landmark[source];
	return d > 0 ? d : 0;
}
