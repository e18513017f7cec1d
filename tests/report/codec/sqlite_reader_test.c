#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "report/codec/sqlite_reader.h"
#include "tests/lib/temporary.h"
#include "tests/unit.h"

#define A_50  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define A_300 A_50 A_50 A_50 A_50 A_50 A_50

enum { NUMBER, TEXT, OTHER, COLUMNS };
static const char *const columns[COLUMNS] = {"number", "text", "other"};

static char path[64];

static int make_path(void **state)
{
	int fd;

	snprintf(path, sizeof(path), "/tmp/gpuprof-database? %%#XXXXXX");
	fd = temporary_file(path);
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	return unlink(path);
}

static void fill(const char *statements)
{
	sqlite3 *db;

	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, statements, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s", sqlite3_errmsg(db));
	sqlite3_close(db);
}

struct seen {
	uint32_t rows, most;
	int64_t sum;
	char texts[256];
};

static int take(void *context, const struct gp_row *row)
{
	struct seen *seen = context;
	size_t bytes;

	seen->rows++;
	seen->sum += gp_row_whole(row, NUMBER);
	assert_false(gp_row_has(row, OTHER));
	assert_int_equal(gp_row_number(row, OTHER, 7), 7);
	strncat(seen->texts, gp_row_text(row, TEXT, &bytes),
		sizeof(seen->texts) - strlen(seen->texts) - 1);
	return seen->most != 0 && seen->rows == seen->most ? -ECANCELED : 0;
}

static int read_table(const char *table, struct seen *seen, bool *is_damaged)
{
	struct gp_database *database;
	int result = gp_database_open(path, columns, COLUMNS, &database);

	assert_int_equal(result, 0);
	result = gp_database_each(database, table, take, seen);
	*is_damaged = gp_database_is_damaged(database);
	gp_database_close(database);
	return result;
}

static void rows_come_by_the_names_of_columns(void **state)
{
	struct seen seen = {0};
	bool is_damaged;

	fill("CREATE TABLE t (unused, text TEXT, number INTEGER);INSERT INTO t VALUES (1, 'a', 5), (2, NULL, -1), (3, 'b', NULL), (4, 'c', 'x')");
	assert_int_equal(read_table("t", &seen, &is_damaged), 0);
	assert_int_equal(seen.rows, 4);
	assert_int_equal(seen.sum, 4);
	assert_string_equal(seen.texts, "abc");
	assert_false(is_damaged);
}

static void taking_ends_when_it_fails(void **state)
{
	struct seen seen = {.most = 2};
	bool is_damaged;

	fill("CREATE TABLE t (number); INSERT INTO t VALUES (1), (2), (3)");
	assert_int_equal(read_table("t", &seen, &is_damaged), -ECANCELED);
	assert_int_equal(seen.rows, 2);
}

static void what_is_not_a_table_is_none(void **state)
{
	static const char *const names[] = {"v", "missing", "t\" WHERE 0; --"};
	bool is_damaged;

	fill("CREATE TABLE t (number); INSERT INTO t VALUES (1);CREATE VIEW v AS WITH RECURSIVE c(number) AS (SELECT 1 UNION ALL SELECT 1 FROM c) SELECT number FROM c");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct seen seen = {0};

		assert_int_equal(read_table(names[i], &seen, &is_damaged), 0);
		assert_int_equal(seen.rows, 0);
		assert_false(is_damaged);
	}
}

/* SQLite would compute or fetch their rows in whatever time. */
static void tables_that_are_computed_are_refused(void **state)
{
	static const char *const tables[] = {
		"CREATE TABLE t (number, text AS (hex(zeroblob(60000000)))); INSERT INTO t VALUES (1)",
		"CREATE TABLE t (number, x AS (number || zeroblob(60000000)) STORED)",
		"CREATE TABLE t (number, text DEFAULT '" A_300
		"'); INSERT INTO t (number) VALUES (1)",
		("PRAGMA writable_schema = 1; CREATE TABLE t (number); INSERT INTO t VALUES (1);"
		 "UPDATE sqlite_master SET sql = 'CREATE/**/VIRTUAL TABLE t USING fts3(number)'"),
	};
	struct rlimit second = {.rlim_cur = 10, .rlim_max = RLIM_INFINITY};

	assert_int_equal(setrlimit(RLIMIT_CPU, &second), 0);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct seen seen = {0};
		bool is_damaged;

		fill(tables[i]);
		assert_int_equal(read_table("t", &seen, &is_damaged), 0);
		assert_int_equal(seen.rows, 0);
		assert_true(is_damaged);
	}
}

