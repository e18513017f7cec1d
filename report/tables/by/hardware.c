/*
 * The tables of the hardware samples (--hw-timeline): activity of the units, traffic of memories
 * and links, and both while each kernel ran.
 */
#include "report/tables/by/hardware.h"

#include <math.h>
#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/analysis/device/device_ops.h"
#include "report/analysis/device/hw_fit.h"
#include "report/analysis/idle/activity.h"
#include "report/base/array.h"
#include "report/base/spill_memory.h"
#include "report/base/stats.h"
#include "report/tables/breakdown.h"

/* "In kernels" is of the samples in which kernels ran for at least this part of the time. */
#define MOSTLY_KERNELS 0.9
/* Each of the kinds of work with the most time has its own label; all others share OTHERS. */
#define MOST_LABELS 64u
#define OTHERS      0u

/* ---- the samples of a device ---- */

static uint64_t median_length(const struct gp_record_hw_sample *samples, uint32_t count,
			      uint64_t *room)
{
	for (uint32_t i = 0; i < count; i++)
		room[i] = samples[i].end_ns - samples[i].start_ns;
	return gp_stats_select(room, count, count / 2);
}

static int tell_run(struct gp_scope *scope, const struct gp_model *model, uint32_t first,
		    uint32_t end, int (*take)(void *context, const struct gp_hw_run *run),
		    void *context)
{
	struct gp_hw_run run = {
		.model = model,
		.samples = &model->hw_samples[first],
		.count = end - first,
		.base_unix_ns = model->base_unix_ns,
		.device = gp_scope_device(scope, model, model->hw_samples[first].device_id)};
	uint64_t *room = gp_spill_take(run.count * sizeof(*room));

	run.interval_ns = median_length(run.samples, run.count, room);
	gp_spill_free(room);
	for (uint32_t i = 0; i < run.count; i++)
		run.covered_ns += run.samples[i].end_ns - run.samples[i].start_ns;
	return take(context, &run);
}

int gp_hw_each_run(struct gp_scope *scope, int (*take)(void *context, const struct gp_hw_run *run),
		   void *context)
{
	int result = 0;

	for (size_t m = 0; result == 0 && m < scope->model_count; m++) {
		const struct gp_model *model = scope->models[m];
		uint32_t first = 0;

		for (uint32_t i = 1; result == 0 && i <= model->hw_sample_count; i++) {
			if (i < model->hw_sample_count &&
			    model->hw_samples[i].device_id == model->hw_samples[first].device_id)
				continue;
			result = tell_run(scope, model, first, i, take, context);
			first = i;
		}
	}
	return result;
}

/* ---- the work of its device ---- */

struct work {
	struct gp_hw_work *list;
	uint32_t count, capacity;
};

/* The work of all processes: the hardware counters do not tell them apart.  label: by operation. */
static void gather_work(struct gp_scope *scope, const struct gp_hw_run *run, struct work *work,
			uint32_t (*label)(void *context, struct gp_op_at at), void *context)
{
	struct gp_device_ops ops;
	struct gp_op_at at;
	size_t device = 0;

	gp_device_ops_open(&ops, scope->models, scope->model_count, &scope->devices);
	while (device + 1 < scope->devices.count &&
	       scope->devices.entries[device].number != run->device)
		device++;
	gp_device_ops_start(&ops, device);
	while (gp_device_ops_next(&ops, &at)) {
		const struct gp_op *op = gp_op_of(scope->models, at);
		uint64_t base_ns = scope->models[at.model]->base_unix_ns;

		gp_array_grow_spill(&work->list, &work->capacity, work->count, sizeof(*work->list));
		work->list[work->count++] = (struct gp_hw_work){
			base_ns + op->start_ns, base_ns + op->end_ns, label(context, at)};
	}
	gp_device_ops_close(&ops);
}

/* ---- levels of a device ---- */

static uint32_t is_kernel(void *context, struct gp_op_at at)
{
	const struct gp_scope *scope = context;

	return gp_op_of(scope->models, at)->kind == GP_OP_KERNEL;
}

/* The time of each sample in which at least one kernel ran. */
static uint64_t *busy_times(const struct gp_hw_run *run, const struct work *work)
{
	uint64_t *busy_ns = calloc(run->count, sizeof(*busy_ns)), reached_ns = 0;
	uint64_t base_ns = run->model->base_unix_ns;
	uint32_t sample = 0;

	for (uint32_t i = 0; i < work->count; i++) {
		uint64_t start_ns = work->list[i].start_ns, end_ns = work->list[i].end_ns;

		if (work->list[i].label == 0 || end_ns <= reached_ns)
			continue;
		start_ns = start_ns > reached_ns ? start_ns : reached_ns;
		reached_ns = end_ns;
		while (sample < run->count && base_ns + run->samples[sample].end_ns <= start_ns)
			sample++;
		for (uint32_t s = sample;
		     s < run->count && base_ns + run->samples[s].start_ns < end_ns; s++) {
			uint64_t from_ns = base_ns + run->samples[s].start_ns;
			uint64_t to_ns = base_ns + run->samples[s].end_ns;

			from_ns = from_ns > start_ns ? from_ns : start_ns;
			to_ns = to_ns < end_ns ? to_ns : end_ns;
			busy_ns[s] += to_ns > from_ns ? to_ns - from_ns : 0;
		}
	}
	return busy_ns;
}

