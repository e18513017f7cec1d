/*
 * live: the state of a running program for `gpuprof top`, kept up to date record by record.
 *
 * Sums run from the beginning (report/model/sums/sums.h); each also has its values at the end of
 * the last interval, and the difference is the present interval's.  Memory grows with the kernels,
 * threads, devices and allocations, not with the number of records.
 */
#ifndef REPORT_STREAM_LIVE_H
#define REPORT_STREAM_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "report/trace/api_table.h"
#include "report/trace/decode.h"
#include "report/model/sums/live_memory.h"
#include "report/model/sums/sums.h"
#include "report/stream/live_ranges.h"
#include "report/stream/live_steps.h"

/* Values since the beginning, and at the end of the last interval. */
struct gp_live_flow {
	struct gp_sum_values now, before;
};

struct gp_live_device {
	uint16_t id;
	char *name;              /* NULL = not known */
	uint64_t memory_bytes;   /* its capacity; 0 = not known */
	uint64_t busy_before_ns; /* until the last interval began, and ... */
	uint64_t busy_ns;        /* ... in the last interval, as far as records have come */
};

/* Names by the ids of kernels or threads, sorted by id. */
struct gp_live_names {
	struct gp_live_name {
		uint32_t id;
		bool is_given; /* by the program */
		char *text;
	} * rows;
	uint32_t count, capacity;
};

struct gp_live_interval {
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
	bool is_first;             /* it began with the recording */
	/* the span of the devices' busy_ns, by CUPTI's clock; 0, 0 = there was none */
	uint64_t busy_start_ns, busy_end_ns;
};

struct gp_live_launch {
	struct gp_record_in_flight check;
	bool has_ended;
};

struct gp_live {
	bool is_of_job;            /* only what the page of a job shows is kept: gp_live_new() */
	char *info[GP_INFO_LIMIT]; /* by enum gp_info, NULL if absent; notes are left out */
	struct gp_record_anchor first_anchor, last_anchor; /* slots 0: there was none */
	struct gp_record_anchor cupti_anchor;              /* the last with CUPTI's clock */
	uint64_t end_ticks;                                /* 0 = not closed */
	bool has_paused; /* nothing was, for a time that the figures hold */
	uint64_t paused_ticks, paused_since_ticks; /* the pauses that ended; the present one */
	bool is_paused;                            /* nothing is recorded now ... */
	uint8_t gate_reason;                       /* ... for that reason */

	struct gp_sums sums; /* those of graphs all under the number 0 */
	struct gp_api_table api_names;
	struct gp_live_names kernel_names, thread_names;
	uint64_t newest_operation_ns; /* its end */

	struct gp_live_device *devices;
	uint32_t device_count, device_capacity;
	struct gp_live_launch *open; /* launches that had no record at a check */
	uint32_t open_count, open_capacity;

	struct gp_live_memory memory;
	struct gp_live_ranges ranges;
	struct gp_live_steps steps;
	struct gp_live_interval interval;
};

/*
 * NULL: no memory.  is_of_job: without ranges and names of threads and devices, and of kernels with
 * those of NCCL only.
 */
struct gp_live *gp_live_new(bool is_of_job);
void gp_live_free(struct gp_live *live);

/* Frees memory that is needed only while records come. */
void gp_live_rest(struct gp_live *live);

/* Takes a record: the sink for gp_tail_read().  Returns 0, -ENOMEM or -EOVERFLOW. */
int gp_live_take(void *live, const struct gp_record_view *seen);

/*
 * After each part of a reading: updates all values that depend on the order of time. Returns 0,
 * -ENOMEM or -EOVERFLOW.
 */
int gp_live_settle(struct gp_live *live);

/*
 * Ends the interval at that time, by CLOCK_MONOTONIC; is_over: no more records come. `interval` and
 * the functions below describe it until gp_live_next_interval() begins the next one. Returns 0 or
 * -ENOMEM.
 */
int gp_live_end_interval(struct gp_live *live, uint64_t now_ns, bool is_over);
void gp_live_next_interval(struct gp_live *live);

struct gp_live_flow gp_live_flow_of(const struct gp_sum *sum);

/* The values of the interval alone. */
struct gp_sum_values gp_live_gained(const struct gp_live_flow *flow);

/*
 * All sums of a kind together: of calls those of some classes (bits 1 << enum gp_api_class), of
 * copies those of some kinds (bits 1 << copy_kind).
 */
#define GP_LIVE_ALL UINT32_MAX
struct gp_live_flow gp_live_flow(const struct gp_live *live, enum gp_sum_kind kind, uint32_t which);

/*
 * Launches whose kernels have not come yet, by numbers: of all, or of those before the interval;
 * lost: records that are known to be lost.
 */
uint64_t gp_live_in_flight(const struct gp_live *live, bool of_all, uint64_t lost);

/*
 * The first checked launch that still has no record, as no operation ended after the check, and
 * that may still run. NULL: none.
 */
const struct gp_record_in_flight *gp_live_open(const struct gp_live *live);

/* How many of them have none still, but have ended: a call waited for their stream. */
uint32_t gp_live_waited_for(const struct gp_live *live);

/* The mangled name of a kernel; NULL = not known. */
const char *gp_live_kernel_name(const struct gp_live *live, uint32_t id);

/* Records of operations that ended so long ago have come by now. */
uint64_t gp_live_delay_ns(const struct gp_live *live);

/* CLOCK_MONOTONIC at the host's ticks, and at CUPTI's ns; 0 = not known. */
uint64_t gp_live_from_ticks(const struct gp_live *live, uint64_t ticks);
uint64_t gp_live_from_cupti(const struct gp_live *live, uint64_t cupti_ns);

/* When the recording began, by CLOCK_MONOTONIC; 0 = not known. */
uint64_t gp_live_start_ns(const struct gp_live *live);

/* How long it was recorded until the end of the interval, without pauses. */
uint64_t gp_live_recorded_ns(const struct gp_live *live);

/*
 * The current time by CLOCK_MONOTONIC of the recorded host.  If that is not this host, the wall
 * clocks of both are compared.
 */
uint64_t gp_live_now_ns(const struct gp_live *live);

/* The device, made if it is not there yet; NULL: no memory. */
struct gp_live_device *gp_live_device(struct gp_live *live, uint16_t id);

/* The name of an API call; NULL if it is not known. */
const char *gp_live_api_name(const struct gp_live *live, uint16_t api);

/* The thread's name, "" if it has none. */
const char *gp_live_thread_name(const struct gp_live *live, uint32_t id);

#endif
