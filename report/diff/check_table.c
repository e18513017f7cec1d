/* A check as text and as markdown. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/diff/check_report.h"
#include "report/diff/check_words.h"
#include "report/document/table_writer.h"
#include "report/base/text/text.h"

#define NAMES_SHOWN 6u
#define LINE_BYTES  4096

#define HEADLINE_BYTES 1536

static const struct gp_table_column columns[] = {
	{"Verdict", GP_UNIT_TEXT},  {"Baseline", GP_UNIT_NUMBER},     {"Now", GP_UNIT_NUMBER},
	{"Change", GP_UNIT_NUMBER}, {"Change is in", GP_UNIT_NUMBER}, {"Tolerated", GP_UNIT_NUMBER},
	{"Metric", GP_UNIT_TEXT},
};

struct layout {
	const struct gp_table_format *format;
	void (*put_headline)(FILE *out, const char *verdict, const char *line, const char *step);
	void (*put_note)(FILE *out, const char *line);
};

/* Times without a verdict for lack of runs have one line together: put_few(). */
static bool is_shown(const struct gp_check_report *report, const struct gp_check_finding *finding)
{
	if (report->all || finding->improved)
		return true;
	return finding->verdict != GP_VERDICT_PASS && finding->doubt != GP_DOUBT_FEW;
}

static void put_row(struct gp_table_writer *writer, const struct gp_check_report *report,
		    const struct gp_check_finding *finding)
{
	struct gp_figure baseline = gp_check_value(finding, finding->baseline);
	struct gp_figure now = gp_check_value(finding, finding->now);
	struct gp_figure change = gp_check_change(finding, finding->now - finding->baseline);
	struct gp_figure margin = gp_check_tolerated(finding);
	char range[64], *name = gp_check_name(report, finding);
	struct gp_value values[COUNT(columns)];

	gp_check_range(finding, range, sizeof(range));
	values[0] = gp_value_text(gp_check_word(finding));
	values[1] = gp_value_text(baseline.text);
	values[2] = gp_value_text(now.text);
	values[3] = gp_value_text(change.text);
	values[4] = gp_value_text(*range ? range : "-");
	values[5] = gp_value_text(margin.text);
	values[6] = gp_value_text(name);
	gp_table_writer_row(writer, values);
	free(name);
}

static int put_table(FILE *out, const struct gp_check_report *report, const struct layout *layout)
{
	static const enum gp_check_verdict order[] = {GP_VERDICT_REGRESSION,
						      GP_VERDICT_INCONCLUSIVE, GP_VERDICT_PASS};
	const struct gp_table_head head = {"check", "Metrics", columns, COUNT(columns)};
	struct gp_table_writer writer;
	int closed;

	gp_table_writer_open(&writer, layout->format, out, false);
	gp_table_writer_begin(&writer, &head);
	for (size_t v = 0; v < COUNT(order); v++)
		for (uint32_t i = 0; i < report->check->count; i++) {
			const struct gp_check_finding *finding = &report->check->findings[i];

			if (finding->verdict == order[v] && is_shown(report, finding))
				put_row(&writer, report, finding);
		}
	gp_table_writer_end(&writer);
	closed = gp_table_writer_close(&writer);
	return closed;
}

/* One line for all times that have too few runs for a verdict. */
static void put_few(FILE *out, const struct gp_check_report *report, const struct layout *layout)
{
	const struct gp_check *check = report->check;
	char line[256];
	uint32_t few = 0;

	for (uint32_t i = 0; i < check->count; i++)
		few += check->findings[i].doubt == GP_DOUBT_FEW;
	if (few == 0)
		return;
	snprintf(
		line, sizeof(line),
		"%u run%s and %u of the baseline are too few to judge times (%u of them): %u runs and a baseline of %u are a good start",
		check->runs, check->runs == 1 ? "" : "s", check->baseline_runs, few,
		GP_CHECK_GOOD_RUNS, GP_CHECK_GOOD_BASELINE);
	layout->put_note(out, line);
}

static void put_reason(FILE *out, const struct gp_check_report *report, const struct layout *layout,
		       const struct gp_check_finding *finding)
{
	char reason[512], line[LINE_BYTES], *name = gp_check_name(report, finding);

	if (gp_check_has_leaks(finding))
		gp_check_leaks(report, reason, sizeof(reason));
	else
		gp_check_reason(report, finding, reason, sizeof(reason));
	snprintf(line, sizeof(line), "%s: %s", name, reason);
	if (*reason)
		layout->put_note(out, line);
	free(name);
}

