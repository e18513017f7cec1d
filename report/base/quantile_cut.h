/*
 * quantile_cut: cuts a time range into parts that hold about equally many events, from stretches
 * that have only event counts.
 *
 * The events of a stretch are taken as evenly spread over it.
 */
#ifndef REPORT_BASE_QUANTILE_CUT_H
#define REPORT_BASE_QUANTILE_CUT_H

#include <stdint.h>

struct gp_quantile_cut_edge;

/* Zeroed = empty. */
struct gp_quantile_cut {
	struct gp_quantile_cut_edge *edges;
	uint32_t count, capacity;
};

void gp_quantile_cut_free(struct gp_quantile_cut *share);

/*
 * Adds a stretch with `events` events. A stretch that is empty, or ends before it begins, lasts 1
 * ns. Returns 0, -ENOMEM or -EOVERFLOW.
 */
int gp_quantile_cut_add(struct gp_quantile_cut *share, int64_t from_ns, int64_t to_ns,
			uint64_t events);

/*
 * Sets starts[] to the beginnings of `count` parts of from_ns..to_ns, in order; the first is
 * from_ns. Without events in the range, all are from_ns.
 */
void gp_quantile_cut_cut(struct gp_quantile_cut *share, int64_t from_ns, int64_t to_ns,
			 int64_t *starts, uint32_t count);

#endif
