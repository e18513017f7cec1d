#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/top/openmetrics.h"
#include "report/top/page.h"
#include "tests/unit.h"
#include "tests/report/trace_builder.h"

#define MS  UINT64_C(1000000)
#define S   (1000 * MS)
#define MIB (UINT64_C(1) << 20)

/* A program whose clocks all show ns since the builder's starts, and what top shows of it. */
struct scene {
	struct gp_live *live;
	struct gp_names *names;
	struct gp_tail_state tail;
	char *text;
};

static void take(struct scene *s, const void *record, uint32_t thread)
{
	union gp_any_record any = {0};

	memcpy(&any, record, ((const struct gp_record *)record)->slots * GP_SLOT_BYTES);
	assert_int_equal(gp_live_take(s->live, &(struct gp_record_view){&any, NULL, thread}), 0);
}

static void define(struct scene *s, uint16_t space, uint32_t id, uint32_t value, const char *text)
{
	union gp_any_record any = {.string = {.kind = GP_RECORD_STRING,
					      .space = space,
					      .id = id,
					      .value = value,
					      .length_bytes = (uint32_t)strlen(text)}};

	assert_int_equal(gp_live_take(s->live, &(struct gp_record_view){&any, text, 0}), 0);
}

static void take_anchor(struct scene *s, uint64_t ns)
{
	const struct gp_record_anchor anchor = {
		.kind = GP_RECORD_ANCHOR,
		.slots = 2,
		.ticks = GP_TEST_AT_TICK(ns),
		.monotonic_ns = GP_TEST_MONOTONIC + ns,
		.cupti_ns = GP_TEST_CUPTI(ns),
		.cupti_ticks = GP_TEST_AT_TICK(ns),
	};

	take(s, &anchor, 0);
}

static struct scene *begin(void)
{
	struct scene *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->live = gp_live_new(false);
	s->names = gp_names_new();
	assert_non_null(s->live);
	assert_non_null(s->names);
	s->tail = (struct gp_tail_state){.pid = 42, .live = true};
	define(s, GP_STRING_INFO, GP_INFO_PROGRAM, 0, "app");
	define(s, GP_STRING_API, GP_TEST_LAUNCH, GP_API_LAUNCH, "cudaLaunchKernel_v7000");
	define(s, GP_STRING_API, GP_TEST_COPY, GP_API_COPY, "cudaMemcpy_v3020");
	define(s, GP_STRING_KERNEL, 1, 0, "_Z5scalePf");
	define(s, GP_STRING_KERNEL, 2, 0, "_Z3addPf");
	define(s, GP_STRING_DEVICE, 0, 0, "Test GPU");
	take_anchor(s, 0);
	return s;
}

static void end(struct scene *s)
{
	gp_live_free(s->live);
	gp_names_free(s->names);
	free(s->text);
	free(s);
}

static void call(struct scene *s, uint16_t api, uint16_t status, uint64_t start_ns)
{
	const struct gp_record_call record = {.kind = GP_RECORD_CALL,
					      .slots = 1,
					      .api = api,
					      .status = status,
					      .start_ticks = GP_TEST_AT_TICK(start_ns),
					      .duration_low_ticks = 1000};

	take(s, &record, 100);
}

static void launch(struct scene *s, uint64_t start_ns)
{
	call(s, GP_TEST_LAUNCH, 0, start_ns);
}

static void kernel(struct scene *s, uint32_t name, uint64_t start_ns, uint64_t end_ns)
{
	const struct gp_record_kernel record = {.kind = GP_RECORD_KERNEL,
						.slots = 2,
						.name_id = name,
						.start_ns = GP_TEST_CUPTI(start_ns),
						.end_ns = GP_TEST_CUPTI(end_ns)};

	take(s, &record, 0);
}

static void copy(struct scene *s, uint8_t kind, uint64_t start_ns, uint64_t end_ns, uint64_t bytes)
{
	const struct gp_record_copy record = {.kind = GP_RECORD_COPY,
					      .slots = 3,
					      .copy_kind = kind,
					      .start_ns = GP_TEST_CUPTI(start_ns),
					      .end_ns = GP_TEST_CUPTI(end_ns),
					      .bytes = bytes};

	take(s, &record, 0);
}

