/* Graphs: their launches and operations. */
#include "report/tables/breakdown.h"

#include <assert.h>

#include "gpuprof/count.h"

/*
 * Series 0: GPU times of operations; 1: times of launches, from the first start to the last end
 * of their operations.
 */
enum { OP_TIMES, SPANS };

/*
 * LAUNCH: the current call, counted from 1; START_NS, END_NS: the span of its operations.  KINDS is
 * the first of one sum for each enum gp_op_kind.
 */
enum { LAUNCH = GP_SCOPE_UNTIMED + 1, START_NS, END_NS, KINDS };
static_assert(KINDS + GP_OP_GRAPH < GP_TALLY_SUMS, "a sum for each");

static const struct gp_table_column columns[] = {
	GP_SHARE_COLUMNS,          {"Launches", GP_UNIT_COUNT}, GP_HISTOGRAM_COLUMNS(GP_UNIT_NS),
	{"Count", GP_UNIT_COUNT},  {"Untimed", GP_UNIT_COUNT},  {"Kernels", GP_UNIT_COUNT},
	{"Copies", GP_UNIT_COUNT}, {"Memsets", GP_UNIT_COUNT},  {"Graphs", GP_UNIT_COUNT},
	{"PID", GP_UNIT_NUMBER},   {"Graph", GP_UNIT_NUMBER},
};

static bool is_of_graph(const struct gp_model *model, const struct gp_op *op)
{
	return op->graph_id != 0 || gp_model_detail(model, op)->graph_node_id != 0 ||
	       op->kind == GP_OP_GRAPH;
}

static void take_operation(struct gp_tally *tally, const struct gp_scope_op *at)
{
	const uint64_t key[GP_TALLY_KEYS] = {at->process, at->op->graph_id};
	struct gp_tally_row *row;

	if (!is_of_graph(at->model, at->op))
		return;
	row = gp_tally_find(tally, key);
	gp_scope_count_op(tally, row, at->op);
	row->sums[KINDS + at->op->kind]++;
}

/* Add the time of the current launch. */
static void end_launch(struct gp_tally *tally, struct gp_tally_row *row)
{
	if (row->sums[LAUNCH] > 0)
		gp_tally_value(tally, row, SPANS, row->sums[END_NS] - row->sums[START_NS]);
	row->sums[LAUNCH] = 0;
}

static void stretch_launch(struct gp_tally *tally, struct gp_tally_row *row, uint64_t launch,
			   const struct gp_op *op)
{
	if (row->sums[LAUNCH] != launch) {
		end_launch(tally, row);
		row->sums[LAUNCH] = launch;
		row->sums[START_NS] = op->start_ns;
		row->sums[END_NS] = op->end_ns;
	}
	if (op->start_ns < row->sums[START_NS])
		row->sums[START_NS] = op->start_ns;
	if (op->end_ns > row->sums[END_NS])
		row->sums[END_NS] = op->end_ns;
}

/*
 * The operations of one launch may be of several (child) graphs.  The graph of a launch without
 * timed operations is unknown.
 */
static void take_launch(struct gp_tally *tally, const struct gp_scope_call *at)
{
	const struct gp_model *model = at->model;
	uint64_t launch = (uint64_t)(at->call - model->calls) + 1;

	if (at->class != GP_API_GRAPH_LAUNCH)
		return;
	for (uint32_t i = at->call->first_op; i != GP_NONE; i = model->ops[i].next_op) {
		const uint64_t key[GP_TALLY_KEYS] = {at->process, model->ops[i].graph_id};

		if (!model->ops[i].untimed)
			stretch_launch(tally, gp_tally_find(tally, key), launch, &model->ops[i]);
	}
}

static void put_row(struct gp_scope *scope, struct gp_table *table, const struct gp_tally_row *row,
		    double total)
{
	gp_scope_put_share(table, row, total);
	gp_table_put_whole(table, row->series[SPANS].count);
	gp_scope_put_spread(table, &row->series[SPANS]);
	gp_table_put_whole(table, row->count);
	gp_table_put_whole(table, row->sums[GP_SCOPE_UNTIMED]);
	for (size_t kind = GP_OP_KERNEL; kind <= GP_OP_GRAPH; kind++)
		gp_table_put_whole(table, row->sums[KINDS + kind]);
	gp_scope_put_process(scope, table, scope->models[row->key[0]]);
	gp_table_put_whole(table, row->key[1]);
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_tally tally = {0};

	gp_scope_ops(scope, &tally, take_operation);
	gp_scope_calls(scope, &tally, take_launch);
	for (uint32_t i = 0; i < tally.count; i++)
		end_launch(&tally, &tally.rows[i]);
	return gp_scope_rows(scope, table, &tally, 0, put_row);
}

const struct gp_breakdown gp_breakdown_graph = {
	.help = "graphs: launches and their operations",
	.nothing = "no graph ran; `gpuprof summary FILE` shows the recorded data",
	.head = {"graph", "Graphs", columns, COUNT(columns)},
	.sort_column = 1,
	.fill = fill,
};
