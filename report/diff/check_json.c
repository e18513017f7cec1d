/* A check as JSON. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "report/diff/check_report.h"
#include "report/diff/check_words.h"
#include "report/document/table_writer.h"
#include "report/base/text/utf8.h"

/* jansson takes valid UTF-8 alone. */
static json_t *text_of(const char *text)
{
	char *repaired = gp_utf8_repair(text);
	json_t *value = repaired ? json_string(repaired) : NULL;

	free(repaired);
	return value;
}

/* Whole numbers without a fraction; null for what is not known or has no bound. */
static json_t *number_of(double value)
{
	if (!isfinite(value))
		return json_null();
	return value == floor(value) && fabs(value) < 0x1p53 ? json_integer((json_int_t)value)
							     : json_real(value);
}

static int set_tests(json_t *object, const struct gp_finding *finding)
{
	return json_object_set_new(object, "change_above", number_of(finding->low)) |
	       json_object_set_new(object, "change_below", number_of(finding->high)) |
	       json_object_set_new(object, "chance", number_of(finding->chance)) |
	       json_object_set_new(object, "runs_needed",
				   finding->runs_needed ? json_integer(finding->runs_needed)
							: json_null()) |
	       json_object_set_new(object, "baseline_runs_needed",
				   finding->runs_needed ? json_integer(finding->baseline_needed)
							: json_null());
}

static int set_metric(json_t *object, const char *name)
{
	return json_object_set_new(object, "metric", json_string(name));
}

static int set_kernel(json_t *object, const struct gp_check_report *report, const char *kernel)
{
	return json_object_set_new(object, "kernel",
				   text_of(gp_names_full(report->names, kernel))) |
	       json_object_set_new(object, "mangled", text_of(kernel));
}

static json_t *finding_of(const struct gp_check_report *report, const struct gp_finding *finding)
{
	json_t *object = json_object();
	char reason[512];
	int failed;

	gp_check_reason(report, finding, reason, sizeof(reason));
	failed = set_metric(object,
			    finding->kernel ? "kernel" : gp_metric_rows[finding->metric].name) |
		 json_object_set_new(object, "unit", json_string(gp_unit_name(finding->unit))) |
		 json_object_set_new(object, "verdict",
				     json_string(gp_verdict_name(finding->verdict))) |
		 json_object_set_new(object, "improved", json_boolean(finding->improved)) |
		 json_object_set_new(object, "exact", json_boolean(finding->exact)) |
		 json_object_set_new(object, "baseline", number_of(finding->baseline)) |
		 json_object_set_new(object, "now", number_of(finding->now)) |
		 json_object_set_new(object, "tolerated", number_of(finding->margin)) |
		 json_object_set_new(object, "reason", text_of(reason));
	if (finding->kernel)
		failed |= set_kernel(object, report, finding->kernel);
	if (!finding->exact)
		failed |= set_tests(object, finding);
	if (failed == 0)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *findings_of(const struct gp_check_report *report)
{
	json_t *array = json_array();
	int failed = 0;

	for (uint32_t i = 0; i < report->check->count; i++)
		failed |= json_array_append_new(array,
						finding_of(report, &report->check->findings[i]));
	if (failed == 0)
		return array;
	json_decref(array);
	return NULL;
}

static json_t *not_judged_of(const struct gp_check_report *report)
{
	const struct gp_check *check = report->check;
	json_t *array = json_array();
	int failed = 0;

	for (uint32_t i = 0; i < check->off_count + check->kernels_off_count; i++) {
		json_t *object = json_object();

		if (i < check->off_count)
			failed |= set_metric(object, gp_metric_rows[check->off[i]].name);
		else
			failed |= set_metric(object, "kernel") |
				  set_kernel(object, report,
					     check->kernels_off[i - check->off_count]);
		failed |= json_array_append_new(array, object);
	}
	if (failed == 0)
		return array;
	json_decref(array);
	return NULL;
}

static json_t *kernels_of(const struct gp_check_report *report, const char **names, uint32_t count)
{
	json_t *array = json_array();
	int failed = 0;

	for (uint32_t i = 0; i < count; i++)
		failed |= json_array_append_new(array,
						text_of(gp_names_full(report->names, names[i])));
	if (failed == 0)
		return array;
	json_decref(array);
	return NULL;
}

static json_t *partial_of(const struct gp_check_report *report)
{
	json_t *array = json_array();
	int failed = 0;

	for (uint32_t i = 0; i < report->now->count; i++) {
		const struct gp_run_figures *run = &report->now->runs[i];
		json_t *object;

		if (!run->partial)
			continue;
		object = json_object();
		failed |= json_object_set_new(object, "run", text_of(run->name)) |
			  json_object_set_new(object, "reason", text_of(run->partial)) |
			  json_array_append_new(array, object);
	}
	if (failed == 0)
		return array;
	json_decref(array);
	return NULL;
}

static json_t *notes_of(const struct gp_check_report *report)
{
	json_t *array = json_array();
	int failed = 0;

	for (uint32_t i = 0; i < report->note_count; i++)
		failed |= json_array_append_new(array, text_of(report->notes[i]));
	if (failed == 0)
		return array;
	json_decref(array);
	return NULL;
}

int gp_check_report_json(FILE *out, const struct gp_check_report *report)
{
	const struct gp_check *check = report->check;
	json_t *root = json_object();
	int failed =
		json_object_set_new(root, "gpuprof_check", json_integer(1)) |
		json_object_set_new(root, "verdict", json_string(gp_verdict_name(check->verdict))) |
		json_object_set_new(root, "runs", json_integer(check->runs)) |
		json_object_set_new(root, "baseline_runs", json_integer(check->baseline_runs)) |
		json_object_set_new(root, "runs_needed",
				    check->runs_needed ? json_integer(check->runs_needed)
						       : json_null()) |
		json_object_set_new(root, "baseline_runs_needed",
				    check->runs_needed ? json_integer(check->baseline_needed)
						       : json_null()) |
		json_object_set_new(root, "partial", partial_of(report)) |
		json_object_set_new(root, "notes", notes_of(report)) |
		json_object_set_new(root, "not_judged", not_judged_of(report)) |
		json_object_set_new(root, "new_kernels",
				    kernels_of(report, check->new_kernels, check->new_count)) |
		json_object_set_new(root, "gone_kernels",
				    kernels_of(report, check->gone_kernels, check->gone_count)) |
		json_object_set_new(root, "findings", findings_of(report));

	if (failed == 0)
		failed = json_dumpf(root, out, JSON_INDENT(1)) != 0 || fputc('\n', out) == EOF;
	json_decref(root);
	if (failed != 0)
		return ferror(out) ? -EIO : -ENOMEM;
	return 0;
}
