/* unfinished: launches without a record of their end, and what is known of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report/unfinished.h"
#include "tests/report/trace_builder.h"

#define S UINT64_C(1000000000)

static void look(struct gp_builder *b, uint32_t id, uint64_t at_ns, uint32_t name, bool unasked)
{
	gp_builder_add(b, &(struct gp_record_in_flight){.kind = GP_RECORD_IN_FLIGHT,
							.unasked = unasked,
							.correlation_id = id,
							.ticks = GP_TEST_AT_TICK(at_ns),
							.name_id = name});
}

static void in_flight(struct gp_builder *b, uint32_t id, uint64_t at_ns, uint32_t name)
{
	look(b, id, at_ns, name, false);
}

static void counter(struct gp_builder *b, uint16_t which, uint64_t value)
{
	gp_builder_add(b, &(struct gp_record_counter){
				  .kind = GP_RECORD_COUNTER, .counter = which, .value = value});
}

static void call_with_status(struct gp_builder *b, uint16_t api, uint32_t id, uint64_t start_ns,
			     uint16_t status, uint32_t context_id)
{
	gp_builder_add(b, &(struct gp_record_call){.kind = GP_RECORD_CALL,
						   .api = api,
						   .correlation_id = id,
						   .start_ticks = GP_TEST_AT_TICK(start_ns),
						   .duration_low_ticks = 10,
						   .status = status,
						   .context_id = context_id});
}

/* Launches 1 to 3 at 1, 2 and 3 us: one has its kernel, of the others none came. */
static void begin(struct gp_builder *b)
{
	gp_builder_begin(b, 100);
	gp_builder_string(b, GP_STRING_KERNEL, 5, 0, "_Z4spinPi");
	gp_builder_call(b, GP_TEST_LAUNCH, 1, 1000, 10);
	gp_builder_kernel(b, 1, 1100, 1200);
	gp_builder_call(b, GP_TEST_LAUNCH, 2, 2000, 10);
	gp_builder_call(b, GP_TEST_LAUNCH, 3, 3000, 10);
	counter(b, GP_COUNTER_FLUSHES, 100);
}

static struct gp_model *finish(struct gp_builder *b, struct gp_unfinished_list *list)
{
	struct gp_model *model = gp_builder_finish(b);

	assert_int_equal(gp_unfinished_find(model, list), 0);
	return model;
}

static void drop(struct gp_model *model, struct gp_unfinished_list *list)
{
	gp_unfinished_free(list);
	gp_model_free(model);
}

static void the_first_one_hangs_and_the_others_are_behind_it(void **state)
{
	struct gp_unfinished_list list;
	struct gp_model *model;
	struct gp_builder b;

	(void)state;
	begin(&b);
	in_flight(&b, 3, 2 * S, 1);
	in_flight(&b, 2, 2 * S, 5);
	in_flight(&b, 1, 2 * S, 1); /* its record came after all */
	gp_builder_anchor(&b, 4 * S);
	model = finish(&b, &list);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.unnamed, 0);
	assert_int_equal(model->calls[list.rows[0].call].correlation_id, 2);
	assert_string_equal(gp_unfinished_name(model, &list.rows[0]), "_Z4spinPi");
	assert_int_equal(list.rows[0].state, GP_UNFINISHED_HANGS);
	assert_int_equal(list.rows[0].open_ns, 4 * S - 2010);
	assert_int_equal(list.rows[1].state, GP_UNFINISHED_BEHIND);
	drop(model, &list);
}

static void another_thread_may_have_gone_on(void **state)
{
	struct gp_unfinished_list list;
	struct gp_model *model;
	struct gp_builder b;

	(void)state;
	begin(&b);
	in_flight(&b, 2, 2 * S, 5);
	gp_builder_chunk(&b, 2, 200);
	gp_builder_call(&b, GP_TEST_LAUNCH, 4, 2500, 10);
	in_flight(&b, 4, 2 * S, 5);
	model = finish(&b, &list);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.unnamed, 1); /* the third one */
	assert_int_equal(list.rows[0].state, GP_UNFINISHED_HANGS);
	assert_int_equal(list.rows[1].state, GP_UNFINISHED_OPEN);
	drop(model, &list);
}

#define PAUSED  (GP_COUNTERS + 1)
#define UNASKED (GP_COUNTERS + 2)

/* State of the first row of begin()'s launches, with a look at them at that time. */
static enum gp_unfinished_state state_with(uint16_t lost, uint64_t look_ns)
{
	struct gp_unfinished_list list;
	enum gp_unfinished_state found;
	struct gp_model *model;
	struct gp_builder b;

	begin(&b);
	look(&b, 2, look_ns, 5, lost == UNASKED);
	if (lost == PAUSED)
		gp_builder_add(&b, &(struct gp_record_gate){.kind = GP_RECORD_GATE,
							    .reason = GP_GATE_API,
							    .ticks = GP_TEST_AT_TICK(10000)});
	else if (lost < GP_COUNTERS)
		counter(&b, lost, 1);
	gp_builder_end(&b, 5 * S);
	model = finish(&b, &list);
	assert_int_equal(list.count, 1);
	found = list.rows[0].state;
	drop(model, &list);
	return found;
}

