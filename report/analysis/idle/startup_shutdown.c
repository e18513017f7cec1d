#include "report/analysis/idle/startup_shutdown.h"

#include <stdlib.h>
#include <string.h>

#include "report/analysis/idle/call_cause.h"
#include "report/base/array.h"
#include "report/analysis/idle/busy.h"
#include "report/trace/cuda_names.h"
#include "report/model/sums/totals.h"
#include "report/model/recorded.h"
#include "report/base/spill_memory.h"

/* Of /proc/PID/stat: Linux counts hundredths of a second for programs, at any rate of its own. */
#define NS_PER_CLOCK_TICK 10000000u

const char *gp_end_part_name(enum gp_end_part part)
{
	static const char *const names[] = {
		[GP_END_NCCL] = "NCCL",
		[GP_END_CONTEXT] = "making contexts",
		[GP_END_NO_CONTEXT] = "ending contexts",
		[GP_END_CODE] = "loading code",
		[GP_END_MEMORY] = "allocating memory",
		[GP_END_FREE] = "freeing memory",
	};

	return names[part];
}

/* ---- before the first call ---- */

static uint64_t before_first_call_ns(const struct gp_model *model)
{
	const char *started = model->info[GP_INFO_START_TIME];
	uint64_t ticks = started ? strtoull(started, NULL, 10) : 0;
	uint64_t first_ns = model->base_monotonic_ns + model->first_call_ns;

	if (ticks == 0 || model->base_monotonic_ns == 0 || ticks > first_ns / NS_PER_CLOCK_TICK)
		return 0;
	return first_ns - ticks * NS_PER_CLOCK_TICK;
}

/* ---- parts of both ends ---- */

/* Shorter calls are in no one's startup; there may be millions of them. */
#define LEAST_CALL_NS 100000u

/* A call, and its purpose. */
struct told_call {
	uint32_t call;
	enum gp_end_part part;
};

/*
 * The few calls that load code, or take long to allocate or free memory or to end a context, found
 * in one pass over all calls.
 */
struct told_calls {
	const struct gp_model *model;
	struct told_call *calls;
	uint32_t count, capacity;
};

/* A context, or a device with all its contexts. */
static bool ends_context(const char *function)
{
	return strstr(function, "CtxDestroy") || strstr(function, "DeviceReset") ||
	       strstr(function, "PrimaryCtxRelease") || strstr(function, "PrimaryCtxReset") ||
	       strcmp(function, "cudaThreadExit") == 0;
}

/* GP_END_PARTS: for none of these. */
static enum gp_end_part part_of(const struct gp_model *model, const struct gp_call *call)
{
	uint8_t class = gp_model_api_class(model, call->api);

	if (class == GP_API_MODULE)
		return GP_END_CODE;
	if (call->duration_ns < LEAST_CALL_NS)
		return GP_END_PARTS;
	if (class == GP_API_ALLOC)
		return GP_END_MEMORY;
	if (class == GP_API_FREE)
		return GP_END_FREE;
	return ends_context(gp_model_api(model, call->api).name) ? GP_END_NO_CONTEXT : GP_END_PARTS;
}

static void find_calls(struct told_calls *told, const struct gp_model *model)
{
	*told = (struct told_calls){.model = model};
	for (uint32_t i = 0; i < model->call_count; i++) {
		enum gp_end_part part = part_of(model, &model->calls[i]);

		if (part == GP_END_PARTS)
			continue;
		gp_array_grow_spill(&told->calls, &told->capacity, told->count,
				    sizeof(*told->calls));
		told->calls[told->count++] = (struct told_call){i, part};
	}
}

/* ---- one end ---- */

/* Times of a part and of those before it, within a window. */
struct parts {
	struct gp_interval window;
	struct gp_interval *intervals;
	uint32_t count, capacity;
	uint64_t longest_ns; /* of a range */
};

/* Returns how much of it is within the window. */
static uint64_t take(struct parts *parts, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t from_ns = start_ns > parts->window.start_ns ? start_ns : parts->window.start_ns;
	uint64_t to_ns = end_ns < parts->window.end_ns ? end_ns : parts->window.end_ns;

	if (from_ns >= to_ns)
		return 0;
	gp_array_grow_spill(&parts->intervals, &parts->capacity, parts->count,
			    sizeof(*parts->intervals));
	parts->intervals[parts->count++] = (struct gp_interval){from_ns, to_ns};
	return to_ns - from_ns;
}

