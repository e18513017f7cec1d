/* Lost records and incomplete traces, by process, for scripts. */
#include "report/tables/breakdown.h"

#include "gpuprof/count.h"
#include "report/model/losses.h"

static const struct gp_table_column columns[] = {
	{"Count", GP_UNIT_COUNT},
	{"PID", GP_UNIT_NUMBER},
	{"What", GP_UNIT_TEXT},
	{"Loss", GP_UNIT_TEXT},
};

struct lacking {
	struct gp_scope *scope;
	struct gp_table *table;
	const struct gp_model *model;
};

static void put_row(void *context, const struct gp_loss *loss, uint64_t count)
{
	const struct lacking *lacking = context;

	gp_table_put_whole(lacking->table, count);
	gp_scope_put_process(lacking->scope, lacking->table, lacking->model);
	gp_table_put_text(lacking->table, loss->sentence);
	gp_table_put_text(lacking->table, loss->name);
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	for (size_t m = 0; m < scope->model_count; m++) {
		struct lacking lacking = {scope, table, scope->models[m]};

		gp_loss_each(scope->models[m], put_row, &lacking);
	}
	return 0;
}

const struct gp_breakdown gp_breakdown_missing = {
	.help = "lost records and incomplete traces, by process and kind",
	.nothing = "no records are lost: the trace is complete",
	.head = {"missing", "Lost records", columns, COUNT(columns)},
	.sort_column = GP_TABLE_AS_ADDED,
	.fill = fill,
};
