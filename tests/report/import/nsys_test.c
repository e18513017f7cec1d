#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include "report/import/import.h"
#include "report/load/load_model.h"
#include "report/symbols/call_tree.h"
#include "report/analysis/memory/memory_sites.h"
#include "report/model/model.h"
#include "report/symbols/symbols.h"
#include "report/trace/cuda_names.h"
#include "tests/lib/temporary.h"
#include "tests/unit.h"

static char path[] = "/tmp/gpuprof-nsys-XXXXXX";
static char message[512];

static int make_path(void **state)
{
	int fd = temporary_file(strcpy(path, "/tmp/gpuprof-nsys-XXXXXX"));

	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	return unlink(path);
}

/* pid 9, thread 5; and pid 10 */
#define PID    "150994944"
#define TID    "150994949"
#define OTHER  "167772160"
#define KERNEL "CUPTI_ACTIVITY_KIND_KERNEL"

/* Columns as nsys has them, of which not all versions have all. */
static const char *const tables =
	"CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);INSERT INTO StringIds VALUES (1, 'void k<int>(int)'), (2, 'k'), (3, '_Z1kIiEvT_'), (4, 'cudaLaunchKernel_v7000'), (5, 'cuLaunchKernel'), (6, 'cudaMalloc_v3020'), (7, 'cudaFree_v3020'), (8, 'step'), (9, 'loader'), (10, 'cudaMemcpyAsync_v3020');CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, globalPid INT, demangledName INT, shortName INT, mangledName INT, launchType INT, registersPerThread INT, gridX INT, gridY INT, gridZ INT, blockX INT, blockY INT, blockZ INT, staticSharedMemory INT, dynamicSharedMemory INT, localMemoryPerThread INT, localMemoryTotal INT, graphNodeId INT);CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, eventClass INT, globalTid INT, correlationId INT, nameId INT, returnValue INT, callchainId INT);";

#define INSERT_KERNEL(start, end, correlation, process)                                            \
	"INSERT INTO " KERNEL " VALUES (" start ", " end ", 1, 2, 7, " correlation ", " process    \
	", 1, 2, 3, 2, 64, 450, 2, 1, 8, 8, 1, 100, 2204, 16, 4096, 12884901889);"
#define INSERT_CALL(start, end, correlation, name, status)                                         \
	"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" start ", " end ", 0, " TID              \
	", " correlation ", " name ", " status ", NULL);"

