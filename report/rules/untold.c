#include "report/rules/untold.h"

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

/* The causes of which the device's idle time is that much at all. */
static uint32_t much_of(const uint64_t state_ns[GP_STATES], uint64_t wall_ns)
{
	uint32_t much = 0;

	for (enum gp_idle_cause i = 0; i < GP_IDLE_CAUSES; i++) {
		uint64_t ns = state_ns[GP_STATE_IDLE + i];

		if (ns >= LEAST_NS && ns * LEAST_PART >= wall_ns)
			much |= 1u << i;
	}
	return much;
}

static void add(struct gp_untold *untold, const struct gp_lull *lull)
{
	uint64_t ns = gp_lull_cause_ns(lull, untold->cause);

	untold->ns += ns;
	if (lull->before.op == GP_NONE) {
		untold->before_ns += ns;
	} else if (lull->after.op == GP_NONE) {
		untold->after_ns += ns;
	} else if (lull->cause == untold->cause) {
		untold->count++;
		if (gp_lull_ns(lull) > untold->longest_ns)
			untold->longest_ns = gp_lull_ns(lull);
	}
}

/* Of that cause, all that no finding explains. */
static struct gp_untold sum(const struct gp_device_lulls *lulls, enum gp_idle_cause cause,
			    bool tells_start, bool tells_end)
{
	struct gp_untold untold = {.cause = cause};

	for (uint32_t i = 0; i < lulls->count; i++) {
		const struct gp_lull *lull = &lulls->lulls[i];

		if (lull->told == GP_NONE && !(lull->before.op == GP_NONE && tells_start) &&
		    !(lull->after.op == GP_NONE && tells_end))
			add(&untold, lull);
	}
	return untold;
}

void gp_untold_find(const struct gp_basis *basis, size_t device, struct gp_advice *advice)
{
	uint32_t much = much_of(basis->wheres.devices[device].state_ns, advice->wall_ns);
	bool tells_start = has_rule(advice, &gp_rule_start_up) ||
			   has_rule(advice, &gp_rule_jit_compile) ||
			   has_rule(advice, &gp_rule_first_use);
	bool tells_end = has_rule(advice, &gp_rule_wind_down);

	advice->untold_count = 0;
	for (enum gp_idle_cause i = 0; i < GP_IDLE_CAUSES; i++) {
		struct gp_untold untold;

		if (!(much & 1u << i) || has_rule_of(advice, i))
			continue;
		untold = sum(&basis->lulls.devices[device], i, tells_start, tells_end);
		if (untold.ns >= LEAST_NS && untold.ns * LEAST_PART >= advice->wall_ns)
			advice->untold[advice->untold_count++] = untold;
	}
}
