#include "inject/session.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cupti.h>

#include "collector/atomic.h"
#include "collector/eventcount.h"
#include "collector/memory_budget.h"
#include "collector/collector.h"
#include "collector/profiler_threads.h"
#include "collector/process_state.h"
#include "collector/sys.h"
#include "gpuprof/injection.h"
#include "inject/api_table.h"
#include "inject/call_stacks.h"
#include "inject/adopted_contexts.h"
#include "inject/callbacks.h"
#include "inject/contexts.h"
#include "inject/control.h"
#include "inject/cupti_buffers.h"
#include "inject/cupti_library.h"
#include "inject/hw_collector.h"
#include "inject/dlsym.h"
#include "inject/bounded_call.h"
#include "inject/cupti_activity.h"
#include "inject/recording_gate.h"
#include "inject/in_flight.h"
#include "inject/options.h"
#include "inject/process_trace.h"
#include "inject/recording.h"
#include "inject/log.h"
#include "inject/cupti_error.h"
#include "inject/client_records.h"
#include "inject/client_clock.h"
#include "inject/xla.h"
#include "inject/session_devices.h"
#include "inject/stall_sampler.h"
#include "stacks/stack.h"

#define EMIT_MOST_NS  100000000u
#define EMIT_LEAST_NS 10000000u
#define AWAIT_POLL_NS 10000000u
#define SAMPLES_REST  200u         /* sampling takes at most 0.5 % of a core */
#define QUIET_NS      4000000u     /* a burst of calls has ended if none came for that long */
#define NEEDED_BYTES  (512u << 20) /* libcupti, its buffers and threads, our tables and rings */
/* this part of --max-memory for CUPTI's host buffers, and the same for its device memory */
#define BUDGET_PART 4

#define DEVICE_POOL_BYTES (64u << 20)
#define DEVICE_BUFFER_BYTES                                                                        \
	(4u << 20)              /* the size that CUPTI uses (docs/design/cupti-notes.md, 2) */
#define LEAST_DEVICE_BUFFERS 4u /* CUPTI initially makes three */

/*
 * A kernel has failed: emit the unfinished launches immediately, because the program may end before
 * they are overdue.
 */
enum failure { NONE, SEEN, EMITTED };

/* Whether a thread waits for the records of launches; the fetching thread answers. */
enum awaited { NOBODY_WAITS, WAITED_FOR, ALL_CAME };

/* Whether the fetching thread has done its final work. */
enum finished { NOT_YET, FINISHED, GAVE_UP };

/* The calls that may take as long as a kernel (inject/bounded_call.h). */
enum bounded_call { FLUSH, QUERY_USAGE, LAST_FLUSH };

static struct {
	struct gp_cupti cupti;
	struct gp_driver driver;
	uint32_t driver_version;
	CUpti_SubscriberHandle subscriber;
	gp_session_first_context first_context;
	uint32_t context_seen;
	uint32_t highest_context_id;
	struct gp_eventcount wakeup; /* the fetching thread sleeps on it */
	/* the fetching thread has started, and its startup makes no more system calls */
	uint32_t has_begun;
	uint32_t finish; /* the fetching thread must do its final work */
	/* deadline of the final work; the earliest if there are several ends */
	uint64_t deadline_ns;
	uint32_t finished; /* enum finished */
	uint32_t failure;  /* enum failure */
	uint32_t awaited;  /* enum awaited */
	/* a thread that has seen the failure waits until then; 0 = no failure */
	uint64_t failure_until_ns;
	CUptiResult switch_result; /* of the last failed attempt to switch the recording on */
	uint32_t is_shared;        /* CUPTI records, and a client may share it */
	/* CUPTI holds no buffer: its next request wakes the fetching thread */
	uint32_t is_resting;
	bool fetching;
	bool is_flushing;             /* used by the fetching thread: a flush was sent */
	bool has_flushed_for_failure; /* used by the fetching thread */
	bool buffers_per_thread;
	pid_t pid;
} session;

