#include "report/advice/rules/rules.h"

#include <math.h>

#include "report/advice/rules/measured_kernels.h"

#define LIMITS(LIMIT)                                                                              \
	LIMIT(LOCAL_PERCENT, 25, PERCENT, "of the sectors of L1: less can save little")            \
	LIMIT(BUSY_PERCENT, 40, PERCENT,                                                           \
	      "of the cycles of an SM with a sector: L1 takes four in a cycle")                    \
	LIMIT(SECTORS, 4, COUNT, "of a request of a warp, with 4 bytes for each thread ...")       \
	LIMIT(MOST_SECTORS, 16, COUNT, "... and with 16 bytes")
GP_LIMITS(LIMITS);

/* What is left of all sectors, within what the instructions can access. */
static double local_sectors(const double *m)
{
	double requests = m[GP_ROLE_LOCAL_LOADS] + m[GP_ROLE_LOCAL_STORES];
	double rest = m[GP_ROLE_SECTORS] - m[GP_ROLE_LOAD_SECTORS] - m[GP_ROLE_STORE_SECTORS];

	return fmin(fmax(rest, SECTORS * requests), MOST_SECTORS * requests);
}

static double local_share(const struct gp_measured_kernel *kernel)
{
	return local_sectors(kernel->means) / kernel->means[GP_ROLE_SECTORS];
}

static double judge(const struct gp_measured_kernel *kernel)
{
	double cycles = kernel->device ? kernel->means[GP_ROLE_CYCLES_ACTIVE] *
						 kernel->device->multiprocessors
				       : (double)NAN;

	return local_share(kernel) >= LOCAL_PERCENT / 100.0 &&
			       local_sectors(kernel->means) >= cycles * BUSY_PERCENT / 100
		       ? local_share(kernel)
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
	const struct gp_record_shape *shape = own->kernel.shape;

	gp_measured_kernels_add_values(advisor, found, values);
	gp_document_add_words(values, "local_percent", "%.0f", 100 * local_share(&own->kernel));
	if (shape && shape->local_per_thread_bytes > 0)
		gp_document_add_number(values, "thread_bytes", GP_UNIT_BYTES,
				       shape->local_per_thread_bytes);
	if (shape && shape->registers > 0)
		gp_document_add_number(values, "registers", GP_UNIT_COUNT, shape->registers);
}

const struct gp_rule gp_rule_local_memory = {
	.id = "local-memory",
	.title = "a kernel keeps variables in memory that registers could hold",
	.found =
		"kernel {kernel} ({count} times, {time_ns} in all) keeps variables in local memory[, {thread_bytes} for each thread]: {local_percent} % of its L1 traffic[; it has {registers} registers]",
	.change =
		"keep them in registers: index local arrays by constants only (unroll the loops over them), raise the limit of __launch_bounds__ or -maxrregcount, or give each thread less work; `nvcc -Xptxas -v` lists spills",
	.meaning =
		"The values are hardware counters of the kernel's measured launches (--roofline or --counters=memory). A thread's variables are in local memory if they do not fit into its registers (spills), or if an array is indexed by a variable. Local memory is memory of the GPU behind the caches. gpuprof reports a kernel if these accesses are {LOCAL_PERCENT} % or more of its accesses to L1, and {BUSY_PERCENT} sectors or more for 100 cycles of each SM. The saving is an upper bound: the kernel's time shrinks by the share of these accesses.",
	.remedy =
		"Unroll loops over small arrays (#pragma unroll), so that each index is a constant. A kernel with a limit on registers (__launch_bounds__, -maxrregcount) may be faster with more registers and fewer threads. Split a kernel that needs very many variables.",
	.ignore = "The array is large, and its indices depend on data.",
	GP_MEASURED_RULE,
};
