#include <stdlib.h>
#include <string.h>

#include "tests/unit.h"
#include "tests/report/trace_builder.h"

#define THREAD 100
#define OTHER  200

static void add(struct gp_builder *b, struct gp_record_range range, uint64_t at_ns)
{
	range.kind = GP_RECORD_RANGE;
	range.ticks = GP_TEST_AT_TICK(at_ns);
	gp_builder_add(b, &range);
}

static void push(struct gp_builder *b, uint32_t domain, uint32_t text, uint64_t at_ns)
{
	add(b, (struct gp_record_range){.op = GP_RANGE_PUSH, .domain_id = domain, .text_id = text},
	    at_ns);
}

static void pop(struct gp_builder *b, uint32_t domain, uint64_t at_ns)
{
	add(b, (struct gp_record_range){.op = GP_RANGE_POP, .domain_id = domain}, at_ns);
}

static void start(struct gp_builder *b, uint64_t id, uint64_t at_ns)
{
	add(b, (struct gp_record_range){.op = GP_RANGE_START, .range_id = id}, at_ns);
}

static void end(struct gp_builder *b, uint64_t id, uint64_t at_ns)
{
	add(b, (struct gp_record_range){.op = GP_RANGE_END, .range_id = id}, at_ns);
}

static void launch(struct gp_builder *b, uint32_t id, uint64_t at_ns, uint64_t gpu_ns,
		   uint64_t gpu_end_ns)
{
	gp_builder_call(b, GP_TEST_LAUNCH, id, at_ns, 5);
	gp_builder_kernel(b, id, gpu_ns, gpu_end_ns);
}

/* ---- pairing ---- */

static void test_push_and_pop_nest_by_domain(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	gp_builder_string(&b, GP_STRING_DOMAIN, 3, 0, "lib");
	gp_builder_string(&b, GP_STRING_RANGE, 1, 0, "step");
	push(&b, 0, 1, 100);
	push(&b, 3, 0, 110);
	push(&b, 0, 1, 120);
	pop(&b, 3, 130); /* crosses */
	pop(&b, 0, 140);
	pop(&b, 0, 150);
	m = gp_builder_finish(&b);
	assert_int_equal(m->range_count, 3);
	assert_int_equal(m->ranges[0].start_ns, 100);
	assert_int_equal(m->ranges[0].end_ns, 150);
	assert_int_equal(m->ranges[0].parent, GP_NONE);
	assert_string_equal(gp_model_range_text(m, &m->ranges[0]), "step");
	assert_string_equal(m->domains[m->ranges[0].domain], "");
	assert_int_equal(m->ranges[1].end_ns, 130);
	assert_int_equal(m->ranges[1].parent, GP_NONE);
	assert_int_equal(m->ranges[1].level, 0);
	assert_string_equal(gp_model_range_text(m, &m->ranges[1]), "");
	assert_string_equal(m->domains[m->ranges[1].domain], "lib");
	assert_int_equal(m->ranges[2].end_ns, 140);
	assert_int_equal(m->ranges[2].parent, 0);
	assert_int_equal(m->ranges[2].level, 1);
	assert_false(m->ranges[2].open);
	gp_model_free(m);
}

static void test_threads_have_stacks_of_their_own(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	push(&b, 0, 0, 100);
	gp_builder_chunk(&b, 2, OTHER);
	push(&b, 0, 0, 110);
	pop(&b, 0, 120);
	pop(&b, 0, 130); /* nothing is open here */
	gp_builder_chunk(&b, 1, THREAD);
	pop(&b, 0, 140);
	m = gp_builder_finish(&b);
	assert_int_equal(m->range_count, 2);
	assert_int_equal(m->ranges[0].thread_id, THREAD);
	assert_int_equal(m->ranges[0].end_ns, 140);
	assert_int_equal(m->ranges[1].thread_id, OTHER);
	assert_int_equal(m->ranges[1].end_ns, 120);
	assert_int_equal(m->ranges[1].level, 0);
	assert_int_equal(m->losses.range_ends_unknown, 1);
	gp_model_free(m);
}

static void test_open_ranges_last_to_the_end(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	push(&b, 0, 0, 100);
	start(&b, 9, 110);
	gp_builder_chunk(&b, 0, 0);
	gp_builder_end(&b, 900);
	m = gp_builder_finish(&b);
	assert_int_equal(m->range_count, 2);
	for (int i = 0; i < 2; i++) {
		assert_true(m->ranges[i].open);
		assert_int_equal(m->ranges[i].end_ns, 900);
	}
	gp_model_free(m);
}

