/*
 * init: entry into the program, and exit from it.
 *
 * 1. The constructor runs in every process that preloads us.  It only remembers the environment and
 *    sets CUDA_INJECTION64_PATH to this library if unset: a process without CUDA pays nothing else.
 * 2. The driver loads that path inside cuInit and calls InitializeInjection(): subscribe to CUPTI.
 * 3. The first context starts the recording: trace file, rings, threads.
 * 4. exit() runs our handler.  It was registered in step 3, and so runs before the handlers of the
 *    driver and of most of the program: it fetches the last GPU records.  Static destructors come
 *    after it; their frees are still recorded.
 * 5. The destructor closes the trace and, under bare LD_PRELOAD, has it finished.  _exit(), _Exit()
 *    and quick_exit() do 4 and 5 themselves, and so do execve() and its relatives in a process that
 *    records (inject/exec.h), and a SIGTERM that ends it (inject/term_signal.h).
 *
 * In a program that uses CUDA already, steps 1 to 3 are gp_init_attach() (inject/attach.h): there the
 * constructor does nothing, and no variable of the environment is read or set.
 *
 * If any step fails, the program runs on, and a logged line names the missing data.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/atomic.h"
#include "collector/memory_budget.h"
#include "collector/collector.h"
#include "collector/process_state.h"
#include "collector/sys.h"
#include "gpuprof/injection.h"
#include "inject/attach.h"
#include "inject/capture_range.h"
#include "inject/control.h"
#include "inject/dlsym.h"
#include "inject/error_text.h"
#include "inject/exec.h"
#include "inject/exit_slots.h"
#include "inject/child_env.h"
#include "inject/main_thread.h"
#include "inject/ncu.h"
#include "inject/nvtx.h"
#include "inject/options.h"
#include "inject/output_path.h"
#include "inject/process_trace.h"
#include "inject/ranges.h"
#include "inject/log.h"
#include "inject/session.h"
#include "inject/cupti_client.h"
#include "inject/client_symbols.h"
#include "inject/term_signal.h"
#include "inject/trace_list.h"
#include "stacks/stack.h"

#define QUICK_FLUSH_S  1u /* limit of the final flush at an end without exit handlers */
#define START_MOST_NS  2000000000u
#define START_POLL_NS  10000000u
#define DETACH_MOST_NS 10000000000u
#define DETACH_POLL_NS 5000000u

/* The driver's entry point; its name is CUDA's. */
__attribute__((visibility("default"))) int InitializeInjection(void);

/* NVTX's headers look up this name. */
__attribute__((visibility("default"))) int
InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table);

__attribute__((visibility("default"))) void _exit(int status);
__attribute__((visibility("default"))) void _Exit(int status);

static uint64_t start_up_ticks;

/* A step that runs once, on the first thread to reach it. */
struct step {
	uint32_t thread; /* the thread that runs it, 0 = none yet */
	uint32_t is_over;
};

static struct step preparation, start;

static bool is_under_ncu;    /* for ncu: nothing is recorded */
static bool is_attached;     /* by gp_init_attach() */
static bool is_logged;       /* this library has reported the problem, or will */
static uint32_t constructed; /* set in the process; a forked child does not report again */

static void close_on_quick_exit(void);
static void close_for_exec(void);
static void close_for_term(void);
static void complete_recording(void);
static void start_for_client(void);

/*
 * A program with elevated privileges takes no library from an environment variable: it may have
 * loaded us from the system's own list, and stays unchanged.
 */
static bool is_trusted(void)
{
	return getauxval(AT_SECURE) == 0;
}

static void prepare_ranges(void)
{
	bool record = (gp_trace_list() & GP_TRACE_NVTX) != 0;

	if (!gp_control_wants_process() || (!record && !gp_control_wants_ranges()))
		return;
	gp_ranges_enable(record);
	gp_capture_range_init();
	if (!gp_nvtx_announce(gp_output_path_library()))
		gp_log("ranges are not recorded: cannot set the environment variable for NVTX: %s",
		       gp_error_text(errno));
}

static bool is_injected(void)
{
	const char *injected = getenv(GP_INJECTION_CUDA);

	return injected != NULL && strcmp(injected, gp_output_path_library()) == 0;
}