static void fill(const char *statements)
{
	sqlite3 *db;

	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, tables, NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_exec(db, statements, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s", sqlite3_errmsg(db));
	sqlite3_close(db);
}

static struct gp_model *load(const char *statements)
{
	struct gp_model *model = NULL;
	int result;

	fill(statements);
	result = gp_model_load(path, &model, message, sizeof(message));
	if (result != 0)
		fail_msg("%d: %s", result, message);
	return model;
}

static void kernels_and_calls_have_what_the_rows_say(void **state)
{
	struct gp_model *m = load(INSERT_CALL("1000", "3000", "40", "4", "0") INSERT_CALL(
		"1500", "2500", "41", "5", "1") INSERT_KERNEL("4000", "7000", "40", PID));
	const struct gp_record_shape *shape;

	assert_string_equal(m->recorder, "nsys");
	assert_int_equal(m->pid, 9);
	assert_int_equal(m->call_count, 2);
	assert_int_equal(m->calls[0].duration_ns, 2000);
	assert_int_equal(m->calls[0].thread_id, 5);
	assert_string_equal(gp_model_api(m, m->calls[0].api).name, "cudaLaunchKernel");
	assert_int_equal(gp_model_api(m, m->calls[0].api).class, GP_API_LAUNCH);
	assert_string_equal(gp_model_api(m, m->calls[1].api).name, "cuLaunchKernel");
	assert_int_equal(m->calls[1].status, 1);
	assert_int_equal(m->op_count, 1);
	assert_int_equal(m->ops[0].start_ns, 3000);
	assert_int_equal(m->ops[0].end_ns, 6000);
	assert_int_equal(m->ops[0].call, 0);
	assert_int_equal(m->ops[0].device_id, 1);
	assert_int_equal(m->ops[0].stream_id, 7);
	assert_int_equal(m->ops[0].graph_id, 3);
	assert_string_equal(gp_model_kernel_name(m, &m->ops[0]), "_Z1kIiEvT_");
	shape = &m->shapes[m->ops[0].shape];
	assert_int_equal(shape->registers, 64);
	assert_int_equal(shape->static_shared_bytes, 100);
	assert_int_equal(shape->dynamic_shared_bytes, 2204);
	assert_int_equal(shape->grid[0], 450);
	assert_int_equal(shape->block[1], 8);
	assert_int_equal(shape->local_per_thread_bytes, 16);
	assert_int_equal(shape->launch_type, 1);
	assert_true(m->losses.closed);
	gp_model_free(m);
}

static void names_of_streams_the_host_and_who_wrote_the_file_are_read(void **state)
{
	struct gp_model *m = load(
		"CREATE TABLE TARGET_INFO_NVTX_CUDA_STREAM (streamId INT, hwId INT, vmId INT, processId INT, contextId INT, name TEXT);INSERT INTO TARGET_INFO_NVTX_CUDA_STREAM VALUES (7, 0, 0, 9, 2, 'copies'), (7, 0, 0, 10, 2, 'other');CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INT, devStateName TEXT, name TEXT, nameEnum INT, value TEXT);INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0, '', 'Kernel', 1, '6.1'), (0, '', 'Hostname', 2, 'node7');CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '1'), ('EXPORT_PRODUCT_NAME', 'gpuprof');" INSERT_CALL(
			"1000", "3000", "40", "4", "0") INSERT_KERNEL("4000", "7000", "40", PID));

	assert_string_equal(gp_model_stream_name(m, 2, 7), "copies");
	assert_string_equal(m->info[GP_INFO_HOST], "node7");
	assert_string_equal(m->recorder, "gpuprof, from an exported SQLite file");
	gp_model_free(m);
}

static void copies_sets_and_migrations_are_told_apart(void **state)
{
	struct gp_model *m = load(
		"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, globalPid INT, bytes INT, copyKind INT, srcKind INT, dstKind INT, virtualAddress INT);INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (10, 20, 0, 1, 7, 50, " PID
		", 640, 1, 1, 2, NULL), (30, 40, 0, 1, 7, 0, " PID
		", 4096, 11, 4, 4, 65536);CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, globalPid INT, value INT, bytes INT, memKind INT);INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (50, 60, 0, 1, 7, 0, " PID
		", 0, 160, 7);" INSERT_CALL("5", "8", "50", "10", "0"));

	assert_int_equal(m->op_count, 2);
	assert_int_equal(m->ops[0].kind, GP_OP_COPY);
	assert_int_equal(m->ops[0].bytes, 640);
	assert_int_equal(m->ops[0].source_kind, 2);
	assert_int_equal(m->ops[0].destination_kind, 3);
	assert_int_equal(m->ops[0].flags, 1); /* the call is asynchronous */
	assert_int_equal(m->ops[1].kind, GP_OP_SET);
	assert_int_equal(m->ops[1].destination_kind, 0);
	assert_int_equal(m->unified_count, 1);
	assert_int_equal(m->unifieds[0].counter_kind, 1);
	assert_int_equal(m->unifieds[0].value, 4096);
	gp_model_free(m);
}

/* Whatever the order of the rows. */
static void memory_belongs_to_the_calls(void **state)
{
	struct gp_model *m = load(
		"CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INT, globalPid INT, deviceId INT, contextId INT, address INT, bytes INT, memKind INT, memoryOperationType INT, correlationId INT, localMemoryPoolAddress INT);INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (3, " PID
		", 0, 1, 8192, 64, 5, 0, 62, NULL), (2, " PID
		", 0, 1, 4096, 512, 2, 1, 61, NULL), (1, " PID
		", 0, 1, 4096, 512, 2, 0, 60, NULL);" INSERT_CALL("1", "2", "60", "6", "0")
			INSERT_CALL("3", "4", "61", "7", "0"));

	assert_int_equal(m->memory_count, 2);
	assert_false(gp_memory_sites_knows_owners(&m, 1));
	assert_int_equal(m->memory[0].op, GP_MEMORY_ALLOC);
	assert_int_equal(m->memory[0].bytes, 512);
	assert_int_equal(m->memory[0].other, 1);
	assert_int_equal(m->memory[0].memory_kind, GP_MEMORY_DEVICE);
	assert_int_equal(m->memory[1].call, 1);
	assert_int_equal(m->unknown & GP_UNKNOWN_ALLOCATIONS, 0);
	assert_int_equal(m->note_count, 1);
	assert_string_equal(
		m->notes[0],
		"nsys records call stacks only with --cudabacktrace=all; this file has none");
	gp_model_free(m);
}

static void without_it_the_summary_is_told(void **state)
{
	struct gp_model *m = load(INSERT_CALL("1", "2", "60", "6", "0"));

	assert_int_equal(m->unknown & GP_UNKNOWN_ALLOCATIONS, GP_UNKNOWN_ALLOCATIONS);
	assert_int_equal(m->note_count, 1);
	assert_non_null(strstr(m->notes[0], "--cuda-memory-usage"));
	assert_non_null(strstr(m->notes[0], "--cudabacktrace"));
	gp_model_free(m);
}

static void ranges_are_read(void **state)
{
	struct gp_model *m = load(
		"CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, rangeId INT, category INT, color INT, text TEXT, globalTid INT, endGlobalTid INT, textId INT, domainId INT);INSERT INTO NVTX_EVENTS VALUES (0, NULL, 75, NULL, NULL, NULL, 'library', " TID
		", NULL, NULL, 3), (0, NULL, 33, NULL, 2, NULL, 'io', " TID
		", NULL, NULL, 3), (100, 900, 59, NULL, NULL, NULL, NULL, " TID
		", NULL, 8, 0), (200, 300, 59, NULL, 2, 4278190335, 'read', " TID
		", NULL, NULL, 3), (250, NULL, 34, NULL, NULL, NULL, 'here', " TID
		", NULL, NULL, 0), (400, 500, 60, 1, NULL, NULL, 'send', " TID
		", 150994950, NULL, 4), (600, NULL, 59, NULL, NULL, NULL, 'hung', " TID
		", NULL, NULL, 0);");
	const struct gp_range *r = m->ranges;

	assert_int_equal(m->range_count, 5);
	assert_string_equal(gp_model_range_text(m, &r[0]), "step");
	assert_int_equal(r[0].end_ns - r[0].start_ns, 800);
	assert_string_equal(gp_model_range_text(m, &r[1]), "read");
	assert_string_equal(m->domains[r[1].domain], "library");
	assert_string_equal(gp_model_category(m, r[1].domain, r[1].category), "io");
	assert_int_equal(r[1].color_argb, 0xff0000ff);
	assert_int_equal(r[2].style, GP_STYLE_MARK);
	assert_int_equal(r[3].style, GP_STYLE_START_END);
	assert_int_equal(r[3].end_thread_id, 6);
	assert_string_equal(m->domains[r[3].domain], "domain 4");
	assert_true(r[4].open);
	assert_int_equal(m->losses.unknown_records, 0);
	gp_model_free(m);
}

static void memory_of_kernels_that_is_not_there_is_not_known(void **state)
{
	const uint32_t parts = GP_UNKNOWN_SHARED_PARTS | GP_UNKNOWN_LOCAL;
	struct gp_model *m = load(INSERT_KERNEL("4000", "7000", "40", PID));

	assert_int_equal(m->unknown & parts, 0);
	gp_model_free(m);
	m = load(INSERT_KERNEL("4000", "7000", "40",
			       PID) "UPDATE " KERNEL
				    " SET staticSharedMemory = NULL, localMemoryPerThread = NULL;");
	assert_int_equal(m->unknown & parts, parts);
	assert_int_equal(m->shapes[0].dynamic_shared_bytes, 2204);
	gp_model_free(m);
}

static void devices_contexts_and_names_are_read(void **state)
{
	struct gp_model *m = load(INSERT_KERNEL(
		"4000", "7000", "40",
		PID) "CREATE TABLE TARGET_INFO_GPU (vmId INT, id INT, name TEXT, totalMemory INT, memoryBandwidth INT, smCount INT, threadsPerWarp INT, maxWarpsPerSm INT, computeMajor INT, computeMinor INT, clockRate INT);INSERT INTO TARGET_INFO_GPU VALUES (0, 4, 'NVIDIA H200', 150109880320, 4814000000000, 132, 32, 64, 9, 0, 1980000000), (0, 5, 'unused', 1, 1, 1, 32, 64, 9, 0, 1);CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INT, cudaId INT, pid INT);INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (4, 1, 9), (5, 1, 10);CREATE TABLE TARGET_INFO_CUDA_CONTEXT_INFO (nullStreamId INT, processId INT, deviceId INT, contextId INT);INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO VALUES (7, 9, 1, 2), (8, 10, 3, 2);CREATE TABLE TARGET_INFO_CUDA_STREAM (streamId INT, processId INT, contextId INT, priority INT, flag INT);INSERT INTO TARGET_INFO_CUDA_STREAM VALUES (13, 9, 2, -5, 2);CREATE TABLE ThreadNames (nameId INT, priority INT, globalTid INT);INSERT INTO ThreadNames VALUES (9, 0, " TID
		     ");CREATE TABLE PROCESSES (globalPid INT, pid INT, name TEXT);INSERT INTO PROCESSES VALUES (" PID
		     ", 9, '/usr/bin/train'), (" OTHER
		     ", 10, 'x');CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INT);INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1790857026000000000);");
	const struct gp_record_device *device = gp_model_device(m, 1);

	assert_int_equal(m->device_count, 1);
	assert_non_null(device);
	assert_string_equal(m->device_names[0], "NVIDIA H200");
	assert_int_equal(device->multiprocessors, 132);
	assert_int_equal(device->max_threads_per_multiprocessor, 2048);
	assert_int_equal(device->memory_bandwidth_kbytes_per_s, 4814000000);
	assert_int_equal(device->core_clock_khz, 1980000);
	assert_int_equal(gp_model_context_device(m, 2), 1);
	assert_true(gp_model_is_null_stream(m, 2, 7));
	assert_int_equal(gp_model_stream(m, 2, 13)->priority, -5);
	assert_string_equal(gp_model_thread_name(m, 5), "loader");
	assert_string_equal(m->info[GP_INFO_PROGRAM], "train");
	assert_int_equal(m->base_unix_ns, 1790857026000004000);
	gp_model_free(m);
}

static void each_process_is_a_model(void **state)
{
	static const struct {
		uint32_t pid, op_count, call_count;
	} processes[] = {{9, 2, 0}, {10, 1, 1}};

	fill(INSERT_KERNEL("10", "20", "40", OTHER) INSERT_KERNEL("30", "40", "41", PID) INSERT_KERNEL(
		"50", "60", "42",
		PID) "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId) VALUES (1, 2, " OTHER
		     ", 40, 4);"
		     "CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, globalTid INT); INSERT INTO NVTX_EVENTS VALUES (1, 2, 59, 'r', 20 << 24)");
	assert_int_equal(gp_import_process_count(path), 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct gp_load_options options = {.save_to = -1, .process = i};
		struct gp_model *m;

		assert_int_equal(gp_model_load_with(path, &options, &m, message, sizeof(message)),
				 0);
		assert_int_equal(m->pid, processes[i].pid);
		assert_int_equal(m->op_count, processes[i].op_count);
		assert_int_equal(m->call_count, processes[i].call_count);
		assert_int_equal(strstr(m->notes[0], "left out") != NULL, i == 0);
		gp_model_free(m);
	}
}

static void processes_without_cuda_count_if_there_are_no_others(void **state)
{
	fill("CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, globalTid INT); INSERT INTO NVTX_EVENTS VALUES (1, 2, 59, 'r', 20 << 24), (3, 4, 59, 'r', 21 << 24)");
	assert_int_equal(gp_import_process_count(path), 2);
	assert_int_equal(gp_import_process_count("/nonexistent"), 1);
}

static void the_uuid_of_a_gpu_is_read(void **state)
{
	struct gp_model *m = load(INSERT_KERNEL(
		"4000", "7000", "40",
		PID) "CREATE TABLE TARGET_INFO_GPU (id INT, name TEXT, cuDevice INT, uuid TEXT); INSERT INTO TARGET_INFO_GPU VALUES (0, 'A', 0, 'GPU-000102ff-0405-0607-0809-0a0b0c0d0E0F'), (1, 'B', 1, '0001')");

	assert_int_equal(m->devices[0].uuid[3], 0xff);
	assert_int_equal(m->devices[0].uuid[15], 0x0f);
	assert_int_equal(m->devices[1].uuid[1], 0);
	gp_model_free(m);
}

static void what_only_drives_a_display_is_no_gpu(void **state)
{
	struct gp_model *m = load(INSERT_KERNEL(
		"4000", "7000", "40",
		PID) "CREATE TABLE TARGET_INFO_GPU (id INT, name TEXT, cuDevice INT, totalMemory INT, smCount INT, computeMajor INT);INSERT INTO TARGET_INFO_GPU VALUES (0, 'GeForce', 1, 6442450944, 10, 6), (1, 'Basic Render Driver', 1, 0, 0, 0);");

	assert_string_equal(m->device_names[0], "GeForce");
	gp_model_free(m);
}

static void links_and_overheads_are_read(void **state)
{
	struct gp_model *m = load(
		"CREATE TABLE TARGET_INFO_GPU_LINK (gpuId INT, cudaId INT, pid INT, kind TEXT, generation INT, lanes INT, peakBandwidth INT);INSERT INTO TARGET_INFO_GPU_LINK VALUES (4, 1, 9, 'PCIe', 5, 16, 63000000000), (4, 1, 9, 'NVLink', 4, 18, 450000000000), (4, 1, 10, 'PCIe', 3, 8, 1), (4, 99999, 9, 'PCIe', 3, 8, 1);CREATE TABLE PROFILER_OVERHEAD (start INT, end INT, globalTid INT, correlationId INT, overheadType INT);INSERT INTO PROFILER_OVERHEAD VALUES (20, 25, " TID
		", 50, 3), (10, 12, " TID ", 0, 2), (26, 27, " TID ", 0, 1), (28, 29, " TID
		", 0, 7), (30, 35, " OTHER ", 51, 3);" INSERT_CALL("1", "2", "50", "5", "0"));
	static const char *const overheads[] = {"Driver Compiler", "Buffer Flush", "Unknown",
						"Lazy Function Loading"};

	assert_int_equal(m->link_count, 2);
	assert_int_equal(m->links[0].link_kind, GP_LINK_PCIE);
	assert_int_equal(m->links[0].generation, 5);
	assert_int_equal(m->links[0].lanes, 16);
	assert_int_equal(m->links[1].link_kind, GP_LINK_NVLINK);
	assert_int_equal(m->links[1].lane_mbytes_per_s, 25000);
	assert_int_equal(m->overhead_count, 4); /* in the order of time */
	for (uint32_t i = 0; i < m->overhead_count; i++)
		assert_string_equal(gp_overhead_name(m->overheads[i].overhead_kind), overheads[i]);
	assert_int_equal(m->overheads[0].end_ns - m->overheads[0].start_ns, 2);
	assert_int_equal(m->overheads[1].correlation_id, 50);
	assert_int_equal(m->overheads[1].thread_id, 5);
	gp_model_free(m);
}

static void graphs_syncs_and_events_are_read(void **state)
{
	struct gp_model *m = load(
		"CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, globalPid INT, graphId INT);INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (10, 90, 1, 2, 7, 50, " PID
		", 3), (10, 90, 1, 2, 7, 50, " OTHER ", 4), (10, 90, 99999, 2, 7, 50, " PID
		", 5);CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, globalPid INT, syncType INT, eventId INT);INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (20, 95, 1, 2, 7, 51, " PID
		", 3, 0), (20, 95, 1, 2, 7, 51, " OTHER ", 3, 0), (96, 97, 1, 2, NULL, 52, " PID
		", 1, 8);CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId INT, contextId INT, streamId INT, correlationId INT, globalPid INT, eventId INT);INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (1, 2, 7, 53, " PID
		", 8), (1, 2, 7, 53, " OTHER ", 9);" INSERT_CALL("1", "2", "50", "5", "0"));

	assert_int_equal(m->op_count, 1);
	assert_int_equal(m->ops[0].kind, GP_OP_GRAPH);
	assert_int_equal(m->ops[0].graph_id, 3);
	assert_int_equal(m->ops[0].end_ns - m->ops[0].start_ns, 80);
	assert_int_equal(m->ops[0].call, 0);
	assert_int_equal(m->sync_count, 2);
	assert_int_equal(m->syncs[0].sync_kind, 3);
	assert_int_equal(m->syncs[0].stream_id, 7);
	assert_int_equal(m->syncs[1].stream_id, GP_NO_STREAM);
	assert_int_equal(m->syncs[1].event_id, 8);
	assert_int_equal(m->event_count, 1);
	assert_int_equal(m->events[0].event_id, 8);
	assert_int_equal(m->losses.unknown_records, 1); /* of device 99999 */
	gp_model_free(m);
}

/* Files of versions that lack columns, and rows whose columns are empty. */
static void what_a_kernel_lacks_is_made_up_for_or_left_out(void **state)
{
	struct gp_model *m = load(
		INSERT_KERNEL("10", "20", "1", PID) INSERT_KERNEL("30", "40", "2", PID)
			INSERT_KERNEL("50", "60", "3", PID) INSERT_KERNEL(
				"70", "80", "4",
				PID) "UPDATE " KERNEL
				     " SET mangledName = NULL WHERE start = 10;UPDATE " KERNEL
				     " SET mangledName = NULL, demangledName = 77, launchType = 9 WHERE start = 30;UPDATE " KERNEL
				     " SET gridX = NULL, graphNodeId = NULL WHERE start = 50;UPDATE " KERNEL
				     " SET registersPerThread = 70000 WHERE start = 70;");

	assert_int_equal(m->op_count, 4);
	assert_string_equal(gp_model_kernel_name(m, &m->ops[0]), "void k<int>(int)");
	assert_string_equal(gp_model_kernel_name(m, &m->ops[1]), "k");
	assert_int_equal(m->shapes[m->ops[1].shape].launch_type, 0);
	assert_int_equal(m->ops[2].shape, GP_NONE);
	assert_int_equal(m->ops[2].graph_id, 0);
	assert_int_equal(m->shapes[m->ops[3].shape].registers, 0);
	gp_model_free(m);
}

static void operations_of_devices_that_cannot_be_are_counted(void **state)
{
	struct gp_model *m = load(
		"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, deviceId INT, globalPid INT, bytes INT, copyKind INT, srcKind INT);INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 2, 70000, " PID
		", 8, 1, 0), (3, 4, 0, " PID ", 8, 2000, 3000), (5, 6, 0, " OTHER
		", 8, 1, 0);CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INT, end INT, deviceId INT, globalPid INT, bytes INT);INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (7, 8, NULL, " PID
		", 8), (9, 10, 0, " PID ", 8), (9, 10, 0, " OTHER
		", 8);CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId INT, globalPid INT);INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (70000, " PID
		");");

	assert_int_equal(m->losses.unknown_records, 3);
	assert_int_equal(m->op_count, 2);
	assert_int_equal(m->ops[0].copy_kind, 0);
	assert_int_equal(m->ops[0].source_kind, 0);
	assert_int_equal(m->ops[1].kind, GP_OP_SET);
	gp_model_free(m);
}

/* Only our own files say so: nsys' have no such column. */
static void calls_have_their_context(void **state)
{
	struct gp_model *m = load(INSERT_CALL(
		"1", "2", "60", "6",
		"0") "ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME ADD COLUMN contextId INT;UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET contextId = 3;");

	assert_int_equal(m->calls[0].context_id, 3);
	gp_model_free(m);
}

/* ---- call chains ---- */

#define CHAINS                                                                                     \
	"CREATE TABLE CUDA_CALLCHAINS (id INT, symbol INT, module INT, unresolved INT, "           \
	"originalIP INT, stackDepth INT);"                                                         \
	"INSERT INTO StringIds VALUES (100, '/app/solver'), (101, 'main'), (102, 'solve(int)'), "  \
	"(103, '0x7f01'), (104, '/lib/libx.so'), (105, '[Max depth]'), (106, ''), "                \
	"(107, 'load (data.py:12)'), (108, '/app/data.py'), (109, 'made up'), (110, 'load');"
#define CALL_WITH(chain)                                                                           \
	INSERT_CALL("1", "2", "60", "6", "0")                                                      \
	"UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET callchainId = " chain ";"

/* "innermost < its caller < ..." of the first call. */
static const char *stack_of(const struct gp_model *m)
{
	static char text[1024];
	struct gp_symbols *symbols = gp_symbols_new();
	char label[GP_SITE_LABEL_BYTES];
	size_t used = 0, count;

	text[0] = '\0';
	for (uint32_t at = m->calls[0].stack; at != GP_NONE; at = m->frames[at].parent)
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s%s", used ? " < " : "",
			gp_site_label(gp_symbols_find(symbols, m, at, &count), label));
	gp_symbols_free(symbols);
	return text;
}

