/*
 * checks_system: folders, limits and permissions of this process, which the programs that it starts
 * inherit.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "gpuprof/ring_file.h"
#include "gpuprof/shell_word.h"
#include "report/doctor/checks.h"
#include "report/base/text/format.h"

#define LITTLE_FOR_TRACES (100ull << 20)
/* Rings take an eighth of the free space: with less than this, each thread gets little. */
#define LITTLE_FOR_RINGS (16ull << 20)
#define TMPFS            0x01021994

static uint64_t free_bytes(const char *folder)
{
	struct statvfs status;

	return statvfs(folder, &status) == 0 ? (uint64_t)status.f_bavail * status.f_frsize : 0;
}

/* ---- traces ---- */

void gp_check_folder(const struct gp_examination *examination, struct gp_doctor_finding *finding)
{
	uint64_t left = free_bytes(examination->folder);
	struct gp_figure room = gp_format_bytes(left);
	char word[GP_SHELL_WORD_BYTES];

	if (examination->folder_wrong[0]) {
		gp_doctor_finding_set(finding, GP_CHECK_FAILS, "%s", examination->folder_wrong);
		gp_doctor_finding_fix(finding, "gpuprof-run -o /tmp/ ...   # or GPUPROF_OUTPUT");
	} else if (left < LITTLE_FOR_TRACES) {
		gp_doctor_finding_set(
			finding, GP_CHECK_WARNING,
			"%s has %s left: records that do not fit are lost, and counted",
			examination->folder, room.text);
		gp_doctor_finding_fix(finding, "df -h %s",
				      gp_shell_word(examination->folder, word, sizeof(word)));
	} else {
		gp_doctor_finding_set(finding, GP_CHECK_OK, "traces go to %s, with %s left",
				      examination->folder, room.text);
	}
}

/* ---- rings ---- */

static void fix_shm(const struct gp_examination *examination, struct gp_doctor_finding *finding)
{
	gp_doctor_finding_fix(
		finding, "%s",
		examination->is_container
			? "docker run --shm-size=1g ...   # start the container like this"
			: "sudo mount -t tmpfs -o mode=1777,size=1G tmpfs " GP_RING_FILE_FOLDER);
}

static const char *what_is_wrong_with_shm(void)
{
	struct statfs status;

	if (statfs(GP_RING_FILE_FOLDER, &status) != 0)
		return strerror(errno);
	if (status.f_type != TMPFS)
		return "it is not a tmpfs";
	if (access(GP_RING_FILE_FOLDER, W_OK | X_OK) != 0)
		return strerror(errno);
	return "no space left";
}

static void report_rings(const struct gp_examination *examination,
			 struct gp_doctor_finding *finding, const char *place, const char *meaning)
{
	gp_doctor_finding_set(finding, GP_CHECK_WARNING,
			      GP_RING_FILE_FOLDER " cannot hold rings (%s), so they are %s; %s",
			      what_is_wrong_with_shm(), place, meaning);
	fix_shm(examination, finding);
}

static bool are_in_shm(const struct gp_trial *trial)
{
	return strncmp(trial->rings, GP_RING_FILE_FOLDER "/", strlen(GP_RING_FILE_FOLDER) + 1) == 0;
}

void gp_check_rings(const struct gp_examination *examination, struct gp_doctor_finding *finding)
{
	const struct gp_trial *trial = &examination->recorded;
	const char *wanted = examination->options.values[GP_OPTION_ID_RINGS];
	uint64_t left = free_bytes(GP_RING_FILE_FOLDER);

	if (!trial->has_trace)
		return;
	if (strcmp(wanted, "file") == 0 || strcmp(wanted, "memory") == 0) {
		gp_doctor_finding_set(finding, GP_CHECK_OK, "%s, as GPUPROF_RINGS says", wanted);
	} else if (!trial->rings[0]) {
		report_rings(examination, finding, "in the program's own memory",
			     "the last records of a killed program are lost");
	} else if (!are_in_shm(trial)) {
		report_rings(examination, finding, "files beside the trace",
			     "nothing is lost, but the disk has more to write");
	} else if (left < LITTLE_FOR_RINGS) {
		gp_doctor_finding_set(
			finding, GP_CHECK_WARNING,
			GP_RING_FILE_FOLDER
			" has %s left: busy threads may lose records, which are counted",
			gp_format_bytes(left).text);
		fix_shm(examination, finding);
	} else {
		gp_doctor_finding_set(finding, GP_CHECK_OK,
				      "in " GP_RING_FILE_FOLDER ", with %s left",
				      gp_format_bytes(left).text);
	}
}

void gp_check_session(const struct gp_examination *examination, struct gp_doctor_finding *finding)
{
	if (examination->session_error) {
		gp_doctor_finding_set(
			finding, GP_CHECK_FAILS,
			"gpuprof-run cannot make a folder in $XDG_RUNTIME_DIR, $TMPDIR, /tmp or /dev/shm: %s",
			strerror(-examination->session_error));
		gp_doctor_finding_fix(finding, "export TMPDIR=$HOME");
	} else {
		gp_doctor_finding_set(finding, GP_CHECK_OK, "%s", examination->session.path);
	}
}

