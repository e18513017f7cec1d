/*
 * check_next: prints the next command on stderr after a regression, or after a baseline or
 * thresholds were written, or could not be.  The user fills in PROGRAM only.
 */
#ifndef REPORT_DIFF_CHECK_NEXT_H
#define REPORT_DIFF_CHECK_NEXT_H

#include <stddef.h>
#include <stdint.h>

/*
 * After a baseline was written from that many runs.  If these are too few to judge times, also
 * prints how to record enough.
 */
void gp_check_next_to_baseline(const char *path, uint32_t runs);

/*
 * After thresholds were written from these runs.  If there is no baseline of the usual name, the
 * command makes it from the same runs.
 */
void gp_check_next_to_thresholds(const char *path, char *const *runs, size_t run_count);

/* After a regression: prints the command that shows where, if the baseline's runs were kept. */
void gp_check_next_to_regression(char *const *runs, size_t run_count);

/* After too few runs for thresholds. */
void gp_check_next_to_few(const char *path, uint32_t least);

#endif
