/*
 * Activity and traffic during the ranges, the phases of the main loop, its steps and the parts of
 * the run, from hardware samples (--hw-timeline): averages over their times on the GPU.
 */
#include <errno.h>
#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/analysis/analysis.h"
#include "report/analysis/device/device_ops.h"
#include "report/analysis/device/hw_overlap.h"
#include "report/base/array.h"
#include "report/base/spill_memory.h"
#include "report/tables/breakdown.h"
#include "report/tables/by/hardware.h"
#include "report/tables/by/ranges.h"

/* A time of a row, which has a number of its own. */
struct piece {
	uint64_t row, start_ns, end_ns; /* Unix time */
};

struct pieces {
	struct piece *list;
	uint32_t count, capacity;
	int error;
};

/* A table while it is filled: of one device after the other. */
struct filling {
	struct gp_scope *scope;
	struct gp_table *table;
	const struct gp_analysis *basis;
	struct gp_tally keys; /* of ranges: their rows; used as an index */
	/* adds the times of all rows on the device */
	int (*gather)(struct filling *filling, struct pieces *pieces, size_t device);
	/* the last cells; count: times of the row */
	void (*put_key)(const struct filling *filling, uint64_t row, uint32_t count);
};

static void add_piece(struct pieces *pieces, uint64_t row, uint64_t start_ns, uint64_t end_ns)
{
	if (pieces->error == 0)
		pieces->error = gp_array_grow_spill(&pieces->list, &pieces->capacity, pieces->count,
						    sizeof(*pieces->list));
	if (pieces->error == 0)
		pieces->list[pieces->count++] = (struct piece){row, start_ns, end_ns};
}

/* ---- the rows ---- */

#define LEVEL_COLUMNS                                                                              \
	{"Total", GP_UNIT_NS}, {"Covered", GP_UNIT_NS}, {"SM", GP_UNIT_PERCENT},                   \
		{"Warps", GP_UNIT_PERCENT}, {"Tensor", GP_UNIT_PERCENT},                           \
		{"Read", GP_UNIT_GB_PER_S}, {"Written", GP_UNIT_GB_PER_S},                         \
		{"L2", GP_UNIT_GB_PER_S}, {"SM error", GP_UNIT_PERCENT},                           \
		{"Tensor error", GP_UNIT_PERCENT}, {"Read error", GP_UNIT_GB_PER_S},               \
	{                                                                                          \
		"Device", GP_UNIT_NUMBER                                                           \
	}

static void put_average(struct gp_table *table, const struct gp_hw_average *average)
{
	static const uint32_t levels[] = {GP_HW_SM_ACTIVE, GP_HW_WARPS_ACTIVE, GP_HW_TENSOR_ACTIVE,
					  GP_HW_DRAM_READ, GP_HW_DRAM_WRITE,   GP_HW_L2};
	static const uint32_t errors[] = {GP_HW_SM_ACTIVE, GP_HW_TENSOR_ACTIVE, GP_HW_DRAM_READ};

	for (size_t i = 0; i < COUNT(levels); i++)
		gp_table_cell(table, gp_hw_value_of(levels[i], average->level[levels[i]]));
	for (size_t i = 0; i < COUNT(errors); i++)
		gp_table_cell(table, gp_hw_value_of(errors[i], average->error[errors[i]]));
}

/* times: of one row, by start; they are joined.  Without a sample there is no row. */
static void put_row(const struct filling *filling, const struct gp_hw_run *run, uint64_t row,
		    struct gp_interval *times, uint32_t count)
{
	size_t joined = gp_interval_join(times, count);
	struct gp_hw_average average =
		gp_hw_average_of(run->samples, run->count, run->base_unix_ns, times, joined);
	uint64_t total_ns = 0;

