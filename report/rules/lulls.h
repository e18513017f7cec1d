/*
 * lulls: when a process's GPU had nothing to do, between its first operation and its last.
 *
 * Times in which recording paused are in no lull.  All times are those of the model.
 */
#ifndef REPORT_RULES_LULLS_H
#define REPORT_RULES_LULLS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/model.h"

struct gp_lull {
	uint64_t start_ns, end_ns;
	uint32_t after;  /* the operation that ended last before it; index in ops */
	uint32_t before; /* the operation that ended it */
	bool explained;  /* a rule has said why: for those that speak of what is left */
};

/* The lulls of a device in order; idle_ns[i] = the lengths of the first i of them. */
struct gp_device_lulls {
	struct gp_lull *lulls;
	uint64_t *idle_ns;
	uint32_t count, capacity;
	uint64_t first_ns, last_ns; /* of its operations; 0, 0 = it had none */
};

struct gp_lulls {
	struct gp_device_lulls *devices; /* by device_id, GP_DEVICE_LIMIT of them */
};

/* Returns 0, -ENOMEM or -EOVERFLOW; gp_lulls_free() in either case. */
int gp_lulls_of(const struct gp_model *model, struct gp_lulls *lulls);
void gp_lulls_free(struct gp_lulls *lulls);

/* For how long the device was at work within that time. */
uint64_t gp_lulls_busy_ns(const struct gp_lulls *lulls, uint16_t device_id, uint64_t start_ns,
			  uint64_t end_ns);

/* The lull in which the device was at that moment, or that began or ended within 5 us of it, by which clocks may differ; NULL = it was at work. */
struct gp_lull *gp_lulls_at(const struct gp_lulls *lulls, uint16_t device_id, uint64_t time_ns);

static inline uint64_t gp_lull_ns(const struct gp_lull *lull)
{
	return lull->end_ns - lull->start_ns;
}

#endif
