/* unfinished: launches without a record of their end, and what is known of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "report/load/load_model.h"
#include "report/summary/part.h"
#include "report/tables/breakdown.h"
#include "report/analysis/device/unfinished.h"
#include "tests/unit.h"
#include "tests/report/trace_builder.h"

#define S UINT64_C(1000000000)

static void look(struct gp_builder *b, uint32_t id, uint64_t at_ns, uint32_t name, bool unflushed)
{
	gp_builder_add(b, &(struct gp_record_in_flight){.kind = GP_RECORD_IN_FLIGHT,
							.unflushed = unflushed,
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

static void untimed_kernel(struct gp_builder *b, uint32_t id, uint32_t stream)
{
	gp_builder_add(b, &(struct gp_record_kernel){.kind = GP_RECORD_KERNEL,
						     .correlation_id = id,
						     .context_id = 1,
						     .stream_id = stream,
						     .name_id = 5,
						     .shape_id = 1});
}

static uint32_t id_of(const struct gp_model *model, const struct gp_unfinished_list *list,
		      uint32_t row)
{
	return model->calls[list->rows[row].call].correlation_id;
}

/* CUPTI may hold the third one's record back for the second one's sake, or the other way round. */
static void of_several_which_one_hangs_is_not_known(void **state)
{
	struct gp_unfinished_list list;
	struct gp_model *model;
	struct gp_builder b;

	begin(&b);
	in_flight(&b, 3, 2 * S, 1);
	in_flight(&b, 2, 2 * S, 5);
	in_flight(&b, 1, 2 * S, 1); /* its record came after all */
	gp_builder_anchor(&b, 4 * S);
	model = finish(&b, &list);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.unnamed, 0);
	assert_int_equal(list.others, 0);
	assert_int_equal(id_of(model, &list, 0), 2);
	assert_string_equal(gp_unfinished_name(model, &list.rows[0]), "_Z4spinPi");
	assert_int_equal(list.rows[0].open_ns, 4 * S - 2010);
	assert_int_equal(list.rows[0].state, GP_UNFINISHED_ONE_OF);
	assert_int_equal(list.rows[1].state, GP_UNFINISHED_ONE_OF);
	drop(model, &list);
}

static void into(struct gp_builder *b, uint32_t id, uint64_t stream, uint32_t era)
{
	gp_builder_add(b, &(struct gp_record_in_flight){.kind = GP_RECORD_IN_FLIGHT,
							.correlation_id = id,
							.ticks = GP_TEST_AT_TICK(2 * S),
							.name_id = 5,
							.era = era,
							.stream = stream});
}

static void waited(struct gp_builder *b, uint32_t id, uint64_t stream, uint32_t era)
{
	gp_builder_add(b, &(struct gp_record_stream_wait){.kind = GP_RECORD_STREAM_WAIT,
							  .correlation_id = id,
							  .stream = stream,
							  .era = era});
}

/* Launches 2 and 3, the second at 3 us; a wait at wait_ns for what stream and in what era. */
static uint32_t count_with_wait(uint64_t wait_ns, uint32_t id, uint64_t stream, uint32_t era)
{
	struct gp_unfinished_list list;
	struct gp_model *model;
	struct gp_builder b;
	uint32_t count;

	begin(&b);
	call_with_status(&b, GP_TEST_SYNC, 9, wait_ns, 0, 0); /* of no context: not of all */
	waited(&b, id, stream, era);
	waited(&b, id, 0x900, era);
	into(&b, 2, 0x700, 1);
	into(&b, 3, 0x800, 1);
	into(&b, 3, 0x800, 1); /* told twice */
	gp_builder_anchor(&b, 4 * S);
	model = finish(&b, &list);
	count = list.count;
	assert_int_equal(model->losses.launches_waited_for, 2 - count);
	assert_int_equal(list.unnamed, 0);
	if (count == 1) {
		assert_int_equal(id_of(model, &list, 0), 2);
		assert_int_equal(list.rows[0].state, GP_UNFINISHED_HANGS);
	}
	drop(model, &list);
	return count;
}

