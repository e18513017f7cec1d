#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/analysis/device/curves.h"
#include "tests/unit.h"
#include "tests/report/model_builder.h"

static void assert_points(const struct gp_curve *curve, const struct gp_curve_point *expected,
			  size_t count, const struct gp_model *model)
{
	assert_int_equal(curve->count, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(curve->points[i].time_ns, expected[i].time_ns);
		assert_int_equal(curve->points[i].value, expected[i].value);
		assert_int_equal(model->ops[curve->points[i].index].stream_id, expected[i].index);
	}
}

static void queues_of_streams_are_told_side_by_side(void **state)
{
	static const struct gp_curve_point expected[] = {
		{0, 1, 7, 0},  {15, 0, 7, 0}, {20, 1, 8, 0},
		{30, 2, 8, 0}, {40, 1, 8, 0}, {90, 0, 8, 0},
	};
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_curve curve;

	build_call(&b, 1, BUILD_LAUNCH, 0, 10, 1);
	build_call(&b, 1, BUILD_LAUNCH, 20, 10, 2);
	build_call(&b, 1, BUILD_LAUNCH, 30, 10, 3);
	build_op(&b, GP_OP_KERNEL, 7, 15, 100, 1);
	build_op(&b, GP_OP_KERNEL, 8, 40, 90, 2);
	build_op(&b, GP_OP_KERNEL, 8, 90, 99, 3);
	build_op(&b, GP_OP_KERNEL, 9, 5, 300, 9); /* its call is not known */
	model = build_end(&b);
	assert_int_equal(gp_curve_queues(&curve, model), 0);
	assert_points(&curve, expected, COUNT(expected), model);
	gp_curve_free(&curve);
	gp_model_free(model);
}

static void copy(struct build *b, uint32_t stream, uint64_t start_ns, uint64_t end_ns, uint8_t kind,
		 uint64_t bytes)
{
	struct gp_op *op = build_op(b, GP_OP_COPY, stream, start_ns, end_ns, 0);

	op->copy_kind = kind & 15u;
	op->bytes = bytes;
}

/* 1000 bytes in 100 ns are 10 GB/s. */
static void copies_of_one_direction_add_up(void **state)
{
	static const struct gp_curve_point expected[] = {
		{0, 10000000000, 7, 0},   {50, 30000000000, 7, 0}, {60, 5000000000, 9, 0},
		{100, 20000000000, 7, 0}, {150, 0, 7, 0},          {150, 40000000000, 7, 0},
		{160, 0, 9, 0},           {200, 0, 7, 0},
	};
	static const struct gp_curve_point from_120[] = {
		{120, 20000000000, 7, 0}, {120, 5000000000, 9, 0}, {150, 0, 7, 0},
		{150, 40000000000, 7, 0}, {160, 0, 9, 0},          {200, 0, 7, 0},
	};
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_curve curve;

	copy(&b, 7, 0, 100, GP_COPY_HTOD, 1000);
	copy(&b, 7, 150, 200, GP_COPY_HTOD, 2000);
	copy(&b, 8, 50, 150, GP_COPY_HTOD, 2000);
	copy(&b, 9, 60, 160, GP_COPY_DTOH, 500);
	copy(&b, 9, 170, 170, GP_COPY_DTOH, 500); /* no duration: no rate */
	copy(&b, 9, 171, 175, GP_COPY_HTOH, 500); /* no device's */
	build_op(&b, GP_OP_KERNEL, 9, 180, 190, 0);
	model = build_end(&b);
	assert_int_equal(gp_curve_bandwidth(&curve, model), 0);
	assert_points(&curve, expected, COUNT(expected), model);
	assert_int_equal(gp_curve_begin_at(&curve, 120), 0);
	assert_points(&curve, from_120, COUNT(from_120), model);
	gp_curve_free(&curve);
	gp_model_free(model);
}

/* As many bytes a second as no number holds: at most 2^56, which add up all the same. */
static void rates_beyond_all_numbers_are_cut(void **state)
{
	static const struct gp_curve_point expected[] = {
		{0, UINT64_C(1) << 56, 7, 0},
		{100, UINT64_C(2) << 56, 7, 0},
		{200, UINT64_C(1) << 56, 7, 0},
		{300, 0, 7, 0},
	};
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_curve curve;

	copy(&b, 7, 0, 200, GP_COPY_HTOD, UINT64_C(1) << 60);
	copy(&b, 8, 100, 300, GP_COPY_HTOD, UINT64_C(1) << 60);
	model = build_end(&b);
	assert_int_equal(gp_curve_bandwidth(&curve, model), 0);
	assert_points(&curve, expected, COUNT(expected), model);
	gp_curve_free(&curve);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queues_of_streams_are_told_side_by_side),
		cmocka_unit_test(copies_of_one_direction_add_up),
		cmocka_unit_test(rates_beyond_all_numbers_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
