/* Kernels by the limit of their occupancy. */
#include "report/tables/breakdown.h"

#include "gpuprof/count.h"
#include "report/model/occupancy.h"

static const struct gp_table_column columns[] = {
	GP_SHARE_COLUMNS,
	{"Count", GP_UNIT_COUNT},
	{"Untimed", GP_UNIT_COUNT},
	{"Occupancy", GP_UNIT_PERCENT},
	{"Limit", GP_UNIT_TEXT},
	{"Blocks/SM", GP_UNIT_NUMBER},
	{"Warps/SM", GP_UNIT_NUMBER},
	{"Threads", GP_UNIT_NUMBER},
	{"Reg/Trd", GP_UNIT_NUMBER},
	{"Shared", GP_UNIT_BYTES},
	{"Waves", GP_UNIT_NUMBER},
	{"Tail", GP_UNIT_PERCENT},
	{"SMs", GP_UNIT_PERCENT},
	{"Grid occ.", GP_UNIT_PERCENT},
	{"Device", GP_UNIT_NUMBER},
	{"Name", GP_UNIT_TEXT},
};

/* The launches of a row may have different grids: sums for means, in millionths. */
enum { WAVES = GP_SCOPE_UNTIMED + 1, TAIL, SMS, GRID_SHARE };
#define MILLION 1000000.0

static uint64_t millionths(double value)
{
	return value < MILLION ? (uint64_t)(value * MILLION) : (uint64_t)(MILLION * MILLION);
}

static void add_grid(struct gp_tally_row *row, const struct gp_occupancy *occupancy)
{
	row->sums[WAVES] += millionths(occupancy->waves);
	row->sums[TAIL] += millionths(occupancy->tail);
	row->sums[SMS] += millionths(occupancy->sms_used);
	row->sums[GRID_SHARE] += millionths(occupancy->grid_share);
}

/* Pack the limits, 16 bits each: more than any GPU needs. */
static uint64_t pack_limits(const struct gp_occupancy *occupancy)
{
	return (uint64_t)occupancy->limit << 48 | (uint64_t)(uint16_t)occupancy->warps_most << 32 |
	       (uint64_t)(uint16_t)occupancy->warps_per_block << 16 | (uint16_t)occupancy->blocks;
}

/* Kernels of unknown occupancy have no row: the cause is the same for all, an unknown device. */
static void take_kernel(struct gp_tally *tally, const struct gp_scope_op *at)
{
	const struct gp_record_device *device = gp_model_device(at->model, at->op->device_id);
	const struct gp_record_shape *shape;
	struct gp_occupancy occupancy;
	struct gp_tally_row *row;

	if (at->op->kind != GP_OP_KERNEL || at->op->shape >= at->model->shape_count || !device)
		return;
	shape = &at->model->shapes[at->op->shape];
	if (!gp_occupancy_of(device, shape, &occupancy))
		return;
	row = gp_tally_find(
		tally,
		(uint64_t[GP_TALLY_KEYS]){
			at->name,
			gp_scope_device(at->scope, at->model, at->op->device_id),
			(uint64_t)shape->registers << 32 |
				(uint64_t)shape->block[0] * shape->block[1] * shape->block[2],
			(uint64_t)shape->static_shared_bytes + shape->dynamic_shared_bytes,
			pack_limits(&occupancy),
		});
	gp_scope_count_op(tally, row, at->op);
	add_grid(row, &occupancy);
}

static void put_mean(struct gp_table *table, const struct gp_tally_row *row, size_t sum,
		     double scale)
{
	gp_table_cell(table,
		      gp_value_real((double)row->sums[sum] / MILLION * scale / (double)row->count));
}

static void put_row(struct gp_scope *scope, struct gp_table *table, const struct gp_tally_row *row,
		    double total)
{
	uint64_t limits = row->key[4], blocks = (uint16_t)limits;
	uint64_t warps = blocks * (uint16_t)(limits >> 16);

	gp_scope_put_share(table, row, total);
	gp_table_put_whole(table, row->count);
	gp_table_put_whole(table, row->sums[GP_SCOPE_UNTIMED]);
	gp_table_cell(table, gp_value_percent((double)warps, (uint16_t)(limits >> 32)));
	gp_table_put_text(table, gp_occupancy_limit_name((enum gp_occupancy_limit)(limits >> 48)));
	gp_table_put_whole(table, blocks);
	gp_table_put_whole(table, warps);
	gp_table_put_whole(table, (uint32_t)row->key[2]);
	gp_table_put_whole(table, row->key[2] >> 32);
	gp_table_put_whole(table, row->key[3]);
	put_mean(table, row, WAVES, 1);
	put_mean(table, row, TAIL, 100);
	put_mean(table, row, SMS, 100);
	put_mean(table, row, GRID_SHARE, 100);
	gp_table_put_whole(table, row->key[1]);
	gp_table_put_text(table, gp_scope_kernel_of(scope, row->key[0]));
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	return gp_scope_table_of_ops(scope, table, take_kernel, put_row);
}

const struct gp_breakdown gp_breakdown_occupancy = {
	.help = "kernels by the limit of their occupancy, their waves and tails",
	.nothing =
		"no kernel ran, or the trace lacks the properties of the device; `gpuprof summary FILE` shows the recorded data",
	.head = {"occupancy", "Kernels: theoretical occupancy, its limit, and the grid", columns,
		 COUNT(columns)},
	.sort_column = 1,
	.fill = fill,
};
