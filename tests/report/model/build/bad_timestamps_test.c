#include <stdlib.h>

#include "report/analysis/idle/busy.h"
#include "report/model/build/bad_timestamps.h"
#include "report/model/devices.h"
#include "tests/unit.h"
#include "tests/report/model_builder.h"

#define US 1000ull
#define MS 1000000ull

#define STREAM 7
#define COPIES 5
#define LONG   2 /* the number of the long one */

/* What the operations within the long one's time are. */
enum within { PLAIN, NODES, BOTH_NODES, DEPENDENT, OF_ITS_CALL, OF_ANOTHER_STREAM };

/*
 * Five copies, one of which is said to have gone on from 3 to 1,000 ms, and so many kernels of 2 us
 * within, a millisecond apart from 10 ms on; what follows ends last.
 */
static struct gp_model *build(uint32_t kernels, enum within within, const char *recorder)
{
	struct build b = build_begin(1);
	uint32_t name = build_name(&b, "k");

	for (uint32_t i = 0; i < COPIES; i++) {
		uint64_t at_ns = i < LONG ? (i + 1) * US : i == LONG ? 3 * MS : (1000 + i) * MS;
		uint64_t end_ns = i == LONG ? 1000 * MS : at_ns + US;
		struct gp_op *op;

		build_call(&b, 100, BUILD_MEMCPY_ASYNC, at_ns - US / 2, 500, i + 1);
		op = build_op(&b, GP_OP_COPY, STREAM, at_ns, end_ns, i + 1);
		op->copy_kind = GP_COPY_DTOD;
		op->bytes = 1;
		op->graph_id = i == LONG && within == BOTH_NODES ? 3 : 0;
	}
	for (uint32_t i = 0; i < kernels; i++) {
		uint64_t at_ns = (10 + i) * MS;
		struct gp_op *op;

		build_call(&b, 100, BUILD_LAUNCH, at_ns - US, 500, 100 + i)->overlapping =
			within == DEPENDENT;
		op = build_op(&b, GP_OP_KERNEL, within == OF_ANOTHER_STREAM ? 8 : STREAM, at_ns,
			      at_ns + 2 * US, within == OF_ITS_CALL ? LONG + 1 : 100 + i);
		op->name = name;
		op->graph_id = within == NODES || within == BOTH_NODES ? 3 : 0;
	}
	b.model->recorder = recorder;
	b.model->unknown = recorder && recorder[0] == 't' ? GP_UNKNOWN_ORDER : 0;
	return build_end(&b);
}

static const struct gp_op *find_copy(const struct gp_model *model, uint32_t correlation_id)
{
	for (uint32_t i = 0; i < model->op_count; i++)
		if (model->ops[i].correlation_id == correlation_id)
			return &model->ops[i];
	return NULL;
}

static void what_ten_of_its_stream_contradict_has_no_duration(void **state)
{
	struct gp_model *model = build(10, PLAIN, NULL);
	const struct gp_op *op;

	assert_int_equal(gp_untime_contradicted(model), 0);
	assert_int_equal(model->losses.ops_contradicted, 1);
	assert_int_equal(model->losses.ops_clashing, 0);
	assert_int_equal(model->losses.ops_untimed, 0);
	assert_int_equal(model->contradiction_count, 1);
	assert_int_equal(model->contradictions[0].clashes, 10);
	op = find_copy(model, LONG + 1);
	assert_int_equal(op->start_ns, 3 * MS);
	assert_int_equal(op->end_ns, 3 * MS);
	assert_true(op->untimed);
	assert_true(gp_model_has_place(model, op));
	assert_ptr_equal(gp_model_stated(model, op), &model->contradictions[0].stated);
	assert_int_equal(gp_model_stated(model, op)->start_ns, 3 * MS);
	assert_int_equal(gp_model_stated(model, op)->end_ns, 1000 * MS);
	assert_ptr_equal(gp_model_stated(model, op + 1), op + 1);
	gp_model_free(model);
}

/* Of few it is not known which is wrong. */
static void what_few_contradict_is_counted(void **state)
{
	struct gp_model *model = build(9, PLAIN, NULL);

	assert_int_equal(gp_untime_contradicted(model), 0);
	assert_int_equal(model->contradiction_count, 0);
	assert_int_equal(model->losses.ops_clashing, 9);
	assert_int_equal(find_copy(model, LONG + 1)->end_ns, 1000 * MS);
	assert_false(find_copy(model, LONG + 1)->untimed);
	gp_model_free(model);
}

