#include "report/export/sqlite/sqlite_tables.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/sqlite/sqlite_names.h"
#include "report/base/group_by.h"
#include "report/base/text/utf8.h"

/* "INTEGER NOT NULL", "INTEGER", ... */
#define ID    " INTEGER NOT NULL"
#define MAYBE " INTEGER"
#define SPAN  "start" ID ", end" ID
#define PLACE                                                                                      \
	"deviceId" ID ", contextId" ID ", greenContextId" MAYBE ", streamId" ID                    \
	", correlationId" MAYBE ", globalPid" MAYBE

/* In the order of the columns. */
static const struct {
	const char *name, *columns;
} tables[GP_SQLITE_TABLES] = {
	[GP_SQLITE_STRINGS] = {"StringIds", "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL"},
	[GP_SQLITE_THREADS] = {"ThreadNames", "nameId" ID ", priority" MAYBE ", globalTid" MAYBE},
	[GP_SQLITE_PROCESSES] = {"PROCESSES", "globalPid" MAYBE ", pid" MAYBE ", name TEXT"},
	[GP_SQLITE_DETAILS] = {"ANALYSIS_DETAILS",
			       "globalVid" ID ", duration" ID ", startTime" ID ", stopTime" ID},
	[GP_SQLITE_SESSION] = {"TARGET_INFO_SESSION_START_TIME",
			       "utcEpochNs" MAYBE ", utcTime TEXT, localTime TEXT"},
	[GP_SQLITE_GPU] = {"TARGET_INFO_GPU",
			   "vmId" ID ", id" ID ", name TEXT, busLocation TEXT, isDiscrete" MAYBE
			   ", l2CacheSize" MAYBE ", totalMemory" MAYBE ", memoryBandwidth" MAYBE
			   ", clockRate" MAYBE ", smCount" MAYBE ", pwGpuId" MAYBE
			   ", uuid TEXT, luid" MAYBE ", chipName TEXT, cuDevice" MAYBE
			   ", ctxswDevPath TEXT, ctrlDevPath TEXT, revision" MAYBE
			   ", nodeMask" MAYBE ", constantMemory" MAYBE ", maxIPC" MAYBE
			   ", maxRegistersPerBlock" MAYBE ", maxShmemPerBlock" MAYBE
			   ", maxShmemPerBlockOptin" MAYBE ", maxShmemPerSm" MAYBE
			   ", maxRegistersPerSm" MAYBE ", threadsPerWarp" MAYBE
			   ", asyncEngines" MAYBE ", maxWarpsPerSm" MAYBE ", maxBlocksPerSm" MAYBE
			   ", maxThreadsPerBlock" MAYBE ", maxBlockDimX" MAYBE
			   ", maxBlockDimY" MAYBE ", maxBlockDimZ" MAYBE ", maxGridDimX" MAYBE
			   ", maxGridDimY" MAYBE ", maxGridDimZ" MAYBE ", computeMajor" MAYBE
			   ", computeMinor" MAYBE ", smMajor" MAYBE ", smMinor" MAYBE},
	[GP_SQLITE_CUDA_DEVICE] = {"TARGET_INFO_CUDA_DEVICE", "gpuId" MAYBE ", cudaId" ID ", pid" ID
							      ", uuid TEXT, numMultiprocessors" ID},
	[GP_SQLITE_LINK] = {"TARGET_INFO_GPU_LINK",
			    "gpuId" MAYBE ", cudaId" ID ", pid" ID ", kind TEXT, generation" MAYBE
			    ", lanes" MAYBE ", peakBandwidth" MAYBE},
	[GP_SQLITE_CONTEXT] = {"TARGET_INFO_CUDA_CONTEXT_INFO",
			       "nullStreamId" ID ", hwId" ID ", vmId" ID ", processId" ID
			       ", deviceId" ID ", contextId" ID ", parentContextId" MAYBE
			       ", isGreenContext" MAYBE},
	[GP_SQLITE_STREAM] = {"TARGET_INFO_CUDA_STREAM",
			      "streamId" ID ", hwId" ID ", vmId" ID ", processId" ID
			      ", contextId" ID ", priority" ID ", flag" ID ", correlationId" MAYBE},
	[GP_SQLITE_STREAM_NAME] = {"TARGET_INFO_NVTX_CUDA_STREAM",
				   "name TEXT NOT NULL, hwId" ID ", vmId" ID ", processId" ID
				   ", deviceId" ID ", contextId" ID ", streamId" ID},
	[GP_SQLITE_CAPTURE] = {"META_DATA_CAPTURE",
			       "name TEXT NOT NULL, value TEXT, globalPid" MAYBE},
	[GP_SQLITE_EXPORT] = {"META_DATA_EXPORT", "name TEXT NOT NULL, value TEXT"},
	[GP_SQLITE_DIAGNOSTIC] = {"DIAGNOSTIC_EVENT",
				  "timestamp" ID ", timestampType" ID ", source" ID ", severity" ID
				  ", text TEXT NOT NULL, globalPid" MAYBE},
	[GP_SQLITE_RECORDING] = {"RECORDING_EVENT",
				 "start" ID ", value" ID ", name TEXT NOT NULL, globalPid" ID},
	[GP_SQLITE_KERNEL] = {"CUPTI_ACTIVITY_KIND_KERNEL", SPAN
			      ", " PLACE ", demangledName" ID ", shortName" ID ", mangledName" MAYBE
			      ", launchType" MAYBE ", cacheConfig" MAYBE ", registersPerThread" ID
			      ", gridX" ID ", gridY" ID ", gridZ" ID ", blockX" ID ", blockY" ID
			      ", blockZ" ID ", staticSharedMemory" MAYBE ", dynamicSharedMemory" ID
			      ", localMemoryPerThread" MAYBE ", localMemoryTotal" MAYBE
			      ", gridId" ID ", sharedMemoryExecuted" MAYBE ", graphNodeId" MAYBE
			      ", sharedMemoryLimitConfig" MAYBE},
	[GP_SQLITE_MEMCPY] = {"CUPTI_ACTIVITY_KIND_MEMCPY",
			      SPAN ", " PLACE ", bytes" ID ", copyKind" ID ", deprecatedSrcId" MAYBE
				   ", srcKind" MAYBE ", dstKind" MAYBE ", srcDeviceId" MAYBE
				   ", srcContextId" MAYBE ", dstDeviceId" MAYBE
				   ", dstContextId" MAYBE ", migrationCause" MAYBE
				   ", graphNodeId" MAYBE ", virtualAddress" MAYBE},
	[GP_SQLITE_MEMSET] = {"CUPTI_ACTIVITY_KIND_MEMSET",
			      SPAN ", " PLACE ", value" ID ", bytes" ID ", graphNodeId" MAYBE
				   ", memKind" MAYBE},
	[GP_SQLITE_GRAPH] = {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
			     SPAN ", " PLACE ", graphId" ID ", graphExecId" ID},
	[GP_SQLITE_RUNTIME] = {"CUPTI_ACTIVITY_KIND_RUNTIME",
			       SPAN ", eventClass" ID ", globalTid" MAYBE ", correlationId" MAYBE
				    ", nameId" ID ", returnValue" ID ", callchainId" MAYBE
				    ", contextId" MAYBE ", captured" MAYBE},
	[GP_SQLITE_SYNC] = {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
			    SPAN ", " PLACE ", syncType" ID ", eventId" ID},
	[GP_SQLITE_EVENT] = {"CUPTI_ACTIVITY_KIND_CUDA_EVENT", PLACE ", eventId" ID},
	[GP_SQLITE_OVERHEAD] = {"PROFILER_OVERHEAD",
				SPAN ", globalTid" MAYBE ", correlationId" MAYBE ", nameId" ID
				     ", overheadType" ID},
	[GP_SQLITE_MEMORY] = {"CUDA_GPU_MEMORY_USAGE_EVENTS",
			      "start" ID ", globalPid" ID ", deviceId" ID ", contextId" ID
			      ", address" ID ", pc" ID ", bytes" ID ", memKind" ID
			      ", memoryOperationType" ID ", name TEXT, correlationId" MAYBE
			      ", streamId" MAYBE ", localMemoryPoolAddress" MAYBE
			      ", localMemoryPoolReleaseThreshold" MAYBE
			      ", localMemoryPoolSize" MAYBE ", localMemoryPoolUtilizedSize" MAYBE
			      ", importedMemoryPoolAddress" MAYBE
			      ", importedMemoryPoolProcessId" MAYBE},
	[GP_SQLITE_GPU_FAULT] = {"CUDA_UM_GPU_PAGE_FAULT_EVENTS",
				 SPAN ", globalPid" ID ", deviceId" ID ", address" ID
				      ", numberOfPageFaults" ID ", faultAccessType" ID},
	[GP_SQLITE_CALLCHAIN] = {"CUDA_CALLCHAINS",
				 "id" ID ", symbol" ID ", module" ID ", unresolved" MAYBE
				 ", originalIP" MAYBE ", stackDepth" ID},
	[GP_SQLITE_NVTX] = {"NVTX_EVENTS",
			    "start" ID ", end" MAYBE ", eventType" ID ", rangeId" MAYBE
			    ", category" MAYBE ", color" MAYBE ", text TEXT, globalTid" MAYBE
			    ", endGlobalTid" MAYBE ", textId" MAYBE ", domainId" MAYBE
			    ", uint64Value" MAYBE ", int64Value" MAYBE
			    ", doubleValue REAL, uint32Value" MAYBE ", int32Value" MAYBE
			    ", floatValue REAL, jsonTextId" MAYBE
			    ", jsonText TEXT, binaryData TEXT"},
};

