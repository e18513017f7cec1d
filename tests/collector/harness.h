/*
 * harness: for the collector's tests.  A process has one collector for life, so that each case runs
 * in a child of its own, which ends by a signal or a status other than 0 where a CHECK fails.
 */
#ifndef TESTS_COLLECTOR_HARNESS_H
#define TESTS_COLLECTOR_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "collector/collector.h"
#include "tests/lib/case_folder.h"
#include "tests/lib/sanitizer.h"

#define LONG_NS 20000000000ull /* never reached where things work */

/* Run a case in a child with a folder of its own.  What it puts into gp_sys stays there: a collector that has stopped does
 * not wait for the last call of its writer. */
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

/* The process is killed then, whatever it is at. */
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
	struct gp_collector_config config = {.trace_path = in_folder("t"), .ring_place = place};

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

/* On a machine so busy that the writer does not get to run, a record is dropped after a while; then
 * again. */
static inline void emit_call_surely(uint32_t number)
{
	while (!emit_call(number))
		;
}

/* Likewise; returns how often it was tried. */
static inline uint32_t emit_kernel_name_surely(uint32_t id, const char *name, uint32_t length_bytes)
{
	uint32_t tries = 1;

	while (!gp_emit_string(GP_STRING_KERNEL, id, 0, name, length_bytes))
		tries++;
	return tries;
}

#endif
