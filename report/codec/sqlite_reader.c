#include "report/codec/sqlite_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Larger rows are damage. */
#define MOST_ROW_BYTES (64 << 20)

/* A table of nsys has some fifty columns, and its definition a few thousand bytes. */
#define MOST_COLUMNS   500
#define MOST_SQL_BYTES (1 << 20)

/*
 * Instructions of SQLite's machine: a row takes about three for each column. The limit allows the
 * definitions of about 10,000 tables; nsys has a hundred. SQLite's time grows with the square of
 * their number.
 */
#define OPS_PER_CALL 100000
#define MOST_CALLS   100

/* The least size of a row in a file. A table with more rows than fit into the file has a cycle. */
#define LEAST_ROW_BYTES 4

struct gp_database {
	sqlite3 *db;
	const char *const *columns;
	uint32_t column_count;
	uint64_t most_rows; /* upper limit for a table */
	uint32_t calls;     /* of count_ops() for the current row */
	bool is_damaged;
};

struct gp_row {
	sqlite3_stmt *statement;
	int *places; /* index in columns -> column of the statement; -1 = none */
	uint32_t column_count;
};

/* The path as a URI with immutable=1. Returns NULL if there is no memory. */
static char *uri_of(const char *path)
{
	static const char digits[] = "0123456789abcdef", parameters[] = "?mode=ro&immutable=1";
	char *uri = malloc(strlen("file:") + 3 * strlen(path) + sizeof(parameters));
	char *at = uri;

	if (!uri)
		return NULL;
	at = stpcpy(at, "file:");
	for (; *path; path++) {
		bool is_plain = (*path >= 'a' && *path <= 'z') || (*path >= 'A' && *path <= 'Z') ||
				(*path >= '0' && *path <= '9') || strchr("/._-", *path);

		if (is_plain) {
			*at++ = *path;
			continue;
		}
		*at++ = '%';
		*at++ = digits[(uint8_t)*path >> 4];
		*at++ = digits[(uint8_t)*path & 15];
	}
	stpcpy(at, parameters);
	return uri;
}

/* Ends a statement that takes far longer than a row may. */
static int count_ops(void *database)
{
	return ++((struct gp_database *)database)->calls > MOST_CALLS;
}

/*
 * Allows tables only: no views, triggers, virtual tables or attached files. WRITABLE_SCHEMA lets
 * SQLite also open truncated files, with the definitions before the first unreadable one.
 */
static void restrict_to_tables(struct gp_database *database)
{
	sqlite3 *db = database->db;

	sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, MOST_ROW_BYTES);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(db, SQLITE_LIMIT_COLUMN, MOST_COLUMNS);
	sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, MOST_SQL_BYTES);
	sqlite3_drop_modules(db, NULL);
	sqlite3_progress_handler(db, OPS_PER_CALL, count_ops, database);
	sqlite3_exec(db, "PRAGMA cell_size_check = 1", NULL, NULL, NULL);
	database->calls = MOST_CALLS; /* the next one ends the reading of definitions */
	sqlite3_exec(db, "SELECT 1 FROM sqlite_master LIMIT 0", NULL, NULL, NULL);
}

static uint32_t big_endian(const uint8_t *bytes, size_t count)
{
	uint32_t number = 0;

	for (size_t i = 0; i < count; i++)
		number = number << 8 | bytes[i];
	return number;
}

/* The file size by the file's own header; 0 if the header does not have it. */
static uint64_t size_by_header(int fd)
{
	uint8_t header[100];
	uint64_t page_bytes;

	if (pread(fd, header, sizeof(header), 0) != (ssize_t)sizeof(header))
		return 0;
	if (memcmp(header + 24, header + 92, 4) != 0) /* the page count is not valid */
		return 0;
	page_bytes = big_endian(header + 16, 2);
	return (page_bytes == 1 ? 65536 : page_bytes) * big_endian(header + 28, 4);
}

static int measure(struct gp_database *database, const char *path)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) != 0)
		status.st_size = 0;
	database->most_rows = (uint64_t)status.st_size / LEAST_ROW_BYTES;
	database->is_damaged = size_by_header(fd) > (uint64_t)status.st_size;
	close(fd);
	return 0;
}