	if (average.covered_ns == 0)
		return;
	for (size_t i = 0; i < joined; i++)
		total_ns += times[i].end_ns - times[i].start_ns;
	gp_table_put_whole(filling->table, total_ns);
	gp_table_put_whole(filling->table, average.covered_ns);
	put_average(filling->table, &average);
	gp_table_put_whole(filling->table, run->device);
	filling->put_key(filling, row, count);
}

GP_COMPARE_BY_TWO(compare_pieces, struct piece, row, start_ns)

static void put_rows(const struct filling *filling, const struct gp_hw_run *run,
		     struct pieces *pieces)
{
	struct gp_interval *times = gp_spill_take((pieces->count + 1) * sizeof(*times));
	uint32_t count = 0;

	gp_array_sort(pieces->list, pieces->count, sizeof(*pieces->list), compare_pieces, NULL);
	for (uint32_t i = 0; i < pieces->count; i++) {
		const struct piece *piece = &pieces->list[i];

		times[count++] = (struct gp_interval){piece->start_ns, piece->end_ns};
		if (i + 1 < pieces->count && piece[1].row == piece->row)
			continue;
		put_row(filling, run, piece->row, times, count);
		count = 0;
	}
	gp_spill_free(times);
}

static size_t find_device(const struct gp_scope *scope, uint32_t number)
{
	size_t device = 0;

	while (device + 1 < scope->devices.count && scope->devices.entries[device].number != number)
		device++;
	return device;
}

static int fill_run(void *context, const struct gp_hw_run *run)
{
	struct filling *filling = context;
	struct pieces pieces = {.count = 0};
	int result = filling->gather(filling, &pieces, find_device(filling->scope, run->device));

	if (result == 0)
		result = pieces.error;
	if (result == 0)
		put_rows(filling, run, &pieces);
	gp_spill_free(pieces.list);
	return result;
}

static int fill_with(struct filling *filling)
{
	int result = 0;

	if (gp_hw_any(filling->scope->models, filling->scope->model_count)) {
		filling->basis = gp_scope_analysis(filling->scope);
		result = filling->basis ? gp_hw_each_run(filling->scope, fill_run, filling)
					: -ENOMEM;
	}
	gp_tally_free(&filling->keys);
	return result;
}

/* Calls take for each process that has operations on the device. */
static void each_user(struct filling *filling, struct pieces *pieces, size_t device,
		      void (*take)(struct filling *filling, struct pieces *pieces, size_t process))
{
	struct gp_scope *scope = filling->scope;

	for (size_t i = 0; i < scope->model_count; i++) {
		bool *used = gp_device_list_used(&scope->devices, scope->models[i]);

		if (used[device])
			take(filling, pieces, i);
		free(used);
	}
}

static void put_process(const struct filling *filling, size_t process)
{
	gp_scope_put_process(filling->scope, filling->table, filling->scope->models[process]);
}

/* ---- ranges ---- */

static const struct gp_table_column range_columns[] = {
	LEVEL_COLUMNS, {"Count", GP_UNIT_COUNT}, GP_RANGE_COLUMNS};

static void take_ranges(struct filling *filling, struct pieces *pieces, size_t process)
{
	const struct gp_model *model = filling->scope->models[process];

	if (!gp_model_uses_one_gpu(model)) /* a range does not tell which had its operations */
		return;
	for (uint32_t i = 0; i < model->range_count; i++) {
		const struct gp_range *range = &model->ranges[i];
		struct gp_range_key key;

		if (range->gpu_end_ns == 0)
			continue;
		key = gp_range_key_of(filling->scope, model, range);
		gp_tally_find(&filling->keys,
			      (uint64_t[GP_TALLY_KEYS]){key.text, key.domain, key.style});
		add_piece(pieces, filling->keys.last, model->base_unix_ns + range->gpu_start_ns,
			  model->base_unix_ns + range->gpu_end_ns);
	}
}

static int gather_ranges(struct filling *filling, struct pieces *pieces, size_t device)
{
	each_user(filling, pieces, device, take_ranges);
	return filling->keys.error;
}

