#include "inject/process_trace.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "gpuprof/shell_word.h"
#include "collector/atomic.h"
#include "collector/collector.h"
#include "collector/process_identity.h"
#include "collector/profiler_threads.h"
#include "collector/process_state.h"
#include "collector/sys.h"
#include "inject/control.h"
#include "inject/error_text.h"
#include "inject/finish_command.h"
#include "inject/user_names.h"
#include "inject/options.h"
#include "inject/output_path.h"
#include "inject/log.h"
#include "stacks/modules.h"

#define STOP_TIMEOUT_NS 3000000000u
#define AWAIT_POLL_NS   1000000000u
#define MOST_WAIT_NS    1000000000u
#define START_WAITS     10
#define MOST_DIGITS     200 /* of a start time in the name of a link */

/* gp_process_state.recording */
enum progress { UNTRIED, STARTING, TRIED };

static void (*on_quick_exit)(void);

/*
 * This thread starts the recording, or waits for the start: a range in the program's malloc(), or
 * in a signal handler, must not wait for itself.
 */
static __thread bool is_inside;
/*
 * The process in which a wait for the start timed out: one wait is enough, and a late start is used
 * nevertheless.
 */
static uint32_t gave_up_in;
/* The one process that is recorded; 0: forked children may have recordings of their own, too. */
static uint32_t only_process;
/* gpuprof-run has the link to the trace of this process. */
static bool is_announced;

void gp_process_trace_init(void (*on_leave)(void))
{
	on_quick_exit = on_leave;
}

void gp_process_trace_confine(void)
{
	only_process = gp_sys_process_id();
}

bool gp_process_trace_in_session(void)
{
	struct stat status;
	const char *folder = gp_option_session();

	return folder[0] != '\0' && gp_sys_stat(folder, &status) == 0 && S_ISDIR(status.st_mode);
}

/*
 * The process before an exec had the same pid and start time, and its own link: leading zeros of
 * the time distinguish them.
 */
static int link_in_session(unsigned long long start_time)
{
	static char link[PATH_MAX]; /* static, as in start() */
	int result = -1;

	for (int digits = 1; digits < MOST_DIGITS && result != 0; digits++) {
		snprintf(link, sizeof(link), "%s/%d-%0*llu", gp_option_session(), (int)getpid(),
			 digits, start_time);
		result = symlink(gp_collector_trace_path(), link);
		if (result != 0 && errno != EEXIST)
			break;
	}
	return result;
}

void gp_process_trace_report(const char *what)
{
	char link[PATH_MAX];
	int saved_errno = errno;

	if (gp_process_trace_in_session() &&
	    snprintf(link, sizeof(link), "%s/%s", gp_option_session(), what) < (int)sizeof(link))
		(void)!symlink(what, link);
	errno = saved_errno;
}

/* The base name of gpuprof-run's folder, even if this process does not see the folder. */
static const char *session_name(void)
{
	const char *slash = strrchr(gp_option_session(), '/');

	return slash != NULL ? slash + 1 : "";
}

static enum gp_ring_place ring_place(void)
{
	static const struct {
		const char *name;
		enum gp_ring_place place;
	} places[] = {{"shm", GP_RINGS_SHM}, {"file", GP_RINGS_FILE}, {"memory", GP_RINGS_MEMORY}};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (strcmp(gp_option_text(GP_OPTION_ID_RINGS), places[i].name) == 0)
			return places[i].place;
	return GP_RINGS_AUTO;
}

/* Of the starting thread: its signal mask and state while signals are held. */
static struct {
	uint64_t mask, held;
	int cancel_state;
} starting;

/*
 * The C library may wait for a program thread that a garbage collector has stopped, and the
 * collector waits for this thread, too: allow the collector's stop signals.  Other signals stay
 * held, because a handler that jumps out would leave the C library's state inconsistent.
 */
static void allow_stop_signals(void)
{
	pthread_setcancelstate(starting.cancel_state, NULL);
	starting.held = gp_sys_hold_signals(GP_SYS_ALL_SIGNALS);
	gp_sys_let_signals(starting.held & ~(GP_SYS_STOP_SIGNALS & ~starting.mask));
}

static void hold_stop_signals(void)
{
	gp_sys_let_signals(starting.held);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
}

