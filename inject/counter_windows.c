#include "inject/counter_windows.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "collector/atomic.h"
#include "collector/collector.h"
#include "collector/sys.h"
#include "gpuprof/count.h"
#include "inject/callbacks.h"
#include "inject/hw_collector.h"
#include "inject/kernel_counters.h"
#include "inject/options.h"
#include "inject/recording_gate.h"
#include "inject/thread_stack.h"

/* Part of the interval until the first window: programs begin with work that does not repeat. */
#define FIRST_PART     5u
#define WINDOW_MOST_NS 1000000000u /* of a program that launches little */
#define LAUNCH_MOST_NS 1000000000u /* other threads wait so long for a launch */
#define QUIET_NS       20000000u   /* a window waits so long for the launches of other threads */
#define QUIET_CHECKS   400u
#define NEAR_NS        10000000u    /* longer than nearly all launches last */
#define LEAST_STACK    (512u << 10) /* of a thread that calls CUPTI's profiler */
#define SETUP_MOST_NS  2000000000u
#define MOST_FAILURES  3u
#define UNKNOWN_RESULT 999          /* CUPTI_ERROR_UNKNOWN: a later window may succeed */
#define HANG_NS        10000000000u /* a launch of a window that lasts so long is told */
#define NS_PER_S       1000000000u

enum state {
	NOT_READY, /* the metrics are not chosen yet */
	WAITING,   /* for the time of the next window */
	OPENING,
	OPEN,
	ENDED, /* no window opens any more */
};

/* CUPTI silently drops kernels that do not fit: a window has fewer. */
static_assert(GP_COUNTER_WINDOW_KERNELS < GP_KERNEL_COUNTERS_MOST, "");

static struct {
	struct gp_driver driver;
	uint32_t passes, next_pass; /* each window has one */
	uint64_t interval_ns;
	uint64_t next_ticks;   /* when the next window opens */
	uint64_t near_ticks;   /* launches count from so long before on */
	uint64_t context;      /* the measured one; 0 = none */
	uint32_t device_id;    /* of the context */
	struct gp_hw_try try;  /* belongs to the lock, once the metrics are chosen */
	uint32_t state;        /* enum state */
	uint32_t captures;     /* of graphs, at the moment */
	uint32_t tries;        /* to open a window, since the last one */
	uint32_t has_awaited;  /* a thread has waited for the metrics */
	uint32_t failures;     /* windows that CUPTI did not end well, in a row */
	uint32_t is_abandoned; /* the context ended without the lock: no window any more */
	uint32_t has_noted_context;
	bool has_opened, has_closed, has_noted_hang;

	uint32_t launching; /* threads in a launch */
	/* 1 while a launch of the window is made, or the window is opened or closed */
	uint32_t lock;
	uint32_t holder;        /* correlation id of that launch; 0 = none */
	uint64_t launch_ticks;  /* when it began */
	uint32_t is_disordered; /* a launch was made without the lock */
	uint32_t is_unwanted;   /* a thread that cannot close the window needs it closed */
	struct gp_record_hw_window window;
	uint32_t launches[GP_COUNTER_WINDOW_KERNELS]; /* their correlation ids */
} windows;

static uint16_t device(void)
{
	return (uint16_t)gp_load32(&windows.device_id);
}

/* ---- the time of the next window ---- */

static uint64_t ticks_of(uint64_t duration_ns)
{
	uint64_t per_s = gp_clock_ticks_per_second();

	return duration_ns / NS_PER_S * per_s + duration_ns % NS_PER_S * per_s / NS_PER_S;
}

static void set_state(enum state state)
{
	if (state == OPEN)
		gp_watch_set(GP_WATCH_WINDOW);
	else
		gp_watch_clear(GP_WATCH_WINDOW);
	gp_store32_release(&windows.state, state);
	gp_sys_wake(&windows.state);
}

static void wait_for(uint64_t duration_ns)
{
	gp_store64(&windows.next_ticks, gp_clock_ticks() + ticks_of(duration_ns));
	set_state(windows.try.is_given_up ? ENDED : WAITING);
}

/* ---- setting up ---- */

