#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/export/chrome/chrome_writer.h"
#include "report/model/memory_stats.h"
#include "report/model/process_name.h"

/*
 * Times are relative to a multiple of this: half of the quarter of a year that Kineto uses, and the
 * same for all ranks of a job.  Readers keep microseconds in a double and multiply them by 1000,
 * which is exact to the ns below 2^42 us (51 days).
 */
#define BASE_UNIT_NS 3944619000000000u

/* A process may begin this much before the first one in the file. */
#define EARLIER_NS 86400000000000u

/* Pids for processes whose pid is in use; above all pids of Linux. */
#define FIRST_FREE_PID 20000000u

/* Sort indices of programs without a rank: after all ranks and before the GPUs. */
#define FIRST_UNRANKED 1000000u

#define DEVICES GP_DEVICE_LIMIT

/* ---- times ---- */

static struct gp_chrome_boot *find_boot(struct gp_chrome *chrome, const char *id)
{
	struct gp_chrome_boot *boot;

	for (uint32_t i = 0; i < chrome->boot_count; i++)
		if (strcmp(chrome->boots[i].id, id) == 0)
			return &chrome->boots[i];
	gp_array_grow(&chrome->boots, &chrome->boot_capacity, chrome->boot_count,
		      sizeof(*chrome->boots));
	boot = &chrome->boots[chrome->boot_count++];
	snprintf(boot->id, sizeof(boot->id), "%s", id);
	boot->unix_minus_monotonic_ns =
		chrome->model->base_unix_ns - chrome->model->base_monotonic_ns;
	return boot;
}

static void get_boot_id(const struct gp_model *model, char id[40])
{
	const char *text = model->info[GP_INFO_BOOT_ID];

	snprintf(id, 40, "%s", text ? text : "");
}

/*
 * Unix time of time 0 of the model, by the aligned clock of its host, else by the wall clock of the
 * first process of its boot.
 */
static uint64_t find_start(struct gp_chrome *chrome)
{
	const struct gp_model *model = chrome->model;
	const struct gp_chrome_boot *boot;
	char id[40];

	get_boot_id(model, id);
	if (*id == '\0' || model->base_monotonic_ns == 0 || model->clock.is_known)
		return model->base_unix_ns;
	boot = find_boot(chrome, id);
	return boot ? boot->unix_minus_monotonic_ns + model->base_monotonic_ns
		    : model->base_unix_ns;
}

bool gp_chrome_set_times(struct gp_chrome *chrome)
{
	uint64_t start_ns = find_start(chrome);
	uint64_t earlier_ns = chrome->is_merged && start_ns > EARLIER_NS ? EARLIER_NS : 0;

	if (chrome->base_ns == 0)
		chrome->base_ns = start_ns - earlier_ns - (start_ns - earlier_ns) % BASE_UNIT_NS;
	chrome->offset_ns = start_ns - chrome->base_ns;
	return start_ns >= chrome->base_ns;
}

/* ---- pids ---- */

static bool has_host_pid(const struct gp_chrome *chrome, uint32_t pid)
{
	for (uint32_t i = 0; i < chrome->host_pid_count; i++)
		if (chrome->host_pids[i] == pid)
			return true;
	return false;
}

/*
 * Two machines or containers may have the same pids, and a process has the same pid before and after
 * an exec.
 */
static void choose_host_pid(struct gp_chrome *chrome)
{
	uint32_t pid = chrome->model->pid;

	if (chrome->is_merged && (pid >= GP_CHROME_GPU_BASE || has_host_pid(chrome, pid)))
		pid = FIRST_FREE_PID + chrome->host_pid_count;
	gp_array_grow(&chrome->host_pids, &chrome->host_pid_capacity, chrome->host_pid_count,
		      sizeof(*chrome->host_pids));
	chrome->host_pids[chrome->host_pid_count++] = pid;
	chrome->host_pid = pid;
}

/* Ranks in their order, then the others in order of the file. */
static uint32_t sort_index(const struct gp_chrome *chrome)
{
	const char *rank = chrome->model->info[GP_INFO_RANK];

	return rank && *rank ? (uint32_t)strtoul(rank, NULL, 10) % FIRST_UNRANKED
			     : FIRST_UNRANKED + chrome->processes % FIRST_UNRANKED;
}