/* ---- called by CUPTI ---- */

/* Any thread, signal handlers, too. */
static void wake_fetching_thread(void)
{
	gp_eventcount_notify(&session.wakeup);
}

/* At the first operation after all records were delivered, when a burst of calls begins. */
static void on_buffer_requested(void)
{
	if (gp_load32(&session.is_resting) != 0 && gp_swap32(&session.is_resting, 0) != 0)
		wake_fetching_thread();
}

static void remember_context(CUcontext context)
{
	uint32_t id = 0, device = 0;

	if (session.cupti.cuptiGetContextId(context, &id) != CUPTI_SUCCESS ||
	    session.cupti.cuptiGetDeviceId(context, &device) != CUPTI_SUCCESS)
		return;
	gp_contexts_add(context, id, (uint16_t)device);
	gp_session_devices_add((uint16_t)device);
	gp_hw_collector_context_begins(context, (uint16_t)device);
	for (;;) {
		uint32_t highest = gp_load32(&session.highest_context_id);

		if (id <= highest || gp_replace32(&session.highest_context_id, highest, id))
			return;
	}
}

static void on_context_created(CUcontext context)
{
	bool is_first;

	remember_context(context);
	is_first = gp_swap32(&session.context_seen, 1) == 0;
	if (is_first)
		session.first_context();
	gp_hw_collector_await_context(is_first);
	gp_collector_request_anchor();
}

/*
 * At the end of the process the driver destroys contexts, too: allocations that exist then were
 * never freed.
 */
static void on_context_destroyed(CUcontext context)
{
	struct gp_record_context_end end = {
		.kind = GP_RECORD_CONTEXT_END,
		.slots = sizeof(end) / GP_SLOT_BYTES,
		.ticks = gp_clock_ticks(),
	};

	gp_hw_collector_context_ends(context);
	if (gp_load32_acquire(&session.finished) != 0 ||
	    session.cupti.cuptiGetContextId(context, &end.id) != CUPTI_SUCCESS)
		return;
	end.device_id = gp_contexts_device(end.id);
	/* also now: living contexts are queried for their memory usage */
	gp_contexts_remove(end.id);
	if (gp_load32(&session.finish) != 0)
		return;
	gp_emit((const struct gp_record *)&end);
}

/*
 * Usually the program ends next, perhaps without a handler of ours: every thread that sees the
 * failure waits once, briefly, until the launches are emitted.
 */
static void on_kernel_failed(void)
{
	uint64_t until_ns, now_ns = gp_sys_now_ns();

	if (gp_load32_acquire(&session.has_begun) == 0 || gp_load32_acquire(&session.finish) != 0)
		return;
	gp_replace64(&session.failure_until_ns, 0, now_ns + EMIT_MOST_NS);
	until_ns = gp_load64(&session.failure_until_ns);
	if (gp_replace32(&session.failure, NONE, SEEN))
		wake_fetching_thread();
	while (gp_load32_acquire(&session.failure) == SEEN && now_ns < until_ns) {
		gp_sys_wait(&session.failure, SEEN, until_ns - now_ns);
		now_ns = gp_sys_now_ns();
	}
}

/* ---- fetching ---- */

/*
 * The driver's memory usage of each device with a living context: queried on one thread, emitted by
 * another.
 */
static struct {
	struct gp_record_usage records[GP_CONTEXT_LIMIT];
	uint32_t count;
} usage;