static void take_nccl(struct parts *parts, const struct gp_model *model, struct gp_end *end)
{
	for (uint32_t i = 0, count = gp_nccl_ranges(model); i < count; i++) {
		const struct gp_range *range = &model->ranges[i];
		uint64_t ns = gp_range_is_of_nccl(model, range)
				      ? take(parts, range->start_ns, range->end_ns)
				      : 0;

		if (ns > parts->longest_ns) {
			const char *set_up = gp_range_set_up(model, range);

			parts->longest_ns = ns;
			end->nccl = set_up ? set_up : gp_model_range_text(model, range);
		}
	}
}

static void take_contexts(struct parts *parts, const struct gp_model *model)
{
	uint32_t initializing = gp_initializing_call(model);

	if (initializing != GP_NONE)
		take(parts, model->calls[initializing].start_ns,
		     gp_call_end_ns(&model->calls[initializing]));
	for (uint32_t i = 0; i < model->context_count; i++) {
		uint32_t at = gp_model_context_call(model, model->contexts[i].id);

		if (at != GP_NONE)
			take(parts, model->calls[at].start_ns,
			     gp_call_made_context_ns(model, &model->calls[at]));
	}
}

/* Returns the longest of them; NULL: there is none. */
static const struct gp_call *take_calls(struct parts *parts, const struct told_calls *told,
					enum gp_end_part part)
{
	const struct gp_call *longest = NULL;

	for (uint32_t i = 0; i < told->count; i++) {
		const struct gp_call *call = &told->model->calls[told->calls[i].call];

		if (told->calls[i].part == part &&
		    take(parts, call->start_ns, gp_call_end_ns(call)) > 0 &&
		    (!longest || call->duration_ns > longest->duration_ns))
			longest = call;
	}
	return longest;
}

/* ---- NCCL's setup, anywhere ---- */

static bool ends_communicator(const char *function)
{
	return strstr(function, "Destroy") || strstr(function, "Finalize") ||
	       strstr(function, "Abort");
}

static bool makes_communicator(const char *function)
{
	return strstr(function, "CommInit") || strstr(function, "CommSplit");
}

static void sum_nccl(struct gp_startup_shutdown *ends, const struct gp_model *model, bool ending)
{
	struct parts parts = {.window = {0, UINT64_MAX}};

	for (uint32_t i = 0, count = gp_nccl_ranges(model); i < count; i++) {
		const struct gp_range *range = &model->ranges[i];
		const char *function = gp_range_set_up(model, range);
		uint64_t ns;

		if (!function || ends_communicator(function) != ending)
			continue;
		ends->nccl_made += makes_communicator(gp_model_range_text(model, range));
		ns = take(&parts, range->start_ns, range->end_ns);
		if (!ending && ns > parts.longest_ns) {
			parts.longest_ns = ns;
			ends->nccl_make = function;
		}
	}
	*(ending ? &ends->nccl_end_ns : &ends->nccl_make_ns) =
		gp_interval_union(parts.intervals, parts.count);
	gp_spill_free(parts.intervals);
}

/* A shorter range only asks something, or is a part of a group. */
#define LEAST_MADE_NS 1000000u

/*
 * The shortest of those that made communicators; 0: there was one at most.  *made_ns = when the
 * last of them was made.
 */
static uint64_t least_made_ns(const struct gp_model *model, uint64_t *made_ns)
{
	uint64_t least_ns = UINT64_MAX;
	uint32_t made = 0;

	*made_ns = 0;
	for (uint32_t i = 0, count = gp_nccl_ranges(model); i < count; i++) {
		const struct gp_range *range = &model->ranges[i];
		uint64_t ns = range->end_ns - range->start_ns;
		const char *function = gp_range_set_up(model, range);

		if (ns < LEAST_MADE_NS || !function || !makes_communicator(function))
			continue;
		made++;
		if (ns < least_ns)
			least_ns = ns;
		if (range->end_ns > *made_ns)
			*made_ns = range->end_ns;
	}
	return made > 1 ? least_ns : 0;
}

static uint64_t first_use_ns(const struct gp_model *model, uint64_t from_ns)
{
	uint64_t use_ns = model->last_call_ns;

	for (uint32_t i = 0, count = gp_nccl_ranges(model); i < count; i++) {
		const struct gp_range *range = &model->ranges[i];

		if (range->start_ns >= from_ns && range->start_ns < use_ns &&
		    gp_range_is_of_nccl(model, range) && !gp_range_set_up(model, range) &&
		    strncmp(gp_model_range_text(model, range), "ncclGroup", 9) != 0)
			use_ns = range->start_ns;
	}
	return use_ns;
}

