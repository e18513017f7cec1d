/*
 * A launch that --stacks=sample left without a stack gets that of a launch with one in the most
 * specific context that both share (enum level): of the last two different ones before it and the
 * next one behind it that which has most callers in common with the last stack of its thread (an
 * evaluation launches the kernels of a training step, but from elsewhere), else the nearest.
 */
#include <errno.h>
#include <stdlib.h>

#include "report/base/array.h"
#include "report/base/hash_map.h"
#include "report/base/spill_memory.h"
#include "report/model/build/build.h"
#include "report/model/recorded.h"

/*
 * What two launches have in common: the name of the kernel; its shape, too; names or shapes of the
 * launches before it in its thread.  All but the first level are of one thread.
 */
enum level {
	SAME_NAME,
	SAME_SHAPE,
	SAME_NAME_AFTER_TWO_NAMES, /* for shapes that change */
	SAME_SHAPE_AFTER_ONE_NAME,
	SAME_SHAPE_AFTER_TWO_NAMES,
	SAME_SHAPE_AFTER_FOUR_SHAPES,
	SAME_SHAPE_AFTER_MANY_SHAPES, /* for layers of the same kernels */
	LEVELS
};

/* How many that are. */
#define MANY 128u

/* Contexts that are told apart; later ones fall back to those of lower levels.  6 MiB. */
#define MOST_CONTEXTS (1u << 18)

struct context {
	uint64_t key;
	uint32_t call; /* the last launch so far with a stack of its own, at first the first one */
	uint32_t second;  /* of all such launches, or GP_NONE */
	uint32_t other;   /* the last one before call with another stack, or GP_NONE */
	uint32_t waiting; /* the last launch estimated from call: a list, or GP_NONE */
};

struct estimator {
	struct gp_model *model;
	struct gp_hash_map map; /* of contexts by their keys */
	struct context *contexts;
	uint32_t count, capacity;
	uint32_t *next;   /* by call: the next one in the list of its context ... */
	uint32_t *recent; /* ... and the stack before it in its thread, or GP_NONE */
	uint64_t seed;
	uint64_t oldest_factor; /* of the oldest shape in launch.many */
};

/* A launch in the order of its thread. */
struct launch {
	uint32_t thread_id;
	uint32_t recent;     /* the last stack of its own, or GP_NONE */
	uint32_t estimated;  /* launches since the last one that was checked */
	uint32_t names;      /* before it: 16 bits of the hash of each, the last one lowest */
	uint32_t shapes;     /* likewise with shapes, 8 bits */
	uint64_t last[MANY]; /* shapes, the oldest at next ... */
	uint32_t next;
	uint64_t many; /* ... and the sum of their products with powers of FACTOR */
	uint64_t keys[LEVELS];
};

