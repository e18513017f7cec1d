/*
 * counter_builder: hardware counters of kernels for a model of tests/report/model_builder.h.
 *
 * The window comes before build_end(), the values after it: they name operations, which it sorts.
 */
#ifndef TESTS_REPORT_COUNTER_BUILDER_H
#define TESTS_REPORT_COUNTER_BUILDER_H

#include "tests/report/model_builder.h"

struct build_counter {
	const char *metric;
	double value;
};

/* Without records, the run had no kernel records while it measured. */
static inline void build_window(struct build *b, uint64_t start_ns, uint64_t end_ns,
				bool has_records)
{
	uint32_t at = BUILD_GROW(b, hw_windows, hw_window_count);

	b->model->hw_windows[at] = (struct gp_hw_window){.start_ns = start_ns,
							 .end_ns = end_ns,
							 .first_ns = start_ns,
							 .last_ns = end_ns,
							 .id = at + 1,
							 .has_records = has_records};
}

static inline uint32_t build_counter_text(struct gp_model *m, const char *text)
{
	uint32_t capacity = m->counter_text_count; /* full: each text makes room for itself */

	for (uint32_t i = 0; i < m->counter_text_count; i++)
		if (strcmp(m->counter_texts[i], text) == 0)
			return i;
	uint32_t at = build_grow(&m->counter_texts, &capacity, &m->counter_text_count,
				 sizeof(*m->counter_texts));

	m->counter_texts[at] = build_copy_text(text);
	return at;
}

/* Up to the one without a metric: the counters of the kernel of that launch; 0: it has no record. */
static inline void build_counters(struct gp_model *m, uint32_t correlation_id,
				  const struct build_counter *counters)
{
	uint32_t op = GP_NONE;

	for (uint32_t i = 0; i < m->op_count; i++)
		if (correlation_id != 0 && m->ops[i].correlation_id == correlation_id)
			op = i;
	for (; counters->metric; counters++) {
		uint32_t capacity = m->counted_count, kernel = build_counter_text(m, "a kernel");
		uint32_t counter = build_counter_text(m, counters->metric);
		uint32_t at =
			build_grow(&m->counted, &capacity, &m->counted_count, sizeof(*m->counted));

		m->counted[at] = (struct gp_counted){.start_ns = at,
						     .kernel = kernel,
						     .counter = counter,
						     .value = counters->value,
						     .op = op,
						     .window = 0};
	}
}

#endif
