#include "report/analysis/backward/pass.h"

#include <stdlib.h>

#include "report/analysis/backward/forward_ops.h"
#include "report/base/array.h"

/* A part of the backward pass: a node, or the engine's work between nodes. */
struct part {
	uint32_t kind;
	uint32_t node;  /* its number among those that are matched, or GP_NONE */
	uint32_t place; /* its operator in the natural view, or GP_NONE */
	uint8_t role;   /* enum gp_autograd_role; NONE: not known */
	struct gp_backward_line line;
	uint32_t line_number;
};

struct pass {
	const struct gp_pass_context *context;
	const struct gp_launch_run *run;
	struct gp_forward forward;
	struct part *parts;
	uint32_t part_count, part_capacity;
	uint32_t *part_of; /* by launch of the backward pass */
	uint32_t *kinds;   /* of the nodes that are matched */
	uint32_t node_count;
	bool *is_used; /* by operator of the natural view */
	/* by kind: how many there are */
	uint32_t *forward_count, *backward_count;
};

/* ---- the backward pass ---- */

static void add_part(struct pass *pass, uint8_t role, uint32_t kind)
{
	struct part part = {.kind = kind,
			    .node = GP_NONE,
			    .place = GP_NONE,
			    .role = role,
			    .line = {GP_NONE, GP_BACKWARD_UNMATCHED},
			    .line_number = GP_NONE};

	gp_array_grow(&pass->parts, &pass->part_capacity, pass->part_count, sizeof(*pass->parts));
	pass->parts[pass->part_count++] = part;
}

/* The last node, to which further launches may belong. */
struct last_node {
	uint32_t part;
	uint64_t site;
};

/*
 * The code of a node calls what launches once each, in order: a launch from an earlier place is of
 * the next node.
 */
static bool is_of_node(const struct pass *pass, const struct last_node *last,
		       const struct gp_autograd_stack *stack)
{
	return last->part != GP_NONE && pass->parts[last->part].kind == stack->kind &&
	       stack->site >= last->site;
}

static void take_launch(struct pass *pass, const struct gp_launch *launch, struct last_node *last,
			uint32_t *part)
{
	const struct gp_autograd_stack *stack = gp_launch_stack(pass->context->stacks, launch);
	bool is_node = stack->role == GP_AUTOGRAD_NODE;

	if (is_node && is_of_node(pass, last, stack)) {
		last->site = stack->site;
		*part = last->part;
		return;
	}
	*part = pass->part_count;
	if (!launch->is_known) {
		add_part(pass, GP_AUTOGRAD_NONE, GP_NONE);
		return;
	}
	*last = (struct last_node){is_node ? *part : GP_NONE, stack->site};
	add_part(pass, stack->role, stack->kind);
}

static void add_parts(struct pass *pass)
{
	struct last_node last = {GP_NONE, 0};
	uint32_t count = pass->run->end - pass->run->backward;

	pass->part_of = calloc((size_t)count + 1, sizeof(*pass->part_of));
	for (uint32_t i = 0; i < count; i++)
		take_launch(pass, &pass->context->runs->launches[pass->run->backward + i], &last,
			    &pass->part_of[i]);
}

/* Nodes of operators that launch nothing forward cannot be matched. */
static void number_nodes(struct pass *pass)
{
	pass->kinds = malloc(((size_t)pass->part_count + 1) * sizeof(*pass->kinds));
	for (uint32_t i = 0; i < pass->part_count; i++) {
		struct part *part = &pass->parts[i];

		if (part->role != GP_AUTOGRAD_NODE)
			continue;
		part->line.answer = GP_BACKWARD_WITHOUT_OPERATOR;
		if (!pass->context->traits[part->kind].is_forward)
			continue;
		part->line.answer = GP_BACKWARD_UNMATCHED;
		part->node = pass->node_count;
		pass->kinds[pass->node_count++] = part->kind;
	}
}

/* ---- lines of nodes ---- */