static void no_more_is_said_than_is_known(void **state)
{
	(void)state;
	assert_int_equal(state_with(GP_COUNTERS, 2 * S), GP_UNFINISHED_HANGS);
	assert_int_equal(state_with(GP_COUNTERS, S / 10), GP_UNFINISHED_OPEN);
	assert_int_equal(state_with(GP_COUNTER_LOST_CUPTI, 2 * S), GP_UNFINISHED_OPEN);
	assert_int_equal(state_with(GP_COUNTER_LOST_NO_BUFFER, 2 * S), GP_UNFINISHED_OPEN);
	assert_int_equal(state_with(PAUSED, 2 * S), GP_UNFINISHED_OPEN);
	assert_int_equal(state_with(UNASKED, 2 * S), GP_UNFINISHED_OPEN);
}

static void what_was_waited_for_has_ended(void **state)
{
	struct gp_unfinished_list list;
	struct gp_model *model;
	struct gp_builder b;

	(void)state;
	gp_builder_begin(&b, 100);
	call_with_status(&b, GP_TEST_LAUNCH, 1, 1000, 0, 1);
	call_with_status(&b, GP_TEST_SYNC, 2, 1500, 0, 1);
	call_with_status(&b, GP_TEST_LAUNCH, 3, 2000, 0, 1);
	call_with_status(&b, GP_TEST_SYNC, 4, 2500, 0, 2); /* of another context */
	in_flight(&b, 1, 2 * S, 1);
	in_flight(&b, 3, 2 * S, 1);
	model = finish(&b, &list);
	assert_int_equal(list.count, 1);
	assert_int_equal(model->calls[list.rows[0].call].correlation_id, 3);
	drop(model, &list);
}

static void after_a_fault_it_may_be_any(void **state)
{
	struct gp_unfinished_list list;
	struct gp_model *model;
	struct gp_builder b;

	(void)state;
	begin(&b);
	in_flight(&b, 2, 4000, 5);
	in_flight(&b, 3, 4000, 5);
	call_with_status(&b, GP_TEST_SYNC, 4, 3500, 700, 1);
	model = finish(&b, &list);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.rows[0].state, GP_UNFINISHED_FAILED);
	assert_int_equal(list.rows[1].state, GP_UNFINISHED_FAILED);
	drop(model, &list);
}

/* What the last flush gave without times, and not what has none amid others. */
static void the_last_ones_without_times_are_open(void **state)
{
	struct gp_unfinished_list list;
	struct gp_model *model;
	struct gp_builder b;

	(void)state;
	begin(&b);
	gp_builder_call(&b, GP_TEST_LAUNCH, 4, 4000, 10);
	gp_builder_add(&b, &(struct gp_record_kernel){.kind = GP_RECORD_KERNEL,
						      .correlation_id = 2,
						      .context_id = 1,
						      .stream_id = 7,
						      .name_id = 5,
						      .shape_id = 1});
	gp_builder_kernel(&b, 3, 3100, 3200);
	gp_builder_add(&b, &(struct gp_record_kernel){.kind = GP_RECORD_KERNEL,
						      .correlation_id = 4,
						      .context_id = 1,
						      .stream_id = 7,
						      .name_id = 5,
						      .shape_id = 1});
	gp_builder_end(&b, 5 * S);
	model = finish(&b, &list);
	assert_int_equal(list.count, 1);
	assert_int_equal(model->calls[list.rows[0].call].correlation_id, 4);
	assert_int_equal(list.rows[0].state, GP_UNFINISHED_OPEN);
	assert_string_equal(gp_unfinished_name(model, &list.rows[0]), "_Z4spinPi");
	drop(model, &list);
}

/* Of a launch that failed, was captured or paused, of a call that is not there, with a name that is not there; one twice. */
static void records_that_say_nothing(void **state)
{
	struct gp_unfinished_list list;
	struct gp_model *model;
	struct gp_builder b;

	(void)state;
	begin(&b);
	call_with_status(&b, GP_TEST_LAUNCH, 4, 4000, 9, 1);
	call_with_status(&b, GP_TEST_LAUNCH, 5, 5000, GP_CALL_CAPTURED, 1);
	call_with_status(&b, GP_TEST_MALLOC, 6, 6000, 0, 1);
	for (uint32_t id = 4; id < 8; id++)
		in_flight(&b, id, 2 * S, 5);
	in_flight(&b, 2, 2 * S, 77);
	in_flight(&b, 3, 2 * S, 5);
	in_flight(&b, 3, 3 * S, 5);
	model = finish(&b, &list);
	assert_int_equal(list.count, 1);
	assert_int_equal(model->calls[list.rows[0].call].correlation_id, 3);
	drop(model, &list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_one_hangs_and_the_others_are_behind_it),
		cmocka_unit_test(another_thread_may_have_gone_on),
		cmocka_unit_test(no_more_is_said_than_is_known),
		cmocka_unit_test(what_was_waited_for_has_ended),
		cmocka_unit_test(after_a_fault_it_may_be_any),
		cmocka_unit_test(the_last_ones_without_times_are_open),
		cmocka_unit_test(records_that_say_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
