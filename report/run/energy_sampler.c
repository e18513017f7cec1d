#include "report/run/energy_sampler.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gpuprof/count.h"
#include "gpuprof/option.h"
#include "report/base/io.h"
#include "report/base/monotonic.h"
#include "report/base/worker_process.h"
#include "report/model/nvml.h"

#define MOST_GPUS   32u
#define MOST_TICKS  36000u /* an hour; then the interval doubles */
#define PATIENCE_MS 2000
#define SM_CLOCK    1    /* nvmlClockType_t */
#define FIELD_POWER 186u /* NVML_FI_DEV_POWER_INSTANT, without the mean over a second */

/* The exit status of the process. */
enum end {
	FINE,
	NO_LIBRARY,
	OLD_LIBRARY,
	NO_START,
	NO_PERMISSION,
	NO_ENERGY,
	NO_MEMORY,
	NO_PROCESS,
	CRASHED,
	ENDS, /* none: it was killed, as NVML did not answer */
};

static const char *const reasons[] = {
	[NO_LIBRARY] =
		"libnvidia-ml.so.1 cannot be loaded; it comes with the driver (in containers: NVIDIA_DRIVER_CAPABILITIES must contain utility)",
	[OLD_LIBRARY] = "libnvidia-ml.so.1 of this driver is too old",
	[NO_START] = "NVML cannot be initialized; nvidia-smi shows why",
	[NO_PERMISSION] = "NVML does not permit it",
	[NO_ENERGY] = "NVML tells neither power nor energy of this GPU",
	[NO_MEMORY] = "there is no memory for samples",
	[NO_PROCESS] = "the process for it cannot be started",
	[CRASHED] = "NVML crashed",
	[ENDS] = "NVML does not answer",
};

/* ---- NVML ---- */

static struct {
	bool is_open;
	int (*handle_of)(const char *uuid, void **device);
	int (*energy)(void *device, unsigned long long *millijoules);
	int (*power)(void *device, unsigned int *milliwatts);
	int (*fields)(void *device, int count, struct gp_nvml_field *values);
	int (*clock)(void *device, int type, unsigned int *mhz);
	int (*reasons)(void *device, unsigned long long *bits);
	int (*old_reasons)(void *device, unsigned long long *bits); /* before driver 535 */
} nvml;

static enum end end_of_error(int error, enum end other)
{
	return error == GP_NVML_NO_PERMISSION ? NO_PERMISSION
	       : error == -ENOENT             ? NO_LIBRARY
	       : error == -ENOSYS             ? OLD_LIBRARY
					      : other;
}

