#include "report/answers/critical_path.h"

#include <errno.h>
#include <stdlib.h>

#include "report/array.h"
#include "report/busy.h"
#include "report/room.h"

/* So soon after what it waited for an operation begins. */
#define SOON_NS 20000u
/* For so long a thread does not wait for another one unless it has to. */
#define LONG_NS 100000u

struct walk {
	const struct gp_model *model;
	struct gp_path *path;
	uint32_t *outer; /* calls that no other made, by thread and start */
	uint32_t *ends;  /* timed operations, by their ends */
	uint32_t outer_count, end_count;
	uint64_t first_ns; /* when the first call began: there the path ends */
	uint64_t at_ns;    /* so far back it is known */
	int error;
};

/* ---- lists ---- */

static void list_outer(struct walk *walk)
{
	const struct gp_model *model = walk->model;
	uint64_t reached_ns = 0;

	for (uint32_t i = 0; i < model->call_count; i++) {
		const struct gp_call *call = &model->calls[i];

		if (i > 0 && call->thread_id != call[-1].thread_id)
			reached_ns = 0;
		if (call->start_ns < reached_ns)
			continue;
		walk->outer[walk->outer_count++] = i;
		reached_ns = gp_call_end_ns(call);
	}
}

static int compare_ends(const void *a, const void *b, const void *context)
{
	const struct gp_op *ops = context;
	uint64_t left = ops[*(const uint32_t *)a].end_ns, right = ops[*(const uint32_t *)b].end_ns;

	return (left > right) - (left < right);
}

static int list_ends(struct walk *walk)
{
	const struct gp_model *model = walk->model;

	for (uint32_t i = 0; i < model->op_count; i++)
		if (!model->ops[i].untimed)
			walk->ends[walk->end_count++] = i;
	return gp_array_sort(walk->ends, walk->end_count, sizeof(*walk->ends), compare_ends,
			     model->ops);
}

struct moment {
	const struct gp_model *model;
	uint32_t thread_id;
	uint64_t time_ns;
};

static bool is_before_moment(const void *element, const void *key)
{
	const struct moment *moment = key;
	const struct gp_call *call = &moment->model->calls[*(const uint32_t *)element];

	return call->thread_id < moment->thread_id ||
	       (call->thread_id == moment->thread_id && call->start_ns < moment->time_ns);
}

/* How many of the outer calls come before the first of that thread that begins at that time or later. */
static uint32_t outer_before(const struct walk *walk, uint32_t thread_id, uint64_t time_ns)
{
	const struct moment moment = {walk->model, thread_id, time_ns};

	return gp_array_lower_bound(walk->outer, walk->outer_count, sizeof(*walk->outer),
				    is_before_moment, &moment);
}

/* The thread's last outer call that began before that time; NULL: there is none. */
static const struct gp_call *last_call(const struct walk *walk, uint32_t thread_id,
				       uint64_t time_ns)
{
	uint32_t at = outer_before(walk, thread_id, time_ns);
	const struct gp_call *call = at > 0 ? &walk->model->calls[walk->outer[at - 1]] : NULL;

	return call && call->thread_id == thread_id ? call : NULL;
}

static bool ends_by(const void *element, const void *key)
{
	const struct moment *moment = key;

	return moment->model->ops[*(const uint32_t *)element].end_ns <= moment->time_ns;
}

/* The operation that ended last of those that ended at that time or before; GP_NONE: there is none. */
static uint32_t last_end(const struct walk *walk, uint64_t time_ns)
{
	const struct moment moment = {.model = walk->model, .time_ns = time_ns};
	uint32_t count = gp_array_lower_bound(walk->ends, walk->end_count, sizeof(*walk->ends),
					      ends_by, &moment);

	return count > 0 ? walk->ends[count - 1] : GP_NONE;
}

/* ---- steps ---- */