/* The page of the interval that ends then. */
static const char *print(struct scene *s, uint64_t now_ns)
{
	struct gp_page page = {.live = s->live,
			       .tail = &s->tail,
			       .names = s->names,
			       .path = "app's.gpuprof",
			       .kernel_rows = 2};
	size_t bytes;
	FILE *out;

	free(s->text);
	s->text = NULL;
	out = open_memstream(&s->text, &bytes);
	assert_non_null(out);
	assert_int_equal(
		gp_live_end_interval(s->live, GP_TEST_MONOTONIC + now_ns, gp_page_is_over(&page)),
		0);
	assert_int_equal(gp_page_print_head(out, &page), 0);
	assert_int_equal(gp_page_print_kernels(out, &page), 0);
	gp_page_print_farewell(out, &page);
	fclose(out);
	return s->text;
}

#define assert_has(text, part)                                                                     \
	do {                                                                                       \
		if (!strstr(text, part))                                                           \
			fail_msg("no \"%s\" in:\n%s", part, text);                                 \
	} while (0)
#define assert_lacks(text, part)                                                                   \
	do {                                                                                       \
		if (strstr(text, part))                                                            \
			fail_msg("\"%s\" in:\n%s", part, text);                                    \
	} while (0)

/* The words of the line that ends in that one, with single spaces between them. */
static void assert_row(const char *text, const char *expected)
{
	const char *word = strrchr(expected, ' ') + 1;

	for (const char *line = text; line;
	     line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
		char words[256] = "";
		size_t length = strcspn(line, "\n");

		for (size_t i = 0; i < length && strlen(words) < sizeof(words) - 1; i++)
			if (line[i] != ' ' || (words[0] && words[strlen(words) - 1] != ' '))
				strncat(words, line + i, 1);
		if (strcmp(words, expected) == 0)
			return;
	}
	fail_msg("no row of %s: \"%s\" in:\n%s", word, expected, text);
}

/*
 * Two seconds: the first page tells of the first one and the beginning, the second of the second
 * one.
 */
static void test_rates_and_times_of_an_interval(void **state)
{
	struct scene *s = begin();
	const char *text;

	for (uint64_t i = 0; i < 20; i++) {
		launch(s, i * 50 * MS);
		kernel(s, 1, i * 50 * MS, i * 50 * MS + 10 * MS);
	}
	copy(s, 1, 10 * MS, 15 * MS, 100 * MIB);
	text = print(s, 1 * S);
	assert_has(text,
		   "gpuprof top: app, pid 42, recorded for 1.000s; rates since the beginning\n");
	assert_has(text, "launches 20/s; kernels 20/s; copies HtoD 1.0/s 0.105 GB/s");
	assert_row(text, "100.0 200.0ms 20 20 10.00ms 100.0 200.0ms 20 10.00ms scale");
	/* Up to 250 ms ago: 15 kernels and what of the copy lies beside the first. */
	assert_row(text, "0 20.7 0B 0B 0 - Test GPU");

	gp_live_next_interval(s->live);
	take_anchor(s, 2 * S);
	for (uint64_t i = 0; i < 4; i++) {
		launch(s, 1 * S + i * MS);
		kernel(s, 2, 1 * S + i * 10 * MS, 1 * S + i * 10 * MS + 10 * MS);
	}
	call(s, GP_TEST_LAUNCH, 2, 1 * S); /* failed */
	text = print(s, 3 * S);
	assert_has(text, "recorded for 3.000s; rates over the last 2.000s\n");
	assert_has(text, "launches 2.0/s; kernels 2.0/s; copies HtoD 0/s; recorded calls 2.5/s");
	assert_row(text, "100.0 40.00ms 4 2 10.00ms 16.7 40.00ms 4 10.00ms add");
	assert_row(text, "0.0 0ns 0 0 - 83.3 200.0ms 20 10.00ms scale");
	assert_true(strstr(text, " add\n") < strstr(text, " scale\n"));
	/* 750 ms to 2750 ms: five of the first kernels, and the four. */
	assert_row(text, "0 4.5 0B 0B 0 - Test GPU");
	end(s);
}

static void test_the_rate_of_small_copies(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *expected;
	} cases[] = {{163 * 1024, "HtoD 1.0/s 166.9 kB/s"},
		     {10 * MIB, "HtoD 1.0/s 10.49 MB/s"},
		     {100 * MIB, "HtoD 1.0/s 0.105 GB/s"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scene *s = begin();

		launch(s, 0);
		copy(s, 1, 10 * MS, 15 * MS, cases[i].bytes);
		assert_has(print(s, 1 * S), cases[i].expected);
		end(s);
	}
}

