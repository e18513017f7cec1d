/*
 * sqlite_reader: reads the tables of an SQLite file row by row through libsqlite3.
 *
 * The file is opened read-only as immutable: no lock, no journal. Any content is safe: views,
 * triggers and virtual tables are ignored, and damage ends the table.
 */
#ifndef REPORT_CODEC_SQLITE_READER_H
#define REPORT_CODEC_SQLITE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gp_database;
struct gp_row;

/*
 * columns: the column names, of all tables, that rows are asked for. They must outlive the
 * database. Returns 0, -EIO or -ENOMEM.
 */
int gp_database_open(const char *path, const char *const *columns, uint32_t column_count,
		     struct gp_database **database);
void gp_database_close(struct gp_database *database);

/*
 * Calls take() for each row of a table until it returns a value other than 0. Returns that value;
 * else 0 or -ENOMEM. A missing table has no rows.
 */
int gp_database_each(struct gp_database *database, const char *table,
		     int (*take)(void *context, const struct gp_row *row), void *context);

/* Whether a part of a table could not be read. */
bool gp_database_is_damaged(const struct gp_database *database);

/*
 * Values of columns, by their index in columns. has: the table has the column and its value is not
 * NULL. whole: as a whole number; 0 if it is none.
 */
bool gp_row_has(const struct gp_row *row, uint32_t column);
int64_t gp_row_whole(const struct gp_row *row, uint32_t column);
/* As gp_row_whole(); `otherwise` if there is no value or it does not fit into 32 bits. */
uint32_t gp_row_number(const struct gp_row *row, uint32_t column, uint32_t otherwise);
/* As a text; "" if there is none. Valid until the next row. */
const char *gp_row_text(const struct gp_row *row, uint32_t column, size_t *bytes);

#endif
