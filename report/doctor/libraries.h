/*
 * libraries: the libraries that a program loads, as the loader lists them without running the
 * program.
 */
#ifndef REPORT_DOCTOR_LIBRARIES_H
#define REPORT_DOCTOR_LIBRARIES_H

#include <stdbool.h>

#include "report/run/target.h"

#define GP_LIBRARIES_OF_CUDA 8

struct gp_libraries {
	bool is_listed;    /* false: the loader could not list them */
	char missing[128]; /* the first missing library; "" = none */
	bool has_asan;     /* gcc's address sanitizer, which must be loaded first */
	char *of_cuda[GP_LIBRARIES_OF_CUDA + 1]; /* paths of libcudart and libcupti */
};

/* Call gp_libraries_free() in any case. */
void gp_libraries_list(struct gp_libraries *libraries, const struct gp_target *target);
void gp_libraries_free(struct gp_libraries *libraries);

#endif
