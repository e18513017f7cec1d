/*
 * Concurrency of kernels: how long one ran, two, three or more, by device and by stream.  A graph
 * that was launched whole counts as one.
 */
#include <assert.h>
#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/analysis/device/device_ops.h"
#include "report/base/array.h"
#include "report/tables/breakdown.h"

#define LEVELS 3 /* one, two, three or more */

/* A device runs at most 128 kernels concurrently; a hostile trace may have any number. */
#define MOST_RUNNING 1024

/* ONE is the first of the levels; SEEN: the last segment that was added to the row. */
enum { ONE, MOST = LEVELS, SEEN, SUMS };
static_assert(SUMS <= GP_TALLY_SUMS, "a sum for each");

#define CONCURRENCY_COLUMNS                                                                        \
	{"Total", GP_UNIT_NS}, {"One", GP_UNIT_NS}, {"Two", GP_UNIT_NS}, {"More", GP_UNIT_NS},     \
		{"Several %", GP_UNIT_PERCENT}, {"Most", GP_UNIT_COUNT},                           \
	{                                                                                          \
		"Kernels", GP_UNIT_COUNT                                                           \
	}

static const struct gp_table_column device_columns[] = {
	CONCURRENCY_COLUMNS,
	{"Device", GP_UNIT_NUMBER},
	{"Name", GP_UNIT_TEXT},
};

static const struct gp_table_column stream_columns[] = {
	CONCURRENCY_COLUMNS,         {"PID", GP_UNIT_NUMBER},    {"Device", GP_UNIT_NUMBER},
	{"Context", GP_UNIT_NUMBER}, {"Stream", GP_UNIT_NUMBER}, {"Name", GP_UNIT_TEXT},
};

/* A kernel that has begun, and the row that it is counted in. */
struct running {
	uint64_t end_ns;
	uint32_t row;
};

/* What runs on one device. */
struct walk {
	struct gp_scope *scope;
	struct gp_tally *tally;
	bool by_stream;
	size_t device;
	struct running *running;
	uint32_t count, capacity;
	uint64_t reached_ns, segments;
};

/* A time in which the same kernels ran. */
static void add_segment(struct walk *walk, uint64_t end_ns)
{
	uint64_t length_ns = end_ns - walk->reached_ns;
	uint32_t level = walk->count < LEVELS ? walk->count : LEVELS;

	walk->reached_ns = end_ns;
	walk->segments++;
	for (uint32_t i = 0; i < walk->count && length_ns > 0; i++) {
		struct gp_tally_row *row = &walk->tally->rows[walk->running[i].row];

		if (row->sums[SEEN] == walk->segments)
			continue;
		row->sums[SEEN] = walk->segments;
		row->sums[ONE + level - 1] += length_ns;
		if (walk->count > row->sums[MOST])
			row->sums[MOST] = walk->count;
	}
}

/* Up to a time before which no other kernel begins. */
static void advance(struct walk *walk, uint64_t time_ns)
{
	while (walk->count > 0) {
		uint32_t first = 0;

		for (uint32_t i = 1; i < walk->count; i++)
			if (walk->running[i].end_ns < walk->running[first].end_ns)
				first = i;
		if (walk->running[first].end_ns > time_ns)
			break;
		add_segment(walk, walk->running[first].end_ns);
		walk->running[first] = walk->running[--walk->count];
	}
	add_segment(walk, time_ns);
}

static void take_kernel(struct walk *walk, struct gp_op_at at, const struct gp_op *op)
{
	const uint64_t device[GP_TALLY_KEYS] = {walk->device};
	const uint64_t stream[GP_TALLY_KEYS] = {at.model, op->device_id, op->context_id,
						op->stream_id};
	uint64_t base_ns = walk->scope->models[at.model]->base_unix_ns;
	struct gp_tally_row *row = gp_tally_find(walk->tally, walk->by_stream ? stream : device);

	gp_array_grow(&walk->running, &walk->capacity, walk->count, sizeof(*walk->running));
	row->count++;
	advance(walk, base_ns + op->start_ns);
	if (walk->count < MOST_RUNNING)
		walk->running[walk->count++] =
			(struct running){base_ns + op->end_ns, (uint32_t)(row - walk->tally->rows)};
}

