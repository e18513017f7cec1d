/*
 * failures: the API calls that failed, by function, error and place in the program.
 *
 * A failed call always has a stack, unless no stacks were wanted, so that its place is mostly
 * known. If not, the range around the first of them is its place.
 */
#ifndef REPORT_ANALYSIS_DEVICE_FAILURES_H
#define REPORT_ANALYSIS_DEVICE_FAILURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/analysis/memory/oom_snapshot.h"
#include "report/symbols/call_site.h"
#include "report/base/group_by.h"
#include "report/model/model.h"

/* "out of memory (cudaErrorMemoryAllocation, 2)" */
#define GP_FAILURE_ERROR_BYTES 160

/* The bytes that failed allocations asked for. */
struct gp_asked {
	uint64_t count; /* of those with a known size */
	uint64_t least_bytes, most_bytes;
};

void gp_asked_add(struct gp_asked *asked, const struct gp_model *model, const struct gp_call *call);

/* ", of 3.000GiB each", ", of 1.000MiB to 3.000GiB"; nothing where it is not known. */
void gp_asked_tell(FILE *out, const struct gp_asked *asked);

struct gp_failure {
	const char *function;
	uint16_t code;
	uint8_t class;  /* enum gp_api_class */
	bool is_driver; /* function is of the driver API: its errors have other names */
	uint64_t count, first_unix_ns;
	uint32_t site;  /* for gp_call_sites_at() */
	bool has_stack; /* the site says where */
	/* that the first one was made in, where there is no stack; NULL = none, or not recorded */
	const char *range;
	/* when the first one failed; its sites are those of gp_failures */
	struct gp_oom_snapshot held;
	struct gp_asked asked;
	uint32_t first_process; /* the model in which the first one failed */
	uint32_t processes;     /* in which some did */
	uint32_t process;       /* the last one found */
};

/*
 * Calls that were to do work, then those that only ask; each in the order in which they first
 * failed.
 */
struct gp_failures {
	struct gp_failure *rows;
	uint32_t count, capacity;
	uint64_t calls; /* in all rows */
	struct gp_call_sites *sites;
	struct gp_groups keys;
};

/*
 * The models must outlive it.  Returns 0, -ENOMEM or -EOVERFLOW; gp_failures_free() in either case.
 */
int gp_failures_of(struct gp_failures *failures, struct gp_model *const *models,
		   size_t model_count);
void gp_failures_free(struct gp_failures *failures);

/*
 * Whether calls of that enum gp_api_class are to do something: launch, copy, allocate, wait.  Of
 * the others some are made to see whether they fail.
 */
bool gp_failure_is_of_work(uint8_t class);

/*
 * Whether it is an error of a kernel's (a fault, a time limit, an assertion), after which a
 * process's context cannot be used any more.
 */
bool gp_failure_is_lasting(uint16_t code);

/* The error in words, with its name and number. */
void gp_failure_error(char text[GP_FAILURE_ERROR_BYTES], uint16_t code, bool is_driver);

#endif
