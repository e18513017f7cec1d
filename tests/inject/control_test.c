/*
 * control: when windows begin and end.  Each case runs in a child, because the options are read
 * once.
 */

#include "tests/unit.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/collector.h"
#include "collector/sys.h"
#include "inject/control.h"
#include "inject/options.h"
#include "inject/toggle_signal.h"

#define SECOND_NS 1000000000u
#define TENTH_NS  (SECOND_NS / (uint64_t)10)
#define NEVER     UINT64_MAX

static uint64_t start_ns;
static uint32_t next_id = 1;
static int wakes;

static void wake(void)
{
	wakes++;
}

static void with(char *const *environment)
{
	gp_options_read(environment);
	gp_api_table_init();
	gp_control_init();
	start_ns = gp_sys_now_ns();
	gp_control_begin(wake);
}

#define WITH(...) with((char *const[]){__VA_ARGS__, NULL})

static bool is_closed(void)
{
	return !gp_recording_gate_is_open();
}

static const struct gp_api_entry *entry_of(uint32_t cbid)
{
	return gp_api_table_find(false, cbid);
}

/* Makes a whole call.  Returns whether it is recorded. */
static bool call(uint32_t cbid, const char *symbol)
{
	CUpti_CallbackData data = {.correlationId = next_id++, .symbolName = symbol};
	bool admitted = gp_watch == 0 || gp_control_enter(entry_of(cbid), &data);

	if (gp_watch != 0)
		gp_control_exit(entry_of(cbid));
	return admitted;
}

static bool launch(void)
{
	return call(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, "_Z7k_emptyv");
}

static bool start(void)
{
	return call(CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000, NULL);
}

static bool stop(void)
{
	return call(CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000, NULL);
}

#define REQUIRE(condition)                                                                         \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static void without_options(void)
{
	WITH("GPUPROF_OUTPUT=x");
	REQUIRE(gp_watch == 0 && gp_recording_gate_is_open());
	REQUIRE(gp_control_pass(start_ns + SECOND_NS) == NEVER);
	REQUIRE(gp_control_wants_process() && gp_control_wants_kernel("k"));
}

static void attached(char *const *environment)
{
	gp_options_read(environment);
	gp_control_init_attached();
	gp_control_begin(wake);
	gp_control_attach();
}

#define ATTACHED(...) attached((char *const[]){__VA_ARGS__, NULL})

/* Options of an earlier attach do not hold any more. */
static void attach_and_detach(void)
{
	start_ns = gp_sys_now_ns();
	gp_api_table_init();
	ATTACHED("GPUPROF_LAUNCHES=2");
	REQUIRE(launch() && launch() && is_closed() && !launch());
	gp_control_detach();
	ATTACHED("GPUPROF_OUTPUT=x");
	REQUIRE(launch() && launch() && launch());
	gp_control_detach();
	REQUIRE(is_closed() && !launch());
	gp_control_switch(true);
	REQUIRE(is_closed());
	ATTACHED("GPUPROF_DELAY=300");
	REQUIRE(is_closed());
	gp_control_pass(gp_sys_now_ns() + 301 * (uint64_t)SECOND_NS);
	REQUIRE(launch());
}

static void delay_and_duration(void)
{
	const uint64_t delay_ns = 601 * (uint64_t)SECOND_NS / 2;
	uint64_t wait_ns;

	WITH("GPUPROF_DELAY=300.5", "GPUPROF_DURATION=1000");
	REQUIRE(is_closed());
	wait_ns = gp_control_pass(start_ns);
	REQUIRE(wait_ns > 0 && wait_ns <= delay_ns);
	REQUIRE(is_closed() && !launch());
	gp_control_pass(start_ns + delay_ns);
	REQUIRE(gp_recording_gate_is_open() && launch() && wakes == 1);
	/* the thousand seconds begin now */
	wait_ns = gp_control_pass(gp_sys_now_ns());
	REQUIRE(wait_ns > 900 * (uint64_t)SECOND_NS && wait_ns <= 1000 * (uint64_t)SECOND_NS);
	gp_control_pass(gp_sys_now_ns() + 1000 * (uint64_t)SECOND_NS);
	REQUIRE(is_closed() && !launch());
	gp_control_pass(gp_sys_now_ns() + 3000 * (uint64_t)SECOND_NS);
	REQUIRE(is_closed());
}

static void counted_launches(void)
{
	WITH("GPUPROF_AFTER_LAUNCHES=3", "GPUPROF_LAUNCHES=2");
	REQUIRE(gp_control_needs(entry_of(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000)));
	REQUIRE(!gp_control_needs(entry_of(CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020)));
	REQUIRE(!launch() && !launch() && !launch());
	REQUIRE(gp_recording_gate_is_open());
	REQUIRE(!gp_control_needs(entry_of(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000)));
	REQUIRE(launch() && gp_recording_gate_is_open() && launch());
	REQUIRE(is_closed() && !launch() && !launch());
}