static void put_levels(const struct gp_hw_run *run, const uint64_t *busy_ns, uint64_t *room,
		       uint32_t metric, struct gp_hw_levels *levels)
{
	double sum = 0, length = 0, kernel_sum = 0, kernel_length = 0;
	uint32_t count = 0;

	for (uint32_t i = 0; i < run->count; i++) {
		double ns = (double)(run->samples[i].end_ns - run->samples[i].start_ns);
		bool is_busy = (double)busy_ns[i] >= MOSTLY_KERNELS * ns;

		if (!gp_hw_has(&run->samples[i], metric))
			continue;
		room[count] = gp_hw_level(&run->samples[i], metric);
		sum += ns * (double)room[count];
		length += ns;
		kernel_sum += is_busy ? ns * (double)room[count] : 0;
		kernel_length += is_busy ? ns : 0;
		count++;
	}
	levels->average[metric] = length > 0 ? sum / length : (double)NAN;
	levels->in_kernels[metric] = kernel_length > 0 ? kernel_sum / kernel_length : (double)NAN;
	levels->p95[metric] = levels->highest[metric] = (double)NAN;
	if (count == 0)
		return;
	levels->p95[metric] = (double)gp_stats_select(room, count, (size_t)count * 95 / 100);
	levels->highest[metric] = (double)gp_stats_select(room, count, count - 1);
}

void gp_hw_levels_of(struct gp_scope *scope, const struct gp_hw_run *run,
		     struct gp_hw_levels *levels)
{
	struct work work = {0};
	uint64_t *room = malloc(run->count * sizeof(*room)), *busy_ns = NULL;

	gather_work(scope, run, &work, is_kernel, scope);
	busy_ns = busy_times(run, &work);
	for (uint32_t m = 0; m < GP_HW_METRICS; m++)
		put_levels(run, busy_ns, room, m, levels);
	gp_spill_free(work.list);
	free(busy_ns);
	free(room);
}

/* ---- the tables of devices ---- */

struct gp_value gp_hw_value_of(uint32_t metric, double level)
{
	return isnan(level)
		       ? gp_value_none()
		       : gp_value_real(level / gp_hw_units[gp_hw_metrics[metric].unit].divisor);
}

#define LEVEL_COLUMNS(unit)                                                                        \
	{"Average", unit}, {"In kernels", unit}, {"95th", unit}, {"Highest", unit},                \
		{"Interval", GP_UNIT_NS}, {"Covered", GP_UNIT_NS}, {"PID", GP_UNIT_NUMBER},        \
		{"Device", GP_UNIT_NUMBER},                                                        \
	{                                                                                          \
		"Metric", GP_UNIT_TEXT                                                             \
	}

static const struct gp_table_column activity_columns[] = {LEVEL_COLUMNS(GP_UNIT_PERCENT)};
static const struct gp_table_column traffic_columns[] = {LEVEL_COLUMNS(GP_UNIT_GB_PER_S)};

struct filling {
	struct gp_scope *scope;
	struct gp_table *table;
	enum gp_hw_unit unit;
};

static void put_metric(const struct filling *filling, const struct gp_hw_run *run,
		       const struct gp_hw_levels *levels, uint32_t metric)
{
	const struct gp_hw_metric_row *row = &gp_hw_metrics[metric];
	struct gp_table *table = filling->table;

	gp_table_cell(table, gp_hw_value_of(metric, levels->average[metric]));
	gp_table_cell(table, gp_hw_value_of(metric, levels->in_kernels[metric]));
	gp_table_cell(table, gp_hw_value_of(metric, levels->p95[metric]));
	gp_table_cell(table, gp_hw_value_of(metric, levels->highest[metric]));
	gp_table_put_whole(table, run->interval_ns);
	gp_table_put_whole(table, run->covered_ns);
	gp_scope_put_process(filling->scope, table, run->model);
	gp_table_put_whole(table, run->device);
	if (row->unit == GP_HW_UNIT_BYTES)
		gp_table_put_words(table, "%s %s", row->track, row->series);
	else
		gp_table_put_text(table, row->track);
}

