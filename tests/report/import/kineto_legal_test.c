/*
 * What others write into Chrome traces, and is to be read: any origin of times, events without an
 * end, numbers of 64 bits, and text that is no valid JSON.
 */
#include <errno.h>
#include <stdint.h>
#include "report/model/recorded.h"
#include "tests/report/ask_advice.h"
#include "tests/report/import/kineto_file.h"

#define CALL(pid, ts, correlation)                                                                 \
	X("cuda_runtime", "cudaLaunchKernel",                                                      \
	  "\"pid\":" pid ",\"tid\":5,\"ts\":" ts                                                   \
	  ",\"dur\":2,\"args\":{\"correlation\":" correlation "}")
#define KERNEL_OF(name, ts, dur, stream, correlation)                                              \
	X("kernel", name,                                                                          \
	  "\"pid\":0,\"tid\":7,\"ts\":" ts ",\"dur\":" dur                                         \
	  ",\"args\":{\"device\":0,\"stream\":" stream ",\"correlation\":" correlation "}")
#define RANGE(pid, name, ts, dur)                                                                  \
	X("user_annotation", name, "\"pid\":" pid ",\"tid\":5,\"ts\":" ts ",\"dur\":" dur)

static void an_operation_at_any_time_has_times(void **state)
{
	static const struct {
		const char *start, *duration;
		uint64_t length_ns; /* 0: it has none */
	} cases[] = {
		{"0", "900", 900000},
		{"-5.5", "900", 900000},
		{"-5.5", "5.5", 5500},
		{"0.001", "0.001", 1},
		{"1730000000123456.789", "0.123", 123},
		{"1.730000000123456789e15", "1e-3", 1},
		{"0", "0", 0},
		{"5", "-1", 0},
		{"5", "0.-01", 0},
		{"-1.-500", "900", 900000},
		{"0", "-0.001", 0},
		{"1730000000123456.789", "-1", 0},
	};
	char text[1024];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_model *m;

		snprintf(text, sizeof(text), EVENTS(KERNEL_OF("k", "%s", "%s", "7", "1")),
			 cases[i].start, cases[i].duration);
		m = load(text);
		assert_int_equal(m->op_count, 1);
		assert_int_equal(m->losses.ops_untimed, cases[i].length_ns == 0);
		assert_int_equal(m->losses.ops_reversed, 0);
		assert_int_equal(m->ops[0].end_ns - m->ops[0].start_ns, cases[i].length_ns);
		gp_model_free(m);
	}
}

static void times_keep_every_nanosecond(void **state)
{
	struct gp_model *m = load("{\"baseTimeNanoseconds\":1000,\"traceEvents\":[" CALL(
		"9", "1730000000123456.789", "1") "," CALL("9", "1730000000123456.790", "2") "]}");

	assert_int_equal(m->base_unix_ns, 1730000000123457789);
	assert_int_equal(m->calls[1].start_ns, 1);
	gp_model_free(m);
	m = load(EVENTS(CALL("9", "-7", "1") "," CALL("9", "-6.999", "2")));
	assert_int_equal(m->base_unix_ns, 0);
	assert_int_equal(m->calls[1].start_ns, 1);
	gp_model_free(m);
}

static void what_has_no_end_is_open_or_left_out(void **state)
{
	struct gp_model *m = load(EVENTS(RANGE("9", "outer", "1", "10") "," RANGE("9", "open", "2", "18446744073709551.615") "," X(
		"python_function", "f",
		HOST("3",
		     "10")) "," X("python_function", "g",
				  HOST("4",
				       "-1")) "," CALL("9", "5",
						       "1") "," CALL("9", "20",
								     "2") "," X("cuda_runtime",
										"cudaDeviceSynchronize",
										HOST("30",
										     "-1")) "," X("overhead",
												  "Buffer Flush",
												  HOST("31",
												       "-1"))));

	assert_int_equal(m->range_count, 2);
	assert_false(m->ranges[0].open);
	assert_true(m->ranges[1].open);
	assert_int_equal(m->call_count, 2);
	assert_int_equal(m->overhead_count, 0);
	/* a function without an end is left with its caller */
	assert_true(m->frames[m->calls[0].stack].parent != GP_NONE);
	assert_int_equal(m->calls[1].stack, GP_NONE);
	assert_non_null(strstr(m->notes[1], "no end")); /* after the one on the recorder */
	assert_non_null(strstr(m->notes[1], ": 2"));
	gp_model_free(m);
}

