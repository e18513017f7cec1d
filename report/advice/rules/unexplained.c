#include "report/advice/rules/unexplained.h"

#include <stdio.h>
#include <string.h>

#include "report/base/group_by.h"
#include "report/advice/rules/rules.h"

static bool has_rule(const struct gp_advice *advice, const struct gp_rule *rule)
{
	for (uint32_t i = 0; i < advice->count; i++)
		if (advice->findings[i].rule == rule)
			return true;
	return false;
}

static const struct gp_rule *const no_rules[] = {NULL};
static const struct gp_rule *const of_copies[] = {&gp_rule_pageable_async,
						  &gp_rule_hidden_wait,
						  &gp_rule_sync_copy,
						  &gp_rule_sync_memset,
						  &gp_rule_tiny_copies,
						  &gp_rule_repeated_copy,
						  NULL};

/* Rules of calls need not explain most of a gap: a finding of theirs explains its cause. */
static bool has_rule_of(const struct gp_advice *advice, enum gp_idle_cause cause)
{
	static const struct gp_rule *const of_syncs[] = {&gp_rule_sync_in_loop, &gp_rule_sync_calls,
							 &gp_rule_hidden_wait, &gp_rule_sync_copy,
							 NULL};
	const struct gp_rule *const *rules = cause == GP_IDLE_COPY   ? of_copies
					     : cause == GP_IDLE_SYNC ? of_syncs
								     : no_rules;

	for (size_t i = 0; rules[i]; i++)
		if (has_rule(advice, rules[i]))
			return true;
	return false;
}

/* The causes with enough idle time of the device. */
static uint32_t much_of(const uint64_t state_ns[GP_STATES], uint64_t wall_ns)
{
	uint32_t much = 0;

	for (enum gp_idle_cause i = 0; i < GP_IDLE_CAUSES; i++) {
		uint64_t ns = state_ns[GP_STATE_IDLE + i];

		if (ns >= GP_UNTOLD_NS && ns * GP_UNTOLD_PART >= wall_ns)
			much |= 1u << i;
	}
	return much;
}

static bool is_unexplained(const struct gp_device_idle_gaps *device,
			   const struct gp_idle_gap *idle_gap, bool tells_start, bool tells_end)
{
	return idle_gap->told == GP_NONE &&
	       !(tells_start && gp_idle_gap_is_at_start(device, idle_gap)) &&
	       !(tells_end && gp_idle_gap_is_at_end(device, idle_gap));
}

static void add(struct gp_unexplained *unexplained, const struct gp_device_idle_gaps *device,
		const struct gp_idle_gap *idle_gap)
{
	uint64_t ns = gp_idle_gap_cause_ns(idle_gap, unexplained->cause);

	unexplained->ns += ns;
	if (gp_idle_gap_is_at_start(device, idle_gap)) {
		unexplained->before_ns += ns;
	} else if (gp_idle_gap_is_at_end(device, idle_gap)) {
		unexplained->after_ns += ns;
	} else if (idle_gap->cause == unexplained->cause) {
		unexplained->count++;
		if (gp_idle_gap_ns(idle_gap) > unexplained->longest_ns)
			unexplained->longest_ns = gp_idle_gap_ns(idle_gap);
	}
}

static struct gp_unexplained sum(const struct gp_device_idle_gaps *device, enum gp_idle_cause cause,
				 bool tells_start, bool tells_end)
{
	struct gp_unexplained unexplained = {.cause = cause};

	for (uint32_t i = 0; i < device->count; i++) {
		if (is_unexplained(device, &device->idle_gaps[i], tells_start, tells_end))
			add(&unexplained, device, &device->idle_gaps[i]);
	}
	return unexplained;
}

/* ---- the place at which most of it ends ---- */

#define PLACE_BYTES 512

