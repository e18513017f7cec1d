#include "report/rules/untold.h"

#include <string.h>

#include "report/rules/rules.h"

/* Of the time that counts; and what is less is nothing to anybody, as of idle-rest. */
#define LEAST_PART 4u
#define LEAST_NS   20000000u

static bool has_rule(const struct gp_advice *advice, const struct gp_rule *rule)
{
	for (uint32_t i = 0; i < advice->count; i++)
		if (advice->findings[i].rule == rule)
			return true;
	return false;
}

/* Rules that say of calls what they held up, which need not be most of an idle time: where one speaks, its cause is told. */
static bool has_rule_of(const struct gp_advice *advice, enum gp_idle_cause cause)
{
	static const struct gp_rule *const rules[][7] = {
		[GP_IDLE_COPY] = {&gp_rule_pageable_async, &gp_rule_hidden_wait, &gp_rule_sync_copy,
				  &gp_rule_sync_memset, &gp_rule_tiny_copies,
				  &gp_rule_repeated_copy},
		[GP_IDLE_SYNC] = {&gp_rule_sync_in_loop, &gp_rule_sync_calls, &gp_rule_hidden_wait,
				  &gp_rule_sync_copy},
	};

	if (cause != GP_IDLE_COPY && cause != GP_IDLE_SYNC)
		return false;
	for (size_t i = 0; rules[cause][i]; i++)
		if (has_rule(advice, rules[cause][i]))
			return true;
	return false;
}

static void add_between(struct gp_untold *all, const struct gp_lull *lull)
{
	struct gp_untold *most = &all[lull->cause];

	for (enum gp_idle_cause i = 0; i < GP_IDLE_CAUSES; i++)
		all[i].ns += gp_lull_cause_ns(lull, i);
	most->count++;
	if (gp_lull_ns(lull) > most->longest_ns)
		most->longest_ns = gp_lull_ns(lull);
}

static void add_end(struct gp_untold *all, const struct gp_lull *lull)
{
	for (enum gp_idle_cause i = 0; i < GP_IDLE_CAUSES; i++) {
		uint64_t ns = gp_lull_cause_ns(lull, i);

		all[i].ns += ns;
		*(lull->before.op == GP_NONE ? &all[i].before_ns : &all[i].after_ns) += ns;
	}
}

void gp_untold_find(const struct gp_basis *basis, size_t device, struct gp_advice *advice)
{
	const struct gp_device_lulls *lulls = &basis->lulls.devices[device];
	bool tells_start = has_rule(advice, &gp_rule_start_up) ||
			   has_rule(advice, &gp_rule_jit_compile) ||
			   has_rule(advice, &gp_rule_first_use);
	bool tells_end = has_rule(advice, &gp_rule_wind_down);
	struct gp_untold all[GP_IDLE_CAUSES];

	memset(all, 0, sizeof(all));
	for (uint32_t i = 0; i < lulls->count; i++) {
		const struct gp_lull *lull = &lulls->lulls[i];
		bool is_start = lull->before.op == GP_NONE;

		if (lull->told != GP_NONE)
			continue;
		if (gp_lull_is_between(lull))
			add_between(all, lull);
		else if (is_start ? !tells_start : !tells_end)
			add_end(all, lull);
	}
	advice->untold_count = 0;
	for (enum gp_idle_cause i = 0; i < GP_IDLE_CAUSES; i++) {
		all[i].cause = i;
		if (all[i].ns >= LEAST_NS && all[i].ns * LEAST_PART >= advice->wall_ns &&
		    !has_rule_of(advice, i))
			advice->untold[advice->untold_count++] = all[i];
	}
}
