/*
 * live: what `gpuprof top` shows of a running program, kept up to date record by record.
 *
 * Sums run from the beginning; what was summed up by the end of the last interval is kept beside
 * them, so that their difference is what the present interval has.  What is kept grows with the
 * kernels, threads, devices and allocations there are, not with the number of records.
 */
#ifndef REPORT_STREAM_LIVE_H
#define REPORT_STREAM_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "report/trace/api_table.h"
#include "report/trace/decode.h"
#include "report/stream/live_busy.h"
#include "report/model/sums/live_memory.h"
#include "report/stream/live_ranges.h"

struct gp_live_sum {
	uint64_t count, ns, bytes;
};

/* A sum from the beginning, and what it was when the last interval ended. */
struct gp_live_flow {
	struct gp_live_sum now, before;
};

struct gp_live_kernel {
	uint32_t id; /* as in the records */
	char *name;  /* mangled; NULL = not known */
	struct gp_live_flow flow;
};

/* Calls of one API function. */
struct gp_live_api {
	struct gp_live_flow all;
	struct gp_live_flow done; /* that returned no error, and were not captured */
};

struct gp_live_device {
	uint16_t id;
	char *name;            /* NULL = not known */
	uint64_t memory_bytes; /* that it has; 0 = not known */
};

struct gp_live_thread {
	uint32_t id;
	bool is_given; /* the name: by the program */
	char *name;
};

/* Of an interval. */
struct gp_live_interval {
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
	bool is_first;             /* it began with the recording */
};

struct gp_live_launch {
	struct gp_record_in_flight look;
	bool has_ended;
};

struct gp_live {
	char *info[GP_INFO_LIMIT]; /* by enum gp_info, NULL if absent; notes are left out */
	struct gp_record_anchor first_anchor, last_anchor; /* slots 0: there was none */
	struct gp_record_anchor cupti_anchor;              /* the last with CUPTI's clock */
	uint64_t end_ticks;                                /* 0 = not closed */
	bool has_paused;     /* nothing was, for a time that the figures hold */
	bool is_paused;      /* nothing is recorded now ... */
	uint8_t gate_reason; /* ... for that reason */

	void *kernel_index; /* tree, by id */
	struct gp_live_kernel *last_kernel;
	struct gp_live_kernel **kernels;
	uint32_t kernel_count, kernel_capacity;
	struct gp_live_kernel other_kernels; /* beyond those that are told apart */
	struct gp_live_flow all_kernels, graphs, sets, copies[GP_COPY_KINDS];
	uint64_t own_kernels; /* that a launch of their own started: not of graphs */

	struct gp_api_table api_names;
	struct gp_live_api *apis[65536 / GP_API_TABLE_PAGE];
	uint64_t newest_call_ticks, newest_operation_ns; /* their ends */

	struct gp_live_device *devices;
	uint32_t device_count, device_capacity;
	struct gp_live_thread *threads; /* that have a name, by id */
	uint32_t thread_count, thread_capacity;
	struct gp_live_launch *open; /* launches without a record, as far as it was looked for */
	uint32_t open_count, open_capacity;

	struct gp_live_memory memory;
	struct gp_live_busy busy;
	struct gp_live_ranges ranges;
	struct gp_live_interval interval;
};

struct gp_live *gp_live_new(void); /* NULL: no memory */
void gp_live_free(struct gp_live *live);

/* Takes a record: the sink for gp_tail_read().  Returns 0, -ENOMEM or -EOVERFLOW. */
int gp_live_take(void *live, const struct gp_record_view *seen);

/*
 * After each part of a reading: brings up to date what depends on the order of time.  Returns 0,
 * -ENOMEM or -EOVERFLOW.
 */
int gp_live_settle(struct gp_live *live);

/*
 * The interval ends now, by CLOCK_MONOTONIC; is_over: nothing comes any more.  From then on
 * `interval` and the functions below tell of it, until gp_live_next_interval() begins the next one.
 * Returns 0 or -ENOMEM.
 */
int gp_live_end_interval(struct gp_live *live, uint64_t now_ns, bool is_over);
void gp_live_next_interval(struct gp_live *live);

/* What came in the interval. */
struct gp_live_sum gp_live_gained(const struct gp_live_flow *flow);

/*
 * Calls that returned no error and were not captured, in all and in the interval, of those classes
 * (bits 1 << enum gp_api_class).
 */
struct gp_live_flow gp_live_calls(const struct gp_live *live, uint32_t classes);

/* All calls, also those that failed or were captured. */
struct gp_live_flow gp_live_all_calls(const struct gp_live *live);

/*
 * Launches whose kernels have not come yet, as far as the numbers tell: of all, or of those that
 * were made before the interval; lost: records that are known not to come.
 */
uint64_t gp_live_in_flight(const struct gp_live *live, bool of_all, uint64_t lost);

/*
 * The first of those launches that has none still, for no operation ended after the look, and may
 * go on.  NULL: there is none.
 */
const struct gp_record_in_flight *gp_live_open(const struct gp_live *live);

/* How many of them have none still, but have ended: a call waited for their stream. */
uint32_t gp_live_waited_for(const struct gp_live *live);

/* The mangled name of a kernel; NULL = not known. */
const char *gp_live_kernel_name(const struct gp_live *live, uint32_t id);

/* What ended so long ago must have come by now. */
uint64_t gp_live_delay_ns(const struct gp_live *live);

/* CLOCK_MONOTONIC at the host's ticks, and at CUPTI's ns; 0 = not known. */
uint64_t gp_live_from_ticks(const struct gp_live *live, uint64_t ticks);
uint64_t gp_live_from_cupti(const struct gp_live *live, uint64_t cupti_ns);

/* When the recording began, by CLOCK_MONOTONIC; 0 = not known. */
uint64_t gp_live_start_ns(const struct gp_live *live);

/* The device, made if it is not there yet; NULL: no memory. */
struct gp_live_device *gp_live_device(struct gp_live *live, uint16_t id);

/* The name of an API call; NULL if it is not known. */
const char *gp_live_api_name(const struct gp_live *live, uint16_t api);

/* The thread's name, "" if it has none. */
const char *gp_live_thread_name(const struct gp_live *live, uint32_t id);

#endif
