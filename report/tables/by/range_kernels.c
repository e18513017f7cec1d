/* The kernels that were launched inside each NVTX range. */
#include "report/tables/by/range_calls.h"

#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/tables/breakdown.h"

enum { RANGES = GP_SCOPE_UNTIMED + 1, LAST_RANGE };

static const struct gp_table_column columns[] = {
	GP_SHARE_COLUMNS,           {"Count", GP_UNIT_COUNT},
	{"Untimed", GP_UNIT_COUNT}, GP_HISTOGRAM_COLUMNS(GP_UNIT_NS),
	{"Ranges", GP_UNIT_COUNT},  {"PID", GP_UNIT_NUMBER},
	{"TID", GP_UNIT_NUMBER},    GP_RANGE_COLUMNS,
	{"Name", GP_UNIT_TEXT},
};

struct counting {
	struct gp_scope *scope;
	struct gp_tally *tally;
	uint64_t process; /* the model's index */
	uint64_t *names;
};

static void count_kernel(const struct counting *counting, const struct gp_range_call *at,
			 const struct gp_op *op)
{
	struct gp_tally_row *row = gp_tally_find(
		counting->tally,
		(uint64_t[GP_TALLY_KEYS]){
			at->key.text, at->key.domain, at->key.style,
			gp_scope_name(counting->scope, at->model, op, counting->names),
			counting->process << 32 | at->model->ranges[at->range].thread_id});

	gp_scope_count_op(counting->tally, row, op);
	row->sums[RANGES] += row->sums[LAST_RANGE] != (uint64_t)at->range + 1;
	row->sums[LAST_RANGE] = (uint64_t)at->range + 1;
}

static void count_kernels(void *context, const struct gp_range_call *at)
{
	const struct gp_model *model = at->model;

	for (uint32_t op = model->calls[at->call].first_op; op != GP_NONE;
	     op = model->ops[op].next_op)
		if (model->ops[op].kind == GP_OP_KERNEL)
			count_kernel(context, at, &model->ops[op]);
}

static int take_model(struct gp_scope *scope, struct gp_tally *tally, size_t process)
{
	const struct gp_model *model = scope->models[process];
	struct counting counting = {scope, tally, process, gp_scope_names(model)};

	if (counting.names)
		gp_range_calls(scope, model, count_kernels, &counting);
	free(counting.names);
	return 0;
}

static void put_row(struct gp_scope *scope, struct gp_table *table, const struct gp_tally_row *row,
		    double total)
{
	gp_scope_put_share(table, row, total);
	gp_table_put_whole(table, row->count);
	gp_table_put_whole(table, row->sums[GP_SCOPE_UNTIMED]);
	gp_scope_put_spread(table, &row->series[0]);
	gp_table_put_whole(table, row->sums[RANGES]);
	gp_scope_put_process(scope, table, scope->models[row->key[4] >> 32]);
	gp_table_put_whole(table, row->key[4] & UINT32_MAX);
	gp_range_put_key(scope, table,
			 (struct gp_range_key){row->key[0], row->key[1], row->key[2]});
	gp_table_put_text(table, gp_scope_kernel_of(scope, row->key[3]));
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	return gp_scope_table_of_models(scope, table, take_model, put_row);
}

const struct gp_breakdown gp_breakdown_nvtx_kernel = {
	.help = "kernels launched inside each NVTX range",
	.nothing = GP_RANGE_NOTHING("NVTX range that launched a kernel"),
	.head = {"nvtx-kernel", "Kernels by NVTX range", columns, COUNT(columns)},
	.sort_column = 1,
	.fill = fill,
};