static int open_at(struct gp_database *database, const char *path)
{
	int result = measure(database, path);
	char *uri = result == 0 ? uri_of(path) : NULL;

	if (!uri)
		return result == 0 ? -ENOMEM : result;
	result = sqlite3_open_v2(uri, &database->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
	free(uri);
	if (result == SQLITE_OK)
		restrict_to_tables(database);
	return result == SQLITE_OK ? 0 : result == SQLITE_NOMEM ? -ENOMEM : -EIO;
}

int gp_database_open(const char *path, const char *const *columns, uint32_t column_count,
		     struct gp_database **database)
{
	int result;

	*database = calloc(1, sizeof(**database));
	if (!*database)
		return -ENOMEM;
	(*database)->columns = columns;
	(*database)->column_count = column_count;
	result = open_at(*database, path);
	if (result != 0) {
		gp_database_close(*database);
		*database = NULL;
	}
	return result;
}

void gp_database_close(struct gp_database *database)
{
	if (!database)
		return;
	sqlite3_close(database->db);
	free(database);
}

/* SQLite's error: no memory, or a damaged file. */
static int note_error(struct gp_database *database, int code)
{
	if ((code & 0xff) == SQLITE_NOMEM)
		return -ENOMEM;
	database->is_damaged = true;
	return 0;
}

/* Prepares a statement, which may take as long as a row. */
static int begin(struct gp_database *database, const char *text, sqlite3_stmt **statement)
{
	database->calls = 0;
	return sqlite3_prepare_v2(database->db, text, -1, statement, NULL);
}

/*
 * Whether there is such a table that is neither a view nor virtual. Negative: a negated SQLite
 * error.
 */
static int has_table(struct gp_database *database, const char *table)
{
	static const char text[] =
		"SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1 AND rootpage > 0";
	sqlite3_stmt *statement;
	int code = begin(database, text, &statement);

	if (code != SQLITE_OK)
		return -code;
	sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
	code = sqlite3_step(statement);
	sqlite3_finalize(statement);
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		return -code;
	return code == SQLITE_ROW;
}

/*
 * Whether SQLite would compute columns, in whatever time, or repeat a long text of the schema in each
 * row. Negative: a negated SQLite error.
 */
static int makes_values(struct gp_database *database, const char *table)
{
	enum { DEFAULT = 4, HIDDEN = 6, LONGEST_DEFAULT = 256 };
	sqlite3_stmt *statement;
	bool is_found = false;
	char text[128];
	int code;

	snprintf(text, sizeof(text), "PRAGMA table_xinfo(\"%s\")", table);
	code = begin(database, text, &statement);
	while (code == SQLITE_OK || code == SQLITE_ROW) {
		code = sqlite3_step(statement);
		is_found |= code == SQLITE_ROW &&
			    (sqlite3_column_int(statement, HIDDEN) != 0 ||
			     sqlite3_column_bytes(statement, DEFAULT) > LONGEST_DEFAULT);
	}
	sqlite3_finalize(statement);
	return code != SQLITE_DONE ? -code : is_found;
}

static int find_places(const struct gp_database *database, struct gp_row *row)
{
	int count = sqlite3_column_count(row->statement);

	row->column_count = database->column_count;
	row->places = malloc(database->column_count * sizeof(*row->places));
	if (!row->places)
		return -ENOMEM;
	for (uint32_t i = 0; i < database->column_count; i++) {
		row->places[i] = -1;
		for (int place = 0; place < count && row->places[i] < 0; place++)
			if (strcmp(sqlite3_column_name(row->statement, place),
				   database->columns[i]) == 0)
				row->places[i] = place;
	}
	return 0;
}

static int go_through(struct gp_database *database, const struct gp_row *row,
		      int (*take)(void *context, const struct gp_row *row), void *context)
{
	for (uint64_t rows = 0; rows < database->most_rows; rows++) {
		int code, result;

		database->calls = 0;
		code = sqlite3_step(row->statement);
		if (code == SQLITE_DONE)
			return 0;
		if (code != SQLITE_ROW)
			return note_error(database, code);
		result = take(context, row);
		if (result != 0)
			return result;
	}
	database->is_damaged = true;
	return 0;
}

int gp_database_each(struct gp_database *database, const char *table,
		     int (*take)(void *context, const struct gp_row *row), void *context)
{
	struct gp_row row = {0};
	int result = has_table(database, table);
	char text[128];

	if (result <= 0)
		return result < 0 ? note_error(database, -result) : 0;
	result = makes_values(database, table);
	if (result != 0)
		return note_error(database, result < 0 ? -result : SQLITE_ERROR);
	snprintf(text, sizeof(text), "SELECT * FROM \"%s\"", table);
	result = begin(database, text, &row.statement);
	if (result != SQLITE_OK)
		return note_error(database, result);
	result = find_places(database, &row);
	if (result == 0)
		result = go_through(database, &row, take, context);
	sqlite3_finalize(row.statement);
	free(row.places);
	return result;
}

bool gp_database_is_damaged(const struct gp_database *database)
{
	return database->is_damaged;
}

/* ---- rows ---- */

bool gp_row_has(const struct gp_row *row, uint32_t column)
{
	return row->places[column] >= 0 &&
	       sqlite3_column_type(row->statement, row->places[column]) != SQLITE_NULL;
}

int64_t gp_row_whole(const struct gp_row *row, uint32_t column)
{
	return row->places[column] >= 0 ? sqlite3_column_int64(row->statement, row->places[column])
					: 0;
}

uint32_t gp_row_number(const struct gp_row *row, uint32_t column, uint32_t otherwise)
{
	int64_t number = gp_row_whole(row, column);

	return gp_row_has(row, column) && number >= 0 && number <= UINT32_MAX ? (uint32_t)number
									      : otherwise;
}

const char *gp_row_text(const struct gp_row *row, uint32_t column, size_t *bytes)
{
	int place = row->places[column];
	const unsigned char *text = place >= 0 ? sqlite3_column_text(row->statement, place) : NULL;

	*bytes = text ? strnlen((const char *)text,
				(size_t)sqlite3_column_bytes(row->statement, place))
		      : 0;
	return text ? (const char *)text : "";
}