/* Remembered as a start that failed. */
static bool is_left_out(void)
{
	if (only_process == 0 || only_process == gp_sys_process_id())
		return false;
	gp_store32_release(&gp_process_state.recording, TRIED);
	return true;
}

static int start_collector(char *path, size_t path_bytes)
{
	const char *template = gp_option_text(GP_OPTION_ID_OUTPUT);
	int error = gp_output_path_expand(template, path, path_bytes);

	if (error == -EINVAL)
		snprintf(path, path_bytes,
			 "the name %s (%% is followed by p, n, h, q{VARIABLE} or %%)", template);
	if (error == -ENOENT)
		snprintf(path, path_bytes, "a trace in the current folder, which was removed,");
	if (error != 0)
		return error;
	gp_output_path_make_folders(template, path);
	return gp_collector_start(&(struct gp_collector_config){
		.trace_path = path,
		.ring_place = ring_place(),
		.on_overload = gp_option_is(GP_OPTION_ID_ON_OVERLOAD, "drop") ? GP_OVERLOAD_DROP
									      : GP_OVERLOAD_BLOCK,
		.session = session_name(),
		.no_command = gp_option_flag(GP_OPTION_ID_NO_COMMAND),
		.max_file_bytes = gp_option_bytes(GP_OPTION_ID_MAX_FILE),
		.keep_last_bytes = gp_option_bytes(GP_OPTION_ID_KEEP_LAST),
		.before_thread = allow_stop_signals,
		.after_thread = hold_stop_signals,
		.pauses_at_fork = true,
	});
}

static void describe_options(void)
{
	static char options[4096]; /* static, as in start() */

	if (gp_options_describe(options, sizeof(options)) > 0)
		gp_emit_info(GP_INFO_OPTIONS, options);
}

static void note_exit(int status, void *unused)
{
	(void)unused;
	gp_process_trace_ends(GP_END_STATUS, status);
}

/* Once per program: forked children inherit the parent's handlers. */
static void register_leaving(void)
{
	static bool registered;

	if (!registered)
		on_exit(note_exit, NULL);
	if (!registered && on_quick_exit != NULL)
		at_quick_exit(on_quick_exit);
	registered = true;
}

static void log_no_start(const char *path, int error)
{
	if (error == -ETIMEDOUT)
		gp_log("nothing is recorded: gpuprof's thread could not create %s within %d s; perhaps the disk or the network hangs; choose another folder with -o or GPUPROF_OUTPUT",
		       path, GP_START_TIMEOUT_S);
	else if (error == -EAGAIN)
		gp_log("nothing is recorded: gpuprof's thread cannot be started: %s; the user or the container has too many threads: raise that limit (ulimit -u, or the pids limit of the container)",
		       gp_error_text(-error));
	else
		gp_log("nothing is recorded: %s cannot be written: %s; choose a writable folder with -o or GPUPROF_OUTPUT",
		       path, gp_error_text(-error));
	gp_process_trace_report(GP_SESSION_FAILED);
}

/* By one thread of a process, whose stack may be small. */
static void start(void)
{
	static char path[PATH_MAX];
	int error = start_collector(path, sizeof(path));

	if (error != 0) {
		log_no_start(path, error);
		return;
	}
	allow_stop_signals();
	register_leaving();
	hold_stop_signals();
	is_announced = gp_process_trace_in_session() &&
		       link_in_session(gp_process_identity_start_time()) == 0;
	describe_options();
	gp_control_begin_trace();
	gp_user_names_emit();
}

/*
 * The wait is bounded if creating the files takes long.  If the whole process was stopped
 * meanwhile, elapsed time alone says nothing.
 */
static void wait_for_start(void)
{
	uint64_t give_up_ns = gp_sys_now_ns() + MOST_WAIT_NS;

	for (int waits = 0; gp_load32_acquire(&gp_process_state.recording) == STARTING &&
			    (waits < START_WAITS || gp_sys_now_ns() < give_up_ns);
	     waits++)
		gp_sys_wait(&gp_process_state.recording, STARTING, MOST_WAIT_NS / START_WAITS);
	if (gp_load32_acquire(&gp_process_state.recording) == STARTING)
		gp_store32(&gave_up_in, gp_sys_process_id());
	gp_sys_wake(&gp_process_state.recording); /* it wakes one waiter, which wakes the next */
}

