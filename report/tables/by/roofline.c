/* Kernels and the peaks of their GPU, from hardware counters (--counters, --roofline). */
#include "report/tables/by/roofline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/array.h"
#include "report/base/spill_memory.h"
#include "report/model/occupancy.h"
#include "report/model/recorded.h"
#include "report/tables/breakdown.h"

/* ---- gathering ---- */

/* Parallel to the rows of the tally. */
struct sums {
	double sum[GP_ROLES];
	uint32_t count[GP_ROLES];
	uint64_t measured;
	uint64_t without_times; /* measured in a run without kernel records */
	double theoretical;
};

enum { LAUNCHES }; /* sums of a row */

struct gathering {
	struct gp_scope *scope;
	struct gp_tally tally; /* by name, grid, block, device */
	struct sums *sums;
	uint32_t sum_count, sum_capacity;
	uint64_t all_ns;
};

bool gp_roofline_any(struct gp_model *const *models, size_t model_count)
{
	for (size_t i = 0; i < model_count; i++)
		if (models[i]->hw_window_count > 0 && models[i]->counted_count > 0)
			return true;
	return false;
}

/* NULL: no memory. */
static struct gp_tally_row *row_of(struct gathering *gathering, const struct gp_model *model,
				   const struct gp_op *op, uint64_t *names)
{
	static const struct gp_record_shape unknown;
	const struct gp_record_shape *shape =
		op->shape < model->shape_count ? &model->shapes[op->shape] : &unknown;
	struct gp_tally_row *row = gp_tally_find(
		&gathering->tally,
		(uint64_t[GP_TALLY_KEYS]){gp_scope_name(gathering->scope, model, op, names),
					  (uint64_t)shape->grid[0] << 32 | shape->grid[1],
					  (uint64_t)shape->grid[2] << 32 | shape->block[0],
					  (uint64_t)shape->block[1] << 32 | shape->block[2],
					  gp_scope_device(gathering->scope, model, op->device_id)});

	while (gathering->sum_count < gathering->tally.count) {
		gp_array_grow(&gathering->sums, &gathering->sum_capacity, gathering->sum_count,
			      sizeof(*gathering->sums));
		gathering->sums[gathering->sum_count++] = (struct sums){.theoretical = (double)NAN};
	}
	return row;
}

static struct sums *sums_of(struct gathering *gathering, const struct gp_tally_row *row)
{
	return &gathering->sums[row - gathering->tally.rows];
}

static void note_occupancy(struct sums *sums, const struct gp_model *model, const struct gp_op *op)
{
	const struct gp_record_device *device = gp_model_device(model, op->device_id);
	struct gp_occupancy occupancy;

	if (isnan(sums->theoretical) && device && op->shape < model->shape_count &&
	    gp_occupancy_of(device, &model->shapes[op->shape], &occupancy))
		sums->theoretical = 100 * occupancy.share;
}

static void take_ops(struct gathering *gathering, const struct gp_model *model, uint64_t *names)
{
	for (uint32_t i = 0; i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];
		struct gp_tally_row *row;

		if (op->kind != GP_OP_KERNEL || !gp_recorded_has_kernels(model))
			continue; /* launches of a run without times are not counted again */
		row = row_of(gathering, model, op, names);
		row->sums[LAUNCHES]++;
		gp_tally_add(row, 0, gp_op_gpu_ns(op));
		gathering->all_ns += gp_op_gpu_ns(op);
		note_occupancy(sums_of(gathering, row), model, op);
	}
}

static void add_value(struct sums *sums, enum gp_roofline_role role, double value)
{
	if (role == GP_ROLES || !isfinite(value))
		return;
	sums->sum[role] += value;
	sums->count[role]++;
}

static void take_values(struct gathering *gathering, const struct gp_model *model, uint64_t *names,
			const enum gp_roofline_role *roles)
{
	struct sums *sums = NULL;

	for (uint32_t i = 0; i < model->counted_count; i++) {
		const struct gp_counted *counted = &model->counted[i];

		if (counted->op == GP_NONE)
			continue;
		if (!sums || counted->op != counted[-1].op) {
			struct gp_tally_row *row =
				row_of(gathering, model, &model->ops[counted->op], names);

			sums = sums_of(gathering, row);
			++*(gp_recorded_has_kernels(model) ? &sums->measured
							   : &sums->without_times);
		}
		add_value(sums, roles[counted->counter], counted->value);
	}
}

