/*
 * init: how we get into the program, and out of it.
 *
 *  1. The constructor runs in every process that preloads us.  It only remembers where we are and
 * sets CUDA_INJECTION64_PATH to this library, if it is not set: a process that uses no CUDA pays
 * for nothing else.
 *  2. The driver loads that path inside cuInit and calls InitializeInjection(): we subscribe to
 * CUPTI.
 *  3. The first context starts recording: trace file, rings, threads.
 *  4. exit() runs our handler, registered at 3 and therefore before those of the driver and of most
 * of the program: the GPU's last records are fetched.  Static destructors come after it; their
 * frees are still recorded.
 *  5. The destructor closes the trace and, under bare LD_PRELOAD, has it finished.  _exit(), _Exit() and quick_exit()
 *     do 4 and 5 by themselves.
 *
 * Whatever fails on this way, the program runs on, and one line says what is missing.
 */
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/atomic.h"
#include "collector/collector.h"
#include "collector/identity.h"
#include "inject/finish.h"
#include "inject/options.h"
#include "inject/output.h"
#include "inject/say.h"
#include "inject/session.h"

#define STOP_TIMEOUT_NS    3000000000u
#define LEAVE_FLUSH_S      1u /* at an end that nobody expects to take long */
#define INJECTION_VARIABLE "CUDA_INJECTION64_PATH"
#define MOST_DIGITS        200 /* of a start time in the name of a link */

/* The driver's entry point; its name is CUDA's. */
__attribute__((visibility("default"))) int InitializeInjection(void);

__attribute__((visibility("default"))) void _exit(int status);
__attribute__((visibility("default"))) void _Exit(int status);

static uint64_t start_up_ticks;
static pid_t recording_pid;

static void leave_recording(void);

/* A program with more rights than who runs it takes no library from a variable: it may only have got us from the system's
 * own list, and gets nothing from us. */
static bool is_trusted(void)
{
	return getauxval(AT_SECURE) == 0;
}

__attribute__((constructor)) static void construct(void)
{
	if (!is_trusted())
		return;
	gp_options_read(environ);
	if (gp_option_flag(GP_OPTION_ID_QUIET))
		gp_say_nothing();
	gp_output_remember();
	if (gp_output_library()[0] != '\0')
		setenv(INJECTION_VARIABLE, gp_output_library(), 0);
}

static bool in_session(void)
{
	struct stat status;
	const char *folder = gp_option_session();

	return folder[0] != '\0' && stat(folder, &status) == 0 && S_ISDIR(status.st_mode);
}

/* What a process was before exec has the same pid and start time, and a link of its own: zeros
 * before the time tell them apart. */
static int link_in_session(unsigned long long start_time)
{
	char link[PATH_MAX];
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

/* Tell gpuprof-run of our trace. */
static void register_with_session(void)
{
	if (in_session() && link_in_session(gp_identity_start_time()) != 0)
		gp_say("gpuprof-run will not find %s: %s", gp_collector_trace_path(),
		       strerror(errno));
}

static void finish_session(uint64_t most_s)
{
	uint64_t timeout_s = gp_option_number(GP_OPTION_ID_FLUSH_TIMEOUT_S);

	gp_session_finish((timeout_s < most_s ? timeout_s : most_s) * 1000000000u);
}

/* Also where no trace could be made: records must not be fetched while the driver is torn down. */
static void on_exit_of_program(void)
{
	if (gp_collector_is_live() || gp_collector_trace_path()[0] == '\0')
		finish_session(UINT64_MAX / 1000000000u);
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

static int start_collector(char *path, size_t path_bytes)
{
	const char *template = gp_option_text(GP_OPTION_ID_OUTPUT);
	int error = gp_output_expand(template, path, path_bytes);

	if (error == -EINVAL)
		snprintf(path, path_bytes,
			 "the name %s (%% is followed by p, n, h, q{VARIABLE} or %%)", template);
	if (error != 0)
		return error;
	return gp_collector_start(&(struct gp_collector_config){path, ring_place()});
}

static void describe_recording(void)
{
	char options[4096];

	gp_session_emit_facts();
	if (gp_options_describe(options, sizeof(options)) > 0)
		gp_emit_info(GP_INFO_OPTIONS, options);
	gp_count(GP_COUNTER_START_TICKS, start_up_ticks);
}

/* Inside the driver, on the thread that makes the process's first context. */
static void on_first_context(void)
{
	char path[PATH_MAX];
	int error = start_collector(path, sizeof(path));

	if (error != 0)
		gp_say("cannot record to %s: %s; running without profiling: choose a folder that "
		       "can be written with -o or GPUPROF_OUTPUT",
		       path, strerror(-error));
	/* also without a trace: somebody has to empty CUPTI's buffers */
	error = gp_session_start_fetching();
	if (error != 0)
		gp_say("cannot start a thread: %s; the trace will lack the GPU's work",
		       strerror(-error));
	recording_pid = getpid();
	atexit(on_exit_of_program);
	at_quick_exit(leave_recording);
	if (gp_collector_trace_path()[0] == '\0')
		return;
	register_with_session();
	describe_recording();
}

int InitializeInjection(void)
{
	static atomic_flag started = ATOMIC_FLAG_INIT;
	int saved_errno = errno;

	if (is_trusted() && !atomic_flag_test_and_set(&started)) {
		uint64_t begin_ticks = gp_clock_ticks();

		if (!in_session()) /* gpuprof-run has done it, once */
			gp_options_complain(environ);
		gp_session_start(on_first_context);
		start_up_ticks = gp_clock_ticks() - begin_ticks;
	}
	errno = saved_errno;
	return 1; /* 0 would make the driver unload us */
}

static bool wants_finish(void)
{
	return strcmp(gp_option_text(GP_OPTION_ID_CHROME), "none") != 0 ||
	       (strcmp(gp_option_text(GP_OPTION_ID_SUMMARY), "none") != 0 &&
		!gp_option_flag(GP_OPTION_ID_QUIET));
}

/* False in every child; one of vfork() shares our memory, so that only the pid tells. */
static bool records_here(void)
{
	return gp_collector_is_live() && getpid() == recording_pid;
}

/* The trace is whole and nothing is recorded any more; once, whoever comes first. */
static void close_recording(void)
{
	static uint32_t closed;
	int error;

	if (!records_here() || gp_swap32(&closed, 1) != 0)
		return;
	error = gp_collector_stop(STOP_TIMEOUT_NS);
	if (error != 0)
		gp_say("the end of %s could not be written: %s; when it can be, type: gpuprof "
		       "finish %s",
		       gp_collector_trace_path(), strerror(-error), gp_collector_trace_path());
	if (!in_session() && wants_finish())
		gp_finish_run(gp_collector_trace_path(),
			      gp_option_number(GP_OPTION_ID_FINISH_TIMEOUT_S) * 1000000000u);
}

__attribute__((destructor)) static void destruct(void)
{
	close_recording();
}

/* An end at which neither our exit handler nor our destructor runs. */
static void leave_recording(void)
{
	if (!records_here())
		return;
	finish_session(LEAVE_FLUSH_S);
	close_recording();
}

/*
 * The end without exit handlers, interposed: Python's multiprocessing ends every worker that way.  It may be called in a
 * signal handler, or by a child of vfork() or fork(): only the process that records waits, and not for long.
 */
void _exit(int status)
{
	leave_recording();
	for (;;)
		syscall(SYS_exit_group, status);
}

void _Exit(int status)
{
	_exit(status);
}
