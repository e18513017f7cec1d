#include "report/analysis/idle/idle_cause.h"

#include <assert.h>
#include <stdbool.h>

#include "report/base/array.h"

static const char *const names[] = {
	[GP_IDLE_HOST] = "host-bound",       [GP_IDLE_LAUNCH] = "launch-bound",
	[GP_IDLE_SYNC] = "sync-bound",       [GP_IDLE_COPY] = "copy-bound",
	[GP_IDLE_ALLOC] = "allocation",      [GP_IDLE_SETUP] = "startup",
	[GP_IDLE_DEPENDENCY] = "dependency", [GP_IDLE_PROFILER] = "profiler",
	[GP_IDLE_UNUSED] = "unused",         [GP_IDLE_UNKNOWN] = "unknown",
};
static_assert(sizeof(names) / sizeof(names[0]) == GP_IDLE_CAUSES, "a cause has no name");

/* A device's times in calls, from the current one on; later ones may be of other devices. */
struct cursor {
	const struct gp_call_time *next, *end;
	uint32_t device_id;
};

struct split {
	struct gp_gap *gap;
	void (*take)(void *context, enum gp_idle_cause cause, uint64_t end_ns);
	void *context;
	uint64_t reached_ns;         /* so far it is split */
	enum gp_idle_cause returned; /* the call from which the thread came back ... */
	uint64_t returning_ns;       /* ... and until when that counts; 0 = from nothing */
	bool in_call;                /* the thread is */
	enum gp_idle_cause free;     /* of the time in no call: GP_IDLE_HOST, or it launches */
	uint64_t host_from_ns;       /* the host is known from then on */
	const struct gp_model *model;
	const struct gp_call_sums *sums;
	struct cursor setups, others, profiler, windows; /* of the model's process */
	struct cursor profiler_in;                       /* of the thread */
};

const char *gp_idle_cause_name(enum gp_idle_cause cause)
{
	return names[cause < GP_IDLE_CAUSES ? cause : GP_IDLE_UNKNOWN];
}

const char *gp_idle_cause_words(enum gp_idle_cause cause)
{
	return cause == GP_IDLE_PROFILER ? "profiler overhead" : gp_idle_cause_name(cause);
}

static enum gp_idle_cause main_cause(const struct gp_gap *gap)
{
	enum gp_idle_cause most = GP_IDLE_HOST;

	for (enum gp_idle_cause i = 0; i < GP_IDLE_CAUSES; i++)
		if (gap->cause_ns[i] > gap->cause_ns[most])
			most = i;
	return most;
}

static struct cursor cursor_at(struct gp_call_times *all, uint32_t device_id, uint64_t time_ns)
{
	if (all->count == 0)
		return (struct cursor){0};
	return (struct cursor){
		all->times + gp_call_times_find(all, device_id, time_ns),
		all->times + all->count,
		device_id,
	};
}

static bool has_next(const struct cursor *cursor)
{
	return cursor->next < cursor->end && cursor->next->device_id == cursor->device_id;
}

/*
 * The first one that ends after the reached time: in Unix ns, cut at end_ns. False: none begins
 * before that.
 */
static bool next_time(const struct split *split, struct cursor *cursor, uint64_t end_ns,
		      struct gp_call_time *time)
{
	while (has_next(cursor) &&
	       split->model->base_unix_ns + cursor->next->end_ns <= split->reached_ns)
		cursor->next++;
	if (!has_next(cursor))
		return false;
	*time = *cursor->next;
	time->start_ns += split->model->base_unix_ns;
	time->end_ns += split->model->base_unix_ns;
	if (time->end_ns > end_ns)
		time->end_ns = end_ns;
	return time->start_ns < end_ns;
}

static void put(struct split *split, enum gp_idle_cause cause, uint64_t end_ns)
{
	if (end_ns <= split->reached_ns)
		return;
	split->gap->cause_ns[cause] += end_ns - split->reached_ns;
	split->reached_ns = end_ns;
	if (split->take)
		split->take(split->context, cause, end_ns);
}

