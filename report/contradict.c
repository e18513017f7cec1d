#include "report/contradict.h"

#include <errno.h>
#include <string.h>

#include "report/array.h"

#define CLOCKS_ERR_NS 1000u
#define LEAST_CLASHES                                                                              \
	10u /* of two that clash either may be wrong; of one and ten that follow each other, the one */

/* ---- what clashes ---- */

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

static int note(struct gp_model *model, uint32_t *capacity, uint32_t op, uint32_t clashes)
{
	if (clashes < LEAST_CLASHES)
		return 0;
	if (gp_array_grow(&model->contradictions, capacity, model->contradiction_count,
			  sizeof(*model->contradictions)) < 0)
		return -ENOMEM;
	model->contradictions[model->contradiction_count++] =
		(struct gp_contradiction){model->ops[op], op, clashes};
	return 0;
}

/* Counts all that clash, and notes those that have so many against them. */
static int find_clashes(struct gp_model *model, uint32_t *capacity)
{
	uint32_t longest = 0; /* of its stream so far, the one that ends last */
	uint32_t with_longest = 0;
	int result = 0;

	model->losses.ops_clashing = 0;
	for (uint32_t i = 1; i < model->op_count && result == 0; i++) {
		const struct gp_op *op = &model->ops[i], *before = &model->ops[longest];
		bool is_next = gp_ops_share_stream(op, op - 1);
		bool clashes = is_next && is_clash(model, before, op);

		model->losses.ops_clashing += clashes;
		with_longest += clashes;
		if (is_next && op->end_ns <= before->end_ns && is_in_order(model, before))
			continue;
		result = note(model, capacity, longest, with_longest);
		longest = i;
		with_longest = 0;
	}
	return result == 0 ? note(model, capacity, longest, with_longest) : result;
}

/* ---- without their times ---- */

/* Where it comes now that it begins earlier. */
static uint32_t move_back(struct gp_model *model, uint32_t at)
{
	struct gp_op op = model->ops[at];

	for (; at > 0 && gp_ops_share_stream(&model->ops[at - 1], &op) &&
	       model->ops[at - 1].start_ns > op.start_ns;
	     at--)
		model->ops[at] = model->ops[at - 1];
	model->ops[at] = op;
	return at;
}

/* The index-th; of those that were found with it the ones before come before it. */
static void leave_untimed(struct gp_model *model, uint32_t index)
{
	struct gp_contradiction *this = &model->contradictions[index];
	struct gp_op *op = &model->ops[this->op];
	uint32_t from = this->op;

	if (op->call != GP_NONE && model->calls[op->call].start_ns < op->start_ns)
		op->start_ns = model->calls[op->call].start_ns;
	op->end_ns = op->start_ns;
	op->untimed = 1;
	this->op = move_back(model, from);
	for (uint32_t i = 0; i < index; i++)
		if (model->contradictions[i].op >= this->op && model->contradictions[i].op < from)
			model->contradictions[i].op++;
}

static void find_span(struct gp_model *model)
{
	uint64_t first_ns = model->first_call_ns, last_ns = model->last_call_ns;
	bool any = model->call_count > 0;

	for (uint32_t i = 0; i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];

		if (op->untimed)
			continue;
		first_ns = !any || op->start_ns < first_ns ? op->start_ns : first_ns;
		last_ns = !any || op->end_ns > last_ns ? op->end_ns : last_ns;
		any = true;
	}
	model->first_ns = first_ns;
	model->last_ns = last_ns;
}

int gp_leave_contradicted(struct gp_model *model)
{
	uint32_t capacity = 0, left = 0;
	int result;

	if ((model->unknown & GP_UNKNOWN_ORDER) != 0)
		return 0;
	/* Within the time of one another one may be wrong, too. */
	while ((result = find_clashes(model, &capacity)) == 0 && left < model->contradiction_count)
		for (; left < model->contradiction_count; left++)
			leave_untimed(model, left);
	model->losses.ops_contradicted = model->contradiction_count;
	if (model->contradiction_count > 0)
		find_span(model);
	return result;
}
