#include "inject/finish_command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpuprof/option.h"
#include "gpuprof/shell_word.h"
#include "collector/atomic.h"
#include "collector/process_state.h"
#include "collector/sys.h"
#include "inject/dlsym.h"
#include "inject/options.h"
#include "inject/output_path.h"
#include "inject/log.h"

#define STACK_BYTES       (64u * 1024u)
#define USUAL_STACK_BYTES (8u << 20)
#define PROGRESS_FD       3
#define MOST_VARIABLES    4096
#define DONE              '\0' /* the last progress byte; all others are the child's */
#define REAP_PAUSE_NS     50000u
#define REAP_MOST_NS      500000000u
/*
 * Signals by which the terminal would stop the child alone: the waiting program holds all signals.
 */
#define HELD ((uint64_t)1 << (SIGTTOU - 1) | (uint64_t)1 << (SIGTSTP - 1))

/*
 * Three processes: the program; a helper, which shares the program's memory, never execs, and
 * therefore ends without SIGCHLD (a child that execs always sends SIGCHLD); and `gpuprof`, the
 * helper's child.  The helper exists only to be that parent.
 */
struct job {
	char *arguments[10];
	char summary[PATH_MAX]; /* absolute path, independent of the program's working directory */
	char *environment[MOST_VARIABLES + 1];
	int progress_fd;
	bool has_stderr; /* whether standard error is visible */
	char *child_stack;
	volatile pid_t helper; /* its pid in its own namespace */
	volatile pid_t child;  /* its pid as the helper sees it; 0 = not running */
	volatile int status;   /* of the child; -1 = could not be run */
};

/*
 * All three share one memory: the program's sanitizer would corrupt its thread state in its own
 * versions of these calls.
 */
typedef int clone_function(int (*run)(void *), void *stack_end, int flags, void *data, ...);
static clone_function *clone_directly = clone;

/*
 * Run by the constructor, not at the end of the process: the lookup takes the loader's lock, which
 * a thread that hangs in a constructor may hold.
 */
static __attribute__((constructor)) void find_clone(void)
{
	clone_directly = (clone_function *)gp_dlsym_in_libc("clone", (uintptr_t)clone);
}

/* Valgrind ends a program at an unknown clone(). */
static bool is_under_valgrind;

/* Valgrind preloads a library of its own. */
static __attribute__((constructor)) void detect_valgrind(void)
{
	const char *preloaded = getenv("LD_PRELOAD");

	is_under_valgrind = preloaded != NULL && strstr(preloaded, "/vgpreload_") != NULL;
}

static void reset_signal(int number)
{
	static const uint64_t standard[4]; /* the kernel's layout: SIG_DFL, nothing else */

	syscall(SYS_rt_sigaction, number, standard, NULL, sizeof(standard[3]));
}

static bool is_dropped(const char *variable)
{
	static const char *const dropped[] = {"LD_PRELOAD=", "CUDA_INJECTION64_PATH=",
					      "NVTX_INJECTION64_PATH=", GP_OPTION_PREFIX};

	for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++)
		if (strncmp(variable, dropped[i], strlen(dropped[i])) == 0)
			return true;
	return false;
}

/*
 * The program's environment, but with our options as they were at the start: the program may have
 * changed them.
 */
static void copy_environment(struct job *job, bool with_options)
{
	size_t count = 0;

	for (int option = 0; with_options && option < GP_OPTIONS; option++)
		if (gp_option_variable(option) != NULL)
			job->environment[count++] = (char *)(uintptr_t)gp_option_variable(option);
	for (char **variable = environ; variable != NULL && *variable != NULL; variable++)
		if (!is_dropped(*variable) && count < MOST_VARIABLES)
			job->environment[count++] = *variable;
	job->environment[count] = NULL;
}

/*
 * Soft limits are meant for the program, not for this child, and a process may raise them.  The
 * file size limit stays: it protects the disk.
 */
static void raise_limits(void)
{
	static const struct {
		int resource;
		rlim_t enough;
	} wanted[] = {{RLIMIT_AS, RLIM_INFINITY},
		      {RLIMIT_DATA, RLIM_INFINITY},
		      {RLIMIT_CPU, RLIM_INFINITY},
		      {RLIMIT_NOFILE, RLIM_INFINITY},
		      {RLIMIT_STACK, USUAL_STACK_BYTES}};
	struct rlimit limit;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (syscall(SYS_prlimit64, 0, wanted[i].resource, NULL, &limit) != 0 ||
		    limit.rlim_cur >= wanted[i].enough)
			continue;
		limit.rlim_cur =
			limit.rlim_max < wanted[i].enough ? limit.rlim_max : wanted[i].enough;
		syscall(SYS_prlimit64, 0, wanted[i].resource, &limit, NULL);
	}
}

