/*
 * check_request: the gate as `gpuprof check` and `gpuprof-run --check` run it: files in, words out,
 * an exit status.
 */
#ifndef REPORT_DIFF_CHECK_REQUEST_H
#define REPORT_DIFF_CHECK_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Exit statuses. */
#define GP_CHECK_EXIT_REGRESSION   80
#define GP_CHECK_EXIT_INCONCLUSIVE 81 /* where that fails; else 0 */
#define GP_CHECK_EXIT_USAGE                                                                        \
	64 /* nothing was compared: options, thresholds, a baseline of another device */
#define GP_CHECK_EXIT_FAILED 1 /* a trace cannot be read, an output not be written */

/* Names of files; NULL = none. */
struct gp_check_request {
	const char *baseline, *thresholds;
	const char *markdown, *junit, *json; /* to write; "-" is stdout */
	FILE *text;                          /* where the text goes; NULL: nowhere */
	bool strict, all, any_device;
	char *const *runs;
	size_t run_count;
};

/* All return the exit status; a line on stderr says why nothing came of it. */
int gp_check_run(const struct gp_check_request *request);

/*
 * Whether the baseline and the thresholds can be read: 0, for those who make the runs afterwards.
 */
int gp_check_inputs(const struct gp_check_request *request);

/* Write the baseline of these runs. */
int gp_check_write_baseline(const char *path, char *const *runs, size_t run_count);

/* Write thresholds that suit the noise of these runs; "-" is stdout. */
int gp_check_calibrate(const char *path, char *const *runs, size_t run_count);

#endif
