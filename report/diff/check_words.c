#include "report/diff/check_words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff/rank.h"
#include "report/diff/step_change.h"

#define COARSE       0.25
#define COARSE_SHOWN 3u
#define LEAKS_SHOWN  3u
#define LEAKS_BYTES  400
#define OFF_BYTES    512 /* for the names of all metrics */
#define REASON_BYTES 384

char *gp_check_name(const struct gp_check_report *report, const struct gp_check_finding *finding)
{
	char *name;

	if (!finding->kernel)
		return strdup(gp_metric_rows[finding->metric].name);
	asprintf(&name, "kernel %s", gp_names_short(report->names, finding->kernel));
	return name;
}

struct gp_figure gp_check_value(const struct gp_check_finding *finding, double value)
{
	if (!isfinite(value))
		return (struct gp_figure){"-"};
	switch (finding->unit) {
	case GP_UNIT_NS:
		return gp_format_ns_about(value);
	case GP_UNIT_BYTES:
		return gp_format_bytes((uint64_t)value);
	case GP_UNIT_JOULES:
		return gp_format_joules(value);
	case GP_UNIT_PERCENT:
		return gp_format_percent(value, 100);
	default:
		return gp_format_count((uint64_t)value);
	}
}

static struct gp_figure percent(double change, double whole)
{
	struct gp_figure figure;
	double part = 100 * change / whole;

	snprintf(figure.text, sizeof(figure.text), "%+.*f", fabs(part) < 1000 ? 1 : 0, part);
	if (strcmp(figure.text, "-0.0") == 0)
		figure.text[0] = '+';
	return figure;
}

/* A percentage; an amount if the baseline is 0. */
struct gp_figure gp_check_change(const struct gp_check_finding *finding, double change)
{
	struct gp_figure figure;

	if (!isfinite(change))
		return (struct gp_figure){"-"};
	if (change >= 10 * finding->baseline && finding->baseline > 0) {
		figure = gp_format_change(100 * change / finding->baseline);
	} else if (finding->baseline > 0) {
		figure = percent(change, finding->baseline);
		strcat(figure.text, " %");
	} else {
		figure.text[0] = change < 0 ? '-' : '+';
		snprintf(figure.text + 1, sizeof(figure.text) - 1, "%.29s",
			 gp_check_value(finding, fabs(change)).text);
	}
	return figure;
}

/* An amount if it is ten times the baseline or more, else a percentage. */
struct gp_figure gp_check_tolerated(const struct gp_check_finding *finding)
{
	struct gp_figure figure = {"0"};

	if (finding->margin >= 10 * finding->baseline && finding->margin > 0)
		return gp_check_value(finding, finding->margin);
	if (finding->margin > 0)
		snprintf(figure.text, sizeof(figure.text), "%.28s %%",
			 percent(finding->margin, finding->baseline).text + 1);
	return figure;
}

bool gp_check_is_coarse(const struct gp_check_finding *finding)
{
	double least = finding->unit == GP_UNIT_NS ? GP_THRESHOLD_NS : 0;

	return finding->verdict == GP_VERDICT_PASS && !finding->exact && finding->baseline > 0 &&
	       finding->margin > least && finding->margin >= COARSE * finding->baseline;
}

void gp_check_range(const struct gp_check_finding *finding, char *text, size_t bytes)
{
	text[0] = '\0';
	if (finding->exact || !(finding->baseline > 0))
		return;
	if (!isfinite(finding->high))
		snprintf(text, bytes, "any");
	else if (!isfinite(finding->low))
		snprintf(text, bytes, "below %s %%",
			 percent(finding->high, finding->baseline).text);
	else
		snprintf(text, bytes, "%s to %s %%", percent(finding->low, finding->baseline).text,
			 percent(finding->high, finding->baseline).text);
}

static void say_needed(const struct gp_check_finding *finding, uint32_t baseline_runs, char *text,
		       size_t bytes)
{
	if (finding->runs_needed == 0)
		snprintf(
			text, bytes,
			"more than %u runs would be needed: raise the threshold, or reduce the noise",
			GP_RANK_MOST);
	else if (finding->baseline_needed > baseline_runs)
		snprintf(text, bytes, "%u runs and a baseline of %u would probably be enough",
			 finding->runs_needed, finding->baseline_needed);
	else
		snprintf(text, bytes, "%u runs would probably be enough", finding->runs_needed);
}