/* If the driver loads another tool, the program keeps CUPTI's own functions. */
static void share_cupti(void)
{
	gp_cupti_client_init(start_for_client);
	if (is_injected())
		gp_client_symbols_init();
}

static int is_driver(struct dl_phdr_info *info, size_t bytes, void *is_loaded)
{
	const char *name = strrchr(info->dlpi_name, '/');

	(void)bytes;
	*(bool *)is_loaded |= strcmp(name != NULL ? name + 1 : "", "libcuda.so.1") == 0;
	return *(bool *)is_loaded;
}

static bool is_driver_loaded(void)
{
	bool is_loaded = false;

	dl_iterate_phdr(is_driver, &is_loaded);
	return is_loaded;
}

/*
 * dlopen() is called only if the driver is loaded: otherwise it would search all folders and set
 * dlerror().
 */
static CUresult query_driver(void)
{
	CUresult (*count_devices)(int *) = NULL;
	void *driver = NULL;
	int count;

	if (is_driver_loaded())
		driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	if (driver == NULL)
		return CUDA_ERROR_NOT_INITIALIZED;
	count_devices = (CUresult(*)(int *))(uintptr_t)dlsym(driver, "cuDeviceGetCount");
	dlclose(driver); /* drop our reference; the program keeps its own */
	return count_devices != NULL ? count_devices(&count) : CUDA_ERROR_NOT_INITIALIZED;
}

/*
 * Whether the constructor of a library that the program needs has initialized CUDA.  The loader
 * runs such constructors before ours, and the driver reads the variable only once.
 */
static bool is_cuda_started(void)
{
	return query_driver() == CUDA_SUCCESS;
}

/* At the end of the program, possibly after the driver's own exit handler. */
static bool was_cuda_started(void)
{
	CUresult result = query_driver();

	return result == CUDA_SUCCESS || result == CUDA_ERROR_DEINITIALIZED;
}

/* gpuprof-run sets the variable from the start if possible. */
static void log_cuda_started_early(void)
{
	gp_process_trace_report(GP_SESSION_FAILED);
	gp_log(GP_NO_ACTIVITY
	       "a library of the program used CUDA in its constructor, before gpuprof started; %s to record it",
	       gp_process_trace_in_session() ? "load that library by dlopen()"
					     : "start the program with gpuprof-run");
}

static void prepare(void)
{
	constructed = gp_sys_process_id();
	gp_sys_remember_filter();
	gp_sys_set_masks_by(
		(gp_sys_mask_setter *)gp_dlsym_in_libc("pthread_attr_setsigmask_np", 0));
	gp_log_remember_stderr();
	gp_options_read(environ);
	gp_memory_budget_init(gp_option_bytes(GP_OPTION_ID_MAX_MEMORY));
	if (gp_option_flag(GP_OPTION_ID_QUIET))
		gp_log_disable();
	gp_output_path_remember();
	gp_process_trace_init(close_on_quick_exit);
	gp_control_init();
	is_under_ncu = gp_ncu_yield(gp_output_path_library());
	gp_child_env_remember(environ);
	gp_exec_prepare(gp_process_trace_is_live, gp_process_trace_is_unfinished, close_for_exec);
	if (gp_output_path_library()[0] == '\0' || is_under_ncu)
		return;
	/*
	 * if the variable already names this library, the driver will load it, or is just loading
	 * it
	 */
	if (gp_control_wants_process() && !is_injected() && is_cuda_started())
		log_cuda_started_early();
	is_logged = setenv(GP_INJECTION_CUDA, gp_output_path_library(), 0) == 0;
	if (!is_logged)
		gp_log(GP_NO_ACTIVITY "cannot set the environment variable for the CUDA driver: %s",
		       gp_error_text(errno));
	if (gp_option_is(GP_OPTION_ID_SHARE, "on"))
		share_cupti();
	prepare_ranges();
}

static bool begin_step(struct step *step)
{
	return gp_replace32(&step->thread, 0, gp_sys_thread_id());
}

static void end_step(struct step *step)
{
	gp_store32_release(&step->is_over, 1);
	gp_sys_wake(&step->is_over);
}

