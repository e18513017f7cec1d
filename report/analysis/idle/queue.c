#include "report/analysis/idle/queue.h"

#include <stdlib.h>

#include "report/base/array.h"
#include "report/base/spill_memory.h"

/* A call that put an operation into the stream. */
struct launch {
	uint64_t start_ns, duration_ns;
};

struct walk {
	struct gp_queue *queue;
	gp_queue_take *take;
	void *context;
	uint64_t length, changed_ns;
};

GP_COMPARE_BY(compare_launches, struct launch, start_ns)

/*
 * An operation may seem to begin before its call: the clocks of host and device differ by a little.
 */
static struct launch launch_of(const struct gp_model *model, const struct gp_op *op)
{
	const struct gp_call *call = &model->calls[op->call];

	return (struct launch){call->start_ns < op->start_ns ? call->start_ns : op->start_ns,
			       call->duration_ns};
}

/*
 * Operations of one call, as the nodes of a graph, are one thing to wait for: from the launch to
 * the first one's start.
 */
static bool is_waited_for(const struct gp_model *model, uint32_t first, uint32_t index)
{
	const struct gp_op *op = &model->ops[index];

	return gp_queue_has(op) &&
	       (index == first || !gp_queue_has(op - 1) || op[-1].call != op->call);
}

/* In the order of their calls; that of the operations differs where several threads launch. */
static struct launch *gather(const struct gp_model *model, uint32_t first, uint32_t end,
			     uint32_t *count)
{
	struct launch *launches = gp_spill_take((size_t)(end - first + 1) * sizeof(*launches));

	*count = 0;
	for (uint32_t i = first; i < end; i++) {
		if (is_waited_for(model, first, i))
			launches[(*count)++] = launch_of(model, &model->ops[i]);
	}
	gp_array_sort(launches, *count, sizeof(*launches), compare_launches, NULL);
	return launches;
}

/* ---- its length ---- */

static void change(struct walk *walk, uint64_t time_ns, uint64_t length)
{
	if (walk->length >= GP_QUEUE_FULL && time_ns > walk->changed_ns)
		walk->queue->full_ns += time_ns - walk->changed_ns;
	walk->changed_ns = time_ns;
	walk->length = length;
	if (length > walk->queue->most)
		walk->queue->most = length;
	if (walk->take)
		walk->take(walk->context, time_ns, length);
}

static void take_launch(struct walk *walk, const struct launch *launch)
{
	if (walk->length >= GP_QUEUE_FULL) {
		walk->queue->blocked++;
		walk->queue->blocked_ns += launch->duration_ns;
	}
	change(walk, launch->start_ns, walk->length + 1);
}

static bool is_brief(const struct gp_model *model, const struct gp_op *op)
{
	return op->graph_id == 0 && op->kind != GP_OP_GRAPH &&
	       op->end_ns - op->start_ns < model->calls[op->call].duration_ns;
}

/* No operation begins before its launch: the length is never below 0. */
static void walk_lengths(struct walk *walk, const struct gp_model *model, uint32_t first,
			 uint32_t end, const struct launch *launches, uint32_t count)
{
	uint32_t next = 0;

	for (uint32_t i = first; i < end; i++) {
		const struct gp_op *op = &model->ops[i];

		if (!gp_queue_has(op))
			continue;
		walk->queue->launched++;
		walk->queue->brief += is_brief(model, op);
		if (!is_waited_for(model, first, i))
			continue;
		while (next < count && launches[next].start_ns <= op->start_ns)
			take_launch(walk, &launches[next++]);
		change(walk, op->start_ns, walk->length - 1);
	}
}

/* ---- the gaps in the stream ---- */

/* Ends before that time are over: a launch that begins then is late. */
static void take_gap(struct gp_queue *queue, const struct gp_model *model, const struct gp_op *op,
		     uint64_t ended_ns)
{
	uint64_t gap_ns = op->start_ns > ended_ns ? op->start_ns - ended_ns : 0;
	bool is_late = op->call != GP_NONE && model->calls[op->call].start_ns > ended_ns;

	queue->late += is_late;
	if (is_late)
		queue->host_wait_ns += gap_ns;
	else if (gap_ns < GP_QUEUE_STEP_NS)
		queue->step_ns += gap_ns;
	else
		queue->other_ns += gap_ns;
}

static void walk_gaps(struct gp_queue *queue, const struct gp_model *model, uint32_t first,
		      uint32_t end)
{
	uint64_t ended_ns = 0;
	bool any = false;

	for (uint32_t i = first; i < end; i++) {
		const struct gp_op *op = &model->ops[i];

		if (op->untimed)
			continue;
		if (any)
			take_gap(queue, model, op, ended_ns);
		if (!any || op->end_ns > ended_ns)
			ended_ns = op->end_ns;
		any = true;
	}
}

void gp_queue_of(struct gp_queue *queue, const struct gp_model *model, uint32_t first, uint32_t end,
		 gp_queue_take *take, void *context)
{
	struct walk walk = {.queue = queue, .take = take, .context = context};
	uint32_t count;
	struct launch *launches = gather(model, first, end, &count);

	*queue = (struct gp_queue){0};
	walk_lengths(&walk, model, first, end, launches, count);
	walk_gaps(queue, model, first, end);
	gp_spill_free(launches);
}