static void say_doubt(const struct gp_check_report *report, const struct gp_check_finding *finding,
		      char *text, size_t bytes)
{
	const struct gp_check *check = report->check;
	char needed[160];

	say_needed(finding, check->baseline_runs, needed, sizeof(needed));
	/* One pair of runs says nothing about the noise. */
	if (finding->doubt == GP_DOUBT_FEW && finding->runs_needed == 0)
		snprintf(needed, sizeof(needed), "%u runs and a baseline of %u are a good start",
			 GP_CHECK_GOOD_RUNS, GP_CHECK_GOOD_BASELINE);
	switch (finding->doubt) {
	case GP_DOUBT_UNKNOWN:
		snprintf(text, bytes, "not recorded in all runs");
		return;
	case GP_DOUBT_VARIES:
		snprintf(text, bytes,
			 "%u of %u runs have more than the baseline, whose runs are all equal",
			 finding->beyond, check->runs);
		return;
	case GP_DOUBT_FEW:
		snprintf(text, bytes, "%u run%s and %u of the baseline are too few to judge %s; %s",
			 check->runs, check->runs == 1 ? "" : "s", check->baseline_runs,
			 finding->unit == GP_UNIT_JOULES ? "an energy" : "a time", needed);
		return;
	case GP_DOUBT_UNSHOWN:
		snprintf(
			text, bytes,
			"%s, but %u run%s and %u of the baseline are too few to show that, as %u metrics are judged; %s",
			gp_check_change(finding, finding->now - finding->baseline).text,
			check->runs, check->runs == 1 ? "" : "s", check->baseline_runs,
			check->tested, needed);
		return;
	case GP_DOUBT_TOGETHER:
		snprintf(
			text, bytes,
			"%s: as the only metric it would be a regression, but among %u metrics one may seem worse by chance; %s",
			gp_check_change(finding, finding->now - finding->baseline).text,
			check->tested, needed);
		return;
	default:
		snprintf(text, bytes,
			 "varies too much for %u run%s to show whether it is %s more; %s",
			 check->runs, check->runs == 1 ? "" : "s", gp_check_tolerated(finding).text,
			 needed);
	}
}

static int compare_leaks(const void *a, const void *b)
{
	const struct gp_named_figure *const *left = a, *const *right = b;

	return ((*left)->total_ns < (*right)->total_ns) - ((*left)->total_ns > (*right)->total_ns);
}

void gp_check_leaks(const struct gp_check_report *report, char *text, size_t bytes)
{
	const struct gp_named_list *list =
		&gp_run_set_middle(report->now)->figures.named[GP_NAMED_LEAK];
	const struct gp_named_figure **sorted = calloc((size_t)list->count + 1, sizeof(*sorted));
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < list->count; i++)
		sorted[i] = &list->rows[i];
	qsort(sorted, list->count, sizeof(*sorted), compare_leaks);
	for (uint32_t i = 0; i < list->count && i < LEAKS_SHOWN; i++)
		used += (size_t)snprintf(
			text + used, bytes - used, "%s%s at %.80s", i == 0 ? "never freed: " : ", ",
			gp_format_bytes((uint64_t)sorted[i]->total_ns).text, sorted[i]->name);
	if (list->count > LEAKS_SHOWN)
		snprintf(text + used, bytes - used, ", and at %u more", list->count - LEAKS_SHOWN);
	free(sorted);
}

static void say_leaks(const struct gp_check_report *report, const struct gp_check_finding *finding,
		      char *text, size_t bytes)
{
	size_t used = strlen(text);
	char leaks[LEAKS_BYTES];

	if (!gp_check_has_leaks(finding))
		return;
	gp_check_leaks(report, leaks, sizeof(leaks));
	if (*leaks)
		snprintf(text + used, bytes - used, "; %s", leaks);
}

bool gp_check_has_leaks(const struct gp_check_finding *finding)
{
	return finding->metric == GP_METRIC_BYTES_LEAKED &&
	       finding->verdict == GP_VERDICT_REGRESSION;
}

static void say_step(const struct gp_check_report *report, const struct gp_check_finding *finding,
		     char *text, size_t bytes)
{
	static const char *const results[] = {
		[GP_VERDICT_PASS] = "passed",
		[GP_VERDICT_INCONCLUSIVE] = "not decided: ",
		[GP_VERDICT_REGRESSION] = "failed",
	};
	char doubt[REASON_BYTES] = "";
	size_t used;

	if (gp_step_change_say(report->baseline, &report->check->compared, text, bytes) < 0 ||
	    !*text || finding->doubt == GP_DOUBT_UNKNOWN)
		return;
	if (finding->verdict == GP_VERDICT_INCONCLUSIVE)
		say_doubt(report, finding, doubt, sizeof(doubt));
	used = strlen(text);
	snprintf(text + used, bytes - used, "; limit %s: %s%s", gp_check_tolerated(finding).text,
		 results[finding->verdict], doubt);
}