struct gp_sqlite {
	sqlite3 *db;
	sqlite3_stmt *insert[GP_SQLITE_TABLES]; /* NULL: the table does not exist yet */
	struct gp_groups strings;               /* only the keys are used */
	int error;
};

/* A full disk and the like have the errno value of the system. */
static void fail(struct gp_sqlite *db, int code)
{
	int system = db->db ? sqlite3_system_errno(db->db) : 0;

	if (db->error != 0)
		return;
	if ((code & 0xff) == SQLITE_NOMEM)
		db->error = -ENOMEM;
	else if ((code & 0xff) == SQLITE_FULL)
		db->error = -ENOSPC;
	else
		db->error = system > 0 ? -system : -EIO;
}

static void execute(struct gp_sqlite *db, const char *statement)
{
	int code;

	if (db->error != 0)
		return;
	code = sqlite3_exec(db->db, statement, NULL, NULL, NULL);
	if (code != SQLITE_OK)
		fail(db, code);
}

static int count_columns(const char *columns)
{
	int count = 1;

	for (; *columns; columns++)
		count += *columns == ',';
	return count;
}

/* Create a table and its insert statement. */
static sqlite3_stmt *prepare(struct gp_sqlite *db, enum gp_sqlite_table table)
{
	char statement[2048];
	sqlite3_stmt *insert = NULL;
	size_t used;
	int code;

	snprintf(statement, sizeof(statement), "CREATE TABLE %s (%s)", tables[table].name,
		 tables[table].columns);
	execute(db, statement);
	used = (size_t)snprintf(statement, sizeof(statement), "INSERT INTO %s VALUES (?",
				tables[table].name);
	for (int i = 1; i < count_columns(tables[table].columns); i++)
		used += (size_t)snprintf(statement + used, sizeof(statement) - used, ",?");
	snprintf(statement + used, sizeof(statement) - used, ")");
	if (db->error == 0) {
		code = sqlite3_prepare_v3(db->db, statement, -1, SQLITE_PREPARE_PERSISTENT, &insert,
					  NULL);
		if (code != SQLITE_OK)
			fail(db, code);
	}
	db->insert[table] = insert;
	return insert;
}

