/*
 * event_rows: the content of a trace as the rows of one wide table, for exports that are tables.
 *
 * A row has a kind (docs/reference/formats.md lists them): the process, its devices and threads,
 * kernels, copies, calls, ranges, allocations, ... and lost records.  Columns that do not apply to a
 * kind are empty.  Rows are sorted by kind, then in the order of the model; a process in parts
 * repeats that in each part.  Times are relative to the start of the first process's recording; the
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
	GP_EVENT_POWER,
	GP_EVENT_ENERGY,
	GP_EVENT_CLOCK,
	/* of formats with has_places alone: the call site, and 1 if the call's stack is estimated */
	GP_EVENT_PLACE,
	GP_EVENT_IS_ESTIMATED,
	/* of calls, in the format `columns`: a word for enum gp_api_class; gp_awaited_ops_has() */
	GP_EVENT_CLASS,
	GP_EVENT_LACKS_OPERATION,
	GP_EVENT_COLUMNS,
	GP_EVENT_ROW_COLUMNS = GP_EVENT_PLACE, /* of the other formats */
};

/* Columns by enum gp_event_column.  A title ends in its unit, if there is one ("start_ns"). */
extern const struct gp_table_column gp_event_columns[GP_EVENT_COLUMNS];

/* A table of some kinds of rows and some columns, for formats that have several tables. */
struct gp_event_table {
	const char *name;
	const char *kinds[4]; /* none: all that no table before it has */
	uint64_t columns;     /* GP_EVENT_BIT() of each */
};

#define GP_EVENT_BIT(id) (UINT64_C(1) << GP_EVENT_##id)

/* Columns that several tables share. */
#define GP_EVENT_TIMES                                                                             \
	(GP_EVENT_BIT(NAME) | GP_EVENT_BIT(START) | GP_EVENT_BIT(DURATION) | GP_EVENT_BIT(PID))
#define GP_EVENT_SITE (GP_EVENT_BIT(PLACE) | GP_EVENT_BIT(IS_ESTIMATED))
#define GP_EVENT_QUEUE                                                                             \
	(GP_EVENT_BIT(DEVICE) | GP_EVENT_BIT(CONTEXT) | GP_EVENT_BIT(STREAM) |                     \
	 GP_EVENT_BIT(CORRELATION))
#define GP_EVENT_NODE (GP_EVENT_BIT(GRAPH) | GP_EVENT_BIT(GRAPH_NODE))
#define GP_EVENT_SHAPE                                                                             \
	(GP_EVENT_BIT(GRID_X) | GP_EVENT_BIT(GRID_Y) | GP_EVENT_BIT(GRID_Z) |                      \
	 GP_EVENT_BIT(BLOCK_X) | GP_EVENT_BIT(BLOCK_Y) | GP_EVENT_BIT(BLOCK_Z) |                   \
	 GP_EVENT_BIT(REGISTERS) | GP_EVENT_BIT(STATIC_SHARED) | GP_EVENT_BIT(DYNAMIC_SHARED))

/* The whole table of the energy samples. */
#define GP_EVENT_OF_ENERGY (GP_EVENT_BIT(POWER) | GP_EVENT_BIT(ENERGY) | GP_EVENT_BIT(CLOCK))
#define GP_EVENT_ENERGY_TABLE                                                                      \
	{                                                                                          \
		"energy", {"energy sample"},                                                       \
			GP_EVENT_BIT(NAME) | GP_EVENT_BIT(START) | GP_EVENT_BIT(PID) |             \
				GP_EVENT_BIT(DEVICE) | GP_EVENT_OF_ENERGY                          \
	}

/* The index of the table of that kind; the last one if no other has it. */
size_t gp_event_table_of(const struct gp_event_table *tables, size_t count, const char *kind);

/* A format of rows, with the escapes and the buffer of gp_json. */
struct gp_event_format {
	bool has_places;
	void (*put_titles)(struct gp_json *out); /* NULL: no titles */
	void (*put_row)(struct gp_json *out, const struct gp_value *values, void *context);
	void (*put_end)(struct gp_json *out, void *context); /* after all rows; NULL: nothing */
	void *context;
};

/*
 * Write every row of the processes.  Returns 0, -ENODATA if there was no process, -ENOMEM, or a
 * write error.
 */
int gp_event_rows_write(const struct gp_event_format *format, const struct gp_export_source *source,
			const struct gp_export_options *options, FILE *out);

#endif