static void put_range(const struct filling *filling, uint64_t row, uint32_t count)
{
	const uint64_t *key = filling->keys.rows[row].key;

	gp_table_put_whole(filling->table, count);
	gp_range_put_key(filling->scope, filling->table,
			 (struct gp_range_key){key[0], key[1], key[2]});
}

static int fill_ranges(struct gp_scope *scope, struct gp_table *table)
{
	return fill_with(&(struct filling){
		.scope = scope, .table = table, .gather = gather_ranges, .put_key = put_range});
}

/* ---- phases ---- */

static const struct gp_table_column phase_columns[] = {
	LEVEL_COLUMNS, {"PID", GP_UNIT_NUMBER}, {"Phase", GP_UNIT_TEXT}};

/* The number of an operation's row: process and phase; 0: it has no phase. */
static uint64_t phase_row(const struct filling *filling, struct gp_op_at at)
{
	const struct gp_phases *phases = &filling->basis->phases[at.model];
	uint8_t phase = phases->of_ops ? phases->of_ops[at.op] : GP_PHASE_NONE;

	return phase == GP_PHASE_NONE ? 0 : (uint64_t)at.model * GP_PHASE_KINDS + phase;
}

/* A time of a phase lasts while operations of the device are its own, with the gaps between. */
static void take_ops(const struct filling *filling, struct pieces *pieces,
		     struct gp_device_ops *ops)
{
	struct gp_op_at at;
	uint64_t last = 0;

	while (gp_device_ops_next(ops, &at)) {
		const struct gp_op *op = gp_op_of(filling->scope->models, at);
		uint64_t base_ns = filling->scope->models[at.model]->base_unix_ns;
		uint64_t row = phase_row(filling, at);

		if (row != 0 && row != last)
			add_piece(pieces, row, base_ns + op->start_ns, base_ns + op->end_ns);
		else if (row != 0 && pieces->error == 0 &&
			 base_ns + op->end_ns > pieces->list[pieces->count - 1].end_ns)
			pieces->list[pieces->count - 1].end_ns = base_ns + op->end_ns;
		last = row;
	}
}

static int gather_phases(struct filling *filling, struct pieces *pieces, size_t device)
{
	struct gp_scope *scope = filling->scope;
	struct gp_device_ops ops;
	int result = gp_device_ops_open(&ops, scope->models, scope->model_count, &scope->devices);

	if (result == 0) {
		gp_device_ops_start(&ops, device);
		take_ops(filling, pieces, &ops);
	}
	gp_device_ops_close(&ops);
	return result;
}

static void put_phase(const struct filling *filling, uint64_t row, uint32_t count)
{
	size_t process = row / GP_PHASE_KINDS;

	(void)count;
	put_process(filling, process);
	gp_table_put_text(filling->table,
			  filling->basis->phases[process].rows[row % GP_PHASE_KINDS].name);
}

static int fill_phases(struct gp_scope *scope, struct gp_table *table)
{
	return fill_with(&(struct filling){
		.scope = scope, .table = table, .gather = gather_phases, .put_key = put_phase});
}

/* ---- steps, and the parts of the run that they are ---- */

static const struct gp_table_column part_columns[] = {
	LEVEL_COLUMNS, {"Steps", GP_UNIT_COUNT}, {"PID", GP_UNIT_NUMBER}, {"Part", GP_UNIT_TEXT}};

static const struct gp_table_column step_columns[] = {
	LEVEL_COLUMNS, {"PID", GP_UNIT_NUMBER}, {"Part", GP_UNIT_TEXT}, {"Number", GP_UNIT_NUMBER}};

/* The number of a row: process, and part or step. */
static uint64_t pack(size_t process, uint32_t number)
{
	return (uint64_t)process << 32 | number;
}