static void whose_stream_was_waited_for_has_ended(void **state)
{
	assert_int_equal(count_with_wait(3010, 9, 0x800, 1), 1);
	assert_int_equal(count_with_wait(3005, 9, 0x800, 1), 2); /* it began before that */
	assert_int_equal(count_with_wait(3010, 9, 0x800, 2), 2); /* another stream by then */
	assert_int_equal(count_with_wait(3010, 9, 0, 1), 2);
	assert_int_equal(count_with_wait(3010, 8, 0x800, 1), 2); /* its call is not in the trace */
}

static void the_only_one_hangs(void **state)
{
	struct gp_unfinished_list list;
	struct gp_model *model;
	struct gp_builder b;

	gp_builder_begin(&b, 100);
	gp_builder_call(&b, GP_TEST_LAUNCH, 1, 1000, 10);
	in_flight(&b, 1, 2 * S, 1);
	model = finish(&b, &list);
	assert_int_equal(list.count, 1);
	assert_int_equal(list.rows[0].state, GP_UNFINISHED_HANGS);
	drop(model, &list);
}

static void those_of_other_threads_and_without_a_name_may_be_it(void **state)
{
	struct gp_unfinished_list list;
	struct gp_model *model;
	struct gp_builder b;

	begin(&b);
	in_flight(&b, 2, 2 * S, 5);
	gp_builder_chunk(&b, 2, 200);
	gp_builder_call(&b, GP_TEST_LAUNCH, 4, 2500, 10);
	in_flight(&b, 4, 2 * S, 5);
	model = finish(&b, &list);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.unnamed, 1); /* the third one */
	assert_int_equal(list.rows[0].state, GP_UNFINISHED_ONE_OF);
	assert_int_equal(list.rows[1].state, GP_UNFINISHED_ONE_OF);
	drop(model, &list);
}

/*
 * The state of the only launch without a record, beside another call that has none; how many of
 * these may be it.
 */
static enum gp_unfinished_state state_beside(uint16_t api, uint64_t start_ns, uint32_t *others)
{
	struct gp_unfinished_list list;
	enum gp_unfinished_state found;
	struct gp_model *model;
	struct gp_builder b;

	gp_builder_begin(&b, 100);
	call_with_status(&b, api, 1, start_ns, 0, 1);
	call_with_status(&b, GP_TEST_SYNC, 2, 2000, 0, 1);
	call_with_status(&b, GP_TEST_LAUNCH, 3, 3000, 0, 1);
	in_flight(&b, 3, 2 * S, 1);
	model = finish(&b, &list);
	assert_int_equal(list.count, 1);
	found = list.rows[0].state;
	*others = list.others;
	drop(model, &list);
	return found;
}

/*
 * A graph, or a copy that a function of the host holds up, keeps back the record of a kernel that
 * has ended.
 */
static void what_is_no_kernel_may_be_it(void **state)
{
	uint32_t others;

	assert_int_equal(state_beside(GP_TEST_GRAPH_LAUNCH, 4000, &others), GP_UNFINISHED_ONE_OF);
	assert_int_equal(others, 1);
	assert_int_equal(state_beside(GP_TEST_SET, 4000, &others), GP_UNFINISHED_ONE_OF);
	assert_int_equal(others, 1);
	assert_int_equal(state_beside(GP_TEST_COPY, 4000, &others),
			 GP_UNFINISHED_HANGS); /* it was waited for */
	assert_int_equal(others, 0);
	assert_int_equal(state_beside(GP_TEST_GRAPH_LAUNCH, 1000, &others), GP_UNFINISHED_HANGS);
	assert_int_equal(others, 0);
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
	assert_int_equal(state_with(GP_COUNTERS, 2 * S), GP_UNFINISHED_ONE_OF);
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

	gp_builder_begin(&b, 100);
	call_with_status(&b, GP_TEST_LAUNCH, 1, 1000, 0, 1);
	call_with_status(&b, GP_TEST_SYNC, 2, 1500, 0, 1);
	call_with_status(&b, GP_TEST_LAUNCH, 3, 2000, 0, 1);
	call_with_status(&b, GP_TEST_SYNC, 4, 2500, 0, 2); /* of another context */
	in_flight(&b, 1, 2 * S, 1);
	in_flight(&b, 3, 2 * S, 1);
	model = finish(&b, &list);
	assert_int_equal(list.count, 1);
	assert_int_equal(id_of(model, &list, 0), 3);
	assert_int_equal(list.rows[0].state, GP_UNFINISHED_HANGS);
	assert_int_equal(model->in_flight_count, 1);
	drop(model, &list);
}

