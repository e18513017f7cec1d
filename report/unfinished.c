#include "report/unfinished.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/answers/failures.h"
#include "report/array.h"
#include "report/recorded.h"

/* When the last wait for all of a context's work began that went well: what was launched until then had ended. */
struct wait {
	uint32_t context_id;
	uint64_t start_ns;
};

#define MOST_CONTEXTS 256u /* no program has as many that it waits for */

struct waits {
	struct wait *waits;
	uint32_t count, capacity;
};

static bool waits_for_all(const struct gp_model *model, const struct gp_call *call)
{
	const char *name;

	if (call->status != 0 || call->context_id == 0 ||
	    gp_model_api_class(model, call->api) != GP_API_SYNC)
		return false;
	name = gp_model_api(model, call->api).name;
	return strncmp(name, "cudaDeviceSync", 14) == 0 ||
	       strncmp(name, "cudaThreadSync", 14) == 0 || strncmp(name, "cuCtxSync", 9) == 0;
}

static struct wait *find_wait(const struct waits *waits, uint32_t context_id)
{
	for (uint32_t i = 0; i < waits->count; i++)
		if (waits->waits[i].context_id == context_id)
			return &waits->waits[i];
	return NULL;
}

static int note_wait(struct waits *waits, const struct gp_call *call)
{
	struct wait *wait = find_wait(waits, call->context_id);

	if (!wait) {
		if (waits->count == MOST_CONTEXTS)
			return 0;
		if (gp_array_grow(&waits->waits, &waits->capacity, waits->count,
				  sizeof(*waits->waits)) != 0)
			return -ENOMEM;
		wait = &waits->waits[waits->count++];
		*wait = (struct wait){call->context_id, 0};
	}
	if (call->start_ns > wait->start_ns)
		wait->start_ns = call->start_ns;
	return 0;
}

static int find_waits(const struct gp_model *model, struct waits *waits)
{
	int result = 0;

	for (uint32_t i = 0; i < model->call_count && result == 0; i++)
		if (waits_for_all(model, &model->calls[i]))
			result = note_wait(waits, &model->calls[i]);
	return result;
}

static bool was_waited_for(const struct waits *waits, const struct gp_call *launch)
{
	const struct wait *wait = find_wait(waits, launch->context_id);

	return wait && wait->start_ns >= gp_call_end_ns(launch);
}

static int add(const struct gp_model *model, const struct waits *waits,
	       struct gp_unfinished_list *list, const struct gp_unfinished *row)
{
	if (was_waited_for(waits, &model->calls[row->call]))
		return 0;
	if (gp_array_grow(&list->rows, &list->capacity, list->count, sizeof(*list->rows)) != 0)
		return -ENOMEM;
	list->rows[list->count++] = *row;
	return 0;
}

static uint64_t since(const struct gp_call *call, uint64_t time_ns)
{
	uint64_t start_ns = gp_call_end_ns(call);

	return time_ns > start_ns ? time_ns - start_ns : 0;
}

/*
 * Whether a launch had no record long after it, at a look that came after a flush; else it may have ended long ago, as it may where the
 * recording had paused when it ended.
 */
#define LONG_NS 900000000u /* a little less than a second */

static bool is_overdue(const struct gp_model *model, const struct gp_in_flight *one)
{
	if (!one->asked)
		return false;
	if (gp_model_gates_until(model, gp_call_end_ns(&model->calls[one->call])) !=
	    model->gate_count)
		return false;
	return since(&model->calls[one->call], one->time_ns) >= LONG_NS;
}

/* CUPTI is asked for records until the process ends. */
static int add_without_record(const struct gp_model *model, const struct waits *waits,
			      struct gp_unfinished_list *list)
{
	uint64_t end_ns = gp_recorded_last_known_ns(model);
	int result = 0;

	for (uint32_t i = 0; i < model->in_flight_count && result == 0; i++) {
		const struct gp_in_flight *one = &model->in_flight[i];
		uint64_t until_ns = one->time_ns > end_ns ? one->time_ns : end_ns;

		result = add(model, waits, list,
			     &(struct gp_unfinished){
				     .call = one->call,
				     .name = one->name,
				     .open_ns = since(&model->calls[one->call], until_ns),
				     .state = is_overdue(model, one) ? GP_UNFINISHED_HANGS
								     : GP_UNFINISHED_OPEN,
				     .asked = one->asked,
			     });
	}
	return result;
}

/*
 * In the last flush CUPTI gives what has not ended without times.  Where its memory for times is short others have none either, but these
 * are not the last ones of their streams.
 */
static bool is_cut_off(const struct gp_model *model, const struct gp_op *op)
{
	return op->kind == GP_OP_KERNEL && op->call != GP_NONE && op->graph_id == 0 &&
	       !gp_model_stated(model, op);
}

