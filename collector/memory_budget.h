/*
 * budget: the memory that gpuprof takes in the program's process, and --max-memory, which bounds it.
 *
 * Whatever is mapped is charged before, in full, touched or not: what is said is the most that it can come to.  What finds no
 * room is not mapped, and its owner does without it, as where the system has no more.  Tables that are mapped at once, and what takes much,
 * ask for their part.  Any thread, also signal handlers; no lock.
 */
#ifndef COLLECTOR_BUDGET_H
#define COLLECTOR_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The library itself, what it always has, and the stacks of two threads: never given back. */
#define GP_MEMORY_BUDGET_FIXED_BYTES (2u << 20)

enum gp_memory_budget_life {
	GP_MEMORY_BUDGET_INHERITED,     /* forked children have it, too */
	GP_MEMORY_BUDGET_NOT_INHERITED, /* they do not (MADV_DONTFORK): it is free there at once */
};

/* Once, before anything is taken; 0 = no bound. */
void gp_memory_budget_init(uint64_t most_bytes);

/* The bound; 0 = none. */
uint64_t gp_memory_budget_limit(void);

/* The smaller of wanted_bytes and the bound's part (4: a quarter); wanted_bytes where there is no bound. */
uint64_t gp_memory_budget_share(uint64_t wanted_bytes, uint32_t part);

/* The same of a table whose size is a power of two, as wanted_bytes is. */
uint64_t gp_memory_budget_share_pow2(uint64_t wanted_bytes, uint32_t part);

/* False: there is no room; counted. */
bool gp_memory_budget_charge(enum gp_memory_budget_life life, size_t bytes);
void gp_memory_budget_release(enum gp_memory_budget_life life, size_t bytes);

/* The most that was taken at a time, the fixed part included; how often there was no room. */
uint64_t gp_memory_budget_peak(void);
uint64_t gp_memory_budget_refusals(void);

/* A forked child that starts a recording of its own: nothing was refused, and no more was taken than what it has. */
void gp_memory_budget_reset(void);

#endif
