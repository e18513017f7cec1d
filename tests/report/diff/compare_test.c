#include "tests/unit.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/diff/compare.h"
#include "run_builder.h"

static json_t *compare(const struct gp_run_set *a, const struct gp_run_set *b, size_t top,
		       struct gp_compare_result *result)
{
	const struct gp_compare_options options = {.top = top};
	struct gp_table_writer writer;
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	json_t *root;

	assert_non_null(out);
	gp_table_writer_open(&writer, &gp_table_json, out, true);
	assert_int_equal(gp_compare_write(&writer, a, b, &options, result), 0);
	assert_int_equal(gp_table_writer_close(&writer), 0);
	fclose(out);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	free(text);
	return root;
}

static const json_t *rows_of(const json_t *root, const char *report)
{
	const json_t *sheet;
	size_t index;

	json_array_foreach(root, index, sheet)
	{
		if (strcmp(json_string_value(json_object_get(sheet, "report")), report) == 0)
			return json_object_get(sheet, "rows");
	}
	return NULL;
}

static double number(const json_t *rows, size_t row, const char *column)
{
	return json_number_value(json_object_get(json_array_get(rows, row), column));
}

static const char *text(const json_t *rows, size_t row, const char *column)
{
	return json_string_value(json_object_get(json_array_get(rows, row), column));
}

static struct gp_named_figure *kernel_of(struct gp_run_set *set, uint32_t run, uint32_t kernel)
{
	return &set->runs[run].figures.named[GP_NAMED_KERNEL].rows[kernel];
}

static void set_kernel(struct gp_run_set *set, uint32_t kernel, double total_ns)
{
	for (uint32_t i = 0; i < set->count; i++) {
		kernel_of(set, i, kernel)->total_ns = total_ns;
		kernel_of(set, i, kernel)->occupancy = (double)NAN;
	}
}

static void kernels_are_new_gone_or_changed_by_their_effect(void **state)
{
	struct gp_run_set a = runs_make(1, 4), b = runs_make(1, 4);
	struct gp_compare_result result;
	const json_t *rows;
	json_t *root;

	set_kernel(&a, 0, 100);
	set_kernel(&b, 0, 100);
	set_kernel(&a, 1, 500);
	set_kernel(&b, 1, 200);
	set_kernel(&a, 2, 50);
	set_kernel(&b, 2, 60);
	set_kernel(&a, 3, 900);
	set_kernel(&b, 3, 1000);
	strcpy(kernel_of(&b, 0, 3)->name, "other");
	root = compare(&a, &b, 0, &result);
	rows = rows_of(root, "diff-kernels");
	assert_int_equal(json_array_size(rows), 4);
	assert_string_equal(text(rows, 0, "Is"), "new");
	assert_string_equal(text(rows, 0, "Name"), "other");
	assert_true(number(rows, 0, "Change") == 1000);
	assert_string_equal(text(rows, 1, "Is"), "gone");
	assert_true(number(rows, 1, "Change") == -900);
	assert_string_equal(text(rows, 2, "Is"), "time"); /* one run each: perhaps by chance */
	assert_true(number(rows, 2, "Change %") == -60);
	assert_string_equal(text(rows, 3, "Name"), "kernel_02");
	json_decref(root);
	root = compare(&a, &b, 1, &result);
	assert_int_equal(json_array_size(rows_of(root, "diff-kernels")), 1);
	assert_int_equal(result.hidden, 3);
	json_decref(root);
	gp_run_set_free(&a);
	gp_run_set_free(&b);
}