/* They would begin the trace decades before the other events. Operations are counted. */
static void events_at_time_zero_are_left_out(void **state)
{
	struct gp_model *m =
		load(EVENTS(CALL("9", "5000000000", "1") "," CALL("9", "5000000100", "2") "," X(
			"cuda_runtime", "cudaDeviceSynchronize",
			HOST("0.000",
			     "0.000")) "," RANGE("9", "zero", "0",
						 "0") "," X("python_function", "f",
							    HOST("0", "0")) "," KERNEL_OF("k", "0",
											  "0", "7",
											  "1")));

	assert_int_equal(m->call_count, 2);
	assert_int_equal(m->range_count, 0);
	assert_int_equal(m->sample_count, 0);
	assert_int_equal(m->op_count, 1);
	assert_int_equal(m->losses.ops_untimed, 1);
	assert_int_equal(m->calls[1].start_ns - m->calls[0].start_ns, 100000);
	assert_int_equal(m->calls[0].start_ns, 0);
	assert_non_null(strstr(m->notes[1], "their time is 0: 3"));
	gp_model_free(m);
}

static void wide_numbers_are_names(void **state)
{
	struct gp_model *m = load(EVENTS(KERNEL_OF("a", "10", "1", "94862305412128", "4294967297") "," KERNEL_OF(
		"b", "20", "1", "94862305416224",
		"4294967298") "," KERNEL_OF("c", "30", "1", "94862305412128",
					    "4294967299") "," CALL("9", "5",
								   "4294967297") "," X("kernel",
										       "d",
										       "\"pid\":0,\"tid\":94862305416224,\"ts\":40,\"dur\":1")));

	assert_int_equal(m->op_count, 4);
	assert_int_equal(m->losses.unknown_records, 0);
	for (uint32_t i = 0; i < m->op_count; i++) {
		char name = gp_model_kernel_name(m, &m->ops[i])[0];
		bool is_first = name == 'a' || name == 'c';

		assert_int_equal(m->ops[i].stream_id == m->ops[0].stream_id, is_first);
		assert_int_equal(m->ops[i].call, name == 'a' ? 0 : GP_NONE);
	}
	gp_model_free(m);
}

static void a_range_of_another_process_makes_no_second_one(void **state)
{
	static const char *const texts[] = {
		EVENTS(RANGE("999", "x", "1", "9") "," CALL("9", "5", "1") "," CALL("9", "9", "2")),
		EVENTS(CALL("9", "5", "1") "," RANGE("\"launcher\"", "x", "1",
						     "9") "," CALL("\"9\"", "9", "2")),
	};
	static const char *const refused[] = {
		EVENTS(CALL("9", "5", "1") "," CALL("8", "9", "2")),
		EVENTS(CALL("\"rank 0\"", "5", "1") "," CALL("\"rank 1\"", "9", "2")),
		EVENTS(CALL("\"rank 0\"", "5", "1") "," CALL("1", "9", "2")),
	};
	struct gp_model *m;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		m = load(texts[i]);
		assert_int_equal(m->pid, 9);
		assert_int_equal(m->call_count, 2);
		assert_int_equal(m->range_count, 1);
		gp_model_free(m);
	}
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_int_equal(load_bytes(refused[i], strlen(refused[i]), &m), -ENOTUNIQ);
}

