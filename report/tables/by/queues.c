/* The time between launch and start, by operation and by stream. */

#include "gpuprof/count.h"
#include "report/analysis/idle/activity.h"
#include "report/analysis/idle/queue.h"
#include "report/tables/breakdown.h"

/* ---- by operation ---- */

enum { LATE, SHORT, LONG_CALLS, LONG_WAITS, CALL_NS, GPU_NS };

/*
 * Calls, and delays from a call's end to the operation's start, from this length on count as long.
 */
#define LONG_CALL_NS 50000u
#define LONG_WAIT_NS 100000u

static const struct gp_table_column kernel_columns[] = {
	GP_SHARE_COLUMNS,
	{"Count", GP_UNIT_COUNT},
	GP_HISTOGRAM_COLUMNS(GP_UNIT_NS),
	{"Late", GP_UNIT_COUNT},
	{"Short", GP_UNIT_COUNT},
	{"Long calls", GP_UNIT_COUNT},
	{"Long waits", GP_UNIT_COUNT},
	{"API time", GP_UNIT_NS},
	{"GPU time", GP_UNIT_NS},
	{"Category", GP_UNIT_TEXT},
	{"Name", GP_UNIT_TEXT},
};

static uint64_t name_of(const struct gp_scope_op *at)
{
	char label[GP_ACTIVITY_LABEL_BYTES];

	if (at->op->kind == GP_OP_KERNEL)
		return at->name;
	gp_activity_label(label, at->op);
	return gp_scope_text(at->scope, label);
}

/* Whether the stream was idle when the call began. */
static bool is_late(const struct gp_scope_op *at, uint64_t called_ns)
{
	const struct gp_op *before = at->op - 1;

	return at->op > at->model->ops && gp_ops_share_stream(before, at->op) && !before->untimed &&
	       before->end_ns < called_ns;
}

static void take_op(struct gp_tally *tally, const struct gp_scope_op *at)
{
	const struct gp_op *op = at->op;
	const struct gp_call *call;
	struct gp_tally_row *row;

	if (!gp_queue_has(op) || op->graph_id != 0 || op->kind == GP_OP_GRAPH)
		return;
	call = &at->model->calls[op->call];
	row = gp_tally_find(tally, (uint64_t[GP_TALLY_KEYS]){name_of(at), op->kind});
	row->count++;
	row->sums[LATE] += is_late(at, call->start_ns);
	row->sums[SHORT] += op->end_ns - op->start_ns < call->duration_ns;
	row->sums[LONG_CALLS] += call->duration_ns > LONG_CALL_NS;
	row->sums[LONG_WAITS] += gp_queue_delay_ns(at->model, op) > LONG_WAIT_NS;
	row->sums[CALL_NS] += call->duration_ns;
	row->sums[GPU_NS] += gp_op_gpu_ns(op);
	gp_tally_value(tally, row, 0, gp_queue_delay_ns(at->model, op));
}

static void put_op(struct gp_scope *scope, struct gp_table *table, const struct gp_tally_row *row,
		   double total)
{
	static const char *const categories[] = {
		[GP_OP_KERNEL] = "kernel", [GP_OP_COPY] = "copy", [GP_OP_SET] = "memset"};

	gp_scope_put_share(table, row, total);
	gp_table_put_whole(table, row->count);
	gp_scope_put_spread(table, &row->series[0]);
	for (size_t i = 0; i <= GPU_NS; i++)
		gp_table_put_whole(table, row->sums[i]);
	gp_table_put_text(table, categories[row->key[1]]);
	gp_table_put_text(table, row->key[1] == GP_OP_KERNEL
					 ? gp_scope_kernel_of(scope, row->key[0])
					 : gp_scope_text_of(scope, row->key[0]));
}

static int fill_kernels(struct gp_scope *scope, struct gp_table *table)
{
	return gp_scope_table_of_ops(scope, table, take_op, put_op);
}