static void profiler_ranges(void)
{
	WITH("GPUPROF_CAPTURE_RANGE=cudaProfilerApi", "GPUPROF_CAPTURE_REPEAT=2");
	REQUIRE(gp_control_needs(entry_of(CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000)));
	REQUIRE(!launch());
	for (int range = 0; range < 2; range++) {
		REQUIRE(!start() && launch() && stop() && !launch());
		REQUIRE(!stop());
	}
	REQUIRE(!start() && !launch() && is_closed());
}

static void profiler_ranges_after_others(void)
{
	WITH("GPUPROF_CAPTURE_RANGE=cudaProfilerApi", "GPUPROF_CAPTURE_SKIP=2",
	     "GPUPROF_CAPTURE_REPEAT=1");
	for (int range = 0; range < 5; range++) {
		start();
		REQUIRE(launch() == (range == 2));
		stop();
		REQUIRE(!launch());
	}
}

static void ranks_of_a_list(void)
{
	static const struct {
		const char *rank, *local_rank, *ranks;
		bool included;
	} cases[] = {
		{"3", "1", "GPUPROF_RANKS=0,2-4", true}, {"5", "1", "GPUPROF_RANKS=0,2-4", false},
		{"4", "0", "GPUPROF_RANKS=node", true},  {"5", "1", "GPUPROF_RANKS=node", false},
		{"5", NULL, "GPUPROF_RANKS=node", true}, {NULL, NULL, "GPUPROF_RANKS=0", true},
		{"7", "1", "GPUPROF_RANKS=", true},      {"7", "1", "GPUPROF_RANKS=0,", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsetenv("RANK");
		unsetenv("LOCAL_RANK");
		if (cases[i].rank != NULL)
			setenv("RANK", cases[i].rank, 1);
		if (cases[i].local_rank != NULL)
			setenv("LOCAL_RANK", cases[i].local_rank, 1);
		gp_options_read((char *const[]){(char *)(uintptr_t)cases[i].ranks, NULL});
		REQUIRE(gp_control_wants_process() == cases[i].included);
	}
}

/* A range that is already open counts once the delay is over. */
static void a_range_within_the_delay(void)
{
	WITH("GPUPROF_CAPTURE_RANGE=cudaProfilerApi", "GPUPROF_DELAY=1");
	start();
	stop();
	REQUIRE(is_closed());
	start();
	REQUIRE(is_closed());
	gp_control_pass(start_ns + SECOND_NS);
	REQUIRE(gp_recording_gate_is_open());
	stop();
	REQUIRE(is_closed());
	start();
	REQUIRE(gp_recording_gate_is_open());
}

static void so_many_launches_of_each_range(void)
{
	WITH("GPUPROF_CAPTURE_RANGE=cudaProfilerApi", "GPUPROF_LAUNCHES=2");
	for (int range = 0; range < 3; range++) {
		start();
		REQUIRE(launch() && launch() && !launch());
		stop();
	}
}

static void nvtx_ranges(void)
{
	WITH("GPUPROF_CAPTURE_RANGE=nvtx:step*@my@tool");
	REQUIRE(gp_control_wants_ranges() && is_closed());
	REQUIRE(gp_control_wants_range("step*@my", "tool"));
	REQUIRE(gp_control_wants_range("step 1@my", "tool"));
	REQUIRE(!gp_control_wants_range("step 1", "tool"));
	REQUIRE(!gp_control_wants_range("step@my", ""));
	gp_control_begin_range();
	gp_control_begin_range();
	gp_control_end_range();
	REQUIRE(gp_recording_gate_is_open());
	gp_control_end_range();
	REQUIRE(is_closed());
}

static void nvtx_ranges_of_any_domain(void)
{
	WITH("GPUPROF_CAPTURE_RANGE=nvtx:step");
	REQUIRE(gp_control_wants_range("step", "") && gp_control_wants_range("step", "tool"));
	REQUIRE(!gp_control_wants_range("steps", "tool"));
}

static void a_signal(void)
{
	WITH("GPUPROF_TOGGLE_SIGNAL=USR2");
	REQUIRE(is_closed() && !launch());
	raise(SIGUSR2);
	REQUIRE(wakes == 1 && is_closed());
	gp_control_pass(start_ns);
	REQUIRE(gp_recording_gate_is_open() && launch());
	raise(SIGUSR2);
	raise(SIGUSR2);
	gp_control_pass(start_ns);
	REQUIRE(gp_recording_gate_is_open());
	raise(SIGUSR2);
	gp_control_pass(start_ns);
	REQUIRE(is_closed());
}

static void ignore(int number)
{
	(void)number;
}

static void a_signal_that_the_program_handles(void)
{
	struct sigaction action;

	signal(SIGUSR1, ignore);
	REQUIRE(gp_toggle_signal_install("USR1", wake) < 0);
	REQUIRE(sigaction(SIGUSR1, NULL, &action) == 0 && action.sa_handler == ignore);
	REQUIRE(gp_toggle_signal_install("KILL", wake) < 0);
}

static void names_of_kernels(void)
{
	WITH("GPUPROF_KERNELS=k_*,!k_other", "GPUPROF_LAUNCHES=2");
	REQUIRE(launch());
	REQUIRE(!call(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, "_Z7k_otherv"));
	REQUIRE(!gp_control_wants_kernel("_Z7k_otherv") && gp_control_wants_kernel("k_"));
	/* that launch did not count */
	REQUIRE(launch() && !launch());
}

static void short_calls(void)
{
	WITH("GPUPROF_MIN_API_US=1000000000");
	REQUIRE(gp_control_keeps(GP_API_LAUNCH, false, 1));
	REQUIRE(gp_control_keeps(GP_API_SYNC, true, 1));
	REQUIRE(gp_control_keeps(GP_API_OTHER, false, UINT64_MAX));
	REQUIRE(gp_clock_ticks_per_second() == 0 || !gp_control_keeps(GP_API_SYNC, false, 1));
}

static void other_programs(void)
{
	WITH("GPUPROF_PROCESSES=python*,!control_*");
	REQUIRE(!gp_control_wants_process());
}

static void the_c_functions(void)
{
	WITH("GPUPROF_OUTPUT=x");
	gp_control_switch(false);
	REQUIRE(is_closed() && !launch());
	gp_control_switch(true);
	REQUIRE(gp_recording_gate_is_open() && launch());
}

/* The 10,000 calls cost 40 ms, which are 1 % of 4 s: the next window begins after 2 to 6 s. */
static void samples(void)
{
	uint64_t before_ns;

	WITH("GPUPROF_SAMPLE=1%", "GPUPROF_DURATION=1");
	REQUIRE(is_closed() && !launch());
	gp_control_pass(start_ns + 4 * TENTH_NS);
	REQUIRE(is_closed());
	before_ns = gp_sys_now_ns();
	gp_control_pass(gp_sys_now_ns() + 16 * TENTH_NS);
	REQUIRE(gp_recording_gate_is_open() && launch() && wakes == 1);
	for (int i = 0; i < 9999; i++)
		launch();
	gp_control_pass(gp_sys_now_ns() + 11 * TENTH_NS);
	REQUIRE(is_closed() &&
		!gp_control_needs(entry_of(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000)));
	gp_control_pass(before_ns + 19 * TENTH_NS);
	REQUIRE(is_closed());
	gp_control_pass(gp_sys_now_ns() + 61 * TENTH_NS);
	REQUIRE(gp_recording_gate_is_open() && launch());
}

static void sample_of_ranges(const char *duration)
{
	WITH("GPUPROF_SAMPLE=1%", "GPUPROF_CAPTURE_RANGE=nvtx:step", (char *)(uintptr_t)duration);
	gp_control_begin_range();
	gp_control_pass(gp_sys_now_ns() + 2 * (uint64_t)SECOND_NS);
	REQUIRE(is_closed());
	gp_control_end_range();
	gp_control_begin_range();
	REQUIRE(gp_recording_gate_is_open());
}

static void a_sample_ends_with_a_range(void)
{
	sample_of_ranges("GPUPROF_DURATION=0.000001");
	gp_control_pass(gp_sys_now_ns() + 10 * (uint64_t)SECOND_NS);
	REQUIRE(gp_recording_gate_is_open());
	gp_control_end_range();
	REQUIRE(is_closed());
	gp_control_begin_range();
	REQUIRE(is_closed());
}

static void a_sample_has_many_ranges(void)
{
	sample_of_ranges("GPUPROF_DURATION=1000");
	gp_control_end_range();
	gp_control_begin_range();
	gp_control_end_range();
	REQUIRE(gp_recording_gate_is_open() && launch());
	gp_control_pass(gp_sys_now_ns() + 1001 * (uint64_t)SECOND_NS);
	REQUIRE(is_closed());
}

/* It has 30 s more than its time. */
static void a_sample_of_a_range_without_an_end(void)
{
	sample_of_ranges("GPUPROF_DURATION=1000");
	gp_control_pass(start_ns + 1029 * (uint64_t)SECOND_NS);
	REQUIRE(gp_recording_gate_is_open());
	gp_control_pass(gp_sys_now_ns() + 1031 * (uint64_t)SECOND_NS);
	REQUIRE(is_closed());
}

static void (*const cases[])(void) = {
	without_options,
	delay_and_duration,
	counted_launches,
	profiler_ranges,
	attach_and_detach,
	profiler_ranges_after_others,
	a_range_within_the_delay,
	so_many_launches_of_each_range,
	nvtx_ranges,
	nvtx_ranges_of_any_domain,
	a_signal,
	a_signal_that_the_program_handles,
	names_of_kernels,
	short_calls,
	other_programs,
	ranks_of_a_list,
	the_c_functions,
	samples,
	a_sample_ends_with_a_range,
	a_sample_has_many_ranges,
	a_sample_of_a_range_without_an_end,
};

static void every_case(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int status;
		pid_t child = fork();

		if (child == 0) {
			cases[i]();
			_exit(0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		if (status != 0)
			fail_msg("case %zu", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_case)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