static void take_model(struct gathering *gathering, const struct gp_model *model)
{
	uint64_t *names = gp_scope_names(model);
	enum gp_roofline_role *roles =
		gp_roofline_roles(model->counter_texts, model->counter_text_count);

	take_ops(gathering, model, names);
	take_values(gathering, model, names, roles);
	free(names);
	free(roles);
}

/* ---- the rows ---- */

static bool is_of_device(enum gp_roofline_role role)
{
	return role >= GP_ROLE_SM_CLOCK && role <= GP_ROLE_FP8_TENSOR_PEAK;
}

/* Clocks and peaks of a device, for kernels whose windows did not have them. */
static void mean_of_device(const struct gathering *gathering, uint64_t device, double *means)
{
	for (int role = 0; role < GP_ROLES; role++) {
		double sum = 0, count = 0;

		for (uint32_t i = 0; i < gathering->sum_count; i++)
			if (gathering->tally.rows[i].key[4] == device) {
				sum += gathering->sums[i].sum[role];
				count += gathering->sums[i].count[role];
			}
		means[role] = count > 0 ? sum / count : (double)NAN;
	}
}

static struct gp_roofline_row make_row(const struct gathering *gathering, uint32_t index,
				       const double *of_device)
{
	const struct gp_tally_row *row = &gathering->tally.rows[index];
	const struct sums *sums = &gathering->sums[index];
	double means[GP_ROLES];

	for (int role = 0; role < GP_ROLES; role++) {
		means[role] =
			is_of_device((enum gp_roofline_role)role) ? of_device[role] : (double)NAN;
		if (sums->count[role] > 0)
			means[role] = sums->sum[role] / sums->count[role];
	}
	return (struct gp_roofline_row){
		.name = row->key[0],
		.device = (uint32_t)row->key[4],
		.grid = {(uint32_t)(row->key[1] >> 32), (uint32_t)row->key[1],
			 (uint32_t)(row->key[2] >> 32)},
		.block = {(uint32_t)row->key[2], (uint32_t)(row->key[3] >> 32),
			  (uint32_t)row->key[3]},
		.launches = row->sums[LAUNCHES],
		.measured = sums->measured > 0 ? sums->measured : sums->without_times,
		.total_ns = row->series[0].total,
		.theoretical = sums->theoretical,
		.achieved = means[GP_ROLE_WARPS],
		.roofline = gp_roofline_of(means),
	};
}

static int compare_rows(const void *a, const void *b, const void *context)
{
	const struct gp_roofline_row *left = a, *right = b;

	(void)context;
	return (left->total_ns < right->total_ns) - (left->total_ns > right->total_ns);
}

static void make_rows(const struct gathering *gathering, struct gp_roofline_rows *rows)
{
	double of_device[GP_ROLES];
	uint64_t device = UINT64_MAX;

	rows->rows = calloc((size_t)gathering->sum_count + 1, sizeof(*rows->rows));
	for (uint32_t i = 0; i < gathering->sum_count; i++) {
		if (gathering->sums[i].measured + gathering->sums[i].without_times == 0)
			continue;
		if (gathering->tally.rows[i].key[4] != device) {
			device = gathering->tally.rows[i].key[4];
			mean_of_device(gathering, device, of_device);
		}
		rows->rows[rows->count++] = make_row(gathering, i, of_device);
	}
	rows->all_ns = gathering->all_ns;
	gp_array_sort(rows->rows, rows->count, sizeof(*rows->rows), compare_rows, NULL);
}

int gp_roofline_open(struct gp_scope *scope, struct gp_roofline_rows *rows)
{
	struct gathering gathering = {.scope = scope};

	*rows = (struct gp_roofline_rows){0};
	if (!gp_roofline_any(scope->models, scope->model_count))
		return 0;
	for (size_t i = 0; i < scope->model_count; i++)
		take_model(&gathering, scope->models[i]);
	make_rows(&gathering, rows);
	gp_tally_free(&gathering.tally);
	gp_spill_free(gathering.sums);
	return 0;
}