/* What Python did, 1000 ms of it as before, and one function more. */
static void set_host(struct gp_run_set *set, double first_ns, double second_ns)
{
	static const char *const names[] = {"decode (train.py)", "importing json", "rest",
					    "seldom (train.py)"};
	const double total_ns[] = {first_ns, second_ns, 1e9, first_ns / 4};

	for (uint32_t i = 0; i < set->count; i++) {
		struct gp_named_list *list = &set->runs[i].figures.named[GP_NAMED_HOST];

		list->rows = calloc(COUNT(names), sizeof(*list->rows));
		assert_non_null(list->rows);
		for (size_t k = 0; k < COUNT(names); k++)
			if (total_ns[k] > 0)
				list->rows[list->count++] =
					(struct gp_named_figure){.name = strdup(names[k]),
								 .count = total_ns[k] / 2e7,
								 .total_ns = total_ns[k],
								 .median_ns = (double)NAN,
								 .occupancy = (double)NAN};
	}
}

static void set_leak(struct gp_run_set *set, double bytes)
{
	struct gp_named_list *list = &set->runs[0].figures.named[GP_NAMED_LEAK];

	list->rows = calloc(1, sizeof(*list->rows));
	assert_non_null(list->rows);
	list->rows[list->count++] = (struct gp_named_figure){.name = strdup("main (a.cu:9)"),
							     .count = 1,
							     .total_ns = bytes,
							     .median_ns = (double)NAN,
							     .occupancy = (double)NAN};
}

/* However few bytes it is. */
static void what_leaks_is_compared_by_call_site(void **state)
{
	struct gp_run_set a = runs_make(1, 0), b = runs_make(1, 0);
	struct gp_compare_result result;
	const json_t *rows;
	json_t *root;

	runs_set(&a, GP_METRIC_WALL, 1e9);
	runs_set(&b, GP_METRIC_WALL, 1e9);
	set_leak(&a, 64);
	set_leak(&b, 96);
	root = compare(&a, &b, 10, &result);
	rows = rows_of(root, "diff-leaks");
	assert_int_equal(json_array_size(rows), 1);
	assert_string_equal(text(rows, 0, "Is"), "changed");
	assert_string_equal(text(rows, 0, "Call site"), "main (a.cu:9)");
	assert_true(number(rows, 0, "Left B") == 96 && number(rows, 0, "Change") == 32);
	json_decref(root);
	gp_run_set_free(&a);
	gp_run_set_free(&b);
}

static void what_python_did_is_compared_where_both_were_looked_at(void **state)
{
	struct gp_run_set a = runs_make(1, 0), b = runs_make(1, 0), none = runs_make(1, 0);
	struct gp_compare_result result;
	const json_t *rows;
	json_t *root;

	set_host(&a, 3e8, 0);
	set_host(&b, 1e8, 5e8);
	root = compare(&a, &b, 10, &result);
	rows = rows_of(root, "diff-host");
	assert_int_equal(json_array_size(rows), 2);
	assert_string_equal(text(rows, 0, "Is"), "new");
	assert_string_equal(text(rows, 0, "Name"), "importing json");
	assert_string_equal(text(rows, 1, "Is"), "time"); /* the number of looks is no count */
	assert_true(number(rows, 1, "Samples A") == 15);
	assert_true(number(rows, 1, "Change") == -2e8);
	assert_int_equal(result.hidden, 1);
	json_decref(root);
	root = compare(&a, &b, 0, &result);
	assert_int_equal(json_array_size(rows_of(root, "diff-host")), 3);
	json_decref(root);
	root = compare(&a, &none, 10, &result);
	assert_null(rows_of(root, "diff-host"));
	json_decref(root);
	gp_run_set_free(&a);
	gp_run_set_free(&b);
	gp_run_set_free(&none);
}

/* Short beside the wall time, and told all the same. */
static void the_step_time_is_never_negligible(void **state)
{
	struct gp_run_set a = runs_make(1, 0), b = runs_make(1, 0);
	struct gp_compare_result result;
	json_t *root;

	runs_set(&a, GP_METRIC_WALL, 1e12);
	runs_set(&b, GP_METRIC_WALL, 1e12);
	runs_set(&a, GP_METRIC_STEP, 2e6);
	runs_set(&b, GP_METRIC_STEP, 3e6);
	root = compare(&a, &b, 10, &result);
	assert_string_equal(text(rows_of(root, "diff-times"), 0, "Metric"), "step_time");
	json_decref(root);
	gp_run_set_free(&a);
	gp_run_set_free(&b);
}

