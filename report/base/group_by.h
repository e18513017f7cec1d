/*
 * groups: durations gathered under names: one group per kernel, kind of copy or API call.
 *
 * Every value is kept, so that medians and deviations are exact over any number of processes; but
 * for those of traces that are only added up (report/model/sums/totals.h).
 */
#ifndef REPORT_BASE_GROUP_BY_H
#define REPORT_BASE_GROUP_BY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/base/hash_map.h"
#include "report/base/histogram.h"
#include "report/base/stats.h"

struct gp_group {
	char *key;
	/* of durations that are not kept, NULL = there are none: then no others are here */
	struct gp_histogram *spread;
	uint64_t *durations_ns; /* of those that have one */
	uint32_t duration_count, capacity;
	struct gp_stats stats; /* of the first so many of them as were asked for; of no spread */
	uint64_t total_ns;     /* their sum */
	bool is_aside;         /* in no sum of groups, and behind all others in their order */
	uint64_t apart_ns;     /* of that: of operations that were set apart */
	uint64_t count;        /* all, timed or not */
	uint64_t failed;
	uint64_t bytes; /* all together; a copy's or a set's */
	uint64_t timed_bytes, least_bytes, most_bytes;
	/* of the timed ones: what they would have taken at their peaks, and those without a peak */
	uint64_t peak_ns, without_peak;
};

struct gp_groups {
	struct gp_group *rows;
	uint32_t count, capacity;
	struct gp_hash_map index; /* of the keys */
};

void gp_groups_free(struct gp_groups *groups);

/* The group's number in rows[], made if it is not there yet; UINT32_MAX if there is no memory. */
uint32_t gp_groups_find(struct gp_groups *groups, const char *key);

/* One more of that group, with its duration. Returns 0, -ENOMEM or -EOVERFLOW. */
int gp_groups_add(struct gp_groups *groups, uint32_t row, uint64_t duration_ns);

/* One more that has no duration. */
void gp_groups_add_untimed(struct gp_groups *groups, uint32_t row);

/*
 * More of that group, which are only added up, each unit of their durations so many ns; `untimed`
 * ones have none.  Returns 0 or -ENOMEM.
 */
int gp_groups_add_spread(struct gp_groups *groups, uint32_t row, const struct gp_histogram *spread,
			 double ns, uint64_t untimed);

/* What its durations amount to: found once, however often it is asked for. */
struct gp_stats gp_group_stats(struct gp_group *group);

/* What all of them took together, but for those aside. */
uint64_t gp_groups_time_ns(const struct gp_groups *groups);

/*
 * The row numbers by total time, longest first, then by count and key; those aside are last. Free
 * it; NULL if there is no memory.
 */
uint32_t *gp_groups_by_time(const struct gp_groups *groups);

#endif
