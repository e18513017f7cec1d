#include "report/analysis/device/unfinished.h"

#include <stdlib.h>
#include <string.h>

#include "report/analysis/device/failures.h"
#include "report/base/array.h"
#include "report/model/awaited_ops.h"
#include "report/model/build/device_waits.h"
#include "report/model/recorded.h"

/* State while a list is made. */
struct finding {
	const struct gp_model *model;
	struct gp_device_waits waits;
	struct gp_unfinished_list *list;
	/* operations amid others have none: those at the end may have ended, too */
	bool lacks_times;
};

static void add(struct finding *f, const struct gp_unfinished *row)
{
	struct gp_unfinished_list *list = f->list;

	if (gp_device_waits_cover(&f->waits, &f->model->calls[row->call]))
		return;
	gp_array_grow(&list->rows, &list->capacity, list->count, sizeof(*list->rows));
	list->rows[list->count++] = *row;
}

static uint64_t since(const struct gp_call *call, uint64_t time_ns)
{
	uint64_t start_ns = gp_call_end_ns(call);

	return time_ns > start_ns ? time_ns - start_ns : 0;
}

/*
 * Whether a launch had no record at a check long after it, after a flush. Else it may have ended
 * long ago, as it may if the recording had paused when it ended.
 */
#define OVERDUE_NS 900000000u /* a little less than a second */

static bool is_overdue(const struct gp_model *model, const struct gp_in_flight *one)
{
	if (!one->asked)
		return false;
	if (gp_model_gates_until(model, gp_call_end_ns(&model->calls[one->call])) !=
	    model->gate_count)
		return false;
	return since(&model->calls[one->call], one->time_ns) >= OVERDUE_NS;
}

/* CUPTI is asked for records until the process ends. */
static void add_without_record(struct finding *f)
{
	const struct gp_model *model = f->model;
	uint64_t end_ns = gp_recorded_last_known_ns(model);

	for (uint32_t i = 0; i < model->in_flight_count; i++) {
		const struct gp_in_flight *one = &model->in_flight[i];
		uint64_t until_ns = one->time_ns > end_ns ? one->time_ns : end_ns;

		add(f, &(struct gp_unfinished){
			       .call = one->call,
			       .name = one->name,
			       .op = GP_NONE,
			       .open_ns = since(&model->calls[one->call], until_ns),
			       .state = is_overdue(model, one) ? GP_UNFINISHED_HANGS
							       : GP_UNFINISHED_OPEN,
			       .asked = one->asked,
		       });
	}
}

/* In the last flush, CUPTI gives operations that have not ended without times. */
static bool has_time(const struct gp_model *model, const struct gp_op *op)
{
	return gp_model_stated(model, op) != NULL;
}

/* When the last operation of a stream that has a time was launched; 0: none has. */
static uint64_t last_timed_launch_ns(const struct gp_model *model, uint32_t first, uint32_t end)
{
	uint64_t last_ns = 0;

	for (uint32_t i = first; i < end; i++) {
		const struct gp_op *op = &model->ops[i];

		if (op->call != GP_NONE && has_time(model, op) &&
		    model->calls[op->call].start_ns > last_ns)
			last_ns = model->calls[op->call].start_ns;
	}
	return last_ns;
}

/*
 * The first operation without times after the last timed one of a stream, in the order of launches.
 * state: of the first one.
 */
static void add_end_of_stream(struct finding *f, uint32_t first, uint32_t end,
			      enum gp_unfinished_state state)
{
	const struct gp_model *model = f->model;
	uint64_t last_ns = last_timed_launch_ns(model, first, end);

	for (uint32_t i = first; i < end; i++) {
		const struct gp_op *op = &model->ops[i];
		uint32_t count = f->list->count;

		if (op->call == GP_NONE || has_time(model, op))
			continue;
		f->lacks_times |= model->calls[op->call].start_ns < last_ns;
		if (op->kind != GP_OP_KERNEL || op->graph_id != 0 ||
		    model->calls[op->call].start_ns <= last_ns)
			continue;
		add(f, &(struct gp_unfinished){
			       .call = op->call,
			       .name = op->name,
			       .op = i,
			       .open_ns = since(&model->calls[op->call], gp_model_end_ns(model)),
			       .state = state,
			       .asked = true,
		       });
		if (f->list->count > count && state == GP_UNFINISHED_CUT_OFF)
			state = GP_UNFINISHED_BEHIND;
	}
}

static uint32_t context_end(const struct gp_model *model, uint32_t first)
{
	const struct gp_op *ops = model->ops;
	uint32_t end = first + 1;

	while (end < model->op_count && ops[end].device_id == ops[first].device_id &&
	       ops[end].context_id == ops[first].context_id)
		end++;
	return end;
}

