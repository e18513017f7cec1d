#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/import/nsys_reading.h"
#include "report/model/losses.h"
#include "report/model/no_end.h"
#include "report/model/nsys_numbers.h"

static uint32_t number_of(const struct gp_row *row, enum gp_nsys_column column)
{
	return gp_row_number(row, column, 0);
}

static uint16_t small_of(const struct gp_row *row, enum gp_nsys_column column)
{
	uint32_t number = number_of(row, column);

	return number <= UINT16_MAX ? (uint16_t)number : 0;
}

/* ---- devices ---- */

/* The process's own CUDA device numbers of the GPUs. */
struct numbering {
	struct gp_nsys_reading *r;
	struct {
		uint32_t gpu, device;
	} pairs[GP_DEVICE_LIMIT];
	uint32_t count;
};

static bool is_of_pid(const struct gp_nsys_reading *r, const struct gp_row *row,
		      enum gp_nsys_column column)
{
	return !gp_row_has(row, column) ||
	       gp_row_whole(row, column) == (r->process >> 24 & 0xffffff);
}

static int take_number(void *context, const struct gp_row *row)
{
	struct numbering *n = context;

	if (n->count == GP_DEVICE_LIMIT || !is_of_pid(n->r, row, GP_NSYS_pid))
		return 0;
	n->pairs[n->count].gpu = number_of(row, GP_NSYS_gpuId);
	n->pairs[n->count++].device = gp_row_number(row, GP_NSYS_cudaId, GP_NONE);
	return 0;
}

/* Windows lists display adapters, too, all of them as CUDA's first device. */
static bool is_display_alone(const struct gp_row *row)
{
	return gp_row_has(row, GP_NSYS_smCount) && number_of(row, GP_NSYS_smCount) == 0 &&
	       number_of(row, GP_NSYS_computeMajor) == 0 &&
	       gp_row_whole(row, GP_NSYS_totalMemory) == 0;
}

/* GP_NONE: the process did not use that GPU. */
static uint32_t find_device(const struct numbering *n, const struct gp_row *row)
{
	uint32_t gpu = number_of(row, GP_NSYS_id);

	if (is_display_alone(row))
		return GP_NONE;
	for (uint32_t i = 0; i < n->count; i++)
		if (n->pairs[i].gpu == gpu)
			return n->pairs[i].device;
	if (n->count > 0)
		return GP_NONE;
	return gp_row_number(row, GP_NSYS_cuDevice, gpu);
}

static struct gp_record_device describe_device(const struct gp_row *row)
{
	struct gp_record_device device = {
		.compute_major = small_of(row, GP_NSYS_computeMajor),
		.compute_minor = small_of(row, GP_NSYS_computeMinor),
		.memory_bytes = (uint64_t)gp_row_whole(row, GP_NSYS_totalMemory),
		.memory_bandwidth_kbytes_per_s =
			(uint64_t)gp_row_whole(row, GP_NSYS_memoryBandwidth) / 1000,
		.multiprocessors = number_of(row, GP_NSYS_smCount),
		.warp_threads = number_of(row, GP_NSYS_threadsPerWarp),
		.max_threads_per_block = number_of(row, GP_NSYS_maxThreadsPerBlock),
		.max_blocks_per_multiprocessor = number_of(row, GP_NSYS_maxBlocksPerSm),
		.max_warps_per_multiprocessor = number_of(row, GP_NSYS_maxWarpsPerSm),
		.registers_per_block = number_of(row, GP_NSYS_maxRegistersPerBlock),
		.registers_per_multiprocessor = number_of(row, GP_NSYS_maxRegistersPerSm),
		.shared_per_block_bytes = number_of(row, GP_NSYS_maxShmemPerBlock),
		.shared_per_multiprocessor_bytes = number_of(row, GP_NSYS_maxShmemPerSm),
		.core_clock_khz = (uint32_t)(gp_row_whole(row, GP_NSYS_clockRate) / 1000),
		.l2_bytes = number_of(row, GP_NSYS_l2CacheSize),
		.shared_per_block_optin_bytes = number_of(row, GP_NSYS_maxShmemPerBlockOptin),
	};

	if (device.max_warps_per_multiprocessor <= UINT16_MAX && device.warp_threads <= UINT16_MAX)
		device.max_threads_per_multiprocessor =
			device.max_warps_per_multiprocessor * device.warp_threads;
	return device;
}

/* "GPU-a6e1f2c4-...", or without the word; without 32 digits it stays unknown. */
static void read_uuid(const struct gp_row *row, uint8_t uuid[16])
{
	static const char hexadecimal[] = "0123456789abcdef";
	size_t bytes, digits = 0;
	const char *text = gp_row_text(row, GP_NSYS_uuid, &bytes);
	uint8_t found[16] = {0};

	if (strncmp(text, "GPU-", 4) == 0)
		text += 4;
	for (; *text != '\0' && digits < 32; text++) {
		const char *digit = strchr(hexadecimal, *text | 0x20);

		if (digit) {
			found[digits / 2] =
				(uint8_t)(found[digits / 2] << 4 | (digit - hexadecimal));
			digits++;
		}
	}
	if (digits == 32)
		memcpy(uuid, found, sizeof(found));
}

