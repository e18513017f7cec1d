/*
 * site: what `gpuprof serve` answers: a page and numbers of the traces that it was given, made when
 * they are asked for.
 *
 * No path of a request ever names a file: it is looked up in a table of the few that there are.
 * Called from one thread.
 */
#ifndef REPORT_SERVE_SITE_H
#define REPORT_SERVE_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/model/model.h"
#include "report/serve/request.h"

struct gp_spans;

#define GP_SITE_ENDPOINTS     8u
#define GP_SITE_MESSAGE_BYTES 512u
#define GP_SITE_ADDRESS_BYTES 96u

struct gp_site {
	struct gp_model *const *models; /* they outlive the site */
	size_t model_count;
	struct gp_door door;
	uint64_t event_limit; /* of the page's timeline: the longest; 0 = all */
	uint64_t least_ns;    /* of the same: shorter neighbors stand together; 0 = none do */
	bool has_once;        /* the door has a way in for one time */
	/* the site's own */
	/* of the page, with the token: from when it is asked for */
	char address[GP_SITE_ADDRESS_BYTES];
	struct gp_spans *spans; /* of the timeline, from when it is asked for first */
	/* files of answers that are always the same; 0 = not made yet */
	int kept[GP_SITE_ENDPOINTS];
};

struct gp_answer {
	unsigned status;    /* of HTTP */
	const char *type;   /* of the content */
	const char *header; /* one more, and its value; NULL = none */
	const char *value;
	/* of a file without a name with all of it, whoever asked closes it; -1: it is text */
	int fd;
	uint64_t bytes;
	char text[GP_SITE_MESSAGE_BYTES];
};

/*
 * A site with models, count, limits and has_once set, all else zero.  Returns 0 or -errno;
 * gp_site_close() in either case.
 */
int gp_site_open(struct gp_site *site);
void gp_site_close(struct gp_site *site);

void gp_site_answer(struct gp_site *site, const struct gp_request *request,
		    struct gp_answer *answer);

/* A line for each path: what it has and the parameters that it takes. */
void gp_site_list(FILE *out);

#endif