static void test_start_and_end_on_any_thread(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	start(&b, 7, 100);
	start(&b, 8, 110);
	end(&b, 7, 120);
	start(&b, 7, 130); /* the id again */
	gp_builder_chunk(&b, 2, OTHER);
	end(&b, 8, 140);
	end(&b, 7, 150);
	end(&b, 7, 160);
	m = gp_builder_finish(&b);
	assert_int_equal(m->range_count, 3);
	assert_int_equal(m->ranges[0].end_ns, 120);
	assert_int_equal(m->ranges[0].end_thread_id, THREAD);
	assert_int_equal(m->ranges[1].end_ns, 140);
	assert_int_equal(m->ranges[1].end_thread_id, OTHER);
	assert_int_equal(m->ranges[1].thread_id, THREAD);
	assert_int_equal(m->ranges[2].start_ns, 130);
	assert_int_equal(m->ranges[2].end_ns, 150);
	assert_int_equal(m->losses.range_ends_unknown, 1);
	gp_model_free(m);
}

/* ---- names ---- */

static void test_equal_names_are_one(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	gp_builder_string(&b, GP_STRING_DOMAIN, 3, 0, "lib");
	gp_builder_string(&b, GP_STRING_DOMAIN, 4, 0, "lib");
	gp_builder_string(&b, GP_STRING_CATEGORY, 11, 4, "io");
	gp_builder_string(&b, GP_STRING_CATEGORY, 11, 0, "other");
	gp_builder_string(&b, GP_STRING_RANGE, 1, 0, "step");
	gp_builder_string(&b, GP_STRING_RANGE, 2, 0, "load");
	gp_builder_string(&b, GP_STRING_RANGE, 5, 0, "step");
	add(&b,
	    (struct gp_record_range){
		    .op = GP_RANGE_MARK, .domain_id = 3, .text_id = 1, .category = 11},
	    100);
	add(&b, (struct gp_record_range){.op = GP_RANGE_MARK, .domain_id = 4, .text_id = 5}, 110);
	add(&b, (struct gp_record_range){.op = GP_RANGE_MARK, .domain_id = 9, .text_id = 99}, 120);
	m = gp_builder_finish(&b);
	assert_int_equal(m->range_text_count, 2);
	assert_int_equal(m->ranges[0].text, m->ranges[1].text);
	assert_int_equal(m->ranges[0].domain, m->ranges[1].domain);
	assert_string_equal(gp_model_category(m, m->ranges[0].domain, 11), "io");
	assert_string_equal(gp_model_category(m, 0, 11), "other");
	assert_string_equal(gp_model_category(m, 0, 12), "");
	assert_int_equal(m->ranges[2].text, GP_NONE);
	assert_string_equal(m->domains[m->ranges[2].domain], "(unknown domain)");
	assert_int_equal(m->losses.unknown_records, 2);
	gp_model_free(m);
}

static void test_attributes(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	gp_builder_string(&b, GP_STRING_STREAM, 7, 1, "compute");
	gp_builder_string(&b, GP_STRING_STREAM, 7, 1, "main");
	gp_builder_string(&b, GP_STRING_CONTEXT, 1, 0, "first");
	gp_builder_string(&b, GP_STRING_PAYLOAD, 6, 2, "bytes");
	add(&b,
	    (struct gp_record_range){.op = GP_RANGE_MARK,
				     .flags = GP_RANGE_HAS_COLOR,
				     .color_argb = 0xff00ff00,
				     .payload_kind = GP_PAYLOAD_SIGNED,
				     .payload = (uint64_t)-3,
				     .payload_id = 6},
	    100);
	m = gp_builder_finish(&b);
	assert_string_equal(gp_model_stream_name(m, 1, 7), "main");
	assert_string_equal(gp_model_stream_name(m, 2, 7), "");
	assert_string_equal(gp_model_context_name(m, 1), "first");
	assert_int_equal(m->ranges[0].color_argb, 0xff00ff00);
	assert_int_equal(m->ranges[0].payload_kind, GP_PAYLOAD_SIGNED);
	assert_int_equal((int64_t)m->ranges[0].payload, -3);
	assert_string_equal(m->texts[m->ranges[0].extended_payload].bytes, "bytes");
	assert_int_equal(m->texts[m->ranges[0].extended_payload].value, 2);
	gp_model_free(m);
}

static void test_payloads_at_the_end(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	gp_builder_string(&b, GP_STRING_PAYLOAD, 6, 2, "early");
	gp_builder_string(&b, GP_STRING_PAYLOAD, 7, 2, "late");
	add(&b, (struct gp_record_range){.op = GP_RANGE_PUSH}, 100);
	add(&b, (struct gp_record_range){.op = GP_RANGE_PUSH, .payload_id = 6}, 110);
	add(&b, (struct gp_record_range){.op = GP_RANGE_POP, .payload_id = 7}, 120);
	add(&b, (struct gp_record_range){.op = GP_RANGE_POP, .payload_id = 7}, 130);
	add(&b, (struct gp_record_range){.op = GP_RANGE_START, .range_id = 3}, 140);
	add(&b, (struct gp_record_range){.op = GP_RANGE_END, .range_id = 3, .payload_id = 7}, 150);
	m = gp_builder_finish(&b);
	assert_int_equal(m->range_count, 3);
	assert_string_equal(m->texts[m->ranges[0].extended_payload].bytes, "late");
	assert_string_equal(m->texts[m->ranges[1].extended_payload].bytes, "early");
	assert_string_equal(m->texts[m->ranges[2].extended_payload].bytes, "late");
	assert_int_equal(m->counters[GP_COUNTER_CUT_PAYLOADS], 1);
	gp_model_free(m);
}