static int open_windows(const struct gp_cupti *cupti, void *libcupti)
{
	int error = gp_kernel_counters_open(libcupti);

	(void)cupti;
	if (error != 0)
		return error;
	windows.window.kind = GP_RECORD_HW_WINDOW;
	windows.window.slots = sizeof(windows.window) / GP_SLOT_BYTES;
	windows.interval_ns = gp_option_ns(GP_OPTION_ID_COUNTERS_INTERVAL);
	windows.near_ticks = ticks_of(NEAR_NS);
	gp_driver_open(&windows.driver);
	gp_watch_set(GP_WATCH_COUNTERS);
	if (gp_kernel_counters_patch_code())
		gp_hw_note(
			"kernels have no records, because CUPTI counts instructions by opcode only without them: the trace has the measured kernels alone, without times; record times and traffic in another run, with --roofline");
	return 0;
}

/*
 * In a window a launch returns when its kernel has ended.  A kernel that waits for something that
 * its thread does later never ends: CUPTI offers no way out of that.
 */
static void note_hang(void)
{
	if (windows.has_noted_hang || gp_load32_acquire(&windows.holder) == 0 ||
	    gp_clock_ticks() - gp_load64(&windows.launch_ticks) < ticks_of(HANG_NS))
		return;
	windows.has_noted_hang = true;
	gp_hw_note(
		"a kernel whose hardware counters are being read has not ended after 10 s: if it waits for other kernels or for the program, it never will; record without --counters and --roofline");
}

/* ---- the trace ---- */

static void emit_window(size_t ranges)
{
	struct gp_record_hw_window *window = &windows.window;

	window->measured = 0;
	if (ranges == window->launches && gp_load32(&windows.is_disordered) == 0)
		for (uint32_t i = 0; i < window->launches; i++)
			window->measured +=
				gp_kernel_counters_emit(i, windows.launches[i], window->id);
	window->close_ticks = gp_clock_ticks();
	window->close_thread_id = gp_sys_thread_id();
	gp_emit((const struct gp_record *)window);
	gp_count(GP_COUNTER_HW_WINDOWS, 1);
	gp_count(GP_COUNTER_HW_MEASURED, window->measured);
	gp_count(GP_COUNTER_HW_UNMEASURED, window->launches - window->measured);
}

/* ---- windows ---- */

static void begin_window(void)
{
	struct gp_record_hw_window *window = &windows.window;

	windows.tries = 0;
	window->id++;
	window->device_id = device();
	window->set_id = windows.next_pass + 1;
	window->thread_id = gp_sys_thread_id();
	window->launches = 0;
	window->flags = gp_kernel_counters_patch_code() ? 0 : GP_HW_WINDOW_HAS_RECORDS;
	window->start_ticks = gp_clock_ticks();
	gp_store32(&windows.is_disordered, 0);
	gp_store32(&windows.is_unwanted, 0);
}

/* CUPTI failed in a window: its kernels have no values, and the next window tries it anew. */
static void note_failure(int result)
{
	windows.failures = result == 0 ? 0 : windows.failures + 1;
	if (result == 0)
		return;
	gp_kernel_counters_disable();
	if (windows.failures >= MOST_FAILURES)
		gp_hw_give_up(&windows.try, device(), result);
}

/* The thread is excluded and has the lock, and no other one is in a launch. */
static void open_window(void)
{
	int result;

	windows.window.open_ticks = gp_clock_ticks();
	result = gp_kernel_counters_begin(windows.next_pass, gp_load64(&windows.context), device());
	if (result == UNKNOWN_RESULT)
		note_failure(result);
	else if (result != 0 || !windows.has_opened)
		gp_hw_try_took(&windows.try, device(), result);
	if (result != 0) {
		wait_for(windows.interval_ns);
		return;
	}
	windows.has_opened = true;
	begin_window();
	set_state(OPEN);
}

/* The thread is excluded and has the lock, and the window's context is current. */
static void close_window(void)
{
	size_t ranges;
	int result;

	windows.window.stop_ticks = gp_clock_ticks();
	result = gp_kernel_counters_end(&ranges);
	emit_window(ranges);
	note_failure(result);
	windows.next_pass = windows.window.set_id % windows.passes;
	wait_for(windows.interval_ns);
	if (!windows.has_closed)
		gp_hw_stay_before_others();
	windows.has_closed = true;
}

/* ---- launches ---- */

/* False: a launch lasts longer. */
static bool take_lock(uint64_t most_ns)
{
	uint64_t now_ns, until_ns;

	if (gp_replace32(&windows.lock, 0, 1))
		return true;
	now_ns = gp_sys_now_ns();
	until_ns = now_ns + most_ns;
	while (now_ns < until_ns) {
		gp_sys_wait(&windows.lock, 1, until_ns - now_ns);
		if (gp_replace32(&windows.lock, 0, 1))
			return true;
		now_ns = gp_sys_now_ns();
	}
	return false;
}