static void write_program(struct gp_chrome *chrome)
{
	const char *program = chrome->model->info[GP_INFO_PROGRAM];
	const char *host = chrome->model->info[GP_INFO_HOST];
	char title[512];

	if (!program || !*program)
		program = "program";
	if (!chrome->is_merged) {
		gp_chrome_name_process(chrome, chrome->host_pid, program, "CPU", chrome->host_pid);
		return;
	}
	snprintf(chrome->owner, sizeof(chrome->owner), "%s", gp_process_name(chrome->model).text);
	snprintf(title, sizeof(title), "%.255s, %s%s%.64s", program, chrome->owner,
		 host ? " on " : "", host ? host : "");
	gp_chrome_name_process(chrome, chrome->host_pid, title, "CPU", sort_index(chrome));
}

/* Name a GPU, with the known facts that distinguish it from others. */
static void write_gpu(struct gp_chrome *chrome, const struct gp_chrome_gpu *gpu)
{
	const char *host = gpu->gpu.host;
	char label[24], which[GP_GPU_WHICH_BYTES], title[320];
	int used;

	snprintf(label, sizeof(label), "GPU %u", gpu->number);
	used = snprintf(title, sizeof(title), *gpu->name ? "%s: %.120s" : "%s", label, gpu->name);
	gp_gpu_which(&gpu->gpu, which);
	if (chrome->is_merged && *which)
		used += snprintf(title + used, sizeof(title) - (size_t)used, ", %s", which);
	if (chrome->is_merged && host && (gp_gpu_has_uuid(&gpu->gpu) || gpu->gpu.rank))
		snprintf(title + used, sizeof(title) - (size_t)used, " on %.64s", host);
	gp_chrome_name_process(chrome, gpu->pid, title, label, GP_CHROME_GPU_BASE + gpu->number);
}

static uint32_t choose_number(const struct gp_chrome *chrome, uint16_t device_id)
{
	uint32_t beyond = 0;
	bool is_free = true;

	for (uint32_t i = 0; i < chrome->gpu_count; i++) {
		is_free = is_free && chrome->gpus[i].number != device_id;
		beyond = chrome->gpus[i].number >= beyond ? chrome->gpus[i].number + 1 : beyond;
	}
	return is_free ? device_id : beyond;
}

/* Returns the index of the new GPU, or GP_NONE. */
static uint32_t add_gpu(struct gp_chrome *chrome, uint16_t device_id)
{
	const struct gp_record_device *record = gp_model_device(chrome->model, device_id);
	const char *name =
		record ? chrome->model->device_names[record - chrome->model->devices] : NULL;
	struct gp_chrome_gpu *gpu;

	gp_array_grow(&chrome->gpus, &chrome->gpu_capacity, chrome->gpu_count,
		      sizeof(*chrome->gpus));
	gpu = &chrome->gpus[chrome->gpu_count];
	*gpu = (struct gp_chrome_gpu){.gpu = gp_gpu_of(chrome->model, device_id),
				      .is_known = record != NULL};
	gpu->number = chrome->is_merged ? choose_number(chrome, device_id) : device_id;
	gpu->pid = chrome->gpu_pids + gpu->number;
	if (record)
		gpu->record = *record;
	snprintf(gpu->name, sizeof(gpu->name), "%s", name ? name : "");
	chrome->gpu_count++;
	if (gp_gpu_keep(&gpu->gpu) < 0)
		return GP_NONE;
	write_gpu(chrome, gpu);
	return chrome->gpu_count - 1;
}

/* Searches only the GPUs of earlier processes: devices of one process stay distinct. */
static uint32_t find_gpu(const struct gp_chrome *chrome, uint32_t known, uint16_t device_id)
{
	struct gp_gpu gpu = gp_gpu_of(chrome->model, device_id);

	for (uint32_t i = 0; i < known; i++)
		if (gp_gpu_is_same(&chrome->gpus[i].gpu, &gpu)) {
			gp_gpu_learn(&chrome->gpus[i].gpu, &gpu);
			return i;
		}
	return GP_NONE;
}

