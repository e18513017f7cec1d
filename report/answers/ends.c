#include "report/answers/ends.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/answers/call_cause.h"
#include "report/array.h"
#include "report/busy.h"
#include "report/cuda_names.h"
#include "report/pass/totals.h"
#include "report/recorded.h"
#include "report/room.h"

#define NS_PER_CLOCK_TICK                                                                          \
	10000000u /* of /proc/PID/stat: Linux counts hundredths of a second for programs, whatever its own */

const char *gp_end_part_name(enum gp_end_part part)
{
	static const char *const names[] = {
		[GP_END_NCCL] = "NCCL",
		[GP_END_CONTEXT] = "making contexts",
		[GP_END_CODE] = "loading code",
		[GP_END_MEMORY] = "allocating memory",
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

/* ---- what both ends are made of ---- */

/* What is shorter is in nobody's start; there may be millions of them. */
#define LEAST_ALLOCATION_NS 100000u

/* The few calls that load code, or take long to allocate memory, found in one pass over all calls. */
struct loads {
	const struct gp_model *model;
	uint32_t *calls;
	uint32_t count, capacity;
};

static bool counts(const struct gp_model *model, const struct gp_call *call)
{
	uint8_t class = gp_model_api_class(model, call->api);

	return class == GP_API_MODULE ||
	       (class == GP_API_ALLOC && call->duration_ns >= LEAST_ALLOCATION_NS);
}

static int find_loads(struct loads *loads, const struct gp_model *model)
{
	int result = 0;

	*loads = (struct loads){.model = model};
	for (uint32_t i = 0; i < model->call_count && result == 0; i++) {
		if (!counts(model, &model->calls[i]))
			continue;
		result = gp_array_grow_room(&loads->calls, &loads->capacity, loads->count,
					    sizeof(*loads->calls));
		if (result == 0)
			loads->calls[loads->count++] = i;
	}
	return result;
}

/* How many ranges are to be looked at for NCCL's: none where it has no domain. */
static uint32_t nccl_ranges(const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->domain_count; i++)
		if (strcmp(model->domains[i], "NCCL") == 0)
			return model->range_count;
	return 0;
}

/* ---- one end ---- */

/* Times of a part and of those before it, within a window. */
struct parts {
	struct gp_interval window;
	struct gp_interval *intervals;
	uint32_t count, capacity;
	uint64_t longest_ns; /* of a range */
	int error;
};

/* Returns how much of it is within the window. */
static uint64_t take(struct parts *parts, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t from_ns = start_ns > parts->window.start_ns ? start_ns : parts->window.start_ns;
	uint64_t to_ns = end_ns < parts->window.end_ns ? end_ns : parts->window.end_ns;

	if (from_ns >= to_ns || parts->error != 0)
		return 0;
	parts->error = gp_array_grow_room(&parts->intervals, &parts->capacity, parts->count,
					  sizeof(*parts->intervals));
	if (parts->error == 0)
		parts->intervals[parts->count++] = (struct gp_interval){from_ns, to_ns};
	return to_ns - from_ns;
}

static void take_nccl(struct parts *parts, const struct gp_model *model, struct gp_end *end)
{
	for (uint32_t i = 0, count = nccl_ranges(model); i < count; i++) {
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
	for (uint32_t i = 0; i < model->context_count; i++) {
		uint32_t at = gp_model_context_call(model, model->contexts[i].id);

		if (at != GP_NONE)
			take(parts, model->calls[at].start_ns,
			     gp_call_made_context_ns(model, &model->calls[at]));
	}
}

static void take_calls(struct parts *parts, const struct loads *loads, enum gp_api_class class)
{
	for (uint32_t i = 0; i < loads->count; i++) {
		const struct gp_call *call = &loads->model->calls[loads->calls[i]];

		if (gp_model_api_class(loads->model, call->api) == class)
			take(parts, call->start_ns, gp_call_end_ns(call));
	}
}

/* ---- NCCL's set-up, wherever ---- */

static bool ends_communicator(const char *function)
{
	return strstr(function, "Destroy") || strstr(function, "Finalize") ||
	       strstr(function, "Abort");
}

static bool makes_communicator(const char *function)
{
	return strstr(function, "CommInit") || strstr(function, "CommSplit");
}

static int sum_nccl(struct gp_ends *ends, const struct gp_model *model, bool ending)
{
	struct parts parts = {.window = {0, UINT64_MAX}};

	for (uint32_t i = 0, count = nccl_ranges(model); i < count; i++) {
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
		gp_busy_union(parts.intervals, parts.count);
	gp_room_free(parts.intervals);
	return parts.error;
}

/* ---- all together ---- */

static int split(struct gp_end *end, const struct loads *loads, uint64_t start_ns, uint64_t end_ns)
{
	const struct gp_model *model = loads->model;
	struct parts parts = {.window = {start_ns, end_ns}};
	uint64_t told_ns = 0;

	if (start_ns >= end_ns)
		return 0;
	end->start_ns = start_ns;
	end->ns = end_ns - start_ns;
	for (enum gp_end_part part = 0; part < GP_END_PARTS; part++) {
		uint64_t all_ns;

		if (part == GP_END_NCCL)
			take_nccl(&parts, model, end);
		else if (part == GP_END_CONTEXT)
			take_contexts(&parts, model);
		else
			take_calls(&parts, loads,
				   part == GP_END_CODE ? GP_API_MODULE : GP_API_ALLOC);
		all_ns = gp_busy_union(parts.intervals, parts.count);
		end->part_ns[part] = all_ns - told_ns;
		told_ns = all_ns;
	}
	gp_room_free(parts.intervals);
	return parts.error;
}

/* From the first operation's start to the last one's end; false: none has times. */
static bool find_work(const struct gp_model *model, struct gp_interval *work)
{
	*work = (struct gp_interval){UINT64_MAX, 0};
	if (model->totals && model->totals->last_op_ns > 0)
		*work = (struct gp_interval){model->totals->first_op_ns, model->totals->last_op_ns};
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

int gp_ends_of(struct gp_ends *ends, const struct gp_model *model)
{
	struct gp_interval work;
	struct loads loads;
	int result;

	*ends = (struct gp_ends){0};
	if (!find_work(model, &work) || model->gate_count > 0 ||
	    (model->call_count == 0 && !model->totals))
		return 0;
	ends->before_ns = before_first_call_ns(model);
	result = find_loads(&loads, model);
	if (result == 0)
		result = sum_nccl(ends, model, false);
	if (result == 0)
		result = sum_nccl(ends, model, true);
	if (result == 0 && !gp_recorded_is_last_part(model) && !gp_recorded_is_damaged(model))
		result = split(&ends->first, &loads, model->first_call_ns, work.start_ns);
	if (result == 0 && !gp_recorded_why_not_all(model))
		result = split(&ends->last, &loads, work.end_ns, model->last_call_ns);
	gp_room_free(loads.calls);
	return result;
}
