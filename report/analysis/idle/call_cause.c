#include "report/analysis/idle/call_cause.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "report/base/array.h"
#include "report/model/recorded.h"
#include "report/trace/cuda_names.h"
#include "report/base/spill_memory.h"

/* The cause of idle time that a thread in a call of that class stands for. */
static const uint8_t causes[] = {
	[GP_API_OTHER] = GP_IDLE_HOST,          [GP_API_LAUNCH] = GP_IDLE_LAUNCH,
	[GP_API_GRAPH_LAUNCH] = GP_IDLE_LAUNCH, [GP_API_COPY] = GP_IDLE_COPY,
	[GP_API_MEMSET] = GP_IDLE_COPY,         [GP_API_ALLOC] = GP_IDLE_ALLOC,
	[GP_API_FREE] = GP_IDLE_ALLOC,          [GP_API_SYNC] = GP_IDLE_SYNC,
	[GP_API_CAPTURE_BEGIN] = GP_IDLE_SETUP, [GP_API_CAPTURE_END] = GP_IDLE_SETUP,
	[GP_API_CONTROL] = GP_IDLE_SETUP,       [GP_API_EVENT] = GP_IDLE_LAUNCH,
	[GP_API_MODULE] = GP_IDLE_SETUP,        [GP_API_HOST] = GP_IDLE_LAUNCH,
};
static_assert(sizeof(causes) == GP_API_CLASSES, "a class has no cause");

#define ENQUEUE_NS 100000u /* a longer call waited */

/* The host only launches a memset, or a copy on one device, as it does a kernel. */
static bool is_launched(const struct gp_model *model, const struct gp_call *call)
{
	const struct gp_op *op = call->first_op != GP_NONE ? &model->ops[call->first_op] : NULL;

	return op && call->duration_ns < ENQUEUE_NS &&
	       (op->kind == GP_OP_SET || (op->kind == GP_OP_COPY && op->copy_kind == GP_COPY_DTOD));
}

/*
 * At its first use, code is loaded by the launch itself. gpuprof records that by itself, others do
 * not; no launch takes so long otherwise while the GPU is idle.
 */
#define LOADING_NS 10000000u

static bool loads_code(const struct gp_model *model, const struct gp_call *call)
{
	return gp_recorded_by_another(model) && call->duration_ns >= LOADING_NS;
}

enum gp_idle_cause gp_call_cause(const struct gp_model *model, const struct gp_call *call)
{
	uint8_t class = gp_model_api_class(model, call->api);

	if (call->captured)
		return GP_IDLE_SETUP;
	if ((class == GP_API_COPY || class == GP_API_MEMSET) && is_launched(model, call))
		return GP_IDLE_LAUNCH;
	if (class == GP_API_LAUNCH && loads_code(model, call))
		return GP_IDLE_SETUP;
	return class < GP_API_CLASSES ? causes[class] : GP_IDLE_HOST;
}

static bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

uint32_t gp_nccl_ranges(const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->domain_count; i++)
		if (strcmp(model->domains[i], "NCCL") == 0)
			return model->range_count;
	return 0;
}

bool gp_range_is_of_nccl(const struct gp_model *model, const struct gp_range *range)
{
	return range->style != GP_STYLE_MARK && range->domain < model->domain_count &&
	       strcmp(model->domains[range->domain], "NCCL") == 0;
}

#define GROUP_RANGES 256u /* ranges to check */

static bool is_set_up(const char *function)
{
	return begins_with(function, "ncclComm") || begins_with(function, "ncclGetUniqueId");
}

/*
 * Between a group's end and its start, back from the former; groups within it are of it.  Where the
 * start is not found, it is not known.
 */
static const char *set_up_in_group(const struct gp_model *model, const struct gp_range *end)
{
	const char *found = NULL;
	uint32_t inner = 0, steps = 0;

	for (const struct gp_range *at = end;
	     at > model->ranges && at[-1].thread_id == end->thread_id && steps < GROUP_RANGES;
	     steps++) {
		const char *function = gp_model_range_text(model, --at);

		if (!gp_range_is_of_nccl(model, at))
			continue;
		if (strcmp(function, "ncclGroupStart") == 0 && inner-- == 0)
			return found;
		inner += strcmp(function, "ncclGroupEnd") == 0;
		if (is_set_up(function))
			found = function;
	}
	return NULL;
}

const char *gp_range_set_up(const struct gp_model *model, const struct gp_range *range)
{
	const char *function = gp_model_range_text(model, range);

	if (!gp_range_is_of_nccl(model, range))
		return NULL;
	if (strcmp(function, "ncclGroupEnd") == 0)
		return set_up_in_group(model, range);
	return is_set_up(function) ? function : NULL;
}

static bool is_of_thread_before(const void *element, const void *key)
{
	const struct gp_call *call = element;
	const uint32_t *thread_id = key;

	return call->thread_id < *thread_id;
}