static enum end open_library(void)
{
	static const struct gp_nvml_function functions[] = {
		{&nvml.handle_of, "nvmlDeviceGetHandleByUUID", false},
		{&nvml.power, "nvmlDeviceGetPowerUsage", false},
		{&nvml.energy, "nvmlDeviceGetTotalEnergyConsumption", true},
		{&nvml.fields, "nvmlDeviceGetFieldValues", true},
		{&nvml.clock, "nvmlDeviceGetClockInfo", true},
		{&nvml.reasons, "nvmlDeviceGetCurrentClocksEventReasons", true},
		{&nvml.old_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons", true},
	};
	int error = nvml.is_open ? 0 : gp_nvml_open(functions, COUNT(functions));

	if (!nvml.reasons)
		nvml.reasons = nvml.old_reasons;
	nvml.is_open = error == 0;
	return error == 0 ? FINE : end_of_error(error, NO_START);
}

/* ---- samples ---- */

struct gpu {
	struct gp_energy_entry last;
	void *handle;
	enum end end; /* FINE: it is sampled */
};

struct sampling {
	const struct gp_session *session;
	int samples;
	struct gpu gpus[MOST_GPUS];
	uint32_t gpu_count;
};

/* Returns an error of NVML. */
static int read_power(const struct gpu *gpu, uint32_t *power_mw)
{
	struct gp_nvml_field field = {.field = FIELD_POWER};

	if (nvml.fields && nvml.fields(gpu->handle, 1, &field) == 0 && field.result == 0 &&
	    field.type == GP_NVML_IS_UNSIGNED) {
		*power_mw = field.value.whole;
		return 0;
	}
	return nvml.power(gpu->handle, power_mw);
}

/* Returns false if the GPU does not count its energy. */
static bool read_energy(const struct gpu *gpu, uint64_t *energy_mj)
{
	unsigned long long value;

	if (!nvml.energy || nvml.energy(gpu->handle, &value) != 0)
		return false;
	*energy_mj = value;
	return true;
}

static void add_up_power(struct gp_record_energy *now, const struct gp_record_energy *before)
{
	uint64_t passed_ns =
		before->monotonic_ns == 0 ? 0 : now->monotonic_ns - before->monotonic_ns;

	now->flags = GP_ENERGY_FROM_POWER;
	now->energy_mj =
		before->energy_mj + (uint64_t)((double)now->power_mw * (double)passed_ns / 1e9);
}

static void read_clock(const struct gpu *gpu, struct gp_record_energy *now)
{
	unsigned long long reason_bits = 0;
	unsigned int clock_mhz = 0;

	if (nvml.clock && nvml.clock(gpu->handle, SM_CLOCK, &clock_mhz) == 0)
		now->clock_mhz = (uint16_t)clock_mhz;
	if (nvml.reasons && nvml.reasons(gpu->handle, &reason_bits) == 0)
		now->reasons = (uint32_t)reason_bits;
}

static enum end sample(const struct sampling *s, struct gpu *gpu)
{
	struct gp_record_energy now = {.kind = GP_RECORD_ENERGY, .slots = 1};
	int error = read_power(gpu, &now.power_mw);
	bool is_counted = read_energy(gpu, &now.energy_mj);

	now.monotonic_ns = gp_monotonic_ns();
	if (error != 0 && !is_counted)
		return end_of_error(error, NO_ENERGY);
	if (!is_counted)
		add_up_power(&now, &gpu->last.record);
	read_clock(gpu, &now);
	gpu->last.record = now;
	return gp_write_all(s->samples, &gpu->last, sizeof(gpu->last)) == 0 ? FINE : NO_MEMORY;
}

static void sample_all(struct sampling *s)
{
	for (uint32_t i = 0; i < s->gpu_count; i++)
		if (s->gpus[i].end == FINE)
			s->gpus[i].end = sample(s, &s->gpus[i]);
}

/* ---- the GPUs of the session ---- */

static bool read_uuid(const char *name, uint8_t uuid[16])
{
	const size_t prefix = sizeof(GP_SESSION_DEVICE) - 1;

	if (strncmp(name, GP_SESSION_DEVICE, prefix) != 0 || strlen(name) != prefix + 32)
		return false;
	for (size_t i = 0; i < 16; i++)
		if (sscanf(name + prefix + 2 * i, "%2hhx", &uuid[i]) != 1)
			return false;
	return true;
}

static enum end open_gpu(struct gpu *gpu)
{
	char text[GP_NVML_UUID_BYTES];
	enum end end = open_library();
	int error;

	if (end != FINE)
		return end;
	gp_nvml_write_uuid(text, gpu->last.uuid);
	error = nvml.handle_of(text, &gpu->handle);
	return error == 0 ? FINE : end_of_error(error, NO_ENERGY);
}

static void add_gpu(struct sampling *s, const uint8_t uuid[16])
{
	struct gpu *gpu = &s->gpus[s->gpu_count];

	for (uint32_t i = 0; i < s->gpu_count; i++)
		if (memcmp(s->gpus[i].last.uuid, uuid, 16) == 0)
			return;
	if (s->gpu_count == MOST_GPUS)
		return;
	s->gpu_count++;
	memcpy(gpu->last.uuid, uuid, 16);
	gpu->end = open_gpu(gpu);
}

static void find_gpus(struct sampling *s)
{
	DIR *folder = opendir(s->session->path);
	struct dirent *entry;
	uint8_t uuid[16];

	while (folder && (entry = readdir(folder)))
		if (read_uuid(entry->d_name, uuid))
			add_gpu(s, uuid);
	if (folder)
		closedir(folder);
}

/* ---- the process ---- */

/* Returns true once the launcher wants no more. */
static bool is_over(int line, uint64_t until_ns)
{
	struct pollfd wait = {.fd = line, .events = POLLIN};
	uint64_t now_ns = gp_monotonic_ns(), rest_ns = until_ns > now_ns ? until_ns - now_ns : 0;
	const struct timespec rest = {(time_t)(rest_ns / 1000000000), (long)(rest_ns % 1000000000)};

	return ppoll(&wait, 1, &rest, NULL) > 0;
}

static enum end sample_until_over(struct sampling *s, int line, uint64_t interval_ns)
{
	uint64_t due_ns = gp_monotonic_ns();
	enum end end = FINE;
	bool is_last;