/* The last operations of a stream, as long as they have no times. */
static int add_end_of_stream(const struct gp_model *model, const struct waits *waits,
			     struct gp_unfinished_list *list, uint32_t first, uint32_t end)
{
	int result = 0;

	for (uint32_t i = end; i-- > first && model->ops[i].untimed && result == 0;) {
		const struct gp_op *op = &model->ops[i];

		if (!is_cut_off(model, op))
			continue;
		result = add(
			model, waits, list,
			&(struct gp_unfinished){
				.call = op->call,
				.name = op->name,
				.open_ns = since(&model->calls[op->call], gp_model_end_ns(model)),
				.state = GP_UNFINISHED_OPEN,
				.asked = true,
			});
	}
	return result;
}

static int add_without_times(const struct gp_model *model, const struct waits *waits,
			     struct gp_unfinished_list *list)
{
	int result = 0;

	for (uint32_t i = 0, end; i < model->op_count && result == 0; i = end) {
		end = gp_model_stream_end(model, i);
		result = add_end_of_stream(model, waits, list, i, end);
	}
	return result;
}

static int compare_starts(const void *a, const void *b, const void *context)
{
	const struct gp_call *calls = context;
	const struct gp_unfinished *left = a, *right = b;
	uint64_t left_ns = calls[left->call].start_ns, right_ns = calls[right->call].start_ns;

	if (left_ns != right_ns)
		return left_ns < right_ns ? -1 : 1;
	return (left->call > right->call) - (left->call < right->call);
}

/* Of a fault, a time limit, an assertion: all work of the context ends with it. */
static bool has_failed_kernel(const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->call_count; i++)
		if (gp_failure_is_lasting(model->calls[i].status))
			return true;
	return false;
}

/* Whether records may be missing for another reason than that their kernels have not ended. */
static bool may_lack_records(const struct gp_model *model)
{
	const uint64_t *count = model->counters;

	return count[GP_COUNTER_LOST_CUPTI] > 0 || count[GP_COUNTER_LOST_NO_BUFFER] > 0 ||
	       count[GP_COUNTER_LOST_BUFFER_ENDS] > 0 || count[GP_COUNTER_UNKNOWN_RECORDS] > 0 ||
	       gp_recorded_has_lost(model) || model->losses.launches_left_out > 0;
}

static int compare_calls(const void *a, const void *b, const void *context)
{
	const struct gp_unfinished *left = a, *right = b;

	(void)context;
	return (left->call > right->call) - (left->call < right->call);
}

/* Calls are in the order of their threads, and of a thread of their starts. */
static int mark_behind(const struct gp_model *model, struct gp_unfinished_list *list)
{
	if (gp_array_sort(list->rows, list->count, sizeof(*list->rows), compare_calls, NULL) != 0)
		return -ENOMEM;
	for (uint32_t i = 1; i < list->count; i++)
		if (model->calls[list->rows[i].call].thread_id ==
		    model->calls[list->rows[i - 1].call].thread_id)
			list->rows[i].state = GP_UNFINISHED_BEHIND;
	return gp_array_sort(list->rows, list->count, sizeof(*list->rows), compare_starts,
			     model->calls);
}

/* Only of the first one of all is it known that it has not ended. */
static void judge(const struct gp_model *model, struct gp_unfinished_list *list)
{
	bool has_failed = has_failed_kernel(model), may_lack = may_lack_records(model);

	for (uint32_t i = 0; i < list->count; i++) {
		struct gp_unfinished *row = &list->rows[i];

		if (has_failed)
			row->state = GP_UNFINISHED_FAILED;
		else if (row->state != GP_UNFINISHED_BEHIND && (i > 0 || may_lack))
			row->state = GP_UNFINISHED_OPEN;
	}
}

int gp_unfinished_find(const struct gp_model *model, struct gp_unfinished_list *list)
{
	uint64_t without = model->losses.launches_without_op;
	struct waits waits = {0};
	int result;

	*list = (struct gp_unfinished_list){0};
	if (model->totals || (model->in_flight_count == 0 && model->losses.ops_untimed == 0))
		return 0;
	result = find_waits(model, &waits);
	if (result == 0)
		result = add_without_record(model, &waits, list);
	if (result == 0)
		result = add_without_times(model, &waits, list);
	free(waits.waits);
	if (result != 0 || mark_behind(model, list) != 0)
		return -ENOMEM;
	if (without > model->in_flight_count)
		list->unnamed = (uint32_t)(without - model->in_flight_count);
	judge(model, list);
	return 0;
}

void gp_unfinished_free(struct gp_unfinished_list *list)
{
	free(list->rows);
	*list = (struct gp_unfinished_list){0};
}

const char *gp_unfinished_name(const struct gp_model *model, const struct gp_unfinished *row)
{
	return row->name < model->name_count ? model->names[row->name] : "(unknown kernel)";
}
