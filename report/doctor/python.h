/* python: asks a Python interpreter for its version, and where its packages have CUDA libraries. */
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
	bool is_free_threaded; /* built without the global interpreter lock */
	/* the first folder of packages that has the CUDA runtime; "" = none */
	char packages[PATH_MAX];
	/* libcudart of the packages, one for each major version */
	char *libraries[GP_PYTHON_LIBRARIES + 1];
};

/* Whether the file name is that of a Python interpreter. */
bool gp_python_is_one(const char *path);

/*
 * Runs the interpreter, which runs no user code but the startup code of its packages. Call
 * gp_python_free() afterwards.
 */
void gp_python_ask(struct gp_python *python, const char *path);
void gp_python_free(struct gp_python *python);

#endif
