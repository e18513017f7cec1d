/* Kernels; kernels by launch shape; operations by name, with or without API calls. */
#include "report/tables/breakdown.h"

#include "gpuprof/count.h"
#include "report/analysis/idle/activity.h"
#include "report/model/model.h"

static const struct gp_table_column kernel_columns[] = {
	GP_SHARE_COLUMNS,
	GP_SAMPLED_COLUMNS,
	{"Count", GP_UNIT_COUNT},
	{"Untimed", GP_UNIT_COUNT},
	GP_HISTOGRAM_COLUMNS(GP_UNIT_NS),
	{"Name", GP_UNIT_TEXT},
};

static const struct gp_table_column grid_columns[] = {
	GP_SHARE_COLUMNS,           {"Count", GP_UNIT_COUNT},
	{"Untimed", GP_UNIT_COUNT}, GP_HISTOGRAM_COLUMNS(GP_UNIT_NS),
	{"GrdX", GP_UNIT_NUMBER},   {"GrdY", GP_UNIT_NUMBER},
	{"GrdZ", GP_UNIT_NUMBER},   {"BlkX", GP_UNIT_NUMBER},
	{"BlkY", GP_UNIT_NUMBER},   {"BlkZ", GP_UNIT_NUMBER},
	{"Name", GP_UNIT_TEXT},
};

static void put_counts(struct gp_table *table, const struct gp_tally_row *row)
{
	gp_table_put_whole(table, row->count);
	gp_table_put_whole(table, row->sums[GP_SCOPE_UNTIMED]);
	gp_scope_put_spread(table, &row->series[0]);
}

static void put_times(struct gp_table *table, const struct gp_tally_row *row, double total)
{
	gp_scope_put_share(table, row, total);
	put_counts(table, row);
}

static void put_kernel(struct gp_scope *scope, struct gp_table *table,
		       const struct gp_tally_row *row, double total)
{
	gp_scope_put_share(table, row, total);
	gp_scope_put_sampled(scope, table, row);
	put_counts(table, row);
	gp_table_put_text(table, gp_scope_kernel_of(scope, row->key[0]));
}

static int fill_kernels(struct gp_scope *scope, struct gp_table *table)
{
	return gp_scope_table_of_ops(scope, table, gp_scope_take_kernel, put_kernel);
}

/* Each key holds two numbers of the shape; all 0 if it is unknown. */
static void take_shape(struct gp_tally *tally, const struct gp_scope_op *at)
{
	static const struct gp_record_shape unknown;
	const struct gp_record_shape *shape = at->op->shape < at->model->shape_count
						      ? &at->model->shapes[at->op->shape]
						      : &unknown;
	const uint64_t key[GP_TALLY_KEYS] = {
		at->name,
		(uint64_t)shape->grid[0] << 32 | shape->grid[1],
		(uint64_t)shape->grid[2] << 32 | shape->block[0],
		(uint64_t)shape->block[1] << 32 | shape->block[2],
	};

	if (at->op->kind == GP_OP_KERNEL)
		gp_scope_count_op(tally, gp_tally_find(tally, key), at->op);
}

static void put_shape(struct gp_scope *scope, struct gp_table *table,
		      const struct gp_tally_row *row, double total)
{
	put_times(table, row, total);
	for (size_t i = 1; i <= 3; i++) {
		gp_table_put_whole(table, row->key[i] >> 32);
		gp_table_put_whole(table, row->key[i] & UINT32_MAX);
	}
	gp_table_put_text(table, gp_scope_kernel_of(scope, row->key[0]));
}

static int fill_grids(struct gp_scope *scope, struct gp_table *table)
{
	return gp_scope_table_of_ops(scope, table, take_shape, put_shape);
}

/* ---- operations and API calls by name ---- */

/* Follows the kinds of operations (enum gp_op_kind). */
#define API_CALL (GP_OP_GRAPH + 1)

static const struct gp_table_column gpu_columns[] = {
	GP_SHARE_COLUMNS,           {"Count", GP_UNIT_COUNT},
	{"Untimed", GP_UNIT_COUNT}, GP_HISTOGRAM_COLUMNS(GP_UNIT_NS),
	{"Category", GP_UNIT_TEXT}, {"Name", GP_UNIT_TEXT},
};

static void take_op(struct gp_tally *tally, const struct gp_scope_op *at)
{
	char label[GP_ACTIVITY_LABEL_BYTES];
	uint64_t name = at->name;

	if (at->op->kind != GP_OP_KERNEL) {
		gp_activity_label(label, at->op);
		name = gp_scope_text(at->scope, label);
	}
	gp_scope_count_gpu_op(
		tally, gp_tally_find(tally, (uint64_t[GP_TALLY_KEYS]){name, at->op->kind}), at->op);
}

static void put_op(struct gp_scope *scope, struct gp_table *table, const struct gp_tally_row *row,
		   double total)
{
	static const char *const categories[] = {[GP_OP_KERNEL] = "kernel",
						 [GP_OP_COPY] = "copy",
						 [GP_OP_SET] = "memset",
						 [GP_OP_GRAPH] = "graph",
						 [API_CALL] = "API call"};

	put_times(table, row, total);
	gp_table_put_text(table, categories[row->key[1]]);
	gp_table_put_text(table, row->key[1] == GP_OP_KERNEL
					 ? gp_scope_kernel_of(scope, row->key[0])
					 : gp_scope_text_of(scope, row->key[0]));
}

static int fill_ops(struct gp_scope *scope, struct gp_table *table)
{
	return gp_scope_table_of_ops(scope, table, take_op, put_op);
}

static void take_call(struct gp_tally *tally, const struct gp_scope_call *at)
{
	struct gp_tally_row *row =
		gp_tally_find(tally, (uint64_t[GP_TALLY_KEYS]){at->name, API_CALL});

	gp_scope_count_call(tally, row, at);
}

static int fill_calls_and_ops(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_tally tally = {0};

	gp_scope_calls(scope, &tally, take_call);
	gp_scope_ops(scope, &tally, take_op);
	return gp_scope_rows(scope, table, &tally, 0, put_op);
}

#define NOTHING "no kernel ran; `gpuprof summary FILE` shows the recorded data"

const struct gp_breakdown gp_breakdown_kernel = {
	.help = "kernels",
	.nothing = NOTHING,
	.head = {"kernel", "Kernels", kernel_columns, COUNT(kernel_columns)},
	.sort_column = 1,
	.fill = fill_kernels,
};

const struct gp_breakdown gp_breakdown_grid = {
	.help = "kernels by grid and block",
	.nothing = NOTHING,
	.head = {"grid", "Kernels by grid and block", grid_columns, COUNT(grid_columns)},
	.sort_column = 1,
	.fill = fill_grids,
};

const struct gp_breakdown gp_breakdown_gpu = {
	.help = "kernels, copies and memsets",
	.nothing = "no GPU operation was recorded; `gpuprof summary FILE` shows the recorded data",
	.head = {"gpu", "GPU operations", gpu_columns, COUNT(gpu_columns)},
	.sort_column = 1,
	.fill = fill_ops,
};

const struct gp_breakdown gp_breakdown_api_gpu = {
	.help = "API calls, kernels, copies and memsets in one table",
	.nothing =
		"neither an API call nor a GPU operation was recorded; `gpuprof summary FILE` shows the recorded data",
	.head = {"api-gpu", "API calls and GPU operations", gpu_columns, COUNT(gpu_columns)},
	.sort_column = 1,
	.fill = fill_calls_and_ops,
};