/* If CUPTI had no buffer for times in the GPU's memory, no operation of a context has any. */
static void add_ends_of_context(struct finding *f, uint32_t first, uint32_t end)
{
	const struct gp_model *model = f->model;
	enum gp_unfinished_state state = GP_UNFINISHED_OPEN;

	for (uint32_t i = first; i < end && state == GP_UNFINISHED_OPEN; i++)
		if (has_time(model, &model->ops[i]) && !gp_op_is_on_host(&model->ops[i]))
			state = GP_UNFINISHED_CUT_OFF;
	for (uint32_t i = first, next; i < end; i = next) {
		next = gp_model_stream_end(model, i);
		add_end_of_stream(f, i, next, state);
	}
}

static void add_without_times(struct finding *f)
{
	const struct gp_model *model = f->model;

	for (uint32_t i = 0, end; i < model->op_count; i = end) {
		end = context_end(model, i);
		add_ends_of_context(f, i, end);
	}
}

/* ---- operations without a record and a name ---- */

/* Synchronous copies and memsets have ended. */
static bool is_asynchronous(const struct gp_model *model, const struct gp_call *call)
{
	return gp_model_api_class(model, call->api) == GP_API_GRAPH_LAUNCH ||
	       strstr(gp_model_api(model, call->api).name, "Async");
}

static void count_nameless(struct finding *f)
{
	const struct gp_model *model = f->model;
	struct gp_awaited_ops awaited = gp_awaited_ops_of(model);
	uint32_t launches = 0, named = 0;

	for (uint32_t i = 0; i < model->call_count; i++) {
		const struct gp_call *call = &model->calls[i];

		if (!gp_awaited_ops_has(&awaited, call) || gp_device_waits_cover(&f->waits, call))
			continue;
		if (gp_model_lacks_kernel(model, call))
			launches++;
		else
			f->list->others += is_asynchronous(model, call);
	}
	for (uint32_t i = 0; i < f->list->count; i++)
		named += f->list->rows[i].op == GP_NONE;
	named += (uint32_t)f->model->losses.launches_waited_for;
	f->list->unnamed = launches > named ? launches - named : 0;
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

/* ---- facts about them ---- */

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

/*
 * Of all launches without a record, at least one had not ended when CUPTI was asked and gave none,
 * unless the last flush tells.
 */
static enum gp_unfinished_state judge_without_record(const struct finding *f)
{
	const struct gp_unfinished_list *list = f->list;
	bool is_overdue = false;
	uint32_t count = list->unnamed + list->others;

	for (uint32_t i = 0; i < list->count; i++) {
		if (list->rows[i].op != GP_NONE)
			return GP_UNFINISHED_OPEN;
		is_overdue |= list->rows[i].state == GP_UNFINISHED_HANGS;
		count++;
	}
	if (!is_overdue || may_lack_records(f->model) || !gp_model_is_whole(f->model))
		return GP_UNFINISHED_OPEN;
	return count == 1 ? GP_UNFINISHED_HANGS : GP_UNFINISHED_ONE_OF;
}

static void judge(const struct finding *f)
{
	const struct gp_model *model = f->model;
	bool has_failed = has_failed_kernel(model);
	bool trusts_order = !f->lacks_times && !model->recorder;
	enum gp_unfinished_state without_record = judge_without_record(f);

	for (uint32_t i = 0; i < f->list->count; i++) {
		struct gp_unfinished *row = &f->list->rows[i];

		if (has_failed)
			row->state = GP_UNFINISHED_FAILED;
		else if (row->op == GP_NONE)
			row->state = without_record;
		else if (!trusts_order)
			row->state = GP_UNFINISHED_OPEN;
	}
}

int gp_unfinished_find(const struct gp_model *model, struct gp_unfinished_list *list)
{
	struct finding f = {.model = model, .list = list};

	*list = (struct gp_unfinished_list){0};
	if (!gp_recorded_has_kernels(model))
		return 0;
	if (model->totals || (model->in_flight_count == 0 && model->losses.ops_untimed == 0))
		return 0;
	gp_device_waits_find(model, &f.waits);
	add_without_record(&f);
	if (gp_model_is_whole(model)) /* a part has no streams' ends */
		add_without_times(&f);
	count_nameless(&f);
	gp_array_sort(list->rows, list->count, sizeof(*list->rows), compare_starts, model->calls);
	gp_device_waits_free(&f.waits);
	judge(&f);
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

const char *gp_unfinished_state_name(enum gp_unfinished_state state)
{
	static const char *const names[] = {
		[GP_UNFINISHED_HANGS] = "never ended",
		[GP_UNFINISHED_ONE_OF] = "one of these never ended",
		[GP_UNFINISHED_CUT_OFF] = "had not ended",
		[GP_UNFINISHED_BEHIND] = "behind it",
		[GP_UNFINISHED_OPEN] = "not known",
		[GP_UNFINISHED_FAILED] = "failed, or never ran",
	};

	return names[state];
}