void gp_check_step(const struct gp_check_report *report, char *text, size_t bytes)
{
	text[0] = '\0';
	for (uint32_t i = 0; i < report->check->count; i++)
		if (report->check->findings[i].metric == GP_METRIC_STEP)
			say_step(report, &report->check->findings[i], text, bytes);
}

void gp_check_reason(const struct gp_check_report *report, const struct gp_check_finding *finding,
		     char *text, size_t bytes)
{
	text[0] = '\0';
	if (finding->metric == GP_METRIC_STEP)
		say_step(report, finding, text, bytes);
	else if (finding->verdict == GP_VERDICT_INCONCLUSIVE)
		say_doubt(report, finding, text, bytes);
	else if (finding->verdict == GP_VERDICT_REGRESSION)
		snprintf(text, bytes, "%s, was %s: %s, but %s is tolerated",
			 gp_check_value(finding, finding->now).text,
			 gp_check_value(finding, finding->baseline).text,
			 gp_check_change(finding, finding->now - finding->baseline).text,
			 finding->margin > 0 ? gp_check_tolerated(finding).text : "nothing");
	else if (gp_check_is_coarse(finding))
		snprintf(text, bytes, "tolerates %s more; now %s", gp_check_tolerated(finding).text,
			 gp_check_change(finding, finding->now - finding->baseline).text);
	say_leaks(report, finding, text, bytes);
}

uint32_t gp_check_count(const struct gp_check *check, enum gp_check_verdict verdict)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < check->count; i++)
		count += check->findings[i].verdict == verdict;
	return count;
}

/* The runs that all inconclusive findings need. */
static void say_all_needed(const struct gp_check *check, char *text, size_t bytes)
{
	char baseline[48] = "";

	if (check->baseline_needed > check->baseline_runs)
		snprintf(baseline, sizeof(baseline), " and a baseline of %u",
			 check->baseline_needed);
	snprintf(text, bytes, "; %u runs%s would probably be enough%s", check->runs_needed,
		 baseline,
		 check->verdict == GP_VERDICT_INCONCLUSIVE ? "" : " for the inconclusive ones");
}

/* "; switched off by the thresholds: wall, 3 kernels" */
static void say_off(const struct gp_check *check, char *text, size_t bytes)
{
	const char *separator = "; switched off by the thresholds: ";
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < check->off_count && used < bytes; i++) {
		used += (size_t)snprintf(text + used, bytes - used, "%s%s", separator,
					 gp_metric_rows[check->off[i]].name);
		separator = ", ";
	}
	if (check->kernels_off_count > 0 && used < bytes)
		snprintf(text + used, bytes - used, "%s%u kernel%s", separator,
			 check->kernels_off_count, check->kernels_off_count == 1 ? "" : "s");
}

/* "; large changes tolerated: wall (54.4 %), 1 more" */
static void say_coarse(const struct gp_check_report *report, char *text, size_t bytes)
{
	size_t used = 0;
	uint32_t count = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < report->check->count; i++) {
		const struct gp_check_finding *finding = &report->check->findings[i];
		char *name;

		if (!gp_check_is_coarse(finding) || count++ >= COARSE_SHOWN)
			continue;
		name = gp_check_name(report, finding);
		used += (size_t)snprintf(text + used, bytes - used, "%s%.60s (%s)",
					 count == 1 ? "; large changes tolerated: " : ", ",
					 name ? name : "", gp_check_tolerated(finding).text);
		free(name);
	}
	if (count > COARSE_SHOWN)
		snprintf(text + used, bytes - used, ", %u more", count - COARSE_SHOWN);
}

void gp_check_headline(const struct gp_check_report *report, char *text, size_t bytes)
{
	const struct gp_check *check = report->check;
	uint32_t count = gp_check_count(check, check->verdict);
	uint32_t left_out = report->now->count - check->runs;
	char partial[64] = "", needed[128] = "", off[OFF_BYTES], coarse[400];

	if (left_out > 0)
		snprintf(partial, sizeof(partial), "; %u run%s left out as incomplete", left_out,
			 left_out == 1 ? " was" : "s were");
	if (check->runs_needed > 0)
		say_all_needed(check, needed, sizeof(needed));
	say_off(check, off, sizeof(off));
	say_coarse(report, coarse, sizeof(coarse));
	snprintf(text, bytes,
		 "%u of %u metrics; %u run%s, compared with %u of the baseline%s%s%s%s", count,
		 check->count, check->runs, check->runs == 1 ? "" : "s", check->baseline_runs,
		 partial, needed, coarse, off);
}

const char *gp_check_word(const struct gp_check_finding *finding)
{
	if (finding->verdict == GP_VERDICT_REGRESSION)
		return "REGRESSION";
	if (finding->verdict == GP_VERDICT_INCONCLUSIVE)
		return "inconclusive";
	return finding->improved ? "improved" : "pass";
}
