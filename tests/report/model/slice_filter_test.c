/* Which slices are in a window, in a part, long enough; and how a trace is cut in parts. */
#include "report/model/slice_filter.h"
#include "tests/unit.h"
#include "tests/report/model_builder.h"

/* The first call is at 1000. */
static struct gp_slice_filter filter_of(struct gp_slice_choice choice)
{
	const struct gp_model model = {.first_ns = 1000, .last_ns = 9000};

	return gp_slice_filter_of(&choice, &model);
}

static void test_everything(void **state)
{
	struct gp_slice_filter filter = filter_of((struct gp_slice_choice){0});

	assert_true(gp_slice_filter_has(&filter, 0, 0));
	assert_true(gp_slice_filter_has(&filter, 5, 4)); /* a hostile one */
	assert_true(gp_slice_filter_has_moment(&filter, UINT64_MAX));
}

static void test_window(void **state)
{
	struct gp_slice_filter filter =
		filter_of((struct gp_slice_choice){.from_ns = 500, .to_ns = 1000});
	static const struct {
		uint64_t start_ns, end_ns;
		bool in;
	} slices[] = {
		{1400, 1500, false}, {1400, 1501, true},  {1500, 1500, true},  {1499, 1499, false},
		{1999, 5000, true},  {2000, 2001, false}, {2000, 2000, false}, {1000, 9000, true},
	};

	for (size_t i = 0; i < sizeof(slices) / sizeof(slices[0]); i++)
		assert_int_equal(gp_slice_filter_has(&filter, slices[i].start_ns, slices[i].end_ns),
				 slices[i].in);
	assert_true(gp_slice_filter_has_moment(&filter, 1500));
	assert_false(gp_slice_filter_has_moment(&filter, 2000));
}

/*
 * Of neighbors a slice is in the one in which it began, also what was there before the first call.
 */
static void test_parts(void **state)
{
	struct gp_slice_filter first =
		filter_of((struct gp_slice_choice){.to_ns = 500, .is_part = true});
	struct gp_slice_filter second =
		filter_of((struct gp_slice_choice){.from_ns = 500, .is_part = true});
	static const uint64_t starts[] = {0, 999, 1000, 1499, 1500, 1501, UINT64_MAX - 1};

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		assert_int_equal(gp_slice_filter_has(&first, starts[i], UINT64_MAX),
				 starts[i] < 1500);
		assert_int_equal(gp_slice_filter_has(&second, starts[i], UINT64_MAX),
				 starts[i] >= 1500);
	}
}

static void test_duration(void **state)
{
	struct gp_slice_filter filter = filter_of((struct gp_slice_choice){.least_ns = 10});

	assert_false(gp_slice_filter_has(&filter, 0, 9));
	assert_true(gp_slice_filter_has(&filter, 0, 10));
	assert_false(gp_slice_filter_has(&filter, 10, 0));
	assert_true(gp_slice_filter_has_moment(&filter, 0));
}

static void test_windows_beyond_all_time(void **state)
{
	struct gp_slice_filter filter =
		filter_of((struct gp_slice_choice){.from_ns = UINT64_MAX - 1, .to_ns = UINT64_MAX});

	assert_false(gp_slice_filter_has(&filter, 1000, 9000));
}

static void test_cut(void **state)
{
	struct build b = build_begin(1);
	const struct gp_slice_choice all = {.is_part = true};
	const struct gp_slice_choice late = {.from_ns = 5000, .is_part = true};
	struct gp_model *model;
	uint64_t starts[4];

	for (uint64_t i = 0; i < 100; i++)
		build_call(&b, 1, BUILD_LAUNCH, i * 100, 10, (uint32_t)i + 1);
	model = build_end(&b);
	assert_int_equal(gp_slice_choice_cut(&all, model, starts, 4), 0);
	assert_int_equal(starts[0], 0);
	assert_int_equal(starts[1], 2500);
	assert_int_equal(starts[2], 5000);
	assert_int_equal(starts[3], 7500);
	assert_int_equal(gp_slice_choice_cut(&late, model, starts, 2), 0);
	assert_int_equal(starts[0], 5000);
	assert_int_equal(starts[1], 7500);
	gp_model_free(model);
}

/* No part has the end that stands for none. */
static void test_cut_of_one_moment(void **state)
{
	struct build b = build_begin(1);
	const struct gp_slice_choice all = {.is_part = true};
	struct gp_model *model = build_end(&b);
	uint64_t starts[3];

	assert_int_equal(gp_slice_choice_cut(&all, model, starts, 3), 0);
	assert_int_equal(starts[0], 0);
	assert_int_equal(starts[1], 1);
	assert_int_equal(starts[2], 1);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_duration),
		cmocka_unit_test(test_windows_beyond_all_time),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_cut_of_one_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
