#include "inject/hw_collector.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "collector/atomic.h"
#include "collector/collector.h"
#include "collector/profiler_threads.h"
#include "collector/sys.h"
#include "gpuprof/count.h"
#include "inject/callbacks.h"
#include "inject/dlsym.h"
#include "inject/error_text.h"
#include "inject/log.h"
#include "inject/options.h"

#define STACK_BYTES    (8u << 20) /* CUPTI sets up the hardware and decodes on it */
#define END_MOST_NS    5000000000u
#define SERVE_MOST_NS  5000000000u /* a callback waits so long for the thread */
#define FIRST_RETRY_NS 1000000000u
#define LAST_RETRY_NS  60000000000u

static const struct gp_hw_collector *const collectors[] = {
	&gp_hw_sampler, &gp_stall_sampler, &gp_counter_windows, &gp_roofline_windows};

static struct {
	const struct gp_cupti *cupti;
	const struct gp_hw_collector *collector;
	uint32_t is_decided; /* the first context has started the thread, or has not */
	uint32_t has_begun, is_set_up, finish, finished;
	uint32_t requests; /* changes of contexts; the thread sleeps on it */
	uint32_t served;   /* of these */
	bool is_started;
	uint32_t process; /* which has the thread: not a forked child */
	uint64_t exit_deadline_ns;
} state;

/* ---- notes ---- */

void gp_hw_note(const char *format, ...)
{
	char text[1280];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	gp_log("%s", text);
	gp_emit_info(GP_INFO_NOTE, text);
}

/* none: "no", or "no more" if it had samples before. */
static void note_result(uint16_t device_id, int result, const char *none)
{
	const char *name = NULL, *samples = state.collector->samples;

	if (result == GP_HW_FORBIDDEN) {
		gp_hw_note(
			"%s %s of GPU %u: the driver lets only administrators read performance counters; run as root or with CAP_SYS_ADMIN (containers: --cap-add=SYS_ADMIN), or let an administrator load the nvidia module with NVreg_RestrictProfilingToAdminUsers=0",
			none, samples, device_id);
		return;
	}
	if (result == GP_HW_OTHER_CHIP) {
		gp_hw_note(
			"%s %s from here on: GPU %u has another chip than the GPU for which the metrics were chosen; record its work in a run of its own (CUDA_VISIBLE_DEVICES)",
			none, samples, device_id);
		return;
	}
	state.cupti->cuptiGetResultString((CUptiResult)result, &name);
	gp_hw_note("%s %s of GPU %u: CUPTI cannot read its counters (%s)", none, samples, device_id,
		   name != NULL ? name : "unknown error");
}

/* Why the collector cannot start at all: -errno. */
static void note_start(int error)
{
	const struct gp_hw_collector *collector = state.collector;

	if (error == -ENOSYS)
		gp_hw_note(
			"no %s: they need CUPTI %s or newer, and %s is older; name another one with --cupti or GPUPROF_CUPTI",
			collector->samples, collector->oldest, state.cupti->path);
	else if (error == -ENOENT)
		gp_hw_note(
			"no %s: libnvperf_host.so is missing beside %s; install the CUPTI package of the CUDA Toolkit",
			collector->samples, state.cupti->path);
	else if (error == -ENOTSUP)
		gp_hw_note(
			"no %s: the program has a sanitizer's runtime, which would end it when CUPTI's profiler is loaded; build without -fsanitize",
			collector->samples);
	else
		gp_hw_note("no %s: CUPTI's profiler cannot start in this process: %s",
			   collector->samples, gp_error_text(-error));
}

/* ---- functions ---- */

int gp_hw_find_functions(void *libcupti, const char *const *symbols, void **functions, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		functions[i] = gp_dlsym(libcupti, symbols[i]);
		if (functions[i] == NULL)
			return -ENOSYS;
	}
	return 0;
}

/* ---- tries ---- */

bool gp_hw_try_is_due(const struct gp_hw_try *try)
{
	return !try->is_given_up && gp_sys_now_ns() >= try->next_ns;
}

void gp_hw_give_up(struct gp_hw_try *try, uint16_t device_id, int result)
{
	note_result(device_id, result, "no more");
	try->is_given_up = true;
}

