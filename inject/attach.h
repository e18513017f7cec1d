/*
 * attach: recording in a process that runs already, and its end while the process goes on.
 *
 * `gpuprof attach` loads the library into the process and calls gpuprof_v1_attach(); a later
 * gpuprof_v1_detach() completes the trace, and leaves nothing behind but the mapped library.  Both
 * may come any number of times; one that overlaps another is refused.  No variable of the environment is read
 * or set, and nothing is printed: the caller gets the lines.
 */
#ifndef INJECT_ATTACH_H
#define INJECT_ATTACH_H

#include <stddef.h>

/*
 * Exported, but not in gpuprof/gpuprof.h: the caller belongs to this version of the library.  options:
 * "GPUPROF_NAME=VALUE", the last one NULL.  text gets the lines that gpuprof would have printed, path
 * the path of the trace.  Return 0 or -errno:
 *
 * -EALREADY  the process is recorded from its start
 * -EEXIST    attached already
 * -ECHILD    a forked child of the attached process
 * -EBUSY     CUPTI or the trace cannot be had, see text; or an earlier recording has not ended
 * -EPERM     a program with elevated privileges
 * -EINPROGRESS  another thread attaches or detaches the process
 * -ESRCH     (detach) not attached
 * -ETIMEDOUT (detach) a thread of gpuprof has not ended: no further attach
 */
struct gp_attach_answer {
	char text[4096];
	char path[4096];
};
int gpuprof_v1_attach(char *const *options, struct gp_attach_answer *answer);
int gpuprof_v1_detach(struct gp_attach_answer *answer);

/* ---- their parts in init.c ---- */

/* 0, -EPERM, -EALREADY, -EBUSY. */
int gp_init_attach(char *const *options);

/* 0 or -ETIMEDOUT. */
int gp_init_detach(void);

#endif
