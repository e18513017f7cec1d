#include <stdlib.h>
#include <string.h>

#include "tests/unit.h"
#include "tests/report/trace_builder.h"

static void add_frame(struct gp_builder *b, uint32_t id, uint32_t parent, enum gp_frame_kind kind,
		      uint32_t origin, uint64_t address)
{
	gp_builder_add(b, &(struct gp_record_frame){.kind = GP_RECORD_FRAME,
						    .frame_kind = (uint16_t)kind,
						    .id = id,
						    .parent_id = parent,
						    .origin_id = origin,
						    .address = address});
}

static void add_module(struct gp_builder *b, uint32_t id, uint64_t start, uint64_t end)
{
	gp_builder_add(b, &(struct gp_record_module){.kind = GP_RECORD_MODULE,
						     .id = id,
						     .start_address = start,
						     .end_address = end});
}

static void add_call(struct gp_builder *b, uint32_t correlation_id, uint32_t stack)
{
	gp_builder_add(
		b, &(struct gp_record_call){.kind = GP_RECORD_CALL,
					    .api = GP_TEST_SYNC,
					    .correlation_id = correlation_id,
					    .start_ticks = GP_TEST_AT_TICK(100u * correlation_id),
					    .duration_low_ticks = 10,
					    .stack_id = stack});
}

static void test_a_call_has_its_stack(void **state)
{
	static const char code[] = "\5\0\0\0\3\0\0\0train.py\0step\0";
	struct gp_builder b;
	struct gp_model *m;
	const struct gp_frame *frame;

	gp_builder_begin(&b, 100);
	gp_builder_string(&b, GP_STRING_INFO, GP_INFO_OPTIONS, 0, "STACKS=all");
	add_call(&b, 1, 9); /* before its frames, which another thread told */
	add_call(&b, 2, 0);
	gp_builder_chunk(&b, 2, 200);
	add_frame(&b, 9, 7, GP_FRAME_NATIVE, 3, 0x5100);
	add_frame(&b, 4, 0, GP_FRAME_NATIVE, 3, 0x1100);
	add_frame(&b, 7, 4, GP_FRAME_PYTHON, 12, 34);
	add_module(&b, 3, 0x5000, 0x6000);
	add_module(&b, 3, 0x1000, 0x2000);
	add_module(&b, 2, 0x5000, 0x6000); /* unloaded by then */
	gp_builder_string(&b, GP_STRING_MODULE, 3, 0, "/usr/lib/libx.so");
	gp_builder_bytes(&b, GP_STRING_CODE, 12, 0, code, sizeof(code));
	m = gp_builder_load(&b);
	gp_builder_free(&b);
	assert_int_equal(m->losses.unknown_records, 0);
	assert_int_equal(m->frame_count, 3);
	assert_int_equal(m->calls[1].stack, GP_NONE);
	frame = &m->frames[m->calls[0].stack];
	assert_int_equal(frame->address, 0x5100);
	assert_int_equal(m->modules[frame->origin].start_address, 0x5000);
	assert_string_equal(gp_model_module_path(m, &m->modules[frame->origin]),
			    "/usr/lib/libx.so");
	frame = &m->frames[frame->parent];
	assert_int_equal(frame->kind, GP_FRAME_PYTHON);
	assert_string_equal(m->texts[frame->origin].bytes + 8, "train.py");
	frame = &m->frames[frame->parent];
	assert_int_equal(m->modules[frame->origin].start_address, 0x1000);
	assert_int_equal(frame->parent, GP_NONE);
	assert_false(frame->has_no_root);
	gp_model_free(m);
}

static void test_what_is_missing_is_counted(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, 100);
	gp_builder_string(&b, GP_STRING_INFO, GP_INFO_OPTIONS, 0, "STACKS=all");
	add_frame(&b, 5, 4, GP_FRAME_NATIVE, 0, 0x5100);
	add_frame(&b, 6, 5, GP_FRAME_NATIVE, 77, 0x5100);
	add_frame(&b, 7, 6, GP_FRAME_PYTHON, 77, 2);
	add_call(&b, 1, 7);
	add_call(&b, 2, 8);
	m = gp_builder_load(&b);
	gp_builder_free(&b);
	assert_int_equal(m->losses.unknown_records, 4); /* frame 4, module, code, frame 8 */
	assert_true(m->frames[0].has_no_root);
	assert_int_equal(m->frames[0].parent, GP_NONE);
	assert_int_equal(m->frames[1].origin, GP_NONE);
	assert_int_equal(m->frames[2].origin, GP_NONE);
	assert_int_equal(m->calls[0].stack, 2);
	assert_int_equal(m->calls[1].stack, GP_NONE);
	gp_model_free(m);
}

static void test_circles_and_abysses_end(void **state)
{
	struct gp_builder b;
	struct gp_model *m;
	uint32_t depth = 0, at;

	gp_builder_begin(&b, 100);
	add_frame(&b, 1, 1, GP_FRAME_NATIVE, 0, 1);
	add_frame(&b, 2, 3, GP_FRAME_NATIVE, 0, 1);
	add_frame(&b, 3, 2, GP_FRAME_NATIVE, 0, 1);
	for (uint32_t i = 4; i < 4 + 3 * GP_FRAME_DEPTH; i++)
		add_frame(&b, i, i - 1, GP_FRAME_NATIVE, 0, 1);
	m = gp_builder_load(&b);
	gp_builder_free(&b);
	assert_int_equal(m->frames[0].parent, GP_NONE);
	assert_int_equal(m->frames[1].parent, GP_NONE);
	assert_int_equal(m->frames[2].parent, 1);
	for (uint32_t i = 0; i < m->frame_count; i++)
		assert_true(m->frames[i].parent == GP_NONE || m->frames[i].parent < i);
	for (at = m->frame_count - 1; at != GP_NONE; at = m->frames[at].parent)
		depth++;
	assert_in_range(depth, 1, GP_FRAME_DEPTH);
	gp_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_call_has_its_stack),
		cmocka_unit_test(test_what_is_missing_is_counted),
		cmocka_unit_test(test_circles_and_abysses_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