void gp_roofline_close(struct gp_roofline_rows *rows)
{
	free(rows->rows);
}

/* ---- ceilings ---- */

static void add_peaks(const struct gp_roofline_row *row, double weight,
		      struct gp_roofline_ceilings *ceilings, double *weights)
{
	for (int i = 0; i < GP_ROOF_OPERATIONS; i++) {
		if (isnan(row->roofline.peak[i]))
			continue;
		ceilings->peak[i] += weight * row->roofline.peak[i];
		weights[i] += weight;
	}
}

bool gp_roofline_ceilings_of(const struct gp_roofline_rows *rows, uint32_t device,
			     struct gp_roofline_ceilings *ceilings)
{
	double weights[GP_ROOF_OPERATIONS] = {0};
	uint32_t found = UINT32_MAX;

	for (uint32_t i = 0; i < rows->count; i++)
		if (rows->rows[i].device >= device && rows->rows[i].device < found)
			found = rows->rows[i].device;
	*ceilings = (struct gp_roofline_ceilings){.device = found};
	for (uint32_t i = 0; i < rows->count; i++)
		if (rows->rows[i].device == found)
			add_peaks(&rows->rows[i], (double)rows->rows[i].total_ns + 1, ceilings,
				  weights);
	for (int i = 0; i < GP_ROOF_OPERATIONS; i++)
		ceilings->peak[i] = weights[i] > 0 ? ceilings->peak[i] / weights[i] : (double)NAN;
	return found != UINT32_MAX;
}

/* ---- the tables ---- */

static const struct gp_table_column columns[] = {
	GP_SHARE_COLUMNS,
	{"Count", GP_UNIT_COUNT},
	{"Measured", GP_UNIT_COUNT},
	{"Bound", GP_UNIT_TEXT},
	{"Unit", GP_UNIT_TEXT},
	{"Of peak", GP_UNIT_PERCENT},
	{"Speedup", GP_UNIT_NUMBER},
	{"Time", GP_UNIT_NS},
	{"FLOPs", GP_UNIT_COUNT},
	{"TFLOP/s", GP_UNIT_NUMBER},
	{"DRAM", GP_UNIT_BYTES},
	{"L2", GP_UNIT_BYTES},
	{"L1", GP_UNIT_BYTES},
	{"FLOP/byte", GP_UNIT_NUMBER},
	{"DRAM %", GP_UNIT_PERCENT},
	{"L2 %", GP_UNIT_PERCENT},
	{"L1 %", GP_UNIT_PERCENT},
	{"FP32 %", GP_UNIT_PERCENT},
	{"FP64 %", GP_UNIT_PERCENT},
	{"FP16 %", GP_UNIT_PERCENT},
	{"Tensor %", GP_UNIT_PERCENT},
	{"Occupancy", GP_UNIT_PERCENT},
	{"Theoretical", GP_UNIT_PERCENT},
	{"Grid", GP_UNIT_TEXT},
	{"Block", GP_UNIT_TEXT},
	{"Device", GP_UNIT_NUMBER},
	{"Name", GP_UNIT_TEXT},
};

static void put_whole(struct gp_table *table, double value)
{
	gp_table_cell(table, value >= 0 && value < 1e19 ? gp_value_whole((uint64_t)(value + 0.5))
							: gp_value_none());
}

/* The tensor cores are one unit, whatever the type. */
static double tensor_part(const struct gp_roofline *roofline)
{
	double sum = (double)NAN;

	for (int i = GP_ROOF_BF16_TENSOR; i < GP_ROOF_OPERATIONS; i++)
		if (!isnan(roofline->part[i]))
			sum = isnan(sum) ? roofline->part[i] : sum + roofline->part[i];
	return sum;
}

static void put_bound(struct gp_table *table, const struct gp_roofline *roofline)
{
	gp_table_put_text(table, gp_roofline_bounds[roofline->bound]);
	gp_table_put_text(table, isnan(roofline->roof) ? "" : gp_roofline_units[roofline->unit]);
	gp_table_put_real(table, 100 * roofline->roof);
	gp_table_put_real(table, roofline->speedup);
}