static uint64_t mix(uint64_t hash, uint64_t word)
{
	unsigned __int128 product = (unsigned __int128)(hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* What it launched: kernel; graph; kind of a copy or memset; where that is not known, the API. */
static uint64_t name_of(const struct gp_model *m, const struct gp_call *call)
{
	const struct gp_op *op = call->first_op != GP_NONE ? &m->ops[call->first_op] : NULL;

	if (!op)
		return call->api;
	if (op->graph_id != 0)
		return mix(op->graph_id, 1);
	if (op->kind == GP_OP_KERNEL)
		return mix(op->name, 2);
	return mix(op->kind | op->copy_kind << 2 | op->source_kind << 6 |
			   op->destination_kind << 10,
		   3);
}

static uint64_t shape_of(const struct gp_model *m, const struct gp_call *call)
{
	const struct gp_op *op = call->first_op != GP_NONE ? &m->ops[call->first_op] : NULL;

	if (!op || op->graph_id != 0)
		return 0;
	return op->kind == GP_OP_KERNEL ? op->shape : op->bytes;
}

/*
 * Whether --stacks=sample may leave it without a stack; all such calls are launches here.  Failed
 * calls have a stack in any case, captured ones wherever the recorder could take it.
 */
static bool is_launch(const struct gp_model *m, const struct gp_call *call)
{
	uint8_t class = gp_model_api_class(m, call->api);

	return (class == GP_API_LAUNCH || class == GP_API_GRAPH_LAUNCH || class == GP_API_COPY ||
		class == GP_API_MEMSET || class == GP_API_HOST || class == GP_API_SYNC) &&
	       call->status == 0 && !call->captured;
}

/* Odd, so that no shape is lost by it. */
#define FACTOR UINT64_C(0x9e3779b97f4a7c15)

static uint64_t oldest_factor(void)
{
	uint64_t factor = 1;

	for (uint32_t i = 0; i < MANY; i++)
		factor *= FACTOR;
	return factor;
}

/* One more launch is before the next one, and the oldest is not any more. */
static void push(const struct estimator *e, struct launch *launch, uint64_t shape)
{
	launch->many =
		launch->many * FACTOR + shape - launch->last[launch->next] * e->oldest_factor;
	launch->last[launch->next] = shape;
	launch->next = (launch->next + 1) % MANY;
}

static void go_on(const struct estimator *e, struct launch *launch, const struct gp_call *call)
{
	uint64_t name, shape;

	if (launch->thread_id != call->thread_id)
		*launch = (struct launch){.thread_id = call->thread_id, .recent = GP_NONE};
	name = mix(0, name_of(e->model, call));
	shape = mix(mix(name, call->thread_id), shape_of(e->model, call));
	launch->keys[SAME_NAME] = name;
	launch->keys[SAME_SHAPE] = shape;
	launch->keys[SAME_NAME_AFTER_TWO_NAMES] =
		mix(mix(name, call->thread_id + (UINT64_C(1) << 32)), launch->names);
	launch->keys[SAME_SHAPE_AFTER_ONE_NAME] = mix(shape + 1, launch->names & 0xffff);
	launch->keys[SAME_SHAPE_AFTER_TWO_NAMES] = mix(shape + 2, launch->names);
	launch->keys[SAME_SHAPE_AFTER_FOUR_SHAPES] = mix(shape + 3, launch->shapes);
	launch->keys[SAME_SHAPE_AFTER_MANY_SHAPES] = mix(shape + 4, launch->many);
	push(e, launch, shape);
	launch->names = launch->names << 16 | (name & 0xffff);
	launch->shapes = launch->shapes << 8 | (shape & 0xff);
}

static bool has_key(const void *contexts, uint32_t number, const void *key)
{
	return ((const struct context *)contexts)[number].key == *(const uint64_t *)key;
}

/* Keys are the same each time, and so are the estimates; slots are not. */
static uint32_t slot_of(const struct estimator *e, uint64_t key)
{
	return (uint32_t)mix(e->seed, key);
}

static struct context *find(const struct estimator *e, uint64_t key)
{
	uint32_t number = gp_hash_find(&e->map, slot_of(e, key), has_key, e->contexts, &key);

	return number != GP_HASH_NONE ? &e->contexts[number] : NULL;
}

/* The first two launches with a stack in each context. */
static int add_contexts(struct estimator *e, const struct launch *launch, uint32_t call)
{
	for (int level = 0; level < LEVELS; level++) {
		struct context *context = find(e, launch->keys[level]);

		if (context && context->second == GP_NONE)
			context->second = call;
		if (context || e->count >= MOST_CONTEXTS)
			continue;
		if (gp_array_grow(&e->contexts, &e->capacity, e->count, sizeof(*e->contexts)) !=
			    0 ||
		    gp_hash_add(&e->map, slot_of(e, launch->keys[level]), e->count) != 0)
			return -ENOMEM;
		e->contexts[e->count++] =
			(struct context){launch->keys[level], call, GP_NONE, GP_NONE, GP_NONE};
	}
	return 0;
}

/* The most specific context in which another launch than the call itself has a stack; or NULL. */
static struct context *find_similar(const struct estimator *e, const struct launch *launch,
				    uint32_t self, uint32_t *similar)
{
	for (int level = LEVELS; level-- > 0;) {
		struct context *context = find(e, launch->keys[level]);

		*similar = context ? context->call : GP_NONE;
		if (context && *similar == self)
			*similar = context->second;
		if (*similar != GP_NONE)
			return context;
	}
	return NULL;
}

/* The innermost caller that two stacks share, plus one; 0: there is none. */
static uint32_t shared_of(const struct gp_model *m, uint32_t a, uint32_t b)
{
	while (a != b && a != GP_NONE && b != GP_NONE) {
		/* callers come first */
		if (a > b)
			a = m->frames[a].parent;
		else
			b = m->frames[b].parent;
	}
	return a == b && a != GP_NONE ? a + 1 : 0;
}

/* Whether a launch with a stack stands for another one better than the present choice. */
static bool is_better(const struct estimator *e, uint32_t recent, uint32_t stack, uint32_t present)
{
	return stack != present &&
	       shared_of(e->model, recent, stack) > shared_of(e->model, recent, present);
}

/* The stack for a launch, of what was before it. */
static uint32_t choose(const struct estimator *e, const struct launch *launch,
		       const struct context *context, uint32_t similar)
{
	const struct gp_call *calls = e->model->calls;
	uint32_t stack = calls[similar].stack;

	return context->other != GP_NONE &&
			       is_better(e, launch->recent, calls[context->other].stack, stack)
		       ? calls[context->other].stack
		       : stack;
}

static uint64_t gpu_ns_of(const struct gp_model *m, const struct gp_call *call)
{
	uint64_t ns = 0;

	for (uint32_t op = call->first_op; op != GP_NONE; op = m->ops[op].next_op)
		ns += gp_op_gpu_ns(&m->ops[op]);
	return ns;
}

/*
 * Estimates a launch whose stack is known, from those before it alone, which makes the error larger
 * than it is.  It stands for those before it that had to be estimated: where a thread launches
 * seldom, most have a stack of their own.
 */
static void check(const struct estimator *e, struct launch *launch, uint32_t index, uint64_t ns)
{
	struct gp_stack_estimate *sums = &e->model->stack_estimate;
	const struct context *of_shape = find(e, launch->keys[SAME_SHAPE]);
	const struct gp_call *calls = e->model->calls;
	const struct context *context;
	uint32_t similar;

	if (!of_shape || of_shape->call == index) /* taken because it is the first of its kind */
		return;
	sums->checked_calls += launch->estimated;
	sums->checked_ns += ns * launch->estimated;
	context = find_similar(e, launch, index, &similar);
	if (!context || choose(e, launch, context, similar) != calls[index].stack) {
		sums->wrong_calls += launch->estimated;
		sums->wrong_ns += ns * launch->estimated;
	}
	launch->estimated = 0;
}

/* A sample comes: for the launches before it that is a choice, too. */
static void settle(const struct estimator *e, struct context *context, uint32_t index)
{
	struct gp_call *calls = e->model->calls;
	uint32_t before = context->call, stack = calls[index].stack;

	for (uint32_t at = context->waiting; at != GP_NONE; at = e->next[at]) {
		bool is_nearer = index - at < at - before;

		if (is_better(e, e->recent[at], stack, calls[at].stack) ||
		    (is_nearer && !is_better(e, e->recent[at], calls[at].stack, stack)))
			calls[at].stack = stack;
	}
	if (before < index && calls[before].stack != stack)
		context->other = before;
	context->waiting = GP_NONE;
	context->call = index;
}

static void take_sample(struct estimator *e, struct launch *launch, uint32_t index)
{
	struct gp_stack_estimate *sums = &e->model->stack_estimate;
	uint64_t ns = gpu_ns_of(e->model, &e->model->calls[index]);

	sums->sampled_calls++;
	sums->sampled_ns += ns;
	check(e, launch, index, ns);
	for (int level = 0; level < LEVELS; level++) {
		struct context *context = find(e, launch->keys[level]);

		if (context)
			settle(e, context, index);
	}
	launch->recent = e->model->calls[index].stack;
}

static void take_estimate(struct estimator *e, struct launch *launch, uint32_t index)
{
	struct gp_stack_estimate *sums = &e->model->stack_estimate;
	struct gp_call *call = &e->model->calls[index];
	uint32_t similar;
	struct context *context = find_similar(e, launch, GP_NONE, &similar);

	launch->estimated++;
	if (!context) {
		sums->unknown_calls++;
		return;
	}
	call->stack = choose(e, launch, context, similar);
	call->is_estimated = true;
	sums->estimated_calls++;
	sums->estimated_ns += gpu_ns_of(e->model, call);
	if (similar > index)
		return;
	e->next[index] = context->waiting;
	e->recent[index] = launch->recent;
	context->waiting = index;
}

static int find_contexts(struct estimator *e)
{
	struct launch launch = {0};
	int result = 0;

	for (uint32_t i = 0; i < e->model->call_count && result == 0; i++) {
		const struct gp_call *call = &e->model->calls[i];

		if (!is_launch(e->model, call))
			continue;
		go_on(e, &launch, call);
		if (call->stack != GP_NONE)
			result = add_contexts(e, &launch, i);
	}
	return result;
}

static void take_all(struct estimator *e)
{
	struct launch launch = {0};

	for (uint32_t i = 0; i < e->model->call_count; i++) {
		const struct gp_call *call = &e->model->calls[i];

		if (!is_launch(e->model, call))
			continue;
		go_on(e, &launch, call);
		if (call->stack != GP_NONE)
			take_sample(e, &launch, i);
		else
			take_estimate(e, &launch, i);
	}
}

static bool has_sample(const struct gp_model *m)
{
	for (uint32_t i = 0; i < m->call_count; i++)
		if (m->calls[i].stack != GP_NONE && is_launch(m, &m->calls[i]))
			return true;
	return false;
}

int gp_estimate_stacks(struct gp_model *model)
{
	struct estimator e = {
		.model = model, .seed = gp_hash_text("stacks"), .oldest_factor = oldest_factor()};
	int result;

	if (!gp_recorded_samples_launches(model) || !has_sample(model))
		return 0;
	result = find_contexts(&e);
	e.next = gp_spill_take(((size_t)model->call_count + 1) * sizeof(*e.next));
	e.recent = gp_spill_take(((size_t)model->call_count + 1) * sizeof(*e.recent));
	if (!e.next || !e.recent)
		result = -ENOMEM;
	if (result == 0)
		take_all(&e);
	gp_spill_free(e.next);
	gp_spill_free(e.recent);
	gp_hash_free(&e.map);
	free(e.contexts);
	return result;
}
