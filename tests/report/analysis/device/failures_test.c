#include <string.h>

#include "report/analysis/device/failures.h"
#include "tests/unit.h"
#include "tests/report/model_builder.h"
#include "tests/report/stack_builder.h"

#define MALLOC 20
#define QUERY  21
#define LOOKUP (GP_API_DRIVER | 22)

static struct build begin(void)
{
	struct build b = build_begin(1);

	build_api(&b, MALLOC, "cudaMalloc", GP_API_ALLOC);
	build_api(&b, QUERY, "cudaStreamQuery", GP_API_SYNC);
	build_api(&b, LOOKUP, "cuModuleGetFunction", GP_API_OTHER);
	return b;
}

static void fail_at(struct build *b, uint16_t api, uint16_t status, uint64_t start_ns,
		    uint32_t frame)
{
	build_call(b, 1, api, start_ns, 10, (uint32_t)start_ns)->status = status;
	if (frame != GP_NONE)
		build_stack_of_last(b, frame);
}

static void by_place_and_error_work_first(void **state)
{
	struct build b = begin();
	uint32_t main_frame = build_python(&b, GP_NONE, "app.py", "main", 7);
	uint32_t here = build_python(&b, main_frame, "app.py", "grow", 12);
	struct gp_model *model;
	struct gp_failures failures;

	fail_at(&b, LOOKUP, 500, 10, here);
	fail_at(&b, MALLOC, 2, 200, here);
	fail_at(&b, MALLOC, 1, 100, main_frame);
	fail_at(&b, MALLOC, 2, 300, here);
	fail_at(&b, MALLOC, 0, 400, here);
	fail_at(&b, QUERY, 600, 500, here);
	build_stacks_end(&b);
	model = build_end(&b);
	assert_int_equal(gp_failures_of(&failures, &model, 1), 0);
	assert_int_equal(failures.count, 3);
	assert_int_equal(failures.calls, 4);
	assert_int_equal(failures.rows[0].code, 1);
	assert_int_equal(failures.rows[1].code, 2);
	assert_int_equal(failures.rows[1].count, 2);
	assert_int_equal(failures.rows[1].first_unix_ns, model->base_unix_ns + 200);
	assert_non_null(strstr(gp_call_sites_at(failures.sites, failures.rows[1].site).place,
			       "grow (app.py:12)"));
	assert_string_equal(failures.rows[2].function, "cuModuleGetFunction");
	assert_true(failures.rows[2].is_driver);
	gp_failures_free(&failures);
	gp_model_free(model);
}

/* Where there is no stack, the innermost range of the thread. */
static void in_a_range(void **state)
{
	struct build b = begin();
	struct gp_model *model = b.model;
	struct gp_failures failures;

	build_range(&b, 1, "epoch", 50, 900);
	build_range(&b, 1, "step", 90, 250);
	build_range(&b, 1, "step", 300, 310);
	build_range(&b, 2, "step", 190, 250);
	fail_at(&b, MALLOC, 2, 200, GP_NONE);
	fail_at(&b, MALLOC, 2, 305, GP_NONE);
	fail_at(&b, MALLOC, 1, 950, GP_NONE);
	model = build_end(&b);
	assert_int_equal(gp_failures_of(&failures, &model, 1), 0);
	assert_int_equal(failures.count, 2);
	assert_int_equal(failures.rows[0].count, 2);
	assert_false(failures.rows[0].has_stack);
	assert_string_equal(failures.rows[0].range, "step");
	assert_null(failures.rows[1].range);
	gp_failures_free(&failures);
	gp_model_free(model);
}

/*
 * Domains nest each for itself: a range may end while one that was opened later in another goes on;
 * other threads' and those that do not nest are none.
 */
static void in_ranges_that_overlap(void **state)
{
	static const char *const expected[] = {NULL, "a", "b", "b", NULL, "c", "d", NULL};
	struct build b = begin();
	struct gp_model *model = b.model;
	struct gp_failures failures;

	build_range(&b, 1, "a", 100, 300);
	build_range(&b, 1, "b", 200, 400);
	build_range(&b, 1, "c", 500, 700);
	build_range(&b, 1, "d", 600, 620);
	build_range(&b, 1, "start/end", 605, 650);
	model->ranges[4].style = GP_STYLE_START_END;
	build_range(&b, 2, "a", 0, 900);
	for (uint16_t i = 0; i < 8; i++)
		fail_at(&b, MALLOC, (uint16_t)(1 + i),
			(const uint64_t[]){50, 150, 250, 350, 400, 550, 610, 800}[i], GP_NONE);
	model = build_end(&b);
	assert_int_equal(gp_failures_of(&failures, &model, 1), 0);
	assert_int_equal(failures.count, 8);
	for (uint32_t i = 0; i < 8; i++)
		if (expected[i])
			assert_string_equal(failures.rows[i].range, expected[i]);
		else
			assert_null(failures.rows[i].range);
	gp_failures_free(&failures);
	gp_model_free(model);
}

