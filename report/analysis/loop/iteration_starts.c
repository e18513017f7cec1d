#include "report/analysis/loop/iteration_starts.h"

#include "report/base/spill_memory.h"

struct streams {
	const struct gp_model *model;
	const uint32_t *indices; /* of operations, by their place in the order */
	uint32_t *of;            /* by operation of the model: its stream, from 0 on */
	uint64_t *ns;            /* by stream: its GPU time in one pass */
};

static void number_streams(struct streams *streams)
{
	const struct gp_model *model = streams->model;
	uint32_t count = 0;

	streams->of = gp_spill_take(model->op_count * sizeof(*streams->of));
	for (uint32_t i = 0; i < model->op_count; i++) {
		count += i > 0 && !gp_ops_share_stream(&model->ops[i], &model->ops[i - 1]);
		streams->of[i] = count;
	}
	streams->ns = gp_spill_take_zeroed((size_t)count + 1, sizeof(*streams->ns));
}

/* With most GPU time in that pass; GP_NONE where no operation of it has a time. */
static uint32_t busiest_of(const struct streams *streams, const struct gp_iteration *row)
{
	const uint32_t *indices = &streams->indices[row->place];
	uint32_t busiest = GP_NONE;

	for (uint32_t i = 0; i < row->op_count; i++)
		streams->ns[streams->of[indices[i]]] = 0;
	for (uint32_t i = 0; i < row->op_count; i++) {
		const struct gp_op *op = &streams->model->ops[indices[i]];
		uint32_t stream = streams->of[indices[i]];

		if (op->untimed)
			continue;
		streams->ns[stream] += op->end_ns - op->start_ns;
		if (busiest == GP_NONE || streams->ns[stream] > streams->ns[busiest])
			busiest = stream;
	}
	return busiest;
}

/* The busiest one of more than half of the passes, or GP_NONE. */
static uint32_t usual_of(const struct streams *streams, const struct gp_iterations *iterations)
{
	uint32_t usual = GP_NONE, lead = 0, agree = 0;

	for (uint32_t i = 0; i < iterations->count; i++) {
		uint32_t busiest = busiest_of(streams, &iterations->rows[i]);

		if (lead == 0)
			usual = busiest;
		lead = busiest == usual ? lead + 1 : lead - 1;
	}
	for (uint32_t i = 0; i < iterations->count; i++)
		agree += busiest_of(streams, &iterations->rows[i]) == usual;
	return agree * 2ull > iterations->count ? usual : GP_NONE;
}

/* The first operation of a pass in that stream, or GP_NONE. */
static uint32_t first_in(const struct streams *streams, const struct gp_iteration *row,
			 uint32_t stream)
{
	for (uint32_t i = row->place; i < row->place + row->op_count; i++) {
		uint32_t index = streams->indices[i];

		if (streams->of[index] == stream && !streams->model->ops[index].untimed)
			return index;
	}
	return GP_NONE;
}

/* Until when a stream did something before that operation; 0 = it is its first. */
static uint64_t ended_before_ns(const struct streams *streams, uint32_t index)
{
	for (uint32_t i = index; i > 0 && streams->of[i - 1] == streams->of[index]; i--)
		if (!streams->model->ops[i - 1].untimed)
			return streams->model->ops[i - 1].end_ns;
	return 0;
}

/*
 * An operation in a stream of its own waited for others that are not known: the iteration begins in
 * its stream.
 */
static void set_start(struct gp_iteration *row, const struct streams *streams, uint32_t usual)
{
	uint32_t first = first_in(streams, row, usual);
	uint64_t start_ns, ended_ns;

	if (first == GP_NONE)
		first = first_in(streams, row, busiest_of(streams, row));
	if (first == GP_NONE)
		return;
	start_ns = streams->model->ops[first].start_ns;
	ended_ns = ended_before_ns(streams, first);
	if (ended_ns == 0 && streams->of[first] != usual)
		ended_ns = start_ns;
	if (ended_ns > start_ns)
		ended_ns = start_ns;
	if (row->start_ns < ended_ns)
		row->start_ns = ended_ns;
}

void gp_iteration_starts_set(struct gp_iterations *iterations, const struct gp_model *model,
			     const struct gp_launch_order *order)
{
	struct streams streams = {.model = model, .indices = order->indices};
	uint32_t usual;

	number_streams(&streams);
	usual = usual_of(&streams, iterations);
	for (uint32_t i = 0; i < iterations->count; i++)
		set_start(&iterations->rows[i], &streams, usual);
	gp_spill_free(streams.of);
	gp_spill_free(streams.ns);
}