	for (uint32_t ticks = 1; true; ticks++) {
		is_last = is_over(line, due_ns);
		find_gpus(s);
		sample_all(s);
		if (is_last)
			break;
		if (ticks % MOST_TICKS == 0)
			interval_ns *= 2;
		due_ns += interval_ns;
		if (due_ns < gp_monotonic_ns()) /* NVML was slow, or this process was stopped */
			due_ns = gp_monotonic_ns();
	}
	for (uint32_t i = 0; i < s->gpu_count; i++)
		end = s->gpus[i].end != FINE ? s->gpus[i].end : end;
	return end;
}

_Noreturn static void be_sampler(const struct gp_session *session, int line, int samples,
				 uint64_t interval_ns, pid_t launcher)
{
	struct sampling sampling = {.session = session, .samples = GP_CHILD_FILE + 1};

	prctl(PR_SET_NAME, "energy"); /* a search for "gpuprof" does not find it */
	if (!gp_isolate_child(launcher, line, samples))
		_exit(NO_START);
	_exit((int)sample_until_over(&sampling, GP_CHILD_FILE, interval_ns));
}

/* ---- the launcher ---- */

/*
 * A fork, but without a signal at its end: so the process is not among the children that the
 * launcher waits for, as process 1 or with --wait=all.
 */
static pid_t fork_unseen(void)
{
	return (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
}

void gp_energy_sampler_start(struct gp_energy_sampler *sampler, const struct gp_session *session,
			     uint64_t interval_ns)
{
	pid_t launcher = getpid();
	int ends[2];

	sampler->samples = memfd_create("gpuprof-energy", MFD_CLOEXEC);
	sampler->pid = -1;
	if (sampler->samples < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return;
	sampler->pid = fork_unseen();
	if (sampler->pid == 0)
		be_sampler(session, ends[1], sampler->samples, interval_ns, launcher);
	close(ends[1]);
	sampler->line = ends[0];
}

/* Returns the exit status; ENDS if NVML hangs: not even a signal may end the process then. */
static enum end end_process(const struct gp_energy_sampler *sampler)
{
	struct pollfd wait = {.fd = sampler->line, .events = POLLIN};
	int status = 0;

	(void)shutdown(sampler->line, SHUT_WR);
	(void)kill(sampler->pid, SIGCONT); /* in case it was stopped */
	if (poll(&wait, 1, PATIENCE_MS) <= 0) {
		(void)kill(sampler->pid, SIGKILL);
		return ENDS;
	}
	while (waitpid(sampler->pid, &status, __WCLONE) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) < ENDS ? (enum end)WEXITSTATUS(status)
							       : CRASHED;
}

static void map_samples(int file, struct gp_energy_entries *samples)
{
	struct stat status;
	void *list;

	if (fstat(file, &status) != 0 || status.st_size < (off_t)sizeof(struct gp_energy_entry))
		return;
	list = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	if (list != MAP_FAILED)
		*samples = (struct gp_energy_entries){list, (size_t)status.st_size /
								    sizeof(struct gp_energy_entry)};
}

const char *gp_energy_sampler_end(struct gp_energy_sampler *sampler,
				  struct gp_energy_entries *samples)
{
	enum end end;

	*samples = (struct gp_energy_entries){0};
	if (sampler->pid == 0)
		return NULL;
	end = sampler->pid > 0 ? end_process(sampler) : NO_PROCESS;
	if (sampler->pid > 0)
		map_samples(sampler->samples, samples);
	sampler->pid = 0; /* its files close when this process ends */
	return reasons[end];
}
