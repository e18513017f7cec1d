/*
 * counter_windows: launches that return late or never, and the end of the measured context, while no
 * thread, or another one, has the lock.
 * Functions of kernel_counters are replaced (tests/tests.mk): no CUPTI.
 */
#include "tests/unit.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "collector/atomic.h"
#include "inject/counter_windows.h"
#include "inject/hw_collector.h"
#include "inject/kernel_counters.h"
#include "inject/options.h"
#include "inject/recording_gate.h"
#include "inject/thread_stack.h"

#define CONTEXT(number) ((CUcontext)(uintptr_t)(0x1000 * (number)))

static struct {
	uint32_t begun, forgotten; /* calls */
	uint64_t context;          /* of the last one */
	bool is_held;              /* the end of a session waits for `go_on` */
	sem_t is_ending, go_on;
} counters;

int __wrap_gp_kernel_counters_open(void *libcupti);
int __wrap_gp_kernel_counters_choose(uint16_t device_id, uint32_t *passes);
int __wrap_gp_kernel_counters_begin(uint32_t pass, uint64_t context, uint16_t device_id);
int __wrap_gp_kernel_counters_end(size_t *ranges);
void __wrap_gp_kernel_counters_forget(void);

int __wrap_gp_kernel_counters_open(void *libcupti)
{
	return 0;
}

int __wrap_gp_kernel_counters_choose(uint16_t device_id, uint32_t *passes)
{
	*passes = 1;
	return 0;
}

int __wrap_gp_kernel_counters_begin(uint32_t pass, uint64_t context, uint16_t device_id)
{
	counters.begun++;
	counters.context = context;
	return 0;
}

int __wrap_gp_kernel_counters_end(size_t *ranges)
{
	if (counters.is_held) {
		sem_post(&counters.is_ending);
		sem_wait(&counters.go_on);
	}
	*ranges = 0;
	return 0;
}

void __wrap_gp_kernel_counters_forget(void)
{
	gp_add32(&counters.forgotten, 1);
}

static int begin(void **state)
{
	char *const options[] = {(char *)(uintptr_t) "GPUPROF_COUNTERS_INTERVAL=0", NULL};

	gp_options_read(options);
	gp_thread_stack_find();
	gp_recording_gate_init(true);
	sem_init(&counters.is_ending, 0, 0);
	sem_init(&counters.go_on, 0, 0);
	return gp_counter_windows.open(NULL, NULL);
}

struct call {
	struct gp_api_entry entry;
	CUpti_CallbackData data;
};

static struct call enter(struct gp_counter_launch *launch, enum gp_api_class class,
			 CUcontext context)
{
	static uint32_t correlation_id;
	struct call call = {
		.entry = {.class = (uint8_t) class},
		.data = {.context = context, .correlationId = gp_add32(&correlation_id, 1) + 1}};

	gp_counter_windows_enter(launch, &call.entry, &call.data, UINT64_MAX);
	return call;
}

static void leave(struct gp_counter_launch *launch, const struct call *call)
{
	gp_counter_windows_exit(launch, &call->entry, &call->data,
				call->entry.class == GP_API_LAUNCH);
}

/* A launch that succeeds, or another call. */
static void call(enum gp_api_class class, CUcontext context)
{
	struct gp_counter_launch launch = {false, false};
	struct call call = enter(&launch, class, context);

	leave(&launch, &call);
}

static void begin_context(CUcontext context)
{
	gp_counter_windows.context_begins(context, 0);
	gp_counter_windows.serve();
}

/* A window is open. */
static void a_context_ends(void **state)
{
	begin_context(CONTEXT(1));
	call(GP_API_LAUNCH, CONTEXT(1));
	call(GP_API_LAUNCH, CONTEXT(1));
	assert_int_equal(counters.begun, 1);
	gp_counter_windows.context_ends(CONTEXT(2)); /* another one */
	assert_int_equal(counters.forgotten, 0);
	gp_counter_windows.context_ends(CONTEXT(1));
	assert_int_equal(counters.forgotten, 1);
	begin_context(CONTEXT(2));
	call(GP_API_LAUNCH, CONTEXT(2));
	assert_int_equal(counters.begun, 2);
	assert_int_equal(counters.context, (uint64_t)(uintptr_t)CONTEXT(2));
}

/*
 * Runs after that, and in its window.  While it is open, CUPTI must not be switched off: else the
 * end of a launch that has the lock would not be seen.
 */
static void recording_pauses_during_a_launch(void **state)
{
	struct gp_counter_launch launch = {false, false};
	struct call long_call = enter(&launch, GP_API_LAUNCH, CONTEXT(2));

	assert_true(launch.has_lock);
	gp_recording_gate_set(false, GP_GATE_API);
	gp_counter_windows.serve(); /* has no lock to close the window */
	assert_true(gp_watch & GP_WATCH_WINDOW);
	leave(&launch, &long_call);
	assert_false(launch.has_lock);
	call(GP_API_CONTROL, CONTEXT(2));
	assert_false(gp_watch & GP_WATCH_WINDOW);
	gp_recording_gate_set(true, GP_GATE_API);
	call(GP_API_LAUNCH, CONTEXT(2));
	assert_int_equal(counters.begun, 3);
}

/* By longjmp().  Its next launch closes the window, and opens another one at its end. */
static void a_thread_leaves_a_launch(void **state)
{
	struct gp_counter_launch launch = {false, false};
	struct call next;

	enter(&launch, GP_API_LAUNCH, CONTEXT(2));
	assert_true(launch.has_lock);
	next = enter(&launch, GP_API_LAUNCH, CONTEXT(2));
	assert_false(launch.has_lock);
	assert_false(gp_watch & GP_WATCH_WINDOW);
	leave(&launch, &next);
	assert_int_equal(counters.begun, 4);
	call(GP_API_LAUNCH, CONTEXT(2));
	assert_true(gp_watch & GP_WATCH_WINDOW);
}

static void *close_window(void *unused)
{
	call(GP_API_CONTROL, CONTEXT(2));
	return unused;
}

/*
 * Runs after that, and in its window.  CUPTI uses the object, so it is not forgotten, and no window
 * opens after it, also if a new context has the address of the old one.
 */
static void a_context_ends_while_another_thread_closes_its_window(void **state)
{
	pthread_t thread;

	counters.is_held = true;
	pthread_create(&thread, NULL, close_window, NULL);
	sem_wait(&counters.is_ending);
	gp_counter_windows.context_ends(CONTEXT(2)); /* waits for a second */
	assert_int_equal(gp_load32(&counters.forgotten), 1);
	begin_context(CONTEXT(2));
	sem_post(&counters.go_on);
	pthread_join(thread, NULL);
	call(GP_API_LAUNCH, CONTEXT(2));
	gp_counter_windows.serve();
	gp_counter_windows.fetch_last();
	assert_int_equal(counters.forgotten, 1);
	assert_int_equal(counters.begun, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_context_ends),
		cmocka_unit_test(recording_pauses_during_a_launch),
		cmocka_unit_test(a_thread_leaves_a_launch),
		cmocka_unit_test(a_context_ends_while_another_thread_closes_its_window),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
