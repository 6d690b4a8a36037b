/* A sparse matrix in compressed rows: what the sparse programs work on. */
#ifndef GRAPH_H
#define GRAPH_H

#include "program.h"

enum { VERTICES = 300, MAX_DEGREE = 24, MAX_EDGES = VERTICES * MAX_DEGREE };

struct matrix {
	unsigned row[VERTICES + 1]; /* entries of row v: row[v] .. row[v+1]-1 */
	unsigned column[MAX_EDGES];
	float value[MAX_EDGES];
};

/* Row lengths 0..3, and every sixteenth row up to MAX_DEGREE: lanes beside each
 * other have different work. */
static inline unsigned next_degree(unsigned v, unsigned *state)
{
	unsigned r = next_random(state);
	return v % 16 == 5 ? r % (MAX_DEGREE + 1) : r % 4;
}

static inline void make_matrix(struct matrix *m, float *x, unsigned seed)
{
	unsigned edges = 0;
	for (unsigned v = 0; v < VERTICES; v++) {
		x[v] = next_quarter(&seed);
		m->row[v] = edges;
		for (unsigned degree = next_degree(v, &seed); degree > 0; degree--) {
			m->column[edges] = next_random(&seed) % VERTICES;
			m->value[edges++] = next_quarter(&seed);
		}
	}
	m->row[VERTICES] = edges;
}

/* y = m * x by one lane: what the programs compare with. */
static inline void multiply(const struct matrix *m, const float *x, float *y)
{
	for (unsigned v = 0; v < VERTICES; v++) {
		float sum = 0;
		for (unsigned e = m->row[v]; e < m->row[v + 1]; e++)
			sum += m->value[e] * x[m->column[e]];
		y[v] = sum;
	}
}

#endif