static bool has_line(const struct gp_forward_ops *ops, const struct gp_match *match, bool all_known)
{
	if (all_known && ops->unknown_before[match->last + 1] > ops->unknown_before[match->first])
		return false;
	return ops->rows[match->last].line != GP_NONE &&
	       gp_match_has_line(match, ops->run_ends, ops->next);
}

static void put_line(struct part *part, const struct gp_forward_op *op,
		     enum gp_backward_answer answer)
{
	part->line = (struct gp_backward_line){op->stack, answer};
	part->line_number = op->line;
}

static void count_kinds(struct pass *pass)
{
	const struct gp_forward_ops *ops = &pass->forward.views[GP_VIEW_NATURAL];

	for (uint32_t i = 0; i < ops->count; i++)
		pass->forward_count[ops->rows[i].kind]++;
	for (uint32_t i = 0; i < pass->node_count; i++)
		pass->backward_count[pass->kinds[i]]++;
}

/* If each operator of a kind has a node, launches of one operator were not taken for several. */
static bool is_complete(const struct pass *pass, uint32_t kind)
{
	return pass->forward.views[GP_VIEW_NATURAL].unknown == 0 &&
	       pass->forward_count[kind] == pass->backward_count[kind];
}

static void settle_node(struct pass *pass, struct part *part)
{
	struct gp_forward_ops *strict = &pass->forward.views[GP_VIEW_STRICT],
			      *natural = &pass->forward.views[GP_VIEW_NATURAL];
	const struct gp_match *at;

	if (natural->is_matched) {
		at = &natural->matches[part->node];
		part->place = at->last;
		pass->is_used[at->last] = true;
		part->line.answer = GP_BACKWARD_SEVERAL;
		if (has_line(natural, at, false))
			put_line(part, &natural->rows[at->last],
				 is_complete(pass, part->kind) ? GP_BACKWARD_CERTAIN
							       : GP_BACKWARD_LIKELY);
	}
	if (strict->is_matched && has_line(strict, &strict->matches[part->node], true))
		put_line(part, &strict->rows[strict->matches[part->node].last],
			 GP_BACKWARD_CERTAIN);
}

/* ---- lines of the work between nodes ---- */

/* Operators between those of two parts, which no node was found for. */
struct between {
	const struct part *before,
		*after;      /* in the order of the backward pass; NULL: there is none */
	uint32_t first, end; /* in the natural view */
};

static struct between between_of(const struct pass *pass, uint32_t part)
{
	struct between between = {.end = pass->forward.views[GP_VIEW_NATURAL].count};

	for (uint32_t i = part; i-- > 0 && !between.before;)
		if (pass->parts[i].place != GP_NONE)
			between.before = &pass->parts[i];
	for (uint32_t i = part + 1; i < pass->part_count && !between.after; i++)
		if (pass->parts[i].place != GP_NONE)
			between.after = &pass->parts[i];
	if (between.before)
		between.end = between.before->place;
	if (between.after)
		between.first = between.after->place + 1;
	return between;
}

static bool is_certain(const struct part *part)
{
	return !part || part->line.answer == GP_BACKWARD_CERTAIN;
}

/* A line that may be the part's; two different ones leave none. */
struct candidates {
	const struct gp_forward_op *op;
	bool are_several, are_known;
};

static void add_candidate(struct candidates *candidates, const struct pass *pass,
			  const struct gp_forward_op *op)
{
	candidates->are_known &= op->is_known;
	if (!pass->context->traits[op->kind].fits_shapes)
		return;
	candidates->are_several |= candidates->op && candidates->op->line != op->line;
	candidates->op = op;
}

static void settle_fit(const struct pass *pass, struct part *part, const struct between *between)
{
	const struct gp_forward_ops *ops = &pass->forward.views[GP_VIEW_NATURAL];
	struct candidates candidates = {.are_known = true};

	if (between->before)
		add_candidate(&candidates, pass, &ops->rows[between->before->place]);
	for (uint32_t i = between->first; i < between->end && !candidates.are_several; i++)
		if (!pass->is_used[i])
			add_candidate(&candidates, pass, &ops->rows[i]);
	if (candidates.are_several)
		part->line.answer = GP_BACKWARD_SEVERAL;
	else if (candidates.op && candidates.op->line != GP_NONE)
		put_line(part, candidates.op,
			 candidates.are_known && is_certain(between->before) &&
					 is_certain(between->after)
				 ? GP_BACKWARD_CERTAIN
				 : GP_BACKWARD_LIKELY);
}

