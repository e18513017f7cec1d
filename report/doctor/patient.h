/*
 * patient: what `gpuprof doctor` examines: this machine, for this user, in this folder and
 * environment, and a program where one is named.  Everything that takes time or may fail is tried
 * once, here; the checks only judge.
 */
#ifndef REPORT_DOCTOR_PATIENT_H
#define REPORT_DOCTOR_PATIENT_H

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

struct gp_patient {
	bool is_container;
	unsigned limit_s; /* of each trial */

	struct gp_run_options options; /* of the environment */
	char options_wrong[512];       /* "" = they are right */

	struct gp_library library;
	char library_missing[PATH_MAX + 128]; /* "" = it is there */

	struct gp_session session;
	int session_error;

	char folder[GP_OUTPUT_BYTES];      /* where traces go */
	char folder_wrong[PATH_MAX + 128]; /* "" = it can be written */

	struct gp_trial plain, recorded;

	/* what was named */
	const char *program;         /* NULL = none */
	int program_error;           /* of gp_target_find() */
	char program_path[PATH_MAX]; /* where it was found: a script, where the target is another */
	struct gp_target target;
	struct gp_libraries libraries;
	struct gp_python python; /* the program's, else the one in PATH */

	/*
	 * Recorded, with what the program loads of CUDA, or what the packages of that Python have
	 * of it.
	 */
	struct gp_trial with_cuda;
};

/*
 * program: as on a command line, or NULL; limit_s: the longest wait for a small program.
 * gp_patient_free() in any case.
 */
void gp_patient_examine(struct gp_patient *patient, const char *program, unsigned limit_s);
void gp_patient_free(struct gp_patient *patient);

/* The driver worked for a program that nobody profiles. */
bool gp_patient_has_gpu(const struct gp_patient *patient);

/*
 * What the GPU did was recorded only with the CUDA that the program, or Python's packages, bring
 * along.
 */
bool gp_patient_needs_cuda(const struct gp_patient *patient);

#endif
