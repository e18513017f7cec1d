#include "report/doctor/examination.h"

#include <errno.h>
#include <fcntl.h>
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

static void look_at_options(struct gp_examination *examination)
{
	char *arguments[] = {"doctor", "program", NULL};

	gp_run_options_parse(&examination->options, 2, arguments, examination->options_wrong,
			     sizeof(examination->options_wrong));
}

static void look_at_folder(struct gp_examination *examination)
{
	const char *name = examination->options.values[GP_OPTION_ID_OUTPUT];
	char absolute[GP_OUTPUT_BYTES] = "";
	struct stat status;

	if (gp_output_template(name, absolute, examination->folder_wrong,
			       sizeof(examination->folder_wrong)))
		return;
	if (stat(absolute, &status) == 0 && S_ISDIR(status.st_mode))
		snprintf(examination->folder, sizeof(examination->folder), "%s", absolute);
	else
		gp_output_folder(absolute, examination->folder);
}

/* The folder for the trial's trace: the usual one, or the session folder if that fails. */
static bool make_trial_folder(const struct gp_examination *examination, char path[PATH_MAX])
{
	const char *places[] = {examination->folder, examination->session.path};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (places[i][0] &&
		    snprintf(path, PATH_MAX, "%s/" TRIAL_FOLDER, places[i]) < PATH_MAX &&
		    mkdtemp(path))
			return true;
	return false;
}

/* arguments: more options of gpuprof run, for which the probe launches kernels; NULL = none */
static void try_recording(const struct gp_examination *examination, struct gp_trial *trial,
			  char *const *libraries, char *const *arguments)
{
	char folder[PATH_MAX];
	struct gp_trial_options options = {
		.folder = folder,
		.folder_fd = -1,
		.probe = arguments                             ? GP_PROBE_KERNELS
			 : gp_examination_has_gpu(examination) ? GP_PROBE_GPU
							       : GP_PROBE_RANGES,
		.arguments = arguments,
		.limit_s = examination->limit_s,
		.libraries = libraries,
		.rings = examination->options.values[GP_OPTION_ID_RINGS],
		.cupti = examination->options.values[GP_OPTION_ID_CUPTI],
	};

	if (examination->library_missing[0] || !make_trial_folder(examination, folder))
		return;
	options.folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	gp_trial_recorded(trial, &options); /* a failed trial says so itself */
	rmdir(folder);
	if (options.folder_fd >= 0)
		close(options.folder_fd);
}

static void look_at_python(struct gp_examination *examination)
{
	char path[PATH_MAX] = "";

	if (!examination->program)
		(void)gp_target_find("python3", path);
	else if (gp_python_is_one(examination->target.file))
		memcpy(path, examination->target.file, sizeof(path));
	if (path[0])
		gp_python_ask(&examination->python, path);
}

static void look_at_program(struct gp_examination *examination)
{
	examination->program_error =
		gp_target_find(examination->program, examination->program_path);
	if (examination->program_error)
		return;
	gp_target_resolve(examination->program_path, &examination->target);
	if (examination->target.bar == GP_TARGET_OPEN)
		gp_libraries_list(&examination->libraries, &examination->target);
}

static char *const *libraries_of_cuda(struct gp_examination *examination)
{
	return examination->libraries.of_cuda[0] ? examination->libraries.of_cuda
						 : examination->python.libraries;
}

static void try_with_cuda(struct gp_examination *examination)
{
	char *const *of_cuda = libraries_of_cuda(examination);

	if (of_cuda[0] && gp_examination_has_gpu(examination))
		try_recording(examination, &examination->with_cuda, of_cuda, NULL);
}

/* One after the other: each reads the same counters of the GPU. */
static void try_hardware(struct gp_examination *examination)
{
	static char *const options[GP_HARDWARE_TRIALS][3] = {
		[GP_HARDWARE_TIMELINE] = {"--hw-timeline", "--energy"},
		[GP_HARDWARE_STALLS] = {"--stalls"},
		[GP_HARDWARE_COUNTERS] = {"--counters=gpu__time_duration.sum",
					  "--counters-interval=0"},
	};
	char *const *libraries =
		gp_examination_needs_cuda(examination) ? libraries_of_cuda(examination) : NULL;

	if (!libraries && examination->recorded.ops == 0)
		return;
	for (size_t i = 0; i < GP_HARDWARE_TRIALS; i++)
		if (!gp_examination_forbids_counters(examination))
			try_recording(examination, &examination->hardware[i], libraries,
				      options[i]);
}

void gp_examination_run(struct gp_examination *examination, const char *program, unsigned limit_s)
{
	memset(examination, 0, sizeof(*examination));
	examination->limit_s = limit_s;
	examination->is_container = is_in_container();
	examination->program = program;
	look_at_options(examination);
	gp_library_find(&examination->library, examination->library_missing,
			sizeof(examination->library_missing));
	examination->session_error = gp_session_open(&examination->session);
	look_at_folder(examination);
	if (program)
		look_at_program(examination);
	look_at_python(examination);
	gp_trial_plain(&examination->plain, limit_s);
	try_recording(examination, &examination->recorded, NULL, NULL);
	try_with_cuda(examination);
	try_hardware(examination);
}

void gp_examination_free(struct gp_examination *examination)
{
	gp_session_close(&examination->session);
	gp_libraries_free(&examination->libraries);
	gp_python_free(&examination->python);
}

bool gp_examination_has_gpu(const struct gp_examination *examination)
{
	return examination->plain.is_made && examination->plain.work.code == 0;
}

bool gp_examination_needs_cuda(const struct gp_examination *examination)
{
	return gp_examination_has_gpu(examination) && examination->recorded.ops == 0 &&
	       examination->with_cuda.ops > 0;
}

bool gp_examination_forbids_counters(const struct gp_examination *examination)
{
	char line[1024];

	gp_trial_find_line(&examination->hardware[GP_HARDWARE_TIMELINE],
			   "only administrators read performance counters", line, sizeof(line));
	return line[0] != '\0';
}
