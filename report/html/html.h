/*
 * html: one page that shows all of a recording, in a file that needs nothing else: no network, no
 * server.
 *
 * The page is text that never changes (report/html/page.built.html, which report/html/web/ builds)
 * and behind it the data: elements that hold base64 (report/html/pack.h).  No name of the traced
 * program is ever text of the page, so none can do anything in it; the page itself shows them as
 * text alone, and its policy refuses every script but its own.
 */
#ifndef REPORT_HTML_HTML_H
#define REPORT_HTML_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/analysis/host/python_samples.h"
#include "report/model/model.h"

#define GP_HTML_SUFFIX ".html"

/* More events make a page slow. */
#define GP_HTML_EVENTS 4000000u

struct gp_run_set;

struct gp_html_options {
	/* of the timeline: of more, short neighbors stand together; 0 = none */
	uint64_t event_limit;
	uint64_t least_ns; /* of the timeline: shorter neighbors stand together; 0 = none do */
	bool counters;     /* queue lengths of streams and bandwidth of copies over time, too */
	struct gp_model *const *base; /* a run to compare with: all of its processes */
	size_t base_count;            /* 0 = none */
	/*
	 * Repeated runs, of which the models and the base are one each: what differs is told of
	 * all.  NULL: there are no others.
	 */
	struct gp_run_set *base_runs, *runs;
	/* of a page that is served: where its trace can be opened; NULL: the page is a file */
	const char *perfetto_ui;
	void (*progress)(void *context); /* called now and then while writing; NULL = not */
	void *progress_context;
};

struct gp_html_result {
	uint64_t events;                 /* of the timeline */
	bool is_limited;                 /* there were more than the limit */
	uint64_t grouped;                /* stand together with their neighbors, */
	uint64_t least_ns;               /* and are shorter than that */
	uint64_t crowded;                /* stand together where too many were at once */
	struct gp_host_depth host_depth; /* how deep what Python did is shown */
};

/* Returns 0, -EIO if out could not be written, -ENOMEM or -EOVERFLOW.  result may be NULL. */
int gp_html_write(struct gp_model *const *models, size_t model_count,
		  const struct gp_html_options *options, FILE *out, struct gp_html_result *result);

#endif
