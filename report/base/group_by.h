/*
 * group_by: durations grouped by name: one group per kernel, kind of copy or API call.
 *
 * Every duration is kept, so that medians and deviations are exact over any number of processes.
 * Traces that are only summed up (report/model/sums/totals.h) have a histogram instead.
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
	/*
	 * the durations as a histogram; NULL if they are kept in durations_ns. A group never has
	 * both.
	 */
	struct gp_histogram *histogram;
	uint64_t *durations_ns; /* durations of the timed operations */
	uint32_t duration_count, capacity;
	/* cached: of the first stats.count durations; unused with a histogram */
	struct gp_stats stats;
	uint64_t total_ns;    /* sum of the durations */
	bool is_separate;     /* counts in no sum over groups, and is sorted behind the others */
	uint64_t separate_ns; /* the part of total_ns that belongs to separated operations */
	uint64_t count;       /* timed and untimed operations */
	uint64_t failed;
	uint64_t bytes; /* sum of the bytes that copies or memsets moved */
	uint64_t timed_bytes, least_bytes, most_bytes;
	/*
	 * of the timed operations: their time at peak bandwidth, and the operations without a known
	 * peak
	 */
	uint64_t peak_ns, without_peak;
};

struct gp_groups {
	struct gp_group *rows;
	uint32_t count, capacity;
	struct gp_hash_map index; /* by key */
};

void gp_groups_free(struct gp_groups *groups);

/*
 * The group's index in rows[]. Adds the group if it is new. Returns UINT32_MAX if there is no
 * memory.
 */
uint32_t gp_groups_find(struct gp_groups *groups, const char *key);

/* Adds one operation with its duration. Returns 0, -ENOMEM or -EOVERFLOW. */
int gp_groups_add(struct gp_groups *groups, uint32_t row, uint64_t duration_ns);

/* Adds one operation, whose duration counts in the sum alone, but not in the distribution. */
void gp_groups_add_outside(struct gp_groups *groups, uint32_t row, uint64_t duration_ns);

/* Adds one operation without a duration. */
void gp_groups_add_untimed(struct gp_groups *groups, uint32_t row);

/*
 * Adds operations as a histogram whose unit is `ns` nanoseconds, and `untimed` operations without a
 * duration.
 */
void gp_groups_add_histogram(struct gp_groups *groups, uint32_t row,
			     const struct gp_histogram *histogram, double ns, uint64_t untimed);

/* Statistics of the group's durations, cached. */
struct gp_stats gp_group_stats(struct gp_group *group);

/* Sum over the groups that are not aside. */
uint64_t gp_groups_time_ns(const struct gp_groups *groups);

/*
 * The indices of the groups: longest total time first, then by count and key; groups aside come
 * last. Free it.
 */
uint32_t *gp_groups_by_time(const struct gp_groups *groups);

#endif
