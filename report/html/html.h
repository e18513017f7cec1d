/*
 * html: one page that shows a whole recording, in a file that needs no network and no server.
 *
 * The page is a constant text (report/html/page.built.html, built from report/html/web/) followed by
 * the data: elements that contain base64 (report/html/pack.h).  Names in the traced program are never
 * part of the HTML, so they cannot inject code; scripts show them only as text, and the content
 * security policy of the page allows only its own script.
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

/* The default limit: more events make a page slow. */
#define GP_HTML_EVENTS 4000000u

struct gp_job;
struct gp_run_set;

struct gp_html_options {
	/* of the timeline: if there are more, short neighbors are merged; 0 = no limit */
	uint64_t event_limit;
	uint64_t least_ns;            /* of the timeline: shorter neighbors are merged; 0 = none */
	bool counters;                /* include queue lengths and copy bandwidth over time */
	struct gp_model *const *base; /* a run to compare with: all its processes */
	size_t base_count;            /* 0 = none */
	/*
	 * Repeated runs; models and base are one run of each set.  The comparison is of all runs.
	 * NULL: there are no others.
	 */
	struct gp_run_set *base_runs, *runs;
	const struct gp_job *job; /* the models are only some of its ranks; NULL = they are all */
	/* for a served page: the address of the Perfetto UI; NULL: the page is a file */
	const char *perfetto_ui;
	void (*progress)(void *context); /* called regularly while writing, if not NULL */
	void *progress_context;
};

struct gp_html_result {
	uint64_t events;                 /* of the timeline */
	bool is_limited;                 /* there were more events than the limit */
	uint64_t grouped;                /* number of events merged with their neighbors, */
	uint64_t least_ns;               /* which are shorter than that */
	uint64_t crowded;                /* number merged because too many ran in parallel */
	struct gp_host_depth host_depth; /* the shown depth of Python functions */
};

/* Returns 0, -EIO if out could not be written, -ENOMEM or -EOVERFLOW.  result may be NULL. */
int gp_html_write(struct gp_model *const *models, size_t model_count,
		  const struct gp_html_options *options, FILE *out, struct gp_html_result *result);

#endif
