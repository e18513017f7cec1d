/*
 * examination: what `gpuprof doctor` examines: this machine, for this user, in this folder and
 * environment, and the named program, if any. Everything that takes time or may fail is done once,
 * here; the checks only judge the results.
 */
#ifndef REPORT_DOCTOR_EXAMINATION_H
#define REPORT_DOCTOR_EXAMINATION_H

#include <limits.h>
#include <stdbool.h>

#include "report/doctor/libraries.h"
#include "report/doctor/python.h"
#include "report/doctor/trial.h"
#include "report/run/library.h"
#include "report/run/options.h"
#include "report/run/output.h"
#include "report/finish/session.h"
#include "report/run/target.h"

/* Options whose effect is tried out. */
enum gp_hardware_trial {
	GP_HARDWARE_TIMELINE, /* --hw-timeline, and --energy */
	GP_HARDWARE_STALLS,   /* --stalls */
	GP_HARDWARE_COUNTERS, /* --counters */
	GP_HARDWARE_TRIALS
};

struct gp_examination {
	bool is_container;
	unsigned limit_s; /* for each trial */

	struct gp_run_options options; /* from the environment */
	char options_wrong[512];       /* "" = they are valid */

	struct gp_library library;
	char library_missing[PATH_MAX + 128]; /* "" = it was found */

	struct gp_session session;
	int session_error;

	char folder[GP_OUTPUT_BYTES];      /* for traces */
	char folder_wrong[PATH_MAX + 128]; /* "" = it is writable */

	struct gp_trial plain, recorded;

	/* the named program */
	const char *program;         /* NULL = none */
	int program_error;           /* from gp_target_find() */
	char program_path[PATH_MAX]; /* its file: for a script, target.file is the interpreter */
	struct gp_target target;
	struct gp_libraries libraries;
	struct gp_python python; /* the program's interpreter, or the one in PATH */

	/*
	 * Recorded with the CUDA libraries that the program loads, or that the packages of that
	 * Python have.
	 */
	struct gp_trial with_cuda;

	/*
	 * Recorded with these options, if recording works. If the driver forbids the first, the
	 * others are not run.
	 */
	struct gp_trial hardware[GP_HARDWARE_TRIALS];
};

/*
 * program: as on a command line, or NULL. limit_s: longest wait for the small program. Call
 * gp_examination_free() in any case.
 */
void gp_examination_run(struct gp_examination *examination, const char *program, unsigned limit_s);
void gp_examination_free(struct gp_examination *examination);

/* Whether the driver works without a profiler. */
bool gp_examination_has_gpu(const struct gp_examination *examination);

/*
 * Whether GPU activity was recorded only with the CUDA libraries of the program or of Python's
 * packages.
 */
bool gp_examination_needs_cuda(const struct gp_examination *examination);

/* Whether the driver lets only administrators read counters, as the first trial found. */
bool gp_examination_forbids_counters(const struct gp_examination *examination);

#endif
