/* awaited_ops: the calls whose operations have no record, and those that rightly have none. */
#include "gpuprof/count.h"
#include "report/model/awaited_ops.h"
#include "tests/report/trace_builder.h"
#include "tests/unit.h"

#define HOST_FUNCTION 284 /* cudaLaunchHostFunc */

static void call_with(struct gp_builder *b, uint16_t api, uint32_t id, uint64_t start_ns,
		      uint16_t status)
{
	gp_builder_add(b, &(struct gp_record_call){.kind = GP_RECORD_CALL,
						   .api = api,
						   .correlation_id = id,
						   .start_ticks = GP_TEST_AT_TICK(start_ns),
						   .duration_low_ticks = 10,
						   .status = status});
}

static void assert_awaited(const struct gp_model *model, const bool *expected, uint32_t count)
{
	struct gp_awaited_ops forth = gp_awaited_ops_of(model), back = gp_awaited_ops_of(model);

	assert_int_equal(model->call_count, count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t last = count - 1 - i;

		assert_int_equal(gp_awaited_ops_has(&forth, &model->calls[i]), expected[i]);
		assert_int_equal(gp_awaited_ops_has(&back, &model->calls[last]), expected[last]);
	}
}

/* Before a launch whose record has come, only another launch of a kernel awaits its own. */
static void test_order(void **state)
{
	static const bool expected[] = {false, false, false, true, false, true, true, true, true};
	struct gp_builder b;
	struct gp_model *model;

	gp_builder_begin(&b, 100);
	gp_builder_call(&b, GP_TEST_COPY, 1, 1000, 10); /* within the host */
	gp_builder_call(&b, GP_TEST_SET, 2, 2000, 10);  /* of no bytes */
	gp_builder_call(&b, GP_TEST_GRAPH_LAUNCH, 3, 3000, 10);
	gp_builder_call(&b, GP_TEST_LAUNCH, 4, 4000, 10);
	gp_builder_call(&b, GP_TEST_LAUNCH, 5, 5000, 10);
	gp_builder_kernel(&b, 5, 5100, 5200);
	gp_builder_call(&b, GP_TEST_COPY, 6, 6000, 10);
	gp_builder_call(&b, GP_TEST_SET, 7, 7000, 10);
	gp_builder_call(&b, GP_TEST_GRAPH_LAUNCH, 8, 8000, 10);
	gp_builder_chunk(&b, 2, 200); /* another thread: none of its records has come */
	gp_builder_call(&b, GP_TEST_COPY, 9, 500, 10);
	model = gp_builder_finish(&b);
	assert_awaited(model, expected, COUNT(expected));
	gp_model_free(model);
}

/* Failed, captured, and of classes that have no operation. */
static void test_calls_without_an_operation(void **state)
{
	static const bool expected[] = {false, false, false, false, false};
	struct gp_builder b;
	struct gp_model *model;

	gp_builder_begin(&b, 100);
	gp_builder_string(&b, GP_STRING_API, HOST_FUNCTION, GP_API_HOST,
			  "cudaLaunchHostFunc_v10000");
	call_with(&b, GP_TEST_LAUNCH, 1, 1000, 700);
	call_with(&b, GP_TEST_LAUNCH, 2, 2000, GP_CALL_CAPTURED);
	call_with(&b, GP_TEST_SET, 3, 3000, GP_CALL_CAPTURED);
	call_with(&b, HOST_FUNCTION, 4, 4000, 0);
	call_with(&b, GP_TEST_SYNC, 5, 5000, 0);
	model = gp_builder_finish(&b);
	assert_awaited(model, expected, COUNT(expected));
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_calls_without_an_operation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
