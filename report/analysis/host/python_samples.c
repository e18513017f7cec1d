#include "report/analysis/host/python_samples.h"

#include <stdio.h>
#include <string.h>

#include "report/base/array.h"
#include "report/base/text/format.h"
#include "report/symbols/python_code.h"
#include "report/base/spill_memory.h"
#include "report/base/text/utf8.h"

/* ---- the time of a sample ---- */

static bool is_after(const struct gp_model *model, uint32_t index)
{
	const struct gp_sample *sample = &model->samples[index];

	return index > 0 && sample[-1].thread_id == sample->thread_id &&
	       sample[-1].end_ns <= sample->start_ns;
}

uint64_t gp_python_sample_reach_ns(const struct gp_model *model)
{
	return model->function_interval_ns > 0 ? model->function_interval_ns / 2
					       : GP_PYTHON_SAMPLE_REACH_NS;
}

static uint64_t half_of(const struct gp_model *model, uint64_t between_ns)
{
	uint64_t reach_ns = gp_python_sample_reach_ns(model);

	return between_ns / 2 < reach_ns ? between_ns / 2 : reach_ns;
}

/* Half of the time between a sample and the one before. */
static uint64_t half_before(const struct gp_model *model, uint32_t index)
{
	const struct gp_sample *sample = &model->samples[index];

	return is_after(model, index) ? half_of(model, sample->start_ns - sample[-1].end_ns) : 0;
}

struct gp_sample_time gp_python_sample_time(const struct gp_model *model, uint32_t index)
{
	const struct gp_sample *sample = &model->samples[index];
	bool is_last = index + 1 == model->sample_count;

	return (struct gp_sample_time){sample->start_ns - half_before(model, index),
				       sample->end_ns +
					       (is_last ? 0 : half_before(model, index + 1))};
}

const char *gp_python_sample_name(const struct gp_model *model)
{
	return model->function_interval_ns > 0 ? "Python stack" : "Python sample";
}

bool gp_python_sample_follows(const struct gp_model *model, uint32_t index)
{
	const struct gp_sample *sample = &model->samples[index];

	return is_after(model, index) &&
	       sample->start_ns - sample[-1].end_ns < 2 * gp_python_sample_reach_ns(model) + 2;
}

uint32_t gp_python_samples_end(const struct gp_model *model, uint32_t first)
{
	uint32_t end = first;

	while (end < model->sample_count &&
	       model->samples[end].thread_id == model->samples[first].thread_id)
		end++;
	return end;
}

/* ---- spans ---- */

/* The frames of a sample, the outermost first, and the spans that they are in. */
struct path {
	uint32_t count;
	uint32_t frames[GP_FRAME_DEPTH], spans[GP_FRAME_DEPTH];
	uint32_t turns[GP_FRAME_DEPTH]; /* the last one of each span, or GP_NONE */
};

/* By depth: a sample adds one at most. */
struct counts {
	uint32_t spans[GP_FRAME_DEPTH], turns[GP_FRAME_DEPTH];
};

struct finder {
	const struct gp_model *model;
	uint32_t depth;        /* how many functions of a stack have spans */
	struct counts *counts; /* they are counted, not made; else NULL */
	struct gp_host_span *spans;
	uint32_t count, capacity;
	bool has_turns; /* they are made, too */
	struct gp_host_turn *turns;
	uint32_t turn_count, turn_capacity;
	struct path open;     /* of the sample before */
	uint64_t last_end_ns; /* of its time */
	uint32_t wanted[GP_FRAME_DEPTH];
};

/* Python's own functions, which call the module that they import. */
static bool is_of_import(const struct gp_model *model, const struct gp_frame *frame)
{
	static const char own[] = "<frozen importlib.";
	struct gp_python_code code;

	return frame->kind == GP_FRAME_PYTHON && frame->origin != GP_NONE &&
	       gp_python_code_read(model->texts[frame->origin].bytes,
				   model->texts[frame->origin].length, &code) &&
	       strncmp(code.file, own, sizeof(own) - 1) == 0;
}

