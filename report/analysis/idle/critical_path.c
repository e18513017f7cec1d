#include "report/analysis/idle/critical_path.h"

#include <stdlib.h>

#include "report/analysis/idle/toplevel_calls.h"
#include "report/base/array.h"
#include "report/analysis/idle/busy.h"
#include "report/base/spill_memory.h"

/* The longest time between the end that an operation waited for and its start. */
#define REACTION_NS 20000u
/* For so long a thread does not wait for another one unless it has to. */
#define LONG_WAIT_NS 100000u

struct walk {
	const struct gp_model *model;
	struct gp_path *path;
	struct gp_toplevel_calls outer;
	uint32_t *ends; /* timed operations, by their ends */
	uint32_t end_count;
	uint64_t first_ns; /* when the first call began: there the path ends */
	uint64_t at_ns;    /* so far back it is known */
};

/* ---- lists ---- */

static int compare_ends(const void *a, const void *b, const void *context)
{
	const struct gp_op *ops = context;
	uint64_t left = ops[*(const uint32_t *)a].end_ns, right = ops[*(const uint32_t *)b].end_ns;

	return (left > right) - (left < right);
}

static void list_ends(struct walk *walk)
{
	const struct gp_model *model = walk->model;

	for (uint32_t i = 0; i < model->op_count; i++)
		if (!model->ops[i].untimed)
			walk->ends[walk->end_count++] = i;
	gp_array_sort(walk->ends, walk->end_count, sizeof(*walk->ends), compare_ends, model->ops);
}

struct moment {
	const struct gp_model *model;
	uint64_t time_ns;
};

static bool ends_by(const void *element, const void *key)
{
	const struct moment *moment = key;

	return moment->model->ops[*(const uint32_t *)element].end_ns <= moment->time_ns;
}

/*
 * The operation that ended last of those that ended at that time or before; GP_NONE: there is none.
 */
static uint32_t last_end(const struct walk *walk, uint64_t time_ns)
{
	const struct moment moment = {walk->model, time_ns};
	uint32_t count = gp_array_lower_bound(walk->ends, walk->end_count, sizeof(*walk->ends),
					      ends_by, &moment);

	return count > 0 ? walk->ends[count - 1] : GP_NONE;
}

/* ---- steps ---- */

static void step_to(struct walk *walk, uint64_t start_ns, uint8_t kind, uint32_t index)
{
	struct gp_path *path = walk->path;

	if (start_ns >= walk->at_ns)
		return;
	gp_array_grow_spill(&path->steps, &path->capacity, path->count, sizeof(*path->steps));
	path->steps[path->count++] = (struct gp_path_step){start_ns, walk->at_ns, index, kind};
	walk->at_ns = start_ns;
}

/* Whether a call of that kind can have waited for an operation until the moment that is reached. */
static bool waits_for(const struct walk *walk, const struct gp_call *call, uint32_t number)
{
	const struct gp_op *op = &walk->model->ops[number];
	uint64_t until_ns = gp_call_end_ns(call) < walk->at_ns ? gp_call_end_ns(call) : walk->at_ns;

	if (op->end_ns <= call->start_ns || op->call == GP_NONE ||
	    walk->model->calls[op->call].start_ns > until_ns)
		return false;
	switch (gp_model_api_class(walk->model, call->api)) {
	case GP_API_SYNC:
		return true;
	case GP_API_COPY:
	case GP_API_MEMSET:
	case GP_API_ALLOC:
	case GP_API_FREE:
		/* those that wait end soon after; else it ended meanwhile by chance */
		return until_ns - op->end_ns <= GP_BUSY_LATENCY_NS &&
		       (op->end_ns - call->start_ns) * 2 >= until_ns - call->start_ns;
	default:
		return false;
	}
}

/*
 * The time of a thread before its first call: the thread may not have existed, and its creator was
 * in a call, or it waited for another thread's work. So the path goes on with the main thread, or
 * before its first call with the thread whose call began last; NULL: there was none.
 */
