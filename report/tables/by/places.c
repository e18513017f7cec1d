/* Where operations ran: by stream, context, device, process. */
#include "report/tables/breakdown.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/analysis/idle/activity.h"
#include "report/trace/cuda_names.h"
#include "report/model/recorded.h"

/* KINDS is the first of one sum for each enum gp_op_kind. */
enum { BYTES = GP_SCOPE_UNTIMED + 1, BUSY_NS, REACHED_NS, KINDS, CALLS = KINDS + 4, FAILED };
static_assert(FAILED < GP_TALLY_SUMS, "a sum for each");

/* Series 0: times of operations; 1: times of calls. */
enum { API_TIMES = 1 };

#define OPERATION_COLUMNS                                                                          \
	GP_SHARE_COLUMNS, {"Count", GP_UNIT_COUNT}, {"Untimed", GP_UNIT_COUNT},                    \
		{"Kernels", GP_UNIT_COUNT}, {"Copies", GP_UNIT_COUNT}, {"Memsets", GP_UNIT_COUNT}, \
		{"Graphs", GP_UNIT_COUNT},                                                         \
	{                                                                                          \
		"Bytes", GP_UNIT_BYTES                                                             \
	}

static const struct gp_table_column stream_columns[] = {
	OPERATION_COLUMNS,          {"Busy", GP_UNIT_NS},        {"PID", GP_UNIT_NUMBER},
	{"Device", GP_UNIT_NUMBER}, {"Context", GP_UNIT_NUMBER}, {"Stream", GP_UNIT_NUMBER},
	{"Priority", GP_UNIT_TEXT}, {"Kind", GP_UNIT_TEXT},      {"Made", GP_UNIT_NS},
	{"Made by", GP_UNIT_TEXT},  {"Name", GP_UNIT_TEXT},
};

static const struct gp_table_column context_columns[] = {
	OPERATION_COLUMNS,           {"PID", GP_UNIT_NUMBER},  {"Device", GP_UNIT_NUMBER},
	{"Context", GP_UNIT_NUMBER}, {"API time", GP_UNIT_NS}, {"Made", GP_UNIT_NS},
	{"Made by", GP_UNIT_TEXT},   {"Name", GP_UNIT_TEXT},
};

static const struct gp_table_column device_columns[] = {
	OPERATION_COLUMNS,          {"Busy", GP_UNIT_NS},   {"Busy %", GP_UNIT_PERCENT},
	{"Device", GP_UNIT_NUMBER}, {"Name", GP_UNIT_TEXT},
};

static const struct gp_table_column process_columns[] = {
	OPERATION_COLUMNS,         {"Calls", GP_UNIT_COUNT}, {"Failed", GP_UNIT_COUNT},
	{"API time", GP_UNIT_NS},  {"Started", GP_UNIT_NS},  {"Span", GP_UNIT_NS},
	{"PID", GP_UNIT_NUMBER},   {"Rank", GP_UNIT_TEXT},   {"Ended", GP_UNIT_TEXT},
	{"Program", GP_UNIT_TEXT},
};

static void count_operation(struct gp_tally *tally, const uint64_t key[GP_TALLY_KEYS],
			    const struct gp_op *op)
{
	struct gp_tally_row *row = gp_tally_find(tally, key);

	gp_scope_count_gpu_op(tally, row, op);
	row->sums[KINDS + op->kind]++;
	row->sums[BYTES] += op->bytes;
}

static void put_operations(struct gp_table *table, const struct gp_tally_row *row, double total)
{
	gp_scope_put_share(table, row, total);
	gp_table_put_whole(table, row->count);
	gp_table_put_whole(table, row->sums[GP_SCOPE_UNTIMED]);
	for (size_t kind = GP_OP_KERNEL; kind <= GP_OP_GRAPH; kind++)
		gp_table_put_whole(table, row->sums[KINDS + kind]);
	gp_table_put_whole(table, row->sums[BYTES]);
}

/* ---- by stream ---- */

/* Operations of a stream are sorted by start: only time after the latest end is added. */
static void count_busy(struct gp_tally_row *row, const struct gp_op *op)
{
	uint64_t from = op->start_ns > row->sums[REACHED_NS] ? op->start_ns : row->sums[REACHED_NS];

	if (op->end_ns > from && !gp_op_is_on_host(op)) {
		row->sums[BUSY_NS] += op->end_ns - from;
		row->sums[REACHED_NS] = op->end_ns;
	}
}

