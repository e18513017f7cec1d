"""What a program can see of itself is as without us: its state, before and after calls, on every kind of thread, beside other
libraries that are preloaded, and where it may not write."""
import os
import re
import shutil
import subprocess
import unittest

import support
from support import BARE, LAUNCHED, PLAIN, WAYS, Case, own_lines

# Prints its whole state at several points; --traps makes what is inexact in arithmetic a signal, too.
OBSERVER = r"""
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fenv.h>
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

extern int cuInit(unsigned), cuCtxCreate_v2(void **, unsigned, int), cuModuleLoadData(void **, const void *);
extern int cuModuleGetFunction(void **, void *, const char *), cuCtxSynchronize(void), cuCtxSetCurrent(void *);
extern int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
extern int cuMemAlloc_v2(uint64_t *, size_t), cuMemFree_v2(uint64_t), cuMemsetD8_v2(uint64_t, unsigned char, size_t);
extern int cuGetErrorName(int, const char **), cuMemcpyHtoD_v2(uint64_t, const void *, size_t);

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry step_kernel() { ret; }\n";
static void *context, *kernel;

static void show_signals(void)
{
	sigset_t blocked, pending;

	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	sigpending(&pending);
	printf("signals");
	for (int number = 1; number < NSIG; number++) {
		struct sigaction action;

		if (sigaction(number, NULL, &action) == 0)
			printf(" %d:%s%s%s%x", number, action.sa_handler == SIG_DFL ? "d" : action.sa_handler == SIG_IGN ? "i" : "h",
			       sigismember(&blocked, number) == 1 ? "b" : "", sigismember(&pending, number) == 1 ? "p" : "",
			       (unsigned)action.sa_flags);
	}
	puts("");
}

static void show_limits(void)
{
	for (int i = 0; i < RLIMIT_NLIMITS; i++) {
		struct rlimit limit;

		getrlimit(i, &limit);
		printf("limit %d %lx %lx\n", i, (long)limit.rlim_cur, (long)limit.rlim_max);
	}
}

static void show_files(void)
{
	struct stat status;

	printf("files");
	for (int fd = 0; fd < 1024; fd++)
		if (fstat(fd, &status) == 0)
			printf(" %d:%o", fd, status.st_mode & S_IFMT);
	printf(", lowest free %d", dup(0));
	puts("");
	close(3);
}

static void show_arithmetic(void)
{
	unsigned mxcsr;
	unsigned short word;

	__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
	__asm__ volatile("fnstcw %0" : "=m"(word));
	printf("arithmetic %x %x %x\n", mxcsr & ~0x3fu, word, fegetround()); /* the flags of what happened are everybody's */
}

static void show_process(void)
{
	char name[17] = "", folder[PATH_MAX];
	struct itimerval timer;
	stack_t stack;
	cpu_set_t set;
	mode_t mask = umask(0);
	int slow = 0;

	umask(mask);
	getitimer(ITIMER_REAL, &timer);
	sigaltstack(NULL, &stack);
	sched_getaffinity(0, sizeof(set), &set);
	prctl(PR_GET_NAME, name);
	prctl(PR_GET_TSC, &slow);
	printf("process %s, folder %s, mask %o, timer %d, personality %x, nice %d, policy %d, processors %d\n", name,
	       getcwd(folder, sizeof(folder)), mask, timer.it_value.tv_sec > 0, (unsigned)personality(0xffffffff),
	       getpriority(PRIO_PROCESS, 0), sched_getscheduler(0), CPU_COUNT(&set));
	printf("process %d %d %d %d %d %d %d, stack %d %zu, locale %s\n", prctl(PR_GET_DUMPABLE), prctl(PR_GET_KEEPCAPS),
	       prctl(PR_GET_TIMERSLACK), prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), prctl(PR_GET_SECCOMP), prctl(PR_GET_SECUREBITS),
	       slow, stack.ss_flags, stack.ss_size, setlocale(LC_ALL, NULL));
}

static void show(const char *when)
{
	printf("== %s\n", when);
	show_signals();
	show_limits();
	show_files();
	show_arithmetic();
	show_process();
	fflush(stdout);
}

static void check(const char *what, int result)
{
	if (result != 0 || errno != 4711)
		printf("%s: result %d, errno %d\n", what, result, errno);
	errno = 4711;
}

static void work(void)
{
	char bytes[64] = "";
	uint64_t memory;

	errno = 4711;
	check("set context", cuCtxSetCurrent(context));
	for (int i = 0; i < 20; i++)
		check("launch", cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
	check("allocate", cuMemAlloc_v2(&memory, 4096));
	check("copy", cuMemcpyHtoD_v2(memory, bytes, sizeof(bytes)));
	check("set", cuMemsetD8_v2(memory, 0, 4096));
	check("synchronize", cuCtxSynchronize());
	check("free", cuMemFree_v2(memory));
}

static void *on_a_small_stack(void *unused)
{
	(void)unused;
	work();
	return NULL;
}

static void *with_everything_blocked(void *unused)
{
	sigset_t all;

	(void)unused;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	work();
	show("all signals blocked");
	return NULL;
}

static void on_another_stack(int number)
{
	(void)number;
	work();
}

static void run_thread(void *(*body)(void *), size_t stack_bytes)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, stack_bytes);
	if (pthread_create(&thread, &attributes, body, NULL) || pthread_join(thread, NULL))
		exit(5);
}

static void handle_signal(size_t stack_bytes)
{
	stack_t stack = {.ss_sp = malloc(stack_bytes), .ss_size = stack_bytes};
	struct sigaction action = {.sa_handler = on_another_stack, .sa_flags = SA_ONSTACK | SA_RESTART};

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

static void prepare(int traps)
{
	struct itimerval timer = {{0, 0}, {100000, 0}};
	sigset_t some;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&some);
	sigaddset(&some, SIGTERM);
	sigaddset(&some, SIGRTMIN + 3);
	pthread_sigmask(SIG_BLOCK, &some, NULL);
	kill(getpid(), SIGTERM);
	setitimer(ITIMER_REAL, &timer, NULL);
	fesetround(FE_UPWARD);
	feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | (traps ? FE_INEXACT | FE_UNDERFLOW : 0));
	umask(0137);
	prctl(PR_SET_TIMERSLACK, 12345);
}

static int start(void)
{
	void *module;

	return cuInit(0) || cuCtxCreate_v2(&context, 0, 0) || cuModuleLoadData(&module, ptx) ||
	       cuModuleGetFunction(&kernel, module, "step_kernel");
}

static void *start_on_a_small_stack(void *unused)
{
	if (start())
		exit(3);
	return unused;
}

int main(int argc, char **argv)
{
	show("start");
	prepare(argc > 1 && !strcmp(argv[1], "--traps"));
	if (argc > 1 && !strcmp(argv[1], "--small"))
		run_thread(start_on_a_small_stack, PTHREAD_STACK_MIN);
	else if (start())
		return 3;
	cuCtxSetCurrent(context);
	show("context");
	work();
	show("work");
	run_thread(on_a_small_stack, PTHREAD_STACK_MIN);
	run_thread(with_everything_blocked, 1 << 20);
	handle_signal(16384);
	show("signal");
	feclearexcept(FE_ALL_EXCEPT);
	return 7;
}
"""

