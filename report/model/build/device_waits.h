/*
 * device_waits: calls that waited for all work of a context. Everything launched before a
 * successful one has ended, with a record or without.
 */
#ifndef REPORT_MODEL_BUILD_DEVICE_WAITS_H
#define REPORT_MODEL_BUILD_DEVICE_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/model/model.h"

/* When the last one of a context began. */
struct gp_device_wait {
	uint32_t context_id;
	uint64_t start_ns;
};

struct gp_device_waits {
	struct gp_device_wait *waits;
	uint32_t count, capacity;
};

/*
 * The model's calls are sorted and named. Returns 0 or -ENOMEM; call gp_device_waits_free() in
 * either case.
 */
int gp_device_waits_find(const struct gp_model *model, struct gp_device_waits *waits);
void gp_device_waits_free(struct gp_device_waits *waits);

/* Whether one began after the call had launched its work, in the same context. */
bool gp_device_waits_cover(const struct gp_device_waits *waits, const struct gp_call *launch);

#endif