static void release_lock(void)
{
	gp_store32_release(&windows.lock, 0);
	gp_sys_wake(&windows.lock);
}

/*
 * Words in the names of kernels that wait for kernels of other devices or processes, which may be
 * launched only after this launch has returned.
 */
static bool waits_for_others(const char *name)
{
	static const char *const words[] = {"nccl",
					    "nvshmem",
					    "mscclpp",
					    "one_shot_",
					    "two_shot_",
					    "multimem",
					    "cross_device_reduce",
					    "deep_ep",
					    "barrier"};

	for (size_t i = 0; name != NULL && i < COUNT(words); i++)
		if (strstr(name, words[i]) != NULL)
			return true;
	return false;
}

static bool is_over(void)
{
	uint64_t ticks = gp_clock_ticks() - windows.window.start_ticks;

	return windows.window.launches == GP_COUNTER_WINDOW_KERNELS ||
	       ticks > ticks_of(WINDOW_MOST_NS) || gp_load32(&windows.is_disordered) != 0 ||
	       gp_load32(&windows.is_unwanted) != 0 || !gp_recording_gate_is_open();
}

static bool must_close(const struct gp_api_entry *entry, const CUpti_CallbackData *data)
{
	if (entry->class != GP_API_LAUNCH)
		return true;
	return is_over() || entry->shape == GP_SHAPE_COOPERATIVE_EACH ||
	       waits_for_others(data->symbolName);
}

/* Has the lock, and releases it.  False: the window is open still. */
static bool close_and_release(void)
{
	if (gp_thread_stack_has(LEAST_STACK)) {
		gp_callbacks_exclude_thread(true);
		close_window();
		gp_callbacks_exclude_thread(false);
		release_lock();
		return true;
	}
	gp_store32(&windows.is_unwanted, 1);
	release_lock();
	gp_hw_collector_serve();
	return gp_load32_acquire(&windows.state) != OPEN;
}

/*
 * The call's context is that of the window.  False: the window has closed.  The lock of a launch
 * that counts is held until it returns.  If another one lasts long, its kernel may wait for this
 * thread.  So this one goes on without the lock, and so do the next ones, which wait no more.
 */
static bool enter_window(struct gp_counter_launch *launch, const struct gp_api_entry *entry,
			 const CUpti_CallbackData *data)
{
	bool has_lock = take_lock(gp_load32(&windows.is_disordered) != 0 ? 0 : LAUNCH_MOST_NS);

	if (has_lock && gp_load32_acquire(&windows.state) != OPEN) {
		release_lock();
		return false;
	}
	if (has_lock && !must_close(entry, data)) {
		windows.launches[windows.window.launches++] = data->correlationId;
		gp_store64(&windows.launch_ticks, gp_clock_ticks());
		gp_store32_release(&windows.holder, data->correlationId);
		launch->has_lock = true;
		return true;
	}
	if (has_lock && close_and_release())
		return false;
	gp_store32(&windows.is_disordered, 1);
	return true;
}

/* Ordered before the load of the state: a window opens only while nothing is being launched. */
static void begin_launch(struct gp_counter_launch *launch)
{
	if (!launch->is_made) /* else the thread left a launch by longjmp() */
		gp_add32_ordered(&windows.launching, 1);
	launch->is_made = true;
}

static void end_launch(struct gp_counter_launch *launch)
{
	if (launch->is_made)
		gp_add32_ordered(&windows.launching, UINT32_MAX);
	launch->is_made = false;
}

/* The thread left a launch of the window by longjmp(): its kernel may not have been launched. */
static void leave_old_launch(struct gp_counter_launch *launch)
{
	launch->has_lock = false;
	gp_store32(&windows.is_disordered, 1);
	gp_store32(&windows.holder, 0);
	release_lock();
}

static bool is_in_window(const CUpti_CallbackData *data)
{
	uint32_t state = gp_load32_ordered(&windows.state);

	return (state == OPEN || state == OPENING) &&
	       (uint64_t)(uintptr_t)data->context == gp_load64(&windows.context);
}

static bool is_launch(const struct gp_api_entry *entry)
{
	return entry->class == GP_API_LAUNCH || entry->class == GP_API_GRAPH_LAUNCH;
}

/* Most launches: the next window is far. */
static bool is_far(uint64_t ticks)
{
	return gp_load32(&windows.state) <= WAITING &&
	       ticks + gp_load64(&windows.near_ticks) < gp_load64(&windows.next_ticks);
}

