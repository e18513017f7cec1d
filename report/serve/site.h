/*
 * site: the answers of `gpuprof serve`: a page and numbers of the given traces, made on request.
 *
 * A request's path never names a file: it is looked up in a fixed table. Not thread-safe.
 */
#ifndef REPORT_SERVE_SITE_H
#define REPORT_SERVE_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/base/message.h"
#include "report/model/model.h"
#include "report/serve/request.h"

struct gp_spans;

#define GP_SITE_ENDPOINTS     10u
#define GP_SITE_ADDRESS_BYTES 96u

struct gp_site {
	struct gp_model *const *models; /* must outlive the site */
	size_t model_count;
	struct gp_door door;
	uint64_t event_limit; /* events in the page's timeline; 0 = all */
	uint64_t least_ns;    /* of the page's timeline: groups shorter neighbors; 0 = none */
	bool has_once;        /* the door has a path for one use */
	/* private to the site */
	/* of the page, with the token; set on the first request */
	char address[GP_SITE_ADDRESS_BYTES];
	struct gp_spans *spans; /* of the timeline; made on the first request */
	/* unnamed files with cached answers; 0 = not made yet */
	int kept[GP_SITE_ENDPOINTS];
};

struct gp_http_answer {
	unsigned status;    /* HTTP status */
	const char *type;   /* content type */
	const char *header; /* one more header and its value; NULL = none */
	const char *value;
	/* unnamed file with the content, which the caller closes; -1: the content is text */
	int fd;
	uint64_t bytes;
	char text[GP_MESSAGE_BYTES];
};

/*
 * Set models, model_count, the limits and has_once, and zero the rest. Returns 0 or -errno. Call
 * gp_site_close() in both cases.
 */
int gp_site_open(struct gp_site *site);
void gp_site_close(struct gp_site *site);

void gp_site_answer(struct gp_site *site, const struct gp_request *request,
		    struct gp_http_answer *answer);

/* Prints a line for each path: its content and parameters. */
void gp_site_list(FILE *out);

#endif