/* ---- limits ---- */

void gp_check_limits(const struct gp_examination *examination, struct gp_doctor_finding *finding)
{
	struct rlimit addresses, file;

	(void)examination;
	if (getrlimit(RLIMIT_AS, &addresses) || getrlimit(RLIMIT_FSIZE, &file))
		return;
	if (file.rlim_cur != RLIM_INFINITY) {
		gp_doctor_finding_set(finding, GP_CHECK_WARNING,
				      "files are limited to %s: traces end there",
				      gp_format_bytes(file.rlim_cur).text);
		gp_doctor_finding_fix(finding, "ulimit -f unlimited");
	} else if (addresses.rlim_cur != RLIM_INFINITY) {
		gp_doctor_finding_set(
			finding, GP_CHECK_WARNING,
			"the address space of a process is limited to %s: GPU programs and gpuprof need more",
			gp_format_bytes(addresses.rlim_cur).text);
		gp_doctor_finding_fix(finding, "ulimit -v unlimited");
	} else {
		gp_doctor_finding_set(finding, GP_CHECK_OK, "none on file size or address space");
	}
}

/* ---- permissions ---- */

/*
 * Reads the value after `name` at the beginning of a line of a /proc file. Returns false if there
 * is none.
 */
static bool read_value(const char *path, const char *name, char *value, size_t bytes)
{
	FILE *file = fopen(path, "re");
	char line[512];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		found = strncmp(line, name, strlen(name)) == 0;
		if (found)
			snprintf(value, bytes, "%.*s", (int)strcspn(line + strlen(name), "\n"),
				 line + strlen(name));
	}
	if (file)
		fclose(file);
	return found;
}

/* Whether the process has CAP_SYS_ADMIN or CAP_PERFMON. */
static bool may_read_counters(void)
{
	char value[64];

	if (!read_value("/proc/self/status", "CapEff:", value, sizeof(value)))
		return false;
	return (strtoull(value, NULL, 16) & (1ull << 21 | 1ull << 38)) != 0;
}

void gp_fix_permission(const struct gp_examination *examination, struct gp_doctor_finding *finding)
{
	gp_doctor_finding_fix(
		finding, "%s",
		examination->is_container
			? "docker run --cap-add=SYS_ADMIN ...   # start the container like this"
			: "echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 | sudo tee /etc/modprobe.d/gpuprof.conf && sudo update-initramfs -u && sudo reboot");
}

void gp_check_counters(const struct gp_examination *examination, struct gp_doctor_finding *finding)
{
	char value[64];

	if (gp_examination_forbids_counters(examination)) {
		gp_doctor_finding_set(
			finding, GP_CHECK_WARNING,
			"only administrators may read hardware counters: --hw-timeline, --stalls, --counters and --roofline have no values; gpuprof records all else");
		gp_fix_permission(examination, finding);
		return;
	}
	if (!read_value("/proc/driver/nvidia/params", "RmProfilingAdminOnly:", value,
			sizeof(value)))
		return;
	if (strtol(value, NULL, 10) == 0) {
		gp_doctor_finding_set(finding, GP_CHECK_OK,
				      "every user may read hardware counters");
	} else if (may_read_counters()) {
		gp_doctor_finding_set(
			finding, GP_CHECK_OK,
			"only administrators may read hardware counters, and you are one");
	} else {
		gp_doctor_finding_set(
			finding, GP_CHECK_WARNING,
			"only administrators may read hardware counters; gpuprof records without them");
		gp_fix_permission(examination, finding);
	}
}

void gp_check_ptrace(const struct gp_examination *examination, struct gp_doctor_finding *finding)
{
	static const char *const meanings[] = {
		"debuggers may attach to all your processes",
		"debuggers may attach to their own children",
		"only debuggers of administrators may attach",
		"no debugger may attach",
	};
	char value[16] = "0";
	long scope;

	(void)examination;
	read_value("/proc/sys/kernel/yama/ptrace_scope", "", value, sizeof(value));
	scope = strtol(value, NULL, 10);
	gp_doctor_finding_set(finding, GP_CHECK_OK, "not needed by gpuprof (%s here)",
			      scope >= 0 && scope < 4 ? meanings[scope] : "it is restricted");
}

void gp_check_seccomp(const struct gp_examination *examination, struct gp_doctor_finding *finding)
{
	char value[16] = "";

	if (!read_value("/proc/self/status", "Seccomp:", value, sizeof(value)))
		return;
	if (strtol(value, NULL, 10) == 0)
		gp_doctor_finding_set(finding, GP_CHECK_OK, "no system call is blocked");
	else
		gp_doctor_finding_set(
			finding, GP_CHECK_OK, "a filter blocks some system calls%s",
			examination->recorded.has_trace ? ", but none that recording needs" : "");
}
