/*
 * thresholds: the increase of each metric that the gate tolerates, read from a small file.
 *
 *	# a metric, a share of the baseline's median, an amount; the larger one is tolerated
 *	wall            5% 1ms
 *	peak_bytes      1% 1MiB
 *	launches        2
 *	copy_time       off
 *	kernel /gemm/   10% 100us     # kernels whose demangled name matches the extended regular expression
 *	kernel          5% 50us       # all others
 *
 * The first line that matches a kernel counts.  Defaults of metrics without a line: counts and bytes
 * tolerate nothing, times GP_THRESHOLD_SHARE and GP_THRESHOLD_NS, energy GP_THRESHOLD_SHARE.
 */
#ifndef REPORT_DIFF_THRESHOLDS_H
#define REPORT_DIFF_THRESHOLDS_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/diff/figures.h"

#define GP_THRESHOLD_SHARE 0.05
#define GP_THRESHOLD_NS    50000.0

struct gp_threshold {
	double share;  /* of the baseline's median */
	double amount; /* in the metric's unit */
	bool off;      /* not judged */
	bool given;    /* in the file */
};

struct gp_kernel_threshold {
	regex_t pattern;
	char *text; /* of the pattern */
	struct gp_threshold threshold;
};

struct gp_thresholds {
	struct gp_threshold metrics[GP_METRICS];
	struct gp_threshold kernel;          /* of kernels that match no pattern */
	struct gp_kernel_threshold *kernels; /* in the order of the file */
	uint32_t kernel_count;
};

/* The defaults. */
void gp_thresholds_open(struct gp_thresholds *thresholds);
void gp_thresholds_close(struct gp_thresholds *thresholds);

/*
 * Add the thresholds in the text of a file.  name is its name in messages.  Returns 0, -EINVAL or
 * -ENOMEM, and a one-line error message.
 */
int gp_thresholds_parse(struct gp_thresholds *thresholds, const char *name, const char *text,
			char *message, size_t message_bytes);

/* The same for a file; also returns errors of open() and read(), and -EFBIG. */
int gp_thresholds_read(struct gp_thresholds *thresholds, const char *path, char *message,
		       size_t message_bytes);

bool gp_kernel_threshold_fits(const struct gp_kernel_threshold *kernel, const char *full_name);

/* The threshold of a kernel by its full, demangled name. */
const struct gp_threshold *gp_thresholds_of_kernel(const struct gp_thresholds *thresholds,
						   const char *full_name);

/* The tolerated increase over a median. */
double gp_threshold_margin(const struct gp_threshold *threshold, double median);

/* Print a line for a kernel, by its full name, or for a metric. */
void gp_thresholds_print_kernel(FILE *out, const char *full_name, double share, double amount_ns);
void gp_thresholds_print(FILE *out, enum gp_metric metric, double share, double amount);

#endif
