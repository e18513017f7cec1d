/*
 * memory_budget: the memory that gpuprof uses in the program's process, limited by --max-memory.
 *
 * Each mapping is charged in full before it is made, touched or not: the reported sum is an upper
 * bound.  A refused mapping is not made, and its owner does without it, as if the system were out
 * of memory.  Tables that are mapped as a whole, and large consumers, request a share of the limit.
 * Any thread, also signal handlers; no lock.
 */
#ifndef COLLECTOR_MEMORY_BUDGET_H
#define COLLECTOR_MEMORY_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The library, its permanent tables, and the stacks of two threads: never released. */
#define GP_MEMORY_BUDGET_FIXED_BYTES (2u << 20)

enum gp_memory_budget_life {
	GP_MEMORY_BUDGET_INHERITED, /* forked children inherit it */
	/* forked children do not (MADV_DONTFORK): it counts as free there */
	GP_MEMORY_BUDGET_NOT_INHERITED,
};

/* Once, before the first charge; 0 = no limit. */
void gp_memory_budget_init(uint64_t most_bytes);

/* The limit; 0 = none. */
uint64_t gp_memory_budget_limit(void);

/*
 * The smaller of wanted_bytes and a share of the limit (part 4: a quarter); wanted_bytes if there
 * is no limit.
 */
uint64_t gp_memory_budget_share(uint64_t wanted_bytes, uint32_t part);

/* The same for a table whose size, like wanted_bytes, is a power of two. */
uint64_t gp_memory_budget_share_pow2(uint64_t wanted_bytes, uint32_t part);

/* False: refused and counted. */
bool gp_memory_budget_charge(enum gp_memory_budget_life life, size_t bytes);
void gp_memory_budget_release(enum gp_memory_budget_life life, size_t bytes);

/* The peak of the charged bytes, including the fixed part; the number of refusals. */
uint64_t gp_memory_budget_peak(void);
uint64_t gp_memory_budget_refusals(void);

/*
 * For a forked child that starts its own recording: no refusals, and the peak is the current
 * charge.
 */
void gp_memory_budget_reset(void);

#endif
