#include "report/advice/rules/rules.h"

#include "report/advice/rules/measured_kernels.h"

#define LIMITS(LIMIT)                                                                              \
	LIMIT(CONFLICTS_PERCENT, 50, PERCENT, "of the cycles of shared memory: half are needed")   \
	LIMIT(PIPE_PERCENT, 30, PERCENT, "of the time that the pipe is busy: less costs little")
GP_LIMITS(LIMITS);

/* The part of the cycles of shared memory that are conflicts. */
static double conflicts(const struct gp_measured_kernel *kernel)
{
	const double *m = kernel->means;

	return m[GP_ROLE_SHARED_WAVEFRONTS] > 0
		       ? m[GP_ROLE_BANK_CONFLICTS] / m[GP_ROLE_SHARED_WAVEFRONTS]
		       : 0;
}

static double judge(const struct gp_measured_kernel *kernel)
{
	double pipe = kernel->means[GP_ROLE_LSU_DATA_PIPE];

	return pipe >= PIPE_PERCENT && conflicts(kernel) >= CONFLICTS_PERCENT / 100.0
		       ? pipe / 100 * conflicts(kernel)
		       : 0;
}

static void look(struct gp_advisor *advisor)
{
	gp_measured_kernels_add(advisor, judge);
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct gp_measured_own *own = found->own;

	gp_measured_kernels_add_values(advisor, found, values);
	gp_document_add_words(values, "conflicts_percent", "%.0f", 100 * conflicts(&own->kernel));
	gp_document_add_words(values, "pipe_percent", "%.0f",
			      own->kernel.means[GP_ROLE_LSU_DATA_PIPE]);
}

const struct gp_rule gp_rule_bank_conflicts = {
	.id = "bank-conflicts",
	.title = "accesses to shared memory wait for each other",
	.found =
		"kernel {kernel} ({count} times, {time_ns} in all) has bank conflicts: {conflicts_percent} % of the cycles of its shared memory accesses; their pipe is busy {pipe_percent} % of the time",
	.change =
		"let the threads of a warp access different banks: pad the rows of the array by one word (33 in place of 32), or store each row's columns in another order (column ^ row)",
	.meaning =
		"The values are hardware counters of the kernel's measured launches (--roofline or --counters=pipes). Shared memory has 32 banks of 4 bytes. If threads of a warp access different words of one bank, the accesses are made one after the other. gpuprof reports a kernel if {CONFLICTS_PERCENT} % or more of the cycles of shared memory are due to such conflicts, and the pipe of these accesses is busy {PIPE_PERCENT} % of the time or more. The saving is an upper bound: the pipe has that much less to do, and nothing else takes its place.",
	.remedy =
		"Pad the rows of arrays in shared memory: with rows of 32 words a column lies in one bank; with rows of 33 words it does not. `gpuprof summary --by counter` has the wavefronts and conflicts of each kernel.",
	.ignore = "The accesses depend on data, as with a histogram.",
	GP_MEASURED_RULE,
};
