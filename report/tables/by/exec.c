/* From the call that launches a kernel to the kernel's end. */
#include "report/tables/breakdown.h"

#include "gpuprof/count.h"

enum { TOTAL, API, QUEUE, KERNEL };

#define STAGE(letter)                                                                              \
	{letter "Avg", GP_UNIT_NS}, {letter "Med", GP_UNIT_NS}, {letter "Min", GP_UNIT_NS},        \
		{letter "Max", GP_UNIT_NS},                                                        \
	{                                                                                          \
		letter "StdDev", GP_UNIT_NS                                                        \
	}

static const struct gp_table_column columns[] = {
	GP_SHARE_COLUMNS,
	{"Count", GP_UNIT_COUNT},
	{"QCount", GP_UNIT_COUNT},
	STAGE("T"),
	STAGE("A"),
	STAGE("Q"),
	STAGE("K"),
	{"PID", GP_UNIT_NUMBER},
	{"TID", GP_UNIT_NUMBER},
	{"Device", GP_UNIT_NUMBER},
	{"API", GP_UNIT_TEXT},
	{"Name", GP_UNIT_TEXT},
};

#define FIRST_OF_QUEUE 14 /* first column of the queue variant */

/* Times in a window of --counters are in totals alone. */
static void add_time(struct gp_tally *tally, struct gp_tally_row *row, size_t series,
		     const struct gp_op *op, uint64_t duration_ns)
{
	if (gp_op_is_in_window(op))
		gp_tally_add(row, series, duration_ns);
	else
		gp_tally_value(tally, row, series, duration_ns);
}

/* Kernels of graphs are left out: one graph launch has many kernels. */
static void take_kernel(struct gp_tally *tally, const struct gp_scope_op *at)
{
	const struct gp_op *op = at->op;
	const struct gp_call *call = op->call == GP_NONE ? NULL : &at->model->calls[op->call];
	struct gp_tally_row *row;
	uint64_t end_ns;

	if (op->kind != GP_OP_KERNEL || op->untimed || !call ||
	    gp_model_api_class(at->model, call->api) != GP_API_LAUNCH)
		return;
	end_ns = call->start_ns + call->duration_ns;
	row = gp_tally_find(tally, (uint64_t[GP_TALLY_KEYS]){at->process, call->thread_id,
							     op->device_id, call->api, at->name});
	row->count++;
	add_time(tally, row, API, op, call->duration_ns);
	add_time(tally, row, KERNEL, op, op->end_ns - op->start_ns);
	if (op->start_ns >= end_ns)
		add_time(tally, row, QUEUE, op, op->start_ns - end_ns);
	end_ns = op->end_ns > end_ns ? op->end_ns : end_ns;
	add_time(tally, row, TOTAL, op, end_ns - call->start_ns);
}

static void put_row(struct gp_scope *scope, struct gp_table *table, const struct gp_tally_row *row,
		    double total)
{
	const struct gp_model *model = scope->models[row->key[0]];

	gp_scope_put_share(table, row, total);
	gp_table_put_whole(table, row->count);
	gp_table_put_whole(table, row->series[QUEUE].count);
	for (size_t stage = TOTAL; stage <= KERNEL; stage++)
		gp_scope_put_spread(table, &row->series[stage]);
	gp_scope_put_process(scope, table, scope->models[row->key[0]]);
	gp_table_put_whole(table, row->key[1]);
	gp_table_put_whole(table, gp_scope_device(scope, model, (uint16_t)row->key[2]));
	gp_table_put_text(table, gp_model_api(model, (uint16_t)row->key[3]).name);
	gp_table_put_text(table, gp_scope_kernel_of(scope, row->key[4]));
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	return gp_scope_table_of_ops(scope, table, take_kernel, put_row);
}

const struct gp_breakdown gp_breakdown_exec = {
	.help = "kernels: launch call (A), time in the queue (Q), execution (K)",
	.nothing =
		"no kernel with times and a recorded launch outside graphs; `gpuprof summary FILE` shows the recorded data",
	.head = {"exec", "Kernels: launch call (A), queue (Q), execution (K), all together (T)",
		 columns, COUNT(columns)},
	.sort_column = 1,
	.fold_before = FIRST_OF_QUEUE,
	.fill = fill,
};
