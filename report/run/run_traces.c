#include "report/run/run_traces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/trace/session_search.h"

#define CLOCK_DIFFERENCE_S 3600 /* of a file server */

/* If a process closed its trace, but could not announce it, it also finished it. */
static int add_found(struct gp_run_traces *traces, struct gp_found_traces *found)
{
	char **grown =
		reallocarray(traces->paths, traces->count + found->count + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	traces->paths = grown;
	for (uint32_t i = 0; i < found->count; i++) {
		struct gp_found_trace *one = &found->traces[i];

		traces->found++;
		if (one->is_closed)
			continue;
		traces->paths[traces->count++] = one->path;
		one->path = NULL;
	}
	return 0;
}

/* Also if the program removed the folder of the session (-ENOENT). */
int gp_run_traces_find(struct gp_run_traces *traces, const struct gp_session *session,
		       const char *pattern, time_t started)
{
	struct gp_found_traces found;
	int error = gp_session_traces(session, &traces->paths, &traces->count);

	if (error && error != -ENOENT)
		return error;
	error = gp_session_search(&found, &(struct gp_search){
						  .session = basename(session->path),
						  .pattern = pattern,
						  .since = started - CLOCK_DIFFERENCE_S,
						  .known = traces->paths,
						  .known_count = traces->count,
					  });
	if (!error)
		error = add_found(traces, &found);
	gp_session_search_free(&found);
	return error;
}

void gp_run_traces_free(struct gp_run_traces *traces)
{
	gp_session_free_traces(traces->paths, traces->count);
	*traces = (struct gp_run_traces){0};
}