/* A start in progress, for which no wait has timed out. */
static bool is_awaited(void)
{
	return gp_load32_acquire(&gp_process_state.recording) == STARTING &&
	       gp_load32(&gave_up_in) != gp_sys_process_id();
}

static void start_or_resume(void)
{
	if (gp_collector_is_live())
		gp_collector_resume();
	else
		start();
}

/* Whether this thread is the one to start or resume it. */
static bool begin_start(void)
{
	uint32_t before = gp_collector_is_live() ? TRIED : UNTRIED;

	return gp_replace32(&gp_process_state.recording, before, STARTING);
}

/*
 * Cancellation is disabled: the program called no cancellation point.  Signals are held, because a
 * handler might jump out.  A profiler thread gets here if the program defines a C library function
 * with a range in it: the start waits for that thread.
 */
static void start_or_wait(void)
{
	int saved_errno = errno, saved_state;
	uint64_t before;

	if (is_inside || gp_profiler_thread_is_current() || !gp_process_state_is_own_process() ||
	    is_left_out())
		return;
	if (gp_load32_acquire(&gp_process_state.recording) == STARTING && !is_awaited())
		return;
	/* signals without a handler still end a program whose start takes long, as without us */
	before = gp_sys_hold_signals(GP_SYS_LIBC_SIGNALS |
				     (gp_sys_is_confined() ? 0 : gp_sys_unhandled_signals()));
	is_inside = true;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &saved_state);
	if (begin_start()) {
		starting.mask = before;
		starting.cancel_state = saved_state;
		start_or_resume();
		gp_store32_release(&gp_process_state.recording, TRIED);
		gp_sys_wake(&gp_process_state.recording);
	} else {
		wait_for_start();
	}
	pthread_setcancelstate(saved_state, NULL);
	is_inside = false;
	gp_sys_let_signals(before);
	errno = saved_errno;
}

bool gp_process_trace_start(void)
{
	if (gp_collector_is_live() ? !gp_collector_is_writing()
				   : gp_load32_acquire(&gp_process_state.recording) != TRIED)
		start_or_wait();
	return gp_collector_is_live();
}

bool gp_process_trace_is_live(void)
{
	return gp_collector_is_live() && gp_process_state_is_own_process();
}

static bool is_terminated; /* by SIGTERM: the end must not wait for names of functions */

void gp_process_trace_ends(enum gp_end_way way, int status)
{
	if (!gp_process_trace_is_live())
		return;
	is_terminated = way == GP_END_SIGNAL;
	gp_collector_ends(way, (uint8_t)status);
}

static bool wants_finish(void)
{
	return strcmp(gp_option_text(GP_OPTION_ID_CHROME), "none") != 0 ||
	       gp_option_flag(GP_OPTION_ID_HTML) ||
	       (strcmp(gp_option_text(GP_OPTION_ID_SUMMARY), "none") != 0 &&
		!gp_option_flag(GP_OPTION_ID_QUIET));
}

/* gpuprof-run finishes the trace if it was announced, and gpuprof-run has not ended. */
static bool is_left_to_launcher(void)
{
	return is_announced && gp_process_trace_in_session();
}

/* The command that shows the limit, if the error text does not name it. */
static const char *limit_of(int error)
{
	return error == -EFBIG ? " (ulimit -f)" : "";
}

#define GROUPED_BYTES 28 /* 20 digits, 6 commas, the NUL */

/* "16,023", as the summary prints it, in any locale; points into text. */
static const char *group_digits(unsigned long long number, char text[GROUPED_BYTES])
{
	char *at = text + GROUPED_BYTES - 1;

	*at = '\0';
	for (int digits = 0; digits == 0 || number != 0; digits++, number /= 10) {
		if (digits > 0 && digits % 3 == 0)
			*--at = ',';
		*--at = (char)('0' + number % 10);
	}
	return at;
}