# Many threads at once, each with the smallest stack, each launches.
THREADS = r"""
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

extern int cuInit(unsigned), cuCtxCreate_v2(void **, unsigned, int), cuModuleLoadData(void **, const void *);
extern int cuModuleGetFunction(void **, void *, const char *), cuCtxSynchronize(void), cuCtxSetCurrent(void *);
extern int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry step_kernel() { ret; }\n";
static void *context, *kernel;
static pthread_barrier_t all;

static void *launch(void *unused)
{
	if (cuCtxSetCurrent(context) || cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL))
		exit(4);
	pthread_barrier_wait(&all);
	return unused;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t *threads = calloc(count, sizeof(*threads));
	pthread_attr_t attributes;
	void *module;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
	pthread_barrier_init(&all, NULL, count + 1);
	if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0) || cuModuleLoadData(&module, ptx) ||
	    cuModuleGetFunction(&kernel, module, "step_kernel"))
		return 1;
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], &attributes, launch, NULL))
			return 2;
	pthread_barrier_wait(&all);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	if (cuCtxSynchronize())
		return 3;
	printf("launches %d\n", count);
	return 0;
}
"""

# Walks its own stack with a library of its own, between calls of CUDA.
UNWINDER = r"""
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <stdint.h>
#include <stdio.h>

extern int cuInit(unsigned), cuCtxCreate_v2(void **, unsigned, int), cuMemAlloc_v2(uint64_t *, size_t);

static int walk(void)
{
	unw_context_t registers;
	unw_cursor_t cursor;
	int frames = 0;

	unw_getcontext(&registers);
	unw_init_local(&cursor, &registers);
	while (unw_step(&cursor) > 0)
		frames++;
	return frames;
}

__attribute__((noinline)) static int descend(int depth)
{
	uint64_t memory;
	int frames = depth == 0 ? walk() : descend(depth - 1);

	return cuMemAlloc_v2(&memory, 64) == 0 ? frames : -1;
}

int main(void)
{
	void *context;

	if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0))
		return 1;
	printf("frames %d\n", descend(20) - walk());
	return 0;
}
"""

