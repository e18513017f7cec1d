#include "report/diff/check_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/base/message.h"
#include "report/load/command.h"
#include "report/diff/baseline.h"
#include "report/diff/calibrate.h"
#include "report/diff/check.h"
#include "report/diff/check_next.h"
#include "report/diff/check_report.h"
#include "report/diff/energy_figures.h"
#include "report/diff/rank.h"
#include "report/base/text/format.h"
#include "report/codec/output_file.h"

struct work {
	const struct gp_check_request *request;
	struct gp_run_set baseline, now;
	struct gp_thresholds thresholds;
	struct gp_check check;
	char **notes;
	uint32_t note_count, note_capacity;
};

static int fail(int status, const char *message)
{
	return gp_command_fail(status, "check: %s", message);
}

/* ---- inputs ---- */

static int load_runs(struct gp_run_set *set, char *const *runs, size_t run_count)
{
	char message[GP_MESSAGE_BYTES];
	int result;

	if (run_count > GP_RANK_MOST)
		return gp_command_fail(GP_CHECK_EXIT_USAGE, "check: at most %u runs are compared",
				       GP_RANK_MOST);
	result = gp_run_set_load(set, runs, run_count, message, sizeof(message));
	if (result == -EXDEV)
		return fail(GP_CHECK_EXIT_USAGE, message);
	return result == 0 ? 0 : fail(GP_CHECK_EXIT_FAILED, message);
}

static int read_thresholds(struct work *work)
{
	const char *path = work->request->thresholds;
	char message[GP_MESSAGE_BYTES];

	gp_thresholds_open(&work->thresholds);
	if (path && gp_thresholds_read(&work->thresholds, path, message, sizeof(message)) < 0)
		return fail(GP_CHECK_EXIT_USAGE, message);
	return 0;
}

static int read_baseline(struct work *work)
{
	char message[GP_MESSAGE_BYTES];

	if (gp_baseline_read(&work->baseline, work->request->baseline, message, sizeof(message)) <
	    0)
		return fail(GP_CHECK_EXIT_USAGE, message);
	return 0;
}

/* ---- conditions of a comparison ---- */

/* Take ownership of the note; NULL: no memory. */
static int take_note(struct work *work, char *note)
{
	if (!note || gp_array_grow(&work->notes, &work->note_capacity, work->note_count,
				   sizeof(*work->notes)) < 0) {
		free(note);
		return fail(GP_CHECK_EXIT_FAILED, "no memory");
	}
	work->notes[work->note_count++] = note;
	return 0;
}

static int note_difference(struct work *work, enum gp_machine_fact fact)
{
	char *note;

	asprintf(&note, "%s: %s; baseline: %s", gp_machine_fact_title(fact),
		 gp_machine_fact_text(&work->now.machine, fact),
		 gp_machine_fact_text(&work->baseline.machine, fact));
	return take_note(work, note);
}

static int compare_fact(struct work *work, enum gp_machine_fact fact)
{
	const char *baseline = gp_machine_fact(&work->baseline.machine, fact);
	const char *now = gp_machine_fact(&work->now.machine, fact);

	if (strcmp(baseline, now) == 0)
		return 0;
	if (fact == GP_MACHINE_OPTIONS)
		return gp_command_fail(
			GP_CHECK_EXIT_USAGE,
			"check: the baseline was recorded with other options (%s; now: %s); record with the same options, or make a new baseline with --write-baseline",
			gp_machine_fact_text(&work->baseline.machine, fact),
			gp_machine_fact_text(&work->now.machine, fact));
	if (fact == GP_MACHINE_GPUS && !work->request->any_device)
		return gp_command_fail(
			GP_CHECK_EXIT_USAGE,
			"check: the baseline is of another device (%s; now: %s); make one for this device with --write-baseline, or compare anyway with --any-device",
			gp_machine_fact_text(&work->baseline.machine, fact),
			gp_machine_fact_text(&work->now.machine, fact));
	return note_difference(work, fact);
}

static int compare_machines(struct work *work)
{
	int status = 0;

	for (int i = 0; status == 0 && i < GP_MACHINE_FACTS; i++)
		status = compare_fact(work, (enum gp_machine_fact)i);
	return status;
}

