/* The kernels that were launched inside each NVTX range. */
#include "report/tables/by/ranges.h"

#include <errno.h>
#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/base/array.h"
#include "report/tables/breakdown.h"
#include "report/base/spill_memory.h"

/* Ranges open at the same time; further ones are ignored. */
#define MOST_OPEN 64

enum { RANGES = GP_SCOPE_UNTIMED + 1, LAST_RANGE };

static const struct gp_table_column columns[] = {
	GP_SHARE_COLUMNS,           {"Count", GP_UNIT_COUNT},
	{"Untimed", GP_UNIT_COUNT}, GP_HISTOGRAM_COLUMNS(GP_UNIT_NS),
	{"Ranges", GP_UNIT_COUNT},  {"PID", GP_UNIT_NUMBER},
	{"TID", GP_UNIT_NUMBER},    GP_RANGE_COLUMNS,
	{"Name", GP_UNIT_TEXT},
};

struct open_range {
	uint32_t index; /* in model.ranges */
	struct gp_range_key key;
};

/*
 * A parallel walk over calls and ranges, both sorted by start: for each thread for push/pop ranges,
 * over all threads for start/end ranges.
 */
struct walk {
	struct gp_scope *scope;
	struct gp_tally *tally;
	const struct gp_model *model;
	uint64_t process; /* the model's index */
	uint64_t *names;
	uint8_t style;
	uint32_t *calls, *ranges; /* in the order of the walk */
	uint32_t next;            /* in ranges */
	struct open_range open[MOST_OPEN];
	size_t open_count;
};

static bool is_by_thread(const struct walk *walk)
{
	return walk->style == GP_STYLE_PUSH_POP;
}

/* Whether the range starts before the call, or with it, in the order of the walk. */
static bool comes_first(const struct walk *walk, const struct gp_range *range,
			const struct gp_call *call)
{
	if (is_by_thread(walk) && range->thread_id != call->thread_id)
		return range->thread_id < call->thread_id;
	return range->start_ns <= call->start_ns;
}

static bool is_open_at(const struct walk *walk, const struct gp_range *range,
		       const struct gp_call *call)
{
	return range->end_ns >= call->start_ns &&
	       (!is_by_thread(walk) || range->thread_id == call->thread_id);
}

static void close_ranges(struct walk *walk, const struct gp_call *call)
{
	size_t kept = 0;

	for (size_t i = 0; i < walk->open_count; i++)
		if (is_open_at(walk, &walk->model->ranges[walk->open[i].index], call))
			walk->open[kept++] = walk->open[i];
	walk->open_count = kept;
}

static void open_ranges(struct walk *walk, const struct gp_call *call)
{
	const struct gp_model *model = walk->model;

	for (; walk->next < model->range_count; walk->next++) {
		uint32_t index = walk->ranges[walk->next];
		const struct gp_range *range = &model->ranges[index];

		if (!comes_first(walk, range, call))
			return;
		if (range->style == walk->style && is_open_at(walk, range, call) &&
		    walk->open_count < MOST_OPEN)
			walk->open[walk->open_count++] = (struct open_range){
				index, gp_range_key_of(walk->scope, model, range)};
	}
}

/* The thread that opened it. */
static uint32_t thread_of(const struct walk *walk, const struct open_range *range)
{
	return walk->model->ranges[range->index].thread_id;
}

/* Whether an outer range has the same row: a kernel counts once there. */
static bool is_repeated(const struct walk *walk, size_t index)
{
	const struct open_range *range = &walk->open[index];

	for (size_t i = 0; i < index; i++)
		if (walk->open[i].key.text == range->key.text &&
		    walk->open[i].key.domain == range->key.domain &&
		    thread_of(walk, &walk->open[i]) == thread_of(walk, range))
			return true;
	return false;
}