static void take_stream(struct gp_tally *tally, const struct gp_scope_op *at)
{
	const uint64_t key[GP_TALLY_KEYS] = {at->process, at->op->device_id, at->op->context_id,
					     at->op->stream_id};

	count_operation(tally, key, at->op);
	count_busy(gp_tally_find(tally, key), at->op);
}

static void put_stream_kind(struct gp_table *table, const struct gp_record_stream *stream)
{
	char priority[16] = "";

	if (stream)
		snprintf(priority, sizeof(priority), "%d", stream->priority);
	gp_table_put_text(table, priority);
	gp_table_put_text(table, stream ? gp_stream_kind_name(stream->flags) : "");
}

static void put_place(struct gp_scope *scope, struct gp_table *table,
		      const struct gp_tally_row *row)
{
	gp_scope_put_process(scope, table, scope->models[row->key[0]]);
	gp_table_put_whole(
		table, gp_scope_device(scope, scope->models[row->key[0]], (uint16_t)row->key[1]));
	gp_table_put_whole(table, row->key[2]);
}

/* Start and name of the call that created it. */
static void put_maker(struct gp_scope *scope, struct gp_table *table, const struct gp_model *model,
		      uint32_t call)
{
	uint64_t unix_ns;

	if (call == GP_NONE) {
		gp_table_cell(table, gp_value_none());
		gp_table_cell(table, gp_value_none());
		return;
	}
	unix_ns = model->base_unix_ns + model->calls[call].start_ns;
	gp_table_cell(table, gp_value_moment((int64_t)(unix_ns - scope->start_unix_ns)));
	gp_table_put_text(table, gp_model_api(model, model->calls[call].api).name);
}

static void put_stream(struct gp_scope *scope, struct gp_table *table,
		       const struct gp_tally_row *row, double total)
{
	const struct gp_model *model = scope->models[row->key[0]];
	const struct gp_record_stream *stream =
		gp_model_stream(model, (uint32_t)row->key[2], (uint32_t)row->key[3]);

	put_operations(table, row, total);
	gp_table_put_whole(table, row->sums[BUSY_NS]);
	put_place(scope, table, row);
	gp_table_put_whole(table, row->key[3]);
	put_stream_kind(table, stream);
	put_maker(scope, table, model, gp_model_stream_call(model, stream));
	gp_table_put_text(
		table, gp_model_stream_name(model, (uint32_t)row->key[2], (uint32_t)row->key[3]));
}

static int fill_streams(struct gp_scope *scope, struct gp_table *table)
{
	return gp_scope_table_of_ops(scope, table, take_stream, put_stream);
}

/* ---- by context ---- */

static void take_context(struct gp_tally *tally, const struct gp_scope_op *at)
{
	const uint64_t key[GP_TALLY_KEYS] = {at->process, at->op->device_id, at->op->context_id};

	count_operation(tally, key, at->op);
}

static void put_context(struct gp_scope *scope, struct gp_table *table,
			const struct gp_tally_row *row, double total)
{
	const struct gp_model *model = scope->models[row->key[0]];
	uint32_t context_id = (uint32_t)row->key[2],
		 maker = gp_model_context_call(model, context_id);

	put_operations(table, row, total);
	put_place(scope, table, row);
	gp_table_cell(table, maker != GP_NONE ? gp_value_whole(model->calls[maker].duration_ns)
					      : gp_value_none());
	put_maker(scope, table, model, maker);
	gp_table_put_text(table, gp_model_context_name(model, context_id));
}

static int fill_contexts(struct gp_scope *scope, struct gp_table *table)
{
	return gp_scope_table_of_ops(scope, table, take_context, put_context);
}

/* ---- by device ---- */

static void take_device(struct gp_tally *tally, const struct gp_scope_op *at)
{
	const uint64_t key[GP_TALLY_KEYS] = {
		gp_scope_device(at->scope, at->model, at->op->device_id)};

	count_operation(tally, key, at->op);
}

static void put_device(struct gp_table *table, const struct gp_device_entry *device,
		       const struct gp_busy *busy, bool is_known)
{
	gp_table_put_whole(table, busy->inside_ns + busy->outside_ns);
	gp_table_cell(table, is_known ? gp_value_percent((double)busy->inside_ns,
							 (double)busy->possible_ns)
				      : gp_value_none());
	gp_table_put_whole(table, device->number);
	gp_table_put_text(table, device->name);
}

