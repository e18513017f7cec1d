/* Operations by kind: kernels by their names, copies, memsets. */
#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/analysis/host/tuning.h"
#include "report/tables/breakdown.h"

static const struct gp_table_column kind_columns[] = {
	GP_SHARE_COLUMNS,           {"Count", GP_UNIT_COUNT},
	{"Untimed", GP_UNIT_COUNT}, GP_HISTOGRAM_COLUMNS(GP_UNIT_NS),
	{"Kind", GP_UNIT_TEXT},
};

static const struct gp_table_column kernel_columns[] = {
	GP_SHARE_COLUMNS,       {"Count", GP_UNIT_COUNT}, {"Untimed", GP_UNIT_COUNT},
	{"Kind", GP_UNIT_TEXT}, {"Name", GP_UNIT_TEXT},
};

/* After the kinds of kernels follow other operations, by enum gp_op_kind, and autotuning. */
enum { TUNING = GP_OP_GRAPH + 1 };
static const char *const others[] = {[GP_OP_COPY] = "memcpy",
				     [GP_OP_SET] = "memset",
				     [GP_OP_GRAPH] = "graph, launched whole",
				     [TUNING] = "autotuning"};

static uint64_t key_of(const uint8_t *names, const struct gp_model *model,
		       const struct gp_tuning *tuning, uint32_t op)
{
	if (tuning->of[op] != GP_TUNER_NONE)
		return GP_KINDS_LIMIT + TUNING;
	return model->ops[op].kind == GP_OP_KERNEL ? gp_kinds_of_op(names, model, &model->ops[op])
						   : GP_KINDS_LIMIT + model->ops[op].kind;
}

static void put_kind(struct gp_scope *scope, struct gp_table *table, const struct gp_tally_row *row,
		     double total)
{
	uint64_t kind = row->key[0];

	gp_scope_put_share(table, row, total);
	gp_table_put_whole(table, row->count);
	gp_table_put_whole(table, row->sums[GP_SCOPE_UNTIMED]);
	gp_scope_put_spread(table, &row->series[0]);
	gp_table_put_text(table, kind < GP_KINDS_LIMIT
					 ? gp_kinds_name(gp_scope_kinds(scope), (uint32_t)kind)
					 : others[kind - GP_KINDS_LIMIT]);
}

static void take_model(struct gp_tally *tally, const struct gp_kinds *kinds,
		       const struct gp_model *model)
{
	uint8_t *names = gp_kinds_of_names(kinds, model);
	struct gp_tuning tuning;

	gp_tuning_of(&tuning, model);
	for (uint32_t i = 0; i < model->op_count; i++) {
		const uint64_t key[GP_TALLY_KEYS] = {key_of(names, model, &tuning, i)};

		gp_scope_count_gpu_op(tally, gp_tally_find(tally, key), &model->ops[i]);
	}
	gp_tuning_free(&tuning);
	free(names);
}

static int fill_kinds(struct gp_scope *scope, struct gp_table *table)
{
	const struct gp_kinds *kinds = gp_scope_kinds(scope);
	struct gp_tally tally = {0};

	for (size_t i = 0; i < scope->model_count; i++)
		take_model(&tally, kinds, scope->models[i]);
	return gp_scope_rows(scope, table, &tally, 0, put_kind);
}

/* ---- kernels with their kind ---- */

/* A kernel that is used and also autotuned has two rows: key[1] tells them apart. */
static void put_kernel(struct gp_scope *scope, struct gp_table *table,
		       const struct gp_tally_row *row, double total)
{
	const struct gp_kinds *kinds = gp_scope_kinds(scope);
	const char *name = gp_names_full(scope->names, gp_scope_text_of(scope, row->key[0]));

	gp_scope_put_share(table, row, total);
	gp_table_put_whole(table, row->count);
	gp_table_put_whole(table, row->sums[GP_SCOPE_UNTIMED]);
	gp_table_put_text(table, row->key[1] ? others[TUNING]
					     : gp_kinds_name(kinds, gp_kinds_find(kinds, name)));
	gp_table_put_text(table, gp_scope_kernel_of(scope, row->key[0]));
}

static void take_kernels(struct gp_scope *scope, struct gp_tally *tally,
			 const struct gp_model *model)
{
	uint64_t *names = gp_scope_names(model);
	struct gp_tuning tuning;

	gp_tuning_of(&tuning, model);
	for (uint32_t i = 0; i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];
		uint64_t key[GP_TALLY_KEYS] = {0, tuning.of[i] != GP_TUNER_NONE};

		if (op->kind != GP_OP_KERNEL)
			continue;
		key[0] = gp_scope_name(scope, model, op, names);
		gp_scope_count_op(tally, gp_tally_find(tally, key), op);
	}
	gp_tuning_free(&tuning);
	free(names);
}

static int fill_kernels(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_tally tally = {0};

	gp_scope_kinds(scope);
	for (size_t i = 0; i < scope->model_count; i++)
		take_kernels(scope, &tally, scope->models[i]);
	return gp_scope_rows(scope, table, &tally, 0, put_kernel);
}

#define NOTHING "no GPU operation was recorded; `gpuprof summary FILE` shows the recorded data"

const struct gp_breakdown gp_breakdown_kind = {
	.help = "kinds of kernels, by their names: GEMM, attention, reduction, ...",
	.nothing = NOTHING,
	.head = {"kind", "GPU operations by kind", kind_columns, COUNT(kind_columns)},
	.sort_column = 1,
	.fill = fill_kinds,
};

const struct gp_breakdown gp_breakdown_kind_kernel = {
	.help = "kernels, each with its kind",
	.nothing = NOTHING,
	.head = {"kind-kernel", "Kernels and their kinds", kernel_columns, COUNT(kernel_columns)},
	.sort_column = 1,
	.fold_before = 5,
	.fill = fill_kernels,
};
