/*
 * check: whether runs are slower, or do more work, than those of a baseline.
 *
 * Counts and bytes that are equal in all runs of the baseline are compared directly: it is a
 * regression if every run exceeds the threshold.  Rank tests (report/diff/rank.h) judge all others
 * (times, and counts that vary) against the values of the baseline, raised by the threshold:
 *
 *  regression    an increase beyond the threshold is shown; over all metrics together, less than
 *                GP_CHECK_ALARMS of the checks of equal programs show one (Holm);
 *  pass          an increase beyond the threshold is excluded, with the probability
 *                1 - GP_CHECK_DOUBT for each metric;
 *  inconclusive  neither; the check estimates how many runs would probably be enough.
 */
#ifndef REPORT_DIFF_CHECK_H
#define REPORT_DIFF_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "report/diff/run_set.h"
#include "report/diff/thresholds.h"

#define GP_CHECK_ALARMS 0.01
#define GP_CHECK_DOUBT  0.05

/*
 * Kernels that are judged: the longest ones with at least that share of the kernel time, and those
 * that a threshold names.
 */
#define GP_CHECK_KERNELS      20u
#define GP_CHECK_KERNEL_SHARE 0.01

/* Enough runs for thresholds of about twice the noise. */
#define GP_CHECK_GOOD_RUNS     7u
#define GP_CHECK_GOOD_BASELINE 20u

enum gp_check_verdict { GP_VERDICT_PASS, GP_VERDICT_INCONCLUSIVE, GP_VERDICT_REGRESSION };

/* Why a finding is inconclusive. */
enum gp_doubt {
	GP_DOUBT_NONE,
	GP_DOUBT_UNKNOWN, /* not recorded in all runs */
	/* equal in all runs of the baseline; beyond the threshold in some runs, not in all */
	GP_DOUBT_VARIES,
	GP_DOUBT_FEW, /* too few runs to show anything, whatever their values */
	/*
	 * the median is worse, but too few runs to show that for so many metrics, whatever their
	 * values
	 */
	GP_DOUBT_UNSHOWN,
	/*
	 * it would be a regression if it were the only metric: among so many, one may seem worse by
	 * chance
	 */
	GP_DOUBT_TOGETHER,
	GP_DOUBT_NOISE, /* it varies too much for the number of runs */
};

/* One metric, or one kernel's time. */
struct gp_check_finding {
	enum gp_metric metric; /* GP_METRICS: the time of a kernel */
	const char *kernel;    /* its mangled name, a pointer into the sets; NULL = none */
	enum gp_unit unit;
	enum gp_check_verdict verdict;
	enum gp_doubt doubt;
	bool exact; /* compared directly, without a rank test */
	bool improved;
	double baseline, now; /* medians */
	/* tolerated increase over the baseline; of step_energy at least the errors of both */
	double margin;
	uint32_t beyond; /* exact: number of runs that exceed it */
	/*
	 * Rank tests: the change is above low with the certainty that a regression needs, over all
	 * metrics together (low > margin: a regression), and below high with the probability
	 * 1 - GP_CHECK_DOUBT (high < margin: pass).  May be infinite; a finite low is at least
	 * -baseline.
	 */
	double low, high;
	double chance;        /* probability of such values, or worse ones, without a regression */
	double excluded;      /* probability of such values, or better ones, with a regression */
	uint32_t runs_needed; /* for a probable verdict; 0 = more than GP_RANK_MOST */
	uint32_t baseline_needed; /* runs of the baseline for that */
};

struct gp_check {
	/* exact ones first, in the order of the metrics; then times, then kernels, longest first */
	struct gp_check_finding *findings;
	uint32_t count, capacity;
	enum gp_check_verdict verdict;
	struct gp_run_set compared;   /* a view of the runs, without partial ones */
	uint32_t baseline_runs, runs; /* compared runs */
	uint32_t tested;              /* number of findings by rank tests */
	uint32_t runs_needed,
		/*
		 * for probable verdicts on all inconclusive findings; 0 = there are none, or more
		 * than GP_RANK_MOST are needed
		 */
		baseline_needed;
	const char **new_kernels, **gone_kernels; /* pointers into the sets */
	uint32_t new_count, gone_count;
	/*
	 * Metrics and kernels that are judged by default but switched off by the thresholds; names
	 * are pointers into the sets.
	 */
	enum gp_metric off[GP_METRICS];
	const char *kernels_off[GP_CHECK_KERNELS];
	uint32_t off_count, kernels_off_count;
};

/*
 * The sets must outlive the check.  Each has at most GP_RANK_MOST runs, and the baseline has no
 * partial ones. Call gp_check_close().
 */
void gp_check_judge(const struct gp_run_set *baseline, const struct gp_run_set *now,
		    const struct gp_thresholds *thresholds, struct gp_check *check);
void gp_check_close(struct gp_check *check);

/* "pass", "inconclusive", "regression". */
const char *gp_check_verdict_name(enum gp_check_verdict verdict);

#endif