static void put_devices(struct gp_scope *scope, struct gp_table *table, struct gp_tally *tally,
			const struct gp_busy *busy)
{
	double total = gp_tally_total(tally, 0);

	for (size_t i = 0; i < scope->devices.count; i++) {
		const struct gp_device_entry *device = &scope->devices.entries[i];
		const uint64_t key[GP_TALLY_KEYS] = {device->number};

		put_operations(table, gp_tally_find(tally, key), total);
		put_device(table, device, &busy[i], gp_scope_has_gpu(scope));
	}
}

/* Idle devices have a row, too. */
static int fill_devices(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_window window = gp_busy_window(scope->models, scope->model_count);
	struct gp_busy *busy =
		gp_busy_of(scope->models, scope->model_count, window, &scope->devices);
	struct gp_tally tally = {0};
	int result;

	gp_scope_ops(scope, &tally, take_device);
	put_devices(scope, table, &tally, busy);
	result = tally.error;
	gp_tally_free(&tally);
	free(busy);
	return result;
}

/* ---- by process ---- */

static void take_process(struct gp_tally *tally, const struct gp_scope_op *at)
{
	const uint64_t key[GP_TALLY_KEYS] = {at->process};

	count_operation(tally, key, at->op);
}

static void take_process_call(struct gp_tally *tally, const struct gp_scope_call *at)
{
	const uint64_t key[GP_TALLY_KEYS] = {at->process};
	struct gp_tally_row *row = gp_tally_find(tally, key);

	row->sums[CALLS]++;
	row->sums[FAILED] += gp_activity_is_failure(at->model, at->call);
	row->series[API_TIMES].total += at->call->duration_ns;
}

static const char *info_of(const struct gp_model *model, enum gp_info info)
{
	return model->info[info] ? model->info[info] : "";
}

static void put_process(struct gp_scope *scope, struct gp_table *table,
			const struct gp_tally_row *row, double total)
{
	const struct gp_model *model = scope->models[row->key[0]];

	put_operations(table, row, total);
	gp_table_put_whole(table, row->sums[CALLS]);
	gp_scope_put_failed(scope, table, row->sums[FAILED]);
	gp_table_put_whole(table, row->series[API_TIMES].total);
	gp_table_cell(table, gp_value_moment((int64_t)(model->base_unix_ns + model->first_ns -
						       scope->start_unix_ns)));
	gp_table_put_whole(table, model->last_ns - model->first_ns);
	gp_scope_put_process(scope, table, model);
	gp_table_put_text(table, info_of(model, GP_INFO_RANK));
	gp_table_put_text(table, gp_recorded_how_ended(model).text);
	gp_table_put_text(table, info_of(model, GP_INFO_PROGRAM));
}

static int fill_processes(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_tally tally = {0};

	gp_scope_ops(scope, &tally, take_process);
	gp_scope_calls(scope, &tally, take_process_call);
	return gp_scope_rows(scope, table, &tally, 0, put_process);
}

#define NOTHING "no GPU operation was recorded; `gpuprof summary FILE` shows the recorded data"

const struct gp_breakdown gp_breakdown_stream = {
	.help = "streams: their operations",
	.nothing = NOTHING,
	.head = {"stream", "Streams", stream_columns, COUNT(stream_columns)},
	.sort_column = 1,
	.fill = fill_streams,
};

const struct gp_breakdown gp_breakdown_context = {
	.help = "contexts: their operations",
	.nothing = NOTHING,
	.head = {"context", "Contexts", context_columns, COUNT(context_columns)},
	.sort_column = 1,
	.fill = fill_contexts,
};

const struct gp_breakdown gp_breakdown_device = {
	.help = "devices: their operations, how busy they were",
	.nothing = "no GPU was used; `gpuprof summary FILE` shows the recorded data",
	.head = {"device", "Devices", device_columns, COUNT(device_columns)},
	.sort_column = 1,
	.fill = fill_devices,
};

const struct gp_breakdown gp_breakdown_process = {
	.help = "processes",
	.nothing = "no process used a GPU; `gpuprof summary FILE` shows the recorded data",
	.head = {"process", "Processes", process_columns, COUNT(process_columns)},
	.sort_column = 1,
	.fill = fill_processes,
};
