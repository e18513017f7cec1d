#include "report/answers/idle_cause.h"

#include <assert.h>
#include <stdbool.h>

static const char *const names[] = {
	[GP_IDLE_HOST] = "host-bound",       [GP_IDLE_LAUNCH] = "launch-bound",
	[GP_IDLE_SYNC] = "synchronisation",  [GP_IDLE_COPY] = "copy-bound",
	[GP_IDLE_ALLOC] = "allocation",      [GP_IDLE_SETUP] = "set-up",
	[GP_IDLE_DEPENDENCY] = "dependency", [GP_IDLE_UNKNOWN] = "unknown",
};
static_assert(sizeof(names) / sizeof(names[0]) == GP_IDLE_CAUSES, "a cause has no name");

/* What a thread in a call of that class keeps the device waiting for. */
static const uint8_t causes[] = {
	[GP_API_OTHER] = GP_IDLE_HOST,
	[GP_API_LAUNCH] = GP_IDLE_LAUNCH,
	[GP_API_GRAPH_LAUNCH] = GP_IDLE_LAUNCH,
	[GP_API_COPY] = GP_IDLE_COPY,
	[GP_API_SET] = GP_IDLE_COPY,
	[GP_API_ALLOC] = GP_IDLE_ALLOC,
	[GP_API_FREE] = GP_IDLE_ALLOC,
	[GP_API_SYNC] = GP_IDLE_SYNC,
	[GP_API_CAPTURE_BEGIN] = GP_IDLE_SETUP,
	[GP_API_CAPTURE_END] = GP_IDLE_SETUP,
	[GP_API_CONTROL] = GP_IDLE_SETUP,
	[GP_API_EVENT] = GP_IDLE_LAUNCH,
	[GP_API_MODULE] = GP_IDLE_SETUP,
	[GP_API_HOST] = GP_IDLE_LAUNCH,
};
static_assert(sizeof(causes) == GP_API_CLASSES, "a class has no cause");

struct split {
	struct gp_gap *gap;
	void (*take)(void *context, enum gp_idle_cause cause, uint64_t end_ns);
	void *context;
	uint64_t reached_ns;         /* so far it is split */
	enum gp_idle_cause returned; /* what the thread came back from ... */
	uint64_t returning_ns;       /* ... and until when that counts; 0 = from nothing */
	const struct gp_model *model;
};

const char *gp_idle_cause_name(enum gp_idle_cause cause)
{
	return names[cause < GP_IDLE_CAUSES ? cause : GP_IDLE_UNKNOWN];
}

enum gp_idle_cause gp_gap_cause(const struct gp_gap *gap)
{
	enum gp_idle_cause most = GP_IDLE_HOST;

	for (enum gp_idle_cause i = 0; i < GP_IDLE_CAUSES; i++)
		if (gap->cause_ns[i] > gap->cause_ns[most])
			most = i;
	return most;
}

static void until(struct split *split, enum gp_idle_cause cause, uint64_t end_ns)
{
	if (end_ns > split->gap->end_ns)
		end_ns = split->gap->end_ns;
	if (end_ns <= split->reached_ns)
		return;
	split->gap->cause_ns[cause] += end_ns - split->reached_ns;
	split->reached_ns = end_ns;
	split->take(split->context, cause, end_ns);
}

/* In no call until then. */
static void host_until(struct split *split, uint64_t end_ns)
{
	if (split->returning_ns > 0)
		until(split, split->returned,
		      split->returning_ns < end_ns ? split->returning_ns : end_ns);
	until(split, GP_IDLE_HOST, end_ns);
}

static enum gp_idle_cause cause_of(const struct gp_model *model, const struct gp_call *call)
{
	uint8_t class = gp_model_api(model, call->api).class;

	if (call->captured)
		return GP_IDLE_SETUP;
	return class < GP_API_CLASSES ? causes[class] : GP_IDLE_HOST;
}

static bool waits(enum gp_idle_cause cause)
{
	return cause == GP_IDLE_SYNC || cause == GP_IDLE_COPY || cause == GP_IDLE_ALLOC;
}

static void take_call(struct split *split, const struct gp_call *call)
{
	uint64_t start_ns = split->model->base_unix_ns + call->start_ns;
	uint64_t end_ns = start_ns + call->duration_ns;
	enum gp_idle_cause cause = cause_of(split->model, call);

	host_until(split, start_ns);
	until(split, cause, end_ns);
	if (start_ns < split->gap->start_ns && end_ns > split->gap->start_ns && waits(cause)) {
		split->returned = cause;
		split->returning_ns = end_ns + GP_IDLE_RETURN_NS;
	}
}

static bool is_of_thread(const struct gp_model *model, uint32_t call, uint32_t thread_id)
{
	return call < model->call_count && model->calls[call].thread_id == thread_id;
}

/* Of the calls of that one's thread up to it, the last that began before the gap did; else the first. */
static uint32_t first_call(const struct split *split, uint32_t call)
{
	const struct gp_call *calls = split->model->calls;
	uint64_t base_ns = split->model->base_unix_ns;

	while (base_ns + calls[call].start_ns > split->gap->start_ns &&
	       is_of_thread(split->model, call - 1, calls[call].thread_id))
		call--;
	return call;
}

/* The thread's way to the call that ended the gap, and from there to the operation's start. */
static void split_before(struct split *split, uint32_t call)
{
	const struct gp_call *last = &split->model->calls[call];
	uint64_t end_ns = split->gap->end_ns;

	for (uint32_t i = first_call(split, call); i <= call; i++)
		take_call(split, &split->model->calls[i]);
	until(split,
	      split->model->base_unix_ns + last->start_ns < end_ns &&
			      end_ns - split->reached_ns > GP_IDLE_LATENCY_NS
		      ? GP_IDLE_DEPENDENCY
		      : GP_IDLE_LAUNCH,
	      end_ns);
}

/* What the thread did after the last operation. */
static void split_after(struct split *split, uint32_t call)
{
	uint32_t thread_id = split->model->calls[call].thread_id;

	for (uint32_t i = call; is_of_thread(split->model, i, thread_id); i++)
		take_call(split, &split->model->calls[i]);
	host_until(split, split->gap->end_ns);
}

static uint32_t call_of(struct gp_model *const *models, struct gp_op_at at)
{
	const struct gp_op *op = gp_op_of(models, at);

	return op ? op->call : GP_NONE;
}

void gp_idle_split(struct gp_model *const *models, struct gp_gap *gap,
		   void (*take)(void *context, enum gp_idle_cause cause, uint64_t end_ns),
		   void *context)
{
	struct split split = {
		.gap = gap, .take = take, .context = context, .reached_ns = gap->start_ns};
	bool at_end = gap->after.op == GP_NONE;
	struct gp_op_at at = at_end ? gap->before : gap->after;
	uint32_t call = call_of(models, at);

	for (enum gp_idle_cause i = 0; i < GP_IDLE_CAUSES; i++)
		gap->cause_ns[i] = 0;
	if (call != GP_NONE) {
		split.model = models[at.model];
		if (at_end)
			split_after(&split, call);
		else
			split_before(&split, call);
	}
	until(&split, GP_IDLE_UNKNOWN, gap->end_ns);
}