/*
 * The first of a row may be of another thread, or of another process, than the one that was read
 * first.
 */
static void in_the_range_of_the_first(void **state)
{
	struct gp_failures failures;
	struct gp_model *models[2];

	for (uint32_t i = 0; i < 2; i++) {
		struct build b = begin();

		build_range(&b, 1, i == 0 ? "late" : "later", 0, 900);
		build_range(&b, 2, i == 0 ? "early" : "first", 0, 900);
		fail_at(&b, MALLOC, 2, 500 - i * 100, GP_NONE);
		fail_at(&b, MALLOC, 2, 300 - i * 100, GP_NONE);
		b.model->calls[1].thread_id = 2;
		models[i] = build_end(&b);
	}
	assert_int_equal(gp_failures_of(&failures, models, 2), 0);
	assert_int_equal(failures.count, 1);
	assert_int_equal(failures.rows[0].count, 4);
	assert_string_equal(failures.rows[0].range, "first");
	gp_failures_free(&failures);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

/*
 * As many rows as ranges, each row in all ranges: what takes a step for each pair of them takes
 * minutes.
 */
static void time_does_not_grow_with_the_square_of_ranges(void **state)
{
	const uint32_t many = 200000;
	const uint16_t apis[] = {MALLOC, QUERY, LOOKUP, BUILD_LAUNCH};
	struct build b = begin();
	struct gp_failures failures;
	struct gp_model *model;

	for (uint32_t i = 0; i < many; i++)
		build_range(&b, 1, i == many - 1 ? "innermost" : "outer", i, 9 * many - i);
	for (uint32_t i = 0; i < many; i++)
		fail_at(&b, apis[i % 4], (uint16_t)(1000 + i / 4), 2 * many + i, GP_NONE);
	model = build_end(&b);
	assert_int_equal(gp_failures_of(&failures, &model, 1), 0);
	assert_int_equal(failures.count, many);
	for (uint32_t i = 0; i < many; i++)
		assert_string_equal(failures.rows[i].range, "innermost");
	gp_failures_free(&failures);
	gp_model_free(model);
}

static void errors_have_their_names(void **state)
{
	char text[GP_FAILURE_ERROR_BYTES];

	gp_failure_error(text, 2, false);
	assert_string_equal(text, "out of memory (cudaErrorMemoryAllocation, 2)");
	gp_failure_error(text, 2, true);
	assert_string_equal(text, "out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2)");
	gp_failure_error(text, 915, false);
	assert_string_equal(text, "cudaErrorInvalidResourceConfiguration (915)");
	gp_failure_error(text, 4242, true);
	assert_string_equal(text, "error 4242");
}

static void assert_asked(const struct gp_asked *asked, const char *expected)
{
	char text[100] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	gp_asked_tell(out, asked);
	fclose(out);
	assert_string_equal(text, expected);
}

/* And in which process the first one was, in how many there were some. */
static void what_they_asked_for(void **state)
{
	struct gp_refusal refusals[2][2] = {
		{{.bytes = 3u << 20, .call = 0}, {.bytes = 2u << 20, .call = 2}},
		{{.bytes = 3u << 20, .call = 0}}};
	struct gp_failures failures;
	struct gp_model *models[2];

	for (uint32_t i = 0; i < 2; i++) {
		struct build b = begin();

		fail_at(&b, MALLOC, 2, 500 - 200 * i, GP_NONE);
		fail_at(&b, MALLOC, 1, 600, GP_NONE);
		fail_at(&b, MALLOC, 2, 700, GP_NONE);
		models[i] = build_end(&b);
		models[i]->pid = 10 + i;
		models[i]->refusals = refusals[i];
		models[i]->refusal_count = i == 0 ? 2 : 1;
	}
	assert_int_equal(gp_failures_of(&failures, models, 2), 0);
	assert_int_equal(failures.count, 2);
	assert_int_equal(failures.rows[0].count, 4);
	assert_int_equal(failures.rows[0].first_process, 1);
	assert_int_equal(failures.rows[0].processes, 2);
	assert_asked(&failures.rows[0].asked, ", of 2.000MiB to 3.000MiB");
	assert_asked(&failures.rows[1].asked, "");
	gp_failures_free(&failures);
	assert_int_equal(gp_failures_of(&failures, &models[1], 1), 0);
	assert_asked(&failures.rows[0].asked, ", of 3.000MiB");
	assert_int_equal(failures.rows[0].processes, 1);
	gp_failures_free(&failures);
	assert_asked(&(struct gp_asked){2, 0, 0}, ", of 0B each");
	for (uint32_t i = 0; i < 2; i++) {
		models[i]->refusals = NULL;
		gp_model_free(models[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_place_and_error_work_first),
		cmocka_unit_test(in_a_range),
		cmocka_unit_test(in_ranges_that_overlap),
		cmocka_unit_test(in_the_range_of_the_first),
		cmocka_unit_test(time_does_not_grow_with_the_square_of_ranges),
		cmocka_unit_test(errors_have_their_names),
		cmocka_unit_test(what_they_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