static void a_byte_order_mark_is_skipped(void **state)
{
	struct gp_model *m = load("\xef\xbb\xbf" EVENTS(CALL("9", "5", "1")));

	assert_int_equal(m->call_count, 1);
	gp_model_free(m);
	assert_int_equal(load_bytes("\xff\xfe{\0}\0", 6, &m), -ENODATA);
	assert_non_null(strstr(message, "UTF-16"));
}

#define FUNCTION(name) X("python_function", name, HOST("1", "1"))

/* All other events are read, whichever is the bad one. */
static void a_bad_event_is_skipped(void **state)
{
	static const struct {
		const char *name;
		uint64_t skipped;
	} names[] = {
		{"C:\\\\Users\\\\x.py(1): f", 0},
		{"C:\\Users\\cuda.py(1): f", 0}, /* paths of Windows that are not escaped */
		{"a \"quoted\" word", 1},
		{"the end is \\", 1},
		{"\"},{\"x\": 1}, [\"", 1},
		{"lib(\"x\", \"IMPL\")\n(1): <module>", 1},
	};
	static const char *const forms[] = {
		EVENTS("%s," CALL("9", "5", "1") "," CALL("9", "8", "2")),
		EVENTS(CALL(
			"9", "5",
			"1") ",\n%s\n,{\"args\": {\"name\": {\"ph\": 1}}, \"ph\":\"i\"}," CALL("9",
											       "8",
											       "2")),
		EVENTS(CALL("9", "5", "1") "," CALL("9", "8", "2") ", %s "),
		"[" CALL("9", "5", "1") "," CALL("9", "8", "2") ", %s ]\n",
	};
	char event[256], text[1024];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (size_t j = 0; j < sizeof(forms) / sizeof(forms[0]); j++) {
			struct gp_model *m;

			snprintf(event, sizeof(event), FUNCTION("%s"), names[i].name);
			snprintf(text, sizeof(text), forms[j], event);
			m = load(text);
			if (m->call_count != 2 || m->losses.unknown_records != names[i].skipped ||
			    m->losses.cut)
				fail_msg("%s: %u calls, %lu skipped%s", text, m->call_count,
					 m->losses.unknown_records, m->losses.cut ? ", cut" : "");
			gp_model_free(m);
		}
}

/* An event that lies in two buffers of the reader, and ends in the quote of the next one. */
static void a_bad_event_is_skipped_wherever_it_lies(void **state)
{
	static char text[600000];

	for (size_t shift = 262000; shift < 262300; shift += 7) {
		struct gp_model *m;

		snprintf(text, sizeof(text),
			 EVENTS(CALL("9", "5", "1") "%*s," FUNCTION("x\\") "," CALL("9", "8", "2")),
			 (int)shift, "");
		m = load(text);
		assert_int_equal(m->call_count, 2);
		assert_int_equal(m->losses.unknown_records, 1);
		gp_model_free(m);
	}
}

static void text_behind_the_events_loses_none(void **state)
{
	static const struct {
		const char *tail;
		bool is_cut, is_told;
	} tails[] = {
		{"}", false, false},
		{",\n\"INFO\": [\"set \"LEVEL\" to 1\"]\n}", false, true},
		{"INFO:2026-05-01 done\n", false, true},
		{"} INFO", false, false},
		{", \"traceName\": \"tr", true, false},
		{"", true, false},
	};
	char text[1024];

	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		struct gp_model *m;

		snprintf(text, sizeof(text), "{\"traceEvents\": [" CALL("9", "5", "1") "]%s",
			 tails[i].tail);
		m = load(text);
		assert_int_equal(m->call_count, 1);
		assert_int_equal(m->losses.cut, tails[i].is_cut);
		assert_int_equal(m->losses.closed, !tails[i].is_cut);
		assert_int_equal(
			strstr(m->notes[0], "all events were read") != NULL ||
				strstr(m->notes[m->note_count - 1], "all events were read") != NULL,
			tails[i].is_told);
		gp_model_free(m);
	}
}