static bool has_calls(const struct gp_model *model, uint32_t thread_id)
{
	uint32_t at = gp_array_lower_bound(model->calls, model->call_count, sizeof(*model->calls),
					   is_of_thread_before, &thread_id);

	return at < model->call_count && model->calls[at].thread_id == thread_id;
}

bool gp_overhead_holds_up(const struct gp_model *model, const struct gp_overhead *overhead)
{
	return !gp_overhead_is_of_profiler(overhead->overhead_kind) || overhead->thread_id == 0 ||
	       model->call_count == 0 || has_calls(model, overhead->thread_id);
}

static bool starts_before(const void *element, const void *key)
{
	const struct gp_overhead *overhead = element;
	const uint64_t *time_ns = key;

	return overhead->start_ns < *time_ns;
}

/*
 * Of other threads, and of other kinds, there are few while a context is made; a damaged trace may
 * have any number.
 */
#define MOST_CHECKED 1024u

uint64_t gp_call_made_context_ns(const struct gp_model *model, const struct gp_call *call)
{
	uint64_t call_end_ns = gp_call_end_ns(call);
	uint32_t end;

	if (gp_model_api_class(model, call->api) != GP_API_ALLOC)
		return call_end_ns;
	end = gp_array_lower_bound(model->overheads, model->overhead_count,
				   sizeof(*model->overheads), starts_before, &call_end_ns);
	for (uint32_t i = end; i > 0 && end - i < MOST_CHECKED; i--) {
		const struct gp_overhead *overhead = &model->overheads[i - 1];

		if (overhead->start_ns < call->start_ns)
			break;
		if (gp_overhead_is_of_context(overhead->overhead_kind) &&
		    overhead->thread_id == call->thread_id && overhead->end_ns <= call_end_ns)
			return overhead->end_ns;
	}
	return call_end_ns;
}

static bool makes_context(const struct gp_model *model, uint32_t call)
{
	for (uint32_t i = 0; i < model->context_count; i++)
		if (gp_model_context_call(model, model->contexts[i].id) == call)
			return true;
	return false;
}

/* No context is made in less. */
#define LEAST_CONTEXT_NS 1000000u

static uint64_t first_op_ns(const struct gp_model *model)
{
	uint64_t first_ns = UINT64_MAX;

	for (uint32_t i = 0; i < model->op_count; i++)
		if (!model->ops[i].untimed && model->ops[i].start_ns < first_ns)
			first_ns = model->ops[i].start_ns;
	return first_ns;
}

uint32_t gp_initializing_call(const struct gp_model *model)
{
	bool lacks_contexts = gp_recorded_by_another(model) && model->context_count == 0;
	uint64_t until_ns = lacks_contexts ? first_op_ns(model) : 0;
	uint32_t found = GP_NONE;

	for (uint32_t i = 0; until_ns > 0 && i < model->call_count; i++) {
		const struct gp_call *call = &model->calls[i];

		if (call->duration_ns < LEAST_CONTEXT_NS || call->start_ns >= until_ns ||
		    gp_model_api_class(model, call->api) != GP_API_OTHER)
			continue;
		if (found == GP_NONE || call->start_ns < model->calls[found].start_ns)
			found = i;
	}
	return found;
}

uint64_t gp_call_without_context_ns(const struct gp_model *model, uint32_t index)
{
	const struct gp_call *call = &model->calls[index];

	if (call->duration_ns < LEAST_CONTEXT_NS || !makes_context(model, index))
		return call->duration_ns;
	return gp_call_end_ns(call) - gp_call_made_context_ns(model, call);
}

/* ---- of a process ---- */

static void add(struct gp_call_times *to, uint64_t start_ns, uint64_t end_ns, uint32_t device_id,
		enum gp_idle_cause cause)
{
	gp_array_grow_spill(&to->times, &to->capacity, to->count, sizeof(*to->times));
	to->times[to->count++] = (struct gp_call_time){start_ns, end_ns, device_id, cause};
}

static void add_call(struct gp_call_times *to, const struct gp_call *call, uint32_t device_id,
		     enum gp_idle_cause cause)
{
	add(to, call->start_ns, call->start_ns + call->duration_ns, device_id, cause);
}

static void add_makers(struct gp_call_times *setups, const struct gp_model *model)
{
	uint32_t initializing = gp_initializing_call(model);

	for (uint32_t i = 0; i < model->context_count; i++) {
		uint32_t at = gp_model_context_call(model, model->contexts[i].id);

		if (at != GP_NONE)
			add(setups, model->calls[at].start_ns,
			    gp_call_made_context_ns(model, &model->calls[at]), 0, GP_IDLE_SETUP);
	}
	if (initializing != GP_NONE)
		add_call(setups, &model->calls[initializing], 0, GP_IDLE_SETUP);
}

static void add_set_up_ranges(struct gp_call_times *setups, const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->range_count; i++) {
		const struct gp_range *range = &model->ranges[i];

		if (range->end_ns - range->start_ns >= GP_CALL_CAUSE_LEAST_NS &&
		    gp_range_set_up(model, range))
			add(setups, range->start_ns, range->end_ns, 0, GP_IDLE_SETUP);
	}
}

