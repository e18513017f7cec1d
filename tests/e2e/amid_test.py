"""What comes amid what the library does for itself: signals, jumps out of their handlers, forks, calls that fail, ends of threads.

The program goes on, or ends, as without us."""
import os
import pty
import shutil
import signal
import subprocess
import termios
import time
import unittest

import support
from support import BARE, LIBRARY, PLAIN, Case

PROGRAM = r"""
#define _GNU_SOURCE
#include "gpuprof/gpuprof.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static int *table;
static sigjmp_buf outside;

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int makes_timers; /* in place of the process's own one */

static void set_timer(long first_us, long every_us)
{
	struct itimerval timer = {{0, every_us}, {0, first_us}};
	struct itimerspec same = {{0, every_us * 1000}, {0, first_us * 1000}};
	timer_t made;

	if (!makes_timers)
		setitimer(ITIMER_REAL, &timer, NULL);
	else if (timer_create(CLOCK_MONOTONIC, NULL, &made) == 0)
		timer_settime(made, 0, &same, NULL);
}

static __attribute__((destructor)) void take_down(void)
{
	free(table);
	table = NULL;
}

static void leave(int number)
{
	(void)number;
	_exit(3);
}

static void use_table(int number)
{
	(void)number;
	++*table;
}

static void jump(int number)
{
	(void)number;
	siglongjmp(outside, 1);
}

static volatile sig_atomic_t child_has_ended;

static void note_child(int number)
{
	(void)number;
	child_has_ended = 1;
}

/* A handler of quick_exit(), behind ours: what it waits for came amid our end. */
static void await_child(void)
{
	sigset_t children, before;

	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	sigprocmask(SIG_BLOCK, &children, &before);
	while (!child_has_ended)
		sigsuspend(&before);
	puts("the child has ended");
	fflush(stdout);
}

/* As await_child(), of an end that a timer is to limit. */
static void hang(void)
{
	for (;;)
		pause();
}

/* It is pending before the first range, or comes when threads of others are there. */
static void wait_for_blocked(int number, int first)
{
	sigset_t wanted;
	int came;

	sigemptyset(&wanted);
	sigaddset(&wanted, number);
	if (!first)
		gpuprof_mark("before");
	sigprocmask(SIG_BLOCK, &wanted, NULL);
	kill(getpid(), number);
	gpuprof_mark("after");
	sigwait(&wanted, &came);
	printf("%d came\n", came);
	fflush(stdout);
}

static void leave_by_quick_exit(long us)
{
	signal(SIGCHLD, note_child);
	if (fork() == 0) {
		usleep((useconds_t)us);
		syscall(SYS_exit_group, 0);
	}
	quick_exit(3);
}

static void *reap_whoever_ends(void *unused)
{
	for (;;)
		if (waitpid(-1, NULL, __WALL) < 0)
			usleep(1000);
	return unused;
}

/* As servers do: it is pending, and stays so. */
static void have_sigpipe_pending(void)
{
	sigset_t pipe_alone;
	int fds[2];

	sigemptyset(&pipe_alone);
	sigaddset(&pipe_alone, SIGPIPE);
	sigprocmask(SIG_BLOCK, &pipe_alone, NULL);
	if (pipe(fds) != 0 || close(fds[0]) != 0 || write(fds[1], "x", 1) >= 0)
		_exit(1);
}

static void say_what_is_pending(void)
{
	sigset_t pending;

	sigpending(&pending);
	printf("SIGPIPE is %s\n", sigismember(&pending, SIGPIPE) ? "pending" : "gone");
	fflush(stdout);
}

/* A child whose recording cannot start, and which forks. */
static void fork_in_an_empty_root(const char *folder)
{
	unsigned char resident;
	int status;

	if (fork() == 0) {
		if (chroot(folder) != 0)
			_exit(1);
		gpuprof_mark("child");
		if (fork() == 0)
			syscall(SYS_exit_group, mincore(NULL, 4096, &resident) == 0 ? 1 : 5);
		wait(&status);
		_exit(WEXITSTATUS(status));
	}
	wait(&status);
	printf("page 0 is %s\n", status == 5 << 8 ? "not there" : "there");
	fflush(stdout);
}

static void *leave_by_the_system_call(void *unused)
{
	usleep(50000);
	syscall(SYS_exit, 0);
	return unused;
}

static void *do_nothing(void *unused)
{
	return unused;
}

/* The handler ends the process wherever it interrupts the C library. */
static void make_threads(long us)
{
	pthread_t threads[16];

	signal(SIGALRM, leave);
	set_timer(us, 0);
	for (;;) {
		for (int i = 0; i < 16; i++)
			if (pthread_create(&threads[i], NULL, do_nothing, NULL) != 0)
				_exit(1);
		for (int i = 0; i < 16; i++)
			pthread_join(threads[i], NULL);
	}
}

static void *push(void *unused)
{
	double start_s = now_s();

	for (int i = 0; i < 4; i++) {
		gpuprof_range_push("other");
		gpuprof_range_pop();
	}
	printf("ranges of another thread are %s\n", now_s() - start_s < 1.5 ? "quick" : "slow");
	return unused;
}

/* Out of the first range, which makes the trace. */
static void leave_by_a_jump(long us)
{
	pthread_t thread;
	int state;

	signal(SIGALRM, jump);
	if (sigsetjmp(outside, 1) == 0) {
		set_timer(us, 0);
		gpuprof_range_push("first");
		gpuprof_range_pop();
		for (;;)
			;
	}
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	printf("cancellation is %s\n", state == PTHREAD_CANCEL_ENABLE ? "enabled" : "disabled");
	pthread_create(&thread, NULL, push, NULL);
	pthread_join(thread, NULL);
}

/* Children that live on have all descriptors that were open just then. */
static void *fork_children(void *unused)
{
	for (int i = 0; i < 2000; i++)
		if (fork() == 0) {
			close(STDOUT_FILENO);
			close(STDERR_FILENO);
			alarm(20);
			pause();
		}
	return unused;
}

static void *use_lowest_number(void *unused)
{
	double end_s = now_s() + 3;
	long wrong = 0;

	while (now_s() < end_s)
		for (int i = 0; i < 1000; i++) {
			int fd;

			close(STDIN_FILENO);
			fd = open("/dev/null", O_RDONLY);
			wrong += fd != STDIN_FILENO;
			if (fd != STDIN_FILENO) {
				dup2(fd, STDIN_FILENO);
				close(fd);
			}
		}
	printf("%ld descriptors had another number\n", wrong);
	fflush(stdout);
	return unused;
}

static void *wait_a_little(void *unused)
{
	usleep(100000);
	puts("the worker has ended");
	fflush(stdout);
	return unused;
}

static void refuse(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = -EPERM;
}

static volatile int came_elsewhere;

static void look_where(int number)
{
	(void)number;
	if (syscall(SYS_gettid) != getpid())
		came_elsewhere = 1;
}

/* A program of one thread makes its first range while signals come to the process. */
static void be_told_often(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct itimerspec often = {{0, 15000}, {0, 15000}};
	timer_t timer;

	signal(SIGUSR1, look_where);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &often, NULL);
	gpuprof_mark("begins");
	timer_delete(timer);
	if (came_elsewhere)
		puts("a handler ran in another thread");
}

/* As a collector of garbage stops all threads that it knows, of which one makes its first range then. */
#define STOPPED 4

static sem_t has_stopped;
static int goes_on, stops_so_far, all_have_ended;

static void stop_here(int number)
{
	int so_far = __atomic_load_n(&stops_so_far, __ATOMIC_SEQ_CST), error = errno;
	sigset_t mask;

	(void)number;
	sigfillset(&mask);
	sigdelset(&mask, SIGUSR2);
	sem_post(&has_stopped);
	while (__atomic_load_n(&stops_so_far, __ATOMIC_SEQ_CST) == so_far)
		sigsuspend(&mask);
	sem_post(&has_stopped);
	errno = error;
}

static void go_on_here(int number)
{
	(void)number;
}

static void *allocate_much(void *unused)
{
	void *blocks[8];

	while (!__atomic_load_n(&all_have_ended, __ATOMIC_SEQ_CST)) {
		for (size_t i = 0; i < 8; i++)
			blocks[i] = malloc(200 + i * 3000);
		for (size_t i = 0; i < 8; i++)
			free(blocks[i]);
	}
	return unused;
}

static void *make_a_range(void *unused)
{
	while (!__atomic_load_n(&goes_on, __ATOMIC_SEQ_CST))
		;
	gpuprof_mark("begins");
	while (!__atomic_load_n(&all_have_ended, __ATOMIC_SEQ_CST))
		usleep(100);
	return unused;
}

static void tell(const pthread_t *threads, int number)
{
	for (int i = 0; i < STOPPED; i++)
		pthread_kill(threads[i], number);
	for (int i = 0; i < STOPPED; i++)
		while (sem_wait(&has_stopped) != 0)
			;
}

static void stop_all_threads(void)
{
	struct sigaction stop = {.sa_handler = stop_here, .sa_flags = SA_RESTART}, go_on = {.sa_handler = go_on_here};
	pthread_t threads[STOPPED];

	sem_init(&has_stopped, 0, 0);
	sigfillset(&stop.sa_mask);
	sigaction(SIGUSR1, &stop, NULL);
	sigaction(SIGUSR2, &go_on, NULL);
	for (int i = 0; i < STOPPED; i++)
		pthread_create(&threads[i], NULL, i == 0 ? make_a_range : allocate_much, NULL);
	usleep(20000);
	for (int i = 0; i < 100; i++) {
		__atomic_store_n(&goes_on, i >= 5, __ATOMIC_SEQ_CST);
		tell(threads, SIGUSR1);
		__atomic_add_fetch(&stops_so_far, 1, __ATOMIC_SEQ_CST);
		tell(threads, SIGUSR2);
		usleep(200);
	}
	__atomic_store_n(&all_have_ended, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < STOPPED; i++)
		pthread_join(threads[i], NULL);
}

/* What removes files raises a signal, whose handler is the program's. */
static void trap_removals(void)
{
	struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unlink, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unlinkat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof(program) / sizeof(program[0]), program};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static void *leave_at_once(void *unused)
{
	(void)unused;
	pthread_exit(NULL);
}

static void main_leaves(void *(*body)(void *))
{
	pthread_t thread;

	/* the first such thread makes the C library open a file */
	pthread_create(&thread, NULL, leave_at_once, NULL);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, body, NULL);
	pthread_detach(thread);
	pthread_exit(NULL);
}

int main(int argc, char **argv)
{
	const char *what = argv[1];
	long number = argc > 2 ? atol(argv[2]) : 0;
	pthread_t thread;

	table = calloc(1, sizeof(*table));
	if (!strcmp(what, "quick"))
		at_quick_exit(await_child); /* the last one that runs */
	if (!strcmp(what, "hang"))
		at_quick_exit(hang);
	if (!strcmp(what, "blocked first") || !strcmp(what, "blocked later"))
		wait_for_blocked((int)number, !strcmp(what, "blocked first"));
	if (!strcmp(what, "pending"))
		have_sigpipe_pending();
	if (!strcmp(what, "reaper"))
		pthread_create(&thread, NULL, reap_whoever_ends, NULL);
	if (!strcmp(what, "trap")) {
		trap_removals();
		execl("/proc/self/exe", argv[0], "trapped", NULL);
	}
	if (!strcmp(what, "trapped"))
		sigaction(SIGSYS, &(struct sigaction){.sa_sigaction = refuse, .sa_flags = SA_SIGINFO}, NULL);
	makes_timers = argc > 3 && !strcmp(argv[3], "timer_create");
	if (!strcmp(what, "jump"))
		leave_by_a_jump(number);
	else if (!strcmp(what, "stopped"))
		stop_all_threads();
	else if (!strcmp(what, "told"))
		be_told_often();
	else
		gpuprof_mark("begins");
	if (!strcmp(what, "threads"))
		make_threads(number);
	if (!strcmp(what, "late exit") || !strcmp(what, "late _exit"))
		set_timer(number, 0);
	if (!strcmp(what, "late _exit"))
		_exit(3);
	if (!strcmp(what, "tick")) {
		signal(SIGALRM, use_table);
		set_timer(number, number);
	}
	if (!strcmp(what, "forks")) {
		pthread_create(&thread, NULL, fork_children, NULL);
		usleep((useconds_t)number);
	}
	if (!strcmp(what, "namespace") && unshare(CLONE_NEWPID) != 0)
		return 4;
	if (!strcmp(what, "quick"))
		leave_by_quick_exit(number);
	if (!strcmp(what, "hang")) {
		set_timer(number, 0);
		quick_exit(3);
	}
	if (!strcmp(what, "pending"))
		say_what_is_pending();
	if (!strcmp(what, "root"))
		fork_in_an_empty_root(argv[2]);
	if (!strcmp(what, "raw"))
		main_leaves(leave_by_the_system_call);
	if (!strcmp(what, "lowest"))
		main_leaves(use_lowest_number);
	if (!strcmp(what, "alone"))
		main_leaves(wait_a_little);
	exit(3);
}
"""

