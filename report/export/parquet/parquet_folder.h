/*
 * parquet_folder: tables of several processes as Parquet files, FOLDER/TABLE/HOST.parquet, with a
 * row group or more for each process.
 *
 * Every table has the columns rank and host in front, which the folder fills in.
 */
#ifndef REPORT_EXPORT_PARQUET_PARQUET_FOLDER_H
#define REPORT_EXPORT_PARQUET_PARQUET_FOLDER_H

#include <stddef.h>
#include <stdint.h>

#include "report/codec/parquet.h"
#include "report/document/value.h"
#include "report/model/model.h"

#define GP_PARQUET_MOST_COLUMNS 48

struct gp_parquet_table {
	const char *name;
	struct gp_parquet_column columns[GP_PARQUET_MOST_COLUMNS];
	size_t column_count;
};

struct gp_parquet_folder;

/*
 * Makes the folder, or takes an empty one.  Returns 0, or a negative errno value with one line for
 * the user in message.  The tables must outlive it.
 */
int gp_parquet_folder_open(struct gp_parquet_folder **folder, const char *path,
			   const struct gp_parquet_table *tables, size_t table_count, char *message,
			   size_t message_bytes);

/* The rows that follow are of this process.  Returns as above. */
int gp_parquet_folder_begin(struct gp_parquet_folder *folder, const struct gp_model *model,
			    char *message, size_t message_bytes);

/* A row, in the order of the table's columns. */
void gp_parquet_folder_put(struct gp_parquet_folder *folder, size_t table,
			   const struct gp_value *values);

/* The end of a process: ends the row groups. */
void gp_parquet_folder_end(struct gp_parquet_folder *folder);

/*
 * Frees the folder.  If result is not 0, the files of the current host are removed.  Returns result,
 * or else the first error, with a line for the user in message.
 */
int gp_parquet_folder_close(struct gp_parquet_folder *folder, int result, char *message,
			    size_t message_bytes);

#endif
