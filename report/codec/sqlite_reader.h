/*
 * database: the tables of an SQLite file, row by row, through libsqlite3.
 *
 * The file is only read, and taken as it is: no lock, no journal.  Any bytes are safe: views,
 * triggers and virtual tables are not followed, and what cannot be read ends its table.
 */
#ifndef REPORT_CODEC_SQLITE_READER_H
#define REPORT_CODEC_SQLITE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gp_database;
struct gp_row;

/*
 * columns: names of columns of any of its tables, by which rows are asked for; it stays the
 * caller's. Returns 0, -EIO or -ENOMEM.
 */
int gp_database_open(const char *path, const char *const *columns, uint32_t column_count,
		     struct gp_database **database);
void gp_database_close(struct gp_database *database);

/*
 * Hand each row of a table to take(), until that returns something else than 0, which is then
 * returned; else 0, or -ENOMEM.  Nothing is done where there is no such table.
 */
int gp_database_each(struct gp_database *database, const char *table,
		     int (*take)(void *context, const struct gp_row *row), void *context);

/* Whether something could not be read: a part of a table is missing. */
bool gp_database_is_damaged(const struct gp_database *database);

/*
 * A column's value, by its index in columns: whether the table has it, and it is not NULL; as a
 * whole number, 0 if it is none.
 */
bool gp_row_has(const struct gp_row *row, uint32_t column);
int64_t gp_row_whole(const struct gp_row *row, uint32_t column);
/* The same within 32 bits; otherwise if it is not there, or does not fit. */
uint32_t gp_row_number(const struct gp_row *row, uint32_t column, uint32_t otherwise);
/* As a text of so many bytes, "" if there is none; until the next row. */
const char *gp_row_text(const struct gp_row *row, uint32_t column, size_t *bytes);

#endif
