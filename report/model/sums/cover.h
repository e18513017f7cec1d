/*
 * cover: the busy time of each device, from times that come nearly in order: the length of their
 * union.
 *
 * It keeps the last million disjoint times, of all devices together; earlier ones are only a sum
 * ("settled"). The part of a time that lies before the settled end is not counted, but reported as
 * late: the result is then a lower bound.
 *
 * A time that begins before the last one of its device waits. When enough wait, in proportion to
 * the kept times after the first of them, they are joined. So each time costs about thirty visits,
 * whatever the order.
 */
#ifndef REPORT_MODEL_SUMS_COVER_H
#define REPORT_MODEL_SUMS_COVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/base/interval.h"

#define GP_COVER_TIMES   (1u << 20)
#define GP_COVER_WAITING 2048u /* so many at least */

struct gp_cover_device {
	uint32_t device;
	struct gp_interval *times; /* disjoint, in order */
	uint32_t count, capacity;
	struct gp_interval *waiting; /* in any order */
	uint32_t waiting_count, waiting_capacity;
	uint64_t waiting_from_ns;  /* where the first of them begins */
	uint64_t settled_ns;       /* length of those that are not kept any more ... */
	uint64_t settled_from_ns;  /* ... their first start ... */
	uint64_t settled_until_ns; /* ... and end by then */
	uint64_t late_ns;          /* not counted: it lies before that */
};

/* Zeroed = nothing yet. */
struct gp_cover {
	struct gp_cover_device *devices; /* in the order in which they were met */
	uint32_t device_count, device_capacity;
	uint32_t last;             /* device that was met */
	uint64_t kept;             /* of all devices */
	uint64_t settled_until_ns; /* of devices that are yet to come */
	struct gp_interval *scratch;
	uint32_t scratch_capacity;
};

void gp_cover_free(struct gp_cover *cover);

/*
 * Adds a time of a device, in any order; end_ns > start_ns.  Returns 0, -ENOMEM or -EOVERFLOW.
 * Many begin within the last one, which is seen here.
 */
int gp_cover_add_apart(struct gp_cover *cover, uint32_t device, uint64_t start_ns, uint64_t end_ns);
static inline int gp_cover_add(struct gp_cover *cover, uint32_t device, uint64_t start_ns,
			       uint64_t end_ns)
{
	struct gp_cover_device *d = cover->device_count > 0 ? &cover->devices[cover->last] : NULL;
	struct gp_interval *time = d && d->count > 0 ? &d->times[d->count - 1] : NULL;

	if (!time || d->device != device || start_ns < time->start_ns || start_ns > time->end_ns)
		return gp_cover_add_apart(cover, device, start_ns, end_ns);
	time->end_ns = end_ns > time->end_ns ? end_ns : time->end_ns;
	return 0;
}

/*
 * Adds all that another one has, which keeps all its times, and takes it out there.  Returns as the
 * above.
 */
int gp_cover_take(struct gp_cover *cover, struct gp_cover *from);

/* Joins the waiting times. Call it before any question. Returns as the above. */
int gp_cover_join(struct gp_cover *cover);

/*
 * The part before that time becomes a sum, `settled_ns` of each device: the part of a time that is
 * added later and lies there is late, of new devices, too.  Returns as the above.
 */
int gp_cover_settle(struct gp_cover *cover, uint64_t until_ns);

/* Frees memory that the kept times do not need: few are left after gp_cover_settle(). */
void gp_cover_trim(struct gp_cover *cover);

/* From when to when devices had something to do, all together; false: none had. */
bool gp_cover_span(const struct gp_cover *cover, struct gp_interval *span);

/* How long a device had something to do; *late_ns: for how much longer, perhaps. */
uint64_t gp_cover_ns(const struct gp_cover *cover, uint32_t device, uint64_t *late_ns);

/*
 * The length of the union of one device's times in several covers, each of which has times; sorts
 * `devices`. While the times of one are settled and another one is busy, their overlap is not
 * known: *ns is the least length, *more_ns the possible rest. Returns 0 or -ENOMEM.
 */
int gp_cover_union(const struct gp_cover_device **devices, uint32_t count, uint64_t *ns,
		   uint64_t *more_ns);

#endif
