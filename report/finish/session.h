/*
 * session: the folder in which the processes of one run tell the launcher where their traces are.
 *
 * It is private (0700) and short-lived, in $XDG_RUNTIME_DIR, $TMPDIR or /tmp.  Every process that
 * opens a trace makes a link PID-STARTTIME in it to the trace (GP_SESSION_VARIABLE in
 * gpuprof/option.h).
 */
#ifndef REPORT_FINISH_SESSION_H
#define REPORT_FINISH_SESSION_H

#include <stdbool.h>
#include <stddef.h>

struct gp_session {
	/* "" = not open; never holds a space or a colon, so it can stand in LD_PRELOAD */
	char path[96];
};

/* Returns 0, or -errno where no folder could be made in any of the places. */
int gp_session_open(struct gp_session *session);

/*
 * Make a link to a file or folder in the session, and put its path into link.  Returns 0 or -errno.
 */
int gp_session_link(const struct gp_session *session, const char *name, const char *target,
		    char *link, size_t link_bytes);

/* Whether a process has told so: a GP_SESSION_... name. */
bool gp_session_was_told(const struct gp_session *session, const char *what);

/*
 * The traces that were announced so far, in the order of the processes' start; *count of them, each
 * and the array to be freed (gp_session_free_traces).  Returns 0 or -errno.
 */
int gp_session_traces(const struct gp_session *session, char ***traces, size_t *count);
void gp_session_free_traces(char **traces, size_t count);

/* Remove the folder and what is in it.  Traces are not touched. */
void gp_session_close(struct gp_session *session);

#endif