/* The baseline is sampled, too: it has the same options. */
static int note_sampled(struct work *work)
{
	if (!gp_machine_is_sampled(&work->now.machine))
		return 0;
	return take_note(
		work,
		strdup("the runs are sampled (--sample): totals are unknown, and only the times of a step are compared"));
}

static int note_clocks(struct work *work)
{
	struct gp_lowered_clocks clocks;
	char *note;

	gp_lowered_clocks_of(&work->baseline, &work->now, &clocks);
	if (!clocks.differ)
		return 0;
	asprintf(&note, "clocks lowered: %s %% of the time; baseline: %s %%" GP_LOWERED_CLOCKS,
		 gp_format_percent(clocks.b, 100).text, gp_format_percent(clocks.a, 100).text);
	return take_note(work, note);
}

/* ---- patterns without a kernel ---- */

static bool fits_any(const struct gp_kernel_threshold *kernel, struct gp_names *names,
		     const char **kernels, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (gp_kernel_threshold_fits(kernel, gp_names_full(names, kernels[i])))
			return true;
	return false;
}

/* A note for each: the user expects it to judge something. */
static int note_unused(struct work *work)
{
	const struct gp_thresholds *thresholds = &work->thresholds;
	struct gp_names *names = gp_names_new();
	const char **kernels;
	uint32_t count;
	int status = gp_run_set_names(&work->baseline, NULL, GP_NAMED_KERNEL, &kernels, &count);

	if (status < 0)
		status = fail(GP_CHECK_EXIT_FAILED, "no memory");
	for (uint32_t i = 0; status == 0 && i < thresholds->kernel_count; i++) {
		char *note;

		if (fits_any(&thresholds->kernels[i], names, kernels, count))
			continue;
		asprintf(&note, "thresholds: no kernel of the baseline matches /%s/",
			 thresholds->kernels[i].text);
		status = take_note(work, note);
	}
	free(kernels);
	gp_names_free(names);
	return status;
}

/* ---- outputs ---- */

typedef int write_report(FILE *out, const struct gp_check_report *report);

static int write_file(const char *path, write_report *write, const struct gp_check_report *report)
{
	struct gp_output_file file;
	char message[GP_MESSAGE_BYTES];
	int result;

	if (!path)
		return 0;
	result = gp_output_file_open(&file, path, NULL, message, sizeof(message));
	if (result == 0) {
		result = write(file.stream, report);
		result = gp_output_file_close(&file, result, message, sizeof(message));
	}
	return result == 0 ? 0 : fail(GP_CHECK_EXIT_FAILED, message);
}

static int report_all(const struct work *work)
{
	const struct gp_check_request *request = work->request;
	const struct gp_check_report report = {
		.check = &work->check,
		.baseline = &work->baseline,
		.now = &work->now,
		.names = gp_names_new(),
		.notes = work->notes,
		.note_count = work->note_count,
		.strict = request->strict,
		.all = request->all,
	};
	int status = 0;

	if (status == 0 && request->text && gp_check_report_text(request->text, &report) < 0)
		status = fail(GP_CHECK_EXIT_FAILED, "the report cannot be written");
	if (status == 0)
		status = write_file(request->markdown, gp_check_report_markdown, &report);
	if (status == 0)
		status = write_file(request->junit, gp_check_report_junit, &report);
	if (status == 0)
		status = write_file(request->json, gp_check_report_json, &report);
	gp_names_free(report.names);
	return status;
}

static int status_of(const struct work *work)
{
	switch (work->check.verdict) {
	case GP_VERDICT_REGRESSION:
		return GP_CHECK_EXIT_REGRESSION;
	case GP_VERDICT_INCONCLUSIVE:
		return work->request->strict ? GP_CHECK_EXIT_INCONCLUSIVE : 0;
	default:
		return 0;
	}
}

static int judge(struct work *work)
{
	int status;

	gp_check_judge(&work->baseline, &work->now, &work->thresholds, &work->check);
	status = report_all(work);
	if (status == 0 && work->check.runs == 0)
		status = fail(GP_CHECK_EXIT_FAILED,
			      "all runs are incomplete, so nothing was compared with the baseline");
	if (status == 0 && work->request->text && work->check.verdict == GP_VERDICT_REGRESSION)
		gp_check_next_to_regression(work->request->runs, work->request->run_count);
	return status == 0 ? status_of(work) : status;
}

