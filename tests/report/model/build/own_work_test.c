/* Proves that the Python package's own work is overhead, and neither a range nor samples. */
#include "tests/unit.h"
#include "tests/report/trace_builder.h"

#define THREAD 100
#define OTHER  200
#define WORK   1
#define STEP   2

static void add(struct gp_builder *b, uint8_t op, uint32_t text, uint64_t at_ns)
{
	struct gp_record_range range = {.kind = GP_RECORD_RANGE,
					.ticks = GP_TEST_AT_TICK(at_ns),
					.op = op,
					.text_id = text};

	gp_builder_add(b, &range);
}

static void sample(struct gp_builder *b, uint32_t thread_id, uint64_t at_ns)
{
	struct gp_record_sample sample = {.kind = GP_RECORD_SAMPLE,
					  .thread_id = thread_id,
					  .start_ticks = GP_TEST_AT_TICK(at_ns),
					  .count = 1};

	gp_builder_add(b, &sample);
}

static void test_own_work(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	gp_builder_string(&b, GP_STRING_RANGE, WORK, 0, GP_OWN_WORK_RANGE);
	gp_builder_string(&b, GP_STRING_RANGE, STEP, 0, "step");
	add(&b, GP_RANGE_PUSH, STEP, 100);
	add(&b, GP_RANGE_PUSH, WORK, 200);
	add(&b, GP_RANGE_PUSH, WORK, 210); /* a part of the same */
	add(&b, GP_RANGE_PUSH, STEP, 220); /* the program's, by a finalizer */
	add(&b, GP_RANGE_POP, 0, 230);
	add(&b, GP_RANGE_POP, 0, 290);
	add(&b, GP_RANGE_POP, 0, 300);
	add(&b, GP_RANGE_POP, 0, 400);
	add(&b, GP_RANGE_PUSH, WORK, 500); /* the one that reads this trace */
	sample(&b, THREAD, 150);
	sample(&b, THREAD, 250);
	sample(&b, THREAD, 350);
	sample(&b, OTHER, 250);
	gp_builder_chunk(&b, 0, 0);
	gp_builder_end(&b, 900);
	m = gp_builder_finish(&b);
	assert_int_equal(m->own_work_count, 2);
	assert_int_equal(m->overhead_count, 2);
	assert_int_equal(m->overheads[0].overhead_kind, GP_OVERHEAD_OWN_WORK);
	assert_int_equal(m->overheads[0].start_ns, 200);
	assert_int_equal(m->overheads[0].end_ns, 300);
	assert_int_equal(m->overheads[0].thread_id, THREAD);
	assert_int_equal(m->overheads[1].end_ns, 900);
	assert_int_equal(m->range_count, 2);
	assert_int_equal(m->ranges[0].end_ns, 400);
	assert_int_equal(m->ranges[1].start_ns, 220);
	assert_int_equal(m->ranges[1].parent, 0);
	assert_int_equal(m->ranges[1].level, 1);
	assert_int_equal(m->sample_count, 3);
	assert_int_equal(m->samples[0].start_ns, 150);
	assert_int_equal(m->samples[1].start_ns, 350);
	assert_int_equal(m->samples[2].thread_id, OTHER);
	gp_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_own_work)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
