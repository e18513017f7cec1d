/*
 * request: runs a script inside a Python process (PEP 768), and gets its answer.
 *
 * A folder that only the process's user can read has the script, the request and the answer. The
 * process takes the request by renaming it, so that it and a caller who stops waiting cannot both
 * decide. A process that comes to the script of a withdrawn request only removes the folder.
 */
#ifndef REPORT_ATTACH_REQUEST_H
#define REPORT_ATTACH_REQUEST_H

#include <limits.h>

#include "report/attach/python_process.h"

/* The status of an answer: -errno of inject/attach.h, 0, or one of these. */
enum gp_request_status {
	GP_REQUEST_NO_CUDA = 1,    /* the process has not used CUDA yet */
	GP_REQUEST_OTHER_TOOL = 2, /* text: the library that the driver has loaded */
	GP_REQUEST_OTHER_COPY = 3, /* text: the library of another gpuprof in the process */
	GP_REQUEST_FAILED = 4,     /* text: the exception of the script */
};

struct gp_request_answer {
	int status;
	char path[PATH_MAX]; /* of the trace */
	char text[4096];     /* lines of gpuprof in the process */
};

/* How a request ends without an answer. */
enum gp_request_end {
	GP_REQUEST_ANSWERED,
	GP_REQUEST_NO_FOLDER,  /* errno */
	GP_REQUEST_UNSEEN,     /* the process does not see the folder */
	GP_REQUEST_NO_PYTHON,  /* the interpreter cannot be run */
	GP_REQUEST_REFUSED,    /* text: "NAME ERRNO MESSAGE" of Python's exception */
	GP_REQUEST_ENDED,      /* the process ended */
	GP_REQUEST_WITHDRAWN,  /* it did not take the request in time */
	GP_REQUEST_UNANSWERED, /* it has taken it, and not answered in time */
};

/*
 * words: the command ("attach", "detach"), the library, then its options; NULL-terminated. limit_s:
 * how long to wait for the process to take it. SIGINT and SIGTERM end the wait like the limit.
 */
enum gp_request_end gp_request_send(const struct gp_python_process *process,
				    const char *const *words, unsigned limit_s,
				    struct gp_request_answer *answer);

#endif
