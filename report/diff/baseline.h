/*
 * baseline: the figures of runs that others are compared with, as a JSON file to keep beside the
 * code.
 *
 *	{"gpuprof_baseline": 1,
 *	 "machine": {"gpus": "NVIDIA H200, 132 SMs, ...", "driver": "13.0", ...},
 *	 "runs": 3,
 *	 "metrics": {"launches": [40, 40, 40], "leaked_bytes": [null, null, null], ...},
 *	 "kernels": {"_Z4gemmPf": {"count": [20, 20, 20], "total_ns": [51234, 50987, 51311]},
 *	 ...}}
 *
 * One value for each run, null where it is not known.  Names that a reader does not know are
 * skipped.
 */
#ifndef REPORT_DIFF_BASELINE_H
#define REPORT_DIFF_BASELINE_H

#include <stddef.h>
#include <stdio.h>

#include "report/diff/run_set.h"

/* Returns 0, -ENOMEM or -EIO. */
int gp_baseline_write(FILE *out, const struct gp_run_set *set);

/* Returns 0 or a negative errno value, with one line for the user in message. */
int gp_baseline_read(struct gp_run_set *set, const char *path, char *message, size_t message_bytes);

/* The same of a text, which messages call name. */
int gp_baseline_parse(struct gp_run_set *set, const char *name, const char *text, char *message,
		      size_t message_bytes);

#endif
