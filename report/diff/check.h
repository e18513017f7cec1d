/*
 * check: whether runs are slower than those of a baseline, or do more than they did.
 *
 * Counts and bytes that are the same in all runs of the baseline are compared as they are: a
 * regression is what is beyond the threshold in every run.  All else (times, and counts that vary)
 * is judged by rank tests (report/diff/rank.h) of the values against the baseline's, raised by the
 * threshold:
 *
 *  regression    more than the threshold is shown, in such a way that with all metrics together
 *                less than GP_CHECK_ALARMS of the checks of equal programs show one (Holm);
 *  pass          more than the threshold is excluded, with the probability 1 - GP_CHECK_DOUBT for
 *                each metric;
 *  inconclusive  neither, and how many runs would probably tell.
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
 * Kernels that are judged: the longest ones that have at least that share of all kernels' time, and
 * those that a threshold names.
 */
#define GP_CHECK_KERNELS      20u
#define GP_CHECK_KERNEL_SHARE 0.01

/* What resolves thresholds of about twice the noise. */
#define GP_CHECK_GOOD_RUNS     7u
#define GP_CHECK_GOOD_BASELINE 20u

enum gp_verdict { GP_VERDICT_PASS, GP_VERDICT_INCONCLUSIVE, GP_VERDICT_REGRESSION };

/* Why a finding is inconclusive. */
enum gp_doubt {
	GP_DOUBT_NONE,
	GP_DOUBT_UNKNOWN, /* not recorded in all runs */
	/* the same in the baseline's runs, more than that in some of the runs only */
	GP_DOUBT_VARIES,
	GP_DOUBT_FEW, /* so few runs can show nothing, whatever they say */
	/*
	 * worse by the medians, but so few runs cannot show that of so many metrics, whatever they
	 * say
	 */
	GP_DOUBT_UNSHOWN,
	/*
	 * it would be a regression if it were judged alone: of so many metrics, one seems worse by
	 * chance
	 */
	GP_DOUBT_TOGETHER,
	GP_DOUBT_NOISE, /* it varies too much for that many runs */
};

/* One metric, or one kernel's time. */
struct gp_finding {
	enum gp_metric metric; /* GP_METRICS: the kernel's */
	const char *kernel;    /* its mangled name, of the sets; NULL = none */
	enum gp_unit unit;
	enum gp_verdict verdict;
	enum gp_doubt doubt;
	bool exact; /* compared as it is */
	bool improved;
	double baseline, now; /* medians */
	double margin;        /* what is tolerated above the baseline's */
	uint32_t beyond;      /* exact: how many runs have more than that */
	/* Of the rank tests. */
	/*
	 * The change is more than low, as sure as a regression has to be, all metrics together (low
	 * > margin: it is one); and less than high with 1 - GP_CHECK_DOUBT (high < margin: it
	 * passes).  May be infinite; low is not below -baseline otherwise.
	 */
	double low, high;
	double chance;            /* of at least such a regression where there is none */
	double excluded;          /* of at least so few signs of a regression where there is one */
	uint32_t runs_needed;     /* would probably tell; 0 = more than GP_RANK_MOST */
	uint32_t baseline_needed; /* with a baseline of so many */
};

struct gp_check {
	/* exact ones first, in the order of the metrics; then times, then kernels, longest first */
	struct gp_finding *findings;
	uint32_t count, capacity;
	enum gp_verdict verdict;
	uint32_t baseline_runs, runs; /* that were compared: without partial ones */
	uint32_t tested;              /* findings of rank tests */
	uint32_t runs_needed,
		/*
		 * would probably tell all that are inconclusive; 0 = none is, or more than
		 * GP_RANK_MOST
		 */
		baseline_needed;
	const char **new_kernels, **gone_kernels; /* names of the sets */
	uint32_t new_count, gone_count;
	/*
	 * What the thresholds switch off of what is judged by default: metrics, and kernels, by
	 * their names of the sets.
	 */
	enum gp_metric off[GP_METRICS];
	const char *kernels_off[GP_CHECK_KERNELS];
	uint32_t off_count, kernels_off_count;
};

/*
 * The sets must outlive the check, each has GP_RANK_MOST runs at most, the baseline's no partial
 * one.  Returns 0 or -ENOMEM; gp_check_close() in either case.
 */
int gp_check_judge(const struct gp_run_set *baseline, const struct gp_run_set *now,
		   const struct gp_thresholds *thresholds, struct gp_check *check);
void gp_check_close(struct gp_check *check);

/* "pass", "inconclusive", "regression". */
const char *gp_verdict_name(enum gp_verdict verdict);

#endif