/* ---- by stream ---- */

static const struct gp_table_column stream_columns[] = {
	{"Launched", GP_UNIT_COUNT},         {"Late", GP_UNIT_COUNT},    {"Changes", GP_UNIT_COUNT},
	GP_HISTOGRAM_COLUMNS(GP_UNIT_COUNT), {"Full", GP_UNIT_NS},       {"Blocked", GP_UNIT_COUNT},
	{"Blocked time", GP_UNIT_NS},        {"Host wait", GP_UNIT_NS},  {"Step", GP_UNIT_NS},
	{"Other wait", GP_UNIT_NS},          {"PID", GP_UNIT_NUMBER},    {"Device", GP_UNIT_NUMBER},
	{"Context", GP_UNIT_NUMBER},         {"Stream", GP_UNIT_NUMBER},
};

struct lengths {
	struct gp_tally tally; /* one row: queue lengths of one stream */
	struct gp_tally_row *row;
};

static void take_length(void *context, uint64_t time_ns, uint64_t length)
{
	struct lengths *lengths = context;

	(void)time_ns;
	lengths->row->count++;
	gp_tally_value(&lengths->tally, lengths->row, 0, length);
}

static void put_stream(struct gp_scope *scope, struct gp_table *table, const struct gp_queue *queue,
		       const struct lengths *lengths, const struct gp_model *model,
		       const struct gp_op *op)
{
	const uint64_t after[] = {queue->full_ns,      queue->blocked, queue->blocked_ns,
				  queue->host_wait_ns, queue->step_ns, queue->other_ns};

	gp_table_put_whole(table, queue->launched);
	gp_table_put_whole(table, queue->late);
	gp_table_put_whole(table, lengths->row->count);
	gp_scope_put_spread(table, &lengths->row->series[0]);
	for (size_t i = 0; i < COUNT(after); i++)
		gp_table_put_whole(table, after[i]);
	gp_scope_put_process(scope, table, model);
	gp_table_put_whole(table, gp_scope_device(scope, model, op->device_id));
	gp_table_put_whole(table, op->context_id);
	gp_table_put_whole(table, op->stream_id);
}

static void fill_stream(struct gp_scope *scope, struct gp_table *table,
			const struct gp_model *model, uint32_t first, uint32_t end)
{
	struct lengths lengths = {0};
	struct gp_queue queue;

	lengths.row = gp_tally_find(&lengths.tally, (uint64_t[GP_TALLY_KEYS]){0});
	gp_queue_of(&queue, model, first, end, take_length, &lengths);
	put_stream(scope, table, &queue, &lengths, model, &model->ops[first]);
	gp_tally_free(&lengths.tally);
}

static int fill_streams(struct gp_scope *scope, struct gp_table *table)
{
	for (size_t m = 0; m < scope->model_count; m++) {
		const struct gp_model *model = scope->models[m];

		for (uint32_t first = 0, end; first < model->op_count; first = end) {
			end = gp_model_stream_end(model, first);
			fill_stream(scope, table, model, first, end);
		}
	}
	return 0;
}

#define NOTHING                                                                                    \
	"no GPU operation whose launch is known was recorded; `gpuprof summary FILE` says what "   \
	"was"

const struct gp_breakdown gp_breakdown_queue_kernel = {
	.word = "queue",
	.help = "kernels, copies and memsets: delay from launch to start",
	.nothing = NOTHING,
	.head = {"queue-kernel", "From launch to start", kernel_columns, COUNT(kernel_columns)},
	.sort_column = 1,
	.fold_before = 15,
	.fill = fill_kernels,
};

const struct gp_breakdown gp_breakdown_queue_stream = {
	.word = "queue",
	.help = "streams: how many launched operations waited, full queues, causes of waits",
	.nothing = NOTHING,
	.head = {"queue-stream", "Queues", stream_columns, COUNT(stream_columns)},
	.sort_column = 0,
	.fill = fill_streams,
};