/*
 * The frames of a stack that are shown, the outermost first; of one of nothing else the innermost.
 */
static uint32_t find_wanted(struct finder *finder, uint32_t stack)
{
	const struct gp_frame *frames = finder->model->frames;
	uint32_t count = 0;

	for (uint32_t at = stack; at != GP_NONE && count < GP_FRAME_DEPTH; at = frames[at].parent)
		if (!is_of_import(finder->model, &frames[at]))
			finder->wanted[count++] = at;
	if (count == 0)
		finder->wanted[count++] = stack;
	for (uint32_t i = 0; i < count / 2; i++) {
		uint32_t outer = finder->wanted[count - 1 - i];

		finder->wanted[count - 1 - i] = finder->wanted[i];
		finder->wanted[i] = outer;
	}
	return count < finder->depth ? count : finder->depth;
}

static bool is_same_function(const struct gp_model *model, uint32_t a, uint32_t b)
{
	const struct gp_frame *left = &model->frames[a], *right = &model->frames[b];

	return left->kind == right->kind && left->origin == right->origin;
}

static void open_span(struct finder *finder, uint32_t frame)
{
	struct path *open = &finder->open;
	uint32_t caller = finder->model->frames[frame].parent;

	if (finder->counts) {
		finder->counts->spans[open->count]++;
		open->frames[open->count++] = frame;
		return;
	}
	gp_array_grow_spill(&finder->spans, &finder->capacity, finder->count,
			    sizeof(*finder->spans));
	finder->spans[finder->count] = (struct gp_host_span){
		.frame = frame,
		.depth = open->count,
		.turn = GP_NONE,
		.is_imported = caller != GP_NONE &&
			       is_of_import(finder->model, &finder->model->frames[caller])};
	open->frames[open->count] = frame;
	open->turns[open->count] = GP_NONE;
	open->spans[open->count++] = finder->count++;
}

static void add_turn(struct finder *finder, uint32_t depth, uint64_t start_ns)
{
	struct path *open = &finder->open;
	uint32_t before = open->turns[depth];

	gp_array_grow_spill(&finder->turns, &finder->turn_capacity, finder->turn_count,
			    sizeof(*finder->turns));
	finder->turns[finder->turn_count] = (struct gp_host_turn){
		.start_ns = start_ns, .frame = finder->wanted[depth], .next = GP_NONE};
	if (before == GP_NONE)
		finder->spans[open->spans[depth]].turn = finder->turn_count;
	else
		finder->turns[before].next = finder->turn_count;
	open->turns[depth] = finder->turn_count++;
}

/* A sample that begins then finds functions that are still the same. */
static void go_on(struct finder *finder, uint32_t depth, uint64_t start_ns)
{
	const struct gp_frame *frames = finder->model->frames;
	uint32_t *frame = &finder->open.frames[depth], wanted = finder->wanted[depth];
	bool turns = frames[wanted].kind == GP_FRAME_PYTHON &&
		     frames[wanted].address != frames[*frame].address;

	*frame = wanted;
	if (turns && finder->counts)
		finder->counts->turns[depth]++;
	else if (turns && finder->has_turns)
		add_turn(finder, depth, start_ns);
}