/* 200 times: a kernel of 1 ms, that launch, and 9 ms in which nothing else is recorded. */
static struct gp_model *load_steps(const char *function)
{
	static char text[200000];
	size_t used = (size_t)snprintf(text, sizeof(text), "[");

	for (uint32_t i = 0; i < 200; i++)
		used += (size_t)snprintf(
			text + used, sizeof(text) - used,
			CALL("9", "%u", "%u") "," KERNEL_OF("k", "%u", "1000", "7", "%u") "," X(
				"cuda_runtime", "%s",
				HOST("%u", "20") ",\"args\":{\"correlation\":%u}") ",",
			i * 10000, 2 * i + 1, i * 10000 + 10, 2 * i + 1, function, i * 10000 + 1200,
			2 * i + 2);
	snprintf(text + used, sizeof(text) - used, "]");
	return load(text);
}

static void advice_does_not_rest_on_time_of_missing_work(void **state)
{
	static const struct {
		const char *function;
		uint64_t launches, graphs;
	} rows[] = {{"cudaEventQuery", 0, 0},
		    {"cudaGraphLaunch", 0, 200},
		    {"cudaLaunchKernel", 200, 0}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct gp_model *m = load_steps(rows[i].function);
		struct gp_advice advice = ask(&m, 1);

		assert_int_equal(m->losses.launches_without_op, rows[i].launches);
		assert_int_equal(m->losses.graphs_without_op, rows[i].graphs);
		assert_int_equal(gp_recorded_has_all_operations(m), i == 0);
		assert_int_equal(find(&advice, "gpu-gaps") != NULL, i == 0);
		assert_int_equal(advice.count > 0, i == 0);
		gp_advice_free(&advice);
		gp_model_free(m);
	}
}

/* HIP's devices are numbered from 0; operations have the number of the driver's agent. */
static void the_only_device_is_that_of_the_operations(void **state)
{
#define DEVICE(id)                                                                                 \
	"{\"id\":" id                                                                              \
	",\"name\":\"MI300X\",\"numSms\":304,\"maxSharedMemoryPerMultiProcessor\":65536}"
#define MEMORY                                                                                     \
	"{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":9,\"tid\":9,\"ts\":1,\"args\":{\"Device Type\":6,\"Device Id\":0,\"Total Reserved\":64,\"Total Allocated\":32}}"
	struct gp_model *m = load("{\"deviceProperties\":[" DEVICE(
		"0") "],\"traceEvents\":[" MEMORY
		     ",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":2,\"tid\":7,\"ts\":1,\"dur\":1}]}");

	assert_int_equal(m->device_count, 1);
	assert_int_equal(m->devices[0].device_id, 2);
	assert_int_equal(m->devices[0].multiprocessors, 304);
	assert_int_equal(m->devices[0].shared_per_multiprocessor_bytes, 65536);
	assert_string_equal(m->device_names[0], "MI300X");
	assert_int_equal(m->pool_count, 1);
	assert_int_equal(m->pools[0].device_id, 2);
	gp_model_free(m);
	m = load("{\"deviceProperties\":[" DEVICE("0") "," DEVICE(
		"1") "],\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":2,\"tid\":7,\"ts\":1,\"dur\":1}]}");
	assert_int_equal(m->devices[0].device_id, 0);
	gp_model_free(m);
}

#define MEMORY_CALL(name, ts, args) X("cuda_runtime", name, HOST(ts, "1") ",\"args\":{" args "}")

