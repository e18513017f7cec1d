#include "report/analysis/host/tuning.h"

#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/array.h"
#include "report/analysis/host/python_samples.h"
#include "report/base/spill_memory.h"

#define XLA_COMPILES "XlaCompile:"
#define XLA_MODULE   "XlaModule:"
#define XLA_PROGRAM  "program_id=" /* in the range of a module that the program asked for */

/* ---- by names of kernels ---- */

/*
 * Mangled names of the kernels that check the bytes around a kernel's results, delay it, compare
 * and fill buffers.
 */
static const char *const xla_kernels[] = {
	"RedzoneAllocatorKernelImpl",
	"stream_executor3gpu11DelayKernel",
	"stream_executor::gpu::DelayKernel",
	"xla_fp_comparison",
	"RepeatBufferKernelImpl",
};

static bool is_of_xla(const char *name)
{
	for (size_t i = 0; i < COUNT(xla_kernels); i++)
		if (strstr(name, xla_kernels[i]))
			return true;
	return false;
}

static void mark_by_names(struct gp_tuning *tuning, const struct gp_model *model)
{
	bool *chosen = calloc((size_t)model->name_count + 1, sizeof(*chosen));

	for (uint32_t i = 0; i < model->name_count; i++)
		chosen[i] = is_of_xla(model->names[i]);
	for (uint32_t i = 0; i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];

		if (op->kind == GP_OP_KERNEL && op->name < model->name_count && chosen[op->name])
			tuning->of[i] = GP_TUNER_XLA;
	}
	free(chosen);
}

/* ---- by stacks ---- */

static void mark_by_stacks(struct gp_tuning *tuning, const struct gp_model *model)
{
	gp_frame_marks_of(model, &tuning->marks);
	for (uint32_t i = 0; i < model->op_count; i++) {
		uint32_t stack = gp_model_op_stack(model, &model->ops[i]);

		if (stack == GP_NONE)
			tuning->lacks_stacks = true;
		else if (tuning->marks[stack].tuner != GP_TUNER_NONE)
			tuning->of[i] = tuning->marks[stack].tuner;
	}
}

/* ---- by samples of Python's stacks ---- */

static bool is_until_call(const void *element, const void *key)
{
	const struct gp_sample *sample = element;
	const struct gp_call *call = key;

	return sample->thread_id != call->thread_id ? sample->thread_id < call->thread_id
						    : sample->start_ns <= call->start_ns;
}

/* The tuner at a call: the same one at the samples of its thread right before and after. */
static uint8_t find_tuner(const struct gp_tuning *tuning, const struct gp_model *model,
			  const struct gp_call *call)
{
	uint32_t after = gp_array_lower_bound(model->samples, model->sample_count,
					      sizeof(*model->samples), is_until_call, call);
	const struct gp_sample *before = after > 0 ? &model->samples[after - 1] : NULL;
	uint8_t tuner;

	if (!before || before->thread_id != call->thread_id || before->stack == GP_NONE)
		return GP_TUNER_NONE;
	tuner = tuning->marks[before->stack].tuner;
	if (call->start_ns <= before->end_ns)
		return tuner;
	if (after == model->sample_count || !gp_python_sample_follows(model, after) ||
	    before[1].stack == GP_NONE || tuning->marks[before[1].stack].tuner != tuner)
		return GP_TUNER_NONE;
	return tuner;
}

/* Of operations whose call has no stack, as none were recorded. */
static void mark_by_samples(struct gp_tuning *tuning, const struct gp_model *model)
{
	for (uint32_t i = 0; model->sample_count > 0 && i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];

		if (tuning->of[i] == GP_TUNER_NONE && op->call != GP_NONE &&
		    gp_model_op_stack(model, op) == GP_NONE)
			tuning->of[i] = find_tuner(tuning, model, &model->calls[op->call]);
	}
}

/* ---- by ranges ---- */

/* Times at which XLA compiled, in order, disjoint. */
struct spans {
	struct gp_time_span *rows;
	uint32_t count, capacity;
};

static bool begins_with(const struct gp_model *model, const struct gp_range *range,
			const char *prefix)
{
	return strncmp(gp_model_range_text(model, range), prefix, strlen(prefix)) == 0;
}

GP_COMPARE_BY(compare_spans, struct gp_time_span, start_ns)

static void join_spans(struct spans *spans)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < spans->count; i++) {
		struct gp_time_span *last = count > 0 ? &spans->rows[count - 1] : NULL;

		if (!last || spans->rows[i].start_ns > last->end_ns)
			spans->rows[count++] = spans->rows[i];
		else if (spans->rows[i].end_ns > last->end_ns)
			last->end_ns = spans->rows[i].end_ns;
	}
	spans->count = count;
}