static void assert_stack(const char *statements, const char *expected)
{
	struct gp_model *m = load(statements);

	assert_string_equal(stack_of(m), expected);
	assert_int_equal(m->losses.unknown_records, 0);
	gp_model_free(m);
}

static void chains_are_stacks_whatever_the_order_of_their_rows(void **state)
{
	assert_stack(
		CHAINS
		"INSERT INTO CUDA_CALLCHAINS VALUES (7, 101, 100, NULL, 900, 1), (8, 109, 100, NULL, 950, 0), (7, 102, 100, NULL, 800, 0);" CALL_WITH(
			"7"),
		"solve < main");
}

static void a_call_without_a_chain_has_no_stack(void **state)
{
	assert_stack(CHAINS CALL_WITH("0"), "");
	assert_stack(CHAINS CALL_WITH("NULL"), "");
	assert_stack(CALL_WITH("7"), "");
}

static void what_has_no_name_has_its_module(void **state)
{
	assert_stack(
		CHAINS
		"INSERT INTO CUDA_CALLCHAINS VALUES (7, 103, 104, 1, 32513, 0), (7, 105, 106, 1, NULL, 1);" CALL_WITH(
			"7"),
		"libx.so at 0x7f01 < (deeper frames were not kept)");
}

/* Functions that are inlined into each other share an address, and recursion comes back to it. */
static void an_address_may_have_several_functions(void **state)
{
	assert_stack(
		CHAINS
		"INSERT INTO CUDA_CALLCHAINS VALUES (7, 109, 100, NULL, 800, 0), (7, 102, 100, NULL, 800, 1), (7, 102, 100, NULL, 800, 2), (7, 101, 100, NULL, 800, 3), (7, 999, 999, NULL, NULL, 4);" CALL_WITH(
			"7"),
		"made up < solve < solve < main < (unnamed function)");
}