/*
 * The running thread may need a lock that this one holds, such as the loader's in a constructor, so
 * the wait is bounded.
 */
static void await_step(struct step *step)
{
	uint64_t give_up_ns = gp_sys_now_ns() + START_MOST_NS;

	if (gp_load32(&step->thread) == gp_sys_thread_id())
		return; /* this thread itself is inside the step; the others keep waiting */
	while (gp_load32_acquire(&step->is_over) == 0 && gp_sys_now_ns() < give_up_ns)
		gp_sys_wait(&step->is_over, 0, START_POLL_NS);
	/* give up: in a child that another thread forked, the step never ends */
	gp_store32(&step->is_over, 1);
}

static void prepare_once(void)
{
	if (!begin_step(&preparation))
		return;
	prepare();
	end_step(&preparation);
}

/*
 * A preloaded library is in the program's global scope; one that the driver loads is not.  In a
 * linker namespace of its own, the latter may be another copy of the preloaded one.
 */
static const void *preloaded_function(void)
{
	void *program = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
	const void *function = program != NULL ? gp_dlsym(program, "InitializeInjection") : NULL;

	if (program != NULL)
		dlclose(program);
	return function;
}

/*
 * A library that is loaded by hand after CUDA was initialized can only be attached: the driver reads
 * its variable once.
 */
static bool is_loaded_late(void)
{
	return getenv(GP_INJECTION_CUDA) == NULL && is_cuda_started() &&
	       preloaded_function() == NULL;
}

__attribute__((constructor)) static void construct(void)
{
	int saved_errno = errno;

	if (is_trusted() && !is_loaded_late()) {
		prepare_once();
		if (gp_control_wants_process())
			gp_main_thread_watch();
	}
	errno = saved_errno;
}

/*
 * Called by the driver or by NVTX.  If the variable was set from the start, the constructor of a
 * needed library may call these entry points before our constructors have run, also from several
 * threads.
 */
static void prepare_if_needed(void)
{
	if (gp_load32_acquire(&preparation.is_over) != 0 || !is_trusted())
		return;
	gp_process_state_prepare();
	prepare_once();
	await_step(&preparation);
}

/* gpuprof-run has already done it for all processes. */
static void log_problems(void)
{
	if (gp_process_trace_in_session())
		return;
	gp_options_log_problems(environ);
	if (gp_nvtx_other_tool() != NULL)
		gp_log("NVTX_INJECTION64_PATH names another tool (%s): ranges are not recorded; to record them, type: unset NVTX_INJECTION64_PATH",
		       gp_nvtx_other_tool());
}

static void finish_session(uint64_t most_s)
{
	uint64_t timeout_s = gp_option_number(GP_OPTION_ID_FLUSH_TIMEOUT);

	gp_session_finish((timeout_s < most_s ? timeout_s : most_s) * 1000000000u);
}

/* Even without a trace, the fetching thread must stop before the driver shuts down. */
static void on_program_exit(void)
{
	if (gp_collector_is_live() || gp_collector_trace_path()[0] == '\0')
		finish_session(UINT64_MAX / 1000000000u);
}

static void close_before_exit(int status)
{
	gp_process_trace_ends(GP_END_STATUS, status);
	gp_process_trace_close(complete_recording, GP_FOLLOWED_BY_NOTHING);
}

/*
 * If not preloaded, calls of the program are not interposed, and other CUPTI clients stay
 * unnoticed.
 */
static void note_how_loaded(void)
{
	const void *function = preloaded_function();

	if (function != (const void *)(uintptr_t)InitializeInjection)
		gp_exit_slots_take(close_before_exit);
	if (is_attached)
		gp_emit_info(
			GP_INFO_NOTE,
			"gpuprof was attached to the running program: allocations, modules, ranges and stream names from before are unknown, and graphs that were instantiated before may lack records of their nodes");
	else if (function == NULL)
		gp_emit_info(
			GP_INFO_NOTE,
			"gpuprof was loaded by " GP_INJECTION_CUDA
			" alone: CUPTI serves either gpuprof or a profiler inside the program, such as torch.profiler; start the program with gpuprof-run to use both");
}

