/* Where the time went, by iteration of the main loop, and inside NVTX ranges. */
#include <errno.h>
#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/analysis/device/device_ops.h"
#include "report/analysis/idle/gpu_line.h"
#include "report/analysis/loop/steps.h"
#include "report/analysis/idle/where.h"
#include "report/base/array.h"
#include "report/tables/breakdown.h"
#include "report/tables/by/ranges.h"
#include "report/tables/by/where.h"
#include "report/base/spill_memory.h"

/* Columns of the device states during a time. */
#define STATE_COLUMNS                                                                              \
	{"Busy %", GP_UNIT_PERCENT}, {"Busy", GP_UNIT_NS}, {"Compute", GP_UNIT_NS},                \
		{"Communication", GP_UNIT_NS}, {"Copy", GP_UNIT_NS}, {"Idle", GP_UNIT_NS},         \
		{"Most idle by", GP_UNIT_TEXT},                                                    \
	{                                                                                          \
		"Idle by it", GP_UNIT_NS                                                           \
	}

static void put_states(struct gp_table *table, const uint64_t state_ns[GP_STATES])
{
	uint64_t wall_ns = gp_state_wall_ns(state_ns), idle_ns = gp_state_idle_ns(state_ns);
	enum gp_idle_cause cause = gp_state_top_cause(state_ns);
	const uint64_t numbers[] = {wall_ns - idle_ns, gp_state_any_ns(state_ns, GP_STATE_COMPUTE),
				    gp_state_any_ns(state_ns, GP_STATE_COMMUNICATION),
				    gp_state_any_ns(state_ns, GP_STATE_COPY), idle_ns};

	gp_table_cell(table, gp_value_percent((double)numbers[0], (double)wall_ns));
	for (size_t i = 0; i < COUNT(numbers); i++)
		gp_table_put_whole(table, numbers[i]);
	gp_table_put_text(table, idle_ns > 0 ? gp_idle_cause_name(cause) : "");
	gp_table_put_whole(table, state_ns[GP_STATE_IDLE + cause]);
}

static int open_lines(struct gp_scope *scope, struct gp_gpu_lines *lines)
{
	const struct gp_kinds *kinds = gp_scope_kinds(scope);

	*lines = (struct gp_gpu_lines){0};
	return kinds ? gp_gpu_lines_of(lines, scope->models, scope->model_count,
				       gp_scope_window(scope), &scope->devices, kinds)
		     : -ENOMEM;
}

/* ---- iterations ---- */

/* The sorted start times of the operations, device by device. */
struct beginnings {
	uint64_t *unix_ns;
	uint32_t *first; /* first start of each device; one more entry for the end */
};

static void gather_beginnings(struct beginnings *all, struct gp_scope *scope,
			      struct gp_device_ops *ops)
{
	size_t devices = scope->devices.count, most = 1;
	struct gp_op_at at;
	uint32_t count = 0;

	for (size_t i = 0; i < scope->model_count; i++)
		most += scope->models[i]->op_count;
	all->unix_ns = gp_spill_take(most * sizeof(*all->unix_ns));
	all->first = calloc(devices + 1, sizeof(*all->first));
	for (size_t device = 0; device < devices; device++) {
		gp_device_ops_start(ops, device);
		while (gp_device_ops_next(ops, &at))
			all->unix_ns[count++] = scope->models[at.model]->base_unix_ns +
						gp_op_of(scope->models, at)->start_ns;
		all->first[device + 1] = count;
	}
}

static int open_beginnings(struct beginnings *all, struct gp_scope *scope)
{
	struct gp_device_ops ops;
	int result = gp_device_ops_open(&ops, scope->models, scope->model_count, &scope->devices);

	*all = (struct beginnings){0};
	if (result == 0)
		gather_beginnings(all, scope, &ops);
	gp_device_ops_close(&ops);
	return result;
}

static void close_beginnings(struct beginnings *all)
{
	gp_spill_free(all->unix_ns);
	free(all->first);
}

static bool is_before(const void *element, const void *key)
{
	const uint64_t *began_ns = element, *time_ns = key;

	return *began_ns < *time_ns;
}

