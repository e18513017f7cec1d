/* API calls by function, and by thread. */
#include "report/tables/breakdown.h"

#include "gpuprof/count.h"
#include "report/analysis/idle/activity.h"

#define NO_THREAD UINT64_MAX

enum { FAILED, LAUNCHES, OPS, OPS_NS };

static const struct gp_table_column api_columns[] = {
	GP_SHARE_COLUMNS,          {"Count", GP_UNIT_COUNT},
	{"Failed", GP_UNIT_COUNT}, GP_HISTOGRAM_COLUMNS(GP_UNIT_NS),
	{"Name", GP_UNIT_TEXT},
};

static const struct gp_table_column thread_columns[] = {
	GP_SHARE_COLUMNS,           {"Calls", GP_UNIT_COUNT},
	{"Failed", GP_UNIT_COUNT},  {"Launches", GP_UNIT_COUNT},
	{"GPU ops", GP_UNIT_COUNT}, {"GPU time", GP_UNIT_NS},
	{"PID", GP_UNIT_NUMBER},    {"TID", GP_UNIT_NUMBER},
	{"Thread", GP_UNIT_TEXT},
};

static void count_call(struct gp_tally *tally, struct gp_tally_row *row,
		       const struct gp_scope_call *at)
{
	gp_scope_count_call(tally, row, at);
	row->sums[FAILED] += gp_activity_is_failure(at->model, at->call);
	row->sums[LAUNCHES] += at->class == GP_API_LAUNCH || at->class == GP_API_GRAPH_LAUNCH;
}

static void take_function(struct gp_tally *tally, const struct gp_scope_call *at)
{
	const uint64_t key[GP_TALLY_KEYS] = {at->name};

	count_call(tally, gp_tally_find(tally, key), at);
}

static void put_function(struct gp_scope *scope, struct gp_table *table,
			 const struct gp_tally_row *row, double total)
{
	gp_scope_put_share(table, row, total);
	gp_table_put_whole(table, row->count);
	gp_scope_put_failed(scope, table, row->sums[FAILED]);
	gp_scope_put_spread(table, &row->series[0]);
	gp_table_put_text(table, gp_scope_text_of(scope, row->key[0]));
}

static int fill_functions(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_tally tally = {0};

	gp_scope_calls(scope, &tally, take_function);
	return gp_scope_rows(scope, table, &tally, 0, put_function);
}

static void take_thread(struct gp_tally *tally, const struct gp_scope_call *at)
{
	const uint64_t key[GP_TALLY_KEYS] = {at->process, at->call->thread_id};

	count_call(tally, gp_tally_find(tally, key), at);
}

/* An operation belongs to the thread whose call started it. */
static void take_operation(struct gp_tally *tally, const struct gp_scope_op *at)
{
	uint64_t thread =
		at->op->call == GP_NONE ? NO_THREAD : at->model->calls[at->op->call].thread_id;
	const uint64_t key[GP_TALLY_KEYS] = {at->process, thread};
	struct gp_tally_row *row = gp_tally_find(tally, key);

	row->sums[OPS]++;
	row->sums[OPS_NS] += gp_op_gpu_ns(at->op);
}

static const char *thread_name(const struct gp_model *model, uint64_t id)
{
	return id == NO_THREAD ? "(operations whose call was not recorded)"
			       : gp_model_thread_name(model, (uint32_t)id);
}

static void put_thread(struct gp_scope *scope, struct gp_table *table,
		       const struct gp_tally_row *row, double total)
{
	uint64_t id = row->key[1];

	gp_scope_put_share(table, row, total);
	gp_table_put_whole(table, row->count);
	gp_scope_put_failed(scope, table, row->sums[FAILED]);
	gp_table_put_whole(table, row->sums[LAUNCHES]);
	gp_table_put_whole(table, row->sums[OPS]);
	gp_table_put_whole(table, row->sums[OPS_NS]);
	gp_scope_put_process(scope, table, scope->models[row->key[0]]);
	gp_table_cell(table, id == NO_THREAD ? gp_value_none() : gp_value_whole(id));
	gp_table_put_text(table, thread_name(scope->models[row->key[0]], id));
}

static int fill_threads(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_tally tally = {0};

	gp_scope_calls(scope, &tally, take_thread);
	gp_scope_ops(scope, &tally, take_operation);
	return gp_scope_rows(scope, table, &tally, 0, put_thread);
}

#define NOTHING "no API call was recorded; `gpuprof summary FILE` shows the recorded data"

const struct gp_breakdown gp_breakdown_api = {
	.help = "API calls",
	.nothing = NOTHING,
	.head = {"api", "API calls", api_columns, COUNT(api_columns)},
	.sort_column = 1,
	.fill = fill_functions,
};

const struct gp_breakdown gp_breakdown_thread = {
	.help = "threads: their calls, and the operations that these started",
	.nothing = NOTHING,
	.head = {"thread", "Threads", thread_columns, COUNT(thread_columns)},
	.sort_column = 1,
	.fill = fill_threads,
};
