#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/tables/breakdown.h"
#include "tests/report/stack_builder.h"

#define MS 1000000u

/*
 * load() for 100 ms in two threads together, by two lines; prepare() for 50 ms, and for 200 ms it
 * waits.
 */
static struct gp_model *make_model(uint64_t looks, uint64_t lost, uint64_t outside)
{
	struct build b = build_begin(1);
	uint32_t load = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "load", 7);
	uint32_t line = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "load", 8);
	uint32_t prepare = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "prepare", 9);
	uint32_t wait = build_python(&b, prepare, "/usr/lib/python3.12/threading.py",
				     "Condition.wait", 200);
	struct gp_sample *samples = calloc(4, sizeof(*samples));
	struct gp_model *model;

	assert_non_null(samples);
	build_stacks_end(&b);
	model = build_end(&b);
	samples[0] = build_sample(100, line, 0, 40);
	samples[1] = build_sample(100, prepare, 40, 90);
	samples[2] = build_sample(101, load, 20, 80);
	model->samples = samples;
	samples[3] = build_sample(102, wait, 0, 200);
	model->sample_count = 4;
	model->counters[GP_COUNTER_SAMPLES] = looks;
	model->counters[GP_COUNTER_SAMPLES_LOST] = lost;
	model->counters[GP_COUNTER_SAMPLES_OUTSIDE] = outside;
	return model;
}

/* The table and what is said beside it; both are to be freed. */
static void make(uint64_t looks, uint64_t lost, uint64_t outside, char **table, char **messages)
{
	struct gp_model *model = make_model(looks, lost, outside);
	struct gp_scope scope;
	struct gp_table sheet;
	size_t size;
	FILE *out = open_memstream(table, &size);

	assert_non_null(out);
	assert_int_equal(gp_scope_open(&scope, &model, 1, false), 0);
	scope.messages = open_memstream(messages, &size);
	assert_non_null(scope.messages);
	assert_int_equal(gp_breakdown_make(&gp_breakdown_host, &scope, &sheet), 0);
	for (size_t i = 0; i < gp_table_rows(&sheet); i++) {
		const struct gp_value *row = gp_table_row(&sheet, i);

		fprintf(out, "%.1f %llu %llu %llu %s %s\n", row[0].real,
			(unsigned long long)row[1].whole / MS,
			(unsigned long long)row[2].whole / MS, (unsigned long long)row[3].whole,
			row[4].text, row[5].kind == GP_VALUE_NONE ? "-" : row[5].text);
	}
	fclose(out);
	fclose(scope.messages);
	gp_table_close(&sheet);
	gp_scope_close(&scope);
	gp_model_free(model);
}

static void lines_have_the_time_of_all_threads(void **state)
{
	char *table, *messages;

	make(6, 0, 0, &table, &messages);
	assert_string_equal(
		table,
		"40.0 60 0 2 load (train.py:7) -\n"
		"33.3 50 0 2 prepare (train.py:9) -\n"
		"26.7 40 0 2 load (train.py:8) -\n"
		"0.0 0 200 2 prepare (train.py:9) waiting in Condition.wait (threading.py)\n");
	assert_string_equal(messages, "");
	free(table);
	free(messages);
}

static void looks_that_found_nothing_are_told_where_they_are_many(void **state)
{
	char *table, *messages;

	make(1000, 49, 0, &table, &messages);
	assert_string_equal(messages, "");
	free(table);
	free(messages);
	make(1000, 50, 0, &table, &messages);
	assert_non_null(strstr(messages, "50 of 1,050 samples found no stack"));
	assert_null(strstr(messages, "innermost"));
	free(table);
	free(messages);
}

static void stacks_without_their_inner_functions_are_told_too(void **state)
{
	char *table, *messages;

	make(1000, 0, 49, &table, &messages);
	assert_string_equal(messages, "");
	free(table);
	free(messages);
	make(1000, 10, 200, &table, &messages);
	assert_non_null(strstr(messages,
			       "200 of 1,010 samples found a stack without its innermost frames"));
	assert_null(strstr(messages, "found no stack"));
	free(table);
	free(messages);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_have_the_time_of_all_threads),
		cmocka_unit_test(looks_that_found_nothing_are_told_where_they_are_many),
		cmocka_unit_test(stacks_without_their_inner_functions_are_told_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