/* Logs one line about the losses of the trace. */
static void log_loss(int stop_error)
{
	/* static: used once, and the stack may be that of a signal handler */
	static char word[GP_SHELL_WORD_BYTES];
	const char *path = gp_collector_trace_path();
	char grouped[GROUPED_BYTES];
	int lost_error;
	unsigned long long lost = gp_collector_unwritten(&lost_error);

	if (stop_error != 0 && is_left_to_launcher())
		gp_log("the end of %s could not be written: %s%s; gpuprof-run saves the remaining records if possible, and its summary lists the lost records",
		       path, gp_error_text(-stop_error), limit_of(stop_error));
	else if (stop_error != 0 && lost > 0)
		gp_log("the end of %s could not be written: %s%s; %s records are lost; once the file can be written, type: gpuprof finish %s",
		       path, gp_error_text(-stop_error), limit_of(stop_error),
		       group_digits(lost, grouped), gp_shell_word(path, word, sizeof(word)));
	else if (stop_error != 0)
		gp_log("the end of %s could not be written: %s%s; once the file can be written, type: gpuprof finish %s",
		       path, gp_error_text(-stop_error), limit_of(stop_error),
		       gp_shell_word(path, word, sizeof(word)));
	else if (lost_error == -E2BIG)
		gp_log("%s reached --max-file (%s), and the recording ended there: it lacks everything later, and %s records that were in flight; raise --max-file, or keep the end with --keep-last",
		       path, gp_option_text(GP_OPTION_ID_MAX_FILE), group_digits(lost, grouped));
	else if (lost > 0)
		gp_log("%s records are missing in %s, which could not be written: %s%s; %s",
		       group_digits(lost, grouped), path, gp_error_text(-lost_error),
		       limit_of(lost_error),
		       lost_error == -EFBIG ? "raise the limit with ulimit -f"
					    : "choose another folder with -o or GPUPROF_OUTPUT");
}

/* Check live first: the thread that ends the recording has announced the closing before. */
bool gp_process_trace_is_unfinished(void)
{
	bool is_unfinished =
		gp_collector_is_live() || (gp_load32_acquire(&gp_process_state.closer) != 0 &&
					   gp_load32_acquire(&gp_process_state.is_closed) == 0);

	return is_unfinished && gp_process_state_is_own_process();
}

static uint64_t finish_timeout_ns(void)
{
	return gp_option_number(GP_OPTION_ID_FINISH_TIMEOUT) * 1000000000u;
}

/* After SIGTERM, a summary might take longer than the sender waits. */
static bool is_to_finish(void)
{
	return !is_left_to_launcher() && wants_finish() && !is_terminated;
}

static void close_here(void)
{
	int error = gp_collector_stop(STOP_TIMEOUT_NS);

	log_loss(error);
	if (is_to_finish())
		gp_finish_command_run(gp_collector_trace_path(), finish_timeout_ns());
	else if (gp_process_trace_in_session() && gp_modules_are_in_bundle() && !is_terminated)
		gp_finish_command_keep_names(gp_collector_trace_path(), finish_timeout_ns());
	gp_store32_release(&gp_process_state.is_closed, 1);
	gp_sys_wake(&gp_process_state.is_closed);
}

/*
 * If two threads end the process, the second one waits, so that it does not interrupt the first.
 * The wait lasts as long as the first may take between two signs of progress.
 */
static void await_closer(void)
{
	uint64_t most_ns = STOP_TIMEOUT_NS + (is_to_finish() ? finish_timeout_ns() : 0);
	uint64_t give_up_ns = gp_sys_now_ns() + most_ns;
	uint32_t seen = gp_load32(&gp_process_state.close_signs);

	while (gp_load32_acquire(&gp_process_state.is_closed) == 0 &&
	       gp_sys_now_ns() < give_up_ns) {
		uint32_t signs = gp_load32(&gp_process_state.close_signs);

		if (signs != seen)
			give_up_ns = gp_sys_now_ns() + most_ns;
		seen = signs;
		gp_sys_wait(&gp_process_state.is_closed, 0, AWAIT_POLL_NS);
	}
}

/* A handler may have forked after the caller's check: the child has nothing to close. */
static void close_or_await(void (*complete)(void))
{
	uint32_t self = gp_sys_thread_id();

	if (gp_process_trace_is_live())
		complete();
	if (!gp_process_trace_is_unfinished())
		return;
	if (gp_replace32(&gp_process_state.closer, 0, self))
		close_here();
	else if (gp_load32(&gp_process_state.closer) != self)
		await_closer();
}

