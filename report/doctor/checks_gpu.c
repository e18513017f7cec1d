/* checks_gpu: the driver and the GPU, as a program without a profiler sees them. */
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpuprof/shell_word.h"
#include "report/doctor/checks.h"
#include "report/base/text/format.h"

/* Of CUDA 11.8: an older CUPTI crashes programs. */
#define OLDEST_DRIVER 11080u
#define STUB_LIBRARY  34 /* CUDA_ERROR_STUB_LIBRARY */

static bool is_step(const struct gp_examination *examination, const char *const *steps)
{
	for (; *steps; steps++)
		if (strcmp(examination->plain.step, *steps) == 0)
			return true;
	return false;
}

/* ---- missing driver ---- */

static const char *find_driver_elsewhere(void)
{
	static const char *const folders[] = {
		"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
		"/usr/local/nvidia/lib64",   "/usr/local/nvidia/lib",      "/usr/lib/wsl/lib",
		"/run/opengl-driver/lib",
	};
	char path[128];

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/libcuda.so.1", folders[i]);
		if (access(path, R_OK) == 0)
			return folders[i];
	}
	return NULL;
}

static void report_missing(const struct gp_examination *examination,
			   struct gp_doctor_finding *finding)
{
	const char *elsewhere = find_driver_elsewhere();
	const char *found = getenv("LD_LIBRARY_PATH");

	gp_doctor_finding_set(finding, GP_CHECK_FAILS,
			      "no CUDA driver found, so programs cannot use a GPU here (%s)",
			      examination->plain.driver_error);
	if (elsewhere)
		gp_doctor_finding_fix(finding, "export LD_LIBRARY_PATH=%s%s%s", elsewhere,
				      found && *found ? ":" : "", found ? found : "");
	else if (examination->is_container)
		gp_doctor_finding_fix(
			finding,
			"docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility ...   # start the container like this");
	else if (access("/proc/driver/nvidia/version", F_OK) == 0)
		gp_doctor_finding_fix(finding, "sudo ldconfig");
	else
		gp_doctor_finding_fix(
			finding,
			"lspci | grep -i nvidia   # if there is a GPU, install its driver: https://www.nvidia.com/drivers");
}

/* ---- the toolkit's stub library, which is for linking only ---- */

static bool is_stub(const struct gp_trial *trial)
{
	return trial->init.code == STUB_LIBRARY || strstr(trial->driver, "/stubs/") != NULL;
}

/* Lists the folders of LD_LIBRARY_PATH that do not have that file. */
static void list_other_folders(const char *file, char *list, size_t bytes)
{
	const char *folders = getenv("LD_LIBRARY_PATH");
	char *copy = folders ? strdup(folders) : NULL, *save;
	size_t used = 0;

	list[0] = 0;
	for (char *folder = copy ? strtok_r(copy, ":", &save) : NULL; folder;
	     folder = strtok_r(NULL, ":", &save)) {
		char path[PATH_MAX];
		char *real;

		snprintf(path, sizeof(path), "%s/libcuda.so.1", folder);
		real = realpath(path, NULL);
		if ((!real || strcmp(real, file) != 0) && used < bytes)
			used += (size_t)snprintf(list + used, bytes - used, "%s%s", used ? ":" : "",
						 folder);
		free(real);
	}
	free(copy);
}

static void fix_without(const struct gp_examination *examination, struct gp_doctor_finding *finding)
{
	char list[768];

	list_other_folders(examination->plain.driver, list, sizeof(list));
	if (!getenv("LD_LIBRARY_PATH"))
		gp_doctor_finding_fix(
			finding, "ldconfig -p | grep libcuda.so.1   # remove the stub from there");
	else if (list[0])
		gp_doctor_finding_fix(finding, "export LD_LIBRARY_PATH=%s", list);
	else
		gp_doctor_finding_fix(finding, "unset LD_LIBRARY_PATH");
}

static void report_stub(const struct gp_examination *examination, struct gp_doctor_finding *finding)
{
	gp_doctor_finding_set(
		finding, GP_CHECK_FAILS,
		"the loader finds the stub library of the CUDA Toolkit (for linking only) in place of the driver (%s)",
		examination->plain.driver);
	fix_without(examination, finding);
}

