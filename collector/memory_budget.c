#include "collector/memory_budget.h"

#include "collector/atomic.h"
#include "collector/process_state.h"

static struct {
	uint64_t most_bytes;
	uint64_t inherited_bytes; /* charged; the other part is in gp_process_state */
	uint64_t peak_bytes;
	uint64_t refusals;
} budget;

void gp_memory_budget_init(uint64_t most_bytes)
{
	budget.most_bytes = most_bytes;
	budget.peak_bytes = GP_MEMORY_BUDGET_FIXED_BYTES;
}

uint64_t gp_memory_budget_limit(void)
{
	return budget.most_bytes;
}

uint64_t gp_memory_budget_share(uint64_t wanted_bytes, uint32_t part)
{
	uint64_t most = budget.most_bytes / part;

	return budget.most_bytes != 0 && most < wanted_bytes ? most : wanted_bytes;
}

uint64_t gp_memory_budget_share_pow2(uint64_t wanted_bytes, uint32_t part)
{
	uint64_t most = gp_memory_budget_share(wanted_bytes, part);

	while (wanted_bytes > most)
		wanted_bytes /= 2;
	return wanted_bytes;
}

static uint64_t *taken_of(enum gp_memory_budget_life life)
{
	return life == GP_MEMORY_BUDGET_INHERITED ? &budget.inherited_bytes
						  : &gp_process_state.memory_bytes;
}

static uint64_t taken(void)
{
	return GP_MEMORY_BUDGET_FIXED_BYTES + gp_load64_ordered(&budget.inherited_bytes) +
	       gp_load64_ordered(&gp_process_state.memory_bytes);
}

static void note_peak(uint64_t bytes)
{
	uint64_t peak = gp_load64(&budget.peak_bytes);

	while (bytes > peak && !gp_replace64(&budget.peak_bytes, peak, bytes))
		peak = gp_load64(&budget.peak_bytes);
}

/*
 * Of two concurrent requests that fit only one at a time, both may be refused, which is safe.  All
 * threads add to and read the two words in the same order, so at least one of two concurrent
 * requests sees the other.
 */
bool gp_memory_budget_charge(enum gp_memory_budget_life life, size_t bytes)
{
	gp_add64_ordered(taken_of(life), bytes);
	uint64_t now = taken();

	if (budget.most_bytes == 0 || now <= budget.most_bytes) {
		note_peak(now);
		return true;
	}
	gp_memory_budget_release(life, bytes);
	gp_add64(&budget.refusals, 1);
	return false;
}

void gp_memory_budget_release(enum gp_memory_budget_life life, size_t bytes)
{
	gp_add64(taken_of(life), -(uint64_t)bytes);
}

uint64_t gp_memory_budget_peak(void)
{
	return gp_load64(&budget.peak_bytes);
}

uint64_t gp_memory_budget_refusals(void)
{
	return gp_load64(&budget.refusals);
}

void gp_memory_budget_reset(void)
{
	gp_store64(&budget.peak_bytes, taken());
	gp_store64(&budget.refusals, 0);
}