/* Bind a copy of the text with invalid UTF-8 replaced: readers decode strictly. */
static int bind_text(sqlite3_stmt *insert, int column, const char *text)
{
	char *repaired = gp_utf8_repair(text);

	return repaired ? sqlite3_bind_text(insert, column, repaired, -1, free) : SQLITE_NOMEM;
}

static int bind(sqlite3_stmt *insert, int column, const struct gp_value *value)
{
	switch (value->kind) {
	case GP_VALUE_WHOLE:
		return sqlite3_bind_int64(insert, column, (sqlite3_int64)value->whole);
	case GP_VALUE_REAL:
		return sqlite3_bind_double(insert, column, value->real);
	case GP_VALUE_TEXT:
		return bind_text(insert, column, value->text);
	default:
		return sqlite3_bind_null(insert, column);
	}
}

void gp_sqlite_put(struct gp_sqlite *db, enum gp_sqlite_table table, const struct gp_value *values,
		   int count)
{
	sqlite3_stmt *insert = db->insert[table];
	int code = SQLITE_OK;

	if (!insert && db->error == 0)
		insert = prepare(db, table);
	if (db->error != 0)
		return;
	for (int i = 0; i < count && code == SQLITE_OK; i++)
		code = bind(insert, i + 1, &values[i]);
	if (code == SQLITE_OK)
		code = sqlite3_step(insert);
	if (code != SQLITE_DONE)
		fail(db, code);
	sqlite3_reset(insert);
}