/* How many operations began between two times. */
static uint32_t count_begun(const struct beginnings *all, size_t device, uint64_t from_ns,
			    uint64_t to_ns)
{
	const uint64_t *began_ns = &all->unix_ns[all->first[device]];
	uint32_t count = all->first[device + 1] - all->first[device];

	return gp_array_lower_bound(began_ns, count, sizeof(*began_ns), is_before, &to_ns) -
	       gp_array_lower_bound(began_ns, count, sizeof(*began_ns), is_before, &from_ns);
}

/* The inputs for the rows of iterations. */
struct done {
	struct gp_gpu_lines lines;
	struct beginnings beginnings;
};

static const struct gp_table_column iteration_columns[] = {
	{"Wall", GP_UNIT_NS},    {"Number", GP_UNIT_NUMBER}, {"Part", GP_UNIT_TEXT},
	{"Start", GP_UNIT_NS},   {"Ops", GP_UNIT_COUNT},     STATE_COLUMNS,
	{"PID", GP_UNIT_NUMBER}, {"Device", GP_UNIT_NUMBER}, {"Found by", GP_UNIT_TEXT},
	{"Name", GP_UNIT_TEXT},
};

/* The text of the range, or the name of the first operation. */
static void put_name(struct gp_scope *scope, struct gp_table *table, uint32_t process,
		     const struct gp_iteration *row)
{
	const struct gp_model *model = scope->models[process];
	bool by_range = row->range != GP_NONE;

	gp_table_put_text(table, by_range ? "ranges" : "operations");
	if (by_range)
		gp_table_put_text(table, gp_model_range_text(model, &model->ranges[row->range]));
	else
		gp_scope_put_op(scope, table, (struct gp_op_at){process, row->first_op});
}

struct loop {
	struct gp_tuning tuning;
	struct gp_iterations iterations;
	struct gp_steps steps;
};

static int find_loop(struct loop *loop, struct gp_model *model)
{
	int result = gp_tuning_of(&loop->tuning, model);

	if (result == 0)
		result = gp_iterations_of(&loop->iterations, model, &loop->tuning);
	return result == 0 ? gp_steps_of(&loop->steps, &loop->iterations, model) : result;
}

static void free_loop(struct loop *loop)
{
	gp_steps_free(&loop->steps);
	gp_iterations_free(&loop->iterations);
	gp_tuning_free(&loop->tuning);
}

static void put_iteration(struct gp_scope *scope, struct gp_table *table, uint32_t process,
			  const struct loop *loop, uint32_t number, const struct done *done,
			  size_t device)
{
	const struct gp_model *model = scope->models[process];
	const struct gp_iteration *row = &loop->iterations.rows[number];
	uint64_t state_ns[GP_STATES] = {0};
	uint64_t start_ns = model->base_unix_ns + row->start_ns;
	uint64_t end_ns = model->base_unix_ns + row->end_ns;

	gp_gpu_line_add(&done->lines.devices[device], start_ns, end_ns, state_ns);
	gp_table_put_whole(table, end_ns - start_ns);
	gp_table_put_whole(table, number + 1);
	gp_table_put_text(table, gp_run_part_id(loop->steps.parts[number]));
	gp_table_cell(table, gp_value_moment((int64_t)(start_ns - scope->start_unix_ns)));
	gp_table_put_whole(table, count_begun(&done->beginnings, device, start_ns, end_ns));
	put_states(table, state_ns);
	gp_scope_put_process(scope, table, model);
	gp_table_put_whole(table, scope->devices.entries[device].number);
	put_name(scope, table, process, row);
}

static int fill_model(struct gp_scope *scope, struct gp_table *table, uint32_t process,
		      const struct done *done)
{
	struct loop loop = {.steps = {0}};
	bool *used = gp_device_list_used(&scope->devices, scope->models[process]);
	int result = find_loop(&loop, scope->models[process]);

	for (size_t device = 0; result == 0 && device < done->lines.count; device++)
		for (uint32_t i = 0; used[device] && i < loop.iterations.count; i++)
			put_iteration(scope, table, process, &loop, i, done, device);
	free_loop(&loop);
	free(used);
	return result;
}

static int fill_iterations(struct gp_scope *scope, struct gp_table *table)
{
	struct done done = {0};
	int result = open_lines(scope, &done.lines);

	if (result == 0)
		result = open_beginnings(&done.beginnings, scope);
	for (uint32_t i = 0; result == 0 && i < scope->model_count; i++)
		result = fill_model(scope, table, i, &done);
	close_beginnings(&done.beginnings);
	gp_gpu_lines_free(&done.lines);
	return result;
}

