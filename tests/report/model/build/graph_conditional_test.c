/*
 * Operations in conditional nodes of graphs belong to the launch in which they ran, though none has
 * its number.
 */
#include "tests/unit.h"
#include "tests/report/at_time.h"
#include "tests/report/trace_builder.h"

#define THREAD 100
#define GRAPH  3
#define OTHER  4

/* Correlation id 0: inside a conditional node. */
static void add_node(struct gp_builder *b, uint32_t correlation_id, uint64_t start_ns,
		     uint32_t graph_id, uint32_t node)
{
	gp_builder_add(
		b, &(struct gp_record_kernel){.kind = GP_RECORD_KERNEL,
					      .correlation_id = correlation_id,
					      .start_ns = GP_TEST_CUPTI(start_ns),
					      .end_ns = GP_TEST_CUPTI(start_ns + 5),
					      .name_id = 1,
					      .shape_id = 1,
					      .stream_id = correlation_id ? 7 : 15,
					      .graph_id = graph_id,
					      .graph_node_id = (uint64_t)graph_id << 32 | node});
}

static void begin(struct gp_builder *b, uint32_t launches, uint64_t separate_ns)
{
	gp_builder_begin(b, THREAD);
	for (uint32_t i = 0; i < launches; i++)
		gp_builder_call(b, GP_TEST_GRAPH_LAUNCH, 5 + i, 1000 + i * separate_ns, 10);
	gp_builder_chunk(b, 2, 50);
}

static void assert_launched_at(const struct gp_model *m, uint64_t op_ns, uint64_t call_ns)
{
	const struct gp_op *op = op_at(m, op_ns);

	assert_ptr_equal(&m->calls[op->call], call_at(m, call_ns));
	assert_int_equal(op->correlation_id, call_at(m, call_ns)->correlation_id);
}

static uint32_t operations_of(const struct gp_model *m, uint64_t call_ns)
{
	uint32_t count = 0;

	for (uint32_t at = call_at(m, call_ns)->first_op; at != GP_NONE; at = m->ops[at].next_op)
		count++;
	return count;
}

/* Both were launched before the first had begun; another graph runs at the same time. */
static void test_between_two_launches_that_were_made_ahead(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	begin(&b, 3, 20);
	add_node(&b, 5, 2000, GRAPH, 0);
	add_node(&b, 0, 2010, GRAPH, 3);
	add_node(&b, 6, 2015, OTHER, 0);
	add_node(&b, 0, 2020, GRAPH, 3);
	add_node(&b, 0, 2025, OTHER, 1);
	add_node(&b, 5, 2030, GRAPH, 2);
	add_node(&b, 7, 2040, GRAPH, 0);
	add_node(&b, 0, 2050, GRAPH, 3);
	m = gp_builder_finish(&b);
	assert_launched_at(m, 2010, 1000);
	assert_launched_at(m, 2020, 1000);
	assert_launched_at(m, 2025, 1020);
	assert_launched_at(m, 2050, 1040);
	assert_int_equal(operations_of(m, 1000), 4);
	assert_int_equal(operations_of(m, 1020), 2);
	assert_int_equal(operations_of(m, 1040), 2);
	assert_int_equal(m->losses.ops_without_call, 0);
	gp_model_free(m);
}

/*
 * A launch begins with such a node: before what has its number, and after what has the number of
 * the launch before.
 */
static void test_a_node_that_launches_begin_with(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	begin(&b, 2, 20);
	for (uint32_t i = 0; i < 2; i++) {
		add_node(&b, 0, 2000 + 100 * i, GRAPH, 3);
		add_node(&b, 5 + i, 2010 + 100 * i, GRAPH, 0);
		add_node(&b, 0, 2020 + 100 * i, GRAPH, 4);
	}
	m = gp_builder_finish(&b);
	assert_launched_at(m, 2000, 1000);
	assert_launched_at(m, 2020, 1000);
	assert_launched_at(m, 2100, 1020);
	assert_launched_at(m, 2120, 1020);
	gp_model_free(m);
}

/* The second launch is made after that: it cannot be its operation. */
static void test_no_operation_begins_before_its_launch(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	begin(&b, 2, 5000);
	add_node(&b, 0, 2000, GRAPH, 3);
	add_node(&b, 5, 2010, GRAPH, 0);
	add_node(&b, 0, 2020, GRAPH, 3);
	add_node(&b, 6, 7000, GRAPH, 0);
	m = gp_builder_finish(&b);
	assert_launched_at(m, 2020, 1000);
	gp_model_free(m);
}

/* None of its operations has a number: what is certain is the launch after a wait. */
static void test_a_graph_of_conditional_nodes_alone(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	gp_builder_call(&b, GP_TEST_GRAPH_LAUNCH, 5, 1000, 10);
	gp_builder_call(&b, GP_TEST_SYNC, 6, 1100, 500);
	gp_builder_call(&b, GP_TEST_GRAPH_LAUNCH, 7, 2000, 10);
	gp_builder_call(&b, GP_TEST_GRAPH_LAUNCH, 8, 2050, 10); /* has its number */
	gp_builder_call(&b, GP_TEST_GRAPH_LAUNCH, 9, 3000, 10);
	gp_builder_chunk(&b, 2, 50);
	add_node(&b, 0, 1500, GRAPH, 3);
	add_node(&b, 8, 2100, OTHER, 0);
	add_node(&b, 0, 2500, GRAPH, 3);
	add_node(&b, 0, 3500, GRAPH, 3);
	m = gp_builder_finish(&b);
	assert_launched_at(m, 1500, 1000);
	assert_launched_at(m, 2500, 2000);
	assert_int_equal(op_at(m, 3500)->call, GP_NONE);
	assert_int_equal(m->losses.ops_without_call, 1);
	gp_model_free(m);
}

static void test_without_any_launch_it_is_counted(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	begin(&b, 0, 0);
	add_node(&b, 0, 1500, GRAPH, 3);
	m = gp_builder_finish(&b);
	assert_int_equal(op_at(m, 1500)->call, GP_NONE);
	assert_int_equal(m->losses.ops_without_call, 1);
	gp_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_between_two_launches_that_were_made_ahead),
		cmocka_unit_test(test_a_node_that_launches_begin_with),
		cmocka_unit_test(test_no_operation_begins_before_its_launch),
		cmocka_unit_test(test_a_graph_of_conditional_nodes_alone),
		cmocka_unit_test(test_without_any_launch_it_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