static void find_compiling(struct spans *spans, const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->range_count; i++) {
		const struct gp_range *range = &model->ranges[i];

		if (!begins_with(model, range, XLA_COMPILES))
			continue;
		gp_array_grow(&spans->rows, &spans->capacity, spans->count, sizeof(*spans->rows));
		spans->rows[spans->count++] = (struct gp_time_span){range->start_ns, range->end_ns};
	}
	gp_array_sort(spans->rows, spans->count, sizeof(*spans->rows), compare_spans, NULL);
	join_spans(spans);
}

static bool ends_before(const void *element, const void *key)
{
	const struct gp_time_span *span = element;
	const struct gp_range *range = key;

	return span->end_ns < range->end_ns;
}

static bool is_within(const struct spans *spans, const struct gp_range *range)
{
	uint32_t at = gp_array_lower_bound(spans->rows, spans->count, sizeof(*spans->rows),
					   ends_before, range);

	return at < spans->count && spans->rows[at].start_ns <= range->start_ns;
}

static bool is_before_range(const void *element, const void *key)
{
	const struct gp_call *call = element;
	const struct gp_range *range = key;

	return call->thread_id != range->thread_id ? call->thread_id < range->thread_id
						   : call->start_ns < range->start_ns;
}

/*
 * Ranges have the order of calls: inside calls before `done` are marked already. Returns the new
 * `done`.
 */
static uint32_t mark_inside(struct gp_tuning *tuning, const struct gp_model *model,
			    const struct gp_range *range, uint32_t done)
{
	uint32_t at = gp_array_lower_bound(model->calls, model->call_count, sizeof(*model->calls),
					   is_before_range, range);

	for (at = at > done ? at : done;
	     at < model->call_count && model->calls[at].thread_id == range->thread_id &&
	     model->calls[at].start_ns <= range->end_ns;
	     at++)
		for (uint32_t op = model->calls[at].first_op; op != GP_NONE;
		     op = model->ops[op].next_op)
			tuning->of[op] = GP_TUNER_XLA;
	return at;
}

static void mark_by_ranges(struct gp_tuning *tuning, const struct gp_model *model)
{
	struct spans spans = {0};
	uint32_t done = 0;

	find_compiling(&spans, model);
	for (uint32_t i = 0; spans.count > 0 && i < model->range_count; i++) {
		const struct gp_range *range = &model->ranges[i];

		if (begins_with(model, range, XLA_MODULE) && range->op_count > 0 &&
		    !strstr(gp_model_range_text(model, range), XLA_PROGRAM) &&
		    is_within(&spans, range))
			done = mark_inside(tuning, model, range, done);
	}
	tuning->compiling = spans.rows;
	tuning->compiling_count = spans.count;
}

/* ---- all together ---- */

static void sum_up(struct gp_tuning *tuning, const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];

		tuning->ops[tuning->of[i]]++;
		tuning->ns[tuning->of[i]] += gp_op_gpu_ns(op);
	}
}

int gp_tuning_of(struct gp_tuning *tuning, const struct gp_model *model)
{
	*tuning = (struct gp_tuning){
		.of = gp_spill_take_zeroed((size_t)model->op_count + 1, sizeof(*tuning->of))};
	mark_by_names(tuning, model);
	mark_by_ranges(tuning, model);
	mark_by_stacks(tuning, model);
	mark_by_samples(tuning, model);
	sum_up(tuning, model);
	return 0;
}

/* ---- operations that are no tuning ---- */

static bool is_own(const struct gp_tuning *tuning, const struct gp_call *call)
{
	return call->first_op != GP_NONE && tuning->of[call->first_op] == GP_TUNER_NONE;
}

bool gp_tuning_range_has_own(const struct gp_model *model, const struct gp_tuning *tuning,
			     const struct gp_range *range, uint32_t *own)
{
	while (*own < model->call_count && (is_before_range(&model->calls[*own], range) ||
					    !is_own(tuning, &model->calls[*own])))
		++*own;
	return *own < model->call_count && model->calls[*own].thread_id == range->thread_id &&
	       model->calls[*own].start_ns <= range->end_ns;
}

void gp_tuning_free(struct gp_tuning *tuning)
{
	gp_spill_free(tuning->of);
	free(tuning->marks);
	free(tuning->compiling);
	*tuning = (struct gp_tuning){0};
}