static void note_busy(uint16_t device_id)
{
	bool again = state.collector->tries_again;

	gp_hw_note(
		"no %s of GPU %u%s: another process, such as a profiler, uses its performance counters (dcgmi profile --pause frees those of DCGM)%s",
		state.collector->samples, device_id, again ? " yet" : "",
		again ? "; gpuprof tries again" : "");
}

/* Later: 1, 2, 4, ... 60 s from now. */
static void delay(struct gp_hw_try *try)
{
	uint64_t next_ns = try->delay_ns == 0 ? FIRST_RETRY_NS : 2 * try->delay_ns;

	try->is_given_up = !state.collector->tries_again;
	try->delay_ns = next_ns < LAST_RETRY_NS ? next_ns : LAST_RETRY_NS;
	try->next_ns = gp_sys_now_ns() + try->delay_ns;
}

bool gp_hw_try_took(struct gp_hw_try *try, uint16_t device_id, int result)
{
	if (try->delay_ns == 0 || result != GP_HW_BUSY)
		gp_hw_stay_before_others();
	if (result == GP_HW_BUSY) {
		if (try->delay_ns == 0)
			note_busy(device_id);
		delay(try);
	} else if (result != 0) {
		note_result(device_id, result, "no");
		try->is_given_up = true;
	}
	return result == 0;
}

/* ---- the end ---- */

/* All handlers together wait once. */
static void end_before_others(void)
{
	gp_hw_collector_finish();
	gp_replace64(&state.exit_deadline_ns, 0, gp_sys_now_ns() + END_MOST_NS);
	gp_hw_collector_await(gp_load64(&state.exit_deadline_ns));
}

void gp_hw_stay_before_others(void)
{
	atexit(end_before_others);
}

static void end_of_main_thread(void *unused)
{
	(void)unused;
	end_before_others();
}

/*
 * While the counters are set up, destructors of libraries are registered that no handler of ours
 * precedes yet.  exit() runs the destructors of its thread's variables before all handlers: ours is
 * one of the main thread.  False: this is another thread, or the C library has no such function.
 */
static bool ends_with_main_thread(void)
{
	int (*add)(void (*destructor)(void *), void *object, void *library) = (int (*)(
		void (*)(void *), void *, void *))gp_dlsym_in_libc("__cxa_thread_atexit_impl", 0);

	return add != NULL && gp_sys_thread_id() == gp_sys_process_id() &&
	       add(end_of_main_thread, NULL, &state) == 0;
}

/* ---- the thread ---- */

static void serve(void)
{
	uint32_t requests = gp_load32_acquire(&state.requests);

	state.collector->serve();
	gp_count_set(state.collector->time_counter, gp_sys_own_time_ns());
	gp_store32_release(&state.is_set_up, 1);
	gp_sys_wake(&state.is_set_up);
	gp_store32_release(&state.served, requests);
	gp_sys_wake(&state.served);
}

/* Until the period ends, or there is a request. */
static void rest(uint64_t until_ns)
{
	uint64_t now_ns = gp_sys_now_ns();
	uint32_t served = gp_load32(&state.served);

	if (now_ns < until_ns && gp_load32_acquire(&state.finish) == 0)
		gp_sys_wait(&state.requests, served, until_ns - now_ns);
}

static void *collecting_thread(void *unused)
{
	(void)unused;
	gp_profiler_thread_begin();
	gp_sys_set_thread_name("gpuprof-hw");
	gp_callbacks_exclude_thread(true);
	gp_emit_always_waits();
	gp_store32_release(&state.has_begun, 1);
	gp_sys_wake(&state.has_begun);
	while (gp_load32_acquire(&state.finish) == 0) {
		uint64_t until_ns = gp_sys_now_ns() + GP_HW_PERIOD_NS;

		serve();
		rest(until_ns);
	}
	state.collector->fetch_last();
	gp_count_set(state.collector->time_counter, gp_sys_own_time_ns());
	gp_profiler_thread_end();
	gp_store32_release(&state.finished, 1);
	gp_sys_wake(&state.finished);
	gp_store32_release(&state.served, gp_load32(&state.requests));
	gp_sys_wake(&state.served);
	return NULL;
}

static void request(void)
{
	gp_add32_ordered(&state.requests, 1);
	gp_sys_wake(&state.requests);
}

static bool is_own_thread_there(void)
{
	return state.is_started && state.process == gp_sys_process_id();
}

