/* The summary's section of the hardware counters of kernels (--counters, --roofline). */
#include <math.h>
#include <stdio.h>

#include "report/base/text/format.h"
#include "report/summary/part.h"
#include "report/tables/by/roofline.h"

#define KERNELS 5u /* the ones with most time */

typedef int take_rows(void *context, struct gp_scope *scope, const struct gp_roofline_rows *rows);

static int open_rows(const struct gp_summary *summary, take_rows *take, void *context)
{
	struct gp_roofline_rows rows = {0};
	struct gp_scope scope;
	int result;

	if (!gp_roofline_any(summary->models, summary->model_count))
		return 0;
	result = gp_scope_open(&scope, summary->models, summary->model_count, false);
	if (result == 0)
		result = gp_roofline_open(&scope, &rows);
	if (result == 0)
		result = take(context, &scope, &rows);
	gp_roofline_close(&rows);
	gp_scope_close(&scope);
	return result;
}

/* ---- text ---- */

static void print_peaks(FILE *out, const struct gp_roofline_ceilings *ceilings)
{
	static const enum gp_roofline_unit shown[] = {GP_ROOF_DRAM, GP_ROOF_FP32, GP_ROOF_FP64,
						      GP_ROOF_BF16_TENSOR};
	const char *separator = " (peaks: ";

	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		bool is_memory = shown[i] < GP_ROOF_MEMORIES;

		if (isnan(ceilings->peak[shown[i]]))
			continue;
		fprintf(out, "%s%s %.0f %s", separator, gp_roofline_units[shown[i]],
			ceilings->peak[shown[i]] / (is_memory ? 1e9 : 1e12),
			is_memory ? "GB/s" : "TFLOP/s");
		separator = ", ";
	}
	fputs(*separator == ',' ? ")\n" : "\n", out);
}

static void print_kernel(FILE *out, struct gp_scope *scope, const struct gp_roofline_row *row,
			 uint64_t all_ns)
{
	const struct gp_roofline *roofline = &row->roofline;

	fprintf(out, "  %5s %%", gp_format_percent((double)row->total_ns, (double)all_ns).text);
	if (isnan(roofline->roof))
		fputs("  limit not known", out);
	else
		fprintf(out, "  %s%s%s at %.0f %% of its peak", gp_roofline_bounds[roofline->bound],
			roofline->bound == GP_BOUND_UNKNOWN ? "" : "-bound, ",
			gp_roofline_units[roofline->unit], 100 * roofline->roof);
	fprintf(out, ": %s\n", gp_scope_kernel_of(scope, row->name));
}

static int print_rows(void *context, struct gp_scope *scope, const struct gp_roofline_rows *rows)
{
	struct gp_roofline_ceilings ceilings;
	uint64_t measured_ns = 0, kernels = 0;
	FILE *out = context;

	for (uint32_t i = 0; i < rows->count; i++) {
		measured_ns += rows->rows[i].total_ns;
		kernels += rows->rows[i].measured;
	}
	if (!gp_roofline_ceilings_of(rows, 0, &ceilings))
		return 0;
	fprintf(out, "\nHardware counters of %s kernels%s", gp_format_count(kernels).text,
		measured_ns > 0 ? ", by GPU time" : "");
	print_peaks(out, &ceilings);
	for (uint32_t i = 0; i < rows->count && i < KERNELS; i++)
		if (rows->rows[i].total_ns > 0)
			print_kernel(out, scope, &rows->rows[i], rows->all_ns);
	if (measured_ns > 0)
		fprintf(out,
			"  measured: kernels with %s %% of the GPU time; their windows count in totals, not in averages\n",
			gp_format_percent((double)measured_ns, (double)rows->all_ns).text);
	fputs("  tables: --by roofline,counter\n", out);
	return 0;
}

int gp_summary_print_roofline(const struct gp_summary *summary)
{
	return open_rows(summary, print_rows, summary->out);
}

/* ---- the document ---- */

static void add_real(struct gp_document *document, const char *id, enum gp_unit unit, double value)
{
	if (isfinite(value))
		gp_document_add(document, id, unit, gp_value_real(value));
}

static void add_kernel(struct gp_document *document, struct gp_scope *scope,
		       const struct gp_roofline_row *row)
{
	const struct gp_roofline *roofline = &row->roofline;

	gp_document_add_row(document);
	gp_document_add_text(document, "kernel", gp_scope_kernel_of(scope, row->name));
	gp_document_add_number(document, "device", GP_UNIT_NUMBER, row->device);
	gp_document_add_number(document, "launches", GP_UNIT_COUNT, row->launches);
	gp_document_add_number(document, "measured", GP_UNIT_COUNT, row->measured);
	gp_document_add_number(document, "total_ns", GP_UNIT_NS, row->total_ns);
	if (roofline->bound != GP_BOUND_UNKNOWN)
		gp_document_add_text(document, "bound", gp_roofline_bounds[roofline->bound]);
	if (!isnan(roofline->roof))
		gp_document_add_text(document, "unit", gp_roofline_units[roofline->unit]);
	add_real(document, "of_peak", GP_UNIT_PERCENT, 100 * roofline->roof);
	add_real(document, "flops", GP_UNIT_REAL, roofline->flops);
	add_real(document, "dram_bytes", GP_UNIT_REAL, roofline->work[GP_ROOF_DRAM]);
	add_real(document, "time_ns", GP_UNIT_REAL, roofline->time_s * 1e9);
}

static int add_rows(void *context, struct gp_scope *scope, const struct gp_roofline_rows *rows)
{
	struct gp_document *document = context;

	for (uint32_t i = 0; i < rows->count; i++)
		add_kernel(document, scope, &rows->rows[i]);
	return 0;
}

int gp_summary_add_roofline(const struct gp_summary *summary, struct gp_document *document)
{
	if (gp_roofline_any(summary->models, summary->model_count))
		gp_document_add_section(document, "roofline");
	return open_rows(summary, add_rows, document);
}