static int take_gpu(void *context, const struct gp_row *row)
{
	struct numbering *n = context;
	union gp_any_record record = {0};
	uint32_t device = find_device(n, row);
	size_t bytes;
	const char *name = gp_row_text(row, GP_NSYS_name, &bytes);

	if (device >= GP_DEVICE_LIMIT)
		return 0;
	record.device = describe_device(row);
	record.device.device_id = (uint16_t)device;
	read_uuid(row, record.device.uuid);
	if (gp_import_string(n->r->im, GP_STRING_DEVICE, device, 0, name, bytes) != 0)
		return -ENOMEM;
	return gp_import_record(n->r->im, GP_RECORD_DEVICE, &record);
}

/* The links of a GPU to the host and other GPUs; a table of gpuprof exports. */
static int take_link(void *context, const struct gp_row *row)
{
	struct numbering *n = context;
	uint32_t device = gp_row_number(row, GP_NSYS_cudaId, GP_NONE);
	uint32_t lanes = number_of(row, GP_NSYS_lanes);
	int64_t peak = gp_row_whole(row, GP_NSYS_peakBandwidth);
	union gp_any_record record = {0};
	size_t bytes;
	bool is_pcie = strcmp(gp_row_text(row, GP_NSYS_kind, &bytes), "PCIe") == 0;

	if (!is_of_pid(n->r, row, GP_NSYS_pid) || device >= GP_DEVICE_LIMIT)
		return 0;
	record.link = (struct gp_record_link){
		.device_id = (uint16_t)device,
		.link_kind = is_pcie ? GP_LINK_PCIE : GP_LINK_NVLINK,
		.generation = small_of(row, GP_NSYS_generation),
		.lanes = lanes,
	};
	if (!is_pcie && lanes > 0 && peak > 0)
		record.link.lane_mbytes_per_s = (uint32_t)((uint64_t)peak / lanes / 1000000);
	return gp_import_record(n->r->im, GP_RECORD_LINK, &record);
}

/* ---- contexts and streams ---- */

static int take_context(void *context, const struct gp_row *row)
{
	struct gp_nsys_reading *r = context;
	uint32_t device = gp_row_number(row, GP_NSYS_deviceId, GP_NONE);
	union gp_any_record record = {0};

	if (!is_of_pid(r, row, GP_NSYS_processId) || device >= GP_DEVICE_LIMIT)
		return 0;
	record.context = (struct gp_record_context){
		.device_id = (uint16_t)device,
		.id = number_of(row, GP_NSYS_contextId),
		.null_stream_id = number_of(row, GP_NSYS_nullStreamId),
		.parent_id = number_of(row, GP_NSYS_parentContextId),
	};
	return gp_import_record(r->im, GP_RECORD_CONTEXT, &record);
}

static int take_stream(void *context, const struct gp_row *row)
{
	struct gp_nsys_reading *r = context;
	union gp_any_record record = {0};

	if (!is_of_pid(r, row, GP_NSYS_processId))
		return 0;
	record.stream = (struct gp_record_stream){
		.flags = small_of(row, GP_NSYS_flag),
		.id = number_of(row, GP_NSYS_streamId),
		.context_id = number_of(row, GP_NSYS_contextId),
		.priority = (int32_t)gp_row_whole(row, GP_NSYS_priority),
		/* in gpuprof exports only */
		.correlation_id = number_of(row, GP_NSYS_correlationId),
	};
	return gp_import_record(r->im, GP_RECORD_STREAM, &record);
}

static int name_stream(void *context, const struct gp_row *row)
{
	struct gp_nsys_reading *r = context;
	size_t bytes;
	const char *name = gp_row_text(row, GP_NSYS_name, &bytes);

	if (!is_of_pid(r, row, GP_NSYS_processId))
		return 0;
	return gp_import_string(r->im, GP_STRING_STREAM, number_of(row, GP_NSYS_streamId),
				number_of(row, GP_NSYS_contextId), name, bytes);
}

/* ---- the process and its host ---- */

/* The last part of the program's path. */
static int name_process(void *context, const struct gp_row *row)
{
	struct gp_nsys_reading *r = context;
	size_t bytes;
	const char *name = gp_row_text(row, GP_NSYS_name, &bytes);
	const char *slash = memrchr(name, '/', bytes);
	const char *last = slash ? slash + 1 : name;

	if (!gp_nsys_is_of_process(r, row) || *last == '\0')
		return 0;
	return gp_import_info(r->im, GP_INFO_PROGRAM, last);
}

static int take_host(void *context, const struct gp_row *row)
{
	struct gp_nsys_reading *r = context;
	size_t bytes;

	if (strcmp(gp_row_text(row, GP_NSYS_name, &bytes), "Hostname") != 0)
		return 0;
	return gp_import_info(r->im, GP_INFO_HOST, gp_row_text(row, GP_NSYS_value, &bytes));
}

