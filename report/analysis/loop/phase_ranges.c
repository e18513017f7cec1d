#include "report/analysis/loop/phase_ranges.h"

#include <stdlib.h>

#include "report/base/array.h"
#include "report/base/spill_memory.h"

#define NOT_ASKED UINT8_MAX

struct search {
	struct gp_phase_ranges *ranges;
	const struct gp_model *model;
	uint8_t *of_texts; /* by index: enum gp_phase_kind */
	uint32_t *open;    /* ranges with a phase, each within the one before */
	uint32_t open_count, open_capacity;
	uint64_t at_ns; /* all before is told */
};

static enum gp_phase_kind phase_of(const struct search *search, const struct gp_range *range)
{
	if (range->text == GP_NONE || range->style != GP_STYLE_PUSH_POP)
		return GP_PHASE_NONE;
	if (search->of_texts[range->text] == NOT_ASKED)
		search->of_texts[range->text] =
			(uint8_t)gp_phase_of_range(gp_model_range_text(search->model, range));
	return (enum gp_phase_kind)search->of_texts[range->text];
}

/* The time until then is of the innermost open range. */
static void tell_until(struct search *search, uint64_t end_ns)
{
	struct gp_phase_ranges *ranges = search->ranges;
	const struct gp_range *range = &search->model->ranges[search->open[search->open_count - 1]];
	struct gp_phase_range row = {search->at_ns, end_ns, (uint8_t)phase_of(search, range)};
	struct gp_phase_range *last = ranges->count > 0 ? &ranges->rows[ranges->count - 1] : NULL;

	if (row.start_ns >= row.end_ns)
		return;
	search->at_ns = end_ns;
	if (last && last->end_ns == row.start_ns && last->phase == row.phase) {
		last->end_ns = end_ns;
		return;
	}
	gp_array_grow_spill(&ranges->rows, &ranges->capacity, ranges->count, sizeof(*ranges->rows));
	if (ranges->rows)
		ranges->rows[ranges->count++] = row;
}

static void close_until(struct search *search, uint64_t time_ns)
{
	const struct gp_range *ranges = search->model->ranges;

	while (search->open_count > 0 &&
	       ranges[search->open[search->open_count - 1]].end_ns <= time_ns) {
		tell_until(search, ranges[search->open[search->open_count - 1]].end_ns);
		search->open_count--;
	}
}

static void open_range(struct search *search, uint32_t index)
{
	uint64_t start_ns = search->model->ranges[index].start_ns;

	close_until(search, start_ns);
	if (search->open_count > 0)
		tell_until(search, start_ns);
	search->at_ns = start_ns;
	gp_array_grow(&search->open, &search->open_capacity, search->open_count,
		      sizeof(*search->open));
	search->open[search->open_count++] = index;
}

void gp_phase_ranges_of(struct gp_phase_ranges *ranges, const struct gp_model *model,
			uint32_t thread_id)
{
	struct search search = {.ranges = ranges,
				.model = model,
				.of_texts = malloc((size_t)model->range_text_count + 1)};

	*ranges = (struct gp_phase_ranges){0};
	for (uint32_t i = 0; i < model->range_text_count; i++)
		search.of_texts[i] = NOT_ASKED;
	for (uint32_t i = 0; i < model->range_count; i++)
		if (model->ranges[i].thread_id == thread_id &&
		    phase_of(&search, &model->ranges[i]) != GP_PHASE_NONE)
			open_range(&search, i);
	close_until(&search, UINT64_MAX);
	free(search.of_texts);
	free(search.open);
}

void gp_phase_ranges_free(struct gp_phase_ranges *ranges)
{
	gp_spill_free(ranges->rows);
	*ranges = (struct gp_phase_ranges){0};
}

static bool ends_before(const void *element, const void *key)
{
	const struct gp_phase_range *row = element;
	const uint64_t *time_ns = key;

	return row->end_ns <= *time_ns;
}

enum gp_phase_kind gp_phase_ranges_at(const struct gp_phase_ranges *ranges, uint64_t time_ns)
{
	uint32_t at = gp_array_lower_bound(ranges->rows, ranges->count, sizeof(*ranges->rows),
					   ends_before, &time_ns);

	return at < ranges->count && ranges->rows[at].start_ns <= time_ns
		       ? (enum gp_phase_kind)ranges->rows[at].phase
		       : GP_PHASE_NONE;
}