static void at_program_exit(void)
{
	static bool is_registered;

	if (!is_registered)
		atexit(on_program_exit);
	is_registered = true;
}

/* Inside the driver, on the thread that creates the process's first context. */
static void on_first_context(void)
{
	bool has_trace = gp_process_trace_start();
	/* also without a trace: some thread has to empty CUPTI's buffers */
	int error = gp_session_start_fetching();

	if (error != 0 && has_trace)
		gp_log(GP_NO_ACTIVITY
		       "gpuprof's thread cannot be started: %s; the user or the container has too many threads: raise that limit (ulimit -u, or the pids limit of the container)",
		       gp_error_text(-error));
	at_program_exit();
	if (!has_trace)
		return;
	if (gp_process_trace_in_session())
		gp_term_signal_install(close_for_term);
	gp_session_emit_facts();
	note_how_loaded();
	gp_count(GP_COUNTER_START_TICKS, start_up_ticks);
}

static void start_session(void)
{
	uint64_t begin_ticks = gp_clock_ticks();

	log_problems();
	if (gp_session_start(on_first_context) != 0)
		gp_process_trace_report(GP_SESSION_FAILED);
	start_up_ticks = gp_clock_ticks() - begin_ticks;
}

int InitializeInjection(void)
{
	int saved_errno = errno;

	prepare_if_needed();
	if (is_trusted() && begin_step(&start)) {
		gp_process_trace_report(GP_SESSION_DRIVER);
		if (gp_control_wants_process())
			start_session();
		else
			gp_process_trace_report(GP_SESSION_LEFT_OUT);
		end_step(&start);
	}
	errno = saved_errno;
	return 1; /* 0 would make the driver unload us */
}

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table)
{
	prepare_if_needed();
	return gp_nvtx_initialize(get_export_table);
}

/* The program calls CUPTI, which loads the driver; if the driver is to load us, start first. */
static void start_for_client(void)
{
	if (!is_injected() || dlopen("libcuda.so.1", RTLD_NOW) == NULL)
		return;
	InitializeInjection();
	/*
	 * another thread may be inside it in cuInit: without the wait, the program would get CUPTI
	 * first
	 */
	await_step(&start);
}

/* Logged only at the end, because most programs that have the variables set do not use the GPU. */
static void log_driver_not_found(void)
{
	const char *named;

	if (gp_load32(&start.thread) != 0 || gp_load32(&preparation.is_over) == 0 ||
	    gp_sys_process_id() != constructed || gp_output_path_library()[0] == '\0' ||
	    !was_cuda_started())
		return;
	/* only now: both read the environment, which a child of vfork() may have left invalid */
	if (!gp_control_wants_process())
		return;
	named = getenv(GP_INJECTION_CUDA);
	if (is_under_ncu) {
		gp_process_trace_report(GP_SESSION_FAILED);
		gp_log("nothing was recorded: Nsight Compute (ncu) profiles this program, and excludes other tools; to record with gpuprof, run it without ncu");
	} else if (named == NULL && is_logged) {
		gp_process_trace_report(GP_SESSION_FAILED);
		gp_log(GP_NO_ACTIVITY
		       "the program removed " GP_INJECTION_CUDA
		       " from its environment before it used CUDA, which loads gpuprof by it; to record, keep that variable");
	} else if (named != NULL && !is_injected() && !gp_process_trace_in_session()) {
		/* else gpuprof-run has reported it at the start */
		gp_log(GP_NO_ACTIVITY GP_INJECTION_CUDA
		       " names another tool (%s); to record with gpuprof, type: unset " GP_INJECTION_CUDA,
		       named);
	}
}

static void complete_recording(void)
{
	finish_session(QUICK_FLUSH_S);
}

/* The exit handler runs after this one if the first context was created before our constructor. */
__attribute__((destructor)) static void destruct(void)
{
	gp_process_trace_close(complete_recording, GP_FOLLOWED_BY_HANDLERS);
	log_driver_not_found();
}

/* An end that runs neither our exit handler nor our destructor. */
static void close_on_quick_exit(void)
{
	gp_process_trace_close(complete_recording, GP_FOLLOWED_BY_HANDLERS);
}

