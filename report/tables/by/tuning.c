/* GPU time of autotuning, by library, and of the program itself. */
#include "report/analysis/host/tuning.h"
#include "gpuprof/count.h"
#include "report/tables/breakdown.h"

static const struct gp_table_column columns[] = {
	GP_SHARE_COLUMNS,
	{"Count", GP_UNIT_COUNT},
	{"Untimed", GP_UNIT_COUNT},
	{"Started by", GP_UNIT_TEXT},
};

static void take_model(struct gp_tally *tally, const struct gp_model *model,
		       const struct gp_tuning *tuning)
{
	for (uint32_t i = 0; i < model->op_count; i++) {
		const uint64_t key[GP_TALLY_KEYS] = {tuning->of[i]};

		gp_scope_count_gpu_op(tally, gp_tally_find(tally, key), &model->ops[i]);
	}
}

static void put_row(struct gp_scope *scope, struct gp_table *table, const struct gp_tally_row *row,
		    double total)
{
	enum gp_tuner tuner = (enum gp_tuner)row->key[0];

	(void)scope;
	gp_scope_put_share(table, row, total);
	gp_table_put_whole(table, row->count);
	gp_table_put_whole(table, row->sums[GP_SCOPE_UNTIMED]);
	gp_table_put_text(table,
			  tuner == GP_TUNER_NONE ? "the program itself" : gp_tuner_name(tuner));
}

static void say_what_is_unknown(const struct gp_scope *scope)
{
	if (scope->messages)
		fputs("gpuprof: calls without a stack count as tuning only if the kernel names (XLA's) or the Python stack samples around them show it\n",
		      scope->messages);
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_tally tally = {0};
	bool any = false, lacks_stacks = false;

	for (size_t i = 0; i < scope->model_count; i++) {
		struct gp_tuning tuning;

		gp_tuning_of(&tuning, scope->models[i]);
		take_model(&tally, scope->models[i], &tuning);
		any |= gp_tuning_has_any(scope->models[i], &tuning);
		lacks_stacks |= tuning.lacks_stacks;
		gp_tuning_free(&tuning);
	}
	if (lacks_stacks)
		say_what_is_unknown(scope);
	if (!any) {
		gp_tally_free(&tally);
		return 0;
	}
	return gp_scope_rows(scope, table, &tally, 0, put_row);
}

const struct gp_breakdown gp_breakdown_tuning = {
	.help = "GPU time of autotuning, by library, and of the program's own work",
	.nothing = "no operation is known to be of autotuning",
	.head = {"tuning", "GPU time of autotuning", columns, COUNT(columns)},
	.sort_column = 1,
	.fill = fill,
};
