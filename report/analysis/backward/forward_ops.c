#include "report/analysis/backward/forward_ops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"

/* Runs before that are searched for operators, and launches of them all. */
#define RUNS_BEFORE   3u
#define MOST_LAUNCHES (1u << 20)

/* Of the operators of a forward pass: others are of a thread that prepares data. */
#define MAIN_THREAD_PERCENT 90u

static uint32_t thread_of(const struct gp_forward *forward, uint32_t launch)
{
	const struct gp_launch_runs *runs = forward->runs;

	return forward->stacks->model->calls[runs->launches[launch].call].thread_id;
}

/* The second kernel of a matrix product whose sums are in parts. */
static bool continues(const struct gp_model *model, const struct gp_launch *launch)
{
	uint32_t first_op = model->calls[launch->call].first_op;
	const struct gp_op *op = first_op != GP_NONE ? &model->ops[first_op] : NULL;
	const char *name = op && op->kind == GP_OP_KERNEL ? gp_model_kernel_name(model, op) : "";

	return strstr(name, "splitKreduce") || strstr(name, "execute_split_k_kernel");
}

static bool has_kernel(const struct gp_forward_ops *ops, uint32_t kernel)
{
	for (uint32_t i = 0; i < ops->kernel_count; i++)
		if (ops->kernels[i] == kernel)
			return true;
	return ops->kernel_count == GP_KERNELS_OF_OP;
}

/* Whether a launch is one more of the last operator. */
static bool is_of_last(const struct gp_forward *forward, const struct gp_forward_ops *ops,
		       enum gp_forward_view view, const struct gp_launch *launch, uint32_t call)
{
	if (call == GP_NONE || ops->call != call)
		return false;
	return continues(forward->stacks->model, launch) ||
	       (view == GP_VIEW_NATURAL && !has_kernel(ops, launch->kernel));
}

static void add_op(struct gp_forward *forward, enum gp_forward_view view,
		   const struct gp_launch *launch, const struct gp_autograd_stack *stack)
{
	struct gp_forward_ops *ops = &forward->views[view];
	struct gp_forward_op *last = ops->count > 0 ? &ops->rows[ops->count - 1] : NULL;

	if (last && is_of_last(forward, ops, view, launch, stack->call)) {
		last->is_known |= launch->is_known;
	} else {
		gp_array_grow(&ops->rows, &ops->capacity, ops->count, sizeof(*ops->rows));
		ops->rows[ops->count++] = (struct gp_forward_op){
			.kind = stack->kind != GP_NONE ? stack->kind
						       : gp_forward_kinds(forward) - 1,
			.line = stack->line,
			.stack = launch->stack,
			.is_known = launch->is_known};
		ops->call = stack->call;
		ops->kernel_count = 0;
	}
	if (ops->kernel_count < GP_KERNELS_OF_OP)
		ops->kernels[ops->kernel_count++] = launch->kernel;
}

/* A launch whose stack is not known may be any operator. */
static void add_ops(struct gp_forward *forward, uint32_t first, uint32_t end)
{
	for (unsigned view = 0; view < GP_VIEWS; view++)
		forward->views[view].call = GP_NONE;
	for (uint32_t i = first; i < end; i++) {
		const struct gp_launch *launch = &forward->runs->launches[i];
		const struct gp_autograd_stack *stack = gp_launch_stack(forward->stacks, launch);

		if (thread_of(forward, i) != forward->thread_id ||
		    (launch->is_known && stack->role != GP_AUTOGRAD_FORWARD))
			continue;
		for (unsigned view = 0; view < GP_VIEWS; view++)
			add_op(forward, (enum gp_forward_view)view, launch, stack);
	}
}

static void finish_ops(struct gp_forward *forward, struct gp_forward_ops *ops)
{
	size_t bytes = ((size_t)ops->count + 1) * sizeof(uint32_t);

	ops->run_ends = malloc(bytes);
	ops->next = malloc(bytes);
	ops->unknown_before = malloc(bytes);
	gp_match_find_runs(ops->rows, ops->count, gp_forward_kinds(forward), forward->scratch,
			   ops->run_ends, ops->next);
	ops->unknown = 0;
	for (uint32_t i = 0; i < ops->count; i++) {
		ops->unknown_before[i] = ops->unknown;
		ops->unknown += !ops->rows[i].is_known;
	}
	ops->unknown_before[ops->count] = ops->unknown;
}

static void free_ops(struct gp_forward_ops *ops)
{
	free(ops->rows);
	free(ops->run_ends);
	free(ops->next);
	free(ops->unknown_before);
	free(ops->matches);
	*ops = (struct gp_forward_ops){0};
}

static void match_view(struct gp_forward *forward, enum gp_forward_view view)
{
	struct gp_forward_ops *ops = &forward->views[view];

	finish_ops(forward, ops);
	ops->matches = malloc(((size_t)forward->node_count + 1) * sizeof(*ops->matches));
	ops->is_matched = gp_match_nodes(ops->rows, ops->count, view == GP_VIEW_STRICT,
					 forward->kinds, forward->node_count, ops->matches);
}

/* How many nodes, from the first on, may belong to the operators from an index on. */
static uint32_t nodes_from(const struct gp_forward *forward, const struct gp_forward_ops *ops,
			   uint32_t first)
{
	uint32_t count = 0;

	while (count < forward->node_count && ops->matches[count].last >= first)
		count++;
	return count;
}

