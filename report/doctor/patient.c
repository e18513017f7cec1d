#include "report/doctor/patient.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIAL_FOLDER "gpuprof-doctor-XXXXXX"

static bool is_in_container(void)
{
	static const char *const signs[] = {"/.dockerenv", "/run/.containerenv",
					    "/var/run/secrets/kubernetes.io", "/singularity"};

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (access(signs[i], F_OK) == 0)
			return true;
	return getenv("container") != NULL;
}

static void look_at_options(struct gp_patient *patient)
{
	char *arguments[] = {"doctor", "program", NULL};

	gp_run_options_parse(&patient->options, 2, arguments, patient->options_wrong,
			     sizeof(patient->options_wrong));
}

static void look_at_folder(struct gp_patient *patient)
{
	const char *name = patient->options.values[GP_OPTION_ID_OUTPUT];
	char absolute[GP_OUTPUT_BYTES] = "";
	struct stat status;

	if (gp_output_template(name, absolute, patient->folder_wrong,
			       sizeof(patient->folder_wrong)))
		return;
	if (stat(absolute, &status) == 0 && S_ISDIR(status.st_mode))
		snprintf(patient->folder, sizeof(patient->folder), "%s", absolute);
	else
		gp_output_folder(absolute, patient->folder);
}

/* The folder for the trial's trace: the usual one, or the session folder if that fails. */
static bool make_trial_folder(const struct gp_patient *patient, char path[PATH_MAX])
{
	const char *places[] = {patient->folder, patient->session.path};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (places[i][0] &&
		    snprintf(path, PATH_MAX, "%s/" TRIAL_FOLDER, places[i]) < PATH_MAX &&
		    mkdtemp(path))
			return true;
	return false;
}

static void try_recording(const struct gp_patient *patient, struct gp_trial *trial,
			  char *const *libraries)
{
	char folder[PATH_MAX];
	struct gp_trial_options options = {
		.folder = folder,
		.use_gpu = gp_patient_has_gpu(patient),
		.limit_s = patient->limit_s,
		.libraries = libraries,
		.rings = patient->options.values[GP_OPTION_ID_RINGS],
		.cupti = patient->options.values[GP_OPTION_ID_CUPTI],
	};

	if (patient->library_missing[0] || !make_trial_folder(patient, folder))
		return;
	gp_trial_recorded(trial, &options); /* a failed trial says so itself */
	rmdir(folder);
}

static void look_at_python(struct gp_patient *patient)
{
	char path[PATH_MAX] = "";

	if (!patient->program)
		(void)gp_target_find("python3", path);
	else if (gp_python_is_one(patient->target.file))
		memcpy(path, patient->target.file, sizeof(path));
	if (path[0])
		gp_python_ask(&patient->python, path);
}

static void look_at_program(struct gp_patient *patient)
{
	patient->program_error = gp_target_find(patient->program, patient->program_path);
	if (patient->program_error)
		return;
	gp_target_resolve(patient->program_path, &patient->target);
	if (patient->target.bar == GP_TARGET_OPEN)
		gp_libraries_list(&patient->libraries, &patient->target);
}

static void try_with_cuda(struct gp_patient *patient)
{
	char *const *of_cuda = patient->libraries.of_cuda[0] ? patient->libraries.of_cuda
							     : patient->python.libraries;

	if (of_cuda[0] && gp_patient_has_gpu(patient))
		try_recording(patient, &patient->with_cuda, of_cuda);
}

void gp_patient_examine(struct gp_patient *patient, const char *program, unsigned limit_s)
{
	memset(patient, 0, sizeof(*patient));
	patient->limit_s = limit_s;
	patient->is_container = is_in_container();
	patient->program = program;
	look_at_options(patient);
	gp_library_find(&patient->library, patient->library_missing,
			sizeof(patient->library_missing));
	patient->session_error = gp_session_open(&patient->session);
	look_at_folder(patient);
	if (program)
		look_at_program(patient);
	look_at_python(patient);
	gp_trial_plain(&patient->plain, limit_s);
	try_recording(patient, &patient->recorded, NULL);
	try_with_cuda(patient);
}

void gp_patient_free(struct gp_patient *patient)
{
	gp_session_close(&patient->session);
	gp_libraries_free(&patient->libraries);
	gp_python_free(&patient->python);
}

bool gp_patient_has_gpu(const struct gp_patient *patient)
{
	return patient->plain.is_made && patient->plain.work.code == 0;
}

bool gp_patient_needs_cuda(const struct gp_patient *patient)
{
	return gp_patient_has_gpu(patient) && patient->recorded.ops == 0 &&
	       patient->with_cuda.ops > 0;
}