static void a_change_is_sure_where_runs_agree(void **state)
{
	struct gp_run_set a = runs_make(5, 0), b = runs_make(5, 0);
	struct gp_compare_result result;
	json_t *root;

	runs_set(&a, GP_METRIC_LAUNCHES, 10);
	runs_set(&b, GP_METRIC_LAUNCHES, 12);
	for (uint32_t i = 0; i < 5; i++) {
		a.runs[i].figures.values[GP_METRIC_WALL] = 1000 + 10 * i;
		b.runs[i].figures.values[GP_METRIC_WALL] = 1001 + 10 * i;
		a.runs[i].figures.values[GP_METRIC_GPU_BUSY] = 500 + 10 * i;
		b.runs[i].figures.values[GP_METRIC_GPU_BUSY] = 400 + 10 * i;
	}
	root = compare(&a, &b, 0, &result);
	assert_string_equal(text(rows_of(root, "diff-counts"), 0, "Differs"), "yes");
	assert_string_equal(text(rows_of(root, "diff-times"), 0, "Metric"), "gpu_busy");
	assert_true(number(rows_of(root, "diff-times"), 0, "A") == 520);
	assert_string_equal(text(rows_of(root, "diff-times"), 0, "Differs"), "yes");
	assert_string_equal(text(rows_of(root, "diff-times"), 1, "Differs"), "no");
	assert_null(rows_of(root, "diff-bytes"));
	json_decref(root);
	a.count = b.count = 1;
	root = compare(&a, &b, 0, &result);
	assert_string_equal(text(rows_of(root, "diff-times"), 0, "Differs"), "-");
	json_decref(root);
	a.count = b.count = 5;
	gp_run_set_free(&a);
	gp_run_set_free(&b);
}

static void equal_runs_have_no_rows(void **state)
{
	struct gp_run_set a = runs_make(2, 3);
	struct gp_compare_result result;
	json_t *root;

	runs_set(&a, GP_METRIC_BYTES_LEAKED, (double)NAN);
	root = compare(&a, &a, 0, &result);
	assert_int_equal(json_array_size(root), 0);
	assert_int_equal(result.rows, 0);
	json_decref(root);
	gp_run_set_free(&a);
}

/* Of 1000 ns, each; what runs another number of times is worth a line, whatever it took. */
static void times_of_next_to_no_effect_are_left_out(void **state)
{
	struct gp_run_set a = runs_make(1, 3), b = runs_make(1, 3);
	struct gp_compare_result result;
	const json_t *rows;
	json_t *root;

	runs_set(&a, GP_METRIC_WALL, 1000000);
	runs_set(&b, GP_METRIC_WALL, 1000999);
	runs_set(&a, GP_METRIC_GPU_BUSY, 1000);
	runs_set(&b, GP_METRIC_GPU_BUSY, 3000);
	for (uint32_t kernel = 0; kernel < 3; kernel++) {
		set_kernel(&a, kernel, 1000);
		set_kernel(&b, kernel, kernel == 2 ? 1005 : 999);
	}
	kernel_of(&b, 0, 0)->count++;
	root = compare(&a, &b, 20, &result);
	rows = rows_of(root, "diff-kernels");
	assert_int_equal(json_array_size(rows), 2);
	assert_string_equal(text(rows, 0, "Is"), "time");
	assert_true(number(rows, 0, "Change") == 5);
	assert_string_equal(text(rows, 1, "Is"), "changed");
	rows = rows_of(root, "diff-times");
	assert_int_equal(json_array_size(rows), 1);
	assert_string_equal(text(rows, 0, "Metric"), "gpu_busy");
	assert_int_equal(result.hidden, 2);
	json_decref(root);
	root = compare(&a, &b, 0, &result);
	assert_int_equal(json_array_size(rows_of(root, "diff-kernels")), 3);
	assert_int_equal(json_array_size(rows_of(root, "diff-times")), 2);
	json_decref(root);
	gp_run_set_free(&a);
	gp_run_set_free(&b);
}

