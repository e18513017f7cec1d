/*
 * libraries: what the loader loads with a program, as the loader itself lists it, without the
 * program being run.
 */
#ifndef REPORT_DOCTOR_LIBRARIES_H
#define REPORT_DOCTOR_LIBRARIES_H

#include <stdbool.h>

#include "report/run/target.h"

#define GP_LIBRARIES_OF_CUDA 8

struct gp_libraries {
	bool is_listed;    /* false: the loader could not say */
	char missing[128]; /* the first that is not found; "" = none */
	bool has_asan;     /* gcc's address sanitizer, which wants to be first */
	char *of_cuda[GP_LIBRARIES_OF_CUDA + 1]; /* paths of libcudart and libcupti */
};

/* gp_libraries_free() in any case. */
void gp_libraries_list(struct gp_libraries *libraries, const struct gp_target *target);
void gp_libraries_free(struct gp_libraries *libraries);

#endif