/* Until the word has changed to the value or beyond, at most until the deadline. */
static void await(uint32_t *word, uint32_t value, uint64_t deadline_ns)
{
	uint64_t now_ns = gp_sys_now_ns();
	uint32_t seen;

	while ((int32_t)((seen = gp_load32_acquire(word)) - value) < 0 && now_ns < deadline_ns &&
	       gp_load32_acquire(&state.finished) == 0) {
		gp_sys_wait(word, seen, deadline_ns - now_ns);
		now_ns = gp_sys_now_ns();
	}
}

static void await_served(uint64_t deadline_ns)
{
	if (is_own_thread_there())
		await(&state.served, gp_load32(&state.requests), deadline_ns);
}

static void await_service(uint64_t deadline_ns)
{
	if (is_own_thread_there() && state.collector->is_awaited)
		await_served(deadline_ns);
}

void gp_hw_collector_serve(void)
{
	request();
	await_served(gp_sys_now_ns() + SERVE_MOST_NS);
}

/* ---- the session ---- */

/* The collector that an option asks for; NULL: none, or several. */
static const struct gp_hw_collector *chosen(void)
{
	const struct gp_hw_collector *found = NULL;

	for (size_t i = 0; i < COUNT(collectors); i++) {
		if (gp_option_is(collectors[i]->option, "0"))
			continue;
		if (found != NULL)
			return NULL;
		found = collectors[i];
	}
	return found;
}

bool gp_hw_collector_is(const struct gp_hw_collector *collector)
{
	return chosen() == collector;
}

void gp_hw_collector_context_begins(CUcontext context, uint16_t device_id)
{
	const struct gp_hw_collector *collector = chosen();

	if (collector == NULL)
		return;
	collector->context_begins(context, device_id);
	request();
}

void gp_hw_collector_await_context(bool is_first)
{
	const struct gp_hw_collector *collector = chosen();
	uint64_t start_ns = gp_sys_now_ns(), deadline_ns = start_ns + SERVE_MOST_NS;

	if (is_first) {
		gp_store32_release(&state.is_decided, 1);
		gp_sys_wake(&state.is_decided);
	}
	if (collector == NULL || !collector->is_awaited)
		return;
	await(&state.is_decided, 1, deadline_ns);
	await_service(deadline_ns);
	gp_count(GP_COUNTER_HW_SETUP_NS, gp_sys_now_ns() - start_ns);
}

void gp_hw_collector_context_ends(CUcontext context)
{
	if (!is_own_thread_there() || state.collector->context_ends == NULL)
		return;
	state.collector->context_ends(context);
	request();
	await_service(gp_sys_now_ns() + SERVE_MOST_NS);
}

static void note_clash(void)
{
	const char *values[GP_OPTIONS];
	enum gp_option clash[2];

	for (int i = 0; i < GP_OPTIONS; i++)
		values[i] = gp_option_text((enum gp_option)i);
	if (gp_option_collectors_clash(values, clash))
		gp_hw_note(GP_OPTION_CLASH, gp_option_rows[clash[0]].long_name,
			   gp_option_rows[clash[1]].long_name);
}

void gp_hw_collector_start(const struct gp_cupti *cupti)
{
	uint64_t start_ns = gp_sys_now_ns();
	void *libcupti;
	pthread_t thread;
	int error;

	if (!gp_collector_is_live())
		return;
	state.collector = chosen();
	if (state.collector == NULL) {
		note_clash();
		return;
	}
	state.cupti = cupti;
	state.process = gp_sys_process_id();
	libcupti = dlopen(cupti->path, RTLD_NOW | RTLD_NOLOAD);
	error = libcupti != NULL ? state.collector->open(cupti, libcupti) : -ENOSYS;
	if (error == 0)
		error = gp_sys_thread_with_stack(&thread, STACK_BYTES, collecting_thread);
	if (error != 0) {
		note_start(error);
		return;
	}
	pthread_detach(thread);
	state.is_started = true;
	/* else the program must not end before the counters are set up: this thread waits for it */
	gp_profiler_thread_await_start(ends_with_main_thread() ? &state.has_begun
							       : &state.is_set_up);
	gp_count(GP_COUNTER_HW_SETUP_NS, gp_sys_now_ns() - start_ns);
}

void gp_hw_collector_finish(void)
{
	gp_store32_release(&state.finish, 1);
	request();
}

void gp_hw_collector_await(uint64_t deadline_ns)
{
	if (is_own_thread_there())
		await(&state.finished, 1, deadline_ns);
}