/* In no call at all. */
static void put_free(struct split *split, uint64_t end_ns)
{
	struct gp_call_time time;

	put(split, GP_IDLE_UNKNOWN, split->host_from_ns < end_ns ? split->host_from_ns : end_ns);
	while (split->reached_ns < end_ns && next_time(split, &split->profiler, end_ns, &time)) {
		put(split, split->free, time.start_ns);
		put(split, GP_IDLE_PROFILER, time.end_ns);
	}
	put(split, split->free, end_ns);
}

/* In no call itself, the host may have to wait for a call of another thread. */
static void put_host(struct split *split, uint64_t end_ns)
{
	struct gp_call_time time;

	while (split->reached_ns < end_ns && next_time(split, &split->others, end_ns, &time)) {
		put_free(split, time.start_ns);
		put(split, (enum gp_idle_cause)time.cause, time.end_ns);
	}
	put_free(split, end_ns);
}

/* In a call itself, which may be held up in CUPTI for its own sake. */
static void put_call(struct split *split, enum gp_idle_cause cause, uint64_t end_ns)
{
	struct gp_call_time time;

	while (split->reached_ns < end_ns && next_time(split, &split->profiler_in, end_ns, &time)) {
		put(split, cause, time.start_ns);
		put(split, GP_IDLE_PROFILER, time.end_ns);
	}
	put(split, cause, end_ns);
}

static void put_of_thread(struct split *split, enum gp_idle_cause cause, uint64_t end_ns)
{
	if (cause == GP_IDLE_HOST)
		put_host(split, end_ns);
	else if (split->in_call)
		put_call(split, cause, end_ns);
	else
		put(split, cause, end_ns);
}

static void put_within(struct split *split, enum gp_idle_cause cause, uint64_t end_ns)
{
	struct gp_call_time time;

	while (split->reached_ns < end_ns && next_time(split, &split->windows, end_ns, &time)) {
		put_of_thread(split, cause, time.start_ns);
		put(split, GP_IDLE_PROFILER, time.end_ns);
	}
	put_of_thread(split, cause, end_ns);
}

static void until(struct split *split, enum gp_idle_cause cause, uint64_t end_ns)
{
	struct gp_call_time time;

	if (end_ns > split->gap->end_ns)
		end_ns = split->gap->end_ns;
	while (split->reached_ns < end_ns && next_time(split, &split->setups, end_ns, &time)) {
		put_within(split, cause, time.start_ns);
		put(split, GP_IDLE_SETUP, time.end_ns);
	}
	put_within(split, cause, end_ns);
}

/* In no call until then. */
static void host_until(struct split *split, uint64_t end_ns)
{
	if (split->returning_ns > 0)
		until(split, split->returned,
		      split->returning_ns < end_ns ? split->returning_ns : end_ns);
	until(split, GP_IDLE_HOST, end_ns);
}

static bool waits(enum gp_idle_cause cause)
{
	return cause == GP_IDLE_SYNC || cause == GP_IDLE_COPY || cause == GP_IDLE_ALLOC;
}

static void take_call(struct split *split, const struct gp_call *call)
{
	uint64_t start_ns = split->model->base_unix_ns + call->start_ns;
	uint64_t end_ns = start_ns + call->duration_ns;
	enum gp_idle_cause cause = gp_call_cause(split->model, call);

	host_until(split, start_ns);
	split->in_call = true;
	until(split, cause, end_ns);
	split->in_call = false;
	if (start_ns < split->gap->start_ns && end_ns > split->gap->start_ns && waits(cause)) {
		split->returned = cause;
		split->returning_ns = end_ns + GP_IDLE_RETURN_NS;
	}
}