static void step_to(struct walk *walk, uint64_t start_ns, uint8_t kind, uint32_t index)
{
	struct gp_path *path = walk->path;

	if (start_ns >= walk->at_ns || walk->error != 0)
		return;
	walk->error = gp_array_grow_room(&path->steps, &path->capacity, path->count,
					 sizeof(*path->steps));
	if (walk->error == 0)
		path->steps[path->count++] =
			(struct gp_path_step){start_ns, walk->at_ns, index, kind};
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
	case GP_API_SET:
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
 * What nobody has recorded of a thread before its first call: it may not have been there, and its creator was in a call, or it waited for what another one
 * made.  So it goes on with the main thread, or where that had made no call yet, with the one whose call began last; NULL: there was none.
 */
static const struct gp_call *call_of_others(const struct walk *walk, uint64_t time_ns)
{
	const struct gp_model *model = walk->model;
	const struct gp_call *latest = last_call(walk, model->pid, time_ns);

	if (latest)
		return latest;
	for (uint32_t i = 0; i < model->thread_count; i++) {
		const struct gp_call *call = last_call(walk, model->threads[i].id, time_ns);

		if (call && (!latest || call->start_ns > latest->start_ns))
			latest = call;
	}
	return latest;
}

/* Of a thread: its calls that began in that time, or began before and ended in it. */
struct calls_in {
	const struct gp_call *first, *last; /* NULL: there are none */
	bool are_all;                       /* that it ever made */
};

static struct calls_in find_calls_in(const struct walk *walk, uint32_t thread_id, uint64_t from_ns,
				     uint64_t to_ns)
{
	const struct gp_call *calls = walk->model->calls;
	uint32_t first = outer_before(walk, thread_id, from_ns);
	uint32_t end = outer_before(walk, thread_id, to_ns);
	struct calls_in found = {.are_all = true};

	if (first > 0 && calls[walk->outer[first - 1]].thread_id == thread_id) {
		found.are_all = false;
		first -= gp_call_end_ns(&calls[walk->outer[first - 1]]) > from_ns;
	}
	if (end < walk->outer_count && calls[walk->outer[end]].thread_id == thread_id)
		found.are_all = false;
	if (first < end) {
		found.first = &calls[walk->outer[first]];
		found.last = &calls[walk->outer[end - 1]];
	}
	return found;
}

/*
 * What the main thread waited for where it was in no call from that time on until the one that is reached: of threads that made all their calls meanwhile, the
 * one that was done last, for it will have made and joined them; NULL: there is none.
 */
static const struct gp_call *last_of_joined(const struct walk *walk, uint64_t from_ns)
{
	const struct gp_model *model = walk->model;
	const struct gp_call *latest = NULL;

	for (uint32_t i = 0; i < model->thread_count; i++) {
		struct calls_in in =
			find_calls_in(walk, model->threads[i].id, from_ns, walk->at_ns);

		if (in.last && in.are_all && gp_call_end_ns(in.last) <= walk->at_ns &&
		    (!latest || gp_call_end_ns(in.last) > gp_call_end_ns(latest)))
			latest = in.last;
	}
	return latest;
}

/* Whether another thread made calls for half of the time from then to the moment that is reached, from its first one's start to its last one's end. */
static bool is_beside_others(const struct walk *walk, uint32_t thread_id, uint64_t from_ns)
{
	const struct gp_model *model = walk->model;
	uint64_t half_ns = walk->at_ns > from_ns ? (walk->at_ns - from_ns) / 2 : 0;

	for (uint32_t i = 0; i < model->thread_count && half_ns > LONG_NS / 2; i++) {
		uint32_t other = model->threads[i].id;
		struct calls_in in = find_calls_in(walk, other, from_ns, walk->at_ns);
		uint64_t start_ns, end_ns;

		if (other == thread_id || !in.last)
			continue;
		start_ns = in.first->start_ns > from_ns ? in.first->start_ns : from_ns;
		end_ns = gp_call_end_ns(in.last);
		if ((end_ns < walk->at_ns ? end_ns : walk->at_ns) - start_ns >= half_ns)
			return true;
	}
	return false;
}

/* The thread was in no call since that one, or since one of a thread that it waited for, which is returned then. */
static const struct gp_call *step_to_call(struct walk *walk, uint32_t thread_id,
					  const struct gp_call *call, uint32_t next)
{
	uint64_t ended_ns = gp_call_end_ns(call);
	const struct gp_call *joined = NULL;

	if (thread_id == walk->model->pid && walk->at_ns > ended_ns &&
	    walk->at_ns - ended_ns > LONG_NS)
		joined = last_of_joined(walk, ended_ns);
	if (joined) {
		call = joined;
		thread_id = call->thread_id;
		ended_ns = gp_call_end_ns(call);
	}
	step_to(walk, ended_ns,
		is_beside_others(walk, thread_id, ended_ns) ? GP_PATH_BESIDE : GP_PATH_HOST, next);
	return call;
}

/* What the thread did before; the operation that it waited for, or GP_NONE with *thread_id: then it goes on there, or ends. */
static uint32_t follow_thread(struct walk *walk, uint32_t *thread_id, bool *goes_on)
{
	const struct gp_call *call = last_call(walk, *thread_id, walk->at_ns), *next;
	uint32_t at = outer_before(walk, *thread_id, walk->at_ns), op, number;

	next = at < walk->outer_count ? &walk->model->calls[walk->outer[at]] : NULL;
	number = next && next->thread_id == *thread_id ? walk->outer[at] : GP_NONE;
	if (!call)
		call = call_of_others(walk, walk->at_ns);
	*goes_on = call != NULL;
	if (!call) {
		step_to(walk, walk->first_ns, GP_PATH_HOST, number);
		return GP_NONE;
	}
	call = step_to_call(walk, call->thread_id, call, number);
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

/* Whether one that ended then may be what another one, ready since, waited for until it began: soon before, or by chance in 1 of 100 cases. */
static bool ended_soon_before(uint64_t end_ns, uint64_t ready_ns, uint64_t start_ns)
{
	return start_ns - end_ns <= SOON_NS || (start_ns - end_ns) * 100 <= start_ns - ready_ns;
}

/* An operation of another stream after whose end this one began; GP_NONE: there is none. */
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

/* What the operation waited for: another one, or GP_NONE and *thread_id: its launch there; *goes_on: any is known. */
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
	/* no more steps than that: where times are rounded, calls and operations of no length may seem to wait for each other */
	uint64_t left = 2 * ((uint64_t)model->call_count + model->op_count + 1);
	bool goes_on = true;

	walk->first_ns = UINT64_MAX;
	for (uint32_t i = 0; i < walk->outer_count; i++) {
		const struct gp_call *call = &model->calls[walk->outer[i]];

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
	for (; goes_on && left > 0 && walk->error == 0 && walk->at_ns > walk->first_ns; left--)
		op = op == GP_NONE ? follow_thread(walk, &thread_id, &goes_on)
				   : follow_op(walk, op, &thread_id, &goes_on);
}

int gp_path_of(struct gp_path *path, const struct gp_model *model)
{
	struct walk walk = {
		.model = model,
		.path = path,
		.outer = gp_room_take(((size_t)model->call_count + 1) * sizeof(*walk.outer)),
		.ends = gp_room_take(((size_t)model->op_count + 1) * sizeof(*walk.ends)),
	};

	*path = (struct gp_path){0};
	walk.error = walk.outer && walk.ends ? 0 : -ENOMEM;
	if (walk.error == 0)
		walk.error = list_ends(&walk);
	if (walk.error == 0) {
		list_outer(&walk);
		follow(&walk);
	}
	gp_room_free(walk.outer);
	gp_room_free(walk.ends);
	return walk.error;
}

void gp_path_free(struct gp_path *path)
{
	gp_room_free(path->steps);
	*path = (struct gp_path){0};
}