/* As our own export has it: an allocation, its free, and one that failed. */
static void memory_belongs_to_the_calls(void **state)
{
	struct gp_model *m = load(
		"{\"metadata\":{\"slices left out\":0},\"traceEvents\":[" MEMORY_CALL("cudaMalloc", "1", "\"bytes\":64,\"address\":\"0x7f00\",\"memory\":\"device\",\"in context\":3,\"made context\":3,\"of device\":1") "," MEMORY_CALL(
			"cudaFree", "3",
			"\"bytes\":0,\"address\":\"0x7f00\",\"memory\":\"device\",\"in context\":3") "," MEMORY_CALL("cudaMalloc",
														     "5",
														     "\"bytes\":4096,\"status\":2") "]}");
	uint64_t asked;

	assert_int_equal(m->memory_count, 2);
	assert_int_equal(m->memory[0].op, GP_MEMORY_ALLOC);
	assert_int_equal(m->memory[0].bytes, 64);
	assert_int_equal(m->memory[0].device_id, 1);
	assert_int_equal(m->memory[0].memory_kind, GP_MEMORY_DEVICE);
	assert_int_equal(m->memory[0].other, 1);
	assert_int_equal(m->memory[1].op, GP_MEMORY_FREE);
	assert_true(gp_model_asked_bytes(m, &m->calls[2], &asked));
	assert_int_equal(asked, 4096);
	assert_int_equal(m->unknown & GP_UNKNOWN_ALLOCATIONS, 0);
	gp_model_free(m);
}

#define GATE(name, ts, reason)                                                                     \
	"{\"ph\":\"i\",\"cat\":\"gpuprof\",\"name\":\"" name "\",\"pid\":9,\"tid\":9,\"ts\":" ts   \
	",\"args\":{\"by\":\"" reason "\"}}"

/* As our own export has them. */
static void recorded_windows_and_losses_are_read(void **state)
{
	struct gp_model *m = load(
		"{\"metadata\":{\"slices left out\":0,\"start in ns\":2000,\"end in ns\":60000,\"kernels that --kernels excludes\":12,\"loss LOST_CUPTI\":7,\"a sentence that was reworded\":7,\"host\":\"n1\",\"command\":\"a 'b c'\",\"note 1\":\"x\",\"new\":[1]},\"traceEvents\":[" CALL(
			"9", "20", "1") "," GATE("recording on", "10",
						 "a signal") "," GATE("recording off", "30",
								      "new") "]}");

	assert_int_equal(m->gate_count, 2);
	assert_true(m->gates[0].on);
	assert_int_equal(m->gates[0].time_ns, 8000);
	assert_int_equal(m->gates[0].reason, GP_GATE_SIGNAL);
	assert_false(m->gates[1].on);
	assert_int_equal(m->gates[1].reason, 0);
	assert_int_equal(m->counters[GP_COUNTER_LEFT_OUT_KERNELS], 12);
	assert_int_equal(m->counters[GP_COUNTER_LOST_CUPTI], 7);
	assert_string_equal(m->info[GP_INFO_HOST], "n1");
	assert_string_equal(m->info[GP_INFO_COMMAND], "a 'b c'");
	assert_string_equal(m->notes[0], "x");
	assert_int_equal(m->end_ns, 58000);
	assert_int_equal(m->unknown & GP_UNKNOWN_STATUS, 0);
	gp_model_free(m);
}

#define T(name) cmocka_unit_test_setup_teardown(name, open_file, close_file)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(an_operation_at_any_time_has_times),
		T(times_keep_every_nanosecond),
		T(what_has_no_end_is_open_or_left_out),
		T(events_at_time_zero_are_left_out),
		T(wide_numbers_are_names),
		T(a_range_of_another_process_makes_no_second_one),
		T(a_byte_order_mark_is_skipped),
		T(a_bad_event_is_skipped),
		T(a_bad_event_is_skipped_wherever_it_lies),
		T(text_behind_the_events_loses_none),
		T(recorded_windows_and_losses_are_read),
		T(advice_does_not_rest_on_time_of_missing_work),
		T(the_only_device_is_that_of_the_operations),
		T(memory_belongs_to_the_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