static int fill_run(void *context, const struct gp_hw_run *run)
{
	const struct filling *filling = context;
	struct gp_hw_levels levels;

	gp_hw_levels_of(filling->scope, run, &levels);
	for (uint32_t m = 0; m < GP_HW_METRICS; m++)
		if (gp_hw_metrics[m].unit == filling->unit && !isnan(levels.average[m]))
			put_metric(filling, run, &levels, m);
	return 0;
}

static int fill_activity(struct gp_scope *scope, struct gp_table *table)
{
	return gp_hw_each_run(scope, fill_run, &(struct filling){scope, table, GP_HW_UNIT_PERCENT});
}

static int fill_traffic(struct gp_scope *scope, struct gp_table *table)
{
	return gp_hw_each_run(scope, fill_run, &(struct filling){scope, table, GP_HW_UNIT_BYTES});
}

/* ---- kernels ---- */

static const uint32_t kernel_metrics[] = {GP_HW_SM_ACTIVE, GP_HW_WARPS_ACTIVE, GP_HW_TENSOR_ACTIVE,
					  GP_HW_DRAM_READ, GP_HW_DRAM_WRITE,   GP_HW_L2};

static const struct gp_table_column kernel_columns[] = {
	GP_SHARE_COLUMNS,
	{"Count", GP_UNIT_COUNT},
	{"SM", GP_UNIT_PERCENT},
	{"Warps", GP_UNIT_PERCENT},
	{"Tensor", GP_UNIT_PERCENT},
	{"Read", GP_UNIT_GB_PER_S},
	{"Written", GP_UNIT_GB_PER_S},
	{"L2", GP_UNIT_GB_PER_S},
	{"SM error", GP_UNIT_PERCENT},
	{"Read error", GP_UNIT_GB_PER_S},
	{"Device", GP_UNIT_NUMBER},
	{"Name", GP_UNIT_TEXT},
};

/* The kinds of one device's work by their number in `index`. */
struct kinds {
	struct gp_scope *scope;
	uint64_t **names; /* by model: gp_scope_name()'s caches */
	struct gp_tally index;
	uint32_t *label_of; /* by row of the index */
	uint32_t labels;    /* including OTHERS */
};

static uint32_t number_kind(void *context, struct gp_op_at at)
{
	struct kinds *kinds = context;
	const struct gp_op *op = gp_op_of(kinds->scope->models, at);
	uint64_t key[GP_TALLY_KEYS] = {op->kind == GP_OP_KERNEL};
	char text[GP_ACTIVITY_LABEL_BYTES];
	struct gp_tally_row *row;

	if (op->kind == GP_OP_KERNEL) {
		key[1] = gp_scope_name(kinds->scope, kinds->scope->models[at.model], op,
				       kinds->names[at.model]);
	} else {
		gp_activity_label(text, op);
		key[1] = gp_scope_text(kinds->scope, text);
	}
	row = gp_tally_find(&kinds->index, key);
	row->count++;
	row->sums[0] += gp_op_gpu_ns(op);
	return row == &kinds->index.spare ? 0 : (uint32_t)(row - kinds->index.rows);
}

static int compare_times(const void *a, const void *b, const void *context)
{
	const struct gp_tally_row *rows = context;
	uint64_t left = rows[*(const uint32_t *)a].sums[0],
		 right = rows[*(const uint32_t *)b].sums[0];

	return (left < right) - (left > right);
}

/* The kinds with the most time get their own labels, from 1 on. */
static void choose_labels(struct kinds *kinds, struct work *work)
{
	uint32_t *order = malloc((kinds->index.count + 1) * sizeof(*order));

	kinds->label_of = calloc(kinds->index.count + 1, sizeof(*kinds->label_of));
	for (uint32_t i = 0; i < kinds->index.count; i++)
		order[i] = i;
	gp_array_sort(order, kinds->index.count, sizeof(*order), compare_times, kinds->index.rows);
	kinds->labels = 1;
	for (uint32_t i = 0; i < kinds->index.count && kinds->labels < MOST_LABELS; i++)
		kinds->label_of[order[i]] = kinds->labels++;
	free(order);
	for (uint32_t i = 0; i < work->count; i++)
		work->list[i].label = kinds->label_of[work->list[i].label];
}

static void open_names(struct kinds *kinds)
{
	kinds->names = calloc(kinds->scope->model_count + 1, sizeof(*kinds->names));
	for (size_t m = 0; m < kinds->scope->model_count; m++) {
		kinds->names[m] = gp_scope_names(kinds->scope->models[m]);
	}
}

static void close_kinds(struct kinds *kinds)
{
	for (size_t m = 0; kinds->names && m < kinds->scope->model_count; m++)
		free(kinds->names[m]);
	free(kinds->names);
	free(kinds->label_of);
	gp_tally_free(&kinds->index);
}

