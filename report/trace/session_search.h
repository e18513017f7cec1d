/*
 * session_search: finds the traces of a run that were not announced to the launcher, because their
 * processes had given up their rights, or saw other folders.
 *
 * The session in the trace (GP_INFO_SESSION) identifies it. Its process finishes it at a regular
 * end. If the process was killed, or still runs, the launcher treats the trace like the announced
 * ones.
 */
#ifndef REPORT_TRACE_SESSION_SEARCH_H
#define REPORT_TRACE_SESSION_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct gp_found_trace {
	char *path;
	bool is_closed; /* by its process */
};

/* Zeroed = none. */
struct gp_found_traces {
	struct gp_found_trace *traces; /* by path */
	uint32_t count, capacity;
};

/* Where to search, and for what. */
struct gp_search {
	const char *session; /* base name of its folder */
	const char *pattern; /* of the paths, for glob(3) */
	time_t since;        /* traces that were last written before that are left out */
	char *const *known;  /* paths of traces that are left out */
	size_t known_count;
};

/* Returns 0 or -ENOMEM; call gp_session_search_free() in both cases. */
int gp_session_search(struct gp_found_traces *found, const struct gp_search *search);
void gp_session_search_free(struct gp_found_traces *found);

#endif