/* ---- crashes and hangs ---- */

static void report_no_answer(const struct gp_examination *examination,
			     struct gp_doctor_finding *finding, const char *what)
{
	const struct gp_trial *trial = &examination->plain;

	if (trial->timed_out)
		gp_doctor_finding_set(finding, GP_CHECK_FAILS,
				      "%s did not return within %u s, without gpuprof (step: %s)",
				      what, examination->limit_s, trial->step);
	else if (WIFSIGNALED(trial->status))
		gp_doctor_finding_set(finding, GP_CHECK_FAILS,
				      "%s crashed with %s, without gpuprof (step: %s)", what,
				      strsignal(WTERMSIG(trial->status)), trial->step);
	else
		gp_doctor_finding_set(finding, GP_CHECK_FAILS,
				      "%s ended the process, without gpuprof (step: %s)", what,
				      trial->step);
	gp_doctor_finding_fix(finding, "nvidia-smi; sudo dmesg | grep -i -e nvrm -e xid | tail");
}

void gp_check_driver(const struct gp_examination *examination, struct gp_doctor_finding *finding)
{
	static const char *const steps[] = {"", "load", "range", "open", "version", "init", NULL};
	const struct gp_trial *trial = &examination->plain;

	if (!trial->is_made) {
		gp_doctor_finding_set(finding, GP_CHECK_FAILS,
				      "cannot start a process to look for it");
		gp_doctor_finding_fix(finding, "ulimit -u unlimited");
	} else if (trial->driver_error[0]) {
		report_missing(examination, finding);
	} else if (is_stub(trial)) {
		report_stub(examination, finding);
	} else if (is_step(examination, steps) && !trial->driver[0]) {
		report_no_answer(examination, finding, "loading the driver");
	} else if (is_step(examination, steps) && trial->init.code == GP_TRIAL_RESULT_NONE) {
		report_no_answer(examination, finding, "the driver");
	} else if (trial->version < OLDEST_DRIVER) {
		gp_doctor_finding_set(finding, GP_CHECK_WARNING,
				      "for CUDA %s; gpuprof supports 11.8 and later (%s)",
				      gp_format_cuda_version(trial->version).text, trial->driver);
		gp_doctor_finding_fix(
			finding,
			"nvidia-smi   # install a newer one: https://www.nvidia.com/drivers");
	} else {
		gp_doctor_finding_set(finding, GP_CHECK_OK, "for CUDA %s (%s)",
				      gp_format_cuda_version(trial->version).text, trial->driver);
	}
}

/* ---- the GPU ---- */

/* Numbers of CUresult. */
static const struct known_error {
	int code;
	const char *text;
	const char *fix;
} known_errors[] = {
	{2, "the GPU has no memory left for a context",
	 "nvidia-smi   # shows the processes that use it"},
	{46, "every GPU is in use by another process in exclusive mode",
	 "sudo nvidia-smi --compute-mode=DEFAULT"},
	{101, "CUDA_VISIBLE_DEVICES names a GPU that does not exist", "unset CUDA_VISIBLE_DEVICES"},
	{802, "the GPUs are not ready: the fabric manager of their NVSwitches is not running",
	 "sudo systemctl start nvidia-fabricmanager"},
	{803, "the versions of the driver library and of its kernel module differ", "sudo reboot"},
	{804,
	 "this GPU does not support the forward-compatibility library (cuda-compat) that is loaded",
	 NULL /* remove it */},
	{999, "the driver does not start: often a kernel module is not loaded (nvidia_uvm)",
	 "sudo nvidia-modprobe -u -c=0"},
};

static const struct known_error *find_known(int code)
{
	for (size_t i = 0; i < sizeof(known_errors) / sizeof(known_errors[0]); i++)
		if (known_errors[i].code == code)
			return &known_errors[i];
	return NULL;
}

