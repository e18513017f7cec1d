/*
 * Ranks that have unequal work.  Speaks of the traces of at least two ranks in which the GPU of one
 * computed for 10 % longer than the mean of all, which is 5 % of the recorded time and 1 ms.
 * Communication does not count: in it ranks wait for each other.
 */
#include "report/rules/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/format.h"
#include "report/rules/advisor.h"
#include "report/text.h"

/* GPU time of a process's operations, but for communication. */
static int sum_up(const struct gp_advisor *advisor, const struct gp_model *model, uint64_t *ns)
{
	uint8_t *kinds = gp_kinds_of_names(advisor->kinds, model);

	*ns = 0;
	if (!kinds)
		return -ENOMEM;
	for (uint32_t i = 0; i < model->op_count; i++)
		if (gp_kinds_of_op(kinds, model, &model->ops[i]) != GP_KIND_COMMUNICATION)
			*ns += model->ops[i].end_ns - model->ops[i].start_ns;
	free(kinds);
	return 0;
}

static bool is_rank(const struct gp_model *model)
{
	return model->info[GP_INFO_RANK] && model->op_count > 0;
}

/* Whether a rank occurs once: two runs in one command are no two ranks. */
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
	uint64_t total_ns = 0, most_ns = 0, ranks = 0, rank_ns;
	size_t busiest = 0;
	struct gp_case *found;

	for (size_t i = 0; i < advisor->scope.model_count && advisor->error == 0; i++) {
		if (!is_rank(models[i]))
			continue;
		advisor->error = sum_up(advisor, models[i], &rank_ns);
		ranks++;
		total_ns += rank_ns;
		busiest = rank_ns > most_ns ? i : busiest;
		most_ns = rank_ns > most_ns ? rank_ns : most_ns;
	}
	if (advisor->error != 0 || ranks < 2 || most_ns * ranks * 10 < total_ns * 11 ||
	    !are_different(models, advisor->scope.model_count))
		return;
	found = gp_advisor_case(advisor, GP_NO_SITE, busiest, total_ns / ranks);
	gp_advisor_add(advisor, found, GP_ALL_THE_TIME, most_ns, most_ns - total_ns / ranks, NULL);
	found->count = ranks;
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct gp_model *model = advisor->scope.models[found->detail];

	fputs("the GPU of rank ", out);
	gp_text_print(out, model->info[GP_INFO_RANK]);
	fprintf(out, " computes for %s, the %s ranks for %s on average: the others wait for it",
		gp_format_ns(found->time_ns).text, gp_format_count(found->count).text,
		gp_format_ns(found->other_detail).text);
}

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	(void)advisor;
	(void)found;
	fputs("deal the work out evenly: samples by their length, layers by their time", out);
}

const struct gp_rule gp_rule_rank_imbalance = {
	.id = "rank-imbalance",
	.title = "one rank has more work than the others",
	.meaning =
		"The GPUs of the ranks computed and copied for unequal times, not counting "
		"communication. Where ranks wait for each other, in each collective operation, all "
		"take as long as the slowest. What can be saved is what that has more than the "
		"mean.",
	.change = "Deal the work out evenly: sort samples by length, balance the stages of a "
		  "pipeline, the experts of a mixture. See whether that GPU has a lower clock.",
	.ignore = "The ranks do different things on purpose, and do not wait for each other.",
	.threshold = {.saves_percent = 5, .saves_ns = 1000000, .count = 2},
	.is_of_gpu = true,
	.look_at_all = look_at_all,
	.tell = tell,
	.advise = advise,
};