static int read_inputs(struct work *work)
{
	int status = read_thresholds(work);

	return status == 0 ? read_baseline(work) : status;
}

static void close_work(struct work *work)
{
	for (uint32_t i = 0; i < work->note_count; i++)
		free(work->notes[i]);
	free(work->notes);
	gp_check_close(&work->check);
	gp_run_set_free(&work->now);
	gp_run_set_free(&work->baseline);
	gp_thresholds_close(&work->thresholds);
}

int gp_check_run(const struct gp_check_request *request)
{
	struct work work = {.request = request};
	int status = read_inputs(&work);

	if (status == 0)
		status = load_runs(&work.now, request->runs, request->run_count);
	if (status == 0)
		status = compare_machines(&work);
	if (status == 0)
		status = note_sampled(&work);
	if (status == 0)
		status = note_clocks(&work);
	if (status == 0)
		status = note_unused(&work);
	if (status == 0)
		status = judge(&work);
	close_work(&work);
	return status;
}

int gp_check_inputs(const struct gp_check_request *request)
{
	struct work work = {.request = request};
	int status = read_inputs(&work);

	close_work(&work);
	return status;
}

/* ---- baselines and thresholds ---- */

/* Compared with a partial baseline, every complete run would seem worse. */
static int refuse_partial(const struct gp_run_set *set)
{
	for (uint32_t i = 0; i < set->count; i++)
		if (set->runs[i].partial)
			return gp_command_fail(
				GP_CHECK_EXIT_FAILED,
				"check: %s is incomplete: %s; no baseline is written",
				set->runs[i].name, set->runs[i].partial);
	return 0;
}

static int write_set(const char *path, const struct gp_run_set *set,
		     int (*write)(FILE *out, const struct gp_run_set *set))
{
	struct gp_output_file file;
	char message[GP_MESSAGE_BYTES];
	int result = gp_output_file_open(&file, path, NULL, message, sizeof(message));

	if (result == 0) {
		result = write(file.stream, set);
		result = gp_output_file_close(&file, result, message, sizeof(message));
	}
	return result < 0 ? fail(GP_CHECK_EXIT_FAILED, message) : 0;
}

static int load_whole(struct gp_run_set *set, char *const *runs, size_t run_count)
{
	int status = load_runs(set, runs, run_count);

	return status == 0 ? refuse_partial(set) : status;
}

int gp_check_write_baseline(const char *path, char *const *runs, size_t run_count)
{
	struct gp_run_set set = {0};
	int status = load_whole(&set, runs, run_count);

	if (status == 0)
		status = write_set(path, &set, gp_baseline_write);
	if (status == 0 && strcmp(path, "-") != 0)
		gp_check_next_to_baseline(path, set.count);
	gp_run_set_free(&set);
	return status;
}

static int write_thresholds(FILE *out, const struct gp_run_set *set)
{
	struct gp_calibration calibration;

	gp_calibrate(out, set, &calibration);
	if (calibration.useless > 0)
		fprintf(stderr,
			"gpuprof: check: %u of %u proposed thresholds %s above %s %% and useless: the runs differ too much; the end of the file says how to reduce the noise\n",
			calibration.useless, calibration.thresholds,
			calibration.useless == 1 ? "is" : "are",
			gp_format_percent(GP_CALIBRATE_USELESS, 1).text);
	return 0;
}

int gp_check_calibrate(const char *path, char *const *runs, size_t run_count)
{
	struct gp_run_set set = {0};
	int status = load_whole(&set, runs, run_count);

	if (status == 0 && set.count < GP_CALIBRATE_RUNS) {
		gp_check_next_to_few(path, GP_CALIBRATE_RUNS);
		status = GP_CHECK_EXIT_USAGE;
	}
	if (status == 0)
		status = write_set(path, &set, write_thresholds);
	if (status == 0 && strcmp(path, "-") != 0)
		gp_check_next_to_thresholds(path, runs, run_count);
	gp_run_set_free(&set);
	return status;
}
