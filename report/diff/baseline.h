/*
 * baseline: the figures of the runs that later runs are compared with, as a JSON file to keep with
 * the code.
 *
 *	{"gpuprof_baseline": 1,
 *	 "machine": {"gpus": "NVIDIA H200, 132 SMs, ...", "driver": "13.0", ...},
 *	 "runs": 3,
 *	 "metrics": {"launches": [40, 40, 40], "leaked_bytes": [null, null, null], ...},
 *	 "kernels": {"_Z4gemmPf": {"count": [20, 20, 20], "total_ns": [51234, 50987, 51311]},
 *	 ...}}
 *
 * One value for each run, null if it is unknown.  A reader skips names that it does not know.
 */
#ifndef REPORT_DIFF_BASELINE_H
#define REPORT_DIFF_BASELINE_H

#include <stddef.h>
#include <stdio.h>

#include "report/diff/run_set.h"

/* Returns 0, -ENOMEM or -EIO. */
int gp_baseline_write(FILE *out, const struct gp_run_set *set);

/* Returns 0 or a negative errno value, and a one-line error message for the user. */
int gp_baseline_read(struct gp_run_set *set, const char *path, char *message, size_t message_bytes);

/* The same for a text; name is its name in error messages. */
int gp_baseline_parse(struct gp_run_set *set, const char *name, const char *text, char *message,
		      size_t message_bytes);

#endif