static const struct gp_call *call_of_others(const struct walk *walk, uint64_t time_ns)
{
	const struct gp_call *latest = gp_outer_last_of(&walk->outer, walk->model->pid, time_ns);

	return latest ? latest : gp_outer_last(&walk->outer, time_ns);
}

/*
 * Whether another thread made calls for half of the time from then to the moment that is reached;
 * the thread that is followed made none.
 */
static bool is_beside_others(struct walk *walk, uint64_t from_ns)
{
	uint64_t half_ns = walk->at_ns > from_ns ? (walk->at_ns - from_ns) / 2 : 0;

	return half_ns > LONG_WAIT_NS / 2 &&
	       gp_outer_is_busy(&walk->outer, from_ns, walk->at_ns, half_ns);
}

/*
 * The thread was in no call since that one, or since one of a thread that it waited for, which is
 * returned then.
 */
static const struct gp_call *step_to_call(struct walk *walk, const struct gp_call *call,
					  uint32_t next)
{
	uint64_t ended_ns = gp_call_end_ns(call);
	const struct gp_call *joined = NULL;

	/*
	 * threads of the main one whose calls are all in this time: it will have joined them, and
	 * waited for the last
	 */
	if (call->thread_id == walk->model->pid && walk->at_ns > ended_ns &&
	    walk->at_ns - ended_ns > LONG_WAIT_NS)
		joined = gp_outer_last_within(&walk->outer, ended_ns, walk->at_ns);
	if (joined) {
		call = joined;
		ended_ns = gp_call_end_ns(call);
	}
	step_to(walk, ended_ns, is_beside_others(walk, ended_ns) ? GP_PATH_BESIDE : GP_PATH_HOST,
		next);
	return call;
}

/*
 * The thread's previous step; the operation that it waited for, or GP_NONE with *thread_id: the
 * path goes on there, or ends.
 */
static uint32_t follow_thread(struct walk *walk, uint32_t *thread_id, bool *goes_on)
{
	const struct gp_toplevel_calls *outer = &walk->outer;
	const struct gp_call *call = gp_outer_last_of(outer, *thread_id, walk->at_ns), *next;
	uint32_t at = gp_outer_before(outer, *thread_id, walk->at_ns), op, number;

	next = at < outer->count ? &outer->calls[outer->by_thread[at]] : NULL;
	number = next && next->thread_id == *thread_id ? outer->by_thread[at] : GP_NONE;
	if (!call)
		call = call_of_others(walk, walk->at_ns);
	*goes_on = call != NULL;
	if (!call) {
		step_to(walk, walk->first_ns, GP_PATH_HOST, number);
		return GP_NONE;
	}
	call = step_to_call(walk, call, number);
	*thread_id = call->thread_id;
	op = last_end(walk, walk->at_ns);
	number = (uint32_t)(call - walk->model->calls);
	if (op != GP_NONE && waits_for(walk, call, op)) {
		step_to(walk, walk->model->ops[op].end_ns, GP_PATH_CALL, number);
		return op;
	}
	step_to(walk, call->start_ns, GP_PATH_CALL, number);
	return GP_NONE;
}

/*
 * Whether an operation that ended then may be the one for which another one, ready since, waited
 * until it began: soon before, or by chance in 1 of 100 cases.
 */
static bool ended_soon_before(uint64_t end_ns, uint64_t ready_ns, uint64_t start_ns)
{
	return start_ns - end_ns <= REACTION_NS || (start_ns - end_ns) * 100 <= start_ns - ready_ns;
}

/* The operation of another stream after whose end this one began; GP_NONE: none. */
static uint32_t find_dependency(const struct walk *walk, const struct gp_op *op, uint64_t ready_ns)
{
	uint32_t other = last_end(walk, op->start_ns);
	const struct gp_op *ops = walk->model->ops;

	if (op->start_ns - ready_ns <= GP_BUSY_LATENCY_NS || other == GP_NONE ||
	    ops[other].end_ns <= ready_ns || ops[other].start_ns >= op->start_ns ||
	    !ended_soon_before(ops[other].end_ns, ready_ns, op->start_ns))
		return GP_NONE;
	return other;
}

