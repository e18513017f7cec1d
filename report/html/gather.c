#include "report/html/gather.h"

#include <errno.h>
#include <stdlib.h>

#include "report/base/array.h"
#include "report/model/model.h"
#include "report/base/spill_memory.h"

int gp_html_gather_add(struct gp_html_gather *gather, const struct gp_html_event *event)
{
	gp_array_grow_spill(&gather->events, &gather->capacity, gather->count,
			    sizeof(*gather->events));
	gather->events[gather->count++] = *event;
	return 0;
}

/* Turn an event into a merged one of itself; returns 1, or 0 if it is one already. */
static uint64_t stand_for(struct gp_html_event *event, uint32_t label)
{
	if (event->label == label)
		return 0;
	event->aux = event->end_ns - event->start_ns;
	event->label = label;
	event->stack = 1;
	event->call = GP_NONE;
	return 1;
}

static uint64_t merge(struct gp_html_event *into, struct gp_html_event event, uint32_t label)
{
	uint64_t grouped = stand_for(into, label) + stand_for(&event, label);

	if (event.end_ns > into->end_ns)
		into->end_ns = event.end_ns;
	into->aux += event.aux;
	into->stack += event.stack;
	return grouped;
}

uint64_t gp_html_gather_group(struct gp_html_gather *gather, const struct gp_html_together *how)
{
	struct gp_html_event *events = gather->events,
			     *last = NULL; /* the previous one, if short */
	uint64_t grouped = 0;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < gather->count; i++) {
		bool is_short = how->is_short(how->context, &events[i]);

		if (is_short && last && last->row == events[i].row &&
		    events[i].start_ns < last->end_ns + how->gap_ns) {
			grouped += merge(last, events[i], how->label);
			continue;
		}
		events[kept] = events[i];
		last = is_short ? &events[kept] : NULL;
		kept++;
	}
	gather->count = kept;
	return grouped;
}

void gp_html_gather_clear(struct gp_html_gather *gather)
{
	gather->count = gather->rows = 0;
}

void gp_html_gather_free(struct gp_html_gather *gather)
{
	gp_spill_free(gather->events);
	*gather = (struct gp_html_gather){0};
}

/* Outer events come before inner ones. */
GP_COMPARE_BY_AND_DOWN(compare_starts, struct gp_html_event, start_ns, end_ns)

GP_COMPARE_BY(compare_rows, struct gp_html_event, row)

/* The row below the lowest one that is busy at that time. */
static uint32_t row_below(const uint64_t *free_from, uint32_t rows, uint64_t start_ns)
{
	while (rows > 0 && free_from[rows - 1] <= start_ns)
		rows--;
	return rows;
}

static uint32_t first_free_row(const uint64_t *free_from, uint32_t rows, uint64_t start_ns)
{
	uint32_t row = 0;

	while (row < rows && free_from[row] > start_ns)
		row++;
	return row;
}

void gp_html_gather_place(struct gp_html_gather *gather, bool nesting, uint32_t row_limit)
{
	uint64_t *free_from = calloc((size_t)row_limit + 1, sizeof(*free_from));

	gp_array_sort(gather->events, gather->count, sizeof(*gather->events), compare_starts, NULL);
	gather->rows = 0;
	for (uint32_t i = 0; i < gather->count; i++) {
		struct gp_html_event *event = &gather->events[i];
		uint32_t rows = gather->rows < row_limit ? gather->rows : row_limit;

		event->row = nesting ? row_below(free_from, rows, event->start_ns)
				     : first_free_row(free_from, rows, event->start_ns);
		free_from[event->row] = event->end_ns;
		if (event->row == gather->rows)
			gather->rows++;
	}
	free(free_from);
	gp_array_sort(gather->events, gather->count, sizeof(*gather->events), compare_rows, NULL);
}

static int compare_levels(const void *a, const void *b, const void *context)
{
	int result = compare_rows(a, b, context);

	return result != 0 ? result : compare_starts(a, b, context);
}

int gp_html_gather_place_levels(struct gp_html_gather *gather, uint32_t row_limit)
{
	uint64_t *free_from = calloc((size_t)row_limit + 1, sizeof(*free_from));
	uint32_t level = 0, first = 0; /* first: the first row of the level */

	gp_array_sort(gather->events, gather->count, sizeof(*gather->events), compare_levels, NULL);
	gather->rows = 0;
	for (uint32_t i = 0; i < gather->count; i++) {
		struct gp_html_event *event = &gather->events[i];
		uint32_t rows = gather->rows < row_limit ? gather->rows : row_limit;

		if (event->row != level) {
			level = event->row;
			first = rows;
		}
		event->row =
			first + first_free_row(free_from + first, rows - first, event->start_ns);
		free_from[event->row] = event->end_ns;
		if (event->row == gather->rows)
			gather->rows++;
	}
	free(free_from);
	gp_array_sort(gather->events, gather->count, sizeof(*gather->events), compare_levels, NULL);
	return 0;
}

int gp_html_gather_order(struct gp_html_gather *gather, uint32_t row_limit)
{
	gather->rows = 0;
	for (uint32_t i = 0; i < gather->count; i++) {
		uint32_t *row = &gather->events[i].row;

		if (*row > row_limit)
			*row = row_limit;
		if (*row >= gather->rows)
			gather->rows = *row + 1;
	}
	gp_array_sort(gather->events, gather->count, sizeof(*gather->events), compare_rows, NULL);
	return 0;
}
