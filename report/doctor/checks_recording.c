/* checks_recording: the path from the preloaded library to the trace. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpuprof/shell_word.h"
#include "report/doctor/checks.h"
#include "report/base/text/format.h"
#include "report/run/injection.h"

/* ---- the library ---- */

void gp_check_library(const struct gp_examination *examination, struct gp_doctor_finding *finding)
{
	const struct gp_trial *trial = &examination->recorded;
	char word[GP_SHELL_WORD_BYTES], path[PATH_MAX + 32];

	if (examination->library_missing[0]) {
		gp_doctor_finding_set(finding, GP_CHECK_FAILS, "%s", examination->library_missing);
	} else if (!trial->is_made) {
		gp_doctor_finding_set(finding, GP_CHECK_FAILS,
				      "cannot start a process that loads it");
		gp_doctor_finding_fix(finding, "df -h .; ulimit -u");
	} else if (!trial->library[0]) {
		snprintf(path, sizeof(path), "%s/" GP_LIBRARY_NAME, examination->library.folder);
		gp_doctor_finding_set(finding, GP_CHECK_FAILS, "programs do not load it: %.*s",
				      (int)strcspn(trial->said, "\n"), trial->said);
		gp_doctor_finding_fix(finding, "ldd %s", gp_shell_word(path, word, sizeof(word)));
	} else {
		gp_doctor_finding_set(finding, GP_CHECK_OK, "programs load %s", trial->library);
	}
}

/* ---- other tools ---- */

void gp_check_tools(const struct gp_examination *examination, struct gp_doctor_finding *finding)
{
	const char *cuda = gp_injection_other(getenv(GP_INJECTION_CUDA));
	const char *nvtx = gp_injection_other(getenv(GP_INJECTION_NVTX));
	char line[512];

	gp_trial_find_line(&examination->recorded, "another profiler", line, sizeof(line));
	if (cuda) {
		gp_doctor_finding_set(
			finding, GP_CHECK_FAILS,
			"the driver loads another profiler instead of gpuprof: " GP_INJECTION_CUDA
			" is %s",
			cuda);
		gp_doctor_finding_fix(finding, "unset " GP_INJECTION_CUDA);
	} else if (line[0]) {
		gp_doctor_finding_set(finding, GP_CHECK_FAILS, "%s", line);
	} else if (nvtx) {
		gp_doctor_finding_set(
			finding, GP_CHECK_WARNING,
			"another tool gets the ranges; everything else is recorded: " GP_INJECTION_NVTX
			" is %s",
			nvtx);
		gp_doctor_finding_fix(finding, "unset " GP_INJECTION_NVTX);
	} else {
		gp_doctor_finding_set(finding, GP_CHECK_OK, "no other profiler");
	}
}

void gp_check_options(const struct gp_examination *examination, struct gp_doctor_finding *finding)
{
	size_t position = 0;
	const char *unknown = gp_run_options_unknown_variable(environ, &position);
	int length = unknown ? (int)strcspn(unknown, "=") : 0;

	if (examination->options_wrong[0]) {
		gp_doctor_finding_set(
			finding, GP_CHECK_WARNING,
			"%s: gpuprof-run refuses it, and the preloaded library uses the default",
			examination->options_wrong);
		gp_doctor_finding_fix(finding, "env | grep GPUPROF_");
	} else if (unknown) {
		gp_doctor_finding_set(finding, GP_CHECK_WARNING,
				      "%.*s is not an option and is ignored", length, unknown);
		gp_doctor_finding_fix(finding, "unset %.*s", length, unknown);
	} else if (strcmp(examination->options.values[GP_OPTION_ID_TRACE], "none") == 0) {
		gp_doctor_finding_set(finding, GP_CHECK_WARNING,
				      "GPUPROF_TRACE is none: nothing will be recorded");
		gp_doctor_finding_fix(finding, "unset GPUPROF_TRACE");
	} else {
		gp_doctor_finding_set(finding, GP_CHECK_OK,
				      "the options in the environment are valid");
	}
}

/* ---- CUPTI ---- */

/* Package names by the CUDA version of the driver. */
static void fix_missing_cupti(const struct gp_examination *examination,
			      struct gp_doctor_finding *finding)
{
	unsigned long version = examination->plain.version;

	gp_doctor_finding_fix(
		finding,
		"sudo apt-get install cuda-cupti-%lu-%lu   # from NVIDIA's repository; or name a copy: gpuprof-run --cupti /path/to/libcupti.so ...",
		version / 1000, version % 1000 / 10);
}