static void test_memory(void **state)
{
	struct scene *s = begin();
	struct gp_record_memory memory = {.call = {.kind = GP_RECORD_MEMORY,
						   .slots = 2,
						   .api = GP_TEST_MALLOC,
						   .start_ticks = GP_TEST_AT_TICK(10)},
					  .op = GP_MEMORY_ALLOC,
					  .memory_kind = GP_MEMORY_DEVICE,
					  .address = 0x1000,
					  .bytes = 2 * MIB};
	const struct gp_record_device device = {
		.kind = GP_RECORD_DEVICE, .slots = 3, .memory_bytes = 1024 * MIB};
	const char *text;

	take(s, &device, 0);
	take(s, &memory, 100);
	memory.address = 0x2000;
	memory.memory_kind = GP_MEMORY_PINNED;
	take(s, &memory, 100);
	text = print(s, 1 * S);
	assert_row(text, "0 0.0 2.000MiB 2.000MiB 1 1.000GiB Test GPU");
	assert_has(text, "pinned host: 2.000MiB, peak 2.000MiB");
	end(s);
}

static void in_flight(struct scene *s, uint32_t id, uint32_t name, uint64_t at_ns)
{
	const struct gp_record_in_flight record = {.kind = GP_RECORD_IN_FLIGHT,
						   .slots = 1,
						   .correlation_id = id,
						   .name_id = name,
						   .ticks = GP_TEST_AT_TICK(at_ns)};

	take(s, &record, 0);
}

/* A kernel that runs long has no record yet: what the GPU does cannot be told. */
static void test_launches_without_a_record(void **state)
{
	struct scene *s = begin();
	const char *text;

	launch(s, 10 * MS);
	kernel(s, 1, 11 * MS, 12 * MS);
	launch(s, 900 * MS);
	text = print(s, 1000 * MS);
	gp_live_next_interval(s->live);
	text = print(s, 2000 * MS);
	assert_has(text, "1 launch without GPU record");
	assert_row(text, "0 ? 0B 0B 0 - Test GPU");
	assert_has(text, "last call 1.100s ago, CUPTI delivered last 1.988s ago");
	assert_lacks(text, "no record of its end");
	in_flight(s, 4, 2, 2000 * MS);
	in_flight(s, 3, 1, 2001 * MS);
	in_flight(s, 5, 2, 2002 * MS);
	gp_live_next_interval(s->live);
	text = print(s, 2100 * MS);
	assert_has(text, "\nno record of its end: scale\n");
	launch(s, 2150 * MS);
	gp_live_next_interval(s->live);
	print(s, 2200 * MS);
	gp_live_next_interval(s->live);
	text = print(s, 2300 * MS);
	assert_has(text, "\nno record of their ends: 2 launches, the first of scale\n");
	s->tail.counters[GP_COUNTER_LOST_CUPTI] = 2;
	gp_live_next_interval(s->live);
	text = print(s, 3000 * MS);
	assert_lacks(text, "without GPU record");
	assert_lacks(text, "no record of");
	assert_has(text, "lost: 2 GPU records that CUPTI reported as dropped");
	end(s);
}

/*
 * Also on the first page, and whatever was done before it; what a dead one did is all that will be
 * known.
 */
static void test_a_kernel_that_runs_since_the_beginning(void **state)
{
	struct scene *s = begin();

	launch(s, 10 * MS);
	kernel(s, 1, 11 * MS, 12 * MS);
	launch(s, 13 * MS);
	assert_row(print(s, 1000 * MS), "0 ? 0B 0B 0 - Test GPU");
	gp_live_next_interval(s->live);
	kernel(s, 1, 13 * MS, 1001 * MS);
	launch(s, 1002 * MS);
	s->tail.live = false;
	assert_lacks(print(s, 1500 * MS), "?");
	end(s);
}

/* What was launched, or delivered, a moment ago says that what is missing is on its way. */
static void test_records_on_their_way(void **state)
{
	struct scene *s = begin();

	launch(s, 10 * MS);
	assert_lacks(print(s, 100 * MS), "without GPU record");
	gp_live_next_interval(s->live);
	kernel(s, 1, 101 * MS, 102 * MS);
	launch(s, 900 * MS);
	launch(s, 910 * MS);
	assert_lacks(print(s, 1000 * MS), "without GPU record");
	gp_live_next_interval(s->live);
	assert_has(print(s, 1100 * MS), "2 launches without GPU record");
	gp_live_next_interval(s->live);
	kernel(s, 1, 901 * MS, 902 * MS);
	assert_lacks(print(s, 1150 * MS), "without GPU record");
	end(s);
}

