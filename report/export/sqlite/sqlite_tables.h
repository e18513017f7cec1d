/*
 * sqlite_tables: a database with the tables that `nsys export --type=sqlite` writes for CUDA and
 * NVTX, row by row.
 *
 * Tables and columns have the names, order and meaning of schema 3.16 of that export, so that its
 * readers work; only two tables (GP_SQLITE_LINK, GP_SQLITE_RECORDING) and the last column of GP_SQLITE_STREAM are ours.  As
 * in that export, a table without rows does not exist, except StringIds and the tables of names
 * (ENUM_...).  All rows are written by prepared statements in one transaction, without a journal: a
 * database that was not closed is useless.
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
	GP_SQLITE_RECORDING,
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
 * path: an empty file, or none.  Returns 0 or a negative errno value; close *db if it is not NULL.
 */
int gp_sqlite_open(struct gp_sqlite **db, const char *path);

/*
 * Add a row: values for the first columns, NULL for the others.  Whole numbers are signed 64-bit
 * numbers.
 */
void gp_sqlite_put(struct gp_sqlite *db, enum gp_sqlite_table table, const struct gp_value *values,
		   int count);

/* The id of a text in StringIds; equal texts have the same id. */
struct gp_value gp_sqlite_string(struct gp_sqlite *db, const char *text);

/* 0 or the first error, a negative errno value; after an error nothing more is written. */
const int *gp_sqlite_error(const struct gp_sqlite *db);

/* Write the rest and close.  Returns 0 or the first error. */
int gp_sqlite_close(struct gp_sqlite *db);

#endif