static bool is_of_thread(const struct gp_model *model, uint32_t call, uint32_t thread_id)
{
	return call < model->call_count && model->calls[call].thread_id == thread_id;
}

static uint64_t end_of(const struct split *split, uint32_t call)
{
	const struct gp_call *at = &split->model->calls[call];

	return split->model->base_unix_ns + at->start_ns + at->duration_ns;
}

/* ---- many calls together ---- */

/* The end of the time in which only this thread's calls count. */
static uint64_t quiet_until(struct split *split)
{
	struct cursor *cursors[] = {&split->setups, &split->others, &split->profiler};
	uint64_t until_ns = split->gap->end_ns;
	struct gp_call_time time;

	for (size_t i = 0; i < sizeof(cursors) / sizeof(cursors[0]); i++)
		if (next_time(split, cursors[i], until_ns, &time))
			until_ns = time.start_ns;
	return until_ns;
}

struct moment {
	uint64_t time_ns; /* on the process's timeline */
	uint32_t thread_id;
};

static bool begins_by(const void *call, const void *moment)
{
	const struct gp_call *at = call;
	const struct moment *by = moment;

	return at->thread_id != by->thread_id ? at->thread_id < by->thread_id
					      : at->start_ns <= by->time_ns;
}

/*
 * The number of calls from that one on, of its thread and before `last`, that begin by then:
 * searched near the first.
 */
static uint32_t count_until(const struct split *split, uint32_t first, uint32_t last,
			    uint64_t until_ns)
{
	const struct gp_call *calls = &split->model->calls[first];
	struct moment moment = {until_ns - split->model->base_unix_ns,
				split->model->calls[first - 1].thread_id};
	uint64_t reach = 1, most = last - first;

	while (reach < most && begins_by(&calls[reach], &moment))
		reach *= 2;
	return gp_array_lower_bound(calls, (uint32_t)(reach < most ? reach : most), sizeof(*calls),
				    begins_by, &moment);
}

/*
 * Whether the thread is at the end of that call, and comes back from nothing: neither from it nor
 * from one that begins later.
 */
static bool is_free_behind(const struct split *split, uint32_t call)
{
	return split->reached_ns == end_of(split, call) &&
	       split->returning_ns <= split->reached_ns &&
	       split->model->base_unix_ns + split->model->calls[call + 1].start_ns >=
		       split->gap->start_ns;
}

/*
 * If nobody asks for the order of steps after that call, calls that end while no other thread
 * counts are taken together. Returns the last one of them, or that call.
 */
static uint32_t skip(struct split *split, uint32_t call, uint32_t last)
{
	uint64_t until_ns, cause_ns[GP_IDLE_CAUSES] = {0}, passed_ns;
	uint32_t count;

	if (split->take || !split->sums->blocks || call + 1 >= last || !is_free_behind(split, call))
		return call;
	until_ns = quiet_until(split);
	if (until_ns <= split->reached_ns)
		return call;
	count = count_until(split, call + 1, last, until_ns);
	count -= count > 0 && end_of(split, call + count) > until_ns;
	if (count == 0)
		return call;
	passed_ns = gp_call_sums_add(split->sums, call + 1, call + 1 + count, cause_ns);
	if (passed_ns == 0 || split->reached_ns + passed_ns > until_ns)
		return call;
	for (enum gp_idle_cause i = 0; i < GP_IDLE_CAUSES; i++)
		split->gap->cause_ns[i == GP_IDLE_HOST ? split->free : i] += cause_ns[i];
	split->reached_ns += passed_ns;
	return call + count;
}

/* ---- the host's thread ---- */

/*
 * Of the calls of that one's thread up to it, the last that began before the gap did; else the
 * first.
 */