static void functions_of_python_have_their_file(void **state)
{
	assert_stack(
		CHAINS
		"INSERT INTO CUDA_CALLCHAINS VALUES (7, 107, 108, NULL, NULL, 0), (7, 110, 108, NULL, NULL, 1);" CALL_WITH(
			"7"),
		"load (data.py:12) < load (data.py)");
}

static void what_launches_a_kernel_is_not_the_user_s(void **state)
{
	struct gp_symbols *symbols = gp_symbols_new();
	struct gp_model *m = load(CHAINS INSERT_KERNEL(
		"4000", "7000", "60",
		PID) "INSERT INTO CUDA_CALLCHAINS VALUES (7, 1, 100, NULL, 800, 0), (7, 101, 100, NULL, 900, 1);" CALL_WITH("7"));
	uint32_t stub = m->calls[0].stack;
	size_t count;

	assert_true(gp_symbols_find(symbols, m, stub, &count)->is_stub);
	assert_false(gp_symbols_find(symbols, m, m->frames[stub].parent, &count)->is_stub);
	gp_symbols_free(symbols);
	gp_model_free(m);
}

/* Depths and chains that cannot be, and a stack that is deeper than any. */
static void nonsense_in_chains_does_no_harm(void **state)
{
	struct gp_model *m = load(
		CHAINS
		"WITH RECURSIVE c(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c WHERE n < 5000) INSERT INTO CUDA_CALLCHAINS SELECT 7, 102, 100, NULL, n + 1, n FROM c;INSERT INTO CUDA_CALLCHAINS VALUES ('x', 'y', x'00', 'z', -9, -1), (NULL, NULL, NULL, NULL, NULL, NULL);" CALL_WITH(
			"7"));
	uint32_t depth = 0;

	for (uint32_t at = m->calls[0].stack; at != GP_NONE; at = m->frames[at].parent)
		depth++;
	assert_int_equal(depth, GP_FRAME_DEPTH);
	gp_model_free(m);
}