static void after_a_fault_it_may_be_any(void **state)
{
	struct gp_unfinished_list list;
	struct gp_model *model;
	struct gp_builder b;

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

/*
 * The last flush gives what has not ended without times, stream by stream in the order of the
 * launches.
 */
static void the_first_without_times_of_a_stream_had_not_ended(void **state)
{
	struct gp_unfinished_list list;
	struct gp_model *model;
	struct gp_builder b;

	begin(&b);
	gp_builder_call(&b, GP_TEST_LAUNCH, 4, 4000, 10);
	gp_builder_call(&b, GP_TEST_LAUNCH, 5, 4500, 10);
	gp_builder_kernel(&b, 2, 2100,
			  6000); /* it began before the others were launched, and ended later */
	untimed_kernel(&b, 3, 7);
	untimed_kernel(&b, 5, 7);
	untimed_kernel(&b, 4, 8);
	gp_builder_end(&b, 5 * S);
	model = finish(&b, &list);
	assert_int_equal(list.count, 3);
	assert_int_equal(id_of(model, &list, 0), 3);
	assert_int_equal(list.rows[0].state, GP_UNFINISHED_CUT_OFF);
	assert_int_equal(list.rows[0].open_ns, 5 * S - 3010);
	assert_int_equal(id_of(model, &list, 1), 4);
	assert_int_equal(list.rows[1].state, GP_UNFINISHED_CUT_OFF);
	assert_int_equal(id_of(model, &list, 2), 5);
	assert_int_equal(list.rows[2].state, GP_UNFINISHED_BEHIND);
	drop(model, &list);
}

/* It was launched long before the one ahead of it began. */
static void what_waited_in_its_stream_is_at_its_end(void **state)
{
	struct gp_unfinished_list list;
	struct gp_model *model;
	struct gp_builder b;

	begin(&b);
	gp_builder_kernel(&b, 2, 500000, 600000);
	untimed_kernel(&b, 3, 7);
	gp_builder_end(&b, 5 * S);
	model = finish(&b, &list);
	assert_int_equal(list.count, 1);
	assert_int_equal(id_of(model, &list, 0), 3);
	assert_int_equal(list.rows[0].state, GP_UNFINISHED_CUT_OFF);
	drop(model, &list);
}

/*
 * CUPTI had no room for the times of the second one, and so may have had none for those of the
 * last.
 */
static void where_times_are_missing_amid_others_the_last_ones_are_open(void **state)
{
	struct gp_unfinished_list list;
	struct gp_model *model;
	struct gp_builder b;

	begin(&b);
	gp_builder_call(&b, GP_TEST_LAUNCH, 4, 4000, 10);
	untimed_kernel(&b, 2, 7);
	gp_builder_kernel(&b, 3, 3100, 3200);
	untimed_kernel(&b, 4, 7);
	gp_builder_end(&b, 5 * S);
	model = finish(&b, &list);
	assert_int_equal(list.count, 1);
	assert_int_equal(id_of(model, &list, 0), 4);
	assert_int_equal(list.rows[0].state, GP_UNFINISHED_OPEN);
	assert_string_equal(gp_unfinished_name(model, &list.rows[0]), "_Z4spinPi");
	drop(model, &list);
}

/* CUPTI may have found no room for the times of any. */
static void where_a_context_has_no_times_at_all_they_are_open(void **state)
{
	struct gp_unfinished_list list;
	struct gp_model *model;
	struct gp_builder b;

	gp_builder_begin(&b, 100);
	gp_builder_call(&b, GP_TEST_LAUNCH, 1, 1000, 10);
	gp_builder_call(&b, GP_TEST_LAUNCH, 2, 2000, 10);
	untimed_kernel(&b, 1, 7);
	untimed_kernel(&b, 2, 7);
	gp_builder_end(&b, 5 * S);
	model = finish(&b, &list);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.rows[0].state, GP_UNFINISHED_OPEN);
	assert_int_equal(list.rows[1].state, GP_UNFINISHED_OPEN);
	drop(model, &list);
}

