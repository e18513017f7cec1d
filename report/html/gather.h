/* gather: the events of one track of a page, placed in rows. */
#ifndef REPORT_HTML_GATHER_H
#define REPORT_HTML_GATHER_H

#include <stdbool.h>
#include <stdint.h>

/* aux of a call without error whose stack is estimated: no result is so large. */
#define GP_HTML_ESTIMATED 65536u

struct gp_html_event {
	uint64_t start_ns, end_ns;
	uint64_t aux;   /* its meaning depends on the kind of the label: report/html/timeline.c */
	uint32_t label; /* report/html/labels.h */
	uint32_t stack; /* 1 + a node of the call tree, 0 = none */
	/* of a call: its index in the model; of an operation: the index of its call; GP_NONE = none */
	uint32_t call;
	uint32_t row;
};

struct gp_html_gather {
	struct gp_html_event *events;
	uint32_t count, capacity;
	uint32_t rows; /* number of rows */
};

/* Add an event; zeroed = empty.  Returns 0, -ENOMEM or -EOVERFLOW. */
int gp_html_gather_add(struct gp_html_gather *gather, const struct gp_html_event *event);

/*
 * Place the events in at most row_limit rows without overlaps, and sort them by (row, start).  Events
 * that do not fit get the row row_limit, in which they may overlap until they are grouped.  nesting:
 * an event that begins in others is below all of them; else it has the first row where it fits.
 */
void gp_html_gather_place(struct gp_html_gather *gather, bool nesting, uint32_t row_limit);

/*
 * The same for events whose row is their nesting level: below the rows of a level are those of the
 * next one, and an event has the first row of its level where it fits.
 */
int gp_html_gather_place_levels(struct gp_html_gather *gather, uint32_t row_limit);

/* The same for events with rows: those beyond row_limit get the row row_limit. */
int gp_html_gather_order(struct gp_html_gather *gather, uint32_t row_limit);

/* Which events are merged. */
struct gp_html_together {
	/* Called for each event, in order. */
	bool (*is_short)(void *context, const struct gp_html_event *event);
	void *context;
	uint64_t gap_ns; /* the gap between them is shorter than that; they may overlap */
	uint32_t label;  /* of the merged event */
};

/*
 * Merge short neighbors in a row of placed events into one event with that label: aux is the sum of
 * their times in ns, stack their number.  A short event without such a neighbor stays.  Merged
 * events may be merged again.  Returns the number of original events that were merged.
 */
uint64_t gp_html_gather_group(struct gp_html_gather *gather, const struct gp_html_together *how);

void gp_html_gather_clear(struct gp_html_gather *gather);
void gp_html_gather_free(struct gp_html_gather *gather);

#endif
