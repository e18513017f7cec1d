/* By kind of operation: what kernels do, as their names tell; copies and sets beside them. */
#include <errno.h>
#include <stdlib.h>

#include "report/breakdown.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct gp_sheet_column kind_columns[] = {
	GP_SHARE_COLUMNS,           {"Count", GP_UNIT_COUNT},
	{"Untimed", GP_UNIT_COUNT}, GP_SPREAD_COLUMNS(GP_UNIT_NS),
	{"Kind", GP_UNIT_TEXT},
};

static const struct gp_sheet_column kernel_columns[] = {
	GP_SHARE_COLUMNS,       {"Count", GP_UNIT_COUNT}, {"Untimed", GP_UNIT_COUNT},
	{"Kind", GP_UNIT_TEXT}, {"Name", GP_UNIT_TEXT},
};

/* What is no kernel stands behind the kinds. */
static const char *const others[] = {
	[GP_OP_COPY] = "memcpy", [GP_OP_SET] = "memset", [GP_OP_GRAPH] = "graph, launched whole"};

static uint64_t key_of(const uint8_t *names, const struct gp_model *model, const struct gp_op *op)
{
	return op->kind == GP_OP_KERNEL ? gp_kinds_of_op(names, model, op)
					: GP_KINDS_LIMIT + op->kind;
}

static void put_kind(struct gp_scope *scope, struct gp_sheet *sheet, const struct gp_tally_row *row,
		     double total)
{
	uint64_t kind = row->key[0];

	gp_scope_put_share(sheet, row, total);
	gp_scope_put_whole(sheet, row->count);
	gp_scope_put_whole(sheet, row->sums[GP_SCOPE_UNTIMED]);
	gp_scope_put_spread(sheet, &row->series[0]);
	gp_scope_put_text(sheet, kind < GP_KINDS_LIMIT
					 ? gp_kinds_name(gp_scope_kinds(scope), (uint32_t)kind)
					 : others[kind - GP_KINDS_LIMIT]);
}

static int take_model(struct gp_tally *tally, const struct gp_kinds *kinds,
		      const struct gp_model *model)
{
	uint8_t *names = gp_kinds_of_names(kinds, model);

	for (uint32_t i = 0; names && i < model->op_count; i++) {
		const uint64_t key[GP_TALLY_KEYS] = {key_of(names, model, &model->ops[i])};

		gp_scope_count_op(tally, gp_tally_find(tally, key), &model->ops[i]);
	}
	free(names);
	return names ? 0 : -ENOMEM;
}

static int fill_kinds(struct gp_scope *scope, struct gp_sheet *sheet)
{
	const struct gp_kinds *kinds = gp_scope_kinds(scope);
	struct gp_tally tally = {0};
	int result = kinds ? 0 : -ENOMEM;

	for (size_t i = 0; result == 0 && i < scope->model_count; i++)
		result = take_model(&tally, kinds, scope->models[i]);
	return gp_scope_rows(scope, sheet, &tally, result, put_kind);
}

/* ---- which kernels are of which kind ---- */

static void put_kernel(struct gp_scope *scope, struct gp_sheet *sheet,
		       const struct gp_tally_row *row, double total)
{
	const struct gp_kinds *kinds = gp_scope_kinds(scope);
	const char *name = gp_names_full(scope->names, gp_scope_text_of(scope, row->key[0]));

	gp_scope_put_share(sheet, row, total);
	gp_scope_put_whole(sheet, row->count);
	gp_scope_put_whole(sheet, row->sums[GP_SCOPE_UNTIMED]);
	gp_scope_put_text(sheet, gp_kinds_name(kinds, gp_kinds_find(kinds, name)));
	gp_scope_put_text(sheet, gp_scope_kernel_of(scope, row->key[0]));
}

static int fill_kernels(struct gp_scope *scope, struct gp_sheet *sheet)
{
	if (!gp_scope_kinds(scope))
		return -ENOMEM;
	return gp_scope_table_of_ops(scope, sheet, gp_scope_take_kernel, put_kernel);
}

#define NOTHING "no GPU operation was recorded; `gpuprof summary FILE` says what was"

const struct gp_breakdown gp_breakdown_kind = {
	.help = "what kernels do, by their names: GEMM, attention, reduction, ...",
	.nothing = NOTHING,
	.head = {"kind", "GPU operations by kind", kind_columns, COUNT(kind_columns)},
	.sort_column = 1,
	.fill = fill_kinds,
};

const struct gp_breakdown gp_breakdown_kind_kernel = {
	.help = "kernels, and of which kind each is",
	.nothing = NOTHING,
	.head = {"kind-kernel", "Kernels and their kinds", kernel_columns, COUNT(kernel_columns)},
	.sort_column = 1,
	.fold_before = 5,
	.fill = fill_kernels,
};