static void report_no_gpu(const struct gp_examination *examination,
			  struct gp_doctor_finding *finding)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");

	if (visible) {
		gp_doctor_finding_set(finding, GP_CHECK_FAILS,
				      "the driver finds no GPU: CUDA_VISIBLE_DEVICES is '%s'",
				      visible);
		gp_doctor_finding_fix(finding, "unset CUDA_VISIBLE_DEVICES");
	} else if (access("/dev/nvidiactl", F_OK) == 0 && access("/dev/nvidiactl", R_OK | W_OK)) {
		gp_doctor_finding_set(
			finding, GP_CHECK_FAILS,
			"the driver finds no GPU: you have no permission for /dev/nvidiactl");
		gp_doctor_finding_fix(finding,
				      "ls -l /dev/nvidia*; id   # shows the group that has it");
	} else {
		gp_doctor_finding_set(finding, GP_CHECK_FAILS, "the driver finds no GPU");
		gp_doctor_finding_fix(
			finding, "%s",
			examination->is_container
				? "docker run --gpus all ...   # start the container like this"
				: "nvidia-smi; lspci | grep -i nvidia");
	}
}

static void report_error(const struct gp_examination *examination,
			 struct gp_doctor_finding *finding, const char *what,
			 const struct gp_trial_result *result)
{
	const struct known_error *known = find_known(result->code);

	gp_doctor_finding_set(finding, GP_CHECK_FAILS, "%s (%s: %s, %d)",
			      known ? known->text
				    : "programs cannot use the GPU, even without gpuprof",
			      what, result->name, result->code);
	if (known && !known->fix)
		fix_without(examination, finding);
	else
		gp_doctor_finding_fix(finding, "%s", known ? known->fix : "nvidia-smi");
}

static bool is_error(const struct gp_trial_result *result)
{
	return result->code != 0 && result->code != GP_TRIAL_RESULT_NONE;
}

static bool has_none(const struct gp_trial *trial)
{
	return trial->init.code == 100 || (trial->count.code == 0 && trial->devices == 0);
}

void gp_check_gpu(const struct gp_examination *examination, struct gp_doctor_finding *finding)
{
	const struct gp_trial *trial = &examination->plain;

	if (!trial->is_made || trial->init.code == GP_TRIAL_RESULT_NONE || is_stub(trial))
		return;
	if (has_none(trial))
		report_no_gpu(examination, finding);
	else if (is_error(&trial->init))
		report_error(examination, finding, "cuInit", &trial->init);
	else if (!gp_trial_ended_well(trial))
		report_no_answer(examination, finding, "the GPU");
	else if (is_error(&trial->count))
		report_error(examination, finding, "cuDeviceGetCount", &trial->count);
	else if (is_error(&trial->context))
		report_error(examination, finding, "cuDevicePrimaryCtxRetain", &trial->context);
	else if (trial->work.code != 0)
		report_error(examination, finding, "cuMemsetD8", &trial->work);
	else
		gp_doctor_finding_set(finding, GP_CHECK_OK, "%s%s; a memset worked", trial->device,
				      trial->devices > 1 ? ", and others" : "");
}

/* Without a GPU users can try gpuprof on the simulated device, if it was built. */
bool gp_check_offers_simulator(const struct gp_examination *examination)
{
	const struct gp_trial *trial = &examination->plain;
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/sim/libcuda.so.1", examination->library.folder);
	return trial->is_made && (trial->driver_error[0] || has_none(trial)) &&
	       access(path, R_OK) == 0;
}

void gp_check_simulator(const struct gp_examination *examination, struct gp_doctor_finding *finding)
{
	char folder[PATH_MAX + 8], word[GP_SHELL_WORD_BYTES];

	if (!gp_check_offers_simulator(examination))
		return;
	snprintf(folder, sizeof(folder), "%s/sim", examination->library.folder);
	gp_doctor_finding_set(
		finding, GP_CHECK_OK,
		"without a GPU, programs run on a simulated device; their kernels do nothing");
	gp_doctor_finding_fix(finding, "LD_LIBRARY_PATH=%s gpuprof-run ./app",
			      gp_shell_word(folder, word, sizeof(word)));
}