static uint32_t first_call(const struct split *split, uint32_t call)
{
	const struct gp_call *calls = split->model->calls;
	uint64_t base_ns = split->model->base_unix_ns, reach = 1;
	struct moment start = {split->gap->start_ns > base_ns ? split->gap->start_ns - base_ns : 0,
			       calls[call].thread_id};
	uint32_t low;

	if (base_ns + calls[call].start_ns <= split->gap->start_ns)
		return call;
	while (reach <= call && !begins_by(&calls[call - reach], &start))
		reach *= 2;
	low = reach <= call ? call - (uint32_t)reach : 0;
	low += gp_array_lower_bound(&calls[low], call - low, sizeof(*calls), begins_by, &start);
	return low > 0 && calls[low - 1].thread_id == start.thread_id ? low - 1 : low;
}

/* The thread's way to the call that ended the gap, and from there to the operation's start. */
static void split_before(struct split *split, uint32_t call)
{
	const struct gp_call *last = &split->model->calls[call];
	uint64_t end_ns = split->gap->end_ns;

	for (uint32_t i = first_call(split, call); i <= call; i++) {
		take_call(split, &split->model->calls[i]);
		i = skip(split, i, call);
	}
	until(split,
	      split->model->base_unix_ns + last->start_ns < end_ns &&
			      end_ns - split->reached_ns > GP_IDLE_LATENCY_NS
		      ? GP_IDLE_DEPENDENCY
		      : GP_IDLE_LAUNCH,
	      end_ns);
}

/* The thread's time after the last operation. */
static void split_after(struct split *split, uint32_t call)
{
	uint32_t thread_id = split->model->calls[call].thread_id;

	for (uint32_t i = call;
	     is_of_thread(split->model, i, thread_id) && split->reached_ns < split->gap->end_ns;
	     i++) {
		take_call(split, &split->model->calls[i]);
		i = skip(split, i, split->model->call_count);
	}
	host_until(split, split->gap->end_ns);
}

/* The process of that operation is the host's. */
static void choose_host(struct split *split, const struct gp_model *model,
			struct gp_process_calls *calls, const struct gp_call_sums *sums,
			const struct gp_op *op)
{
	uint32_t thread_id = model->calls[op->call].thread_id;
	uint64_t start_ns = split->gap->start_ns > model->base_unix_ns
				    ? split->gap->start_ns - model->base_unix_ns
				    : 0;

	split->model = model;
	split->sums = sums;
	split->host_from_ns =
		calls->host_from_ns > 0 ? model->base_unix_ns + calls->host_from_ns : 0;
	split->setups = cursor_at(&calls->setups, 0, start_ns);
	split->others = cursor_at(&calls->others, op->device_id, start_ns);
	split->profiler = cursor_at(&calls->profiler, 0, start_ns);
	split->windows = cursor_at(&calls->windows, 0, start_ns);
	split->profiler_in = cursor_at(&calls->profiler_in, thread_id, start_ns);
}

/* When the operation was launched, in Unix ns; `otherwise` if another process did that, or none. */
static uint64_t launched_ns(struct gp_model *const *models, struct gp_op_at at, size_t model,
			    uint64_t otherwise)
{
	const struct gp_op *op = gp_op_of(models, at);

	return op && at.model == model && op->call != GP_NONE
		       ? models[model]->base_unix_ns + models[model]->calls[op->call].start_ns
		       : otherwise;
}

/*
 * From when on the GPU may have worked within the gap: for what the process launched between the
 * operations around it, and has no record. The end of the gap: for nothing.
 */
static uint64_t unknown_from(struct gp_model *const *models, struct gp_process_calls *calls,
			     const struct gp_gap *gap, size_t model)
{
	uint64_t base_ns = models[model]->base_unix_ns;
	uint64_t from_ns = launched_ns(models, gap->before, model, gap->start_ns);
	uint64_t until_ns = launched_ns(models, gap->after, model, gap->end_ns);
	uint32_t at = gp_call_times_find(&calls->unrecorded, 0,
					 from_ns > base_ns ? from_ns - base_ns : 0);
	uint64_t start_ns;

	if (at == calls->unrecorded.count)
		return gap->end_ns;
	start_ns = base_ns + calls->unrecorded.times[at].start_ns;
	if (start_ns >= until_ns || start_ns >= gap->end_ns)
		return gap->end_ns;
	return start_ns > gap->start_ns ? start_ns : gap->start_ns;
}