static void report_no_cupti(const struct gp_examination *examination,
			    struct gp_doctor_finding *finding)
{
	char line[1024], *end;

	gp_trial_find_line(&examination->recorded, GP_NO_ACTIVITY, line, sizeof(line));
	end = strstr(line, GP_FIX_COMMAND);
	if (end)
		*end = '\0';
	gp_doctor_finding_set(finding, GP_CHECK_FAILS, "%s",
			      line[0] ? line : "CUPTI did not start, and gave no reason");
	if (strstr(line, "administrators"))
		gp_fix_permission(examination, finding);
	else if (strstr(line, "libcupti"))
		fix_missing_cupti(examination, finding);
}

/* Programs that load this CUPTI, or the CUDA runtime beside it, find it without an option. */
static void report_cupti_elsewhere(const struct gp_examination *examination,
				   struct gp_doctor_finding *finding)
{
	const struct gp_trial *trial = &examination->with_cuda;
	char word[GP_SHELL_WORD_BYTES];

	gp_doctor_finding_set(
		finding, GP_CHECK_WARNING,
		"only %s works (%s): programs that load CUDA from there use it; others need --cupti",
		gp_format_cupti_version(trial->cupti_version).text, trial->cupti);
	gp_doctor_finding_fix(finding, "gpuprof-run --cupti %s ...",
			      gp_shell_word(trial->cupti, word, sizeof(word)));
}

void gp_check_cupti(const struct gp_examination *examination, struct gp_doctor_finding *finding)
{
	const struct gp_trial *trial = &examination->recorded;
	unsigned long major = trial->cupti_version / 10000;
	struct gp_figure version = gp_format_cupti_version(trial->cupti_version);
	struct gp_figure driver = gp_format_cuda_version(examination->plain.version);

	if (!trial->is_made || !trial->library[0] || !gp_examination_has_gpu(examination) ||
	    gp_injection_other(getenv(GP_INJECTION_CUDA)))
		return;
	if (gp_examination_needs_cuda(examination)) {
		report_cupti_elsewhere(examination, finding);
	} else if (trial->cupti_version == 0) {
		report_no_cupti(examination, finding);
	} else if (major > examination->plain.version / 1000) {
		gp_doctor_finding_set(finding, GP_CHECK_WARNING,
				      "%s is newer than the driver, which supports CUDA %s (%s)",
				      version.text, driver.text, trial->cupti);
		fix_missing_cupti(examination, finding);
	} else {
		gp_doctor_finding_set(finding, GP_CHECK_OK, "%s (%s)", version.text, trial->cupti);
	}
}

/* ---- the whole path ---- */

static void report_no_trace(const struct gp_examination *examination,
			    struct gp_doctor_finding *finding)
{
	const struct gp_trial *trial = &examination->recorded;
	char line[1024];

	gp_trial_find_line(trial, "", line, sizeof(line));
	if (trial->timed_out)
		gp_doctor_finding_set(finding, GP_CHECK_FAILS,
				      "a small program did not end within %u s (step: %s)",
				      examination->limit_s, trial->step);
	else
		gp_doctor_finding_set(finding, GP_CHECK_FAILS,
				      "a small program was not recorded%s%s", line[0] ? ": " : "",
				      line);
}

void gp_check_recording(const struct gp_examination *examination, struct gp_doctor_finding *finding)
{
	const struct gp_trial *trial = gp_examination_needs_cuda(examination)
					       ? &examination->with_cuda
					       : &examination->recorded;

	if (!trial->is_made || !trial->library[0])
		return;
	if (!trial->has_trace)
		report_no_trace(examination, finding);
	else if (!gp_trial_ended_well(trial))
		gp_doctor_finding_set(
			finding, GP_CHECK_FAILS,
			"a small program fails with gpuprof, and works without (step: %s)",
			trial->step);
	else if (!gp_examination_has_gpu(examination))
		gp_doctor_finding_set(
			finding, GP_CHECK_OK,
			"%s of a small program was recorded; further checks need a GPU",
			trial->ranges ? "a range" : "a trace");
	else if (trial->ops == 0)
		gp_doctor_finding_set(
			finding, GP_CHECK_FAILS,
			"%s calls of a small program were recorded, but no GPU operations",
			gp_format_count(trial->calls).text);
	else
		gp_doctor_finding_set(
			finding, GP_CHECK_OK,
			"%s calls and %s GPU operation%s of a small program were recorded",
			gp_format_count(trial->calls).text, gp_format_count(trial->ops).text,
			trial->ops > 1 ? "s" : "");
}
