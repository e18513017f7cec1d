/*
 * What gpuprof's Python package did in the program, such as reading the trace: ranges of the name
 * GP_OWN_WORK_RANGE become overhead, and samples in them are dropped.
 */
#include <errno.h>
#include <string.h>

#include "report/base/array.h"
#include "report/base/spill_memory.h"
#include "report/model/build/build.h"

static uint32_t find_text(const struct gp_model *m)
{
	for (uint32_t i = 0; i < m->range_text_count; i++)
		if (strcmp(m->range_texts[i], GP_OWN_WORK_RANGE) == 0)
			return i;
	return GP_NONE;
}

static bool is_own(const struct gp_model *m, uint32_t range, uint32_t text)
{
	return range != GP_NONE && m->ranges[range].text == text &&
	       m->ranges[range].style == GP_STYLE_PUSH_POP && m->ranges[range].domain == 0;
}

static int add_overheads(struct gp_model_builder *b, uint32_t text)
{
	struct gp_model *m = b->model;

	for (uint32_t i = 0; i < m->range_count; i++) {
		const struct gp_range *range = &m->ranges[i];

		if (!is_own(m, i, text) || is_own(m, range->parent, text))
			continue;
		if (GP_MODEL_GROW(b, m->overheads, m->overhead_count, overheads) != 0)
			return -ENOMEM;
		m->overheads[m->overhead_count++] =
			(struct gp_overhead){.start_ns = range->start_ns,
					     .end_ns = range->end_ns,
					     .overhead_kind = GP_OVERHEAD_OWN_WORK,
					     .thread_id = range->thread_id};
		m->own_work_count++;
	}
	return 0;
}

static bool is_before(const struct gp_overhead *work, const struct gp_sample *sample)
{
	return work->thread_id != sample->thread_id ? work->thread_id < sample->thread_id
						    : work->end_ns < sample->start_ns;
}

/* The last overheads are own work, in order of thread and time, as samples are. */
static void drop_samples(struct gp_model *m)
{
	uint32_t at = m->overhead_count - m->own_work_count, kept = 0;

	for (uint32_t i = 0; i < m->sample_count; i++) {
		struct gp_sample sample = m->samples[i];

		while (at < m->overhead_count && is_before(&m->overheads[at], &sample))
			at++;
		if (at == m->overhead_count || m->overheads[at].thread_id != sample.thread_id ||
		    m->overheads[at].start_ns > sample.start_ns)
			m->samples[kept++] = sample;
	}
	m->sample_count = kept;
}

/* Move a range out of own work, to the range around it, which was moved before. */
static void move_up(struct gp_model *m, struct gp_range *range, uint32_t text)
{
	while (is_own(m, range->parent, text))
		range->parent = m->ranges[range->parent].parent;
	if (range->parent != GP_NONE && m->ranges[range->parent].level < UINT16_MAX)
		range->level = (uint16_t)(m->ranges[range->parent].level + 1);
	else if (range->parent == GP_NONE)
		range->level = 0;
}

static int drop_ranges(struct gp_model *m, uint32_t text)
{
	uint32_t *place = gp_spill_take(((size_t)m->range_count + 1) * sizeof(*place));
	uint32_t kept = 0;

	if (!place)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->range_count; i++) {
		place[i] = kept;
		kept += !is_own(m, i, text);
		move_up(m, &m->ranges[i], text);
	}
	kept = 0;
	for (uint32_t i = 0; i < m->range_count; i++) {
		if (is_own(m, i, text))
			continue;
		m->ranges[kept] = m->ranges[i];
		if (m->ranges[kept].parent != GP_NONE)
			m->ranges[kept].parent = place[m->ranges[kept].parent];
		kept++;
	}
	m->range_count = kept;
	gp_spill_free(place);
	return 0;
}

int gp_note_own_work(struct gp_model_builder *b)
{
	struct gp_model *m = b->model;
	uint32_t text = find_text(m);
	int result = text != GP_NONE ? add_overheads(b, text) : 0;

	if (result != 0 || m->own_work_count == 0)
		return result;
	drop_samples(m);
	result = drop_ranges(m, text);
	return result == 0 ? gp_order_overheads(m) : result;
}
