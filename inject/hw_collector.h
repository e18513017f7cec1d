/*
 * hw_collector: the thread of the one collector that uses the GPUs' performance counters.
 *
 * A GPU's counters serve one collector at a time, so a run has at most one.  It is a row of the
 * table in hw_collector.c, chosen by its option; its functions run on a thread of their own, ten
 * times a second.  Whatever fails, the rest of the recording goes on, and one line and a note in
 * the trace say what failed.
 */
#ifndef INJECT_HW_COLLECTOR_H
#define INJECT_HW_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprof/counter.h"
#include "gpuprof/option.h"
#include "inject/cupti_library.h"

#define GP_HW_PERIOD_NS 100000000u

struct gp_hw_collector {
	enum gp_option option;
	const char *samples; /* in notes: "hardware samples" */
	const char *oldest;  /* the first CUPTI that has the functions: "12.6" */
	enum gp_counter time_counter;
	/*
	 * Find and load what is needed.  On the program's thread that creates the first context,
	 * before our exit handlers are registered.  -ENOSYS: libcupti lacks a function; -ENOENT: a
	 * library is missing; -ENOTSUP: the program has a sanitizer's runtime; or another -errno.
	 */
	int (*open)(const struct gp_cupti *cupti, void *libcupti);
	/* On the collector's thread: every GP_HW_PERIOD_NS, and after each change of contexts. */
	void (*serve)(void);
	/* On that thread, while the program ends. */
	void (*fetch_last)(void);
	/* The process has a context on this device, or destroys it.  Any thread, also early. */
	void (*context_begins)(CUcontext context, uint16_t device_id);
	void (*context_ends)(CUcontext context);
	/* a context must be served before the program uses it, and before it is destroyed */
	bool is_awaited;
	bool tries_again; /* if another process uses the counters */
};

extern const struct gp_hw_collector gp_hw_sampler, gp_stall_sampler, gp_counter_windows,
	gp_roofline_windows;

/* ---- for the session ---- */

/*
 * In CUPTI's callbacks.  The second one waits until the context is served; is_first: of the context
 * that has started the recording, for which the threads of others wait, too.
 */
void gp_hw_collector_context_begins(CUcontext context, uint16_t device_id);
void gp_hw_collector_await_context(bool is_first);
void gp_hw_collector_context_ends(CUcontext context);

/* Start the thread if an option asks for a collector, and there is a trace. */
void gp_hw_collector_start(const struct gp_cupti *cupti);

/* Ask the thread to fetch its last samples and to end. */
void gp_hw_collector_finish(void);

/* Wait for that, until the deadline (gp_sys_now_ns()).  A thread that is late is left alone. */
void gp_hw_collector_await(uint64_t deadline_ns);

/* Whether an option asks for this collector, and for no other one. */
bool gp_hw_collector_is(const struct gp_hw_collector *collector);

/* ---- for the collectors ---- */

/* Let the thread serve now, and wait for that, at most 5 s.  On a thread of the program. */
void gp_hw_collector_serve(void);

/* Find all these functions of libcupti.  Returns 0 or -ENOSYS. */
int gp_hw_find_functions(void *libcupti, const char *const *symbols, void **functions,
			 size_t count);

/* Say it on standard error and in the trace. */
void gp_hw_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A device whose counters another process uses may be tried again after 1, 2, 4, ... 60 s. */
struct gp_hw_try {
	uint64_t next_ns, delay_ns; /* 0: not tried yet */
	bool is_given_up;
};

bool gp_hw_try_is_due(const struct gp_hw_try *try);

/* After a try: says why it failed, once.  Returns whether it succeeded (result: CUPTI's, 0). */
bool gp_hw_try_took(struct gp_hw_try *try, uint16_t device_id, int result);

/* A running device has failed: say it, and give the device up. */
void gp_hw_give_up(struct gp_hw_try *try, uint16_t device_id, int result);

/*
 * After each first use of a function of CUPTI's profilers.  The libraries behind them register
 * destructors then, which at exit run before handlers that were registered earlier: ours is
 * registered again.
 */
void gp_hw_stay_before_others(void);

#define GP_HW_BUSY      26 /* CUPTI_ERROR_HARDWARE_BUSY */
#define GP_HW_NO_MEMORY 8  /* CUPTI_ERROR_OUT_OF_MEMORY: the hardware's buffer was full */
#define GP_HW_FORBIDDEN 35 /* CUPTI_ERROR_INSUFFICIENT_PRIVILEGES */
/* None of CUPTI's: the metrics were chosen for another chip. */
#define GP_HW_OTHER_CHIP (-1)

#endif
