/*
 * check_next: what to type when a baseline or thresholds are written, or cannot be: commands that
 * belong together, on stderr.
 *
 * PROGRAM alone is left to fill in.
 */
#ifndef REPORT_DIFF_CHECK_NEXT_H
#define REPORT_DIFF_CHECK_NEXT_H

#include <stddef.h>
#include <stdint.h>

/*
 * The baseline was written from so many runs.  Also says whether these are too few to judge times,
 * and how to make enough.
 */
void gp_check_next_to_baseline(const char *path, uint32_t runs);

/*
 * The thresholds were written from these runs, which make the baseline where there is none of the
 * usual name.
 */
void gp_check_next_to_thresholds(const char *path, char *const *runs, size_t run_count);

/* These runs are too few for thresholds. */
void gp_check_next_to_few(const char *path, uint32_t least);

#endif