static void query_usage_of(uint32_t id)
{
	const struct gp_driver *driver = &session.driver;
	struct gp_record_usage *record = &usage.records[usage.count];
	CUcontext context = gp_contexts_living(id), popped;
	size_t free_bytes, total_bytes;

	*record = (struct gp_record_usage){
		.kind = GP_RECORD_USAGE,
		.slots = sizeof(*record) / GP_SLOT_BYTES,
		.device_id = gp_contexts_device(id),
		.context_id = id,
		.ticks = gp_clock_ticks(),
	};
	if (context == NULL || driver->cuCtxPushCurrent(context) != CUDA_SUCCESS)
		return;
	if (driver->cuMemGetInfo(&free_bytes, &total_bytes) == CUDA_SUCCESS) {
		record->free_bytes = free_bytes;
		record->total_bytes = total_bytes;
		usage.count++;
	}
	driver->cuCtxPopCurrent(&popped);
}

static void query_usage(void)
{
	const struct gp_driver *driver = &session.driver;
	uint32_t highest = gp_load32(&session.highest_context_id);

	if (driver->cuCtxPushCurrent == NULL || driver->cuCtxPopCurrent == NULL ||
	    driver->cuMemGetInfo == NULL)
		return;
	for (uint32_t id = 1;
	     id <= highest && usage.count < GP_CONTEXT_LIMIT && gp_bounded_call_is_wanted(); id++)
		query_usage_of(id);
}

static void emit_usage(void)
{
	for (uint32_t i = 0; i < usage.count; i++)
		gp_emit((const struct gp_record *)&usage.records[i]);
}

