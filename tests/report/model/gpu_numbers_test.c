/* One GPU of several processes has one number, two have two. */
#include "report/model/gpu_numbers.h"
#include "tests/unit.h"
#include "tests/report/model_builder.h"

/* A process that sees the GPU of that UUID as its device. */
static struct gp_model *model_of(uint16_t device_id, uint8_t uuid)
{
	struct build b = build_begin(1);

	build_device(&b, device_id, "GPU");
	b.model->devices[0].uuid[3] = uuid;
	return build_end(&b);
}

static void test_one_process_keeps_its_numbers(void **state)
{
	struct gp_model *model = model_of(3, 7);
	struct gp_gpu_numbers numbers = {0};
	bool is_new;

	gp_gpu_numbers_next(&numbers);
	assert_int_equal(gp_gpu_numbers_find(&numbers, model, 3, &is_new), 3);
	assert_true(is_new);
	assert_int_equal(gp_gpu_numbers_find(&numbers, model, 3, &is_new), 3);
	assert_false(is_new);
	assert_int_equal(gp_gpu_numbers_find(&numbers, model, 0, NULL), 0); /* not recorded */
	gp_gpu_numbers_free(&numbers);
	gp_model_free(model);
}

static void test_several_processes(void **state)
{
	struct gp_model *first = model_of(0, 7), *same = model_of(1, 7), *other = model_of(0, 8);
	struct gp_gpu_numbers numbers = {0};
	bool is_new;

	gp_gpu_numbers_next(&numbers);
	assert_int_equal(gp_gpu_numbers_find(&numbers, first, 0, NULL), 0);
	gp_gpu_numbers_next(&numbers);
	assert_int_equal(gp_gpu_numbers_find(&numbers, same, 1, &is_new), 0);
	assert_false(is_new);
	gp_gpu_numbers_next(&numbers);
	assert_int_equal(gp_gpu_numbers_find(&numbers, other, 0, &is_new), 1);
	assert_true(is_new);
	gp_gpu_numbers_free(&numbers);
	gp_model_free(first);
	gp_model_free(same);
	gp_model_free(other);
}

/* What one process tells apart stays apart, whatever the records say. */
static void test_equal_devices_of_one_process(void **state)
{
	struct build b = build_begin(1);
	struct gp_gpu_numbers numbers = {0};
	struct gp_model *model;

	build_device(&b, 0, "GPU");
	build_device(&b, 1, "GPU");
	b.model->devices[1].uuid[3] = 0;
	model = build_end(&b);
	gp_gpu_numbers_next(&numbers);
	assert_int_equal(gp_gpu_numbers_find(&numbers, model, 0, NULL), 0);
	assert_int_equal(gp_gpu_numbers_find(&numbers, model, 1, NULL), 1);
	gp_gpu_numbers_free(&numbers);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_process_keeps_its_numbers),
		cmocka_unit_test(test_several_processes),
		cmocka_unit_test(test_equal_devices_of_one_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
