/* Graphs: their launches, and what ran for them. */
#include "report/breakdown.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Series 0: the GPU time of an operation; 1: a launch's, from its first operation's start to its last one's end. */
enum { OP_TIMES, SPANS };

/* KINDS is followed by one sum for each enum gp_op_kind. */
enum { KINDS = GP_SCOPE_UNTIMED + 1 };

static const struct gp_sheet_column columns[] = {
	GP_SHARE_COLUMNS,          {"Launches", GP_UNIT_COUNT}, GP_SPREAD_COLUMNS(GP_UNIT_NS),
	{"Count", GP_UNIT_COUNT},  {"Untimed", GP_UNIT_COUNT},  {"Kernels", GP_UNIT_COUNT},
	{"Copies", GP_UNIT_COUNT}, {"Sets", GP_UNIT_COUNT},     {"Graphs", GP_UNIT_COUNT},
	{"PID", GP_UNIT_NUMBER},   {"Graph", GP_UNIT_NUMBER},
};

static bool is_of_graph(const struct gp_op *op)
{
	return op->graph_id != 0 || op->graph_node_id != 0 || op->kind == GP_OP_GRAPH;
}

static void take_operation(struct gp_tally *tally, const struct gp_scope_op *at)
{
	const uint64_t key[GP_TALLY_KEYS] = {at->process, at->op->graph_id};
	struct gp_tally_row *row;

	if (!is_of_graph(at->op))
		return;
	row = gp_tally_find(tally, key);
	gp_scope_count_op(tally, row, at->op);
	row->sums[KINDS + at->op->kind]++;
}

/* A launch whose operations were not recorded is of no graph that we know. */
static void take_launch(struct gp_tally *tally, const struct gp_scope_call *at)
{
	const struct gp_op *ops = at->model->ops, *first;
	uint64_t start_ns = UINT64_MAX, end_ns = 0;

	if (at->class != GP_API_GRAPH_LAUNCH || at->call->first_op == GP_NONE)
		return;
	first = &ops[at->call->first_op];
	for (uint32_t i = at->call->first_op; i != GP_NONE; i = ops[i].next_op) {
		if (ops[i].untimed)
			continue;
		start_ns = ops[i].start_ns < start_ns ? ops[i].start_ns : start_ns;
		end_ns = ops[i].end_ns > end_ns ? ops[i].end_ns : end_ns;
	}
	if (start_ns <= end_ns)
		gp_tally_value(tally,
			       gp_tally_find(tally, (uint64_t[GP_TALLY_KEYS]){at->process,
									      first->graph_id}),
			       SPANS, end_ns - start_ns);
}

static void put_row(struct gp_scope *scope, struct gp_sheet *sheet, const struct gp_tally_row *row,
		    double total)
{
	gp_scope_put_share(sheet, row, total);
	gp_scope_put_whole(sheet, row->series[SPANS].count);
	gp_scope_put_spread(sheet, &row->series[SPANS]);
	gp_scope_put_whole(sheet, row->count);
	gp_scope_put_whole(sheet, row->sums[GP_SCOPE_UNTIMED]);
	for (size_t kind = GP_OP_KERNEL; kind <= GP_OP_GRAPH; kind++)
		gp_scope_put_whole(sheet, row->sums[KINDS + kind]);
	gp_scope_put_pid(scope, sheet, row->key[0]);
	gp_scope_put_whole(sheet, row->key[1]);
}

static int fill(struct gp_scope *scope, struct gp_sheet *sheet)
{
	struct gp_tally tally = {0};
	int result = gp_scope_ops(scope, &tally, take_operation);

	if (result == 0)
		result = gp_scope_calls(scope, &tally, take_launch);
	return gp_scope_rows(scope, sheet, &tally, result, put_row);
}

const struct gp_breakdown gp_breakdown_graph = {
	.help = "graphs: launches, and what ran for them",
	.nothing = "no graph ran; `gpuprof summary FILE` says what was recorded",
	.head = {"graph", "Graphs", columns, COUNT(columns)},
	.sort_column = 1,
	.fill = fill,
};