static void take_sample(struct finder *finder, uint32_t index)
{
	const struct gp_sample *sample = &finder->model->samples[index];
	struct gp_sample_time time = gp_python_sample_time(finder->model, index);
	struct path *open = &finder->open;
	uint32_t count = find_wanted(finder, sample->stack), same = 0, known;

	if (time.start_ns < finder->last_end_ns) /* of a damaged trace: spans never overlap */
		time.start_ns = finder->last_end_ns;
	if (time.end_ns < time.start_ns)
		time.end_ns = time.start_ns;
	finder->last_end_ns = time.end_ns;
	if (!gp_python_sample_follows(finder->model, index))
		open->count = 0;
	while (same < open->count && same < count &&
	       is_same_function(finder->model, open->frames[same], finder->wanted[same]))
		go_on(finder, same++, time.start_ns);
	open->count = known = same;
	while (open->count < count)
		open_span(finder, finder->wanted[open->count]);
	for (uint32_t i = 0; i < open->count && !finder->counts; i++) {
		struct gp_host_span *span = &finder->spans[open->spans[i]];

		span->start_ns = i < known ? span->start_ns : time.start_ns;
		span->end_ns = time.end_ns;
		span->samples += sample->count;
	}
}

static void take_samples(struct finder *finder, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		if (finder->model->samples[i].stack != GP_NONE)
			take_sample(finder, i);
		else
			finder->open.count = 0;
}

static uint64_t most_spans(const struct gp_model *model)
{
	uint64_t most =
		GP_HOST_FIRST_SPANS + (uint64_t)model->sample_count * GP_HOST_SPANS_PER_SAMPLE;

	return most < GP_HOST_MOST_SPANS ? most : GP_HOST_MOST_SPANS;
}

/* Whether there could be too many: each sample opens its whole stack at most. */
static bool may_be_too_many(const struct gp_model *model)
{
	uint64_t limit = most_spans(model), most = 0;

	for (uint32_t i = 0; i < model->sample_count && most <= limit; i++) {
		uint32_t depth = 0;

		for (uint32_t at = model->samples[i].stack; at != GP_NONE && depth < GP_FRAME_DEPTH;
		     at = model->frames[at].parent)
			depth++;
		most += depth;
	}
	return most > limit;
}

struct gp_host_depth gp_host_spans_depth(const struct gp_model *model)
{
	struct counts counts = {0};
	struct finder finder = {.model = model, .depth = GP_FRAME_DEPTH, .counts = &counts};
	struct gp_host_depth depth = {.functions = GP_FRAME_DEPTH};
	uint64_t kept = 0;

	if (!may_be_too_many(model))
		return depth;
	take_samples(&finder, 0, model->sample_count);
	for (uint32_t i = 0; i < GP_FRAME_DEPTH; i++) {
		kept += (uint64_t)counts.spans[i] + counts.turns[i];
		if (i < depth.functions && kept > most_spans(model))
			depth.functions = i;
		if (i >= depth.functions)
			depth.left_out += counts.spans[i];
	}
	return depth;
}

void gp_host_depth_explain(const struct gp_host_depth *depth, FILE *out)
{
	if (depth->left_out > 0)
		fprintf(out,
			"gpuprof: Python's stacks are deep and change much: %s calls of functions below the outermost %u of a stack are left out\n",
			gp_format_count(depth->left_out).text, depth->functions);
}

int gp_host_spans_find(const struct gp_model *model, uint32_t first, uint32_t end,
		       struct gp_host_depth depth, struct gp_host_span **spans, uint32_t *count,
		       struct gp_host_turn **turns)
{
	struct finder finder = {
		.model = model, .depth = depth.functions, .has_turns = turns != NULL};

	take_samples(&finder, first, end);
	*spans = finder.spans;
	*count = finder.count;
	if (turns)
		*turns = finder.turns;
	return 0;
}

const char *gp_host_track_name(const struct gp_model *model, uint32_t thread_id,
			       char text[GP_HOST_TRACK_BYTES])
{
	const char *name = gp_model_thread_name(model, thread_id);

	int used = snprintf(text, GP_HOST_TRACK_BYTES, "Python%s, thread %u",
			    model->function_interval_ns > 0 ? "" : " (sampled)", thread_id);

	if (*name)
		snprintf(text + used, GP_HOST_TRACK_BYTES - (size_t)used, " (%.*s)",
			 (int)gp_utf8_cut(name, 48), name);
	return text;
}