static void other_databases_are_refused(void **state)
{
	struct gp_model *m;
	int result;

	fill("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; CREATE TABLE t (x)");
	result = gp_model_load(path, &m, message, sizeof(message));
	assert_int_equal(result, -ENODATA);
	assert_non_null(strstr(message, "without the CUDA or NVTX tables"));
	assert_int_equal(truncate(path, 5000), 0);
	assert_int_equal(gp_model_load(path, &m, message, sizeof(message)), -ENODATA);
	assert_non_null(strstr(message, "SQLite file, but it is damaged"));
}

static void a_compressed_database_is_to_be_uncompressed(void **state)
{
	gzFile file = gzopen(path, "wb");
	struct gp_model *m;

	assert_int_equal(gzwrite(file, "SQLite format 3", 16), 16);
	assert_int_equal(gzclose(file), Z_OK);
	assert_int_equal(gp_model_load(path, &m, message, sizeof(message)), -ENODATA);
	assert_non_null(strstr(message, "decompress it first"));
}

static void a_damaged_database_is_read_as_far_as_it_goes(void **state)
{
	struct gp_model *m = NULL;

	fill("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 3000) INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT 10 * n, 10 * n + 5, 0, " TID
	     ", n, 4, 0, NULL FROM c");
	assert_int_equal(truncate(path, 40000), 0);
	assert_int_equal(gp_model_load(path, &m, message, sizeof(message)), 0);
	assert_in_range(m->call_count, 100, 2999);
	assert_true(m->losses.cut);
	assert_false(m->losses.closed);
	gp_model_free(m);
}

