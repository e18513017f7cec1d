/* The samples that are read from a trace's calls of Python functions: their times and stacks. */
#include <stdlib.h>

#include "tests/report/import/kineto_file.h"
#include "report/analysis/host/host_place.h"
#include "report/analysis/host/python_samples.h"
#include "report/base/tally.h"
#include "report/symbols/python_code.h"
#include "report/tables/host_work.h"

#define INTERVAL_NS 100000u

#define F(name, tid, ts, dur)                                                                      \
	"{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"" name "\",\"pid\":9,\"tid\":" tid   \
	",\"ts\":" ts ",\"dur\":" dur "}"

static const char *name_of(const struct gp_model *m, uint32_t frame)
{
	const struct gp_text *text = &m->texts[m->frames[frame].origin];
	struct gp_python_code code;

	assert_true(gp_python_code_read(text->bytes, text->length, &code));
	return code.name;
}

/* A program of 10 ms that waits for data from 1 to 5 ms, from 2 to 3 ms of it in a C function. */
#define PROGRAM                                                                                    \
	F("train.py(7): main", "5", "0", "10000")                                                  \
	"," F("dataset.py(33): __getitem__", "5", "1000", "4000") "," F(                           \
		"<built-in method read of Reader object at 0x7ed6e00c62a0>", "5", "2000", "1000")

static void each_stack_has_the_samples_of_its_time(void **state)
{
	static const struct {
		const char *innermost;
		uint32_t depth, count;
	} expected[] = {{"main", 1, 10},
			{"__getitem__", 2, 10},
			{"<built-in method read>", 3, 10},
			{"__getitem__", 2, 20},
			{"main", 1, 50}};
	struct gp_model *m = load(EVENTS(PROGRAM));
	uint64_t next_ns = m->samples[0].start_ns;

	assert_int_equal(m->function_interval_ns, INTERVAL_NS);
	assert_int_equal(m->sample_count, 5);
	for (uint32_t i = 0; i < 5; i++) {
		const struct gp_sample *sample = &m->samples[i];
		uint32_t depth = 0;

		assert_int_equal(sample->thread_id, 5);
		assert_int_equal(sample->start_ns, next_ns);
		assert_int_equal(sample->count, expected[i].count);
		assert_int_equal(sample->end_ns - sample->start_ns,
				 (sample->count - 1) * INTERVAL_NS);
		assert_string_equal(name_of(m, sample->stack), expected[i].innermost);
		for (uint32_t at = sample->stack; at != GP_NONE; at = m->frames[at].parent)
			depth++;
		assert_int_equal(depth, expected[i].depth);
		next_ns = sample->end_ns + INTERVAL_NS;
	}
	assert_int_equal(m->losses.unknown_records, 0);
	assert_non_null(strstr(m->notes[m->note_count - 1], "every 100.0us"));
	gp_model_free(m);
}

/* Calls that are shorter than the distance of samples have their share. */
static void short_calls_have_their_share(void **state)
{
	static char text[1 << 18];
	size_t used = (size_t)snprintf(text, sizeof(text), "{\"traceEvents\":[");
	uint32_t counts[2] = {0};
	struct gp_model *m;

	for (int i = 0; i < 1000; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 F("a.py(1): a", "5", "%d.%03d", "9.007") "," F(
						 "a.py(9): b", "5", "%d.%03d", "3.003") "%s",
					 i * 1201 / 100, i * 1201 % 100 * 10,
					 (i * 1201 + 900) / 100, (i * 1201 + 900) % 100 * 10,
					 i < 999 ? "," : "]}");
	m = load(text);
	for (uint32_t i = 0; i < m->sample_count; i++)
		counts[*name_of(m, m->samples[i].stack) - 'a'] += m->samples[i].count;
	assert_in_range(counts[0] + counts[1], 119, 121);
	assert_in_range(counts[0], 85, 95); /* 90 of 120 */
	gp_model_free(m);
}

static void time_in_no_function_has_no_work(void **state)
{
	struct gp_model *m = load(EVENTS(F("a.py(1): a", "5", "0", "1000") "," F(
		"a.py(1): a", "5", "21000", "1000") "," F("b.py(1): b", "6", "500", "300")));
	uint64_t ns[2] = {0};

	assert_int_equal(m->sample_count, 3); /* equal stacks are one only if they follow */
	for (uint32_t i = 0; i < m->sample_count; i++) {
		struct gp_sample_time time = gp_python_sample_time(m, i);

		ns[m->samples[i].thread_id - 5] += time.end_ns - time.start_ns;
	}
	assert_in_range(ns[0], 1800000, 2000000);
	assert_in_range(ns[1], 200000, 300000);
	assert_false(gp_python_sample_follows(m, 1));
	gp_model_free(m);
}