/* ---- all together ---- */

/* Beside the told calls: the parts include those already. */
static uint64_t own_ns(struct parts *parts, const struct gp_model *model)
{
	uint64_t all_ns = parts->window.end_ns - parts->window.start_ns;

	if (model->call_count == 0)
		return 0;
	for (uint32_t i = 0; i < model->call_count; i++)
		take(parts, model->calls[i].start_ns, gp_call_end_ns(&model->calls[i]));
	return all_ns - gp_interval_union(parts->intervals, parts->count);
}

static void split(struct gp_end *end, const struct told_calls *told, uint64_t start_ns,
		  uint64_t end_ns)
{
	const struct gp_model *model = told->model;
	struct parts parts = {.window = {start_ns, end_ns}};
	uint64_t told_ns = 0;

	if (start_ns >= end_ns)
		return;
	end->start_ns = start_ns;
	end->ns = end_ns - start_ns;
	for (enum gp_end_part part = 0; part < GP_END_PARTS; part++) {
		uint64_t all_ns;

		if (part == GP_END_NCCL)
			take_nccl(&parts, model, end);
		else if (part == GP_END_CONTEXT)
			take_contexts(&parts, model);
		else if (part == GP_END_NO_CONTEXT)
			end->ending = take_calls(&parts, told, part);
		else
			take_calls(&parts, told, part);
		all_ns = gp_interval_union(parts.intervals, parts.count);
		end->part_ns[part] = all_ns - told_ns;
		told_ns = all_ns;
	}
	end->own_ns = own_ns(&parts, model);
	gp_spill_free(parts.intervals);
}

/* From the first operation's start to the last one's end; false: none has times. */
static bool find_work(const struct gp_model *model, struct gp_interval *work)
{
	const struct gp_totals *totals = gp_totals_of(model);

	*work = (struct gp_interval){UINT64_MAX, 0};
	if (totals->last_op_ns > 0)
		*work = (struct gp_interval){totals->first_op_ns, totals->last_op_ns};
	for (uint32_t i = 0; i < model->op_count; i++) {
		if (model->ops[i].untimed || gp_op_is_on_host(&model->ops[i]))
			continue;
		if (model->ops[i].start_ns < work->start_ns)
			work->start_ns = model->ops[i].start_ns;
		if (model->ops[i].end_ns > work->end_ns)
			work->end_ns = model->ops[i].end_ns;
	}
	return work->start_ns <= work->end_ns;
}

static void split_whole(struct gp_startup_shutdown *ends, const struct gp_model *model)
{
	struct told_calls told;

	if (model->op_count > 0 || model->totals || model->call_count == 0 ||
	    model->gate_count > 0 || gp_recorded_why_not_all(model))
		return;
	find_calls(&told, model);
	split(&ends->whole, &told, model->first_call_ns, model->last_call_ns);
	gp_spill_free(told.calls);
}

/* While contexts are made, gpuprof sets up the reading of hardware counters: that is none of theirs. */
static void leave_out_own_setup(struct gp_end *first, const struct gp_model *model)
{
	uint64_t setup_ns = model->counters[GP_COUNTER_HW_SETUP_NS];
	uint64_t *context_ns = &first->part_ns[GP_END_CONTEXT];

	*context_ns -= setup_ns < *context_ns ? setup_ns : *context_ns;
}

void gp_startup_shutdown_of(struct gp_startup_shutdown *ends, const struct gp_model *model)
{
	struct gp_interval work;
	struct told_calls told;
	uint64_t made_ns;

	*ends = (struct gp_startup_shutdown){0};
	if (!find_work(model, &work)) {
		split_whole(ends, model);
		return;
	}
	if (model->gate_count > 0 || (model->call_count == 0 && !model->totals))
		return;
	ends->before_ns = before_first_call_ns(model);
	find_calls(&told, model);
	sum_nccl(ends, model, false);
	sum_nccl(ends, model, true);
	ends->nccl_least_ns = least_made_ns(model, &made_ns);
	ends->nccl_use_ns = first_use_ns(model, made_ns);
	if (!gp_recorded_is_last_part(model) && !gp_recorded_is_damaged(model))
		split(&ends->first, &told, model->first_call_ns, work.start_ns);
	leave_out_own_setup(&ends->first, model);
	if (!gp_recorded_why_not_all(model))
		split(&ends->last, &told, work.end_ns, model->last_call_ns);
	gp_spill_free(told.calls);
}