/* The one before it in its stream, if it ended before this one began; NULL: there is none. */
static const struct gp_op *before_in_stream(const struct gp_model *model, const struct gp_op *op)
{
	const struct gp_op *before = op - 1;

	return op > model->ops && gp_ops_share_stream(before, op) && !before->untimed &&
			       before->end_ns <= op->start_ns && before->start_ns < op->start_ns
		       ? before
		       : NULL;
}

/*
 * The cause of the operation's start: another one, or GP_NONE and *thread_id: its launch there;
 * *goes_on: any is known.
 */
static uint32_t follow_op(struct walk *walk, uint32_t number, uint32_t *thread_id, bool *goes_on)
{
	const struct gp_model *model = walk->model;
	const struct gp_op *op = &model->ops[number], *before = before_in_stream(model, op);
	const struct gp_call *call = op->call == GP_NONE ? NULL : &model->calls[op->call];
	uint64_t launched_ns = call ? gp_call_end_ns(call) : 0, ready_ns;
	uint32_t other;

	step_to(walk, op->start_ns, GP_PATH_OPERATION, number);
	*goes_on = before || call;
	if (call && launched_ns > op->start_ns)
		launched_ns = op->start_ns;
	if (before && before->end_ns < launched_ns)
		before = NULL;
	ready_ns = before ? before->end_ns : launched_ns;
	other = find_dependency(walk, op, ready_ns);
	if (other == GP_NONE && before)
		other = (uint32_t)(before - model->ops);
	if (other != GP_NONE) {
		step_to(walk, model->ops[other].end_ns, GP_PATH_STEP, number);
		return other;
	}
	if (call) {
		step_to(walk, launched_ns, GP_PATH_LAUNCH, number);
		*thread_id = call->thread_id;
	}
	return GP_NONE;
}

/* From the last call or operation; where both end, the call came back from it. */
static void follow(struct walk *walk)
{
	const struct gp_model *model = walk->model;
	uint32_t op = last_end(walk, UINT64_MAX), thread_id = 0;
	uint64_t op_ns = op == GP_NONE ? 0 : model->ops[op].end_ns, call_ns = 0;
	/*
	 * no more steps than that: where times are rounded, calls and operations of no length may
	 * seem to wait for each other
	 */
	uint64_t left = 2 * ((uint64_t)model->call_count + model->op_count + 1);
	bool goes_on = true;

	walk->first_ns = UINT64_MAX;
	for (uint32_t i = 0; i < walk->outer.count; i++) {
		const struct gp_call *call = &model->calls[walk->outer.by_thread[i]];

		if (call->start_ns < walk->first_ns)
			walk->first_ns = call->start_ns;
		if (gp_call_end_ns(call) < call_ns)
			continue;
		thread_id = call->thread_id;
		call_ns = gp_call_end_ns(call);
	}
	walk->at_ns = op_ns > call_ns ? op_ns : call_ns;
	if (call_ns >= op_ns)
		op = GP_NONE;
	for (; goes_on && left > 0 && walk->at_ns > walk->first_ns; left--)
		op = op == GP_NONE ? follow_thread(walk, &thread_id, &goes_on)
				   : follow_op(walk, op, &thread_id, &goes_on);
}

int gp_path_of(struct gp_path *path, const struct gp_model *model)
{
	struct walk walk = {
		.model = model,
		.path = path,
		.ends = gp_spill_take(((size_t)model->op_count + 1) * sizeof(*walk.ends)),
	};

	*path = (struct gp_path){0};
	gp_toplevel_calls_of(&walk.outer, model);
	list_ends(&walk);
	follow(&walk);
	gp_toplevel_calls_free(&walk.outer);
	gp_spill_free(walk.ends);
	return 0;
}

void gp_path_free(struct gp_path *path)
{
	gp_spill_free(path->steps);
	*path = (struct gp_path){0};
}