static void count_kernel(struct walk *walk, const struct open_range *range, const struct gp_op *op)
{
	struct gp_tally_row *row = gp_tally_find(
		walk->tally,
		(uint64_t[GP_TALLY_KEYS]){range->key.text, range->key.domain, range->key.style,
					  gp_scope_name(walk->scope, walk->model, op, walk->names),
					  walk->process << 32 | thread_of(walk, range)});

	gp_scope_count_op(walk->tally, row, op);
	row->sums[RANGES] += row->sums[LAST_RANGE] != (uint64_t)range->index + 1;
	row->sums[LAST_RANGE] = (uint64_t)range->index + 1;
}

static void count_kernels(struct walk *walk, const struct gp_call *call)
{
	for (size_t i = 0; i < walk->open_count; i++) {
		if (is_repeated(walk, i))
			continue;
		for (uint32_t op = call->first_op; op != GP_NONE; op = walk->model->ops[op].next_op)
			if (walk->model->ops[op].kind == GP_OP_KERNEL)
				count_kernel(walk, &walk->open[i], &walk->model->ops[op]);
	}
}

GP_COMPARE_BY(compare_calls, struct gp_call, start_ns)

GP_COMPARE_BY(compare_ranges, struct gp_range, start_ns)

static int compare_nothing(const void *a, const void *b, const void *context)
{
	(void)a;
	(void)b;
	(void)context;
	return 0;
}

/* Sort both; the model's order is by thread and start. */
static void order(struct walk *walk)
{
	const struct gp_model *model = walk->model;
	bool by_thread = is_by_thread(walk);

	walk->calls = gp_array_order(model->calls, model->call_count, sizeof(*model->calls),
				     by_thread ? compare_nothing : compare_calls, NULL);
	walk->ranges = gp_array_order(model->ranges, model->range_count, sizeof(*model->ranges),
				      by_thread ? compare_nothing : compare_ranges, NULL);
}

static int walk_model(struct gp_scope *scope, struct gp_tally *tally, size_t process, uint8_t style)
{
	const struct gp_model *model = scope->models[process];
	struct walk walk = {
		.scope = scope, .tally = tally, .model = model, .process = process, .style = style};
	int result = -ENOMEM;

	order(&walk);
	walk.names = gp_scope_names(model);
	if (walk.calls && walk.ranges && walk.names) {
		for (uint32_t i = 0; i < model->call_count; i++) {
			const struct gp_call *call = &model->calls[walk.calls[i]];

			if (call->first_op == GP_NONE)
				continue;
			close_ranges(&walk, call);
			open_ranges(&walk, call);
			count_kernels(&walk, call);
		}
		result = 0;
	}
	gp_spill_free(walk.calls);
	gp_spill_free(walk.ranges);
	free(walk.names);
	return result;
}

static void put_row(struct gp_scope *scope, struct gp_table *table, const struct gp_tally_row *row,
		    double total)
{
	gp_scope_put_share(table, row, total);
	gp_table_put_whole(table, row->count);
	gp_table_put_whole(table, row->sums[GP_SCOPE_UNTIMED]);
	gp_scope_put_spread(table, &row->series[0]);
	gp_table_put_whole(table, row->sums[RANGES]);
	gp_scope_put_pid(scope, table, row->key[4] >> 32);
	gp_table_put_whole(table, row->key[4] & UINT32_MAX);
	gp_range_put_key(scope, table,
			 (struct gp_range_key){row->key[0], row->key[1], row->key[2]});
	gp_table_put_text(table, gp_scope_kernel_of(scope, row->key[3]));
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	static const uint8_t styles[] = {GP_STYLE_PUSH_POP, GP_STYLE_START_END};
	struct gp_tally tally = {0};
	int result = 0;

	for (size_t i = 0; result == 0 && i < scope->model_count * COUNT(styles); i++)
		result = walk_model(scope, &tally, i / COUNT(styles), styles[i % COUNT(styles)]);
	return gp_scope_rows(scope, table, &tally, result, put_row);
}

const struct gp_breakdown gp_breakdown_nvtx_kernel = {
	.help = "kernels launched inside each NVTX range",
	.nothing = GP_RANGE_NOTHING("NVTX range that launched a kernel"),
	.head = {"nvtx-kernel", "Kernels by NVTX range", columns, COUNT(columns)},
	.sort_column = 1,
	.fill = fill,
};
