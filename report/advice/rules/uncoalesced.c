#include "report/advice/rules/rules.h"

#include <math.h>

#include "report/advice/rules/measured_kernels.h"

#define LIMITS(LIMIT)                                                                              \
	LIMIT(SECTORS, 20, COUNT, "sectors of a request: the widest accesses need 16")             \
	LIMIT(NEEDED, 4, COUNT, "sectors for 32 threads with 4 bytes each, side by side")          \
	LIMIT(BUSY_PERCENT, 10, PERCENT, "of the cycles of an SM with a sector: fewer cost little")
GP_LIMITS(LIMITS);

/* Of a request of a warp, which is an instruction. */
static double sectors_of(double sectors, double requests)
{
	return requests > 0 ? sectors / requests : 0;
}

/* Sectors that were accessed in vain, at most. */
static double excess(double sectors, double requests)
{
	return sectors_of(sectors, requests) >= SECTORS ? sectors - NEEDED * requests : 0;
}

static double judge(const struct gp_measured_kernel *kernel)
{
	const double *m = kernel->means;
	double vain = excess(m[GP_ROLE_LOAD_SECTORS], m[GP_ROLE_LOADS]) +
		      excess(m[GP_ROLE_STORE_SECTORS], m[GP_ROLE_STORES]);
	double cycles = kernel->device ? m[GP_ROLE_CYCLES_ACTIVE] * kernel->device->multiprocessors
				       : (double)NAN;

	return vain >= cycles * BUSY_PERCENT / 100 ? vain / m[GP_ROLE_SECTORS] : 0;
}

static void look(struct gp_advisor *advisor)
{
	gp_measured_kernels_add(advisor, judge);
}

static void add_sectors(struct gp_document *values, const char *id, double sectors, double requests)
{
	if (excess(sectors, requests) > 0)
		gp_document_add_words(values, id, "%.1f", sectors_of(sectors, requests));
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct gp_measured_own *own = found->own;
	const double *m = own->kernel.means;

	gp_measured_kernels_add_values(advisor, found, values);
	add_sectors(values, "load_sectors", m[GP_ROLE_LOAD_SECTORS], m[GP_ROLE_LOADS]);
	add_sectors(values, "store_sectors", m[GP_ROLE_STORE_SECTORS], m[GP_ROLE_STORES]);
}

const struct gp_rule gp_rule_uncoalesced = {
	.id = "uncoalesced",
	.title = "the threads of a warp access memory far apart",
	.found =
		"kernel {kernel} ({count} times, {time_ns} in all) accesses global memory far apart: [a load of a warp touches {load_sectors} sectors of 32 bytes, a store {store_sectors}|a load of a warp touches {load_sectors} sectors of 32 bytes|a store of a warp touches {store_sectors} sectors of 32 bytes]",
	.change =
		"let neighboring threads access neighboring elements: swap the indices, use an array for each member in place of an array of structures, or read a tile into shared memory and transpose it there",
	.meaning =
		"The values are hardware counters of the kernel's measured launches (--roofline or --counters=memory). Memory is moved in sectors of 32 bytes. A warp whose threads access neighboring elements of 4 bytes touches {NEEDED} sectors; with the widest accesses, of 16 bytes, it touches 16. If it touches {SECTORS} or more, its threads access memory far apart, and most of the moved bytes are not needed. Kernels with fewer than {BUSY_PERCENT} needless sectors for 100 cycles of each SM are not reported, because little can be saved. The saving is an upper bound: the kernel's time shrinks with its sectors, as if each access needed {NEEDED}.",
	.remedy =
		"Compute the index of the fastest changing dimension from threadIdx.x. Use a structure of arrays in place of an array of structures. Transpose through shared memory with a padded tile. `gpuprof summary --by counter` has the sectors and instructions of each kernel.",
	.ignore =
		"The accesses depend on data, as with a sparse matrix or a hash table, or the arrays fit into the L1 cache.",
	GP_MEASURED_RULE,
};