void gp_hw_put_kernel_name(struct gp_scope *scope, struct gp_table *table,
			   const struct gp_tally_row *row)
{
	gp_table_put_text(table, row->key[0] != 0 ? gp_scope_kernel_of(scope, row->key[1])
						  : gp_scope_text_of(scope, row->key[1]));
}

static void put_kernel(struct gp_scope *scope, struct gp_table *table, const struct gp_hw_run *run,
		       const struct gp_tally_row *row, double total,
		       const struct gp_hw_estimate *estimate)
{
	gp_table_cell(table, gp_value_percent((double)row->sums[0], total));
	gp_table_put_whole(table, row->sums[0]);
	gp_table_put_whole(table, row->count);
	for (size_t i = 0; i < COUNT(kernel_metrics); i++)
		gp_table_cell(table, gp_hw_value_of(kernel_metrics[i],
						    estimate->level[kernel_metrics[i]]));
	gp_table_cell(table, gp_hw_value_of(GP_HW_SM_ACTIVE, estimate->error[GP_HW_SM_ACTIVE]));
	gp_table_cell(table, gp_hw_value_of(GP_HW_DRAM_READ, estimate->error[GP_HW_DRAM_READ]));
	gp_table_put_whole(table, run->device);
	gp_hw_put_kernel_name(scope, table, row);
}

static void put_kernels(const struct kinds *kinds, struct gp_table *table,
			const struct gp_hw_run *run, const struct gp_hw_estimate *estimates,
			gp_hw_put_kernel *put)
{
	struct gp_hw_estimate unknown;
	double total = 0;

	for (uint32_t m = 0; m < GP_HW_METRICS; m++)
		unknown.level[m] = unknown.error[m] = (double)NAN;
	for (uint32_t i = 0; i < kinds->index.count; i++)
		total += (double)kinds->index.rows[i].sums[0];
	for (uint32_t i = 0; i < kinds->index.count; i++) {
		uint32_t label = kinds->label_of[i];

		put(kinds->scope, table, run, &kinds->index.rows[i], total,
		    label != OTHERS ? &estimates[label] : &unknown);
	}
}

int gp_hw_fill_kernels(struct gp_scope *scope, struct gp_table *table, const struct gp_hw_run *run,
		       gp_hw_put_kernel *put)
{
	struct gp_hw_estimate *estimates = calloc(MOST_LABELS, sizeof(*estimates));
	struct kinds kinds = {.scope = scope};
	struct work work = {0};

	open_names(&kinds);
	gather_work(scope, run, &work, number_kind, &kinds);
	choose_labels(&kinds, &work);
	gp_hw_fit(run->samples, run->count, run->base_unix_ns, work.list, work.count, kinds.labels,
		  estimates);
	put_kernels(&kinds, table, run, estimates, put);
	close_kinds(&kinds);
	gp_spill_free(work.list);
	free(estimates);
	return 0;
}

static int fill_kernels_of(void *context, const struct gp_hw_run *run)
{
	const struct filling *filling = context;

	return gp_hw_fill_kernels(filling->scope, filling->table, run, put_kernel);
}

static int fill_kernels(struct gp_scope *scope, struct gp_table *table)
{
	return gp_hw_each_run(scope, fill_kernels_of,
			      &(struct filling){.scope = scope, .table = table});
}

#define NOTHING                                                                                    \
	"no hardware samples: record with gpuprof-run --hw-timeline; if that recorded none, a note of the summary says why"

const struct gp_breakdown gp_breakdown_hw_activity = {
	.word = "hardware",
	.help = "devices: activity of SMs, warps and tensor pipes, from hardware samples",
	.nothing = NOTHING,
	.head = {"hardware-activity", "Hardware activity", activity_columns,
		 COUNT(activity_columns)},
	.sort_column = GP_TABLE_AS_ADDED,
	.fill = fill_activity,
	.is_in_order = true,
};

const struct gp_breakdown gp_breakdown_hw_traffic = {
	.word = "hardware",
	.help = "devices: traffic of DRAM, L2, PCIe and NVLink, from hardware samples",
	.nothing = NOTHING,
	.head = {"hardware-traffic", "Hardware traffic", traffic_columns, COUNT(traffic_columns)},
	.sort_column = GP_TABLE_AS_ADDED,
	.fill = fill_traffic,
	.is_in_order = true,
};

const struct gp_breakdown gp_breakdown_hw_kernel = {
	.word = "hardware",
	.help = "kernels: activity and traffic while each runs, estimated from hardware samples",
	.nothing = NOTHING,
	.head = {"hardware-kernel", "Hardware by kernel", kernel_columns, COUNT(kernel_columns)},
	.sort_column = 1,
	.fill = fill_kernels,
};