/*
 * A timer that ends a hanging program may have expired while only gpuprof was busy: restart it, in
 * case the process lives on.
 */
static void set_interval_timer_again(int timer)
{
	static const struct itimerval none, soon = {.it_value = {.tv_sec = 1}};
	struct itimerval now;

	if (gp_sys.call(SYS_getitimer, timer, (long)&now, 0, 0, 0, 0) == 0 &&
	    memcmp(&now, &none, sizeof(now)) == 0)
		gp_sys.call(SYS_setitimer, timer, (long)&soon, 0, 0, 0, 0);
}

/* The same for a timer of timer_create(), by the kernel's id. */
static void set_timer_again(int timer)
{
	static const struct itimerspec none, soon = {.it_value = {.tv_sec = 1}};
	struct itimerspec now;

	if (gp_sys.call(SYS_timer_gettime, timer, (long)&now, 0, 0, 0, 0) == 0 &&
	    memcmp(&now, &none, sizeof(now)) == 0)
		gp_sys.call(SYS_timer_settime, timer, 0, (long)&soon, 0, 0, 0);
}

static void send_again(int number, const siginfo_t *came)
{
	long process = gp_sys_process_id(), thread = gp_sys_thread_id();

	if (gp_sys.call(SYS_rt_tgsigqueueinfo, process, thread, number, (long)came, 0, 0) < 0)
		gp_sys.call(SYS_tgkill, process, thread, number, 0, 0, 0);
}

#define MOST_TICKS 64 /* for a timer with a very short period */

static void drop_ticks_of(int timer, int number)
{
	static const struct timespec at_once;
	uint64_t wanted = GP_SYS_SIGNAL(number);
	siginfo_t came, sent;
	bool is_sent = false;

	for (int i = 0; i < MOST_TICKS; i++) {
		if (gp_sys.call(SYS_rt_sigtimedwait, (long)&wanted, (long)&came, (long)&at_once,
				sizeof(wanted), 0, 0) <= 0)
			break;
		if (came.si_code == SI_KERNEL) {
			set_interval_timer_again(timer);
		} else if (came.si_code == SI_TIMER) {
			set_timer_again(came.si_timerid);
		} else {
			sent = came;
			is_sent = true;
		}
	}
	if (is_sent)
		send_again(number, &sent);
}

/*
 * Drop timer signals that came during our final work: without gpuprof the program would have ended
 * before.  Signals that the program blocks stay pending, and so do signals that timers do not use
 * by default: taking a signal from the queue and sending it again would change its order.
 */
static void drop_ticks(uint64_t mask)
{
	static const int numbers[] = {
		[ITIMER_REAL] = SIGALRM, [ITIMER_VIRTUAL] = SIGVTALRM, [ITIMER_PROF] = SIGPROF};

	for (int timer = 0; timer < (int)(sizeof(numbers) / sizeof(numbers[0])); timer++)
		if ((mask & GP_SYS_SIGNAL(numbers[timer])) == 0 && !gp_sys_is_confined())
			drop_ticks_of(timer, numbers[timer]);
}

/*
 * Signals are held meanwhile: a handler could end the process here, fork, or find destroyed objects
 * of the program.
 */
void gp_process_trace_close(void (*complete)(void), enum gp_followed_by followed_by)
{
	/* on another thread; without a wait an empty file would stay behind */
	bool is_starting = !is_inside && gp_process_state_is_own_process() && is_awaited();
	uint64_t before;
	int saved_state;

	if (!is_starting && !gp_process_trace_is_unfinished())
		return;
	before = gp_sys_hold_signals(GP_SYS_LIBC_SIGNALS);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &saved_state);
	if (is_starting)
		wait_for_start();
	close_or_await(complete);
	if (followed_by == GP_FOLLOWED_BY_NOTHING)
		return;
	if (followed_by == GP_FOLLOWED_BY_HANDLERS)
		drop_ticks(before);
	pthread_setcancelstate(saved_state, NULL);
	gp_sys_let_signals(before);
}

void gp_process_trace_forget(void)
{
	gp_collector_release();
	gp_store32(&gp_process_state.is_closed, 0);
	gp_store32(&gp_process_state.closer, 0);
	gp_store32_release(&gp_process_state.recording, UNTRIED);
}