static void nonsense_does_no_harm(void **state)
{
	struct gp_model *m = load(
		"INSERT INTO " KERNEL
		" (start, end, deviceId, gridX, blockX, globalPid) VALUES (-5, 'x', 70000, 1, 1, " PID
		"), (9223372036854775807, 3, 0, -1, 9999999999999, " PID
		"), (NULL, NULL, NULL, NULL, NULL, " PID "), ('x', x'00ff', 'y', 'z', 1.5, " PID
		");INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId) VALUES (5, 1, " TID
		", -1, 99), (NULL, NULL, " TID ", 99999999999, NULL);");

	assert_int_equal(m->op_count, 2);
	assert_int_equal(m->losses.unknown_records, 2);
	assert_int_equal(m->call_count, 0);
	gp_model_free(m);
}

/* Times are relative to the start of the session, so calls and kernels may come before it. */
static void any_origin_of_times_is_legal(void **state)
{
	struct gp_model *m = load(
		"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId) VALUES (-3000, -500, " TID
		", 7, 4); INSERT INTO " KERNEL
		" (start, end, deviceId, streamId, correlationId, globalPid) VALUES (0, 200, 0, 1, 7, " PID
		"), (-900, -400, 0, 2, 8, " PID "), (-900, 0, 0, 3, 9, " PID
		"), (0, 0, 0, 4, 10, " PID "), (5, NULL, 0, 5, 11, " PID
		"), (500, 499, 0, 6, 12, " PID ")");
	static const uint64_t lengths_ns[] = {200, 500, 900};

	assert_int_equal(m->call_count, 1);
	assert_int_equal(m->calls[0].start_ns, 0);
	assert_int_equal(m->calls[0].duration_ns, 2500);
	assert_int_equal(m->op_count, 6);
	assert_int_equal(m->losses.ops_untimed, 3);
	assert_int_equal(m->losses.ops_reversed, 0);
	for (uint32_t i = 0; i < m->op_count; i++) {
		uint32_t stream = m->ops[i].stream_id;

		assert_int_equal(m->ops[i].untimed, stream > 3);
		if (stream <= 3)
			assert_int_equal(m->ops[i].end_ns - m->ops[i].start_ns,
					 lengths_ns[stream - 1]);
	}
	gp_model_free(m);
}