/* On the helper thread. */
static void run_bounded_call(uint32_t bounded_call)
{
	gp_callbacks_exclude_thread(true);
	if (bounded_call == QUERY_USAGE)
		query_usage();
	else
		gp_cupti_activity_flush(
			bounded_call == LAST_FLUSH ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
}

/*
 * Serves the request of a client inside the program.  The client has already flushed: all records
 * to decode have come.
 */
static void serve_client(void)
{
	uint32_t ticket;

	if (!gp_client_records_is_requested(&ticket))
		return;
	gp_cupti_activity_decode();
	gp_client_records_answer(ticket, gp_buffers_are_out());
}

/* Filled buffers are emptied first: during a flush no request waits for a buffer. */
static void send_flush(void)
{
	gp_cupti_activity_decode();
	session.is_flushing = gp_bounded_call_send(FLUSH);
}

static void end_flush(void)
{
	if (!session.is_flushing || !gp_bounded_call_is_done())
		return;
	session.is_flushing = false;
	gp_cupti_activity_end_flush(false);
	gp_client_records_end_period(gp_buffers_are_out());
}

static void begin_period(void)
{
	if (session.is_flushing) {
		gp_cupti_activity_during_flush();
	} else if (gp_xla_is_loaded()) {
		gp_cupti_activity_without_flush();
		gp_client_records_end_period(gp_buffers_are_out());
	} else {
		send_flush();
	}
	gp_stack_poll();
}

/*
 * A flush that began before the failure may miss records of work that has ended: send another one
 * if time permits.
 */
static void serve_failure(uint64_t now_ns)
{
	bool is_late = now_ns + EMIT_LEAST_NS >= gp_load64(&session.failure_until_ns);

	if (gp_load32_acquire(&session.failure) != SEEN)
		return;
	if (!is_late && session.is_flushing)
		return;
	if (!is_late && !session.has_flushed_for_failure && !gp_xla_is_loaded()) {
		send_flush();
		session.has_flushed_for_failure = true;
		return;
	}
	gp_cupti_activity_decode();
	gp_cupti_activity_emit_unfinished(UINT64_MAX);
	gp_store32_release(&session.failure, EMITTED);
	gp_sys_wake(&session.failure);
}

static void serve_waiter(void)
{
	if (gp_load32_acquire(&session.awaited) != WAITED_FOR || gp_cupti_activity_is_awaited())
		return;
	gp_store32_release(&session.awaited, ALL_CAME);
	gp_sys_wake(&session.awaited);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The bursts of the program's CUDA calls; used by the fetching thread. */
static struct {
	uint64_t hooks;    /* at the last check */
	uint64_t check_ns; /* time of the next check */
	bool is_open;
} burst;

/*
 * True once after each burst, if CUPTI holds records: then they are flushed, because the process
 * may be killed before the period ends.  A call that waits for the device also counts when it
 * returns.
 */
static bool burst_has_ended(uint64_t now_ns)
{
	uint64_t hooks;

	if (now_ns < burst.check_ns || session.is_flushing)
		return false;
	burst.check_ns = now_ns + QUIET_NS;
	hooks = gp_count_of_hooks();
	if (hooks != burst.hooks) {
		burst.hooks = hooks;
		burst.is_open = true;
		return false;
	}
	if (!burst.is_open || !gp_buffers_are_out())
		return false;
	burst.is_open = false;
	return true;
}

/* Time to the next check; while CUPTI holds no buffer, there is none before its next request. */
static uint64_t burst_rest_ns(uint64_t now_ns)
{
	bool is_resting;

	/* first: a request after the check finds it set, and wakes this thread */
	(void)gp_swap32(&session.is_resting, 1);
	is_resting = !gp_buffers_are_out();
	gp_store32(&session.is_resting, is_resting);
	return is_resting || now_ns >= burst.check_ns ? UINT64_MAX : burst.check_ns - now_ns;
}

/* A full buffer needs no flush, only decoding; the end of a period needs both. */
static void fetch_until_finish(uint64_t period_ns)
{
	uint64_t due_ns = gp_sys_now_ns() + period_ns;

	while (gp_load32_acquire(&session.finish) == 0) {
		uint64_t now_ns = gp_sys_now_ns();
		uint64_t rest_ns = least(gp_control_pass(now_ns),
					 gp_stack_sample(now_ns, gp_recording_gate_is_open()));

		if (gp_load32_acquire(&session.failure) == SEEN)
			rest_ns = least(rest_ns, EMIT_LEAST_NS);
		if (now_ns >= due_ns || burst_has_ended(now_ns)) {
			begin_period();
			due_ns = gp_sys_now_ns() + period_ns;
		} else {
			rest_ns = least(rest_ns, burst_rest_ns(now_ns));
			gp_eventcount_wait(&session.wakeup, least(rest_ns, due_ns - now_ns));
			gp_cupti_activity_decode();
		}
		end_flush();
		serve_client();
		serve_failure(gp_sys_now_ns());
		serve_waiter();
		gp_session_devices_report(&session.driver);
	}
}

/* Leaves just enough time to emit the unfinished launches. */
static uint64_t give_up_ns(void)
{
	return gp_load64(&session.deadline_ns) - EMIT_MOST_NS;
}

/* False: the deadline has passed. */
static bool await_bounded_call(void)
{
	while (!gp_bounded_call_is_done()) {
		uint64_t now_ns = gp_sys_now_ns(), until_ns = give_up_ns();

		if (now_ns >= until_ns)
			return false;
		gp_eventcount_wait(&session.wakeup, until_ns - now_ns);
		gp_cupti_activity_decode();
	}
	end_flush();
	return true;
}

static bool do_bounded_call(enum bounded_call call)
{
	return gp_bounded_call_send(call) && await_bounded_call();
}

/* The final work that the end of the program waits for. */
static enum finished fetch_last(void)
{
	enum finished how = GAVE_UP;

	if (await_bounded_call() && do_bounded_call(QUERY_USAGE)) {
		emit_usage();
		gp_cupti_activity_decode();
		if (do_bounded_call(LAST_FLUSH)) {
			gp_cupti_activity_end_flush(true);
			how = FINISHED;
		}
	}
	gp_bounded_call_close();
	gp_cupti_activity_decode();
	gp_cupti_activity_emit_unfinished(how == FINISHED ? UINT64_MAX
							  : gp_load64(&session.deadline_ns));
	return how;
}

static void *fetching_thread(void *unused)
{
	enum finished how;

	(void)unused;
	gp_profiler_thread_begin();
	pthread_setname_np(pthread_self(), "gpuprof-fetch");
	gp_callbacks_exclude_thread(true);
	gp_emit_always_waits();
	gp_cupti_activity_enter_thread();
	gp_client_records_enter_thread();
	gp_stack_begin_samples(gp_option_number(GP_OPTION_ID_HOST_SAMPLES) * 1000000u,
			       SAMPLES_REST);
	gp_store32_release(&session.has_begun, 1);
	gp_sys_wake(&session.has_begun);
	fetch_until_finish(gp_option_number(GP_OPTION_ID_FLUSH_MS) * 1000000u);
	gp_stack_end_samples();
	how = fetch_last();
	gp_client_records_end();
	gp_buffers_set_no_decoder(); /* the program may go on: an exec can fail */
	gp_profiler_thread_end();
	gp_store32_release(&session.finished, how);
	gp_sys_wake(&session.finished);
	return NULL;
}

int gp_session_start_fetching(void)
{
	pthread_t thread;
	int error;

	gp_control_begin(wake_fetching_thread);
	gp_client_records_begin(wake_fetching_thread);
	error = gp_bounded_call_begin(run_bounded_call, wake_fetching_thread);
	if (error == 0)
		error = gp_sys.thread(&thread, fetching_thread);
	if (error != 0) {
		gp_bounded_call_close();
		gp_client_records_end();
		gp_buffers_set_no_decoder();
		return error;
	}
	pthread_detach(thread);
	session.fetching = true;
	gp_profiler_thread_await_start(&session.has_begun);
	gp_hw_collector_start(&session.cupti);
	return 0;
}

/* Another thread may end the process, too, with a later deadline. */
static void set_deadline(uint64_t deadline_ns)
{
	for (;;) {
		uint64_t before_ns = gp_load64(&session.deadline_ns);

		if ((before_ns != 0 && before_ns <= deadline_ns) ||
		    gp_replace64(&session.deadline_ns, before_ns, deadline_ns))
			return;
	}
}

/* Both conditions: the first process of a pid namespace may have the same pid as its parent. */
static bool is_subscribers_process(void)
{
	return gp_load32(&gp_process_state.cupti) != 0 && getpid() == session.pid;
}

void gp_session_finish(uint64_t timeout_ns)
{
	uint64_t start_ticks = gp_clock_ticks();
	uint64_t deadline_ns = gp_sys_now_ns() + timeout_ns;

	if (!session.fetching || !is_subscribers_process())
		return;
	set_deadline(deadline_ns);
	/* pairs with fetch_until_finish(): there is a deadline */
	gp_store32_release(&session.finish, 1);
	gp_hw_collector_finish();
	gp_eventcount_notify(&session.wakeup);
	while (gp_load32_acquire(&session.finished) == NOT_YET && gp_sys_now_ns() < deadline_ns &&
	       is_subscribers_process())
		gp_sys_wait(&session.finished, NOT_YET, 10000000u);
	gp_hw_collector_await(deadline_ns);
	if (!is_subscribers_process()) /* a signal handler forked meanwhile */
		return;
	gp_count(GP_COUNTER_EXIT_FLUSH_TICKS, gp_clock_ticks() - start_ticks);
	if (gp_load32_acquire(&session.finished) != FINISHED) {
		gp_bounded_call_close();
		gp_count(GP_COUNTER_EXIT_FLUSH_TIMEOUTS, 1);
		gp_log("the GPU did not finish within %llu s: its last records are missing; wait longer with --flush-timeout",
		       (unsigned long long)(timeout_ns / 1000000000u));
	}
	gp_clock_set_cupti(NULL);
	session.fetching = false;
}

/* ---- starting ---- */

static uint64_t read_cupti_ns(void)
{
	uint64_t ns = 0;

	return session.cupti.cuptiGetTimestamp(&ns) == CUPTI_SUCCESS ? ns : 0;
}

static int refuse(CUptiResult result, const char *what)
{
	const char *reason = gp_cupti_error_reason(result), *name = NULL;

	session.cupti.cuptiGetResultString(result, &name);
	if (reason != NULL)
		gp_log(GP_NO_ACTIVITY "%s", reason);
	else
		gp_log(GP_NO_ACTIVITY
		       "CUPTI cannot %s (%s, %s); try another one with --cupti /path/to/libcupti.so or GPUPROF_CUPTI",
		       what, name != NULL ? name : "unknown error", session.cupti.path);
	return -EBUSY;
}

static void set_attribute(CUpti_ActivityAttribute attribute, void *value, size_t bytes)
{
	/* an attribute unknown to the library is refused; such a library behaves that way anyway */
	session.cupti.cuptiActivitySetAttribute(attribute, &bytes, value);
}

/*
 * Threads that share a buffer contend in each launch.  With one buffer per thread a new thread
 * costs a buffer, and if nobody flushes (XLA) a killed program loses the content of each.  Also
 * limits the device memory in which CUPTI keeps the timestamps of work in flight: 16 buffers of 4
 * MiB, 1.6 million operations (fewer with --max-memory); the default could grow to 1 GiB.  Both
 * must be set before the buffer callbacks are registered (docs/design/cupti-notes.md, 2).
 */
static void set_attributes(void)
{
	uint8_t per_thread = session.buffers_per_thread;
	size_t pool_limit = (size_t)(gp_memory_budget_share(DEVICE_POOL_BYTES, BUDGET_PART) /
				     DEVICE_BUFFER_BYTES);

	if (pool_limit < LEAST_DEVICE_BUFFERS)
		pool_limit = LEAST_DEVICE_BUFFERS;

	if (gp_cupti_can(session.cupti.version, GP_CUPTI_BUFFERS_PER_THREAD))
		set_attribute(GP_CUPTI_PER_THREAD_BUFFER, &per_thread, sizeof(per_thread));
	set_attribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, &pool_limit,
		      sizeof(pool_limit));
}

/* By the gate, on any thread. */
static void switch_recording(bool on)
{
	CUptiResult result = gp_recording_switch(on);

	if (on && result != CUPTI_SUCCESS)
		session.switch_result = result;
}

static CUptiResult start_recording(void)
{
	CUptiResult result = session.cupti.cuptiActivityRegisterCallbacks(
		gp_cupti_activity_request, gp_cupti_activity_complete);

	gp_recording_init(&session.cupti, session.subscriber);
	if (gp_recording_has_kernels())
		gp_in_flight_begin();
	if (result == CUPTI_SUCCESS)
		result = gp_recording_begin();
	if (result == CUPTI_SUCCESS)
		gp_recording_gate_connect(switch_recording);
	return result != CUPTI_SUCCESS ? result : session.switch_result;
}

static int load_libraries(void)
{
	char message[512];

	session.driver_version = gp_driver_open(&session.driver);
	int error = gp_cupti_open(&session.cupti, gp_option_text(GP_OPTION_ID_CUPTI),
				  session.driver_version, message, sizeof(message));

	if (error != 0)
		gp_log(GP_NO_ACTIVITY "%s", message);
	return error;
}

static int subscribe(gp_session_first_context first_context)
{
	static const struct gp_callback_events events = {
		gp_recording_driver_is_ready, on_context_created, on_context_destroyed,
		gp_stall_sampler_module,      on_kernel_failed,
	};

	session.pid = getpid();
	gp_store32(&gp_process_state.cupti, 1);
	session.first_context = first_context;
	gp_cupti_activity_init(&session.cupti, wake_fetching_thread, on_buffer_requested);
	gp_api_table_init();
	gp_call_stacks_init();
	gp_callbacks_init(&events);
	/* subscribing first shows whether another client has CUPTI, before anything is changed */
	CUptiResult result = session.cupti.cuptiSubscribe(&session.subscriber, gp_callback, NULL);

	if (result != CUPTI_SUCCESS)
		return refuse(result, "start");
	gp_client_clock_init(read_cupti_ns);
	session.cupti.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
	set_attributes();
	result = start_recording();
	if (result != CUPTI_SUCCESS) {
		/* leave CUPTI unchanged: nobody would empty its buffers */
		gp_recording_gate_connect(NULL);
		gp_recording_end();
		session.cupti.cuptiUnsubscribe(session.subscriber);
		return refuse(result, "record");
	}
	/* pairs with the acquire in gp_session_shared() */
	gp_store32_release(&session.is_shared, 1);
	return 0;
}

/* With a limited address space, CUPTI and we would take the addresses that the program needs. */
static int resolve_addresses(void)
{
	void *some = mmap(NULL, NEEDED_BYTES, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (some != MAP_FAILED) {
		munmap(some, NEEDED_BYTES);
		return 0;
	}
	/* EAGAIN: the program locks its memory, which has a limit of its own */
	if (errno == EAGAIN)
		gp_log(GP_NO_ACTIVITY
		       "the program locks its memory (mlockall), and CUDA and gpuprof need more than the limit of the process; type: ulimit -l unlimited");
	else
		gp_log(GP_NO_ACTIVITY
		       "it needs %u MiB of address space, beyond the limit of the process; type: ulimit -v unlimited",
		       NEEDED_BYTES >> 20);
	return -ENOMEM;
}

/*
 * Threads would pass each other's buffers on without a lock, which the program's ThreadSanitizer
 * cannot see: it would report false races.
 */
static bool has_thread_sanitizer(void)
{
	return gp_dlsym(RTLD_DEFAULT, "__tsan_init") != NULL;
}

static int make_buffers(void)
{
	uint64_t most_bytes = gp_memory_budget_share(
		gp_option_number(GP_OPTION_ID_CUPTI_MEMORY) << 20, BUDGET_PART);
	int error;

	if (gp_xla_is_loaded())
		gp_buffers_use_small();
	else
		session.buffers_per_thread =
			most_bytes >= GP_CUPTI_PER_THREAD_LEAST_BYTES && !has_thread_sanitizer() &&
			gp_cupti_can(session.cupti.version, GP_CUPTI_PER_THREAD_AS_A_RULE);
	if (session.buffers_per_thread)
		gp_buffers_use_per_thread();
	error = gp_buffers_init(most_bytes, gp_option_is(GP_OPTION_ID_ON_OVERLOAD, "block"),
				wake_fetching_thread);

	if (error != 0)
		gp_log(GP_NO_ACTIVITY
		       "there is no memory for CUPTI's records; free some, or type: ulimit -v unlimited");
	return error;
}

int gp_session_start(gp_session_first_context first_context)
{
	uint64_t before;
	int error = resolve_addresses();

	memset(&session, 0, sizeof(session));
	usage.count = 0;
	if (error == 0)
		error = load_libraries();
	if (error == 0)
		error = make_buffers();
	if (error != 0)
		return error;
	/*
	 * CUPTI starts its worker thread here, which must not receive the program's signals, except
	 * those that code raises
	 */
	before = gp_sys_hold_signals(GP_SYS_LIBC_SIGNALS);
	error = subscribe(first_context);
	gp_sys_let_signals(before);
	return error;
}

bool gp_session_adopt_contexts(void)
{
	CUcontext contexts[GP_ADOPTED_CONTEXTS];
	uint32_t device, count = gp_adopted_contexts_find(&session.driver, contexts);

	gp_recording_driver_is_ready();
	for (uint32_t i = 0; i < count; i++)
		remember_context(contexts[i]);
	if (count == 0)
		return false;
	if (gp_swap32(&session.context_seen, 1) == 0)
		session.first_context();
	else /* another thread has just created a context, and starts the trace */
		gp_process_trace_start();
	for (uint32_t i = 0; i < count; i++)
		if (session.cupti.cuptiGetDeviceId(contexts[i], &device) == CUPTI_SUCCESS)
			gp_adopted_contexts_define(&session.driver, &session.cupti, contexts[i],
						   (uint16_t)device);
	gp_collector_request_anchor();
	return true;
}

void gp_session_await_records(uint64_t most_ns)
{
	uint64_t give_up_ns = gp_sys_now_ns() + most_ns;

	if (!session.fetching)
		return;
	gp_store32_release(&session.awaited, WAITED_FOR);
	wake_fetching_thread();
	while (gp_load32_acquire(&session.awaited) == WAITED_FOR && gp_sys_now_ns() < give_up_ns)
		gp_sys_wait(&session.awaited, WAITED_FOR, AWAIT_POLL_NS);
}

void gp_session_leave(void)
{
	gp_recording_gate_connect(NULL);
	gp_store32_release(&session.is_shared, 0);
	gp_recording_end();
	session.cupti.cuptiUnsubscribe(session.subscriber);
	/* a callback that runs still does nothing any more */
	gp_store32(&gp_process_state.cupti, 0);
	gp_contexts_forget_living(); /* their ends are no longer reported */
	gp_buffers_empty();
}

static const char newer_than_known[] =
	"this libcupti is newer than the versions that gpuprof knows (11.8 to 13.4): its records are read in the 13.4 layout, and implausible ones are dropped and counted; if figures look wrong, name an older libcupti with --cupti or GPUPROF_CUPTI, or update gpuprof";

void gp_session_emit_facts(void)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", session.cupti.version);
	gp_emit_info(GP_INFO_CUPTI_VERSION, number);
	gp_emit_info(GP_INFO_CUPTI_PATH, session.cupti.path);
	if (!gp_cupti_is_known(session.cupti.version))
		gp_emit_info(GP_INFO_NOTE, newer_than_known);
	snprintf(number, sizeof(number), "%u", session.driver_version);
	gp_emit_info(GP_INFO_DRIVER_VERSION, number);
	gp_clock_set_cupti(read_cupti_ns);
}

/* ---- ids of the program's handles ---- */

uint32_t gp_session_context_id(const void *context)
{
	uint32_t id = 0;

	if (!gp_load32(&gp_process_state.cupti) || context == NULL ||
	    session.cupti.cuptiGetContextId((CUcontext)(uintptr_t)context, &id) != CUPTI_SUCCESS)
		return 0;
	return id;
}

/* A default stream belongs to the current context. */
static CUcontext context_of_stream(CUstream stream)
{
	CUcontext context = NULL;

	gp_callbacks_exclude_thread(true);
	if (session.driver.cuStreamGetCtx == NULL ||
	    session.driver.cuStreamGetCtx(stream, &context) != CUDA_SUCCESS)
		context = NULL;
	gp_callbacks_exclude_thread(false);
	return context;
}

bool gp_session_stream_id(const void *handle, uint32_t *id, uint32_t *context_id)
{
	CUstream stream = (CUstream)(uintptr_t)handle;
	uint8_t per_thread = stream == CU_STREAM_PER_THREAD;
	CUcontext context;

	if (!gp_load32(&gp_process_state.cupti) || session.cupti.cuptiGetStreamIdEx == NULL)
		return false;
	context = context_of_stream(stream);
	*context_id = gp_session_context_id(context);
	return *context_id != 0 &&
	       session.cupti.cuptiGetStreamIdEx(context, stream, per_thread, id) == CUPTI_SUCCESS;
}

/* ---- a client of CUPTI inside the program ---- */

const struct gp_cupti *gp_session_shared(void)
{
	return gp_load32_acquire(&session.is_shared) != 0 ? &session.cupti : NULL;
}

CUpti_SubscriberHandle gp_session_subscriber(void)
{
	return session.subscriber;
}

uint64_t gp_session_now_ns(void)
{
	return read_cupti_ns();
}
