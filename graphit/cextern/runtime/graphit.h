/* graphit.h: extern functions of GraphIt programs in C.
 *
 * A function has the name and the parameters of the program's declaration:
 *
 *   int, uint, bool, float, double, Vertex   int, unsigned, _Bool, float, double, unsigned
 *   string                                   const char *
 *   vertexset                                gt_set
 *
 * What main calls may read and write the program's vectors, which are pointers of
 * their names (extern int *D;), and read the graph. What functions of edges or
 * vertices call computes numbers from numbers, and from variables of the C file
 * that a function called by main has set; it does not write them. */
#ifndef GRAPHIT_H
#define GRAPHIT_H

#include <stddef.h>
#include <stdint.h>

/* Vertices in ascending order. A set that is returned may be in any order. */
typedef struct {
	unsigned size;
	unsigned *vertices;
} gt_set;

/* The graph: the edges of vertex v are gt_begin[v] to gt_begin[v + 1] - 1, to
 * gt_neighbour[e], with the weights gt_weight[e], if it has some. */
extern unsigned gt_vertices, *gt_begin, *gt_neighbour;
extern int *gt_weight;

/* The current priority of the program's queue. */
extern int gt_priority;

#endif
