/*
 * Hardware counters of kernels (--counters): joins the values with the kernels, and marks the
 * kernels that ran in a window.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/array.h"
#include "report/base/spill_memory.h"
#include "report/model/build/build.h"

/*
 * For its kernel records CUPTI adds code to each kernel, which counts: on GH100, with CUPTI 13.0,
 * exactly these (tests/gpu/counters compares with ncu).
 */
static const struct {
	const char *metric;
	double per_kernel, per_warp;
} added[] = {
	{"smsp__inst_executed.sum", 40, 8},
	{"l1tex__t_bytes.sum", 32, 0},
};

GP_COMPARE_BY(compare_windows, struct gp_hw_window, start_ns)

/* ---- windows ---- */

static int add_overhead(struct gp_model_builder *b, const struct gp_hw_window *window)
{
	struct gp_model *m = b->model;

	if (GP_MODEL_GROW(b, m->overheads, m->overhead_count, overheads) != 0)
		return -ENOMEM;
	m->overheads[m->overhead_count++] = (struct gp_overhead){
		.start_ns = window->start_ns,
		.end_ns = window->end_ns,
		.overhead_kind = GP_OVERHEAD_HW_WINDOW,
		.thread_id = window->thread_id,
	};
	return 0;
}

int gp_note_hw_windows(struct gp_model_builder *b)
{
	struct gp_model *m = b->model;
	int result = gp_array_sort(m->hw_windows, m->hw_window_count, sizeof(*m->hw_windows),
				   compare_windows, NULL);

	for (uint32_t i = 0; result == 0 && i < m->hw_window_count; i++)
		result = add_overhead(b, &m->hw_windows[i]);
	return result;
}

static bool ends_before(const void *element, const void *key)
{
	const struct gp_hw_window *window = element;
	const struct gp_op *op = key;

	return window->last_ns <= op->start_ns;
}

static void mark_kernels(struct gp_model *m)
{
	for (uint32_t i = 0; m->hw_window_count > 0 && i < m->op_count; i++) {
		struct gp_op *op = &m->ops[i];
		uint32_t at;

		if (op->kind != GP_OP_KERNEL)
			continue;
		at = gp_array_lower_bound(m->hw_windows, m->hw_window_count, sizeof(*m->hw_windows),
					  ends_before, op);
		op->flags = at < m->hw_window_count && m->hw_windows[at].first_ns < op->end_ns &&
			    m->hw_windows[at].device_id == op->device_id;
	}
}

/* ---- values ---- */

/* Names by number, in counter_texts: GP_NONE = not there yet. */
struct names {
	uint32_t *metrics; /* by index in texts */
	uint32_t *kernels; /* by index in names */
};

GP_COMPARE_BY_TWO(compare_values, struct gp_hw_value, correlation_id, metric_id)

static bool is_lower(const void *element, const void *key)
{
	return ((const struct gp_hw_value *)element)->correlation_id < *(const uint32_t *)key;
}

/* The kernel of each launch; of a graph's nodes, none was measured. */
static void find_kernels(struct gp_model_builder *b)
{
	const struct gp_model *m = b->model;

	for (uint32_t i = 0; i < m->op_count; i++) {
		const struct gp_op *op = &m->ops[i];
		uint32_t at;

		if (op->kind != GP_OP_KERNEL || op->graph_id != 0)
			continue;
		at = gp_array_lower_bound(b->hw_values, b->hw_value_count, sizeof(*b->hw_values),
					  is_lower, &op->correlation_id);
		while (at < b->hw_value_count &&
		       b->hw_values[at].correlation_id == op->correlation_id)
			b->hw_values[at++].op = i;
	}
}

static uint32_t *numbers(uint32_t count)
{
	uint32_t *made = malloc(((size_t)count + 1) * sizeof(*made));

	for (uint32_t i = 0; made && i < count; i++)
		made[i] = GP_NONE;
	return made;
}