/* Energy varies as times do, and has nothing to do with the wall time. */
static void energy_is_compared_by_itself(void **state)
{
	struct gp_run_set a = runs_make(1, 1), b = runs_make(1, 1);
	struct gp_compare_result result;
	const json_t *rows;
	json_t *root;

	runs_set(&a, GP_METRIC_WALL, 1e12);
	runs_set(&b, GP_METRIC_WALL, 1e12);
	runs_set(&a, GP_METRIC_STEP_ENERGY, 50);
	runs_set(&b, GP_METRIC_STEP_ENERGY, 60.5);
	runs_set(&a, GP_METRIC_ENERGY, 5000);
	runs_set(&b, GP_METRIC_ENERGY, 5001);
	runs_set(&b, GP_METRIC_CLOCKS_LOWERED, 53);
	root = compare(&a, &b, 20, &result);
	rows = rows_of(root, "diff-energy");
	assert_int_equal(json_array_size(rows), 1);
	assert_string_equal(text(rows, 0, "Metric"), "step_energy");
	assert_true(number(rows, 0, "Change") == 10.5);
	assert_true(number(rows, 0, "Change %") == 21);
	rows = rows_of(root, "diff-clocks");
	assert_string_equal(text(rows, 0, "Metric"), "clocks_lowered");
	assert_true(number(rows, 0, "B") == 53);
	assert_int_equal(result.hidden, 1);
	json_decref(root);
	gp_run_set_free(&a);
	gp_run_set_free(&b);
}

/* By short names where these differ. */
static void kernels_of_one_short_name_are_told_apart(void **state)
{
	struct gp_run_set a = runs_make(1, 2), b = runs_make(1, 2);
	struct gp_compare_result result;
	const json_t *rows;
	json_t *root;

	(void)state;
	for (uint32_t kernel = 0; kernel < 2; kernel++) {
		strcpy(kernel_of(&a, 0, kernel)->name, kernel ? "f<long>(int)" : "f<int>(int)");
		strcpy(kernel_of(&b, 0, kernel)->name, kernel ? "f<long>(int)" : "f<int>(int)");
	}
	set_kernel(&a, 0, 1000);
	set_kernel(&a, 1, 1000);
	set_kernel(&b, 0, 3000);
	set_kernel(&b, 1, 2000);
	root = compare(&a, &b, 20, &result);
	rows = rows_of(root, "diff-kernels");
	assert_int_equal(json_array_size(rows), 2);
	assert_string_not_equal(text(rows, 0, "Name"), text(rows, 1, "Name"));
	json_decref(root);
	gp_run_set_free(&a);
	gp_run_set_free(&b);
}

/* Of another GPU they say nothing of the program. */
static void kernels_of_another_gpu_are_of_one_side_only(void **state)
{
	struct gp_run_set a = runs_make(1, 2), b = runs_make(1, 2);
	struct gp_compare_result result;
	const json_t *rows;
	json_t *root;

	set_kernel(&a, 0, 100);
	set_kernel(&b, 0, 100);
	set_kernel(&a, 1, 900);
	set_kernel(&b, 1, 1000);
	strcpy(kernel_of(&b, 0, 1)->name, "other");
	runs_fact(&a, GP_MACHINE_GPUS, "2 x NVIDIA H100, 132 SMs; NVIDIA T4");
	runs_fact(&b, GP_MACHINE_GPUS, "NVIDIA H100, 114 SMs");
	root = compare(&a, &b, 0, &result);
	assert_string_equal(text(rows_of(root, "diff-kernels"), 0, "Is"), "new");
	json_decref(root);
	runs_fact(&b, GP_MACHINE_GPUS, "AMD Instinct MI300X, 304 SMs");
	root = compare(&a, &b, 0, &result);
	rows = rows_of(root, "diff-kernels");
	assert_string_equal(text(rows, 0, "Is"), "only B");
	assert_string_equal(text(rows, 1, "Is"), "only A");
	json_decref(root);
	gp_run_set_free(&a);
	gp_run_set_free(&b);
}