bool gp_counter_windows_enter(struct gp_counter_launch *launch, const struct gp_api_entry *entry,
			      const CUpti_CallbackData *data, uint64_t ticks)
{
	bool is_done = false;
	int saved;

	if (launch->has_lock)
		leave_old_launch(launch);
	if (entry == NULL)
		return false;
	if (entry->class == GP_API_CAPTURE_BEGIN)
		gp_add32_ordered(&windows.captures, 1);
	else if ((!is_launch(entry) && entry->class != GP_API_CONTROL) || is_far(ticks))
		return false;
	saved = errno;
	while (!is_done) {
		if (is_launch(entry))
			begin_launch(launch);
		is_done = !is_in_window(data);
		if (is_done)
			break;
		end_launch(launch);
		is_done = enter_window(launch, entry, data);
	}
	errno = saved;
	return true;
}

static void note_other_context(void)
{
	if (gp_replace32(&windows.has_noted_context, 0, 1))
		gp_hw_note(
			"hardware counters of one CUDA context alone: the program has several, and the kernels of the others are not measured");
}

/* The lock stops new launches.  False: one lasts long, or a graph is being captured. */
static bool awaits_quiet(void)
{
	for (uint32_t i = 0; i < QUIET_CHECKS; i++) {
		if (gp_load32_ordered(&windows.captures) != 0)
			return false;
		if (gp_load32_ordered(&windows.launching) == 0)
			return true;
		gp_sys_sleep(QUIET_NS / QUIET_CHECKS);
	}
	return false;
}

static void try_to_open(void)
{
	if (!gp_replace32(&windows.lock, 0, 1))
		return;
	if (gp_hw_try_is_due(&windows.try) && gp_replace32(&windows.state, WAITING, OPENING)) {
		gp_callbacks_exclude_thread(true);
		windows.tries++;
		if (awaits_quiet())
			open_window();
		else /* each try holds up other threads, so they become rarer */
			wait_for((uint64_t)QUIET_NS * windows.tries);
		gp_callbacks_exclude_thread(false);
	}
	release_lock();
}

/* Without pauses between windows, short programs are to have windows, too. */
static void await_metrics(void)
{
	uint64_t now_ns = gp_sys_now_ns(), until_ns = now_ns + SETUP_MOST_NS;

	while (gp_load32_acquire(&windows.state) == NOT_READY && now_ns < until_ns &&
	       gp_load32(&windows.has_awaited) == 0) {
		gp_sys_wait(&windows.state, NOT_READY, until_ns - now_ns);
		now_ns = gp_sys_now_ns();
	}
	gp_store32(&windows.has_awaited, 1);
	gp_sys_wake(&windows.state); /* the next thread that waits here */
}

/* After a launch. */
static bool is_due(const CUpti_CallbackData *data)
{
	if (gp_load32_acquire(&windows.state) != WAITING ||
	    gp_clock_ticks() < gp_load64(&windows.next_ticks) || !gp_recording_gate_is_open())
		return false;
	if ((uint64_t)(uintptr_t)data->context == gp_load64(&windows.context))
		return gp_thread_stack_has(LEAST_STACK);
	note_other_context();
	return false;
}

static bool ends_capture(const struct gp_api_entry *entry, bool has_succeeded)
{
	return entry->class == GP_API_CAPTURE_END ||
	       (entry->class == GP_API_CAPTURE_BEGIN && !has_succeeded);
}

void gp_counter_windows_exit(struct gp_counter_launch *launch, const struct gp_api_entry *entry,
			     const CUpti_CallbackData *data, bool has_kernel)
{
	int saved = errno;

	end_launch(launch);
	if (entry == NULL)
		return;
	if (ends_capture(entry, has_kernel) && gp_load32(&windows.captures) != 0)
		gp_add32_ordered(&windows.captures, UINT32_MAX);
	if (entry->class != GP_API_LAUNCH)
		return;
	if (launch->has_lock) {
		launch->has_lock = false;
		if (has_kernel && gp_kernel_counters_patch_code())
			gp_kernel_counters_emit_kernel(entry, data, device());
		windows.window.launches -= !has_kernel;
		gp_store32(&windows.holder, 0);
		release_lock();
	} else if (has_kernel) {
		if (windows.interval_ns == 0)
			await_metrics();
		if (is_due(data))
			try_to_open();
	}
	errno = saved;
}

/* ---- the collector ---- */

