/* stalls: samples of warps of several processes are added up; shares, their error, source lines. */
#include "tests/unit.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpuprof/count.h"
#include "report/analysis/device/stall_reasons.h"
#include "report/tables/breakdown.h"
#include "report/tables/by/stalls.h"
#include "tests/lib/temporary.h"
#include "tests/report/stack_builder.h"

/* The row of a table with these texts in its columns from `column` on. */
static const struct gp_value *row_of(const struct gp_table *table, size_t column,
				     const char *reason)
{
	for (size_t i = 0; i < gp_table_rows(table); i++)
		if (strcmp(gp_table_row(table, i)[column].text, reason) == 0)
			return gp_table_row(table, i);
	fail();
	return NULL;
}

static void processes_are_added_up(void **state)
{
	struct build first = build_begin(1), second = build_begin(2);
	struct gp_model *models[2];
	struct gp_scope scope;
	struct gp_table table;
	const struct gp_value *row;

	build_stall(&first, "_Z3addPfi", 21, "long_scoreboard", 60);
	build_stall(&first, "_Z3addPfi", 22, "long_scoreboard", 10);
	build_stall(&first, "_Z3addPfi", 0, "selected", 20);
	build_stall(&second, "_Z3addPfi", 21, "long_scoreboard", 10);
	build_stall(&second, "other", 0, "a_newer_reason", 300);
	models[0] = build_end(&first);
	models[1] = build_end(&second);
	assert_int_equal(gp_scope_open(&scope, models, 2, false), 0);

	assert_int_equal(gp_breakdown_make(&gp_breakdown_stall_kernel, &scope, &table), 0);
	assert_int_equal(gp_table_rows(&table), 3);
	row = row_of(&table, 5, "long_scoreboard");
	assert_int_equal(row[1].whole, 80);
	assert_int_equal(row[2].whole, 40);
	assert_true(fabs(row[0].real - 20) < 1e-9);
	assert_true(fabs(row[3].real - 80) < 1e-9);
	assert_true(fabs(row[4].real - 7.84) < 1e-9); /* 1.96 * sqrt(0.8 * 0.2 / 100) */
	gp_table_close(&table);

	assert_int_equal(gp_breakdown_make(&gp_breakdown_stall_line, &scope, &table), 0);
	assert_int_equal(gp_table_rows(&table), 4);
	row = row_of(&table, 5, "long_scoreboard"); /* the first has the most samples */
	assert_int_equal(row[1].whole, 70);
	assert_int_equal(row[6].whole, 21);
	assert_string_equal(row[7].text, BUILD_STALL_FILE);
	gp_table_close(&table);

	assert_int_equal(gp_breakdown_make(&gp_breakdown_stall_reason, &scope, &table), 0);
	assert_int_equal(gp_table_rows(&table), 3);
	row = row_of(&table, 4, "a_newer_reason");
	assert_int_equal(row[5].kind, GP_VALUE_NONE);
	gp_table_close(&table);
	gp_scope_close(&scope);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

static void reasons_are_those_of_all_kernels(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_scope scope;
	struct gp_table table;

	build_stall(&b, "one", 21, "wait", 60);
	build_stall(&b, "other", 22, "wait", 40);
	model = build_end(&b);
	assert_int_equal(gp_scope_open(&scope, &model, 1, false), 0);
	assert_int_equal(gp_breakdown_make(&gp_breakdown_stall_reason, &scope, &table), 0);
	assert_int_equal(gp_table_rows(&table), 1);
	assert_int_equal(gp_table_row(&table, 0)[1].whole, 100);
	gp_table_close(&table);
	gp_scope_close(&scope);
	gp_model_free(model);
}

static void errors_of_shares(void **state)
{
	assert_true(gp_stall_error(0, 0) == 0);
	assert_true(gp_stall_error(10, 10) == 0);
	assert_true(fabs(gp_stall_error(5000, 10000) - 0.98) < 1e-9);
}

/* ---- source lines ---- */

#define UNTIL_S 1000000

static void write_file(const char *folder, const char *name, const char *content, int64_t time_s,
		       char path[512])
{
	FILE *file;

	snprintf(path, 512, "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(content, file);
	fclose(file);
	assert_int_equal(utimensat(AT_FDCWD, path,
				   (struct timespec[2]){{.tv_sec = time_s}, {.tv_sec = time_s}}, 0),
			 0);
}

static void source_lines(void **state)
{
	char folder[] = "/tmp/gpuprof-stalls-XXXXXX", path[512], other[512];
	char content[2 * GP_SOURCE_TEXT_LINE_BYTES];
	struct gp_source_text *sources = gp_source_text_new(UNTIL_S);
	int fd = first_free_fd();

	assert_non_null(temporary_folder(folder));
	write_file(folder, "a.cu", "first\n\n\tthird\tline;  \r\nlast", UNTIL_S, path);
	assert_string_equal(gp_source_text_line(sources, path, 1), "first");
	assert_null(gp_source_text_line(sources, path, 2));
	assert_string_equal(gp_source_text_line(sources, path, 3), "third line;");
	assert_string_equal(gp_source_text_indented(sources, path, 3), " third line;");
	assert_string_equal(gp_source_text_indented(sources, path, 1), "first");
	assert_null(gp_source_text_indented(sources, path, 2));
	assert_string_equal(gp_source_text_line(sources, path, 4), "last");
	assert_null(gp_source_text_line(sources, path, 5));
	assert_null(gp_source_text_line(sources, path, 0));
	unlink(path);

	/* a long line is cut, but no character of it */
	memset(content, 'x', sizeof(content));
	memcpy(content + GP_SOURCE_TEXT_LINE_BYTES - 1, "\xc3\xa4", 2);
	content[sizeof(content) - 1] = '\0';
	write_file(folder, "long.cu", content, UNTIL_S, path);
	content[GP_SOURCE_TEXT_LINE_BYTES - 1] = '\0';
	assert_string_equal(gp_source_text_line(sources, path, 1), content);
	unlink(path);

	/* changed later; of another kind; a link; missing; not absolute; a folder */
	write_file(folder, "b.cu", "text", UNTIL_S + 1, other);
	assert_null(gp_source_text_line(sources, other, 1));
	unlink(other);
	write_file(folder, "id_rsa", "secret", UNTIL_S, other);
	assert_null(gp_source_text_line(sources, other, 1));
	unlink(other);
	write_file(folder, "id_rsa", "secret", UNTIL_S, path);
	snprintf(other, sizeof(other), "%s/link.cu", folder);
	assert_int_equal(symlink(path, other), 0);
	assert_null(gp_source_text_line(sources, other, 1));
	unlink(other);
	unlink(path);
	snprintf(other, sizeof(other), "%s/none.cu", folder);
	assert_null(gp_source_text_line(sources, other, 1));
	assert_null(gp_source_text_line(sources, "Makefile.c", 1));
	assert_null(gp_source_text_line(sources, "/proc/self/a.c", 1));
	snprintf(other, sizeof(other), "%s/folder.cu", folder);
	assert_int_equal(mkdir(other, 0700), 0);
	assert_null(gp_source_text_line(sources, other, 1));
	rmdir(other);
	rmdir(folder);
	gp_source_text_free(sources);
	assert_int_equal(first_free_fd(), fd);
}

/* The lines 6, 7 and 20 of 21 have samples; line 9 is empty. */
static void annotated_source(void **state)
{
	char folder[] = "/tmp/gpuprof-stalls-XXXXXX", path[512], content[256] = "";
	const struct {
		uint64_t line, samples; /* 0: none */
		const char *text, *reason;
	} expected[] = {
		{3, 0, "line 3", NULL},      {4, 0, "line 4", NULL},       {5, 0, "line 5", NULL},
		{6, 30, "  x += y", "wait"}, {7, 90, "line 7", "barrier"}, {8, 0, "line 8", NULL},
		{10, 0, "line 10", NULL},    {17, 0, "line 17", NULL},     {18, 0, "line 18", NULL},
		{19, 0, "line 19", NULL},    {20, 10, "line 20", "wait"},  {21, 0, "line 21", NULL},
	};
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_scope scope;
	struct gp_table table;

	assert_non_null(mkdtemp(folder));
	for (int i = 1; i <= 21; i++)
		if (i == 6)
			strcat(content, "\t\tx += y\n");
		else
			sprintf(content + strlen(content), i == 9 ? "\n" : "line %d\n", i);
	write_file(folder, "a.cu", content, 1, path);
	build_stall_at(&b, "one", path, 7, "barrier", 60);
	build_stall_at(&b, "other", path, 7, "barrier", 20);
	build_stall_at(&b, "other", path, 7, "wait", 10);
	build_stall_at(&b, "one", path, 6, "wait", 30);
	build_stall_at(&b, "one", path, 20, "wait", 10);
	build_stall(&b, "one", 0, "wait", 70);
	model = build_end(&b);
	assert_int_equal(gp_scope_open(&scope, &model, 1, false), 0);
	assert_int_equal(gp_breakdown_make(&gp_breakdown_stall_source, &scope, &table), 0);
	assert_int_equal(gp_table_rows(&table), COUNT(expected));
	for (size_t i = 0; i < COUNT(expected); i++) {
		const struct gp_value *row = gp_table_row(&table, i);

		assert_int_equal(row[5].whole, expected[i].line);
		assert_string_equal(row[6].text, expected[i].text);
		assert_string_equal(row[7].text, "a.cu");
		assert_int_equal(row[1].kind == GP_VALUE_NONE, expected[i].samples == 0);
		if (expected[i].samples == 0)
			continue;
		assert_int_equal(row[1].whole, expected[i].samples);
		assert_string_equal(row[3].text, expected[i].reason);
	}
	assert_true(fabs(gp_table_row(&table, 4)[0].real - 45) < 1e-9);        /* of all 200 */
	assert_true(fabs(gp_table_row(&table, 4)[4].real - 800 / 9.0) < 1e-9); /* of the line */
	gp_table_close(&table);
	gp_scope_close(&scope);
	gp_model_free(model);
	unlink(path);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_are_added_up),
		cmocka_unit_test(reasons_are_those_of_all_kernels),
		cmocka_unit_test(errors_of_shares),
		cmocka_unit_test(source_lines),
		cmocka_unit_test(annotated_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