/* As a length of -1 is, or one that a profiler made of it in unsigned numbers. */
static void functions_without_an_end_end_with_their_caller(void **state)
{
	struct gp_model *m = load(EVENTS(
		F("a.py(1): a", "5", "0", "2000") "," F("a.py(2): open", "5", "1000", "-1") "," F(
			"a.py(3): root", "6", "0",
			"18446744073709551") "," X("cuda_runtime", "cudaDeviceSynchronize",
						   HOST("2900", "100"))));

	assert_int_equal(m->sample_count, 3);
	assert_string_equal(name_of(m, m->samples[1].stack), "open");
	assert_int_equal(m->samples[1].count, 10);
	assert_string_equal(name_of(m, m->samples[2].stack), "root");
	assert_int_equal(m->samples[2].count, 30);
	gp_model_free(m);
}

/* The time of the lines, without that of recorded calls; waiting is seen through C functions. */
static void host_work_is_known_by_line(void **state)
{
	struct gp_model *m =
		load(EVENTS(PROGRAM "," F("threading.py(323): wait", "6", "0", "10000") "," F(
			"<built-in method acquire of _thread.lock object at 0x7ce2864e5ac0>", "6",
			"100", "9000") "," X("cuda_runtime", "cudaDeviceSynchronize",
					     HOST("6000", "3000"))));
	struct gp_host_places *places = gp_host_places_new();
	struct gp_tally tally = {0};
	struct gp_host_window window = {
		&tally, 1, places, m, 0, 1000000000, GP_HOST_TIMES_OUTSIDE_CALLS};
	struct gp_host_function *functions;
	struct gp_host_place place;
	uint32_t count;

	assert_true(gp_host_work_add(&window, 5));
	functions = gp_host_work_lines(&tally, 1, places, &count);
	assert_int_equal(count, 2);
	place = gp_host_places_at(places, functions[0].place);
	assert_string_equal(place.own, "__getitem__ (dataset.py:33)");
	assert_in_range(functions[0].total_ns, 3900000, 4100000);
	assert_int_equal(functions[0].stayed_ns, 0); /* its instruction is not known */
	place = gp_host_places_at(places, functions[1].place);
	assert_string_equal(place.own, "main (train.py:7)");
	assert_in_range(functions[1].total_ns, 2900000, 3100000);
	free(functions);
	window.sum = 2;
	assert_true(gp_host_work_add(&window, 6));
	functions = gp_host_work_lines(&tally, 2, places, &count);
	place = gp_host_places_at(places, functions[0].place);
	assert_true(gp_host_place_waits(&place));
	assert_true(gp_host_place_waits_for_thread(&place));
	free(functions);
	gp_tally_free(&tally);
	gp_host_places_free(places);
	gp_model_free(m);
}

/* An export has the stacks as samples, and says where they are from. */
static void exports_keep_the_interval(void **state)
{
	struct gp_model *m =
		load("{\"metadata\":{\"slices left out\":0,\"recorder\":\"torch.profiler\","
		     "\"Python stacks are read every ns\":100000},\"traceEvents\":[" X(
			     "cuda_runtime", "cudaDeviceSynchronize", HOST("0", "1")) "]}");

	assert_int_equal(m->function_interval_ns, INTERVAL_NS);
	assert_string_equal(gp_python_sample_name(m), "Python stack");
	gp_model_free(m);
	m = load(EVENTS(X("cuda_runtime", "cudaDeviceSynchronize", HOST("0", "1"))));
	assert_int_equal(m->function_interval_ns, 0);
	assert_string_equal(gp_python_sample_name(m), "Python sample");
	gp_model_free(m);
}

#define T(name) cmocka_unit_test_setup_teardown(name, open_file, close_file)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(each_stack_has_the_samples_of_its_time),
		T(short_calls_have_their_share),
		T(time_in_no_function_has_no_work),
		T(functions_without_an_end_end_with_their_caller),
		T(host_work_is_known_by_line),
		T(exports_keep_the_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