static void add_step(const struct filling *filling, struct pieces *pieces, size_t process,
		     uint32_t step, uint64_t row)
{
	const struct gp_iteration *iteration = &filling->basis->iterations[process].rows[step];
	uint64_t base_ns = filling->scope->models[process]->base_unix_ns;

	add_piece(pieces, row, base_ns + iteration->start_ns, base_ns + iteration->end_ns);
}

static void take_parts(struct filling *filling, struct pieces *pieces, size_t process)
{
	const struct gp_steps *steps = &filling->basis->steps[process];

	for (uint32_t i = 0; i < steps->count; i++)
		add_step(filling, pieces, process, i, pack(process, steps->parts[i]));
}

static int gather_parts(struct filling *filling, struct pieces *pieces, size_t device)
{
	each_user(filling, pieces, device, take_parts);
	return 0;
}

static void put_part(const struct filling *filling, uint64_t row, uint32_t count)
{
	gp_table_put_whole(filling->table, count);
	put_process(filling, row >> 32);
	gp_table_put_text(filling->table, gp_run_part_id((enum gp_run_part)(uint32_t)row));
}

static int fill_parts(struct gp_scope *scope, struct gp_table *table)
{
	return fill_with(&(struct filling){
		.scope = scope, .table = table, .gather = gather_parts, .put_key = put_part});
}

static void take_steps(struct filling *filling, struct pieces *pieces, size_t process)
{
	for (uint32_t i = 0; i < filling->basis->steps[process].count; i++)
		add_step(filling, pieces, process, i, pack(process, i));
}

static int gather_steps(struct filling *filling, struct pieces *pieces, size_t device)
{
	each_user(filling, pieces, device, take_steps);
	return 0;
}

static void put_step(const struct filling *filling, uint64_t row, uint32_t count)
{
	uint32_t step = (uint32_t)row;

	(void)count;
	put_process(filling, row >> 32);
	gp_table_put_text(filling->table,
			  gp_run_part_id(filling->basis->steps[row >> 32].parts[step]));
	gp_table_put_whole(filling->table, step + 1);
}

static int fill_steps(struct gp_scope *scope, struct gp_table *table)
{
	return fill_with(&(struct filling){
		.scope = scope, .table = table, .gather = gather_steps, .put_key = put_step});
}

/* ---- the tables ---- */

#define NO_LOOP                                                                                    \
	"no hardware samples during steps of a main loop (--by step says whether there is one)"

const struct gp_breakdown gp_breakdown_hw_range = {
	.word = "hardware",
	.help = "NVTX ranges: activity and traffic from the first to the last operation inside",
	.nothing =
		"no hardware samples while the GPU worked for a range: put NVTX ranges into the program",
	.head = {"hardware-range", "Hardware by range", range_columns, COUNT(range_columns)},
	.sort_column = 0,
	.fill = fill_ranges,
};

const struct gp_breakdown gp_breakdown_hw_phase = {
	.word = "hardware",
	.help = "phases of the main loop: activity and traffic while their operations run",
	.nothing =
		"no hardware samples during phases of a main loop (--by phase says why there are none)",
	.head = {"hardware-phase", "Hardware by phase", phase_columns, COUNT(phase_columns)},
	.sort_column = 0,
	.fill = fill_phases,
};

const struct gp_breakdown gp_breakdown_hw_part = {
	.word = "hardware",
	.help = "steps of the main loop together: activity and traffic in warm-up, steady and slow ones",
	.nothing = NO_LOOP,
	.head = {"hardware-part", "Hardware by part of the run", part_columns, COUNT(part_columns)},
	.sort_column = 0,
	.fill = fill_parts,
};

const struct gp_breakdown gp_breakdown_hw_step = {
	.word = "hardware",
	.help = "steps of the main loop, one by one: activity and traffic",
	.nothing = NO_LOOP,
	.head = {"hardware-step", "Hardware by step", step_columns, COUNT(step_columns)},
	.sort_column = 0,
	.fill = fill_steps,
	.is_in_order = true,
	.job = GP_BREAKDOWN_OF_ONE,
};