/* The number of a text in counter_texts. */
static int number_text(struct gp_model_builder *b, const char *text, uint32_t *number)
{
	struct gp_model *m = b->model;

	if (*number != GP_NONE)
		return 0;
	if (GP_MODEL_GROW(b, m->counter_texts, m->counter_text_count, counter_texts) != 0)
		return -ENOMEM;
	m->counter_texts[m->counter_text_count] = strdup(text);
	if (!m->counter_texts[m->counter_text_count])
		return -ENOMEM;
	*number = m->counter_text_count++;
	return 0;
}

static uint32_t find_window(const struct gp_model *m, uint32_t id)
{
	for (uint32_t i = id <= m->hw_window_count && id > 0 ? id - 1 : 0; i < m->hw_window_count;
	     i++)
		if (m->hw_windows[i].id == id)
			return i;
	return GP_NONE;
}

static uint64_t warps_of(const struct gp_model *m, const struct gp_op *op)
{
	const struct gp_record_shape *shape =
		op->shape < m->shape_count ? &m->shapes[op->shape] : NULL;

	return !shape ? 0
		      : (uint64_t)shape->grid[0] * shape->grid[1] * shape->grid[2] *
				(((uint64_t)shape->block[0] * shape->block[1] * shape->block[2] +
				  31) /
				 32);
}

/* The program's own part of a value. */
static double without_added(const struct gp_model *m, const struct gp_counted *counted,
			    const char *metric)
{
	if (counted->window == GP_NONE || !m->hw_windows[counted->window].has_records)
		return counted->value;
	for (size_t i = 0; i < COUNT(added); i++) {
		double own = counted->value - added[i].per_kernel -
			     added[i].per_warp * (double)warps_of(m, &m->ops[counted->op]);

		if (strcmp(metric, added[i].metric) == 0)
			return own >= 0 ? own : counted->value;
	}
	return counted->value;
}

static int add_counted(struct gp_model_builder *b, const struct gp_hw_value *value,
		       struct names *names)
{
	struct gp_model *m = b->model;
	const struct gp_op *op = &m->ops[value->op];
	const struct gp_text *metric = gp_model_text(m, GP_STRING_METRIC, 0, value->metric_id);
	struct gp_counted counted = {.start_ns = op->start_ns,
				     .op = value->op,
				     .window = find_window(m, value->window_id)};

	if (!metric || op->name >= m->name_count) {
		m->losses.unknown_records++;
		return 0;
	}
	if (number_text(b, metric->bytes, &names->metrics[metric - m->texts]) != 0 ||
	    number_text(b, m->names[op->name], &names->kernels[op->name]) != 0 ||
	    GP_MODEL_GROW(b, m->counted, m->counted_count, counted) != 0)
		return -ENOMEM;
	counted.counter = names->metrics[metric - m->texts];
	counted.kernel = names->kernels[op->name];
	memcpy(&counted.value, &value->bits, sizeof(counted.value));
	counted.value = without_added(m, &counted, metric->bytes);
	m->counted[m->counted_count++] = counted;
	return 0;
}

static int add_values(struct gp_model_builder *b)
{
	const struct gp_model *m = b->model;
	struct names names = {numbers(m->text_count), numbers(m->name_count)};
	int result = names.metrics && names.kernels ? 0 : -ENOMEM;

	for (uint32_t i = 0; result == 0 && i < b->hw_value_count; i++)
		if (b->hw_values[i].op != GP_NONE)
			result = add_counted(b, &b->hw_values[i], &names);
	free(names.metrics);
	free(names.kernels);
	return result;
}

int gp_join_hw_values(struct gp_model_builder *b)
{
	int result;

	mark_kernels(b->model);
	if (b->hw_value_count == 0)
		return 0;
	result = gp_array_sort(b->hw_values, b->hw_value_count, sizeof(*b->hw_values),
			       compare_values, NULL);
	if (result != 0)
		return result;
	find_kernels(b);
	result = add_values(b);
	gp_spill_free(b->hw_values);
	b->hw_values = NULL;
	b->hw_value_count = 0;
	return result;
}