static int put_reasons(FILE *out, const struct gp_check_report *report, const struct layout *layout)
{
	for (uint32_t i = 0; i < report->check->count; i++) {
		const struct gp_check_finding *finding = &report->check->findings[i];

		if (finding->metric == GP_METRIC_STEP)
			continue;
		if (gp_check_has_leaks(finding) ||
		    (finding->verdict == GP_VERDICT_INCONCLUSIVE && finding->doubt != GP_DOUBT_FEW))
			put_reason(out, report, layout, finding);
	}
	put_few(out, report, layout);
	return 0;
}

static void put_kernels(FILE *out, const struct gp_check_report *report,
			const struct layout *layout, const char *what, const char **names,
			uint32_t count)
{
	char line[LINE_BYTES];

	for (uint32_t i = 0; i < count && i < NAMES_SHOWN; i++) {
		snprintf(line, sizeof(line), "%s kernel: %s", what,
			 gp_names_short(report->names, names[i]));
		layout->put_note(out, line);
	}
	if (count > NAMES_SHOWN) {
		snprintf(line, sizeof(line), "%s kernels: %u more", what, count - NAMES_SHOWN);
		layout->put_note(out, line);
	}
}

static int put_notes(FILE *out, const struct gp_check_report *report, const struct layout *layout)
{
	const struct gp_check *check = report->check;
	char line[LINE_BYTES];

	for (uint32_t i = 0; i < report->now->count; i++) {
		const struct gp_run_figures *run = &report->now->runs[i];

		if (!run->partial)
			continue;
		snprintf(line, sizeof(line), "%s is incomplete: %s", run->name, run->partial);
		layout->put_note(out, line);
	}
	for (uint32_t i = 0; i < report->note_count; i++)
		layout->put_note(out, report->notes[i]);
	put_kernels(out, report, layout, "new", check->new_kernels, check->new_count);
	put_kernels(out, report, layout, "gone", check->gone_kernels, check->gone_count);
	return put_reasons(out, report, layout);
}

static bool has_rows(const struct gp_check_report *report)
{
	for (uint32_t i = 0; i < report->check->count; i++)
		if (is_shown(report, &report->check->findings[i]))
			return true;
	return false;
}

static int write_report(FILE *out, const struct gp_check_report *report,
			const struct layout *layout)
{
	char line[HEADLINE_BYTES], step[HEADLINE_BYTES];
	int result = 0;

	gp_check_headline(report, line, sizeof(line));
	gp_check_step(report, step, sizeof(step));
	layout->put_headline(out, gp_check_verdict_name(report->check->verdict), line, step);
	if (has_rows(report)) {
		result = put_table(out, report, layout);
		fputs("\n", out);
	}
	if (result == 0)
		result = put_notes(out, report, layout);
	if (result == 0 && ferror(out))
		result = -EIO;
	return result;
}

/* ---- text ---- */

static void put_text_note(FILE *out, const char *line)
{
	fputs("  ", out);
	gp_text_print(out, line);
	fputs("\n", out);
}

static void put_text_headline(FILE *out, const char *verdict, const char *line, const char *step)
{
	fprintf(out, "gpuprof check: %s: %s\n", verdict, line);
	if (*step)
		put_text_note(out, step);
	fputs("\n", out);
}

int gp_check_report_text(FILE *out, const struct gp_check_report *report)
{
	static const struct layout layout = {&gp_table_text, put_text_headline, put_text_note};

	return write_report(out, report, &layout);
}

/* ---- markdown ---- */

static void put_markdown_note(FILE *out, const char *line)
{
	char *escaped = gp_text_escape(line);

	fputs("- ", out);
	gp_table_put_markdown(out, escaped);
	fputs("\n", out);
	free(escaped);
}

static void put_markdown_headline(FILE *out, const char *verdict, const char *line,
				  const char *step)
{
	fprintf(out, "## gpuprof check: %s\n\n%s\n\n", verdict, line);
	if (!*step)
		return;
	gp_table_put_markdown(out, step);
	fputs("\n\n", out);
}

int gp_check_report_markdown(FILE *out, const struct gp_check_report *report)
{
	static const struct layout layout = {&gp_table_markdown, put_markdown_headline,
					     put_markdown_note};

	return write_report(out, report, &layout);
}