/* ---- inside ranges ---- */

static const struct gp_table_column range_columns[] = {
	{"Total", GP_UNIT_NS},
	{"Count", GP_UNIT_COUNT},
	STATE_COLUMNS,
	GP_RANGE_COLUMNS,
};

/* Sums over the ranges of one text. */
struct inside {
	struct gp_range_key key;
	uint64_t count, total_ns;
	uint64_t state_ns[GP_STATES];
};

struct insides {
	struct gp_tally rows; /* used as an index: its rows are parallel to all */
	struct inside *inside;
	uint32_t capacity;
};

static struct inside *find_inside(struct insides *all, struct gp_range_key key)
{
	const uint64_t numbers[GP_TALLY_KEYS] = {key.text, key.domain, key.style};
	uint32_t before = all->rows.count, at;

	gp_tally_find(&all->rows, numbers);
	if (all->rows.error < 0)
		return NULL;
	at = all->rows.last;
	if (at < before)
		return &all->inside[at];
	gp_array_grow(&all->inside, &all->capacity, at, sizeof(*all->inside));
	all->inside[at] = (struct inside){.key = key};
	return &all->inside[at];
}

static int take_range(struct gp_scope *scope, struct insides *all, const struct gp_model *model,
		      const struct gp_range *range, const struct gp_gpu_lines *lines,
		      const bool *used)
{
	struct inside *inside = find_inside(all, gp_range_key_of(scope, model, range));

	if (!inside)
		return -ENOMEM;
	inside->count++;
	inside->total_ns += range->gpu_end_ns - range->gpu_start_ns;
	for (size_t i = 0; i < lines->count; i++)
		if (used[i])
			gp_gpu_line_add(&lines->devices[i],
					model->base_unix_ns + range->gpu_start_ns,
					model->base_unix_ns + range->gpu_end_ns, inside->state_ns);
	return 0;
}

static int take_ranges(struct gp_scope *scope, struct insides *all, const struct gp_model *model,
		       const struct gp_gpu_lines *lines)
{
	bool *used = gp_device_list_used(&scope->devices, model);
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < model->range_count; i++)
		if (model->ranges[i].gpu_end_ns > 0)
			result = take_range(scope, all, model, &model->ranges[i], lines, used);
	free(used);
	return result;
}

static void put_inside(struct gp_scope *scope, struct gp_table *table, const struct inside *inside)
{
	gp_table_put_whole(table, inside->total_ns);
	gp_table_put_whole(table, inside->count);
	put_states(table, inside->state_ns);
	gp_range_put_key(scope, table, inside->key);
}

static int fill_ranges(struct gp_scope *scope, struct gp_table *table)
{
	struct insides all = {.capacity = 0};
	struct gp_gpu_lines lines;
	int result = open_lines(scope, &lines);

	for (size_t i = 0; result == 0 && i < scope->model_count; i++)
		result = take_ranges(scope, &all, scope->models[i], &lines);
	for (uint32_t i = 0; result == 0 && i < all.rows.count; i++)
		put_inside(scope, table, &all.inside[i]);
	gp_gpu_lines_free(&lines);
	gp_tally_free(&all.rows);
	free(all.inside);
	return result;
}

const struct gp_breakdown gp_breakdown_iteration = {
	.help = "steps of the main loop, by ranges or repeated operations: busy, idle, idle causes (--by step is the same)",
	.word = "step",
	.nothing =
		"no main loop was found: NVTX ranges with GPU work do not repeat, and no sequence of operations makes up half of the busiest stream, or of the work of a thread (--by sequence lists repeated sequences)",
	.head = {"iteration", "Iterations", iteration_columns, COUNT(iteration_columns)},
	.sort_column = 0,
	.fold_before = 14,
	.is_in_order = true,
	.fill = fill_iterations,
	.job = GP_BREAKDOWN_OF_ONE,
};

const struct gp_breakdown gp_breakdown_nvtx_time = {
	.help = "NVTX ranges: GPU busy and idle from the first to the last operation inside, idle causes",
	.nothing = GP_RANGE_NOTHING("range started GPU work"),
	.head = {"nvtx-time", "Where the time of ranges went", range_columns, COUNT(range_columns)},
	.sort_column = 0,
	.fold_before = 10,
	.fill = fill_ranges,
};
