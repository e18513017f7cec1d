#include "report/model/build/bad_timestamps.h"

#include <errno.h>
#include <string.h>

#include "report/base/array.h"

#define CLOCKS_ERR_NS 1000u
#define LEAST_CLASHES                                                                              \
	10u /* of two that clash either may be wrong; of one and ten that follow each other, the one */
#define MOST_COMPARED 1000u /* of one operation's: where all lie within each other */

/* ---- clashes ---- */

static bool is_node(const struct gp_model *model, const struct gp_op *op)
{
	return op->graph_id != 0 || gp_model_detail(model, op)->graph_node_id != 0;
}

/* An export does not say which launches with attributes are programmatic dependent ones. */
static bool may_begin_early(const struct gp_model *model, const struct gp_call *call)
{
	return call->overlapping ||
	       (model->recorder && strstr(gp_model_api(model, call->api).name, "LaunchKernelEx"));
}

static bool is_in_order(const struct gp_model *model, const struct gp_op *op)
{
	return !op->untimed && !gp_op_is_on_host(op) && op->kind != GP_OP_GRAPH &&
	       !(op->call != GP_NONE && may_begin_early(model, &model->calls[op->call]));
}

static bool is_clash(const struct gp_model *model, const struct gp_op *earlier,
		     const struct gp_op *later)
{
	uint64_t until_ns = earlier->end_ns < later->end_ns ? earlier->end_ns : later->end_ns;
	bool are_of_one_call = earlier->call != GP_NONE && earlier->call == later->call;

	return until_ns > later->start_ns + CLOCKS_ERR_NS && !are_of_one_call &&
	       is_in_order(model, earlier) && is_in_order(model, later) &&
	       !(is_node(model, earlier) && is_node(model, later));
}

/* Those of its stream that ran within the index-th's time, no more than are counted. */
static uint32_t count_clashes(const struct gp_model *model, uint32_t index)
{
	const struct gp_op *op = &model->ops[index];
	uint32_t count = 0, end = index + 1 + MOST_COMPARED;

	for (uint32_t i = index + 1; i < model->op_count && i < end; i++) {
		const struct gp_op *later = &model->ops[i];

		if (!gp_ops_share_stream(later, op) || later->start_ns >= op->end_ns ||
		    count == GP_CLASHES_COUNTED)
			break;
		count += is_clash(model, op, later);
	}
	return count;
}

/* Without a check against all that lie within most operations' time: there are few of those. */
static bool may_be_contradicted(const struct gp_model *model, uint32_t index)
{
	const struct gp_op *op = &model->ops[index];

	return model->op_count - index > LEAST_CLASHES &&
	       gp_ops_share_stream(op, &op[LEAST_CLASHES]) &&
	       op[LEAST_CLASHES].start_ns + CLOCKS_ERR_NS < op->end_ns && is_in_order(model, op);
}

static int find_contradicted(struct gp_model *model)
{
	uint32_t capacity = 0;

	for (uint32_t i = 0; i < model->op_count; i++) {
		uint32_t clashes = may_be_contradicted(model, i) ? count_clashes(model, i) : 0;

		if (clashes < LEAST_CLASHES)
			continue;
		if (gp_array_grow(&model->contradictions, &capacity, model->contradiction_count,
				  sizeof(*model->contradictions)) < 0)
			return -ENOMEM;
		model->contradictions[model->contradiction_count++] =
			(struct gp_contradiction){model->ops[i], i, clashes};
		model->ops[i].end_ns = model->ops[i].start_ns;
		model->ops[i].untimed = 1;
	}
	model->losses.ops_contradicted = model->contradiction_count;
	return 0;
}

/* ---- the remaining times ---- */

static void sum_clashes(struct gp_model *model)
{
	uint32_t longest = 0; /* of its stream so far, the one that ends last */

	model->losses.ops_clashing = 0;
	for (uint32_t i = 1; i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i], *before = &model->ops[longest];
		bool is_next = gp_ops_share_stream(op, op - 1);

		if (is_next && op->start_ns < before->end_ns) /* of few */
			model->losses.ops_clashing += is_clash(model, before, op);
		if (!is_next || op->end_ns > before->end_ns || !is_in_order(model, before))
			longest = i;
	}
}

static void sum_early(struct gp_model *model)
{
	model->losses.ops_early = 0;
	for (uint32_t i = 0; i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];

		if (op->call != GP_NONE && !op->untimed)
			model->losses.ops_early +=
				op->start_ns + CLOCKS_ERR_NS < model->calls[op->call].start_ns;
	}
}

/* The first operation has stayed where it was. A part lacks some operations of the span. */
static void shorten_span(struct gp_model *model)
{
	uint64_t last_ns = model->call_count > 0 ? model->last_call_ns : model->first_ns;

	if (model->contradiction_count == 0 || !gp_model_is_whole(model))
		return;
	for (uint32_t i = 0; i < model->op_count; i++)
		if (gp_model_has_place(model, &model->ops[i]) && model->ops[i].end_ns > last_ns)
			last_ns = model->ops[i].end_ns;
	model->last_ns = last_ns;
}

int gp_untime_contradicted(struct gp_model *model)
{
	sum_early(model);
	if ((model->unknown & GP_UNKNOWN_ORDER) != 0)
		return 0;
	if (find_contradicted(model) < 0)
		return -ENOMEM;
	sum_clashes(model);
	shorten_span(model);
	return 0;
}