/* ---- the projection ---- */

static void test_projection(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	start(&b, 1, 90);
	push(&b, 0, 0, 100);
	launch(&b, 1, 110, 1000, 1010);
	push(&b, 0, 0, 120);
	launch(&b, 2, 130, 1005, 1030);
	pop(&b, 0, 140);
	pop(&b, 0, 150);
	launch(&b, 3, 160, 2000, 2001); /* outside of both */
	gp_builder_chunk(&b, 2, OTHER);
	launch(&b, 4, 125, 5000, 5100);
	end(&b, 1, 155);
	m = gp_builder_finish(&b);
	assert_int_equal(m->range_count, 3);
	assert_int_equal(m->ranges[0].style, GP_STYLE_START_END);
	assert_int_equal(m->ranges[0].op_count, 3);
	assert_int_equal(m->ranges[0].gpu_start_ns, 1000);
	assert_int_equal(m->ranges[0].gpu_end_ns, 5100);
	assert_int_equal(m->ranges[0].gpu_busy_ns, 10 + 25 + 100);
	assert_int_equal(m->ranges[1].op_count, 2);
	assert_int_equal(m->ranges[1].gpu_start_ns, 1000);
	assert_int_equal(m->ranges[1].gpu_end_ns, 1030);
	assert_int_equal(m->ranges[1].gpu_busy_ns, 35);
	assert_int_equal(m->ranges[2].op_count, 1);
	assert_int_equal(m->ranges[2].gpu_start_ns, 1005);
	assert_int_equal(m->ranges[2].gpu_end_ns, 1030);
	gp_model_free(m);
}

/* Sums over any run of calls are what adding them up one by one gives. */
static void test_projection_of_many(void **state)
{
	enum { CALLS = 37 };
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	for (uint32_t i = 0; i < CALLS; i++)
		launch(&b, i + 1, 1000 + 10 * i, 10000 + 7919 * i % 1009,
		       10000 + 7919 * i % 1009 + i);
	for (uint32_t first = 0; first < CALLS; first++)
		for (uint32_t last = first; last < CALLS; last++) {
			start(&b, 100 * first + last + 1, 1000 + 10 * first);
			end(&b, 100 * first + last + 1, 1000 + 10 * last);
		}
	m = gp_builder_finish(&b);
	assert_int_equal(m->range_count, CALLS * (CALLS + 1) / 2);
	for (uint32_t r = 0; r < m->range_count; r++) {
		const struct gp_range *range = &m->ranges[r];
		uint64_t first_ns = UINT64_MAX, last_ns = 0, busy_ns = 0;

		for (uint64_t i = (range->start_ns - 1000) / 10; 1000 + 10 * i <= range->end_ns;
		     i++) {
			uint64_t start_ns = 10000 + 7919 * i % 1009;

			first_ns = start_ns < first_ns ? start_ns : first_ns;
			last_ns = start_ns + i > last_ns ? start_ns + i : last_ns;
			busy_ns += i;
		}
		assert_int_equal(range->gpu_start_ns, first_ns);
		assert_int_equal(range->gpu_end_ns, last_ns);
		assert_int_equal(range->gpu_busy_ns, busy_ns);
	}
	gp_model_free(m);
}

static void test_a_range_without_operations(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	push(&b, 0, 0, 100);
	gp_builder_call(&b, GP_TEST_SYNC, 1, 110, 5);
	pop(&b, 0, 120);
	m = gp_builder_finish(&b);
	assert_int_equal(m->ranges[0].op_count, 0);
	assert_int_equal(m->ranges[0].gpu_start_ns, 0);
	assert_int_equal(m->ranges[0].gpu_end_ns, 0);
	gp_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_push_and_pop_nest_by_domain),
		cmocka_unit_test(test_threads_have_stacks_of_their_own),
		cmocka_unit_test(test_open_ranges_last_to_the_end),
		cmocka_unit_test(test_start_and_end_on_any_thread),
		cmocka_unit_test(test_equal_names_are_one),
		cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_payloads_at_the_end),
		cmocka_unit_test(test_projection),
		cmocka_unit_test(test_projection_of_many),
		cmocka_unit_test(test_a_range_without_operations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
