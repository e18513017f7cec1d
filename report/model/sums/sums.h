/*
 * sums: calls and GPU operations added up record by record, by kernel, API function or kind; and
 * the busy times of each device.
 *
 * Memory grows with the kernels, API functions and kinds of copies, not with the number of records;
 * but for the busy times, which the owner takes away or settles now and then. All numbers are
 * integers, so that sums of parts joined in any order are those of the whole. One thread at a time.
 */
#ifndef REPORT_MODEL_SUMS_SUMS_H
#define REPORT_MODEL_SUMS_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/trace/decode.h"
#include "report/model/sums/cover.h"
#include "report/base/histogram.h"

enum gp_sum_kind {
	GP_SUM_CALL,
	GP_SUM_KERNEL,
	GP_SUM_COPY,
	GP_SUM_MEMSET,
	GP_SUM_GRAPH,
	GP_SUM_KINDS
};

/* Most sums; all further keys share one sum for each kind. */
#define GP_SUM_LIMIT 65536u

struct gp_sum_values {
	uint64_t count; /* timed or not */
	uint64_t done;  /* calls without those that failed or became a node of a graph */
	uint64_t ns, bytes;
};

struct gp_sum {
	uint64_t key; /* which; GP_SUM_OTHERS: those beyond the limit */
	uint64_t untimed;
	uint64_t bytes, timed_bytes, least_bytes, most_bytes; /* copies and memsets */
	uint64_t captured;           /* calls that became a node of a graph */
	uint64_t failed;             /* calls that returned an error; "not ready" is an answer */
	uint32_t detail;             /* as gp_op has it; of a copy, once there is a model */
	uint8_t kind;                /* enum gp_sum_kind */
	struct gp_sum_values before; /* at the last gp_sums_mark() */
	union gp_any_record
		/* one of them: of a call and a kernel api and name_id are all that is alike */
		first;
	/* of those that have times; without a distribution it has only count and sum, and ends there */
	struct gp_histogram histogram;
};
#define GP_SUM_OTHERS UINT64_MAX

/* Of the table by key; sum NULL: none is there. */
struct gp_sum_slot {
	uint64_t key;
	struct gp_sum *sum;
};

struct gp_sums {
	bool has_no_distributions; /* set before the first record; not to be joined then */
	struct gp_sum **sums;      /* in no order */
	uint32_t count, capacity;
	struct gp_sum_slot *slots;
	uint32_t slot_count; /* a power of two */
	struct gp_sum *others[GP_SUM_KINDS];
	struct gp_cover cover;            /* when devices had something to do, by CUPTI's clock */
	uint64_t first_ticks, last_ticks; /* of calls; last 0: there was none */
	uint64_t own_kernels;             /* that a launch of their own started: not of graphs */
	uint64_t reversed;                /* operations that ended before they began: of length 0 */
	uint64_t unknown_devices; /* operations with a number that no device has: left out */
	uint64_t ranges, marks;
};

void gp_sums_free(struct gp_sums *sums);

/*
 * Each adds a record of its kind; that of a call is also for memory, which begins with its call.
 * Returns 0, -ENOMEM or -EOVERFLOW.
 */
int gp_sums_call(struct gp_sums *sums, const union gp_any_record *record);
int gp_sums_kernel(struct gp_sums *sums, const union gp_any_record *record);
int gp_sums_copy(struct gp_sums *sums, const union gp_any_record *record);
int gp_sums_memset(struct gp_sums *sums, const union gp_any_record *record);
int gp_sums_graph(struct gp_sums *sums, const union gp_any_record *record);
int gp_sums_range(struct gp_sums *sums, const union gp_any_record *record);

struct gp_sum_values gp_sum_values(const struct gp_sum *sum);

/* From now on `before` of each sum is its present values. */
void gp_sums_mark(struct gp_sums *sums);

/* Adds all that another one has but its times.  Returns 0 or -ENOMEM. */
int gp_sums_join(struct gp_sums *sums, const struct gp_sums *other);

#endif
