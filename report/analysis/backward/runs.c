#include "report/analysis/backward/runs.h"

#include <stdlib.h>

#include "report/base/array.h"
#include "report/base/spill_memory.h"

/* Neighbors that are compared on each side, and so many on both must be equal. */
#define NEIGHBORS       64u
#define LEAST_NEIGHBORS 6u

/* Positions with the same kernel that are compared. */
#define MOST_CANDIDATES 256u

/* The stack that most launches at a position have: a candidate, and how far it leads. */
struct vote {
	uint32_t stack, lead;
};

static void cast(struct vote *vote, uint32_t stack)
{
	if (vote->lead == 0)
		vote->stack = stack;
	vote->lead += vote->stack == stack ? 1 : -1u;
}

void gp_launch_runs_free(struct gp_launch_runs *runs)
{
	gp_spill_free(runs->launches);
	free(runs->runs);
	*runs = (struct gp_launch_runs){0};
}

const struct gp_autograd_stack *gp_launch_stack(struct gp_autograd_stacks *stacks,
						const struct gp_launch *launch)
{
	static const struct gp_autograd_stack none = {
		.kind = GP_NONE, .line = GP_NONE, .call = GP_NONE};

	return launch->stack != GP_NONE ? gp_autograd_stack_of(stacks, launch->stack) : &none;
}

/* ---- launches ---- */

