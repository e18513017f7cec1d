/*
 * shown: the times that a finding is about, such as calls: one of usual cost is shown in the timeline.
 */
#ifndef REPORT_ADVICE_RULES_SHOWN_H
#define REPORT_ADVICE_RULES_SHOWN_H

#include <stdint.h>

/* ns 0 = none. */
struct gp_shown {
	uint64_t unix_ns, ns;
	uint64_t cost_ns; /* the part of the finding's saving, or ns */
};

/* A random sample of all, the same in each run.  Zeroed = empty. */
#define GP_SHOWN_ROWS 32u
struct gp_shown_sample {
	struct gp_shown rows[GP_SHOWN_ROWS];
	uint32_t count;
	uint64_t seen;
};

void gp_shown_add(struct gp_shown_sample *sample, const struct gp_shown *shown);

/*
 * By cost, the one at which half of all cost is reached: neither one of many that cost nothing, nor an
 * exception; ns 0: there is none.
 */
struct gp_shown gp_shown_usual(const struct gp_shown_sample *sample);

#endif
