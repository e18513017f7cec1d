#include <stdlib.h>

#include "tests/unit.h"
#include "tests/report/trace_builder.h"

#define INSTANTIATE 400

static void add_node(struct gp_builder *b, uint64_t id, uint64_t original, uint32_t correlation_id)
{
	gp_builder_add(b, &(struct gp_record_node){.kind = GP_RECORD_NODE,
						   .correlation_id = correlation_id,
						   .node_id = id,
						   .original_id = original,
						   .graph_id = 1});
}

static void add_op(struct gp_builder *b, uint64_t node_id, uint64_t start_ns)
{
	gp_builder_add(b, &(struct gp_record_kernel){.kind = GP_RECORD_KERNEL,
						     .correlation_id = 30,
						     .start_ns = GP_TEST_CUPTI(start_ns),
						     .end_ns = GP_TEST_CUPTI(start_ns + 5),
						     .name_id = 1,
						     .shape_id = 1,
						     .context_id = 1,
						     .stream_id = 7,
						     .graph_node_id = node_id,
						     .graph_id = 2});
}

static void test_nodes_know_the_call_that_was_captured(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_init(&b);
	gp_builder_start(&b);
	gp_builder_chunk(&b, 1, 100);
	gp_builder_call(&b, GP_TEST_LAUNCH, 10, 100, 5);
	gp_builder_call(&b, GP_TEST_SET, 11, 110, 5);
	gp_builder_call(&b, INSTANTIATE, 20, 200, 5);
	gp_builder_call(&b, GP_TEST_GRAPH_LAUNCH, 30, 300, 5);
	add_node(&b, 0x201, 0x101, 20); /* copies of copies come before what they are copied from */
	add_node(&b, 0x301, 0x201, 20);
	add_node(&b, 0x101, 0, 10);
	add_node(&b, 0x102, 0, 11);
	add_node(&b, 0x501, 0x502, 20); /* in a circle */
	add_node(&b, 0x502, 0x501, 20);
	add_node(&b, 0x601, 0x999, 20); /* of nothing that is known */
	add_op(&b, 0x301, 1000);
	add_op(&b, 0x102, 1010);
	add_op(&b, 0x501, 1020);
	add_op(&b, 0x601, 1030);
	add_op(&b, 0x777, 1040);
	add_op(&b, 0, 1050);
	m = gp_builder_load(&b);
	gp_builder_free(&b);
	assert_int_equal(m->op_count, 6);
	assert_int_equal(m->calls[gp_model_detail(m, &m->ops[0])->capture_call].correlation_id, 10);
	assert_int_equal(m->calls[m->ops[0].call].correlation_id, 30);
	assert_int_equal(m->calls[gp_model_detail(m, &m->ops[1])->capture_call].correlation_id, 11);
	for (int i = 2; i < 6; i++)
		assert_int_equal(gp_model_detail(m, &m->ops[i])->capture_call, GP_NONE);
	gp_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nodes_know_the_call_that_was_captured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