/* The line of another part is likely to be its own, too. */
static void settle_like(struct part *part, const struct part *other)
{
	part->line = other->line;
	part->line_number = other->line_number;
	if (part->line.answer == GP_BACKWARD_CERTAIN)
		part->line.answer = GP_BACKWARD_LIKELY;
}

static void settle_between(struct part *part, const struct between *between)
{
	if (between->before && between->after &&
	    between->before->line_number == between->after->line_number &&
	    between->before->line_number != GP_NONE)
		settle_like(part, between->before);
}

static void settle_other(struct pass *pass, uint32_t index)
{
	struct part *part = &pass->parts[index];
	struct between between = {0};

	if (part->role == GP_AUTOGRAD_COMMUNICATION)
		part->line.answer = GP_BACKWARD_COMMUNICATION;
	if (part->role == GP_AUTOGRAD_FUNCTION)
		part->line.answer = GP_BACKWARD_FUNCTION;
	if (part->role == GP_AUTOGRAD_PARAMETER && index > 0)
		settle_like(part, &pass->parts[index - 1]);
	if (!pass->forward.views[GP_VIEW_NATURAL].is_matched)
		return;
	between = between_of(pass, index);
	if (part->role == GP_AUTOGRAD_FIT)
		settle_fit(pass, part, &between);
	else if (part->role == GP_AUTOGRAD_SUM && between.before)
		settle_like(part, between.before);
	else if (part->role == GP_AUTOGRAD_NODE || part->role == GP_AUTOGRAD_NONE)
		settle_between(part, &between);
}

static void settle(struct pass *pass)
{
	count_kinds(pass);
	for (uint32_t i = 0; i < pass->part_count; i++)
		if (pass->parts[i].node != GP_NONE)
			settle_node(pass, &pass->parts[i]);
	for (uint32_t i = 0; i < pass->part_count; i++)
		if (pass->parts[i].node == GP_NONE)
			settle_other(pass, i);
}

static void put_lines(const struct pass *pass, struct gp_backward_line *lines)
{
	for (uint32_t i = pass->run->backward; pass->parts && i < pass->run->end; i++) {
		const struct part *part = &pass->parts[pass->part_of[i - pass->run->backward]];

		lines[i - pass->run->backward] = part->line;
		if (part->role == GP_AUTOGRAD_OWN)
			lines[i - pass->run->backward] = (struct gp_backward_line){
				pass->context->runs->launches[i].stack, GP_BACKWARD_CERTAIN};
	}
}

static void match(struct pass *pass, uint32_t run)
{
	uint32_t kinds = pass->context->stacks->kinds.count + 1;

	pass->forward = (struct gp_forward){.stacks = pass->context->stacks,
					    .runs = pass->context->runs,
					    .kinds = pass->kinds,
					    .node_count = pass->node_count};
	gp_forward_search(&pass->forward, run);
	pass->forward_count = calloc(kinds, sizeof(*pass->forward_count));
	pass->backward_count = calloc(kinds, sizeof(*pass->backward_count));
	pass->is_used =
		calloc((size_t)pass->forward.views[GP_VIEW_NATURAL].count + 1, sizeof(bool));
}

void gp_pass_lines(const struct gp_pass_context *context, uint32_t run,
		   struct gp_backward_line *lines)
{
	struct pass pass = {.context = context, .run = &context->runs->runs[run]};

	add_parts(&pass);
	number_nodes(&pass);
	match(&pass, run);
	settle(&pass);
	put_lines(&pass, lines);
	gp_forward_free(&pass.forward);
	free(pass.parts);
	free(pass.part_of);
	free(pass.kinds);
	free(pass.forward_count);
	free(pass.backward_count);
	free(pass.is_used);
}
