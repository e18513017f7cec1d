/*
 * attach: `gpuprof attach` and `gpuprof detach`, without their command lines: starts and ends the
 * recording of a running Python process.
 *
 * As root it becomes the user of the process first: what runs in or from the process has no more
 * rights than the process itself.
 */
#ifndef REPORT_ATTACH_ATTACH_H
#define REPORT_ATTACH_ATTACH_H

#include <limits.h>

struct gp_attach {
	const char *command; /* "attach" or "detach" */
	unsigned pid;
	const char *python;         /* the interpreter to call; NULL = the process's own */
	unsigned limit_s;           /* for the process to take the request */
	const char *const *options; /* "GPUPROF_NAME=VALUE", NULL-terminated */
};

/*
 * Returns 0, with the path of the trace, "" if it begins with the first context; lines of the
 * library are printed.  Else an exit status, after a line that says why.
 */
int gp_attach(const struct gp_attach *attach, char trace[PATH_MAX]);

#endif
