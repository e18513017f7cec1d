/*
 * measured_kernels: kernels of the present process that have hardware counters (--counters,
 * --roofline).
 *
 * The measured launches of a kernel with the same grid and block stand for all of them: what could
 * be saved of them, could be saved of each.
 */
#ifndef REPORT_ADVICE_RULES_MEASURED_KERNELS_H
#define REPORT_ADVICE_RULES_MEASURED_KERNELS_H

#include "report/advice/rules/advisor.h"
#include "report/analysis/device/roofline.h"

struct gp_measured_kernel {
	double means[GP_ROLES]; /* NAN: not measured */
	const struct gp_record_device *device;
	const struct gp_record_shape *shape;
	uint64_t measured; /* launches */
};

/* The share of the kernel's time that could be saved, at most; not above 0, or NAN: nothing. */
typedef double gp_measured_judge(const struct gp_measured_kernel *kernel);

/*
 * Adds each launch of such kernels to the case of its site and its kernel's name.  The means are
 * computed once for all rules: advisor->measured.
 */
void gp_measured_kernels_add(struct gp_advisor *advisor, gp_measured_judge *judge);
void gp_measured_kernels_free(struct gp_measured_kernels *measured);

/* The members that such rules share, whose functions are look() and add_values(). */
#define GP_MEASURED_RULE                                                                           \
	.threshold = {.saves_percent = 5,                                                          \
		      .saves_ns = 1000000,                                                         \
		      .count = 4,                                                                  \
		      .reason = "Fewer launches are setup"},                                       \
	.limits = limits, .is_of_gpu = true, .own_bytes = sizeof(struct gp_measured_own),          \
	.look = look, .add_values = add_values

/* What such a rule keeps of a case: the kernel with the largest saving. */
struct gp_measured_own {
	struct gp_measured_kernel kernel;
	double saves_ns;
};

/* Adds "kernel", its name, and "measured", how many launches were. */
void gp_measured_kernels_add_values(const struct gp_advisor *advisor, const struct gp_case *found,
				    struct gp_document *values);

#endif