/* People read once that it is missing; files for programs have the value. */
static void a_metric_of_one_side_is_no_row_for_people(void **state)
{
	struct gp_run_set a = runs_make(1, 1), b = runs_make(1, 1);
	const struct gp_compare_options for_people = {.in_words = true};
	struct gp_compare_result result;
	struct gp_table_writer writer;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	json_t *root;

	assert_non_null(out);
	runs_set(&a, GP_METRIC_ALLOCATIONS, 7);
	runs_set(&b, GP_METRIC_ALLOCATIONS, (double)NAN);
	root = compare(&a, &b, 0, &result);
	assert_int_equal(json_array_size(rows_of(root, "diff-counts")), 1);
	json_decref(root);
	gp_table_writer_open(&writer, &gp_table_text, out, true);
	assert_int_equal(gp_compare_write(&writer, &a, &b, &for_people, &result), 0);
	assert_int_equal(gp_table_writer_close(&writer), 0);
	fclose(out);
	assert_int_equal(result.rows, 0);
	assert_string_equal(text, "");
	free(text);
	gp_run_set_free(&a);
	gp_run_set_free(&b);
}

static void say(void *context, const char *line)
{
	uint32_t *lines = context;

	(*lines)++;
	assert_true(strlen(line) > 0);
}

/* Each run that is incomplete, each fact that differs, and other GPUs; no fact of one side. */
static void doubts_are_told(void **state)
{
	struct gp_run_set a = runs_make(2, 1), b = runs_make(1, 1);
	uint32_t lines = 0;

	(void)state;
	gp_compare_doubts(&a, &b, say, &lines);
	assert_int_equal(lines, 0);
	runs_fact(&a, GP_MACHINE_GPUS, "H200");
	runs_fact(&b, GP_MACHINE_GPUS, "H100");
	runs_fact(&b, GP_MACHINE_PROGRAM, "train");
	gp_compare_doubts(&a, &b, say, &lines);
	assert_int_equal(lines, 2);
	runs_fact(&a, GP_MACHINE_PROGRAM, "serve");
	lines = 0;
	gp_compare_doubts(&a, &b, say, &lines);
	assert_int_equal(lines, 3);
	a.runs[1].partial = b.runs[0].partial = "killed";
	lines = 0;
	gp_compare_doubts(&a, &b, say, &lines);
	assert_int_equal(lines, 5);
	runs_set(&a, GP_METRIC_ENERGY, (double)NAN);
	lines = 0;
	gp_compare_doubts(&a, &b, say, &lines);
	assert_int_equal(lines, 6);
	a.runs[1].partial = b.runs[0].partial = NULL;
	gp_run_set_free(&a);
	gp_run_set_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_are_new_gone_or_changed_by_their_effect),
		cmocka_unit_test(what_leaks_is_compared_by_call_site),
		cmocka_unit_test(what_python_did_is_compared_where_both_were_looked_at),
		cmocka_unit_test(the_step_time_is_never_negligible),
		cmocka_unit_test(a_change_is_sure_where_runs_agree),
		cmocka_unit_test(equal_runs_have_no_rows),
		cmocka_unit_test(times_of_next_to_no_effect_are_left_out),
		cmocka_unit_test(energy_is_compared_by_itself),
		cmocka_unit_test(kernels_of_one_short_name_are_told_apart),
		cmocka_unit_test(kernels_of_another_gpu_are_of_one_side_only),
		cmocka_unit_test(a_metric_of_one_side_is_no_row_for_people),
		cmocka_unit_test(doubts_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