static void close_for_exec(void)
{
	gp_process_trace_ends(GP_END_EXEC, 0);
	gp_process_trace_close(complete_recording, GP_FOLLOWED_BY_PROGRAM);
}

/* In a signal handler, which then ends the process. */
static void close_for_term(void)
{
	gp_process_trace_ends(GP_END_SIGNAL, SIGTERM);
	gp_process_trace_close(complete_recording, GP_FOLLOWED_BY_NOTHING);
}

/*
 * The end without exit handlers, interposed: Python's multiprocessing ends every worker this way.
 * It may be called in a signal handler, or by a child of vfork() or fork(): only the recording
 * process waits, and not for long.
 */
void _exit(int status)
{
	close_before_exit(status);
	for (;;)
		syscall(SYS_exit_group, status);
}

void _Exit(int status)
{
	_exit(status);
}

/* ---- attached to a running program ---- */

static void on_first_context_attached(void)
{
	on_first_context();
	gp_control_attach();
}

/* No variable of the program's environment, no handler: the program runs, also in other threads. */
static void prepare_attached(char *const *options)
{
	gp_log_keep();
	gp_sys_remember_filter();
	gp_sys_set_masks_by(
		(gp_sys_mask_setter *)gp_dlsym_in_libc("pthread_attr_setsigmask_np", 0));
	gp_options_read(options);
	gp_memory_budget_init(gp_option_bytes(GP_OPTION_ID_MAX_MEMORY));
	gp_output_path_remember();
	gp_process_trace_init(close_on_quick_exit);
	gp_process_trace_confine();
	gp_control_init_attached();
	if ((gp_trace_list() & GP_TRACE_NVTX) != 0)
		gp_ranges_enable(true);
}

/* Whether something else than gp_init_attach() has prepared this library; it claims that. */
static bool is_prepared_otherwise(void)
{
	if (is_attached)
		return false;
	constructed = gp_sys_process_id();
	if (!begin_step(&preparation))
		return true;
	end_step(&preparation);
	if (begin_step(&start))
		end_step(&start);
	return false;
}

int gp_init_attach(char *const *options)
{
	if (!is_trusted())
		return -EPERM;
	if (is_prepared_otherwise())
		return -EALREADY;
	is_attached = true;
	prepare_attached(options);
	if (gp_session_start(on_first_context_attached) != 0) {
		gp_control_detach(); /* gpuprof_start() opens nothing, so that no range begins a trace */
		return -EBUSY;
	}
	if (!gp_session_adopt_contexts() || gp_process_trace_start())
		return 0;
	gp_init_detach(); /* the trace cannot be written */
	return -EBUSY;
}

/* CUPTI goes off only once the running kernels have their records. */
static void close_gate(void)
{
	uint64_t give_up_ns = gp_sys_now_ns() + DETACH_MOST_NS;

	gp_recording_gate_hold(true);
	gp_control_detach();
	gp_session_await_records(gp_option_number(GP_OPTION_ID_FLUSH_TIMEOUT) * 1000000000u);
	gp_recording_gate_hold(false);
	while (gp_collector_is_live() && !gp_recording_gate_is_off() &&
	       gp_sys_now_ns() < give_up_ns)
		gp_sys_sleep(DETACH_POLL_NS);
}

static bool await_threads(void)
{
	uint64_t give_up_ns = gp_sys_now_ns() + DETACH_MOST_NS;

	while (gp_load32_acquire(&gp_process_state.own_threads) != 0 &&
	       gp_sys_now_ns() < give_up_ns)
		gp_sys_sleep(DETACH_POLL_NS);
	return gp_load32_acquire(&gp_process_state.own_threads) == 0;
}

int gp_init_detach(void)
{
	close_gate();
	finish_session(UINT64_MAX / 1000000000u); /* also without a trace */
	gp_process_trace_close(complete_recording, GP_FOLLOWED_BY_PROGRAM);
	gp_session_leave();
	if (!await_threads())
		return -ETIMEDOUT;
	gp_stack_forget();
	gp_process_trace_forget();
	return 0;
}
