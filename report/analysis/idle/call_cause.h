/*
 * call_cause: the idle cause that calls stand for: one call; and all calls of a process's threads.
 */
#ifndef REPORT_ANALYSIS_IDLE_CALL_CAUSE_H
#define REPORT_ANALYSIS_IDLE_CALL_CAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "report/model/model.h"

/* Why a device has nothing to do: see report/analysis/idle/idle_cause.h. */
enum gp_idle_cause {
	GP_IDLE_HOST,
	GP_IDLE_LAUNCH,
	GP_IDLE_SYNC,
	GP_IDLE_COPY,
	GP_IDLE_ALLOC,
	GP_IDLE_SETUP,
	GP_IDLE_DEPENDENCY,
	GP_IDLE_PROFILER,
	GP_IDLE_UNUSED,
	GP_IDLE_UNKNOWN,
	GP_IDLE_CAUSES
};

/* Calls shorter than this say nothing of other threads. */
#define GP_CALL_CAUSE_LEAST_NS 10000u

/* By the purpose of the call; GP_IDLE_HOST: it only asks something. */
enum gp_idle_cause gp_call_cause(const struct gp_model *model, const struct gp_call *call);

/* The number of model->ranges to check for NCCL's: none if it has no domain. */
uint32_t gp_nccl_ranges(const struct gp_model *model);

/* Whether a range is a function of NCCL's, by its domain. */
bool gp_range_is_of_nccl(const struct gp_model *model, const struct gp_range *range);

/*
 * The function that makes, splits or ends a communicator in a range of model->ranges: its own; or,
 * at the end of a group, where NCCL does the group's work, the first such function in the group.
 * NULL: none.
 */
const char *gp_range_set_up(const struct gp_model *model, const struct gp_range *range);

/*
 * When the context of this call was ready: the end of CUPTI's work for it, amid a call that
 * allocates and then goes on (to page-lock gigabytes takes longer than any context); else the end
 * of the call.
 */
uint64_t gp_call_made_context_ns(const struct gp_model *model, const struct gp_call *call);

/*
 * Of a trace without contexts: the call that initialized CUDA, a slow one before the first operation
 * that only asks something. GP_NONE: none is known.
 */
uint32_t gp_initializing_call(const struct gp_model *model);

/* The time of one of model->calls, without a context that it may have made first. */
uint64_t gp_call_without_context_ns(const struct gp_model *model, uint32_t index);

/*
 * Whether it may have delayed the program: not CUPTI's work in its own thread, or in our fetching
 * thread.
 */
bool gp_overhead_holds_up(const struct gp_model *model, const struct gp_overhead *overhead);

/* A time, on the process's timeline, in which a thread of it was in a call of that cause. */
struct gp_call_time {
	uint64_t start_ns, end_ns;
	uint32_t device_id; /* or another key that separates lists */
	uint32_t cause;     /* enum gp_idle_cause */
};

/*
 * In the order of device and time; disjoint, those of one device: of calls at the same time, the
 * one that began first.
 */
struct gp_call_times {
	struct gp_call_time *times;
	uint32_t count, capacity;
	uint32_t found; /* by gp_call_times_find(), last */
};

struct gp_process_calls {
	/*
	 * on the process's timeline, when another recorder began to record the host; 0 = the host is
	 * known from its first call on
	 */
	uint64_t host_from_ns;
	/*
	 * Of calls that made a context, for any purpose, until it was ready, initialized CUDA, or
	 * loaded code, and of NCCL's setup: all devices wait for these; device_id is 0
	 */
	struct gp_call_times setups;
	/*
	 * Of all others that keep their device waiting.  Not of those that wait: they keep only
	 * their thread.
	 */
	struct gp_call_times others;
	/*
	 * When a thread that makes calls, or one that is not known, was in CUPTI for its own sake;
	 * device_id is 0.
	 */
	struct gp_call_times profiler;
	/* The same of threads that are known: device_id is the thread's. */
	struct gp_call_times profiler_in;
	/* Windows of --counters, which hold up all threads; device_id is 0 */
	struct gp_call_times windows;
	/* Of calls whose work on a GPU has no record: GP_IDLE_UNKNOWN; device_id is 0 */
	struct gp_call_times unrecorded;
};

/* Call gp_process_calls_free(). */
void gp_process_calls_of(struct gp_process_calls *calls, const struct gp_model *model);
void gp_process_calls_free(struct gp_process_calls *calls);

/*
 * The index of the device's first time that ends after that moment; of the next one, or count, if
 * none does. In constant time if moments come in order.
 */
uint32_t gp_call_times_find(struct gp_call_times *times, uint32_t device_id, uint64_t time_ns);

#endif