/* Those that have lasted longest. */
static void test_calls_that_wait(void **state)
{
	struct gp_record_waiting calls[6];
	struct scene *s = begin();
	const char *text;

	define(s, GP_STRING_THREAD, 104, 0, "loader");
	for (uint32_t i = 0; i < 6; i++)
		calls[i] = (struct gp_record_waiting){.start_ticks =
							      GP_TEST_AT_TICK((900 - i * 100) * MS),
						      .thread_id = 100 + i,
						      .api = i == 5 ? 99 : GP_TEST_COPY};
	s->tail.calls = calls;
	s->tail.call_count = 6;
	text = print(s, 1 * S);
	assert_has(text, "in a call without a name for 600.0ms: thread 105\n"
			 "in cudaMemcpy for 500.0ms: loader 104\n"
			 "in cudaMemcpy for 400.0ms: thread 103\n"
			 "in cudaMemcpy for 300.0ms: thread 102\n"
			 "in calls that wait: 2 threads more\n");
	end(s);
}

static void test_open_ranges(void **state)
{
	struct scene *s = begin();
	struct gp_record_range range = {.kind = GP_RECORD_RANGE,
					.slots = 2,
					.op = GP_RANGE_PUSH,
					.text_id = 1,
					.ticks = GP_TEST_AT_TICK(100 * MS)};

	define(s, GP_STRING_RANGE, 1, 0, "step");
	define(s, GP_STRING_RANGE, 2, 0, "for\x1b[2Jward");
	define(s, GP_STRING_THREAD, 100, 0, "main");
	take(s, &range, 100);
	range.text_id = 2;
	range.ticks = GP_TEST_AT_TICK(600 * MS);
	take(s, &range, 100);
	assert_has(print(s, 1 * S),
		   "ranges of main 100: step (900.0ms) > for\\x1b[2Jward (400.0ms)\n");
	end(s);
}

/* Names are the program's: no byte of them may do anything to a terminal. */
static void test_hostile_names(void **state)
{
	struct scene *s = begin();
	const char *text;

	define(s, GP_STRING_INFO, GP_INFO_PROGRAM, 0, "a\033]0;b\007\n");
	define(s, GP_STRING_KERNEL, 1, 0, "k\033[31m\r");
	define(s, GP_STRING_DEVICE, 0, 0, "\302\233d");
	kernel(s, 1, 10, 20);
	text = print(s, 1 * S);
	for (const char *at = text; *at; at++)
		assert_true((*at >= ' ' && *at <= '~') || *at == '\n');
	assert_has(text, "k\\x1b[31m\\x0d");
	end(s);
}

/* What came last counts where the program has ended, not the time since. */
static void test_the_end(void **state)
{
	struct scene *s = begin();
	const struct gp_record_end record = {.kind = GP_RECORD_END,
					     .slots = 1,
					     .reason = GP_END_EXIT,
					     .ticks = GP_TEST_AT_TICK(500 * MS)};
	const struct gp_record_gate full = {
		.kind = GP_RECORD_GATE, .slots = 1, .reason = GP_GATE_FULL};
	const struct gp_record_gate pause = {
		.kind = GP_RECORD_GATE, .slots = 1, .reason = GP_GATE_SIGNAL};
	const char *text;

	launch(s, 100 * MS);
	kernel(s, 1, 100 * MS, 200 * MS);
	take(s, &record, 0);
	s->tail.closed = true;
	text = print(s, 77 * S);
	assert_has(text,
		   "app, pid 42, ended after 500.0ms of recording; rates and Busy % of all of it");
	assert_row(text, "0 20.0 0B 0B 0 - Test GPU");
	assert_has(text, "CUPTI delivered last 300.0ms before the end");
	assert_has(text, "ended; to see a summary, type: gpuprof summary 'app'\\''s.gpuprof'");
	take(s, &full, 0);
	assert_has(print(s, 77 * S), "its trace reached --max-file after 500.0ms");
	s->tail.closed = false;
	s->tail.live = true;
	assert_has(print(s, 77 * S), "recording is paused, running for 77.00s");
	s->tail.live = false;
	assert_has(print(s, 78 * S), "was killed or crashed");
	take(s, &pause, 0);
	s->tail.closed = true;
	assert_has(
		print(s, 79 * S),
		"ended after 500.0ms, recorded in part; rates and Busy % of all of it, with the pauses");
	end(s);
}

