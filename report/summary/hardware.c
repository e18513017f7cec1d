/* The summary's section of the hardware samples (--hw-timeline). */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "report/base/text/format.h"
#include "report/summary/part.h"
#include "report/tables/by/hardware.h"

typedef int take_levels(void *context, const struct gp_hw_run *run,
			const struct gp_hw_levels *levels);

struct telling {
	struct gp_scope scope;
	take_levels *take;
	void *context;
};

static int tell_run(void *context, const struct gp_hw_run *run)
{
	struct telling *telling = context;
	struct gp_hw_levels levels;

	gp_hw_levels_of(&telling->scope, run, &levels);
	return telling->take(telling->context, run, &levels);
}

static int each_run(const struct gp_summary *summary, take_levels *take, void *context)
{
	struct telling telling = {.take = take, .context = context};
	int result;

	if (!gp_hw_any(summary->models, summary->model_count))
		return 0;
	result = gp_scope_open(&telling.scope, summary->models, summary->model_count, false);
	if (result == 0)
		result = gp_hw_each_run(&telling.scope, tell_run, &telling);
	gp_scope_close(&telling.scope);
	return result;
}

/* ---- text ---- */

static void print_active(FILE *out, const char *what, const struct gp_hw_levels *levels,
			 enum gp_hw_metric metric)
{
	if (isnan(levels->average[metric]))
		return;
	fprintf(out, "%s %s %%", what, gp_format_percent(levels->average[metric], GP_HW_ALL).text);
	if (!isnan(levels->in_kernels[metric]))
		fprintf(out, " (%s %% while kernels run)",
			gp_format_percent(levels->in_kernels[metric], GP_HW_ALL).text);
}

/* The two directions of a memory or a link, in GB/s. */
static void print_traffic(FILE *out, const char *what, const struct gp_hw_levels *levels,
			  enum gp_hw_metric in, enum gp_hw_metric out_of)
{
	if (isnan(levels->average[in]) || isnan(levels->average[out_of]))
		return;
	fprintf(out, "%s %.1f GB/s %s, %.1f %s, at most %.1f and %.1f", what,
		levels->average[in] / 1e9, gp_hw_metrics[in].series, levels->average[out_of] / 1e9,
		gp_hw_metrics[out_of].series, levels->highest[in] / 1e9,
		levels->highest[out_of] / 1e9);
}

static void print_peak(FILE *out, const struct gp_hw_run *run)
{
	const struct gp_record_device *device =
		gp_model_device(run->model, run->samples[0].device_id);

	if (device && device->memory_bandwidth_kbytes_per_s > 0)
		fprintf(out, " (peak of the device: %.0f)",
			(double)device->memory_bandwidth_kbytes_per_s / 1e6);
}

struct printing {
	FILE *out;
	bool has_several; /* processes */
};

static int print_run(void *context, const struct gp_hw_run *run, const struct gp_hw_levels *levels)
{
	const struct printing *printing = context;
	FILE *out = printing->out;

	fprintf(out, "\nHardware of GPU %u, sampled", run->device);
	if (printing->has_several)
		fprintf(out, " by pid %u", run->model->pid);
	fprintf(out, " every %s for %s\n", gp_format_ns(run->interval_ns).text,
		gp_format_ns(run->covered_ns).text);
	print_active(out, "  SM active", levels, GP_HW_SM_ACTIVE);
	print_active(out, ", warps", levels, GP_HW_WARPS_ACTIVE);
	print_active(out, ", tensor pipes", levels, GP_HW_TENSOR_ACTIVE);
	if (!isnan(levels->average[GP_HW_CLOCK]))
		fprintf(out, "; clock %.0f MHz", levels->average[GP_HW_CLOCK] / 1e6);
	fputs("\n", out);
	print_traffic(out, "  DRAM", levels, GP_HW_DRAM_READ, GP_HW_DRAM_WRITE);
	print_peak(out, run);
	print_traffic(out, "; PCIe", levels, GP_HW_PCIE_READ, GP_HW_PCIE_WRITE);
	print_traffic(out, "; NVLink", levels, GP_HW_NVLINK_RECEIVED, GP_HW_NVLINK_SENT);
	fputs("\n  for each kernel, range, phase and step: --by hardware\n", out);
	return 0;
}

int gp_summary_print_hardware(const struct gp_summary *summary)
{
	struct printing printing = {summary->out, summary->model_count > 1};

	return each_run(summary, print_run, &printing);
}

/* ---- the document ---- */

static void add_level(struct gp_document *document, const char *id, uint32_t metric, double level)
{
	static const struct {
		enum gp_unit unit;
		double scale;
	} units[] = {
		[GP_HW_UNIT_PERCENT] = {GP_UNIT_PERCENT, 1e3},
		[GP_HW_UNIT_BYTES] = {GP_UNIT_GB_PER_S, 1e9},
		[GP_HW_UNIT_HERTZ] = {GP_UNIT_REAL, 1},
	};
	enum gp_hw_unit unit = gp_hw_metrics[metric].unit;

	if (!isnan(level))
		gp_document_add(document, id, units[unit].unit,
				gp_value_real(level / units[unit].scale));
}

static int add_run(void *context, const struct gp_hw_run *run, const struct gp_hw_levels *levels)
{
	struct gp_document *document = context;

	for (uint32_t m = 0; m < GP_HW_METRICS; m++) {
		if (isnan(levels->average[m]))
			continue;
		gp_document_add_row(document);
		gp_document_add_text(document, "id", gp_hw_metrics[m].id);
		gp_document_add_number(document, "device", GP_UNIT_NUMBER, run->device);
		gp_document_add_number(document, "pid", GP_UNIT_NUMBER, run->model->pid);
		gp_document_add_number(document, "interval_ns", GP_UNIT_NS, run->interval_ns);
		gp_document_add_number(document, "covered_ns", GP_UNIT_NS, run->covered_ns);
		add_level(document, "average", m, levels->average[m]);
		add_level(document, "in_kernels", m, levels->in_kernels[m]);
		add_level(document, "p95", m, levels->p95[m]);
		add_level(document, "highest", m, levels->highest[m]);
	}
	return 0;
}

int gp_summary_add_hardware(const struct gp_summary *summary, struct gp_document *document)
{
	if (gp_hw_any(summary->models, summary->model_count))
		gp_document_add_section(document, "hardware");
	return each_run(summary, add_run, document);
}
