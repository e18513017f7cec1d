/*
 * gather: the events of one track of a page, put in rows.
 */
#ifndef REPORT_HTML_GATHER_H
#define REPORT_HTML_GATHER_H

#include <stdbool.h>
#include <stdint.h>

struct gp_html_event {
	uint64_t start_ns, end_ns;
	uint64_t aux;   /* what it is depends on the label's kind: report/html/timeline.c */
	uint32_t label; /* report/html/labels.h */
	uint32_t stack; /* 1 + a node of the call tree, 0 = none */
	/* of a call: its index in the model; of an operation: that of its cause; GP_NONE = none */
	uint32_t call;
	uint32_t row;
};

struct gp_html_gather {
	struct gp_html_event *events;
	uint32_t count, capacity;
	uint32_t rows; /* of the events that are there */
};

/* Zeroed = empty.  One event more.  Returns 0, -ENOMEM or -EOVERFLOW. */
int gp_html_gather_add(struct gp_html_gather *gather, const struct gp_html_event *event);

/*
 * Order the events by (row, start), with at most row_limit rows in which no two are at the same
 * time.  What finds no place there has the row row_limit, in which events may overlap until they
 * are grouped.  Nesting: an event that begins in others lies below all of them; else it has the
 * first row where it fits. Returns 0 or -ENOMEM.
 */
int gp_html_gather_place(struct gp_html_gather *gather, bool nesting, uint32_t row_limit);

/*
 * The same of events whose row is how deep they lie in others, whenever those are: below the rows
 * of a level are those of the next one, and an event has the first of its level's where it fits.
 */
int gp_html_gather_place_levels(struct gp_html_gather *gather, uint32_t row_limit);

/* The same of events that have their rows: those below row_limit have that one. */
int gp_html_gather_order(struct gp_html_gather *gather, uint32_t row_limit);

/* Which events stand together. */
struct gp_html_together {
	/* Called for each event, in their order. */
	bool (*is_short)(void *context, const struct gp_html_event *event);
	void *context;
	uint64_t gap_ns; /* less than that lies between them; they may overlap */
	uint32_t label;  /* of what they become */
};

/*
 * Of placed events: short ones of a row that are neighbors become one event of that label: aux is
 * their time together in ns, stack how many they were; one that has no such neighbor stays.
 * Events of that label may be among them.  Returns how many others became part of one.
 */
uint64_t gp_html_gather_group(struct gp_html_gather *gather, const struct gp_html_together *how);

void gp_html_gather_clear(struct gp_html_gather *gather);
void gp_html_gather_free(struct gp_html_gather *gather);

#endif