/* A record without times tells what CUPTI held the others back for. */
static void beside_a_record_without_times_the_rest_is_open(void **state)
{
	struct gp_unfinished_list list;
	struct gp_model *model;
	struct gp_builder b;

	begin(&b);
	in_flight(&b, 3, 2 * S, 5);
	untimed_kernel(&b, 2, 7);
	gp_builder_end(&b, 5 * S);
	model = finish(&b, &list);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.rows[0].state, GP_UNFINISHED_CUT_OFF);
	assert_int_equal(list.rows[1].state, GP_UNFINISHED_OPEN);
	drop(model, &list);
}

/*
 * Of a launch that failed, was captured or paused, of a call that is not there, with a name that is
 * not there; one twice.
 */
static void records_that_say_nothing(void **state)
{
	struct gp_unfinished_list list;
	struct gp_model *model;
	struct gp_builder b;

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
	assert_int_equal(id_of(model, &list, 0), 3);
	drop(model, &list);
}

static char *print(const struct gp_model *model)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	gp_summary_print_unfinished(out, 2, model);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void assert_has(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("\"%s\" is not in:\n%s", words, text);
}

/* Of many: which kernels, how many of each, the first and the last one, and what else it may be. */
static void the_summary_of_many(void **state)
{
	static const char *const kernels[] = {"_Z1ai", "_Z1bi", "_Z1ci", "_Z1di", "_Z1ei"};
	struct gp_model *model;
	struct gp_builder b;
	char *text;

	gp_builder_begin(&b, 100);
	for (uint32_t i = 0; i < 5; i++)
		gp_builder_string(&b, GP_STRING_KERNEL, 5 + i, 0, kernels[i]);
	for (uint32_t id = 1; id <= 12; id++) {
		gp_builder_call(&b, GP_TEST_LAUNCH, id, 1000 * id, 10);
		if (id < 12)
			in_flight(&b, id, 2 * S, 5 + id % 5);
	}
	gp_builder_call(&b, GP_TEST_GRAPH_LAUNCH, 13, 20000, 10);
	gp_builder_call(&b, GP_TEST_SET, 14, 21000, 10);
	model = gp_builder_finish(&b);
	text = print(model);
	assert_has(
		text,
		"  never ended: at least one of 12 kernels and 2 graphs, copies or memsets without a record, for at least 2.000s after the first launch\n");
	assert_has(
		text,
		"\n    b 3, c 2, d 2, e 2, others 2, without a name 1; with a name: gpuprof summary --by unfinished FILE\n    first with a name: b, launched ");
	assert_has(text, "\n    last with a name: b, launched ");
	free(text);
	gp_model_free(model);
}

/*
 * A kernel of which a record tells that it had not ended has a place of its own, also beside
 * others.
 */
static void the_summary_of_two_streams(void **state)
{
	struct gp_model *model;
	struct gp_builder b;
	char *text;

	begin(&b);
	gp_builder_call(&b, GP_TEST_LAUNCH, 4, 4000, 10);
	untimed_kernel(&b, 2, 7);
	untimed_kernel(&b, 3, 8);
	untimed_kernel(&b, 4, 8);
	gp_builder_end(&b, 5 * S);
	model = gp_builder_finish(&b);
	text = print(model);
	assert_has(
		text,
		"  had not ended when the process did: spin, for at least 5.000s after its launch\n    launched 1.000us after ");
	assert_has(
		text,
		"  had not ended when the process did: spin, for at least 5.000s after its launch\n    launched 2.000us after ");
	assert_has(text, "\n    queued behind it in its stream: 1 later launch, of spin\n");
	assert_null(strstr(strstr(text, "behind it") + 1, "behind it"));
	free(text);
	gp_model_free(model);
}