static void walk_device(struct walk *walk, struct gp_device_ops *ops)
{
	struct gp_op_at at;

	walk->reached_ns = 0;
	gp_device_ops_start(ops, walk->device);
	while (gp_device_ops_next(ops, &at)) {
		const struct gp_op *op = gp_op_of(walk->scope->models, at);

		if (op->kind == GP_OP_KERNEL || op->kind == GP_OP_GRAPH)
			take_kernel(walk, at, op);
	}
	advance(walk, UINT64_MAX);
}

static int fill(struct gp_scope *scope, struct gp_table *table, bool by_stream,
		gp_scope_put_row *put)
{
	struct gp_tally tally = {0};
	struct walk walk = {.scope = scope, .tally = &tally, .by_stream = by_stream};
	struct gp_device_ops ops;

	gp_device_ops_open(&ops, scope->models, scope->model_count, &scope->devices);
	for (; walk.device < scope->devices.count; walk.device++)
		walk_device(&walk, &ops);
	gp_device_ops_close(&ops);
	free(walk.running);
	return gp_scope_rows(scope, table, &tally, 0, put);
}

static void put_times(struct gp_table *table, const struct gp_tally_row *row)
{
	const uint64_t *ns = &row->sums[ONE];
	uint64_t all_ns = ns[0] + ns[1] + ns[2];

	gp_table_put_whole(table, all_ns);
	for (unsigned i = 0; i < LEVELS; i++)
		gp_table_put_whole(table, ns[i]);
	gp_table_cell(table, gp_value_percent((double)(ns[1] + ns[2]), (double)all_ns));
	gp_table_put_whole(table, row->sums[MOST]);
	gp_table_put_whole(table, row->count);
}

/* ---- by device ---- */

static void put_device(struct gp_scope *scope, struct gp_table *table,
		       const struct gp_tally_row *row, double total)
{
	const struct gp_device_entry *device = &scope->devices.entries[row->key[0]];

	(void)total;
	put_times(table, row);
	gp_table_put_whole(table, device->number);
	gp_table_put_text(table, device->name);
}

static int fill_devices(struct gp_scope *scope, struct gp_table *table)
{
	return fill(scope, table, false, put_device);
}

/* ---- by stream ---- */

static void put_stream(struct gp_scope *scope, struct gp_table *table,
		       const struct gp_tally_row *row, double total)
{
	const struct gp_model *model = scope->models[row->key[0]];

	(void)total;
	put_times(table, row);
	gp_scope_put_process(scope, table, scope->models[row->key[0]]);
	gp_table_put_whole(table, gp_scope_device(scope, model, (uint16_t)row->key[1]));
	gp_table_put_whole(table, row->key[2]);
	gp_table_put_whole(table, row->key[3]);
	gp_table_put_text(
		table, gp_model_stream_name(model, (uint32_t)row->key[2], (uint32_t)row->key[3]));
}

static int fill_streams(struct gp_scope *scope, struct gp_table *table)
{
	return fill(scope, table, true, put_stream);
}

#define NOTHING "no kernel was recorded; `gpuprof summary FILE` shows the recorded data"

const struct gp_breakdown gp_breakdown_concurrency_device = {
	.word = "concurrency",
	.help = "devices: how long one kernel ran, two, or more concurrently",
	.nothing = NOTHING,
	.head = {"concurrency-device", "Concurrent kernels", device_columns, COUNT(device_columns)},
	.sort_column = 0,
	.fill = fill_devices,
};

const struct gp_breakdown gp_breakdown_concurrency_stream = {
	.word = "concurrency",
	.help = "streams: how long their kernels ran alone on the device, and beside others",
	.nothing = NOTHING,
	.head = {"concurrency-stream", "Concurrent kernels by stream", stream_columns,
		 COUNT(stream_columns)},
	.sort_column = 0,
	.fill = fill_streams,
};
