/*
 * event_rows: everything that a trace holds as the rows of one wide table, for exports that are
 * tables.
 *
 * A row has a kind (docs/reference/formats.md names all): the process, its devices and threads,
 * kernels, copies, calls, ranges, allocations, ... and lost records.  A column without meaning for a
 * kind has no value.  Kinds come one after the other, within a kind in the order of the model; of a
 * process in parts, in each part.  Times count from the start of the first process's recording; the
 * row of that process has the Unix time.
 */
#ifndef REPORT_EXPORT_EVENT_ROWS_H
#define REPORT_EXPORT_EVENT_ROWS_H

#include "report/codec/json_write.h"
#include "report/export/export.h"
#include "report/document/table.h"

enum gp_event_column {
	GP_EVENT_KIND,
	GP_EVENT_NAME,
	GP_EVENT_START,
	GP_EVENT_DURATION,
	GP_EVENT_PID,
	GP_EVENT_TID,
	GP_EVENT_DEVICE,
	GP_EVENT_CONTEXT,
	GP_EVENT_STREAM,
	GP_EVENT_CORRELATION,
	GP_EVENT_BYTES,
	GP_EVENT_COUNT,
	GP_EVENT_SOURCE,
	GP_EVENT_DESTINATION,
	GP_EVENT_GRID_X,
	GP_EVENT_GRID_Y,
	GP_EVENT_GRID_Z,
	GP_EVENT_BLOCK_X,
	GP_EVENT_BLOCK_Y,
	GP_EVENT_BLOCK_Z,
	GP_EVENT_REGISTERS,
	GP_EVENT_STATIC_SHARED,
	GP_EVENT_DYNAMIC_SHARED,
	GP_EVENT_GRAPH,
	GP_EVENT_GRAPH_NODE,
	GP_EVENT_STATUS,
	GP_EVENT_ERROR,
	GP_EVENT_MEMORY,
	GP_EVENT_ADDRESS,
	GP_EVENT_POOL,
	GP_EVENT_DOMAIN,
	GP_EVENT_CATEGORY,
	GP_EVENT_LEVEL,
	GP_EVENT_PAYLOAD,
	GP_EVENT_UNIX,
	GP_EVENT_FIELDS, /* an object of JSON */
	GP_EVENT_COLUMNS
};

/*
 * By enum gp_event_column: titles are words with _, and their unit where they have one
 * ("start_ns").
 */
extern const struct gp_table_column gp_event_columns[GP_EVENT_COLUMNS];

/* A format of rows; gp_json does its characters and its buffer. */
struct gp_event_format {
	void (*put_titles)(struct gp_json *out); /* NULL: it has none */
	void (*put_row)(struct gp_json *out, const struct gp_value *values);
};

/*
 * Write every row of the processes.  Returns 0, -ENODATA if there was no process, -ENOMEM, or the
 * error of writing.
 */
int gp_event_rows_write(const struct gp_event_format *format, const struct gp_export_source *source,
			const struct gp_export_options *options, FILE *out);

#endif