/* A launch is a row, in the order in which they were made. */
static void the_table_has_a_row_for_each_launch(void **state)
{
	enum { LAUNCHED, OPEN, STATE, PID, TID, ID, API, NAME, SITE };
	struct gp_model *model;
	struct gp_builder b;
	struct gp_scope scope;
	struct gp_table table;

	(void)state;
	begin(&b);
	in_flight(&b, 3, 2 * S, 1);
	in_flight(&b, 2, 2 * S, 5);
	gp_builder_anchor(&b, 4 * S);
	model = gp_builder_finish(&b);
	assert_int_equal(gp_scope_open(&scope, &model, 1, false), 0);
	assert_int_equal(gp_breakdown_make(&gp_breakdown_unfinished, &scope, &table), 0);
	assert_int_equal(gp_table_rows(&table), 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct gp_value *row = gp_table_row(&table, i);

		assert_int_equal(row[LAUNCHED].whole, 1000 * (i + 1));
		assert_int_equal(row[OPEN].whole, 4 * S - 2010 - 1000 * i);
		assert_string_equal(row[STATE].text,
				    gp_unfinished_state_name(GP_UNFINISHED_ONE_OF));
		assert_int_equal(row[PID].whole, 4242);
		assert_int_equal(row[TID].whole, 100);
		assert_int_equal(row[ID].whole, 2 + i);
		assert_string_equal(row[API].text, "cudaLaunchKernel");
		assert_string_equal(row[NAME].text, i == 0 ? "spin" : "kernel");
		assert_int_equal(row[SITE].kind, GP_VALUE_NONE);
	}
	gp_table_close(&table);
	gp_scope_close(&scope);
	gp_model_free(model);
}

/* With totals only: launches after the last delivery of records, for whose stream none waited. */
static void of_totals_later_launches_are_open(void **state)
{
	const struct gp_load_options options = {.save_to = -1, .in_one_pass = true};
	struct gp_model *model;
	struct gp_builder b;
	char message[512];

	(void)state;
	begin(&b);
	in_flight(&b, 3, 3 * S, 5);
	counter(&b, GP_COUNTER_LAST_DELIVERY_TICKS, GP_TEST_AT_TICK(2 * S));
	in_flight(&b, 2, 3 * S, 1);
	in_flight(&b, 4, 2 * S, 5);  /* not later */
	in_flight(&b, 5, 3 * S, 77); /* without a name */
	gp_builder_anchor(&b, 4 * S);
	assert_int_equal(
		gp_model_load_with(gp_builder_save(&b), &options, &model, message, sizeof(message)),
		0);
	assert_int_equal(model->in_flight_count, 2);
	assert_int_equal(model->in_flight[0].correlation_id, 2);
	assert_int_equal(model->in_flight[1].correlation_id, 3);
	gp_model_free(model);
	gp_builder_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_several_which_one_hangs_is_not_known),
		cmocka_unit_test(the_only_one_hangs),
		cmocka_unit_test(what_was_waited_for_has_ended),
		cmocka_unit_test(those_of_other_threads_and_without_a_name_may_be_it),
		cmocka_unit_test(what_is_no_kernel_may_be_it),
		cmocka_unit_test(no_more_is_said_than_is_known),
		cmocka_unit_test(whose_stream_was_waited_for_has_ended),
		cmocka_unit_test(after_a_fault_it_may_be_any),
		cmocka_unit_test(the_first_without_times_of_a_stream_had_not_ended),
		cmocka_unit_test(what_waited_in_its_stream_is_at_its_end),
		cmocka_unit_test(where_times_are_missing_amid_others_the_last_ones_are_open),
		cmocka_unit_test(where_a_context_has_no_times_at_all_they_are_open),
		cmocka_unit_test(beside_a_record_without_times_the_rest_is_open),
		cmocka_unit_test(records_that_say_nothing),
		cmocka_unit_test(the_summary_of_many),
		cmocka_unit_test(the_summary_of_two_streams),
		cmocka_unit_test(the_table_has_a_row_for_each_launch),
		cmocka_unit_test(of_totals_later_launches_are_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