static void take_call(struct gp_process_calls *calls, const struct gp_model *model,
		      const struct gp_call *call)
{
	enum gp_idle_cause cause;

	if (gp_model_lacks_kernel(model, call) || gp_model_lacks_graph(model, call)) {
		add_call(&calls->unrecorded, call, 0, GP_IDLE_UNKNOWN);
		return;
	}
	if (call->duration_ns < GP_CALL_CAUSE_LEAST_NS)
		return;
	if (gp_model_api_class(model, call->api) == GP_API_MODULE) {
		add_call(&calls->setups, call, 0, GP_IDLE_SETUP);
		return;
	}
	cause = gp_call_cause(model, call);
	if (cause == GP_IDLE_HOST || cause == GP_IDLE_SYNC)
		return;
	add_call(&calls->others, call, gp_model_context_device(model, call->context_id), cause);
}

static void add_profiler(struct gp_process_calls *calls, const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->overhead_count; i++) {
		const struct gp_overhead *overhead = &model->overheads[i];

		if (!gp_overhead_is_of_profiler(overhead->overhead_kind) ||
		    !gp_overhead_holds_up(model, overhead))
			continue;
		add(overhead->overhead_kind == GP_OVERHEAD_HW_WINDOW ? &calls->windows
								     : &calls->profiler,
		    overhead->start_ns, overhead->end_ns, 0, GP_IDLE_PROFILER);
		if (overhead->thread_id != 0)
			add(&calls->profiler_in, overhead->start_ns, overhead->end_ns,
			    overhead->thread_id, GP_IDLE_PROFILER);
	}
}

GP_COMPARE_BY_TWO(compare_times, struct gp_call_time, device_id, start_ns)

/* Times that begin within another one begin at its end. */
static void make_disjoint(struct gp_call_times *all)
{
	uint64_t reached_ns = 0;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < all->count; i++) {
		struct gp_call_time time = all->times[i];

		if (kept == 0 || all->times[kept - 1].device_id != time.device_id)
			reached_ns = 0;
		if (time.end_ns <= reached_ns)
			continue;
		if (time.start_ns < reached_ns)
			time.start_ns = reached_ns;
		reached_ns = time.end_ns;
		all->times[kept++] = time;
	}
	all->count = kept;
}

static void put_in_order(struct gp_call_times *all)
{
	gp_array_sort(all->times, all->count, sizeof(*all->times), compare_times, NULL);
	make_disjoint(all);
}

/* The first event of the host, if operations began before: they were launched before it. */
static uint64_t host_from_ns(const struct gp_model *model)
{
	uint64_t from_ns = model->first_call_ns;

	if (!gp_recorded_by_another(model) || model->call_count == 0 ||
	    first_op_ns(model) >= from_ns)
		return 0;
	for (uint32_t i = 0; i < model->range_count; i++)
		if (model->ranges[i].start_ns < from_ns)
			from_ns = model->ranges[i].start_ns;
	for (uint32_t i = 0; i < model->sample_count; i++)
		if (model->samples[i].start_ns < from_ns)
			from_ns = model->samples[i].start_ns;
	return from_ns;
}

void gp_process_calls_of(struct gp_process_calls *calls, const struct gp_model *model)
{
	*calls = (struct gp_process_calls){.host_from_ns = host_from_ns(model)};
	add_makers(&calls->setups, model);
	add_set_up_ranges(&calls->setups, model);
	for (uint32_t i = 0; i < model->call_count; i++)
		take_call(calls, model, &model->calls[i]);
	add_profiler(calls, model);
	put_in_order(&calls->setups);
	put_in_order(&calls->profiler);
	put_in_order(&calls->profiler_in);
	put_in_order(&calls->windows);
	put_in_order(&calls->unrecorded);
	put_in_order(&calls->others);
}

void gp_process_calls_free(struct gp_process_calls *calls)
{
	gp_spill_free(calls->setups.times);
	gp_spill_free(calls->others.times);
	gp_spill_free(calls->profiler.times);
	gp_spill_free(calls->profiler_in.times);
	gp_spill_free(calls->windows.times);
	gp_spill_free(calls->unrecorded.times);
	*calls = (struct gp_process_calls){0};
}

struct moment {
	uint32_t device_id;
	uint64_t time_ns;
};

static bool ends_until(const void *element, const void *key)
{
	const struct gp_call_time *time = element;
	const struct moment *moment = key;

	return time->device_id != moment->device_id ? time->device_id < moment->device_id
						    : time->end_ns <= moment->time_ns;
}

uint32_t gp_call_times_find(struct gp_call_times *times, uint32_t device_id, uint64_t time_ns)
{
	const struct moment moment = {device_id, time_ns};

	return gp_array_lower_bound_near(times->times, times->count, sizeof(*times->times),
					 ends_until, &moment, &times->found);
}