/* More kernels than rows: those with the most time in the interval. */
static void test_rows_of_kernels(void **state)
{
	struct scene *s = begin();
	const char *text;

	define(s, GP_STRING_KERNEL, 3, 0, "third");
	define(s, GP_STRING_KERNEL, 4, 0, "_Z3addPd"); /* the same when shortened */
	kernel(s, 3, 10 * MS, 11 * MS);
	kernel(s, 1, 20 * MS, 30 * MS);
	kernel(s, 2, 30 * MS, 40 * MS);
	kernel(s, 4, 40 * MS, 50 * MS);
	text = print(s, 1 * S);
	assert_row(text, "64.5 20.00ms 2 2 10.00ms 64.5 20.00ms 2 10.00ms add");
	assert_row(text, "32.3 10.00ms 1 1 10.00ms 32.3 10.00ms 1 10.00ms scale");
	assert_lacks(text, "third");
	end(s);
}

/* In whatever order they were named, and whoever is named again. */
static void a_thread_has_its_own_name(void **state)
{
	static const uint32_t ids[] = {50, 20, 90, 10, 60};
	struct scene *s = begin();
	char name[16];

	for (size_t i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "thread %u", ids[i]);
		define(s, GP_STRING_THREAD, ids[i], 0, name);
	}
	define(s, GP_STRING_THREAD, 20, GP_NAME_GIVEN, "given");
	define(s, GP_STRING_THREAD, 20, 0, "not given");
	for (size_t i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "thread %u", ids[i]);
		assert_string_equal(gp_live_thread_name(s->live, ids[i]),
				    ids[i] == 20 ? "given" : name);
	}
	assert_string_equal(gp_live_thread_name(s->live, 30), "");
	assert_string_equal(gp_live_thread_name(s->live, 100), "");
	end(s);
}

/* ---- for a monitoring system ---- */

static void gate(struct scene *s, bool on, uint8_t reason, uint64_t ns)
{
	const struct gp_record_gate record = {.kind = GP_RECORD_GATE,
					      .slots = sizeof(record) / GP_SLOT_BYTES,
					      .on = on,
					      .reason = reason,
					      .ticks = GP_TEST_AT_TICK(ns)};

	take(s, &record, 0);
}

/* The text for the interval that ends then, without comments. */
static const char *print_openmetrics(struct scene *s, uint64_t now_ns)
{
	struct gp_page page = {.live = s->live, .tail = &s->tail, .names = s->names};
	size_t bytes;
	FILE *out;

	free(s->text);
	out = open_memstream(&s->text, &bytes);
	assert_non_null(out);
	assert_int_equal(gp_live_end_interval(s->live, GP_TEST_MONOTONIC + now_ns, false), 0);
	gp_top_openmetrics_print(out, &page, 1);
	fclose(out);
	return s->text;
}

#define OF "{pid=\"42\",program=\"app\",rank=\"3\""

/* Counters go on from interval to interval. */
static void test_numbers_for_a_monitoring_system(void **state)
{
	struct scene *s = begin();
	const char *text;

	define(s, GP_STRING_INFO, GP_INFO_RANK, 0, "3");
	define(s, GP_STRING_INFO, GP_INFO_HOST, 0, "node\"7");
	define(s, GP_STRING_KERNEL, 4, 0, "_Z3addPd"); /* the same when shortened */
	s->tail.counters[GP_COUNTER_LOST_NO_RING] = 5;
	for (uint64_t at = 1; at <= 2; at++) {
		launch(s, at * S);
		call(s, GP_TEST_COPY, 2, at * S + MS);
		kernel(s, 2, at * S, at * S + 10 * MS);
		kernel(s, 4, at * S + 10 * MS, at * S + 13 * MS);
		copy(s, 1, at * S + 20 * MS, at * S + 21 * MS, 4096);
		take_anchor(s, at * S + 500 * MS);
		text = print_openmetrics(s, at * S + 500 * MS);
		gp_live_next_interval(s->live);
	}
	assert_has(text, "\ngpuprof_info" OF ",host=\"node\\\"7\"} 1\n");
	assert_has(text, "\ngpuprof_recording" OF "} 1\n");
	assert_has(text, "\ngpuprof_recorded_seconds_total" OF "} 2.500000000\n");
	assert_has(text, "\ngpuprof_kernels_total" OF ",kernel=\"add\"} 4\n");
	assert_has(text, "\ngpuprof_kernel_seconds_total" OF ",kernel=\"add\"} 0.026000000\n");
	assert_has(text, "\ngpuprof_copies_total" OF ",operation=\"[memcpy HtoD");
	assert_has(text, "\ngpuprof_api_calls_total" OF ",function=\"cudaMemcpy\"} 2\n");
	assert_has(text, "\ngpuprof_api_failures_total" OF ",function=\"cudaMemcpy\"} 2\n");
	assert_has(text, "\ngpuprof_device_busy_seconds_total" OF
			 ",device=\"0\",name=\"Test GPU\"} 0.028000000\n");
	assert_has(text, "\ngpuprof_missing" OF);
	assert_has(text, "\n# EOF\n");
	end(s);
}