/* As our own export has it. */
static void recorded_windows_and_losses_are_read(void **state)
{
	struct gp_model *m = load(
		"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId) VALUES (20, 30, " TID
		", 70, 4); CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT); INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_NAME', 'gpuprof');"
		"CREATE TABLE RECORDING_EVENT (start INT, value INT, name TEXT, globalPid INT); INSERT INTO RECORDING_EVENT VALUES (0, 0, 'the options, at the start', " PID
		"), (15, 1, 'a signal', " PID "), (35, 0, 'new', " PID "), (40, 1, 'a signal', 1);"
		"CREATE TABLE DIAGNOSTIC_EVENT (text TEXT, globalPid INT); INSERT INTO DIAGNOSTIC_EVENT VALUES ('12 kernels that --kernels excludes', " PID
		"), ('7 kernels that --kernels excludes', 1), ('3 of nsys', " PID "), ('x', NULL);"
		"CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT, globalPid INT); INSERT INTO META_DATA_CAPTURE VALUES ('HOST', 'n1', " PID
		"), ('HOST', 'n2', 1), ('COMMAND', 'a ''b''', " PID "), ('NOTE', 'x', " PID
		"); CREATE TABLE ANALYSIS_DETAILS (startTime INT, stopTime INT); INSERT INTO ANALYSIS_DETAILS VALUES (0, 5000)");

	assert_int_equal(m->gate_count, 3);
	assert_int_equal(m->gates[0].reason, GP_GATE_START);
	assert_int_equal(m->gates[1].time_ns, 15);
	assert_true(m->gates[1].on);
	assert_int_equal(m->gates[1].reason, GP_GATE_SIGNAL);
	assert_false(m->gates[2].on);
	assert_int_equal(m->gates[2].reason, 0);
	assert_int_equal(m->counters[GP_COUNTER_LEFT_OUT_KERNELS], 12);
	assert_string_equal(m->info[GP_INFO_HOST], "n1");
	assert_string_equal(m->info[GP_INFO_COMMAND], "a 'b'");
	assert_string_equal(m->notes[0], "x");
	assert_int_equal(m->end_ns, 5000);
	gp_model_free(m);
}