static void mark_if_known(struct gp_chrome *chrome, uint32_t device_id)
{
	if (device_id != GP_NONE && gp_model_device(chrome->model, (uint16_t)device_id))
		chrome->gpu_of_device[device_id] = 0;
}

/* Mark used devices with 0. */
static void mark_devices(struct gp_chrome *chrome)
{
	const struct gp_model *model = chrome->model;

	for (uint32_t i = 0; i < DEVICES; i++)
		chrome->gpu_of_device[i] = GP_NONE;
	for (uint32_t i = 0; i < model->op_count; i = gp_model_stream_end(model, i))
		chrome->gpu_of_device[model->ops[i].device_id] = 0;
	for (uint32_t i = 0; i < model->memory_count; i++)
		if (!gp_memory_is_of_host(model->memory[i].memory_kind))
			chrome->gpu_of_device[model->memory[i].device_id] = 0;
	for (uint32_t i = 0; i < model->usage_count; i++)
		chrome->gpu_of_device[model->usages[i].device_id] = 0;
	for (uint32_t i = 0; i < model->pool_count; i++)
		chrome->gpu_of_device[model->pools[i].device_id] = 0;
	for (uint32_t i = 0; i < model->sync_count; i++)
		chrome->gpu_of_device[gp_model_context_device(model, model->syncs[i].context_id)] =
			0;
	for (uint32_t i = 0; i < model->event_count; i++)
		if (model->events[i].device_ns != 0)
			chrome->gpu_of_device[gp_model_context_device(
				model, model->events[i].context_id)] = 0;
	for (uint32_t i = 0; i < model->unified_count; i++)
		mark_if_known(chrome, gp_unified_device(&model->unifieds[i]));
}

/* As in Kineto, the pids of GPUs are their numbers, unless a program has one of these pids. */
static uint32_t choose_pid_base(const struct gp_chrome *chrome)
{
	uint32_t pid = chrome->model->pid;
	bool collides = pid < DEVICES && chrome->gpu_of_device[pid] != GP_NONE;

	return chrome->is_merged || collides ? GP_CHROME_GPU_BASE : 0;
}

static void place_gpus(struct gp_chrome *chrome)
{
	uint32_t known = chrome->gpu_count;

	chrome->gpu_pids = choose_pid_base(chrome);
	for (uint32_t i = 0; i < DEVICES && chrome->error == 0; i++) {
		uint32_t *gpu = &chrome->gpu_of_device[i];

		if (*gpu == GP_NONE)
			continue;
		*gpu = find_gpu(chrome, known, (uint16_t)i);
		if (*gpu == GP_NONE)
			*gpu = add_gpu(chrome, (uint16_t)i);
	}
}

void gp_chrome_write_more_gpus(struct gp_chrome *chrome)
{
	uint32_t known[DEVICES];

	memcpy(known, chrome->gpu_of_device, sizeof(known));
	mark_devices(chrome);
	for (uint32_t i = 0; i < DEVICES; i++) {
		uint32_t *gpu = &chrome->gpu_of_device[i];

		if (known[i] == GP_NONE && *gpu != GP_NONE)
			*gpu = add_gpu(chrome, (uint16_t)i);
		else
			*gpu = known[i];
	}
}

void gp_chrome_write_processes(struct gp_chrome *chrome)
{
	if (!chrome->gpu_of_device)
		chrome->gpu_of_device = malloc(DEVICES * sizeof(*chrome->gpu_of_device));
	choose_host_pid(chrome);
	mark_devices(chrome);
	write_program(chrome);
	place_gpus(chrome);
}

struct gp_chrome_gpu *gp_chrome_gpu(const struct gp_chrome *chrome, uint16_t device_id)
{
	return &chrome->gpus[chrome->gpu_of_device[device_id]];
}

void gp_chrome_free_places(struct gp_chrome *chrome)
{
	for (uint32_t i = 0; i < chrome->gpu_count; i++) {
		free(chrome->gpus[i].tids.taken);
		gp_gpu_free(&chrome->gpus[i].gpu);
	}
	free(chrome->gpus);
	free(chrome->boots);
	free(chrome->host_pids);
	free(chrome->gpu_of_device);
}