static void test_pauses_are_not_recorded_time(void **state)
{
	struct scene *s = begin();

	gate(s, false, GP_GATE_SAMPLE, 0);
	gate(s, true, GP_GATE_KEPT, 1 * S);
	gate(s, true, GP_GATE_SAMPLE, 2 * S);
	gate(s, false, GP_GATE_SAMPLE, 3 * S);
	gate(s, true, GP_GATE_KEPT, 2 * S);
	take_anchor(s, 4 * S);
	assert_has(print_openmetrics(s, 4 * S),
		   "\ngpuprof_recorded_seconds_total{pid=\"42\",program=\"app\"} 1.000000000\n");
	assert_has(s->text, "\ngpuprof_recording{pid=\"42\",program=\"app\"} 0\n");
	gp_live_next_interval(s->live);
	gate(s, true, GP_GATE_SAMPLE, 5 * S);
	take_anchor(s, 7 * S);
	assert_has(print_openmetrics(s, 7 * S),
		   "\ngpuprof_recorded_seconds_total{pid=\"42\",program=\"app\"} 3.000000000\n");
	end(s);
}

/* Of a job's rank, only what a row of the job's page shows is kept. */
static void a_rank_of_a_job_has_what_its_row_shows(void **state)
{
	const struct gp_record_range range = {
		.kind = GP_RECORD_RANGE, .slots = 2, .op = GP_RANGE_PUSH, .text_id = 1};
	struct scene *s = begin();
	struct gp_live_flow launches;

	(void)state;
	gp_live_free(s->live);
	s->live = gp_live_new(true);
	define(s, GP_STRING_API, GP_TEST_LAUNCH, GP_API_LAUNCH, "cudaLaunchKernel_v7000");
	define(s, GP_STRING_KERNEL, 1, 0, "_Z5scalePf");
	define(s, GP_STRING_KERNEL, 2, 0, "ncclDevKernel_AllReduce");
	define(s, GP_STRING_THREAD, 100, 0, "worker");
	define(s, GP_STRING_RANGE, 1, 0, "step");
	take_anchor(s, 0);
	take(s, &range, 100);
	launch(s, 10);
	kernel(s, 1, 100, 300);
	kernel(s, 2, 300, 1000);
	assert_int_equal(gp_live_end_interval(s->live, GP_TEST_MONOTONIC + S, true), 0);
	gp_live_rest(s->live);
	launches = gp_live_flow(s->live, GP_SUM_CALL, 1u << GP_API_LAUNCH);
	assert_int_equal(gp_live_gained(&launches).done, 1);
	assert_int_equal(gp_live_flow(s->live, GP_SUM_KERNEL, GP_LIVE_ALL).now.ns, 900);
	assert_int_equal(s->live->devices[0].busy_ns, 900);
	assert_string_equal(gp_live_kernel_name(s->live, 2), "ncclDevKernel_AllReduce");
	assert_null(gp_live_kernel_name(s->live, 1));
	assert_string_equal(gp_live_thread_name(s->live, 100), "");
	assert_int_equal(s->live->ranges.open_count, 0);
	end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates_and_times_of_an_interval),
		cmocka_unit_test(test_the_rate_of_small_copies),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_launches_without_a_record),
		cmocka_unit_test(test_a_kernel_that_runs_since_the_beginning),
		cmocka_unit_test(test_records_on_their_way),
		cmocka_unit_test(test_calls_that_wait),
		cmocka_unit_test(test_open_ranges),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_the_end),
		cmocka_unit_test(a_thread_has_its_own_name),
		cmocka_unit_test(a_rank_of_a_job_has_what_its_row_shows),
		cmocka_unit_test(test_rows_of_kernels),
		cmocka_unit_test(test_numbers_for_a_monitoring_system),
		cmocka_unit_test(test_pauses_are_not_recorded_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