static uint64_t mix(uint64_t hash, uint64_t word)
{
	unsigned __int128 product = (unsigned __int128)(hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint32_t kernel_of(const struct gp_model *model, const struct gp_call *call)
{
	const struct gp_op *op = call->first_op != GP_NONE ? &model->ops[call->first_op] : NULL;

	if (!op)
		return (uint32_t)mix(call->api, 1);
	if (op->kind == GP_OP_KERNEL)
		return (uint32_t)mix(mix(op->name, 2), op->shape);
	return (uint32_t)mix(mix(op->kind, 3), op->bytes);
}

/* Launches into a graph are captured once, in the order in which a step makes them. */
static bool is_launch(const struct gp_call *call)
{
	return call->first_op != GP_NONE || call->captured;
}

static void add_launches(struct gp_launch_runs *runs, const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->call_count; i++) {
		const struct gp_call *call = &model->calls[i];

		if (!is_launch(call))
			continue;
		gp_array_grow_spill(&runs->launches, &runs->launch_capacity, runs->launch_count,
				    sizeof(*runs->launches));
		runs->launches[runs->launch_count++] = (struct gp_launch){
			.start_ns = call->start_ns,
			.call = i,
			.stack = call->stack,
			.kernel = kernel_of(model, call),
			.is_known = call->stack != GP_NONE && !call->is_estimated};
	}
}

static int compare_launches(const void *a, const void *b, const void *context)
{
	(void)context;
	const struct gp_launch *left = a, *right = b;

	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	return left->call < right->call ? -1 : 1;
}

/* A launch without a stack is of the pass of its thread's others. */
static void find_passes(struct gp_launch_runs *runs, struct gp_autograd_stacks *stacks)
{
	const struct gp_call *calls = stacks->model->calls;
	uint32_t engine = GP_NONE; /* the engine's thread, as last seen */

	for (uint32_t i = 0; i < runs->launch_count; i++) {
		struct gp_launch *launch = &runs->launches[i];
		uint32_t thread_id = calls[launch->call].thread_id;

		if (launch->stack != GP_NONE)
			launch->is_backward = gp_autograd_is_backward(
				gp_autograd_stack_of(stacks, launch->stack)->role);
		else
			launch->is_backward = thread_id == engine;
		if (launch->is_backward)
			engine = thread_id;
	}
}

/* ---- runs ---- */

static void add_run(struct gp_launch_runs *runs, uint32_t first, uint32_t backward, uint32_t end)
{
	struct gp_launch_run run = {.first = first, .backward = backward, .end = end};

	gp_array_grow(&runs->runs, &runs->run_capacity, runs->run_count, sizeof(*runs->runs));
	for (uint32_t i = first; i < end; i++)
		run.hash = mix(run.hash + (i == backward), runs->launches[i].kernel);
	run.like = runs->run_count;
	runs->runs[runs->run_count++] = run;
}

static void divide(struct gp_launch_runs *runs)
{
	uint32_t first = 0;

	while (first < runs->launch_count) {
		uint32_t backward = first, end;

		while (backward < runs->launch_count && !runs->launches[backward].is_backward)
			backward++;
		end = backward;
		while (end < runs->launch_count && runs->launches[end].is_backward)
			end++;
		if (end > backward)
			add_run(runs, first, backward, end);
		first = end;
	}
}

static int compare_runs(const void *a, const void *b)
{
	const struct gp_launch_run *left = a, *right = b;

	if (left->hash != right->hash)
		return left->hash < right->hash ? -1 : 1;
	return left->first < right->first ? -1 : 1;
}

static bool is_like(const struct gp_launch_run *a, const struct gp_launch_run *b)
{
	return a->hash == b->hash && a->end - a->first == b->end - b->first &&
	       a->backward - a->first == b->backward - b->first;
}

/* ---- the stacks of a group of equal runs ---- */

struct group {
	struct gp_launch *launches;
	const struct gp_launch_run *const *runs; /* the first one is the group's */
	uint32_t run_count, length;
	struct vote *recorded, *estimated; /* by position */
};

static void count_votes(struct group *group)
{
	for (uint32_t i = 0; i < group->run_count; i++) {
		const struct gp_launch *launches = &group->launches[group->runs[i]->first];

		for (uint32_t k = 0; k < group->length; k++)
			if (launches[k].stack != GP_NONE)
				cast(launches[k].is_known ? &group->recorded[k]
							  : &group->estimated[k],
				     launches[k].stack);
	}
}

static bool is_recorded(const struct vote *vote)
{
	return vote->stack != GP_NONE;
}

/* How many neighbors of two positions are of the same kernels. */
static uint32_t equal_neighbors(const struct group *group, uint32_t a, uint32_t b)
{
	const struct gp_launch *launches = &group->launches[group->runs[0]->first];
	uint32_t before = 0, after = 0;

	while (before < NEIGHBORS && before < a && before < b &&
	       launches[a - before - 1].kernel == launches[b - before - 1].kernel)
		before++;
	while (after < NEIGHBORS && a + after + 1 < group->length &&
	       b + after + 1 < group->length &&
	       launches[a + after + 1].kernel == launches[b + after + 1].kernel)
		after++;
	return before + after;
}

/* The recorded stack of the position that is most like another one, or GP_NONE. */
static uint32_t similar_stack(const struct group *group, uint32_t position)
{
	const struct gp_launch *launches = &group->launches[group->runs[0]->first];
	uint32_t best = LEAST_NEIGHBORS - 1, stack = GP_NONE, candidates = 0;

	for (uint32_t i = 0; i < group->length && candidates < MOST_CANDIDATES; i++) {
		uint32_t equal;

		if (launches[i].kernel != launches[position].kernel ||
		    launches[i].is_backward != launches[position].is_backward ||
		    !is_recorded(&group->recorded[i]))
			continue;
		candidates++;
		equal = equal_neighbors(group, i, position);
		if (equal > best) {
			best = equal;
			stack = group->recorded[i].stack;
		}
	}
	return stack;
}

static uint32_t stack_at(const struct group *group, uint32_t position)
{
	uint32_t stack = group->recorded[position].stack;

	if (stack == GP_NONE)
		stack = similar_stack(group, position);
	return stack != GP_NONE ? stack : group->estimated[position].stack;
}

static void put_stacks(struct group *group)
{
	for (uint32_t k = 0; k < group->length; k++) {
		uint32_t stack = stack_at(group, k);

		for (uint32_t i = 0; i < group->run_count; i++) {
			struct gp_launch *launch = &group->launches[group->runs[i]->first + k];

			launch->stack = stack;
			launch->is_known = is_recorded(&group->recorded[k]);
		}
	}
}

static void settle_group(struct gp_launch_runs *runs, struct gp_launch_run *const *members,
			 uint32_t count)
{
	struct group group = {.launches = runs->launches,
			      .runs = (const struct gp_launch_run *const *)members,
			      .run_count = count,
			      .length = members[0]->end - members[0]->first};
	struct vote *votes = gp_spill_take((size_t)group.length * 2 * sizeof(*votes));

	for (uint32_t i = 0; i < 2 * group.length; i++)
		votes[i] = (struct vote){GP_NONE, 0};
	group.recorded = votes;
	group.estimated = votes + group.length;
	count_votes(&group);
	put_stacks(&group);
	gp_spill_free(votes);
}

static int compare_pointers(const void *a, const void *b)
{
	return compare_runs(*(const struct gp_launch_run *const *)a,
			    *(const struct gp_launch_run *const *)b);
}

static void settle(struct gp_launch_runs *runs)
{
	struct gp_launch_run **order = calloc((size_t)runs->run_count + 1, sizeof(*order));

	for (uint32_t i = 0; i < runs->run_count; i++)
		order[i] = &runs->runs[i];
	qsort(order, runs->run_count, sizeof(*order), compare_pointers);
	for (uint32_t i = 0, end; i < runs->run_count; i = end) {
		for (end = i; end < runs->run_count && is_like(order[i], order[end]);)
			end++;
		for (uint32_t k = i; k < end; k++)
			order[k]->like = (uint32_t)(order[end - 1] - runs->runs);
		settle_group(runs, order + i, end - i);
	}
	free(order);
}

void gp_launch_runs_of(struct gp_launch_runs *runs, struct gp_autograd_stacks *stacks)
{
	*runs = (struct gp_launch_runs){0};
	add_launches(runs, stacks->model);
	gp_array_sort(runs->launches, runs->launch_count, sizeof(*runs->launches), compare_launches,
		      NULL);
	find_passes(runs, stacks);
	divide(runs);
	settle(runs);
	gp_autograd_stacks_finish(stacks);
}