/* For a standard error that is no longer the original file: write to /dev/null. */
static void discard_stderr(void)
{
	long nothing;

	syscall(SYS_close, STDERR_FILENO); /* first: no other descriptor may be available */
	nothing = syscall(SYS_openat, AT_FDCWD, "/dev/null", O_WRONLY);
	if (nothing < 0) /* without it, the output would go to the program's files */
		syscall(SYS_exit, 127);
	if (nothing != STDERR_FILENO)
		syscall(SYS_dup3, nothing, STDERR_FILENO, 0);
}

/*
 * In the grandchild, before exec: give it the state of a fresh process, with no descriptors but 0,
 * 1, 2 and ours.
 */
static void reset_process(const struct job *job)
{
	for (int number = 1; number < NSIG; number++)
		reset_signal(number);
	gp_sys_let_signals(HELD);
	/* first: its number may be one of those below, which the program had closed */
	if (job->progress_fd == PROGRESS_FD)
		syscall(SYS_fcntl, PROGRESS_FD, F_SETFD, 0);
	else
		syscall(SYS_dup3, job->progress_fd, PROGRESS_FD, 0);
	if (!job->has_stderr)
		discard_stderr();
	syscall(SYS_fcntl, STDERR_FILENO, F_SETFD, 0); /* Node.js sets it to close on exec */
	/* all output goes to our log, never to the program's stdout */
	syscall(SYS_dup3, STDERR_FILENO, STDOUT_FILENO, 0);
	syscall(SYS_close_range, PROGRESS_FD + 1, ~0u, 0);
	raise_limits();
}

static int run_program(void *data)
{
	struct job *job = data;

	/* before exec, which may hang with the file system */
	job->child = (pid_t)syscall(SYS_getpid);
	syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
	reset_process(job);
	/* the real system call: our execve() would change the environment */
	syscall(SYS_execve, job->arguments[0], job->arguments, job->environment);
	syscall(SYS_exit, 127);
	return 0;
}

/*
 * The child shares our memory until it execs, on a stack of its own: no page is copied, no frame of
 * ours touched.
 */
static int helper(void *data)
{
	struct job *job = data;
	static const char over = DONE;
	int status = -1;

	job->helper = (pid_t)syscall(SYS_getpid);
	reset_signal(SIGCHLD); /* only in the helper; if ignored, a child would leave no status */
	job->child = clone_directly(run_program, job->child_stack + STACK_BYTES,
				    CLONE_VM | CLONE_VFORK | SIGCHLD, job);
	if (job->child > 0)
		while (syscall(SYS_wait4, job->child, &status, __WALL, NULL) < 0 && errno == EINTR)
			;
	job->child = 0;
	job->status = status;
	/* an explicit byte: the pipe may stay open in a child that another thread forked */
	syscall(SYS_write, job->progress_fd, &over, sizeof(over));
	syscall(SYS_exit, 0);
	return 0;
}

/* Wait until the job is over; false if no progress byte came for timeout_ns. */
static bool watch(int read_fd, uint64_t timeout_ns)
{
	char signs[64];

	for (;;) {
		struct pollfd wait = {.fd = read_fd, .events = POLLIN};
		int ready = poll(&wait, 1, (int)(timeout_ns / 1000000u));
		ssize_t count;

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			return false;
		gp_add32(&gp_process_state.close_signs, 1);
		count = read(read_fd, signs, sizeof(signs));
		if (count <= 0 || signs[count - 1] == DONE)
			return true;
	}
}

/* Whether it ends within a second. */
static bool reap_soon(pid_t helper)
{
	pid_t ended = waitpid(helper, NULL, __WCLONE | WNOHANG);

	for (uint64_t pause_ns = REAP_PAUSE_NS; ended == 0 && pause_ns < REAP_MOST_NS;
	     pause_ns *= 2) {
		gp_sys_sleep(pause_ns);
		ended = waitpid(helper, NULL, __WCLONE | WNOHANG);
	}
	return ended != 0;
}

/*
 * The child first: then the helper reaps it.  If its pid is of another namespace, or it hangs with
 * a file system, kill the helper, which takes the child along.  A helper that hangs as well is left
 * behind.
 */
static void end_helper(const struct job *job, pid_t helper)
{
	if (waitpid(helper, NULL, __WCLONE | WNOHANG) != 0)
		return; /* the pid is unused by now, or reused */
	if (job->helper == helper) {
		if (job->child > 0)
			kill(job->child, SIGKILL);
		if (reap_soon(helper))
			return;
	}
	kill(helper, SIGKILL);
	reap_soon(helper);
}

