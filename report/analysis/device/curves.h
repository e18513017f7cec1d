/*
 * curves: values over time that are no events: the length of a stream's queue, the rate in bytes a
 * second at which memory is copied and set. A value holds from its point to the next one of the
 * same curve.
 */
#ifndef REPORT_ANALYSIS_DEVICE_CURVES_H
#define REPORT_ANALYSIS_DEVICE_CURVES_H

#include <stdint.h>

#include "report/model/model.h"

struct gp_curve_point {
	uint64_t time_ns;
	uint64_t value;
	/* which curve: the first operation of its stream, or of its device and direction */
	uint32_t index;
	uint8_t kind; /* for callers that list other things */
};

/* In the order of time; gp_curve_free() it. */
struct gp_curve {
	struct gp_curve_point *points;
	uint32_t count, capacity;
};

/*
 * The length of each stream's queue, as gp_queue_of() has it.  Returns 0, -ENOMEM or -EOVERFLOW, as
 * below; free it in any case.
 */
int gp_curve_queues(struct gp_curve *curve, const struct gp_model *model);

/*
 * Bytes a second of the running copies and memsets: of each device, and direction of copies.
 * Operations without duration have no rate.
 */
int gp_curve_bandwidth(struct gp_curve *curve, const struct gp_model *model);

/*
 * Drops the points before that moment, but for the last of each curve, which moves to it. Returns 0
 * or -ENOMEM.
 */
int gp_curve_begin_at(struct gp_curve *curve, uint64_t first_ns);

/* Appends a point. */
void gp_curve_add(struct gp_curve *curve, struct gp_curve_point point);

void gp_curve_free(struct gp_curve *curve);

/* The direction of a copy's curve, or that of memsets: "HtoD", "set". */
const char *gp_curve_direction(const struct gp_op *op);

#endif