/* Into scratch: how many operators there are from an index on, several of one line counted once. */
static void count_ops(struct gp_forward *forward, const struct gp_forward_ops *ops, uint32_t first)
{
	for (uint32_t i = 0; i < gp_forward_kinds(forward); i++)
		forward->scratch[i] = 0;
	for (uint32_t i = first; i < ops->count; i++) {
		const struct gp_forward_op *op = &ops->rows[i];

		if (i == first || op[-1].kind != op->kind || op[-1].line != op->line)
			forward->scratch[op->kind]++;
	}
}

/*
 * Whether these nodes are enough for all operators of their kinds from an index on. Of operators that
 * follow each other at one line, some may be one that launches a kernel twice.
 */
static bool are_enough(struct gp_forward *forward, const struct gp_forward_ops *ops, uint32_t first,
		       uint32_t nodes)
{
	bool are_left = false;

	count_ops(forward, ops, first);
	for (uint32_t i = 0; i < nodes; i++)
		if (forward->scratch[forward->kinds[i]] > 0)
			forward->scratch[forward->kinds[i]]--;
	for (uint32_t i = 0; i < nodes; i++)
		are_left |= forward->scratch[forward->kinds[i]] > 0;
	return !are_left;
}

/* The first nodes belong to the operators from an index on, the others to those before. */
static bool match_parts(struct gp_forward *forward, enum gp_forward_view view, uint32_t first,
			uint32_t nodes)
{
	struct gp_forward_ops *ops = &forward->views[view];
	bool is_strict = view == GP_VIEW_STRICT;

	if (!gp_match_nodes(ops->rows + first, ops->count - first, is_strict, forward->kinds, nodes,
			    ops->matches) ||
	    !gp_match_nodes(ops->rows, first, is_strict, forward->kinds + nodes,
			    forward->node_count - nodes, ops->matches + nodes))
		return false;
	for (uint32_t i = 0; i < nodes; i++) {
		ops->matches[i].first += first;
		ops->matches[i].last += first;
	}
	return true;
}

/*
 * Where a backward pass needs operators of earlier runs, those of its own run may all have nodes: a
 * GAN trains its generator through the discriminator, which ran before for itself, too.
 */
static void divide(struct gp_forward *forward, const uint32_t own_first[GP_VIEWS])
{
	const struct gp_forward_ops *natural = &forward->views[GP_VIEW_NATURAL];
	uint32_t nodes;

	if (!natural->is_matched || own_first[GP_VIEW_NATURAL] == 0)
		return;
	nodes = nodes_from(forward, natural, own_first[GP_VIEW_NATURAL]);
	if (!are_enough(forward, natural, own_first[GP_VIEW_NATURAL], nodes))
		return;
	for (unsigned view = 0; view < GP_VIEWS; view++)
		if (forward->views[view].is_matched)
			forward->views[view].is_matched = match_parts(
				forward, (enum gp_forward_view)view, own_first[view], nodes);
}

/* With the forward passes of so many runs. */
static void attempt(struct gp_forward *forward, uint32_t run, uint32_t before)
{
	const struct gp_launch_run *runs = forward->runs->runs;
	uint32_t own_first[GP_VIEWS] = {0};

	for (unsigned view = 0; view < GP_VIEWS; view++)
		free_ops(&forward->views[view]);
	for (uint32_t i = run - before; i <= run; i++) {
		for (unsigned view = 0; view < GP_VIEWS; view++)
			own_first[view] = forward->views[view].count;
		add_ops(forward, runs[i].first, runs[i].backward);
	}
	for (unsigned view = 0; view < GP_VIEWS; view++)
		match_view(forward, (enum gp_forward_view)view);
	divide(forward, own_first);
}

/* The thread with nearly all launches of a role; GP_NONE: there is none. */
static uint32_t main_thread(const struct gp_forward *forward, uint32_t first, uint32_t end,
			    enum gp_autograd_role role)
{
	uint32_t thread_id = GP_NONE, lead = 0, count = 0, of_thread = 0;

	for (unsigned round = 0; round < 2; round++)
		for (uint32_t i = first; i < end; i++) {
			if (gp_launch_stack(forward->stacks, &forward->runs->launches[i])->role !=
			    role)
				continue;
			count += round;
			of_thread += round && thread_of(forward, i) == thread_id;
			if (round == 0 && lead == 0)
				thread_id = thread_of(forward, i);
			if (round == 0)
				lead += thread_of(forward, i) == thread_id ? 1 : -1u;
		}
	return of_thread * 100 >= count * MAIN_THREAD_PERCENT ? thread_id : GP_NONE;
}

/* The order of nodes is that of operators within one thread and one device only. */
void gp_forward_search(struct gp_forward *forward, uint32_t run)
{
	const struct gp_launch_run *runs = forward->runs->runs;
	uint32_t most_before = run < RUNS_BEFORE ? run : RUNS_BEFORE;

	forward->scratch = calloc(gp_forward_kinds(forward), sizeof(*forward->scratch));
	forward->thread_id = main_thread(forward, runs[run - most_before].first, runs[run].backward,
					 GP_AUTOGRAD_FORWARD);
	if (forward->thread_id == GP_NONE ||
	    main_thread(forward, runs[run].backward, runs[run].end, GP_AUTOGRAD_NODE) == GP_NONE)
		return;
	for (uint32_t before = 0; before <= most_before; before++) {
		if (runs[run].end - runs[run - before].first > MOST_LAUNCHES)
			break;
		attempt(forward, run, before);
		if (forward->views[GP_VIEW_STRICT].is_matched ||
		    forward->views[GP_VIEW_NATURAL].is_matched)
			break;
	}
}

void gp_forward_free(struct gp_forward *forward)
{
	for (unsigned view = 0; view < GP_VIEWS; view++)
		free_ops(&forward->views[view]);
	free(forward->scratch);
}
