#include "report/analysis/loop/training_steps.h"

#include <string.h>

#include "report/base/array.h"
#include "report/base/spill_memory.h"
#include "report/base/stats.h"

#define BACKWARD_THREAD "pt_autograd" /* PyTorch's name for it */
/* Fewer may be chance. */
#define LEAST_PASSES 3u
/* So many iterations of a step are parts of it: of one each, the step was found. */
#define LEAST_PARTS 2u
/* So many of a hundred passes may have fewer: the first, or one of another kind. */
#define OTHER_PERCENT 10u

struct backward_pass {
	uint32_t first, end;  /* operations */
	uint32_t part, parts; /* the iterations that begin before it, after the one before */
};

struct search {
	const struct gp_model *model;
	const struct gp_iterations *parts;
	uint32_t first, end; /* operations of the stream */
	struct backward_pass *passes;
	uint32_t count, capacity;
	uint32_t usual_start; /* an operation */
	uint32_t thread_id;   /* the last one that was asked for */
	bool is_backward;
};

bool gp_training_is_backward_thread(const struct gp_model *model, uint32_t thread_id)
{
	return strncmp(gp_model_thread_name(model, thread_id), BACKWARD_THREAD,
		       strlen(BACKWARD_THREAD)) == 0;
}

static bool is_backward(struct search *search, uint32_t op)
{
	uint32_t call = search->model->ops[op].call;
	uint32_t thread_id;

	if (call == GP_NONE)
		return false;
	thread_id = search->model->calls[call].thread_id;
	if (thread_id != search->thread_id) {
		search->thread_id = thread_id;
		search->is_backward = gp_training_is_backward_thread(search->model, thread_id);
	}
	return search->is_backward;
}

static void add_pass(struct search *search, uint32_t op, uint32_t begun)
{
	const struct backward_pass *last =
		search->count > 0 ? &search->passes[search->count - 1] : NULL;
	uint32_t part = last ? last->part + last->parts : 0;

	gp_array_grow_spill(&search->passes, &search->capacity, search->count,
			    sizeof(*search->passes));
	search->passes[search->count++] = (struct backward_pass){op, op, part, begun - part};
}

static void find_passes(struct search *search)
{
	const struct gp_iterations *parts = search->parts;
	uint32_t begun = 0;
	bool goes_on = false;

	for (uint32_t op = parts->rows[0].place; op < search->end; op++) {
		bool backward = is_backward(search, op);

		while (begun < parts->count && parts->rows[begun].place <= op)
			begun++;
		if (backward && !goes_on)
			add_pass(search, op, begun);
		if (backward)
			search->passes[search->count - 1].end = op + 1;
		goes_on = backward;
	}
}

static bool have_parts(const struct search *search)
{
	uint32_t others = 0;

	for (uint32_t i = 0; i < search->count; i++)
		others += search->passes[i].parts < LEAST_PARTS;
	return search->count >= LEAST_PASSES && others <= 1 + search->count * OTHER_PERCENT / 100;
}

static bool is_from_host(const struct search *search, uint32_t op)
{
	return search->model->ops[op].kind == GP_OP_COPY &&
	       search->model->ops[op].copy_kind == GP_COPY_HTOD;
}

/*
 * The operation with which the first of its iterations begins, or its backward pass without any;
 * one that begins within the pass before counts from the end of that.
 */
static uint32_t place_of(const struct search *search, uint32_t pass)
{
	const struct backward_pass *row = &search->passes[pass];
	uint32_t place = row->parts > 0 ? search->parts->rows[row->part].place : row->first;
	uint32_t least = pass > 0 ? row[-1].end : search->first;

	return place > least ? place : least;
}

/* After a pass: the first copy from the host before the iterations of the next one, or these. */
static uint32_t start_after(const struct search *search, uint32_t pass)
{
	uint32_t place = place_of(search, pass + 1);

	for (uint32_t op = search->passes[pass].end; op < place; op++)
		if (is_from_host(search, op))
			return op;
	return place;
}

/* The start of a step that begins as far before its iterations as half of them do. */
static void find_usual(struct search *search)
{
	uint32_t count = search->count - 1, at = 0;
	uint64_t *lengths = gp_spill_take(count * sizeof(*lengths));
	uint64_t median;

	for (uint32_t i = 0; i < count; i++)
		lengths[i] = place_of(search, i + 1) - start_after(search, i);
	median = gp_stats_select(lengths, count, count / 2);
	while (place_of(search, at + 1) - start_after(search, at) != median)
		at++;
	search->usual_start = start_after(search, at);
	gp_spill_free(lengths);
}

static bool is_alike(const struct gp_op *a, const struct gp_op *b)
{
	return a->kind == b->kind && a->copy_kind == b->copy_kind &&
	       a->source_kind == b->source_kind && a->bytes == b->bytes;
}

/* Back from an operation: copies like the usual start's, the first of those in a row. */
static uint32_t find_start(const struct search *search, uint32_t place, uint32_t least)
{
	const struct gp_op *ops = search->model->ops, *usual = &ops[search->usual_start];
	uint32_t at = place;

	if (!is_from_host(search, search->usual_start))
		return GP_NONE;
	while (at > least && !is_alike(&ops[at - 1], usual))
		at--;
	if (at == least)
		return GP_NONE;
	while (at > least && is_alike(&ops[at - 1], usual))
		at--;
	return at;
}

/* From where on a step may begin: copies long before the first one are not its own. */
static uint32_t least_start(const struct search *search, uint32_t pass)
{
	const struct backward_pass *passes = search->passes;
	uint32_t place = place_of(search, pass), distance;

	if (pass > 0)
		return passes[pass - 1].end;
	distance = passes[1].first - passes[0].first;
	return place - search->first > distance ? place - distance : search->first;
}

static uint32_t start_of(const struct search *search, uint32_t pass)
{
	uint32_t place = place_of(search, pass);
	uint32_t start = find_start(search, place, least_start(search, pass));

	if (start != GP_NONE)
		return start;
	return pass > 0 ? start_after(search, pass - 1) : place;
}

/* As far after its backward pass as the one before. */
static uint32_t last_end(const struct search *search)
{
	uint32_t last = search->count - 1;
	uint32_t after = start_of(search, last) - search->passes[last - 1].end;
	uint32_t end = search->passes[last].end;

	return after < search->end - end ? end + after : search->end;
}

static void take_steps(struct gp_training_steps *steps, struct search *search)
{
	find_usual(search);
	steps->rows = gp_spill_take(search->count * sizeof(*steps->rows));
	steps->count = search->count;
	for (uint32_t i = 0; i < steps->count; i++)
		steps->rows[i].first = start_of(search, i);
	for (uint32_t i = 0; i < steps->count; i++)
		steps->rows[i].end =
			i + 1 < steps->count ? steps->rows[i + 1].first : last_end(search);
}

void gp_training_steps_of(struct gp_training_steps *steps, const struct gp_model *model,
			  const struct gp_iterations *parts, uint32_t first, uint32_t end)
{
	struct search search = {
		.model = model, .parts = parts, .first = first, .end = end, .thread_id = GP_NONE};

	if (parts->count > 0)
		find_passes(&search);
	*steps = (struct gp_training_steps){0};
	if (search.passes && have_parts(&search))
		take_steps(steps, &search);
	gp_spill_free(search.passes);
}

void gp_training_steps_free(struct gp_training_steps *steps)
{
	gp_spill_free(steps->rows);
	*steps = (struct gp_training_steps){0};
}
