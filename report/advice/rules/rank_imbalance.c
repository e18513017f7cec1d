#include "report/advice/rules/rules.h"

#include <stdlib.h>
#include <string.h>

#include "report/analysis/idle/busy.h"
#include "report/base/spill_memory.h"
#include "report/advice/rules/advisor.h"

#define LIMITS(LIMIT)                                                                              \
	LIMIT(ABOVE_PERCENT, 10, PERCENT, "above the mean: less is the clock of the GPUs")
GP_LIMITS(LIMITS);

struct own {
	uint64_t mean_ns;
	bool talks; /* at least two ranks communicate */
};

struct rank {
	uint64_t ns; /* GPU time without communication and autotuning */
	bool talks;  /* it communicates */
};

static void sum_up(const struct gp_advisor *advisor, size_t process, struct rank *rank)
{
	const struct gp_model *model = advisor->scope.models[process];
	const uint8_t *tuners = advisor->basis->tunings[process].of;
	uint8_t *kinds = gp_kinds_of_names(advisor->kinds, model);
	struct gp_interval *intervals =
		gp_spill_take(((size_t)model->op_count + 1) * sizeof(*intervals));
	uint32_t count = 0;

	*rank = (struct rank){0};
	for (uint32_t i = 0; i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];
		bool talks = gp_kinds_of_op(kinds, model, op) == GP_KIND_COMMUNICATION;

		rank->talks |= talks;
		if (!talks && tuners[i] == GP_TUNER_NONE)
			intervals[count++] = (struct gp_interval){op->start_ns, op->end_ns};
	}
	rank->ns = gp_interval_union(intervals, count);
	gp_spill_free(intervals);
	free(kinds);
}

static bool is_rank(const struct gp_model *model)
{
	return model->info[GP_INFO_RANK] && model->op_count > 0;
}

/* Whether each rank occurs once: else the traces are of two runs. */
static bool are_different(struct gp_model *const *models, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			if (is_rank(models[i]) && is_rank(models[k]) &&
			    strcmp(models[i]->info[GP_INFO_RANK], models[k]->info[GP_INFO_RANK]) ==
				    0)
				return false;
	return true;
}

static void look_at_all(struct gp_advisor *advisor)
{
	struct gp_model *const *models = advisor->scope.models;
	uint64_t total_ns = 0, most_ns = 0, ranks = 0, talking = 0;
	size_t busiest = 0;
	struct gp_case *found;
	struct rank rank;
	struct own *own;

	/* late-rank says which rank the others wait for, and why */
	if (advisor->matched_collectives > 0)
		return;
	for (size_t i = 0; i < advisor->scope.model_count; i++) {
		if (!is_rank(models[i]))
			continue;
		sum_up(advisor, i, &rank);
		ranks++;
		talking += rank.talks;
		total_ns += rank.ns;
		busiest = rank.ns > most_ns ? i : busiest;
		most_ns = rank.ns > most_ns ? rank.ns : most_ns;
	}
	if (ranks < 2 || most_ns * ranks * 100 < total_ns * (100 + ABOVE_PERCENT) ||
	    !are_different(models, advisor->scope.model_count))
		return;
	advisor->process = busiest;
	found = gp_advisor_case(advisor, GP_NO_SITE, 0, 0);
	own = found->own;
	own->mean_ns = total_ns / ranks;
	own->talks = talking > 1;
	gp_advisor_add(advisor, found, GP_ALL_THE_TIME, most_ns, most_ns - total_ns / ranks, NULL);
	found->count = ranks;
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct own *own = found->own;

	gp_document_add_text(values, "rank",
			     advisor->scope.models[found->process]->info[GP_INFO_RANK]);
	gp_document_add_number(values, "mean_rank_ns", GP_UNIT_NS, own->mean_ns);
	gp_document_add_flag(values, "has_communication", own->talks);
}

const struct gp_rule gp_rule_rank_imbalance = {
	.id = "rank-imbalance",
	.title = "one rank has more work than the others",
	.found =
		"the GPU of rank {rank} computes for {time_ns}, those of all {count} ranks for {mean_rank_ns} on average: the other ranks wait for it [{?has_communication}in each collective operation|wherever ranks wait for each other]",
	.change = "distribute the work evenly: samples by their length, layers by their time",
	.meaning =
		"The GPUs of the ranks computed and copied for unequal times, without communication: the slowest for {ABOVE_PERCENT} % longer than the mean. Ranks wait for each other in each collective operation, so all take as long as the slowest. If the collective operations of all ranks are in the traces, the rule late-rank reports the wait, and this rule reports nothing. The saving is the time of the slowest rank above the mean.",
	.remedy =
		"Distribute the work evenly: sort samples by length, balance pipeline stages and experts. Check whether the slow GPU has a lower clock.",
	.ignore = "The ranks do different work on purpose, and do not wait for each other.",
	.threshold = {.saves_percent = 5,
		      .saves_ns = 1000000,
		      .count = 2,
		      .reason = "With one rank, no other rank waits for it"},
	.limits = limits,
	.is_of_gpu = true,
	.own_bytes = sizeof(struct own),
	.look_at_all = look_at_all,
	.add_values = add_values,
};
