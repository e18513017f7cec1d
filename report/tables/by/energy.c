/* The tables of the energy samples (--energy): of GPUs, why their clocks were lowered, of kernels. */
#include <errno.h>
#include <math.h>

#include "gpuprof/count.h"
#include "report/analysis/device/energy.h"
#include "report/base/spill_memory.h"
#include "report/tables/breakdown.h"
#include "report/tables/by/hardware.h"

static int each_gpu(struct gp_scope *scope, struct gp_table *table,
		    int (*fill)(struct gp_scope *scope, struct gp_table *table,
				const struct gp_gpu_energy *gpu))
{
	struct gp_energies energies;
	int result = gp_energies_of(&energies, scope->models, scope->model_count, &scope->devices);

	for (size_t i = 0; result == 0 && i < energies.count; i++)
		result = fill(scope, table, &energies.gpus[i]);
	gp_energies_free(&energies);
	return result;
}

static void put_known(struct gp_table *table, bool is_known, double value)
{
	gp_table_cell(table, is_known ? gp_value_real(value) : gp_value_none());
}

static uint32_t number_of(const struct gp_scope *scope, const struct gp_gpu_energy *gpu)
{
	return scope->devices.entries[gpu->device].number;
}

/* ---- GPUs ---- */

static const struct gp_table_column gpu_columns[] = {
	{"Energy", GP_UNIT_JOULES},     {"Average", GP_UNIT_WATTS},     {"Highest", GP_UNIT_WATTS},
	{"Per step", GP_UNIT_JOULES},   {"Step error", GP_UNIT_JOULES}, {"Steps", GP_UNIT_COUNT},
	{"Lowered %", GP_UNIT_PERCENT}, {"Clock MHz", GP_UNIT_REAL},    {"Interval", GP_UNIT_NS},
	{"Covered", GP_UNIT_NS},        {"Device", GP_UNIT_NUMBER},
};

static int fill_gpu(struct gp_scope *scope, struct gp_table *table, const struct gp_gpu_energy *gpu)
{
	const struct gp_analysis *basis = gp_scope_analysis(scope);
	struct gp_step_energy step;

	step = gp_step_energy_of(gpu, basis, scope->models);
	put_known(table, true, gpu->joules);
	put_known(table, true, gpu->watts);
	put_known(table, true, gpu->highest_watts);
	put_known(table, step.steps > 0, step.joules);
	put_known(table, step.steps > 0, step.error);
	gp_table_put_whole(table, step.steps);
	gp_table_cell(table, gp_value_percent((double)gpu->lowered_ns, (double)gpu->covered_ns));
	put_known(table, gpu->clock_mhz > 0, gpu->clock_mhz);
	gp_table_put_whole(table, gpu->interval_ns);
	gp_table_put_whole(table, gpu->covered_ns);
	gp_table_put_whole(table, number_of(scope, gpu));
	return 0;
}

static int fill_gpus(struct gp_scope *scope, struct gp_table *table)
{
	return each_gpu(scope, table, fill_gpu);
}

/* ---- lowered clocks ---- */

static const struct gp_table_column reason_columns[] = {
	{"Time %", GP_UNIT_PERCENT},
	{"Time", GP_UNIT_NS},
	{"Device", GP_UNIT_NUMBER},
	{"Reason", GP_UNIT_TEXT},
};

static int fill_reasons_of(struct gp_scope *scope, struct gp_table *table,
			   const struct gp_gpu_energy *gpu)
{
	for (size_t i = 0; i < GP_CLOCK_REASONS; i++) {
		if (gpu->reason_ns[i] == 0)
			continue;
		gp_table_cell(table,
			      gp_value_percent((double)gpu->reason_ns[i], (double)gpu->covered_ns));
		gp_table_put_whole(table, gpu->reason_ns[i]);
		gp_table_put_whole(table, number_of(scope, gpu));
		gp_table_put_text(table, gp_clock_reasons[i].words);
	}
	return 0;
}

static int fill_reasons(struct gp_scope *scope, struct gp_table *table)
{
	return each_gpu(scope, table, fill_reasons_of);
}

