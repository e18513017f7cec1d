/*
 * sqlite_writer: shared by the parts of the SQLite exporter.  docs/reference/formats.md describes
 * each table.
 *
 * Processes are written one after the other.  Their rows differ in globalPid and globalTid, which
 * have the form of nsys: the pid from bit 24 on, the tid below.
 */
#ifndef REPORT_EXPORT_SQLITE_SQLITE_WRITER_H
#define REPORT_EXPORT_SQLITE_SQLITE_WRITER_H

#include <stdint.h>

#include "report/export/export.h"
#include "report/export/sqlite/sqlite_tables.h"
#include "report/model/gpu_numbers.h"
#include "report/symbols/names.h"
#include "report/base/group_by.h"
#include "report/symbols/symbols.h"
#include "report/timeline/timeline.h"

/* Cached ids of frequent strings, plus 1; 0 = not known yet. */
struct gp_sqlite_ids {
	uint32_t *full, *brief, *mangled; /* by kernel name, then one for kernels without a name */
	uint32_t *apis;                   /* by API */
	uint32_t *texts;                  /* by range_texts */
};

/* Call stacks, each written at its first call. */
struct gp_sqlite_stacks {
	struct gp_symbols *symbols; /* of the model */
	bool *is_written;           /* by frame */
	uint32_t frames;
	uint64_t first; /* number of ids of earlier processes */
	uint64_t rows, left_out;
};

struct gp_sqlite_export {
	struct gp_sqlite *db;
	const struct gp_model *model; /* the process that is being written */
	struct gp_names *names;
	struct gp_gpu_numbers gpus;
	struct gp_sqlite_ids ids;
	struct gp_sqlite_stacks stacks;
	struct gp_groups categories; /* of ranges, whose names are written */
	uint64_t ranges;             /* number in earlier parts of the process */
	uint64_t base_unix_ns;       /* the start of the session: times are relative to it */
	uint64_t offset_ns;          /* added to times of the model */
	uint64_t last_ns;            /* the end of the session so far */
	int error;                   /* 0 or -ENOMEM */
};

/* sqlite_about.c: the process, its threads, devices, contexts, streams; lost records. */
void gp_sqlite_write_about(struct gp_sqlite_export *export);
void gp_sqlite_write_session(struct gp_sqlite_export *export);

/*
 * sqlite_events.c: the chosen events of the process.  Returns 0, or a negative errno value of the
 * walk or of the database.
 */
int gp_sqlite_write_events(struct gp_sqlite_export *export, const struct gp_slice_choice *choice);

/*
 * sqlite_stacks.c: the id of the stack of a call (an index in frames), NULL if it has none.  Call it
 * between begin (false: no memory) and end of a process.
 */
bool gp_sqlite_begin_stacks(struct gp_sqlite_export *export);
struct gp_value gp_sqlite_stack(struct gp_sqlite_export *export, uint32_t stack);
void gp_sqlite_end_stacks(struct gp_sqlite_export *export, FILE *messages);

/* Report missing data and its amount. */
void gp_sqlite_put_missing(void *export, const char *what, uint64_t count);

/* sqlite_ranges.c: NVTX; the domains are written once for a process. */
void gp_sqlite_write_domains(struct gp_sqlite_export *export);
void gp_sqlite_put_range(struct gp_sqlite_export *export, const struct gp_timeline_event *event);

static inline struct gp_value gp_sqlite_time(const struct gp_sqlite_export *export, uint64_t ns)
{
	return gp_value_whole(export->offset_ns + ns);
}

/* For pids and tids of 24 bits: Linux has no larger ones. */
static inline uint64_t gp_sqlite_tid(const struct gp_sqlite_export *export, uint32_t tid)
{
	return (uint64_t)(export->model->pid & 0xffffffu) << 24 | (tid & 0xffffffu);
}

static inline struct gp_value gp_sqlite_thread(const struct gp_sqlite_export *export, uint32_t tid)
{
	return gp_value_whole(gp_sqlite_tid(export, tid));
}

static inline struct gp_value gp_sqlite_process(const struct gp_sqlite_export *export)
{
	return gp_value_whole(gp_sqlite_tid(export, 0));
}

/* NULL for 0, which means none. */
static inline struct gp_value gp_sqlite_if_any(uint64_t value)
{
	return value != 0 ? gp_value_whole(value) : gp_value_none();
}

#define GP_SQLITE_PUT(export, table, values)                                                       \
	gp_sqlite_put((export)->db, table, values, (int)(sizeof(values) / sizeof((values)[0])))

#endif