static void put_work(struct gp_table *table, const struct gp_roofline *roofline)
{
	gp_table_put_real(table, roofline->time_s * 1e9);
	put_whole(table, roofline->flops);
	gp_table_put_real(table, roofline->flops / roofline->time_s / 1e12);
	for (int i = 0; i < GP_ROOF_MEMORIES; i++)
		put_whole(table, roofline->work[i]);
	gp_table_put_real(table, roofline->flops / roofline->work[GP_ROOF_DRAM]);
	for (int i = 0; i < GP_ROOF_BF16_TENSOR; i++)
		gp_table_put_real(table, 100 * roofline->part[i]);
	gp_table_put_real(table, 100 * tensor_part(roofline));
}

static void put_row(struct gp_scope *scope, struct gp_table *table,
		    const struct gp_roofline_row *row, uint64_t all_ns)
{
	gp_table_cell(table, gp_value_percent((double)row->total_ns, (double)all_ns));
	gp_table_put_whole(table, row->total_ns);
	gp_table_put_whole(table, row->launches);
	gp_table_put_whole(table, row->measured);
	put_bound(table, &row->roofline);
	put_work(table, &row->roofline);
	gp_table_put_real(table, row->achieved);
	gp_table_put_real(table, row->theoretical);
	gp_table_put_words(table, "%u x %u x %u", row->grid[0], row->grid[1], row->grid[2]);
	gp_table_put_words(table, "%u x %u x %u", row->block[0], row->block[1], row->block[2]);
	gp_table_put_whole(table, row->device);
	gp_table_put_text(table, gp_scope_kernel_of(scope, row->name));
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_roofline_rows rows;

	gp_roofline_open(scope, &rows);
	for (uint32_t i = 0; i < rows.count; i++)
		put_row(scope, table, &rows.rows[i], rows.all_ns);
	gp_roofline_close(&rows);
	return 0;
}

static const struct gp_table_column ceiling_columns[] = {
	{"Device", GP_UNIT_NUMBER},
	{"Peak", GP_UNIT_NUMBER},
	{"Per second", GP_UNIT_TEXT},
	{"Unit", GP_UNIT_TEXT},
};

static void put_ceilings(struct gp_table *table, const struct gp_roofline_ceilings *ceilings)
{
	for (int i = 0; i < GP_ROOF_OPERATIONS; i++) {
		bool is_memory = i < GP_ROOF_MEMORIES;

		if (isnan(ceilings->peak[i]))
			continue;
		gp_table_put_whole(table, ceilings->device);
		gp_table_put_real(table, ceilings->peak[i] / (is_memory ? 1e9 : 1e12));
		gp_table_put_text(table, is_memory ? "GB" : "TFLOP");
		gp_table_put_text(table, gp_roofline_units[i]);
	}
}

static int fill_ceilings(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_roofline_ceilings ceilings = {.device = 0};
	struct gp_roofline_rows rows;

	gp_roofline_open(scope, &rows);
	for (uint32_t device = 0; gp_roofline_ceilings_of(&rows, device, &ceilings);
	     device = ceilings.device + 1)
		put_ceilings(table, &ceilings);
	gp_roofline_close(&rows);
	return 0;
}

#define NOTHING                                                                                    \
	"no hardware counter of kernels: record with gpuprof-run --roofline; if that recorded none, a note of the summary says why"

const struct gp_breakdown gp_breakdown_roofline = {
	.word = "roofline",
	.help = "kernels by grid and block: what limits them, and how near they come to the peaks",
	.nothing = NOTHING,
	.head = {"roofline-kernel", "Roofline of kernels", columns, COUNT(columns)},
	.sort_column = 1,
	.fold_before = 23,
	.fill = fill,
};

const struct gp_breakdown gp_breakdown_roofline_peak = {
	.word = "roofline",
	.help = "peaks of each device, at the clock that was measured",
	.nothing = NOTHING,
	.head = {"roofline-peak", "Peaks of the device", ceiling_columns, COUNT(ceiling_columns)},
	.sort_column = GP_TABLE_AS_ADDED,
	.fill = fill_ceilings,
	.is_in_order = true,
};
