/* What a sampled run (--sample) did in all, as estimates, and how much of it was recorded. */
#include "report/summary/part.h"

#include <math.h>
#include <stdio.h>

#include "report/base/text/format.h"
#include "report/model/recorded.h"
#include "report/model/sums/sampled_totals.h"

static const struct {
	const char *id, *words;
	enum gp_unit unit;
} rows[GP_SAMPLED_TOTALS] = {
	[GP_SAMPLED_LAUNCHES] = {"launches", "launches", GP_UNIT_COUNT},
	[GP_SAMPLED_OPERATIONS] = {"gpu_operations", "GPU operations", GP_UNIT_COUNT},
	[GP_SAMPLED_GPU_NS] = {"gpu_time", "their GPU time", GP_UNIT_NS},
	[GP_SAMPLED_COPIED_BYTES] = {"copied", "bytes copied", GP_UNIT_BYTES},
	[GP_SAMPLED_WAIT_NS] = {"waits", "calls that wait", GP_UNIT_NS},
};

static bool is_sampled(const struct gp_summary *summary)
{
	return gp_recorded_any_sampled(summary->models, summary->model_count);
}

/* ---- at the top ---- */

void gp_summary_say_sampled(const struct gp_summary *summary, char *text, size_t bytes)
{
	struct gp_sampled_extent extent =
		gp_sampled_extent_of(summary->models, summary->model_count);

	snprintf(
		text, bytes,
		"SAMPLED: %s window%s, %s %% of the time since the first; counts and sums are those of the windows%s",
		gp_format_count(extent.windows).text, extent.windows == 1 ? "" : "s",
		gp_format_percent((double)extent.recorded_ns, (double)extent.whole_ns).text,
		summary->basis ? ", except estimated totals" : "");
}

/* ---- the totals ---- */

static struct gp_figure figure_of(enum gp_unit unit, double value)
{
	value = fmin(fmax(value, 0), 0x1p63);
	if (unit == GP_UNIT_NS)
		return gp_format_ns_about(value);
	return unit == GP_UNIT_BYTES ? gp_format_bytes((uint64_t)llround(value))
				     : gp_format_count((uint64_t)llround(value));
}

static void print_total(FILE *out, int total, const struct gp_estimate *estimate)
{
	enum gp_unit unit = rows[total].unit;

	if (!(estimate->value > 0))
		return;
	fprintf(out, "  %-15s  about %s", rows[total].words, figure_of(unit, estimate->value).text);
	if (!isnan(estimate->error))
		fprintf(out, " (%s to %s)", figure_of(unit, estimate->value - estimate->error).text,
			figure_of(unit, estimate->value + estimate->error).text);
	fputs("\n", out);
}

int gp_summary_print_sampled(const struct gp_summary *summary)
{
	struct gp_sampled_totals totals;

	if (!is_sampled(summary))
		return 0;
	gp_sampled_totals_of(&totals, summary->models, summary->model_count);
	if (totals.extent.windows == 0)
		return 0;
	fprintf(summary->out, "\nTotals since the first window, estimated%s\n",
		isnan(totals.totals[0].error)
			? "; their errors are unknown: a process had fewer than 5 windows"
			: " (95 % confidence)");
	for (int i = 0; i < GP_SAMPLED_TOTALS; i++)
		print_total(summary->out, i, &totals.totals[i]);
	fprintf(summary->out, "  %-15s  %s without a window: unknown\n", "before it",
		gp_format_ns(totals.extent.before_ns).text);
	return 0;
}

/* NAN: unknown. */
static void add_known(struct gp_document *document, const char *name, enum gp_unit unit,
		      double value)
{
	if (isnan(value))
		gp_document_add_unknown(document, name);
	else
		gp_document_add(document, name, unit, gp_value_real(value));
}

int gp_summary_add_sampled(const struct gp_summary *summary, struct gp_document *document)
{
	struct gp_sampled_totals totals;

	if (!is_sampled(summary))
		return 0;
	gp_sampled_totals_of(&totals, summary->models, summary->model_count);
	gp_document_add_section(document, "sampled");
	gp_document_add_row(document);
	gp_document_add_text(document, "id", "windows");
	gp_document_add_number(document, "count", GP_UNIT_COUNT, totals.extent.windows);
	gp_document_add_number(document, "recorded_ns", GP_UNIT_NS, totals.extent.recorded_ns);
	if (totals.extent.windows > 0) {
		gp_document_add_number(document, "whole_ns", GP_UNIT_NS, totals.extent.whole_ns);
		gp_document_add_number(document, "before_ns", GP_UNIT_NS, totals.extent.before_ns);
	} else {
		gp_document_add_unknown(document, "whole_ns");
		gp_document_add_unknown(document, "before_ns");
	}
	for (int i = 0; i < GP_SAMPLED_TOTALS; i++) {
		gp_document_add_row(document);
		gp_document_add_text(document, "id", rows[i].id);
		add_known(document, "estimate", rows[i].unit, totals.totals[i].value);
		add_known(document, "error", rows[i].unit, totals.totals[i].error);
	}
	return 0;
}
