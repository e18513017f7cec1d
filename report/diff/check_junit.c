/*
 * A check as JUnit XML, the format of test results that CI systems read: a test case for each
 * metric.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff/check_report.h"
#include "report/diff/check_words.h"
#include "report/base/text/text.h"

#define REASON_BYTES 512

/* Escape a text for XML.  Control characters, which XML forbids, are written as escapes. */
static void put_xml(FILE *out, const char *text)
{
	static const struct {
		char character;
		const char *entity;
	} entities[] = {
		{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&apos;"}};
	char *escaped = gp_text_escape(text);

	for (const char *c = escaped; c && *c; c++) {
		size_t i = 0;

		while (i < sizeof(entities) / sizeof(entities[0]) && entities[i].character != *c)
			i++;
		if (i < sizeof(entities) / sizeof(entities[0]))
			fputs(entities[i].entity, out);
		else
			fputc(*c, out);
	}
	free(escaped);
}

static bool is_failure(const struct gp_check_report *report, enum gp_check_verdict verdict)
{
	return verdict == GP_VERDICT_REGRESSION ||
	       (report->strict && verdict == GP_VERDICT_INCONCLUSIVE);
}

/* The rest of a test case that passed; reason: a remark, or "". */
static void put_passed(FILE *out, const char *reason)
{
	if (!*reason) {
		fputs("\"/>\n", out);
		return;
	}
	fputs("\">\n      <system-out>", out);
	put_xml(out, reason);
	fputs("</system-out>\n    </testcase>\n", out);
}

static void put_case(FILE *out, const struct gp_check_report *report, const char *name,
		     enum gp_check_verdict verdict, const char *reason)
{
	fputs("    <testcase classname=\"gpuprof\" name=\"", out);
	put_xml(out, name);
	if (verdict == GP_VERDICT_PASS) {
		put_passed(out, reason);
		return;
	}
	fprintf(out, "\">\n      <%s message=\"",
		is_failure(report, verdict) ? "failure" : "skipped");
	if (verdict == GP_VERDICT_INCONCLUSIVE)
		fputs("inconclusive: ", out);
	put_xml(out, reason);
	fputs("\"/>\n    </testcase>\n", out);
}

static void put_finding(FILE *out, const struct gp_check_report *report,
			const struct gp_check_finding *finding)
{
	char reason[REASON_BYTES], *name = gp_check_name(report, finding);

	gp_check_reason(report, finding, reason, sizeof(reason));
	put_case(out, report, name, finding->verdict, reason);
	free(name);
}

static uint32_t count_partial(const struct gp_check_report *report)
{
	return report->now->count - report->check->runs;
}

static void put_partial(FILE *out, const struct gp_check_report *report)
{
	for (uint32_t i = 0; i < report->now->count; i++)
		if (report->now->runs[i].partial)
			put_case(out, report, report->now->runs[i].name, GP_VERDICT_INCONCLUSIVE,
				 report->now->runs[i].partial);
}

/* A metric that is not judged is skipped, also with --strict. */
static void put_off(FILE *out, const char *kind, const char *name)
{
	fprintf(out, "    <testcase classname=\"gpuprof\" name=\"%s", kind);
	put_xml(out, name);
	fputs("\">\n      <skipped message=\"switched off by the thresholds\"/>\n    </testcase>\n",
	      out);
}

static void put_all_off(FILE *out, const struct gp_check_report *report)
{
	const struct gp_check *check = report->check;

	for (uint32_t i = 0; i < check->off_count; i++)
		put_off(out, "", gp_metric_rows[check->off[i]].name);
	for (uint32_t i = 0; i < check->kernels_off_count; i++)
		put_off(out, "kernel ", gp_names_short(report->names, check->kernels_off[i]));
}

int gp_check_report_junit(FILE *out, const struct gp_check_report *report)
{
	const struct gp_check *check = report->check;
	uint32_t inconclusive =
		gp_check_count(check, GP_VERDICT_INCONCLUSIVE) + count_partial(report);
	uint32_t failures =
		gp_check_count(check, GP_VERDICT_REGRESSION) + (report->strict ? inconclusive : 0);
	uint32_t off = check->off_count + check->kernels_off_count;

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites>\n"
		"  <testsuite name=\"gpuprof check\" tests=\"%u\" failures=\"%u\" errors=\"0\" skipped=\"%u\">\n",
		check->count + count_partial(report) + off, failures,
		off + (report->strict ? 0 : inconclusive));
	put_partial(out, report);
	for (uint32_t i = 0; i < check->count; i++)
		put_finding(out, report, &check->findings[i]);
	put_all_off(out, report);
	fputs("  </testsuite>\n</testsuites>\n", out);
	return ferror(out) ? -EIO : 0;
}