static void only_what_a_stream_does_in_order_contradicts(void **state)
{
	static const struct {
		enum within within;
		const char *recorder;
		uint32_t found;
	} cases[] = {
		{NODES, NULL, 1}, /* a stream does a graph after what is none */
		{BOTH_NODES, NULL, 0},
		{DEPENDENT, NULL, 0},
		{OF_ITS_CALL, NULL, 0},
		{OF_ANOTHER_STREAM, NULL, 0},
		{PLAIN, "gpuprof, from an exported Chrome trace", 1},
		{PLAIN, "torch.profiler", 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_model *model = build(20, cases[i].within, cases[i].recorder);

		assert_int_equal(gp_untime_contradicted(model), 0);
		assert_int_equal(model->contradiction_count, cases[i].found);
		assert_int_equal(model->losses.ops_clashing, 0);
		gp_model_free(model);
	}
}

/* One within another; and the span is of what is left. */
static void one_within_another_has_none_either(void **state)
{
	static const uint64_t times_us[][2] = {{1, 2}, {5000, 9000000}, {6000, 8000000}};
	struct build b = build_begin(1);
	struct gp_model *model;

	for (uint32_t i = 0; i < 3; i++)
		build_op(&b, GP_OP_COPY, STREAM, times_us[i][0] * US, times_us[i][1] * US, i + 1)
			->copy_kind = GP_COPY_DTOD;
	for (uint32_t i = 0; i < 12; i++)
		build_op(&b, GP_OP_SET, STREAM, (7000 + 10 * i) * US, (7005 + 10 * i) * US, 50 + i);
	model = build_end(&b);
	assert_int_equal(gp_untime_contradicted(model), 0);
	assert_int_equal(model->contradiction_count, 2);
	assert_int_equal(model->contradictions[0].clashes, 13);
	for (uint32_t i = 1; i < 3; i++) {
		assert_int_equal(model->ops[i].end_ns, model->ops[i].start_ns);
		assert_int_equal(gp_model_stated(model, &model->ops[i])->end_ns,
				 times_us[i][1] * US);
	}
	assert_int_equal(model->losses.ops_clashing, 0);
	assert_int_equal(model->last_ns, (7005 + 110) * US);
	gp_model_free(model);
}

/* A hostile file: what lies within each is not counted to its end. */
static void of_very_many_no_more_are_counted_than_are_told(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;

	for (uint32_t i = 0; i < 300; i++)
		build_op(&b, GP_OP_COPY, STREAM, (1 + 10 * i) * US, (10000 - 10 * i) * US, i + 1)
			->copy_kind = GP_COPY_DTOD;
	model = build_end(&b);
	assert_int_equal(gp_untime_contradicted(model), 0);
	assert_int_equal(model->contradiction_count, 290);
	assert_int_equal(model->contradictions[0].clashes, GP_CLASHES_COUNTED);
	assert_int_equal(model->contradictions[289].clashes, 10);
	for (uint32_t i = 0; i < 290; i++) {
		assert_int_equal(model->ops[i].end_ns, model->ops[i].start_ns);
		assert_int_equal(gp_model_stated(model, &model->ops[i])->end_ns,
				 (10000 - 10 * i) * US);
	}
	assert_ptr_equal(gp_model_stated(model, &model->ops[290]), &model->ops[290]);
	gp_model_free(model);
}

/*
 * Clocks differ by less than a microsecond; and who comes after the longest one so far is told of,
 * too.
 */
static void clashes_are_counted_whatever_lies_between(void **state)
{
	static const uint64_t times_us[][2] = {{0, 100}, {10, 20}, {30, 40}, {99, 200}, {200, 300}};
	struct build b = build_begin(1);
	struct gp_model *model;

	for (uint32_t i = 0; i < 5; i++)
		build_op(&b, GP_OP_COPY, STREAM, times_us[i][0] * US, times_us[i][1] * US, i + 1)
			->copy_kind = GP_COPY_DTOD;
	model = build_end(&b);
	assert_int_equal(gp_untime_contradicted(model), 0);
	assert_int_equal(model->losses.ops_clashing, 2);
	gp_model_free(model);
}

/* By more than a microsecond, which clocks differ by, whatever recorder made the trace. */
static void operations_before_their_call_are_counted(void **state)
{
	static const uint64_t starts_ns[] = {100 * US, 99 * US, 98 * US, 6 * US};
	struct build b = build_begin(1);
	struct gp_model *model;

	for (uint32_t i = 0; i < 4; i++) {
		build_call(&b, 100, BUILD_LAUNCH, 100 * US, 500, i + 1);
		build_op(&b, GP_OP_KERNEL, STREAM + i, starts_ns[i], 200 * US, i + 1);
	}
	build_op(&b, GP_OP_KERNEL, STREAM, 5 * US, 6 * US, 9); /* without a call */
	b.model->unknown = GP_UNKNOWN_ORDER;
	model = build_end(&b);
	assert_int_equal(gp_untime_contradicted(model), 0);
	assert_int_equal(model->losses.ops_early, 2);
	gp_model_free(model);
}

static void its_gpu_was_busy_at_least(void **state)
{
	struct gp_model *model = build(10, PLAIN, NULL);
	struct gp_device_list devices = {0};
	struct gp_busy *busy;

	assert_int_equal(gp_untime_contradicted(model), 0);
	busy = gp_busy_of(&model, 1, gp_busy_window(&model, 1), &devices);
	assert_non_null(busy);
	assert_int_equal(busy[0].inside_ns + busy[0].outside_ns, 4 * US + 10 * 2 * US);
	assert_int_equal(busy[0].more_ns, 7 * MS); /* until the first kernel began */
	free(busy);
	gp_device_list_free(&devices);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_ten_of_its_stream_contradict_has_no_duration),
		cmocka_unit_test(its_gpu_was_busy_at_least),
		cmocka_unit_test(operations_before_their_call_are_counted),
		cmocka_unit_test(what_few_contradict_is_counted),
		cmocka_unit_test(only_what_a_stream_does_in_order_contradicts),
		cmocka_unit_test(one_within_another_has_none_either),
		cmocka_unit_test(of_very_many_no_more_are_counted_than_are_told),
		cmocka_unit_test(clashes_are_counted_whatever_lies_between),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
