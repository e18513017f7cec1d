/*
 * sqlite_tables: a database with the tables that `nsys export --type=sqlite` writes for CUDA and
 * NVTX, row by row.
 *
 * Tables and columns have the names, order and meaning of that export's schema 3.16, so that what
 * was written for it reads this; one table (GP_SQLITE_LINK) and the last column of GP_SQLITE_STREAM
 * are ours alone.  A table without rows is not there, as in that export, but for StringIds and the
 * tables of names (ENUM_...).  All goes through prepared statements in one transaction, without a
 * journal: a database that was not closed is worth nothing.
 */
#ifndef REPORT_EXPORT_SQLITE_SQLITE_TABLES_H
#define REPORT_EXPORT_SQLITE_SQLITE_TABLES_H

#include <stdint.h>

#include "report/document/table.h"

enum gp_sqlite_table {
	GP_SQLITE_STRINGS,
	GP_SQLITE_THREADS,
	GP_SQLITE_PROCESSES,
	GP_SQLITE_DETAILS,
	GP_SQLITE_SESSION,
	GP_SQLITE_GPU,
	GP_SQLITE_CUDA_DEVICE,
	GP_SQLITE_LINK,
	GP_SQLITE_CONTEXT,
	GP_SQLITE_STREAM,
	GP_SQLITE_STREAM_NAME,
	GP_SQLITE_CAPTURE,
	GP_SQLITE_EXPORT,
	GP_SQLITE_DIAGNOSTIC,
	GP_SQLITE_KERNEL,
	GP_SQLITE_MEMCPY,
	GP_SQLITE_MEMSET,
	GP_SQLITE_GRAPH,
	GP_SQLITE_RUNTIME,
	GP_SQLITE_SYNC,
	GP_SQLITE_EVENT,
	GP_SQLITE_OVERHEAD,
	GP_SQLITE_MEMORY,
	GP_SQLITE_GPU_FAULT,
	GP_SQLITE_NVTX,
	GP_SQLITE_CALLCHAIN,
	GP_SQLITE_TABLES
};

struct gp_sqlite;

/*
 * path: an empty file, or none.  Returns 0 or a negative errno value; *db is to be closed if it is
 * not NULL.
 */
int gp_sqlite_open(struct gp_sqlite **db, const char *path);

/*
 * Add a row: a value for each of the first columns, the others are NULL.  Whole numbers are 64 bits
 * with a sign.
 */
void gp_sqlite_put(struct gp_sqlite *db, enum gp_sqlite_table table, const struct gp_value *values,
		   int count);

/* The id of a text in StringIds, the same for equal ones. */
struct gp_value gp_sqlite_string(struct gp_sqlite *db, const char *text);

/* 0 or the first error, a negative errno value: nothing more is written then. */
const int *gp_sqlite_error(const struct gp_sqlite *db);

/* Write what is left.  Returns 0 or the first error. */
int gp_sqlite_close(struct gp_sqlite *db);

#endif
