/* python: what an interpreter of Python says of itself, and where its packages keep CUDA. */
#ifndef REPORT_DOCTOR_PYTHON_H
#define REPORT_DOCTOR_PYTHON_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define GP_PYTHON_LIBRARIES 8

struct gp_python {
	bool is_asked;           /* it answered */
	char path[PATH_MAX];     /* "" = there is none */
	char implementation[32]; /* cpython */
	unsigned major, minor;
	bool is_free_threaded; /* built without the global lock */
	/* the first folder of packages that has CUDA's runtime; "" = none */
	char packages[PATH_MAX];
	char *libraries[GP_PYTHON_LIBRARIES +
			1]; /* what they load of CUDA: libcudart, one for each major version */
};

/* Whether the file of that path is an interpreter of Python, by its name. */
bool gp_python_is_one(const char *path);

/*
 * Ask the interpreter of that path; it runs none of the user's code but what its packages do at
 * start.  gp_python_free().
 */
void gp_python_ask(struct gp_python *python, const char *path);
void gp_python_free(struct gp_python *python);

#endif
