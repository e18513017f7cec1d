/*
 * even_share: where to cut a time so that about as much lies between any two cuts, of stretches of
 * which only the sums are known.
 *
 * What a stretch has is taken to be spread evenly over it.
 */
#ifndef REPORT_BASE_QUANTILE_CUT_H
#define REPORT_BASE_QUANTILE_CUT_H

#include <stdint.h>

struct gp_quantile_cut_edge;

/* Zeroed = nothing yet. */
struct gp_quantile_cut {
	struct gp_quantile_cut_edge *edges;
	uint32_t count, capacity;
};

void gp_quantile_cut_free(struct gp_quantile_cut *share);

/*
 * So many events lie from from_ns to to_ns; one that is empty, or ends before it begins, lasts 1
 * ns.  Returns 0, -ENOMEM or -EOVERFLOW.
 */
int gp_quantile_cut_add(struct gp_quantile_cut *share, int64_t from_ns, int64_t to_ns,
			uint64_t events);

/*
 * Where each of `count` shares of what lies from from_ns to to_ns begins, in order, the first at
 * from_ns; all there, where that is nothing.
 */
void gp_quantile_cut_cut(struct gp_quantile_cut *share, int64_t from_ns, int64_t to_ns,
			 int64_t *starts, uint32_t count);

#endif