/* ---- kernels ---- */

static const struct gp_table_column kernel_columns[] = {
	GP_SHARE_COLUMNS,           {"Count", GP_UNIT_COUNT},
	{"Power", GP_UNIT_WATTS},   {"Power error", GP_UNIT_WATTS},
	{"Energy", GP_UNIT_JOULES}, {"Each", GP_UNIT_JOULES},
	{"Device", GP_UNIT_NUMBER}, {"Name", GP_UNIT_TEXT},
};

/* gp_hw_fit() estimates levels of quantities per second: the energy takes the place of bytes. */
#define ENERGY     GP_HW_DRAM_READ
#define MICRO      1e6
#define ALL_ABSENT ((UINT32_C(1) << GP_HW_METRICS) - 1)

static void put_kernel(struct gp_scope *scope, struct gp_table *table, const struct gp_hw_run *run,
		       const struct gp_tally_row *row, double total,
		       const struct gp_hw_estimate *estimate)
{
	double watts = estimate->level[ENERGY] / MICRO;
	double joules = watts * (double)row->sums[0] / 1e9;

	gp_table_cell(table, gp_value_percent((double)row->sums[0], total));
	gp_table_put_whole(table, row->sums[0]);
	gp_table_put_whole(table, row->count);
	put_known(table, !isnan(watts), watts);
	put_known(table, !isnan(estimate->error[ENERGY]), estimate->error[ENERGY] / MICRO);
	put_known(table, !isnan(watts), joules);
	put_known(table, !isnan(watts), joules / (double)row->count);
	gp_table_put_whole(table, run->device);
	gp_hw_put_kernel_name(scope, table, row);
}

static int fill_kernels_of(struct gp_scope *scope, struct gp_table *table,
			   const struct gp_gpu_energy *gpu)
{
	struct gp_record_hw_sample *samples = gp_spill_take(gpu->count * sizeof(*samples));
	struct gp_hw_run run = {
		.samples = samples, .count = gpu->count, .device = number_of(scope, gpu)};

	for (uint32_t i = 0; i < gpu->count; i++)
		samples[i] = (struct gp_record_hw_sample){
			.start_ns = gpu->spans[i].start_ns,
			.end_ns = gpu->spans[i].end_ns,
			.absent = ALL_ABSENT & ~(UINT32_C(1) << ENERGY),
			.value[ENERGY] = (uint64_t)(gpu->spans[i].joules * MICRO),
		};
	gp_hw_fill_kernels(scope, table, &run, put_kernel);
	gp_spill_free(samples);
	return 0;
}

static int fill_kernels(struct gp_scope *scope, struct gp_table *table)
{
	return each_gpu(scope, table, fill_kernels_of);
}

#define NOTHING                                                                                    \
	"less than two energy samples: record with gpuprof-run --energy, for longer than an interval; if that recorded none, it printed why at the end of the program"

const struct gp_breakdown gp_breakdown_energy = {
	.word = "energy",
	.help = "GPUs: energy, power, energy of a step, lowered clocks, from samples of NVML",
	.nothing = NOTHING,
	.head = {"energy-device", "Energy", gpu_columns, COUNT(gpu_columns)},
	.sort_column = GP_TABLE_AS_ADDED,
	.fill = fill_gpus,
	.is_in_order = true,
};

const struct gp_breakdown gp_breakdown_clock_reason = {
	.word = "energy",
	.help = "GPUs: how long and why the clocks were lowered, from samples of NVML",
	.nothing = "no sample has lowered clocks",
	.head = {"energy-clock", "Lowered clocks", reason_columns, COUNT(reason_columns)},
	.sort_column = 1,
	.fill = fill_reasons,
};

const struct gp_breakdown gp_breakdown_energy_kernel = {
	.word = "energy",
	.help = "kernels: power that each adds to that of the idle GPU, estimated from energy samples",
	.nothing = NOTHING,
	.head = {"energy-kernel", "Energy by kernel", kernel_columns, COUNT(kernel_columns)},
	.sort_column = 1,
	.fill = fill_kernels,
};