LIBRARY_WITH_TLS = r"""
static __thread char bytes[1400] __attribute__((tls_model("initial-exec")));
int touch(void) { bytes[7]++; return bytes[7]; }
"""

LOADER_OF_TLS = r"""
#include <dlfcn.h>
#include <stdio.h>

extern int cuInit(unsigned);

int main(int argc, char **argv)
{
	void *library = cuInit(0) || argc < 2 ? NULL : dlopen(argv[1], RTLD_NOW);
	int (*touch)(void) = library ? (int (*)(void))dlsym(library, "touch") : NULL;

	printf("touched %d\n", touch ? touch() : -1);
	return touch ? 0 : 1;
}
"""


def find_library(name):
    for folder in ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"):
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    return None


class Untouched(Case):

    def compile_for_gpu(self, name, source, *flags):
        return self.compile(name, source, f"-L{support.BUILD}/sim", "-lcuda", *flags)

    def run_alike(self, arguments, **variables):
        """The same output and exit status in every way; returns the results."""
        results = {}
        for way in WAYS:
            own = {} if way == PLAIN else {"GPUPROF_OUTPUT": way.replace(" ", "-"), "GPUPROF_SUMMARY": "none", "GPUPROF_CHROME": "none"}
            results[way] = self.run_program(arguments, way, **{**own, **variables})
            self.assertEqual((results[way].stdout.splitlines(), results[way].returncode),
                             (results[PLAIN].stdout.splitlines(), results[PLAIN].returncode), results[way].stderr)
        return results

    def check_trace(self, way, *parts):
        summary = self.run_gpuprof("summary", self.path(way.replace(" ", "-") + ".gpuprof"))
        self.assertEqual(summary.returncode, 0, summary.stderr)
        for part in parts:
            self.assertIn(part, summary.stdout)

    def check_crowd(self, way, launches):
        """Where the machine is so busy that the writer does not get to run, records of calls are lost, and said to be; of kernels none is."""
        result = self.run_gpuprof("summary", self.path(way.replace(" ", "-") + ".gpuprof"))
        self.assertEqual((result.returncode, result.stderr), (0, ""), self.files())
        summary = result.stdout
        self.assertIn("\nRecords\n", summary)
        calls, kernels, lost = (int(found.group(1).replace(",", "")) if found else 0 for found in (
            re.search(r"([\d,]+) launches", summary[summary.index("\nRecords\n"):]), re.search(r"; ([\d,]+) GPU records", summary),
            re.search(r"([\d,]+) records dropped because no ring was available", summary)))
        self.assertEqual(kernels, launches, summary)  # who fetches them has a ring from the start
        if lost:
            self.assertGreaterEqual(calls + lost, launches, summary)  # names of threads may be among the lost
        else:
            self.assertEqual(calls, launches, summary)
            self.assertIn("nothing was dropped", summary)

    def observe(self, *arguments, **variables):
        results = self.run_alike([self.compile_for_gpu("observer", OBSERVER, "-lpthread", "-lm"), *arguments], **variables)
        self.assertEqual(results[PLAIN].returncode, 7, results[PLAIN].stdout)
        self.assertNotIn("errno", results[PLAIN].stdout)
        for way in (BARE, LAUNCHED):
            self.assertEqual([line for line in results[way].stderr.splitlines() if not line.startswith("gpuprof: pid ")], [])
            self.check_trace(way, "all 80 launches have their kernel record", "nothing was dropped")

    def test_the_state_of_a_program(self):
        self.observe()

    def test_with_stacks_of_every_call(self):
        self.observe(GPUPROF_STACKS="all", GPUPROF_TRACE="default,sync,event")

    def test_a_first_call_on_a_small_stack(self):
        self.observe("--small")

    def test_arithmetic_whose_every_exception_is_a_signal(self):
        self.observe("--traps")

    def test_ten_thousand_threads_at_once(self):
        program = self.compile_for_gpu("threads", THREADS, "-lpthread")
        results = self.run_alike([program, "10000"])
        if results[PLAIN].returncode:
            self.skipTest("this machine does not let a program have as many")
        self.assertEqual(results[BARE].stderr, "")
        for way in (BARE, LAUNCHED):
            self.check_crowd(way, 10000)

    def test_other_allocators_that_are_preloaded(self):
        found = 0
        for name in ("libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libtcmalloc.so.4", "libmimalloc.so.2"):
            allocator = find_library(name)
            found += allocator is not None
            for preload in ([allocator, support.LIBRARY], [support.LIBRARY, allocator]) if allocator else ():
                with self.subTest(preload):
                    result = self.run_program([*support.GPU, "launch=100"], PLAIN, LD_PRELOAD=":".join(preload),
                                              GPUPROF_STACKS="all")
                    self.assertEqual((result.returncode, result.stdout), (0, "launches 100\n"), result.stderr)
                    self.assertIn("all 100 launches have their kernel record", result.stderr)
        if not found:
            self.skipTest("no other allocator is installed")

    def test_a_program_with_its_own_unwinder(self):
        results = self.run_alike([self.compile_for_gpu("unwinder", UNWINDER, "-lunwind")], GPUPROF_STACKS="all")
        self.assertEqual(results[PLAIN].stdout, "frames 21\n")

    def test_libraries_that_want_static_thread_local_memory(self):
        library = self.compile("libtls.so", LIBRARY_WITH_TLS, "-shared", "-fPIC")
        results = self.run_alike([self.compile_for_gpu("loader", LOADER_OF_TLS, "-ldl"), library])
        if results[PLAIN].returncode:
            self.skipTest("this C library has not as much to give")

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root to become somebody else")
    def test_an_ordinary_user_whose_mask_forbids_everything(self):
        os.chmod(self.folder, 0o777)
        for mask in ("0277", "0777"):
            result = self.run_program(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c",
                                       f"umask {mask}; exec env LD_PRELOAD={support.LIBRARY} {support.BUILD}/programs/launch"],
                                      PLAIN, GPUPROF_OUTPUT="trace", GPUPROF_CHROME="none")
            if "cannot be preloaded" in result.stderr:
                self.skipTest("others may not read the build folder")
            self.assertIn("all 500 launches have their kernel record", result.stderr)
            self.assertEqual(os.stat(self.path("trace.gpuprof")).st_mode & 0o777, 0o600)
            os.unlink(self.path("trace.gpuprof"))

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv") and shutil.which("bash"), "needs root to become somebody else")
    def test_a_user_who_may_have_no_more_threads(self):
        """Some of ours start and others do not, or none does: the program ends as without us, and what its trace lacks is said."""
        os.chmod(self.folder, 0o777)
        user = str(60000 + os.getpid() % 5000)  # whose processes are these alone
        become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
        said = {}
        for most in (0, 1, 2, 3, 4, 5, 40):
            results = [self.run_program([*become, "bash", "-c", f"ulimit -u {most}; exec env {own} {support.BUILD}/programs/launch"], PLAIN,
                                        GPUPROF_OUTPUT=f"trace{most}", GPUPROF_CHROME="none") for own in ("A=b", f"LD_PRELOAD={support.LIBRARY}")]
            if "cannot be preloaded" in results[1].stderr:
                self.skipTest("others may not read the build folder")
            self.assertEqual((results[0].returncode, results[0].stderr), (0, ""))
            self.assertEqual((results[1].returncode, results[1].stdout), (0, results[0].stdout), f"{most}: {results[1].stderr}")
            said[most] = results[1].stderr
        self.assertIn("nothing is recorded: gpuprof's thread cannot be started: Resource temporarily unavailable", said[0])
        self.assertIn("ulimit -u", said[0])
        self.assertNotIn("no GPU activity is recorded", said[0])
        self.assertIn("all 500 launches have their kernel record", said[40])

    def can_mount(self):
        return os.geteuid() == 0 and shutil.which("unshare") and subprocess.run(
            ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], check=False, stderr=subprocess.DEVNULL).returncode == 0

    def test_a_disk_that_is_read_only(self):
        if not self.can_mount():
            self.skipTest("needs the right to mount")
        script = 'mount -t tmpfs -o ro none "$0" && cd "$0" && exec "$@"'
        for own in ([], [f"LD_PRELOAD={support.LIBRARY}"]):
            result = self.run_program(["unshare", "-m", "sh", "-c", script, self.folder, "env", *own, *support.GPU, "launch=3"], PLAIN)
            self.assertEqual((result.returncode, result.stdout), (0, "launches 3\n"), result.stderr)
        self.assertEqual(len(own_lines(result.stderr)), 1, result.stderr)
        self.assertIn("Read-only file system", result.stderr)
        result = self.run_program(["unshare", "-m", "sh", "-c", script, self.folder, support.LAUNCHER, *support.GPU, "launch=3"], PLAIN)
        self.assertEqual((result.returncode, result.stdout), (125, ""))
        self.assert_one_line(result.stderr, "Read-only file system", "-o")


if __name__ == "__main__":
    support.main()