static bool launches(const struct gp_model *model, const struct gp_call *call)
{
	uint8_t class = gp_model_api_class(model, call->api);

	return class == GP_API_LAUNCH || ((class == GP_API_COPY || class == GP_API_MEMSET) &&
					  gp_call_cause(model, call) == GP_IDLE_LAUNCH);
}

/* Whether a thread was in a call that waits for the GPU between two of its calls. */
static bool waits_between(const struct gp_model *model, const struct gp_call *before,
			  const struct gp_call *after)
{
	for (const struct gp_call *call = before + 1;
	     call < after && call->thread_id == before->thread_id; call++)
		if (gp_model_api_class(model, call->api) == GP_API_SYNC)
			return true;
	return false;
}

bool gp_is_launching(const struct gp_model *model, const struct gp_call *before,
		     const struct gp_call *after)
{
	return launches(model, before) && launches(model, after) &&
	       after->start_ns <= gp_call_end_ns(before) + GP_LAUNCH_PAUSE_NS &&
	       !waits_between(model, before, after);
}

/* Whether the operations around a gap were launched one right after the other. */
static bool is_between_launches(struct gp_model *const *models, const struct gp_gap *gap)
{
	const struct gp_op *before = gp_op_of(models, gap->before);
	const struct gp_op *after = gp_op_of(models, gap->after);
	const struct gp_model *model;

	if (!before || !after || gap->before.model != gap->after.model || before->call == GP_NONE ||
	    after->call == GP_NONE)
		return false;
	model = models[gap->after.model];
	return gp_is_launching(model, &model->calls[before->call], &model->calls[after->call]);
}

/* Of one launch of a graph: from node to node the GPU goes on by itself. */
static bool is_within_launch(struct gp_model *const *models, const struct gp_gap *gap)
{
	const struct gp_op *before = gp_op_of(models, gap->before);
	const struct gp_op *after = gp_op_of(models, gap->after);

	return before && after && gap->before.model == gap->after.model && after->graph_id != 0 &&
	       after->call != GP_NONE && before->call == after->call;
}

void gp_idle_split(struct gp_model *const *models, struct gp_process_calls *calls,
		   const struct gp_call_sums *sums, struct gp_gap *gap,
		   void (*take)(void *context, enum gp_idle_cause cause, uint64_t end_ns),
		   void *context)
{
	struct split split = {.gap = gap,
			      .take = take,
			      .context = context,
			      .reached_ns = gap->start_ns,
			      .free = is_between_launches(models, gap) ? GP_IDLE_LAUNCH
								       : GP_IDLE_HOST};
	bool at_end = gap->after.op == GP_NONE;
	struct gp_op_at at = at_end ? gap->before : gap->after;
	const struct gp_op *op = gp_op_of(models, at);
	uint64_t end_ns = gap->end_ns;

	for (enum gp_idle_cause i = 0; i < GP_IDLE_CAUSES; i++)
		gap->cause_ns[i] = 0;
	if (is_within_launch(models, gap)) {
		put(&split, GP_IDLE_DEPENDENCY, gap->end_ns);
	} else if (op && op->call != GP_NONE) {
		gap->end_ns = unknown_from(models, &calls[at.model], gap, at.model);
		choose_host(&split, models[at.model], &calls[at.model], &sums[at.model], op);
		if (at_end)
			split_after(&split, op->call);
		else
			split_before(&split, op->call);
		gap->end_ns = end_ns;
	}
	put(&split, GP_IDLE_UNKNOWN, end_ns);
	gap->cause = main_cause(gap);
}
