/*
 * harness: runs the collector's test cases.  A process has one collector for life, so each case
 * runs in its own child, which ends by a signal or a nonzero status if a CHECK fails.
 */
#ifndef TESTS_COLLECTOR_HARNESS_H
#define TESTS_COLLECTOR_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "collector/collector.h"
#include "tests/lib/case_folder.h"
#include "tests/lib/sanitizer.h"

#define LONG_NS 20000000000ull /* a limit for hanging tests */

/*
 * Run a case in a child with its own folder.  Its replacements in gp_sys stay: a stopped collector
 * does not wait for its writer's last call.
 */
static inline void run_case(void (*body)(void))
{
	int status;
	pid_t child;

	case_folder = new_folder();
	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (status == 0)
		remove_folder(case_folder);
	assert_int_equal(status, 0);
}

static inline void remove_ring_files(pid_t child)
{
	char pattern[64];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "/dev/shm/gpuprof-*-%d-*", (int)child);
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			unlink(found.gl_pathv[i]);
	globfree(&found);
}

/* Kill this process after `us`, in any state. */
static inline void die_in(uint32_t us)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
	struct itimerspec when = {.it_value = {us / 1000000, us % 1000000 * 1000l + 1}};
	timer_t timer;

	CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	CHECK(timer_settime(timer, 0, &when, NULL) == 0);
}

static inline void start_in(enum gp_ring_place place)
{
	struct gp_collector_config config = {
		.trace_path = in_folder("t"), .ring_place = place, .session = "gpuprof-run-x"};

	CHECK(gp_collector_start(&config) == 0);
}

static inline bool emit_call(uint32_t number)
{
	struct gp_record_call call = {.kind = GP_RECORD_CALL,
				      .slots = 1,
				      .api = 7,
				      .correlation_id = number,
				      .start_ticks = gp_clock_ticks(),
				      .duration_low_ticks = 10};

	return gp_emit((const struct gp_record *)&call);
}

/*
 * Retries until the record is accepted: on a very busy machine the writer does not run in time, and
 * a record is dropped.
 */
static inline void emit_call_surely(uint32_t number)
{
	while (!emit_call(number))
		;
}

/* The same; returns the number of attempts. */
static inline uint32_t emit_kernel_name_surely(uint32_t id, const char *name, uint32_t length_bytes)
{
	uint32_t tries = 1;

	while (!gp_emit_string(GP_STRING_KERNEL, id, 0, name, length_bytes))
		tries++;
	return tries;
}

#endif
