#include <stdlib.h>

#include "report/analysis/idle/queue.h"
#include "tests/unit.h"
#include "tests/report/model_builder.h"

struct seen {
	uint64_t lengths[64];
	size_t count;
};

static void see(void *context, uint64_t time_ns, uint64_t length)
{
	struct seen *seen = context;

	(void)time_ns;
	assert_true(seen->count < 64);
	seen->lengths[seen->count++] = length;
}

static void launches_lengthen_and_starts_shorten(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_queue queue;
	struct seen seen = {.count = 0};
	static const uint64_t expected[] = {1, 0, 1, 2, 1, 0};

	build_call(&b, 1, BUILD_LAUNCH, 0, 10, 1);
	build_call(&b, 1, BUILD_LAUNCH, 20, 10, 2);
	build_call(&b, 1, BUILD_LAUNCH, 30, 10, 3);
	build_op(&b, GP_OP_KERNEL, 7, 15, 100, 1);
	build_op(&b, GP_OP_KERNEL, 7, 110, 150, 2);
	build_op(&b, GP_OP_KERNEL, 7, 200, 300, 3);
	build_op(&b, GP_OP_KERNEL, 8, 5, 300, 9);
	model = build_end(&b);
	assert_int_equal(gp_model_stream_end(model, 0), 3);
	assert_int_equal(gp_model_stream_end(model, 3), 4);
	gp_queue_of(&queue, model, 0, 3, see, &seen);
	assert_int_equal(seen.count, 6);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(seen.lengths[i], expected[i]);
	assert_int_equal(queue.launched, 3);
	assert_int_equal(queue.most, 2);
	assert_int_equal(queue.late, 0);
	assert_int_equal(queue.step_ns, 10);
	assert_int_equal(queue.other_ns, 50);
	assert_int_equal(gp_queue_delay_ns(model, &model->ops[1]), 80);
	gp_model_free(model);
}

static void a_launch_into_an_empty_stream_is_late(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_queue queue;

	build_call(&b, 1, BUILD_LAUNCH, 0, 10, 1);
	build_call(&b, 1, BUILD_LAUNCH, 200, 30, 2);
	build_op(&b, GP_OP_KERNEL, 7, 15, 100, 1);
	build_op(&b, GP_OP_KERNEL, 7, 220, 300, 2);
	build_op(&b, GP_OP_KERNEL, 7, 500, 600, 3); /* its call is not known */
	model = build_end(&b);
	gp_queue_of(&queue, model, 0, 3, NULL, NULL);
	assert_int_equal(queue.late, 1);
	assert_int_equal(queue.brief, 0);
	assert_int_equal(queue.host_wait_ns, 120);
	assert_int_equal(queue.other_ns, 200);
	assert_int_equal(queue.launched, 2);
	assert_int_equal(gp_queue_delay_ns(model, &model->ops[1]), 0);
	gp_model_free(model);
}

/* 1500 launches of 1 us each; the device begins them when 1200 are there, one every 2 us. */
static void a_full_queue_blocks_calls(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_queue queue;

	for (uint32_t i = 0; i < 1500; i++) {
		build_call(&b, 1, BUILD_LAUNCH, i * 1000, 1000, i + 1);
		build_op(&b, GP_OP_KERNEL, 7, 1200500 + i * 2000, 1200500 + i * 2000 + 1500, i + 1);
	}
	model = build_end(&b);
	gp_queue_of(&queue, model, 0, 1500, NULL, NULL);
	assert_int_equal(queue.blocked, 1500 - GP_QUEUE_FULL);
	assert_int_equal(queue.blocked_ns, queue.blocked * 1000);
	assert_int_equal(queue.brief, 0);
	assert_int_equal(queue.most, 1200 + 300 / 2);
	/* from the 1024th launch to the start that leaves 1023 */
	assert_int_equal(queue.full_ns, 1200500 + 2000 * (1500 - GP_QUEUE_FULL) - 1023000);
	gp_model_free(model);
}

/* Two launches of a graph of 1500 kernels, whose call takes 100 us: nothing was ever in its way. */
static void nodes_of_a_graph_are_one_launch(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_queue queue;

	for (uint32_t i = 0; i < 2; i++) {
		uint64_t at_ns = i * 4000000;

		build_call(&b, 1, BUILD_LAUNCH, at_ns, 100000, i + 1);
		for (uint32_t k = 0; k < 1500; k++)
			build_op(&b, GP_OP_KERNEL, 7, at_ns + 200000 + k * 2000,
				 at_ns + 201500 + k * 2000, i + 1)
				->graph_id = 3;
	}
	model = build_end(&b);
	gp_queue_of(&queue, model, 0, 3000, NULL, NULL);
	assert_int_equal(queue.launched, 3000);
	assert_int_equal(queue.most, 1);
	assert_int_equal(queue.full_ns, 0);
	assert_int_equal(queue.blocked, 0);
	assert_int_equal(queue.late, 1);
	gp_model_free(model);
}

static void clocks_that_differ_do_no_harm(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_queue queue;
	struct seen seen = {.count = 0};

	build_call(&b, 1, BUILD_LAUNCH, 100, 110, 1);
	build_op(&b, GP_OP_KERNEL, 7, 95, 200, 1);
	build_op(&b, GP_OP_KERNEL, 7, 150, 180, 2)->untimed = 1;
	model = build_end(&b);
	gp_queue_of(&queue, model, 0, 2, see, &seen);
	assert_int_equal(seen.count, 2);
	assert_int_equal(seen.lengths[1], 0);
	assert_int_equal(queue.brief, 1);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(launches_lengthen_and_starts_shorten),
		cmocka_unit_test(a_launch_into_an_empty_stream_is_late),
		cmocka_unit_test(a_full_queue_blocks_calls),
		cmocka_unit_test(nodes_of_a_graph_are_one_launch),
		cmocka_unit_test(clocks_that_differ_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
