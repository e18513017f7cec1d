/*
 * session: the folder where the processes of a run announce their traces to the launcher.
 *
 * It is private (0700) and temporary, in $XDG_RUNTIME_DIR, $TMPDIR or /tmp. Each process that opens
 * a trace creates a link PID-STARTTIME to it (GP_SESSION_VARIABLE in gpuprof/option.h).
 *
 * The launcher holds a lock on its folder. A folder without a lock belongs to a killed launcher;
 * the next launcher that uses the same place removes it.
 */
#ifndef REPORT_FINISH_SESSION_H
#define REPORT_FINISH_SESSION_H

#include <stdbool.h>
#include <stddef.h>

struct gp_session {
	/* "" = not open; contains no space or colon, so that it can stand in LD_PRELOAD */
	char path[96];
	int lock; /* the open folder */
};

/* Returns 0, or -errno if none of the places allowed a folder. */
int gp_session_open(struct gp_session *session);

/*
 * Links a file or folder into the session and writes the link's path to `link`. Returns 0 or
 * -errno.
 */
int gp_session_link(const struct gp_session *session, const char *name, const char *target,
		    char *link, size_t link_bytes);

/* Creates a GP_SESSION_... name in the session of the gpuprof-run that started this one, if any. */
void gp_session_tell_outer(const char *what);

/* Whether a process has created that GP_SESSION_... name. */
bool gp_session_was_told(const struct gp_session *session, const char *what);

/*
 * The announced traces in the order of process starts. Free them with gp_session_free_traces().
 * Returns 0 or -errno.
 */
int gp_session_traces(const struct gp_session *session, char ***traces, size_t *count);
void gp_session_free_traces(char **traces, size_t count);

/* Removes the folder and its contents, but not the traces. */
void gp_session_close(struct gp_session *session);

#endif
