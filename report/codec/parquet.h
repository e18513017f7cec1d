/*
 * parquet: writes a table as a file of Apache Parquet (format 2, which DuckDB, pyarrow, Polars and
 * ClickHouse read), column by column, in row groups.
 *
 * 	struct gp_parquet *file;
 *
 * 	gp_parquet_open(&file, out, columns, count);
 * 	gp_parquet_put_whole(file, 0, 17);    a row: at most one value for each column
 * 	gp_parquet_put_text(file, 2, "gemm");
 * 	gp_parquet_end_row(file);
 * 	gp_parquet_end_group(file);           the next row begins a group
 * 	gp_parquet_close(file);
 *
 * Cells without a value are null.  Numbers are stored as differences, texts by a dictionary of the
 * group, and pages are compressed with zlib, because it is linked already and all readers know it.
 * A group has GP_PARQUET_GROUP_ROWS rows at most; it is in memory until it is complete.  After an
 * error nothing more is written; gp_parquet_close() returns it.
 */
#ifndef REPORT_CODEC_PARQUET_H
#define REPORT_CODEC_PARQUET_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define GP_PARQUET_GROUP_ROWS 262144u

enum gp_parquet_type {
	GP_PARQUET_SIGNED,   /* 64 bits */
	GP_PARQUET_UNSIGNED, /* the same, for addresses and other values above INT64_MAX */
	GP_PARQUET_REAL,
	GP_PARQUET_TEXT, /* UTF-8; bytes that are none become U+FFFD */
};

struct gp_parquet_column {
	const char *name;
	enum gp_parquet_type type;
};

struct gp_parquet;

/* The columns are copied, but not their names. */
void gp_parquet_open(struct gp_parquet **file, FILE *out, const struct gp_parquet_column *columns,
		     size_t count);

/* A value of the current row, once for each column; whole is for both types of whole numbers. */
void gp_parquet_put_whole(struct gp_parquet *file, size_t column, uint64_t value);
void gp_parquet_put_real(struct gp_parquet *file, size_t column, double value);
void gp_parquet_put_text(struct gp_parquet *file, size_t column, const char *text);
void gp_parquet_end_row(struct gp_parquet *file);

/* Nothing happens if the group has no rows. */
void gp_parquet_end_group(struct gp_parquet *file);

/* Writes the rest, and frees the file; out stays open.  Returns 0, -EIO, -ENOMEM or -EOVERFLOW. */
int gp_parquet_close(struct gp_parquet *file);

#endif
