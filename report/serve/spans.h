/*
 * spans: the events in a time window, in rows like the page's, limited in number.
 *
 * The walk of the page places all events once; bisection finds a window. If the window holds more
 * than the limit, short neighbors become one span that has their number and total duration. So no
 * event is dropped, and a narrower window shows more.
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
	 * Times count from the first call or operation of all processes, like in tables. The window
	 * does not include to_ns.
	 */
	int64_t from_ns, to_ns;
	uint64_t least_ns; /* shorter events are left out */
	uint32_t limit;    /* at most this many spans, at least 1 */
};

/* The models must outlive it. Returns 0, -ENOMEM or -EOVERFLOW; *spans is NULL on failure. */
int gp_spans_new(struct gp_model *const *models, size_t model_count, struct gp_spans **spans);
void gp_spans_free(struct gp_spans *spans);

/* Writes the answer as JSON (format: docs/reference/serve.md). Returns 0, -EIO or -ENOMEM. */
int gp_spans_write(const struct gp_spans *spans, const struct gp_span_query *query, FILE *out);

#endif
