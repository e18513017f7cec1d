/*
 * check_request: the gate of `gpuprof check` and `gpuprof-run --check`: reads files, writes
 * reports, returns an exit status.
 */
#ifndef REPORT_DIFF_CHECK_REQUEST_H
#define REPORT_DIFF_CHECK_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Exit statuses. */
#define GP_CHECK_EXIT_REGRESSION   80
#define GP_CHECK_EXIT_INCONCLUSIVE 81 /* if that counts as a failure; else 0 */
#define GP_CHECK_EXIT_USAGE                                                                        \
	64 /* nothing was compared: wrong options or thresholds, a baseline of another device */
#define GP_CHECK_EXIT_FAILED 1 /* a trace cannot be read, or an output cannot be written */

/* Names of files; NULL = none. */
struct gp_check_request {
	const char *baseline, *thresholds;
	const char *markdown, *junit, *json; /* to write; "-" is stdout */
	FILE *text;                          /* stream for the text; NULL: none */
	bool strict, all, any_device;
	char *const *runs;
	size_t run_count;
};

/* All return the exit status, and print failures as a line on stderr. */
int gp_check_run(const struct gp_check_request *request);

/* 0 if the baseline and the thresholds can be read: checked before the runs are recorded. */
int gp_check_inputs(const struct gp_check_request *request);

/* Write the baseline of these runs. */
int gp_check_write_baseline(const char *path, char *const *runs, size_t run_count);

/* Write thresholds that suit the noise of these runs; "-" is stdout. */
int gp_check_calibrate(const char *path, char *const *runs, size_t run_count);

#endif