# An exec that fails ends the recording; what is launched then fills nobody's buffers.
FAILED_EXEC = r"""
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern int cuInit(unsigned), cuDevicePrimaryCtxRetain(void **, int), cuCtxSetCurrent(void *), cuCtxSynchronize(void);
extern int cuModuleLoadData(void **, const void *), cuModuleGetFunction(void **, void *, const char *);
extern int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry step_kernel() { ret; }\n";

static long resident_kib(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[200];
	long kib = 0;

	while (fgets(line, sizeof(line), status))
		sscanf(line, "VmRSS: %ld", &kib);
	fclose(status);
	return kib;
}

int main(int argc, char **argv)
{
	char *arguments[] = {"nothing", NULL};
	void *context, *module, *kernel;
	long before;

	(void)argc;
	if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) || cuModuleLoadData(&module, ptx) ||
	    cuModuleGetFunction(&kernel, module, "step_kernel"))
		return 1;
	for (int i = 0; i < 1000; i++)
		cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
	execv(argv[1], arguments);
	before = resident_kib();
	for (int i = 0; i < 500000; i++)
		cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
	cuCtxSynchronize();
	puts(resident_kib() - before < 16384 ? "as small as before" : "larger and larger");
	return 0;
}
"""


class Amid(Case):

    def setUp(self):
        super().setUp()
        self.program = self.compile("amid", PROGRAM, f"-I{support.ROOT}/include", "-lpthread", "-lrt")

    def check(self, *arguments, returncode=3, stdout="", **variables):
        """Ends so with and without us; returns what we said."""
        for way in (PLAIN, BARE):
            own = {} if way == PLAIN else {"GPUPROF_OUTPUT": "t", "GPUPROF_CHROME": "none", **variables}
            result = self.run_program([self.program, *arguments], way, **own)
            self.assertEqual((result.returncode, result.stdout), (returncode, stdout), (arguments, way, result.stderr))
        for name in self.files(".gpuprof"):
            os.unlink(self.path(name))
        return result.stderr

    def test_a_handler_that_ends_the_process_amid_threads_that_come_and_go(self):
        for us in range(20000, 50000, 750):
            self.check("threads", str(us))

    def check_long_end(self, *arguments, **expected):
        """The summary goes where nobody reads, so that the end takes a second."""
        if not os.path.exists(self.path("nobody reads")):
            os.mkfifo(self.path("nobody reads"))
        start = time.monotonic()
        said = self.check(*arguments, **expected, GPUPROF_SUMMARY=self.path("nobody reads"), GPUPROF_FINISH_TIMEOUT="1")
        self.assertGreater(time.monotonic() - start, 1)
        self.assertLess(time.monotonic() - start, 8)
        self.assertIn("was not finished; make both with:", said)

    def test_signals_that_come_when_the_program_has_ended(self):
        for end in ("late exit", "late _exit"):
            for us in (300000, 600000):
                self.check_long_end(end, str(us))
            self.check_long_end(end, "300000", "timer_create")

    def test_a_handler_that_uses_what_is_gone_by_then(self):
        self.check_long_end("tick", "300000")
        self.check_long_end("tick", "300000", "timer_create")

    def test_a_signal_that_the_program_waits_for(self):
        self.check_long_end("quick", "300000", stdout="the child has ended\n")

    def test_a_timer_that_is_to_end_an_end(self):
        for us in ("300000", "900000"):
            self.check_long_end("hang", us, returncode=-signal.SIGALRM)
        self.check_long_end("hang", "300000", "timer_create", returncode=-signal.SIGALRM)

    def test_all_threads_are_stopped_amid_the_start(self):
        """One memory arena: each thread waits for the others in malloc()."""
        for _ in range(4):
            self.check("stopped", MALLOC_ARENA_MAX="1")

    def test_signals_amid_the_start_come_to_threads_of_the_program(self):
        for _ in range(5):
            self.check("told")

    def test_signals_that_are_blocked(self):
        for when in ("blocked first", "blocked later"):
            for number in (signal.SIGTRAP, signal.SIGSEGV, signal.SIGSYS, signal.SIGTERM, signal.SIGUSR1):
                if (when, number) != ("blocked later", signal.SIGSYS):  # our threads leave that to a filter
                    self.check(when, str(int(number)), stdout=f"{int(number)} came\n")

    def test_somebody_who_waits_for_all_children(self):
        for _ in range(5):
            self.assertNotIn("was not finished", self.check("reaper"))

    @unittest.skipUnless(os.geteuid() == 0, "needs the right to change its root folder")
    def test_a_child_that_cannot_record(self):
        os.mkdir(self.path("empty"))
        self.check("root", self.path("empty"), stdout="page 0 is not there\n")

    def test_a_last_thread_that_leaves_by_the_system_call(self):
        self.check("raw", returncode=0)

    @unittest.skipUnless(os.uname().machine == "x86_64", "its handler knows the registers of x86-64 only")
    def test_a_filter_whose_signal_the_program_handles(self):
        self.check("trap")

    def test_a_handler_that_leaves_the_start_by_a_jump(self):
        stdout = "cancellation is enabled\nranges of another thread are quick\n"
        for output in ("t", "/dev/null/t"):
            for us in (50, 100, 200, 300, 400, 500, 700, 1000, 1500, 2000, 3000, 5000):
                result = self.run_program([self.program, "jump", str(us)], BARE, GPUPROF_OUTPUT=output, GPUPROF_CHROME="none")
                self.assertEqual((result.returncode, result.stdout), (3, stdout), (output, us, result.stderr))

    def test_children_that_others_fork_amid_the_end(self):
        for us in range(1000, 4000, 500):
            start = time.monotonic()
            result = self.run_program([self.program, "forks", str(us)], BARE, GPUPROF_OUTPUT="t", GPUPROF_CHROME="none",
                                      GPUPROF_FINISH_TIMEOUT="8", GPUPROF_SUMMARY=self.path("summary"))
            subprocess.run(["pkill", "-KILL", "-f", self.program], check=False)
            if result.stderr.startswith("Fatal glibc error: array index"):  # glibc 2.36 forks while exit() removes fork handlers
                for name in self.files(".gpuprof"):
                    os.unlink(self.path(name))
                continue
            self.assertEqual((result.returncode, result.stderr), (3, ""))
            self.assertLess(time.monotonic() - start, 8)
            with open(self.path("summary"), encoding="utf-8") as file:
                self.assertIn("ranges and marks: 1", file.read())
            os.unlink(self.path("t.gpuprof"))

    @unittest.skipUnless(os.geteuid() == 0, "needs the right to make namespaces")
    def test_another_namespace_of_process_ids_and_a_summary_that_hangs(self):
        self.check_long_end("namespace")
        self.assertEqual(subprocess.run(["pgrep", "-f", self.path("t.gpuprof")], stdout=subprocess.PIPE, check=False).stdout, b"")

    def test_the_lowest_descriptor_is_the_programs(self):
        self.check("lowest", returncode=0, stdout="0 descriptors had another number\n")

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs the right to become somebody else")
    def test_a_main_thread_that_leaves_where_no_more_threads_may_be(self):
        """One of the program's, and as many of ours as the library has then: the one that would look is one too many."""
        os.chmod(self.folder, 0o777)
        user = str(60000 + os.getpid() % 5000)  # whose processes are these alone
        for most in range(3, 7):
            result = self.run_program(["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "bash", "-c",
                                       f'ulimit -u {most}; LD_PRELOAD={LIBRARY} exec "$0" alone', self.program], PLAIN,
                                      GPUPROF_OUTPUT="t%p", GPUPROF_CHROME="none", GPUPROF_SUMMARY="none")
            if "cannot be preloaded" in result.stderr:
                self.skipTest("others may not read the build folder")
            self.assertEqual((result.returncode, result.stdout), (0, "the worker has ended\n"), (most, result.stderr))

    def test_an_exec_that_fails(self):
        program = self.compile("failed_exec", FAILED_EXEC, f"-L{support.BUILD}/sim", "-lcuda")
        text = self.write("no program", "not a script either\n", 0o755)
        result = self.run_program([program, text], BARE, GPUPROF_OUTPUT="t", GPUPROF_CHROME="none", GPUPROF_SUMMARY="none")
        self.assertEqual((result.returncode, result.stdout), (0, "as small as before\n"))
        self.assertIn("the recording ended before", result.stderr)


