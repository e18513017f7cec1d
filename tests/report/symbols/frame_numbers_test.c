#include "tests/unit.h"

#include <stdlib.h>

#include "report/symbols/frame_numbers.h"

/* What is noted of a model is found again, whichever were asked for meanwhile. */
static void each_model_has_its_own(void **state)
{
	struct gp_model models[3] = {{.frame_count = 4}, {.frame_count = 0}, {.frame_count = 4}};
	struct gp_frame_numbers all = {0};

	for (uint32_t i = 0; i < 3; i++) {
		struct gp_frame_numbers_of *of = gp_frame_numbers_of(&all, &models[i]);

		assert_non_null(of);
		assert_ptr_equal(of->model, &models[i]);
		assert_null(of->more);
		of->more = malloc(1);
		for (uint32_t frame = 0; frame < models[i].frame_count; frame++) {
			assert_int_equal(of->numbers[frame], GP_NONE);
			of->numbers[frame] = 10 * i + frame;
		}
	}
	assert_int_equal(gp_frame_numbers_of(&all, &models[0])->numbers[3], 3);
	assert_int_equal(gp_frame_numbers_of(&all, &models[2])->numbers[3], 23);
	assert_non_null(gp_frame_numbers_of(&all, &models[1])->more);
	assert_int_equal(all.count, 3);
	gp_frame_numbers_free(&all);
	assert_int_equal(gp_frame_numbers_of(&all, &models[0])->numbers[3], GP_NONE);
	gp_frame_numbers_free(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_model_has_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