static void begin_context(CUcontext context, uint16_t device_id)
{
	if (gp_load64_acquire(&windows.context) != 0 || gp_load32(&windows.is_abandoned) != 0)
		return;
	gp_store32(&windows.device_id, device_id);
	gp_store64_release(&windows.context, (uint64_t)(uintptr_t)context);
}

/* Its context has ended.  The thread has the lock. */
static void drop_window(void)
{
	gp_kernel_counters_forget();
	if (gp_load32_acquire(&windows.state) != OPEN)
		return;
	windows.window.stop_ticks = gp_clock_ticks();
	emit_window(0);
	wait_for(windows.interval_ns);
}

/*
 * CUPTI's object ends with the context, and so does a window.  A thread that keeps the lock for so
 * long is in a launch of the window or in CUPTI, with that object, though CUDA forbids to destroy a
 * context that is in use.  Then all that belongs to the lock is left to that thread.  Without a
 * context no launch enters the window or opens another one.
 */
static void end_context(CUcontext context)
{
	if ((uint64_t)(uintptr_t)context != gp_load64(&windows.context))
		return;
	if (!take_lock(LAUNCH_MOST_NS)) {
		gp_store32(&windows.is_abandoned, 1);
		gp_store64_release(&windows.context, 0);
		return;
	}
	gp_store64(&windows.context, 0);
	drop_window();
	release_lock();
}

/* On the collector's thread, which has the lock. */
static void close_from_here(void)
{
	CUcontext context = (CUcontext)(uintptr_t)gp_load64(&windows.context), popped;

	if (gp_load32_acquire(&windows.state) != OPEN)
		return;
	if (context == NULL) {
		drop_window();
		return;
	}
	if (windows.driver.cuCtxPushCurrent == NULL ||
	    windows.driver.cuCtxPushCurrent(context) != CUDA_SUCCESS)
		return;
	close_window();
	windows.driver.cuCtxPopCurrent(&popped);
}

/*
 * The program launches nothing more for now: such a time is none of the window.  Or recording has
 * paused: soon no callback would tell of a launch that the window must not have.
 */
static bool is_late(void)
{
	return gp_clock_ticks() - windows.window.start_ticks > ticks_of(WINDOW_MOST_NS) ||
	       !gp_recording_gate_is_open();
}

static void close_late_window(void)
{
	bool is_unwanted = gp_load32(&windows.is_unwanted) != 0;

	if (gp_load32_acquire(&windows.state) != OPEN ||
	    !take_lock(is_unwanted ? LAUNCH_MOST_NS : 0))
		return;
	if (is_late() || is_unwanted)
		close_from_here();
	release_lock();
}

/* Takes up to 0.5 s and a large stack. */
static void choose_metrics(void)
{
	int result;

	gp_thread_stack_find();
	result = gp_kernel_counters_choose(device(), &windows.passes);
	if (result != 0)
		gp_hw_try_took(&windows.try, device(), result);
	windows.try.is_given_up = windows.passes == 0;
	wait_for(windows.interval_ns / FIRST_PART);
}

static void serve(void)
{
	note_hang();
	close_late_window();
	if (gp_load32_acquire(&windows.state) == NOT_READY &&
	    gp_load64_acquire(&windows.context) != 0)
		choose_metrics();
}

static const char *why_none(void)
{
	if (!gp_recording_gate_was_open_since(1))
		return "recording was paused from the start to the end";
	if (windows.interval_ns > 0)
		return "the program ended before the first window of hardware counters; record it with --counters-interval=0";
	return "no window of hardware counters opened; kernels of graphs cannot be measured";
}

/* The program ends within a window: its kernels so far get their values. */
static void end_windows(void)
{
	if (!take_lock(LAUNCH_MOST_NS))
		return;
	close_from_here();
	if (windows.window.id == 0 && !windows.try.is_given_up)
		gp_hw_note("no kernel was measured: %s", why_none());
	set_state(ENDED);
	release_lock();
}

#define WINDOWS_OF(OPTION)                                                                         \
	{                                                                                          \
		.option = GP_OPTION_ID_##OPTION, .samples = "hardware counters", .oldest = "12.6", \
		.time_counter = GP_COUNTER_HW_SAMPLING_NS, .open = open_windows, .serve = serve,   \
		.fetch_last = end_windows, .context_begins = begin_context,                        \
		.context_ends = end_context, .tries_again = true,                                  \
	}

const struct gp_hw_collector gp_counter_windows = WINDOWS_OF(COUNTERS);
const struct gp_hw_collector gp_roofline_windows = WINDOWS_OF(ROOFLINE);
