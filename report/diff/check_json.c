/* A check as JSON. */
#include <errno.h>
#include <math.h>

#include "report/diff/check_report.h"
#include "report/diff/check_words.h"
#include "report/document/document.h"

/* An unknown or infinite number is null. */
static void add_number(struct gp_document *document, const char *id, double value)
{
	if (!isfinite(value))
		gp_document_add_unknown(document, id);
	else if (value == floor(value) && value >= 0 && value < 0x1p53)
		gp_document_add_number(document, id, GP_UNIT_NUMBER, (uint64_t)value);
	else
		gp_document_add(document, id, GP_UNIT_REAL, gp_value_real(value));
}

/* The runs that a verdict needs; runs 0: no number is enough. */
static void add_needed(struct gp_document *document, uint32_t runs, uint32_t baseline)
{
	add_number(document, "runs_needed", runs > 0 ? runs : NAN);
	add_number(document, "baseline_runs_needed", runs > 0 ? baseline : NAN);
}

static void add_kernel(struct gp_document *document, const struct gp_check_report *report,
		       const char *kernel)
{
	gp_document_add_text(document, "kernel", gp_names_full(report->names, kernel));
	gp_document_add_text(document, "mangled", kernel);
}

static void add_finding(struct gp_document *document, const struct gp_check_report *report,
			const struct gp_check_finding *finding)
{
	char reason[512];

	gp_check_reason(report, finding, reason, sizeof(reason));
	gp_document_add_row(document);
	gp_document_add_text(document, "metric",
			     finding->kernel ? "kernel" : gp_metric_rows[finding->metric].name);
	gp_document_add_text(document, "unit", gp_unit_name(finding->unit));
	gp_document_add_text(document, "verdict", gp_check_verdict_name(finding->verdict));
	gp_document_add_flag(document, "improved", finding->improved);
	gp_document_add_flag(document, "exact", finding->exact);
	add_number(document, "baseline", finding->baseline);
	add_number(document, "now", finding->now);
	add_number(document, "tolerated", finding->margin);
	gp_document_add_text(document, "reason", reason);
	if (finding->kernel)
		add_kernel(document, report, finding->kernel);
	if (finding->exact)
		return;
	add_number(document, "change_above", finding->low);
	add_number(document, "change_below", finding->high);
	add_number(document, "chance", finding->chance);
	add_needed(document, finding->runs_needed, finding->baseline_needed);
}

static void add_not_judged(struct gp_document *document, const struct gp_check_report *report)
{
	const struct gp_check *check = report->check;

	gp_document_add_section(document, "not_judged");
	for (uint32_t i = 0; i < check->off_count; i++) {
		gp_document_add_row(document);
		gp_document_add_text(document, "metric", gp_metric_rows[check->off[i]].name);
	}
	for (uint32_t i = 0; i < check->kernels_off_count; i++) {
		gp_document_add_row(document);
		gp_document_add_text(document, "metric", "kernel");
		add_kernel(document, report, check->kernels_off[i]);
	}
}

static void add_kernels(struct gp_document *document, const struct gp_check_report *report,
			const char *id, const char **names, uint32_t count)
{
	gp_document_add_section(document, id);
	for (uint32_t i = 0; i < count; i++) {
		gp_document_add_row(document);
		gp_document_add_text(document, "", gp_names_full(report->names, names[i]));
	}
}

static void add_partial(struct gp_document *document, const struct gp_run_set *now)
{
	gp_document_add_section(document, "partial");
	for (uint32_t i = 0; i < now->count; i++) {
		if (!now->runs[i].partial)
			continue;
		gp_document_add_row(document);
		gp_document_add_text(document, "run", now->runs[i].name);
		gp_document_add_text(document, "reason", now->runs[i].partial);
	}
}

static void describe(struct gp_document *document, const struct gp_check_report *report)
{
	const struct gp_check *check = report->check;

	gp_document_add_number(document, "gpuprof_check", GP_UNIT_NUMBER, 1);
	gp_document_add_text(document, "verdict", gp_check_verdict_name(check->verdict));
	gp_document_add_number(document, "runs", GP_UNIT_COUNT, check->runs);
	gp_document_add_number(document, "baseline_runs", GP_UNIT_COUNT, check->baseline_runs);
	add_needed(document, check->runs_needed, check->baseline_needed);
	add_partial(document, report->now);
	gp_document_add_section(document, "notes");
	for (uint32_t i = 0; i < report->note_count; i++) {
		gp_document_add_row(document);
		gp_document_add_text(document, "", report->notes[i]);
	}
	add_not_judged(document, report);
	add_kernels(document, report, "new_kernels", check->new_kernels, check->new_count);
	add_kernels(document, report, "gone_kernels", check->gone_kernels, check->gone_count);
	gp_document_add_section(document, "findings");
	for (uint32_t i = 0; i < check->count; i++)
		add_finding(document, report, &check->findings[i]);
}

int gp_check_report_json(FILE *out, const struct gp_check_report *report)
{
	struct gp_document document = {0};
	int result;

	describe(&document, report);
	result = gp_document_write(&document, out);
	gp_document_free(&document);
	return result;
}
