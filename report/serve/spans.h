/*
 * spans: the timeline in pieces: what ran in a window of time, in rows as the page has it, never
 * more than asked for.
 *
 * All events are placed once, by the walk that the page uses; a window is then found by bisection.
 * Where it holds more than may be answered, short events that lie side by side become one span that
 * says how many they are and how long they ran: nothing is left out, and a narrower window shows
 * more.
 */
#ifndef REPORT_SERVE_SPANS_H
#define REPORT_SERVE_SPANS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/model/model.h"

#define GP_SPANS_USUAL 10000u
#define GP_SPANS_MOST  100000u

struct gp_spans;

struct gp_span_query {
	/*
	 * From the first call or operation of all processes on, as tables count; to_ns is not in
	 * the window any more.
	 */
	int64_t from_ns, to_ns;
	uint64_t least_ns; /* shorter events are left out */
	uint32_t limit;    /* most spans of the answer, at least 1 */
};

/* The models must outlive it.  Returns 0, -ENOMEM or -EOVERFLOW; else *spans is NULL. */
int gp_spans_new(struct gp_model *const *models, size_t model_count, struct gp_spans **spans);
void gp_spans_free(struct gp_spans *spans);

/* Write the answer as JSON, as docs/reference/serve.md has it.  Returns 0, -EIO or -ENOMEM. */
int gp_spans_write(const struct gp_spans *spans, const struct gp_span_query *query, FILE *out);

#endif