struct gp_value gp_sqlite_string(struct gp_sqlite *db, const char *text)
{
	uint32_t number = gp_groups_find(&db->strings, text);

	if (number == UINT32_MAX && db->error == 0)
		db->error = -ENOMEM;
	return gp_value_whole(number);
}

const int *gp_sqlite_error(const struct gp_sqlite *db)
{
	return &db->error;
}

/* ---- the tables of names ---- */

static void write_names(struct gp_sqlite *db, const struct gp_sqlite_names *names)
{
	char statement[512];

	snprintf(statement, sizeof(statement),
		 "CREATE TABLE %s (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT)",
		 names->table);
	execute(db, statement);
	for (int i = 0; i < names->count; i++) {
		const struct gp_sqlite_name *name = &names->names[i];

		snprintf(statement, sizeof(statement), "INSERT INTO %s VALUES (%d, '%s%s', '%s')",
			 names->table, name->id, names->prefix, name->name, name->label);
		execute(db, statement);
	}
}

/* ---- the database ---- */

int gp_sqlite_open(struct gp_sqlite **opened, const char *path)
{
	struct gp_sqlite *db = *opened = calloc(1, sizeof(*db));
	int code;

	if (!db)
		return -ENOMEM;
	code = sqlite3_open_v2(path, &db->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW, NULL);
	if (code != SQLITE_OK)
		fail(db, code);
	execute(db,
		"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; BEGIN");
	for (int i = 0; i < gp_sqlite_name_tables; i++)
		write_names(db, &gp_sqlite_all_names[i]);
	if (db->error == 0)
		prepare(db, GP_SQLITE_STRINGS);
	return db->error;
}

static void write_strings(struct gp_sqlite *db)
{
	for (uint32_t i = 0; i < db->strings.count && db->error == 0; i++) {
		const struct gp_value values[] = {gp_value_whole(i),
						  gp_value_text(db->strings.rows[i].key)};

		gp_sqlite_put(db, GP_SQLITE_STRINGS, values, 2);
	}
}

int gp_sqlite_close(struct gp_sqlite *db)
{
	int error;

	if (!db)
		return 0;
	write_strings(db);
	for (int i = 0; i < GP_SQLITE_TABLES; i++)
		sqlite3_finalize(db->insert[i]);
	execute(db, "COMMIT");
	sqlite3_close(db->db);
	error = db->error;
	gp_groups_free(&db->strings);
	free(db);
	return error;
}