/* The call after a gap, if its line is known; else the operation. */
static void say_place(const struct gp_advisor *advisor, const struct gp_idle_gap *idle_gap,
		      char text[PLACE_BYTES])
{
	const struct gp_model *model = advisor->scope.models[idle_gap->after.model];
	const struct gp_op *op = &model->ops[idle_gap->after.op];
	const struct gp_call *call = gp_model_op_cause(model, op);

	if (call && call->stack != GP_NONE)
		snprintf(text, PLACE_BYTES, "at %s",
			 gp_call_sites_at(advisor->sites,
					  gp_call_sites_find(advisor->sites, model, call))
				 .place);
	else if (op->kind == GP_OP_KERNEL)
		snprintf(text, PLACE_BYTES, "before %s",
			 gp_names_short(advisor->scope.names, gp_model_kernel_name(model, op)));
	else
		snprintf(text, PLACE_BYTES, "before %s",
			 call ? gp_model_api(model, call->api).name : "another operation");
}

static void group_places(const struct gp_advisor *advisor,
			 const struct gp_device_idle_gaps *idle_gaps, enum gp_idle_cause cause,
			 struct gp_groups *places)
{
	for (uint32_t i = 0; i < idle_gaps->count; i++) {
		const struct gp_idle_gap *idle_gap = &idle_gaps->idle_gaps[i];
		char text[PLACE_BYTES];
		uint32_t row;

		if (idle_gap->told != GP_NONE || idle_gap->cause != cause ||
		    !gp_idle_gap_is_between(idle_gap))
			continue;
		say_place(advisor, idle_gap, text);
		row = gp_groups_find(places, text);
		gp_groups_add(places, row, gp_idle_gap_cause_ns(idle_gap, cause));
	}
}

static void put_place(const struct gp_advisor *advisor, const struct gp_device_idle_gaps *idle_gaps,
		      struct gp_unexplained *unexplained)
{
	struct gp_groups places = {0};
	const struct gp_group *most = NULL;

	group_places(advisor, idle_gaps, unexplained->cause, &places);
	for (uint32_t i = 0; i < places.count; i++)
		if (!most || places.rows[i].total_ns > most->total_ns)
			most = &places.rows[i];
	if (most && most->total_ns * GP_UNTOLD_PART >= unexplained->ns) {
		unexplained->place_ns = most->total_ns;
		unexplained->place = strdup(most->key);
	}
	gp_groups_free(&places);
}

/* ---- why the rules of copies found nothing ---- */

static bool is_of(const struct gp_case *found, const struct gp_rule *const *rules)
{
	for (; *rules; rules++)
		if (gp_rules[found->rule] == *rules)
			return true;
	return false;
}

static void put_copies(const struct gp_advisor *advisor, struct gp_unexplained *unexplained)
{
	uint64_t most_ns = 0;

	for (uint32_t i = 0; i < advisor->case_count; i++) {
		struct gp_case more = advisor->cases[i];

		if (more.saves_ns == 0 || !is_of(&more, of_copies))
			continue;
		unexplained->is_little = true;
		more.count = UINT64_MAX;
		if (more.saves_ns <= most_ns || !gp_advisor_is_worth(advisor, &more))
			continue;
		most_ns = more.saves_ns;
		unexplained->few = advisor->cases[i].count;
	}
}

void gp_unexplained_find(const struct gp_advisor *advisor, size_t device, struct gp_advice *advice)
{
	const struct gp_analysis *basis = advisor->basis;
	const struct gp_device_idle_gaps *idle_gaps = &basis->idle_gaps.devices[device];
	uint32_t much = much_of(basis->wheres.devices[device].state_ns, advice->wall_ns);
	bool tells_start = has_rule(advice, &gp_rule_start_up) ||
			   has_rule(advice, &gp_rule_jit_compile) ||
			   has_rule(advice, &gp_rule_first_use);
	bool tells_end = has_rule(advice, &gp_rule_wind_down);

	advice->unexplained_count = 0;
	for (enum gp_idle_cause i = 0; i < GP_IDLE_CAUSES; i++) {
		struct gp_unexplained unexplained;

		if (!(much & 1u << i) || has_rule_of(advice, i))
			continue;
		unexplained = sum(idle_gaps, i, tells_start, tells_end);
		if (unexplained.ns < GP_UNTOLD_NS ||
		    unexplained.ns * GP_UNTOLD_PART < advice->wall_ns)
			continue;
		if (i == GP_IDLE_HOST)
			put_place(advisor, idle_gaps, &unexplained);
		else if (i == GP_IDLE_COPY)
			put_copies(advisor, &unexplained);
		advice->unexplained[advice->unexplained_count++] = unexplained;
	}
}