/* The order and the writer, which only gpuprof writes. */
static int take_product(void *context, const struct gp_row *row)
{
	struct gp_nsys_reading *r = context;
	size_t bytes;
	const char *name = gp_row_text(row, GP_NSYS_name, &bytes);

	if (strcmp(name, GP_NSYS_NO_ORDER) == 0)
		r->unknown |= GP_UNKNOWN_ORDER;
	if (strcmp(name, GP_NSYS_NO_END) == 0)
		r->im->builder->model->why_no_end =
			gp_no_end_told(gp_row_text(row, GP_NSYS_value, &bytes));
	if (strcmp(name, GP_NSYS_RECORDER) == 0)
		r->recorder = gp_import_recorder_named(gp_row_text(row, GP_NSYS_value, &bytes));
	if (strcmp(name, "EXPORT_PRODUCT_NAME") == 0)
		r->is_own = strcmp(gp_row_text(row, GP_NSYS_value, &bytes), "gpuprof") == 0;
	return 0;
}

/* A table of gpuprof exports. */
static int take_gate(void *context, const struct gp_row *row)
{
	struct gp_nsys_reading *r = context;
	size_t bytes;

	if (!gp_nsys_is_of_process(r, row))
		return 0;
	return gp_import_gate(r->im, gp_nsys_time(row, GP_NSYS_start),
			      gp_row_whole(row, GP_NSYS_value) != 0,
			      gp_row_text(row, GP_NSYS_name, &bytes));
}

/* "12 sentence": a loss, in gpuprof exports. */
static int take_diagnostic(void *context, const struct gp_row *row)
{
	struct gp_nsys_reading *r = context;
	size_t bytes;
	const char *text = gp_row_text(row, GP_NSYS_text, &bytes);
	char *sentence;
	uint64_t count = strtoull(text, &sentence, 10);

	if (gp_nsys_is_of_process(r, row) && count > 0 && *sentence == ' ')
		gp_loss_restore(r->im->builder->model, sentence + 1, count);
	return 0;
}

/* How a process was recorded, in gpuprof exports. */
static int take_capture(void *context, const struct gp_row *row)
{
	struct gp_nsys_reading *r = context;
	size_t bytes;
	const char *name = gp_row_text(row, GP_NSYS_name, &bytes);
	const char *value = gp_row_text(row, GP_NSYS_value, &bytes);

	if (!r->is_own || !gp_nsys_is_of_process(r, row))
		return 0;
	if (strtoull(value, NULL, 10) > 0)
		gp_loss_restore(r->im->builder->model, name, strtoull(value, NULL, 10));
	if (strcmp(name, GP_NSYS_NOTE) == 0)
		return gp_import_info(r->im, GP_INFO_NOTE, value);
	for (size_t i = 0; i < GP_NSYS_CAPTURES; i++)
		if (strcmp(name, gp_nsys_captures[i].name) == 0)
			return gp_import_restore_info(r->im, gp_nsys_captures[i].info, value);
	return 0;
}

/* When the first trace began and the last one ended, in gpuprof exports. */
static int take_details(void *context, const struct gp_row *row)
{
	struct gp_nsys_reading *r = context;

	if (r->is_own)
		gp_import_note_time(r->im, gp_nsys_time(row, GP_NSYS_startTime),
				    gp_nsys_time(row, GP_NSYS_stopTime));
	return 0;
}

static int take_session(void *context, const struct gp_row *row)
{
	struct gp_nsys_reading *r = context;
	int64_t unix_ns = gp_row_whole(row, GP_NSYS_utcEpochNs);

	r->unix_ns = unix_ns > 0 ? (uint64_t)unix_ns : 0;
	return 0;
}

int gp_nsys_take_facts(struct gp_nsys_reading *r)
{
	struct numbering numbering = {.r = r};
	const struct {
		const char *name;
		int (*take)(void *context, const struct gp_row *row);
		void *context;
	} tables[] = {
		{"TARGET_INFO_CUDA_DEVICE", take_number, &numbering},
		{"TARGET_INFO_GPU", take_gpu, &numbering},
		{"TARGET_INFO_GPU_LINK", take_link, &numbering},
		{"TARGET_INFO_CUDA_CONTEXT_INFO", take_context, r},
		{"TARGET_INFO_CUDA_STREAM", take_stream, r},
		{"TARGET_INFO_NVTX_CUDA_STREAM", name_stream, r},
		{"PROCESSES", name_process, r},
		{"TARGET_INFO_SYSTEM_ENV", take_host, r},
		{"META_DATA_EXPORT", take_product, r},
		{"RECORDING_EVENT", take_gate, r},
		{"DIAGNOSTIC_EVENT", take_diagnostic, r},
		{"META_DATA_CAPTURE", take_capture, r},
		{"ANALYSIS_DETAILS", take_details, r},
		{"TARGET_INFO_SESSION_START_TIME", take_session, r},
	};
	char pid[24];
	int result;

	snprintf(pid, sizeof(pid), "%u", (uint32_t)(r->process >> 24 & 0xffffff));
	result = gp_import_info(r->im, GP_INFO_PID, pid);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && result == 0; i++)
		result = gp_database_each(r->database, tables[i].name, tables[i].take,
					  tables[i].context);
	return result;
}