static bool run_helper(struct job *job, const int pipe_fds[2], uint64_t timeout_ns)
{
	/* not mapped: the program may be at its memory limit */
	static char stacks[2 * STACK_BYTES] __attribute__((aligned(16)));

	job->child_stack = stacks + STACK_BYTES;
	pid_t pid = clone_directly(helper, stacks + STACK_BYTES, CLONE_VM, job);

	close(pipe_fds[1]);
	if (pid < 0)
		return false;
	bool progressed = watch(pipe_fds[0], timeout_ns);

	if (progressed)
		reap_soon(pid);
	else
		end_helper(job, pid);
	return progressed && WIFEXITED(job->status) && WEXITSTATUS(job->status) == 0;
}

/* In /tmp, another user may have put a program under that name. */
static bool is_trusted(const char *program, const char *library)
{
	struct stat of_program, of_library;

	return gp_sys_stat(program, &of_program) == 0 && gp_sys_stat(library, &of_library) == 0 &&
	       (of_program.st_uid == 0 || of_program.st_uid == geteuid() ||
		of_program.st_uid == of_library.st_uid) &&
	       !(of_program.st_mode & S_IWOTH);
}

/* Beside the library in a build folder, in ../bin of an installation. */
static bool find_program(char *program, size_t bytes)
{
	static const char *const places[] = {"gpuprof", "../bin/gpuprof", "../../bin/gpuprof"};
	const char *library = gp_output_path_library();
	const char *slash = strrchr(library, '/');

	for (size_t i = 0; slash != NULL && i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(program, bytes, "%.*s/%s", (int)(slash - library), library, places[i]);
		if (access(program, X_OK) == 0 && is_trusted(program, library))
			return true;
	}
	return false;
}

static void place_summary(struct job *job)
{
	const char *where = gp_option_text(GP_OPTION_ID_SUMMARY);

	if (strcmp(where, "stderr") == 0 || strcmp(where, "none") == 0 ||
	    gp_output_path_absolute(where, job->summary, sizeof(job->summary)) != 0)
		snprintf(job->summary, sizeof(job->summary), "%s", where);
}

static bool run(const char *program, const char *trace_path, bool only_names, uint64_t timeout_ns)
{
	static struct job job; /* static, as in gp_finish_command_run() */
	/* before a pipe gets the number of a closed descriptor */
	bool has_stderr = gp_log_is_visible();
	int pipe_fds[2];

	if (pipe2(pipe_fds, O_CLOEXEC) != 0)
		return false;
	job.arguments[0] = (char *)program;
	job.arguments[1] = "finish";
	job.arguments[2] = "--progress-fd=3";
	job.arguments[3] = "--summary";
	job.arguments[4] = job.summary;
	job.arguments[5] = (char *)trace_path;
	job.has_stderr = has_stderr;
	job.progress_fd = pipe_fds[1];
	job.status = -1;
	if (only_names) {
		job.arguments[6] = "--chrome";
		job.arguments[7] = "none";
		job.arguments[8] = "--quiet";
		strcpy(job.summary, "none");
	} else {
		place_summary(&job);
	}
	copy_environment(&job, !only_names);
	bool done = run_helper(&job, pipe_fds, timeout_ns);

	close(pipe_fds[0]);
	return done;
}

void gp_finish_command_keep_names(const char *trace_path, uint64_t timeout_ns)
{
	static char program[PATH_MAX + 32]; /* static, as in gp_finish_command_run() */

	if (!gp_sys_is_confined() && !is_under_valgrind && find_program(program, sizeof(program)))
		run(program, trace_path, true, timeout_ns);
}

void gp_finish_command_run(const char *trace_path, uint64_t timeout_ns)
{
	/* static: too large for a small stack; only one thread at a time */
	static char program[PATH_MAX + 32], word[GP_SHELL_WORD_BYTES], file[GP_SHELL_WORD_BYTES];

	if (gp_sys_is_confined()) /* also forbids checking whether a file exists */
		gp_log("the program restricts its system calls (seccomp), so gpuprof cannot print the summary; for the summary and the Chrome trace, type: gpuprof finish %s",
		       gp_shell_word(trace_path, word, sizeof(word)));
	else if (is_under_valgrind)
		gp_log("no process can be started under valgrind; for the summary and the Chrome trace, type: gpuprof finish %s",
		       gp_shell_word(trace_path, word, sizeof(word)));
	else if (!find_program(program, sizeof(program)))
		gp_log("the program gpuprof is not beside %s, so there is no summary; to see the recording, type: gpuprof summary %s",
		       gp_output_path_library(), gp_shell_word(trace_path, word, sizeof(word)));
	else if (!run(program, trace_path, false, timeout_ns))
		gp_log("the summary or the Chrome trace was not finished; make both with: %s finish %s",
		       gp_shell_word(program, file, sizeof(file)),
		       gp_shell_word(trace_path, word, sizeof(word)));
}