class OurLines(Case):
    """What is said on standard error ends and stops nobody."""

    def setUp(self):
        super().setUp()
        self.program = self.compile("amid", PROGRAM, f"-I{support.ROOT}/include", "-lpthread")

    def test_a_log_that_may_not_grow(self):
        script = 'ulimit -f 0; exec 2>"$0"; exec "$@"'
        for what, stdout in (("none", ""), ("pending", "SIGPIPE is pending\n")):
            for preload in ("", LIBRARY):
                result = self.run_program(["bash", "-c", script, self.path("log"), "env", f"LD_PRELOAD={preload}", self.program, what], PLAIN,
                                          GPUPROF_OUTPUT="t", GPUPROF_CHROME="none")
                self.assertEqual((result.returncode, result.stdout, result.stderr), (3, stdout, ""))

    def run_in_the_background(self, **variables):
        """In a terminal that lets nobody there write; how the program ends, or "stopped"."""
        pid, terminal = pty.fork()
        if pid == 0:
            modes = termios.tcgetattr(0)
            modes[3] |= termios.TOSTOP
            termios.tcsetattr(0, termios.TCSANOW, modes)
            child = os.fork()
            if child == 0:
                os.setpgid(0, 0)
                os.execve(self.program, [self.program, "none"], support.environment(**variables))
            _, status = os.waitpid(child, os.WUNTRACED)
            with open(self.path("status"), "w", encoding="utf-8") as file:
                file.write("stopped" if os.WIFSTOPPED(status) else str(os.WEXITSTATUS(status)))
            os._exit(0)
        printed = b""
        try:
            while True:
                printed += os.read(terminal, 4096)
        except OSError:  # it was closed by all
            pass
        os.waitpid(pid, 0)
        os.close(terminal)
        with open(self.path("status"), encoding="utf-8") as file:
            return file.read(), printed.decode()

    def test_a_terminal_that_stops_who_writes(self):
        self.assertEqual(self.run_in_the_background(), ("3", ""))
        for output, words in (("/dev/null/t", "nothing is recorded"), (self.path("t"), "ranges and marks: 1")):
            status, printed = self.run_in_the_background(LD_PRELOAD=LIBRARY, GPUPROF_OUTPUT=output, GPUPROF_CHROME="none")
            self.assertEqual(status, "3", printed)
            self.assertIn(words, printed)


if __name__ == "__main__":
    support.main()