/* SQLite needs 11 s for 60,000 definitions, in 3.5 MB. */
static void tables_beyond_number_are_not_read(void **state)
{
	struct rusage before, after;
	struct seen seen = {0};
	bool is_damaged;

	fill("PRAGMA writable_schema = 1; CREATE TABLE t(number); INSERT INTO t VALUES (5);"
	     "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 60000) "
	     "INSERT INTO sqlite_master "
	     "SELECT 'table', 'a' || i, 'a' || i, 2, 'CREATE TABLE a' || i || '(number)' FROM n");
	getrusage(RUSAGE_SELF, &before);
	assert_int_equal(read_table("t", &seen, &is_damaged), 0);
	getrusage(RUSAGE_SELF, &after);
	assert_in_range(after.ru_utime.tv_sec - before.ru_utime.tv_sec, 0, 2);
	assert_int_equal(seen.sum, 5);
}

static void the_file_stays_as_it_is(void **state)
{
	char journal[80];
	struct seen seen = {0};
	bool is_damaged;

	fill("PRAGMA journal_mode = WAL; CREATE TABLE t (number); INSERT INTO t VALUES (1)");
	assert_int_equal(read_table("t", &seen, &is_damaged), 0);
	assert_int_equal(seen.rows, 1);
	snprintf(journal, sizeof(journal), "%s-wal", path);
	assert_int_not_equal(access(journal, F_OK), 0);
}

static void fill_many(void)
{
	fill("CREATE TABLE t (number, text); WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5000) INSERT INTO t SELECT n, 'text ' || n FROM c");
}

static void a_cut_file_is_read_as_far_as_it_goes(void **state)
{
	struct seen seen = {0};
	bool is_damaged;

	fill_many();
	assert_int_equal(truncate(path, 40000), 0);
	assert_int_equal(read_table("t", &seen, &is_damaged), 0);
	assert_in_range(seen.rows, 100, 4999);
	assert_true(is_damaged);
}

/* Whatever byte is wrong, reading ends. */
static void damaged_bytes_do_no_harm(void **state)
{
	uint8_t *whole;
	int fd;
	off_t size;

	fill_many();
	fd = open(path, O_RDWR | O_CLOEXEC);
	size = lseek(fd, 0, SEEK_END);
	whole = malloc((size_t)size);
	assert_non_null(whole);
	assert_int_equal(pread(fd, whole, (size_t)size, 0), size);
	for (off_t at = 0; at < size; at += at < 200 ? 1 : 997) {
		const uint8_t values[] = {0, 0xff, 1, (uint8_t)(whole[at] ^ 0x80)};

		for (size_t i = 0; i < sizeof(values); i++) {
			struct seen seen = {0};
			bool is_damaged;

			assert_int_equal(pwrite(fd, &values[i], 1, at), 1);
			assert_int_equal(read_table("t", &seen, &is_damaged), 0);
			assert_true(seen.rows <= (uint64_t)size);
		}
		assert_int_equal(pwrite(fd, &whole[at], 1, at), 1);
	}
	free(whole);
	close(fd);
}

static void a_missing_file_is_an_error(void **state)
{
	struct gp_database *database;

	assert_int_equal(gp_database_open("/nonexistent/x", columns, COLUMNS, &database), -ENOENT);
}

#define T(name) cmocka_unit_test_setup_teardown(name, make_path, remove_file)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(rows_come_by_the_names_of_columns),
		T(taking_ends_when_it_fails),
		T(what_is_not_a_table_is_none),
		T(tables_that_are_computed_are_refused),
		T(tables_beyond_number_are_not_read),
		T(the_file_stays_as_it_is),
		T(a_cut_file_is_read_as_far_as_it_goes),
		T(damaged_bytes_do_no_harm),
		cmocka_unit_test(a_missing_file_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
