/* GPU time, and time in API calls, by call stack: trees of callers and callees. */
#include "report/tables/breakdown.h"

#include <errno.h>
#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/analysis/host/stack_profile.h"
#include "report/tables/stack_rows.h"

static const struct gp_table_column columns[] = {
	GP_SHARE_COLUMNS,
	{"Count", GP_UNIT_COUNT},
	{"Stack", GP_UNIT_TEXT},
};

static void free_stacks(void *stacks)
{
	gp_stack_profile_close(stacks);
	free(stacks);
}

static int find_stacks(struct gp_scope *scope)
{
	struct gp_stack_profile *profile = calloc(1, sizeof(*profile));
	int result = gp_stack_profile_open(profile, true, scope->full_names);

	scope->stacks = profile;
	scope->free_stacks = free_stacks;
	for (size_t i = 0; i < scope->model_count && result == 0; i++)
		result = gp_stack_profile_add(profile, scope->models[i]);
	if (result == 0 && scope->messages)
		gp_symbols_explain(profile->tree.symbols, scope->messages);
	return result;
}

struct put {
	struct gp_table *table;
	uint64_t total;
};

static void put_row(void *context, const struct gp_stack_row *row)
{
	const struct put *put = context;

	gp_table_cell(put->table, gp_value_percent((double)row->value, (double)put->total));
	gp_table_put_whole(put->table, row->value);
	gp_table_put_whole(put->table, row->count);
	gp_table_put_text(put->table, row->text);
}

static int fill(struct gp_scope *scope, struct gp_table *table, enum gp_stack_metric value,
		enum gp_stack_metric count)
{
	int result = scope->stacks ? 0 : find_stacks(scope);
	struct gp_stack_profile *profile = scope->stacks;

	return result == 0 ? gp_stack_rows(profile, GP_STACK_CALLERS_FIRST, value, count,
					   scope->every_row, put_row,
					   &(struct put){table, profile->totals[value]})
			   : result;
}

static int fill_gpu(struct gp_scope *scope, struct gp_table *table)
{
	return fill(scope, table, GP_STACK_METRIC_GPU_TIME, GP_STACK_METRIC_OPERATIONS);
}

static int fill_api(struct gp_scope *scope, struct gp_table *table)
{
	return fill(scope, table, GP_STACK_METRIC_API_TIME, GP_STACK_METRIC_CALLS);
}

static int fill_callers(struct gp_scope *scope, struct gp_table *table)
{
	int result = scope->stacks ? 0 : find_stacks(scope);
	struct gp_stack_profile inverted;

	if (result != 0)
		return result;
	result = gp_stack_profile_invert(scope->stacks, GP_STACK_METRIC_GPU_TIME, &inverted);
	if (result == 0)
		result = gp_stack_rows(
			&inverted, GP_STACK_CALLERS_LAST, GP_STACK_METRIC_GPU_TIME,
			GP_STACK_METRIC_OPERATIONS, scope->every_row, put_row,
			&(struct put){table, inverted.totals[GP_STACK_METRIC_GPU_TIME]});
	gp_stack_profile_close(&inverted);
	return result;
}

const struct gp_breakdown gp_breakdown_stack = {
	.help = "GPU time by call stack: callers, and below them callees and launches",
	.nothing = "no launch has a call stack: record with --stacks=all",
	.head = {"stack", "GPU time by call stack", columns, COUNT(columns)},
	.sort_column = GP_TABLE_AS_ADDED,
	.fill = fill_gpu,
	.job = GP_BREAKDOWN_OF_ONE,
};

const struct gp_breakdown gp_breakdown_stack_api = {
	.help = "time in CUDA calls by call stack: where the CPU launches, copies and waits",
	.nothing = "no call has a call stack: record with --stacks=all",
	.head = {"stack-api", "Time in CUDA calls by call stack", columns, COUNT(columns)},
	.sort_column = GP_TABLE_AS_ADDED,
	.fill = fill_api,
	.job = GP_BREAKDOWN_OF_ONE,
};

const struct gp_breakdown gp_breakdown_caller = {
	.help = "GPU time by kernel, copy and memset, with their callers below",
	.nothing = "no launch has a call stack: record with --stacks=all",
	.head = {"caller", "Launches by caller", columns, COUNT(columns)},
	.sort_column = GP_TABLE_AS_ADDED,
	.fill = fill_callers,
	.job = GP_BREAKDOWN_OF_ONE,
};