/* Other recorders do not tell which launches were captured. */
static void launches_within_a_capture_lack_nothing(void **state)
{
	struct gp_model *m = load(
		"INSERT INTO StringIds VALUES (90, 'cudaStreamBeginCapture_v10000'), (91, 'cudaStreamEndCapture_v10000');"
		"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId) VALUES (1000, 1010, " TID
		", 70, 90), (1020, 1030, " TID ", 71, 4), (1040, 1050, " TID
		", 72, 91), (1060, 1070, " TID ", 73, 4), (1020, 1030, " TID " + 1, 74, 4)");

	assert_int_equal(m->losses.launches_captured, 1);
	assert_int_equal(m->losses.launches_without_op, 2);
	gp_model_free(m);
}

#define T(name) cmocka_unit_test_setup_teardown(name, make_path, remove_file)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(kernels_and_calls_have_what_the_rows_say),
		T(names_of_streams_the_host_and_who_wrote_the_file_are_read),
		T(copies_sets_and_migrations_are_told_apart),
		T(memory_belongs_to_the_calls),
		T(without_it_the_summary_is_told),
		T(ranges_are_read),
		T(memory_of_kernels_that_is_not_there_is_not_known),
		T(devices_contexts_and_names_are_read),
		T(each_process_is_a_model),
		T(processes_without_cuda_count_if_there_are_no_others),
		T(the_uuid_of_a_gpu_is_read),
		T(what_only_drives_a_display_is_no_gpu),
		T(links_and_overheads_are_read),
		T(graphs_syncs_and_events_are_read),
		T(what_a_kernel_lacks_is_made_up_for_or_left_out),
		T(operations_of_devices_that_cannot_be_are_counted),
		T(calls_have_their_context),
		T(chains_are_stacks_whatever_the_order_of_their_rows),
		T(a_call_without_a_chain_has_no_stack),
		T(what_has_no_name_has_its_module),
		T(an_address_may_have_several_functions),
		T(functions_of_python_have_their_file),
		T(what_launches_a_kernel_is_not_the_user_s),
		T(nonsense_in_chains_does_no_harm),
		T(other_databases_are_refused),
		T(a_compressed_database_is_to_be_uncompressed),
		T(a_damaged_database_is_read_as_far_as_it_goes),
		T(nonsense_does_no_harm),
		T(any_origin_of_times_is_legal),
		T(recorded_windows_and_losses_are_read),
		T(launches_within_a_capture_lack_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
