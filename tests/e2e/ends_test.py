"""How programs end: by signals that they expect or not, while threads still launch, after a reset, with a GPU that hangs."""
import json
import os
import re
import shutil
import signal
import time
import unittest

import chrome_lint
import support
from facts import Facts, differences
from page import Page
from support import BARE, GPU, LAUNCHED, PLAIN, WAYS, Case, own_lines

NEVER_NS = str(10 ** 17)

# Threads launch until the process is gone; the main thread ends it as it is told.
BUSY = r"""
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern int cuInit(unsigned), cuDevicePrimaryCtxRetain(void **, int), cuCtxSetCurrent(void *);
extern int cuModuleLoadData(void **, const void *), cuModuleGetFunction(void **, void *, const char *);
extern int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry step_kernel() { ret; }\n";
static void *context, *kernel;
static int launched[4];

static void *launch(void *number)
{
	int *count = number;

	cuCtxSetCurrent(context);
	for (;;)
		if (!cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL))
			__atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* Runs after ours, which was registered later. */
static void launch_late(void)
{
	for (int i = 0; i < 10; i++)
		cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	void *module;

	atexit(launch_late);
	if (argc < 2 || cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
	    cuModuleLoadData(&module, ptx) || cuModuleGetFunction(&kernel, module, "step_kernel"))
		return 1;
	for (int i = 0; i < 4; i++)
		pthread_create(&thread, NULL, launch, &launched[i]);
	for (int i = 0; i < 4; i++)
		while (__atomic_load_n(&launched[i], __ATOMIC_RELAXED) < 200)
			;
	puts("at work");
	fflush(stdout);
	if (!strcmp(argv[1], "exit"))
		exit(5);
	if (!strcmp(argv[1], "_exit"))
		_exit(5);
	if (!strcmp(argv[1], "quick_exit"))
		quick_exit(5);
	if (!strcmp(argv[1], "abort"))
		abort();
	if (!strcmp(argv[1], "term"))
		raise(SIGTERM);
	return 5;
}
"""

# The main thread leaves others at work.  1,000 ranges are made late: by such a thread, or as the argument says by an exit handler, or by a child
# that this forks.  There is no GPU.
# exit() begins when _exit() is about to.
# exit() in the main thread and, so many us later, _exit() in another one, or in a signal handler.
TWO_ENDS = r"""
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern int cuInit(unsigned), cuDevicePrimaryCtxRetain(void **, int);

static pthread_barrier_t barrier;
static int delay_us, is_by_signal;

static void leave(int number)
{
	_exit(7);
}

static void *end(void *unused)
{
	pthread_barrier_wait(&barrier);
	if (delay_us)
		usleep(delay_us);
	if (is_by_signal)
		kill(getpid(), SIGTERM);
	else
		leave(0);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	void *context;

	delay_us = argc > 1 ? atoi(argv[1]) : 0;
	is_by_signal = argc > 2;
	signal(SIGTERM, leave);
	if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || pthread_barrier_init(&barrier, NULL, 2) ||
	    pthread_create(&thread, NULL, end, NULL))
		return 1;
	pthread_barrier_wait(&barrier);
	exit(3);
}
"""

# A thread forks; the child's main thread records and leaves, and the last of its own threads ends.
FORK_ELSEWHERE = r"""
#include "gpuprof/gpuprof.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *work(void *unused)
{
	usleep(10000);
	puts("worker");
	return unused;
}

static void *make_child(void *unused)
{
	pthread_t thread;
	int status = 1;

	fflush(NULL);
	if (fork() == 0) {
		alarm(20);
		gpuprof_mark("child");
		if (pthread_create(&thread, NULL, work, NULL) || pthread_detach(thread))
			_exit(3);
		pthread_exit(NULL);
	}
	wait(&status);
	exit(status != 0);
	return unused;
}

int main(void)
{
	pthread_t thread;

	gpuprof_mark("parent");
	if (pthread_create(&thread, NULL, make_child, NULL))
		return 1;
	pthread_join(thread, NULL);
	return 2;
}
"""

MAIN_LEAVES = r"""
#include "gpuprof/gpuprof.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int at_main_end[2];
static const char *who = "worker";

static void mark_late(const char *me)
{
	for (int i = 0; !strcmp(who, me) && i < 1000; i++) {
		gpuprof_range_push("late");
		gpuprof_range_pop();
	}
}

static void fork_a_child(void)
{
	pid_t child;
	int status;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		mark_late("child");
		exit(0);
	}
	if (waitpid(child, &status, 0) != child || status != 0)
		puts("a child that failed");
}

static void say_the_end(void)
{
	sigset_t blocked;

	mark_late("handler");
	if (!strcmp(who, "child"))
		fork_a_child();
	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	puts(sigismember(&blocked, SIGALRM) || sigismember(&blocked, SIGSEGV) ? "deaf exit handler" : "exit handler");
}

static void leave(void *unused)
{
	(void)unused;
	close(at_main_end[1]);
}

static void *work(void *unused)
{
	char byte;

	if (read(at_main_end[0], &byte, 1) != 0) /* until main has begun to leave */
		exit(4);
	mark_late("worker");
	printf("worker"); /* not written before the end */
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	pthread_key_t key;

	atexit(say_the_end);
	if (argc == 1 || argc == 3) /* else the recording begins when main is gone */
		gpuprof_mark("main");
	if (argc == 2)
		who = argv[1];
	if (argc == 3 && (chroot(argv[2]) || chdir("/")))
		return 5;
	if (pipe(at_main_end) || pthread_key_create(&key, leave) || pthread_setspecific(key, &key) ||
	    pthread_create(&thread, NULL, work, NULL) || pthread_detach(thread))
		return 3;
	pthread_exit(NULL);
}
"""


def can_have_processes_of_its_own():
    return os.geteuid() == 0 and shutil.which("unshare") and support.subprocess.run(
        ["unshare", "-p", "-f", "--mount-proc", "true"], check=False, stderr=support.subprocess.DEVNULL).returncode == 0


class Ends(Case):

    def run_every_way(self, command, **variables):
        """The results agree; the bare one leaves bare.gpuprof, the launched one launched.gpuprof."""
        results = {}
        for way in WAYS:
            own = {} if way == PLAIN else {"GPUPROF_OUTPUT": way.split()[0], "GPUPROF_CHROME": "none"}
            results[way] = self.run_program(command, way, **own, **variables)
        plain = results[PLAIN]
        for way in (BARE, LAUNCHED):
            self.assertEqual((results[way].returncode, results[way].stdout), (plain.returncode, plain.stdout),
                             results[way].stderr)
        return results

    def traces(self):
        return self.files(".gpuprof")

    def export(self, trace):
        result = self.run_gpuprof("export", "-o", self.path("out.json"), trace)
        self.assertEqual(result.returncode, 0, result.stderr)
        return Facts(self.path("out.json"))

    def test_signals_that_nobody_handles(self):
        for name in ("TERM", "INT", "HUP", "ABRT", "SEGV"):
            with self.subTest(name):
                number = signal.Signals["SIG" + name]
                results = self.run_every_way([*GPU, "launch=50", f"raise={int(number)}"])
                self.assertEqual(results[PLAIN].returncode, -number)
                # of the others CUPTI may have delivered them in time, or not
                self.assertRegex(results[LAUNCHED].stderr, "\n  all 50 launches" if name == "TERM" else "\n  (all )?50 launches[ ,]")
                for trace in self.traces():
                    self.run_gpuprof("finish", "-q", "--chrome", "none", trace)
                    self.assertEqual(len(self.export(trace).launches()), 50, trace)
                    os.unlink(self.path(trace))

    def test_signals_that_are_handled(self):
        for name in ("TERM", "INT"):
            with self.subTest(name):
                results = self.run_every_way([*GPU, f"handle={name}", "launch=20", f"send={name}", "launch=30", "exit=4"])
                self.assertEqual(results[PLAIN].returncode, 4)
                self.assertIn("handled", results[PLAIN].stdout)
                for trace in self.traces():
                    self.assertEqual(differences(self.export(trace), "launches 50\n"), [])
                    os.unlink(self.path(trace))

    def test_threads_that_launch_until_the_end(self):
        program = self.compile("busy", BUSY, f"-L{support.BUILD}/sim", "-lcuda", "-lpthread")
        killed = {"abort": -signal.SIGABRT, "term": -signal.SIGTERM}
        for end in ("exit", "return", "_exit", "quick_exit", *killed):
            with self.subTest(end):
                results = self.run_every_way([program, end])
                self.assertEqual(results[PLAIN].returncode, killed.get(end, 5))
                for way in (BARE, LAUNCHED):
                    trace = way.split()[0] + ".gpuprof"
                    # else this machine was too busy to run our threads in time
                    if not re.search("waited for the writer|the memory for them was full", results[way].stderr):
                        found = re.search(r"([0-9,]+) launches", self.run_gpuprof("summary", trace).stdout)
                        self.assertGreaterEqual(int(found.group(1).replace(",", "")), 800)
                        self.assertNotIn("records dropped", results[way].stderr)
                    if end not in killed or (end, way) == ("term", LAUNCHED):
                        self.assertNotIn("INCOMPLETE", results[way].stderr)
                    self.run_gpuprof("finish", "-q", "--chrome", "none", trace)
                for trace in self.traces():
                    os.unlink(self.path(trace))

    def test_a_main_thread_that_leaves_others_at_work(self):
        """The program ends with the last of its own threads: ours are not what it goes on for."""
        program = self.compile("leaves", MAIN_LEAVES, f"-I{support.ROOT}/include", "-lpthread")
        for argument in ([], ["worker"], ["handler"], ["child"]):
            with self.subTest(argument):
                results = self.run_every_way([program, *argument])
                self.assertEqual((results[PLAIN].returncode, results[PLAIN].stdout), (0, "workerexit handler\n"))
                self.assertEqual(self.traces(), ["bare.gpuprof", "gpuprof-run.gpuprof"])
                for trace in self.traces():
                    self.assertIn("1,000", self.run_gpuprof("summary", trace).stdout)
                    self.assertNotIn("INCOMPLETE", self.run_gpuprof("summary", trace).stdout)
                    os.unlink(self.path(trace))

    def test_a_main_thread_that_another_thread_forked(self):
        program = self.compile("forks", FORK_ELSEWHERE, f"-I{support.ROOT}/include", "-lpthread")
        results = self.run_every_way([program])
        self.assertEqual((results[PLAIN].returncode, results[PLAIN].stdout), (0, "worker\n"))

    @unittest.skipIf(os.geteuid() != 0, "needs root")
    def test_a_main_thread_that_leaves_others_at_work_in_a_folder_without_proc(self):
        # what pthread_exit() would load there
        program = self.compile("leaves", MAIN_LEAVES, f"-I{support.ROOT}/include", "-lpthread", "-Wl,--no-as-needed", "-lgcc_s")
        os.mkdir(self.path("root"))
        results = self.run_every_way([program, "chroot", self.path("root")])
        self.assertEqual((results[PLAIN].returncode, results[PLAIN].stdout), (0, "workerexit handler\n"))
        for trace in self.traces():
            self.assertIn("1,000", self.run_gpuprof("summary", trace).stdout)

    def test_a_kernel_that_never_ends(self):
        results = self.run_every_way([*GPU, "start=25", "exit=3"], GPUSIM_KERNEL_NS=NEVER_NS)
        self.assertEqual(results[PLAIN].returncode, 3)
        for trace in self.traces():
            self.assertEqual(len(self.export(trace).launches()), 25)

    def test_a_hung_gpu_holds_the_end_up_for_the_time_limit_only(self):
        results = self.run_every_way([*GPU, "start=25", "exit=3"], GPUSIM_KERNEL_NS=NEVER_NS, GPUSIM_FAULT="flush-hangs",
                                     GPUPROF_FLUSH_TIMEOUT="1")
        self.assertEqual(results[PLAIN].returncode, 3)
        for way in (BARE, LAUNCHED):
            lines = [line for line in own_lines(results[way].stderr) if "the GPU did not finish" in line]
            self.assertEqual(len(lines), 1, results[way].stderr)
            self.assertIn("within 1 s", lines[0])
            self.assertIn("25 without kernel record", results[way].stderr)
            self.assertIn("the final flush timed out", results[way].stderr)
        for trace in self.traces():
            self.assertEqual(len(self.export(trace).launches()), 25)

    def test_the_time_limit_is_five_seconds(self):
        result = self.run_program([*GPU, "start=5", "exit=3"], BARE, GPUSIM_KERNEL_NS=NEVER_NS, GPUSIM_FAULT="flush-hangs",
                                  GPUPROF_CHROME="none")
        self.assertEqual(result.returncode, 3)
        self.assertIn("the GPU did not finish within 5 s", result.stderr)

    def test_a_hung_gpu_and_an_end_without_handlers(self):
        results = self.run_every_way([*GPU, "start=25", "_exit=3"], GPUSIM_KERNEL_NS=NEVER_NS, GPUSIM_FAULT="flush-hangs")
        for way in (BARE, LAUNCHED):
            self.assertIn("the GPU did not finish within 1 s", results[way].stderr)
            self.assertIn("25 without kernel record", results[way].stderr)


    @unittest.skipUnless(can_have_processes_of_its_own(), "needs the right to make a namespace of processes")
    def test_the_end_of_a_container(self):
        """The first of its processes ends, and the kernel kills the others; who reads what is left is outside of it."""
        script = ('mkfifo never; LD_PRELOAD="$0" "$@" <>never & while [ ! -e there ]; do :; done; rm there never; '
                  'exit 6')
        for rings in ("auto", "file"):
            with self.subTest(rings):
                result = self.run_program(["unshare", "-p", "-f", "--kill-child", "--mount-proc", "sh", "-c", script, support.LIBRARY, *GPU, "launch=3000",
                                           "touch=there", "wait"], PLAIN, GPUPROF_OUTPUT="t", GPUPROF_RINGS=rings)
                self.assertEqual((result.returncode, result.stdout, result.stderr), (6, "launches 3000\n", ""))
                for command in (["summary"], ["finish", "--chrome", "none"]):
                    said = self.run_gpuprof(*command, "t.gpuprof")
                    text = said.stdout + said.stderr
                    self.assertIn("did not close its trace: the process was killed or crashed", text)
                    self.assertRegex(text, r"\n  (all )?3,000 launches[ ,]")
                self.assertEqual(self.files(), ["t.gpuprof"])  # and no rings beside it
                os.unlink(self.path("t.gpuprof"))

    def test_two_ends_at_once(self):
        """_exit() waits for a second at most, also where another thread is in exit(), which waits for five."""
        program = self.compile("two_ends", TWO_ENDS, f"-L{support.BUILD}/sim", "-lcuda", "-lpthread")
        start = time.monotonic()
        result = self.run_program([program], BARE, GPUSIM_FAULT="flush-hangs")
        self.assertLess(time.monotonic() - start, 4)
        self.assertIn(result.returncode, (3, 7))
        self.assertRegex(result.stderr, "the GPU did not finish within [15] s")  # both are given up then; one at least says so

    def test_a_second_end_cuts_nothing_off(self):
        program = self.compile("two_ends", TWO_ENDS, f"-L{support.BUILD}/sim", "-lcuda", "-lpthread")
        for way in ([], ["signal"]):
            for delay_us in range(0, 10000, 500):
                result = self.run_program([program, str(delay_us), *way], BARE, GPUPROF_OUTPUT="t", GPUPROF_CHROME="none")
                self.assertIn(result.returncode, (3, 7))
                self.assertEqual(result.stderr.count("API calls"), 1, (way, delay_us, result.stderr))
                self.assertNotIn("INCOMPLETE", self.run_gpuprof("summary", "t.gpuprof").stdout, (way, delay_us))
                os.unlink(self.path("t.gpuprof"))

    QUIET = """
import os, runpy, sys, time
sys.argv = ["gpu.py", "launch=100", "copy=10"]
runpy.run_path({gpu!r}, run_name="__main__")
time.sleep(0.5)
os.kill(os.getpid(), 9)
"""

    def test_a_burst_is_delivered_before_the_period_ends(self):
        """The GPU's records of a killed program are not those of the last period."""
        script = [support.sys.executable, self.write("quiet.py", self.QUIET.format(gpu=GPU[-1]))]
        for way in (BARE, LAUNCHED):
            self.run_program(script, way, GPUPROF_OUTPUT=way, GPUPROF_FLUSH_MS=1000)
            facts = self.export(way + ".gpuprof")
            self.assertEqual((len(facts.kernels), len(facts.copies)), (100, 10), way)


class Terminated(Case):
    """SIGTERM, for a program of gpuprof-run without a handler of its own, as workers are ended."""

    def kernels(self, trace):
        text = self.run_gpuprof("export", "--format", "jsonl", "-o", "-", trace).stdout
        return sum(json.loads(line)["kind"] == "kernel" for line in text.splitlines())

    def test_its_records_are_whole(self):
        result = self.run_program([*GPU, "launch=100", f"raise={int(signal.SIGTERM)}"], options=["-o", "t"], GPUPROF_FLUSH_MS=1000)
        self.assertEqual((result.returncode, result.stdout), (-signal.SIGTERM, "launches 100\n"))
        self.assertEqual(self.kernels("t.gpuprof"), 100)
        self.assertNotIn("INCOMPLETE", self.run_gpuprof("summary", "t.gpuprof").stdout)

    def test_workers_of_a_pool(self):
        code = ("import multiprocessing, runpy, sys\n"
                "def work(number):\n"
                "    sys.argv = ['gpu.py', f'launch={number}']\n"
                f"    runpy.run_path({GPU[-1]!r}, run_name='__main__')\n"
                "if __name__ == '__main__':\n"
                "    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:\n"
                "        pool.map(work, [50] * 4, chunksize=1)\n")
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method):
                self.run_program([support.sys.executable, self.write("pool.py", code), method], options=["-o", method + "-%p"])
                self.assertEqual(sum(self.kernels(name) for name in self.files(".gpuprof") if name.startswith(method)), 200)

    ACTIONS = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
extern int cuInit(unsigned), cuCtxCreate_v2(void **, unsigned, int);
static void show(const char *what)
{
	struct sigaction now;
	sigaction(SIGTERM, NULL, &now);
	printf("%s %d %x %d\n", what, now.sa_handler == SIG_DFL, (unsigned)now.sa_flags & ~0x4000000u, sigismember(&now.sa_mask, SIGINT));
}
static void handle(int number) { (void)!write(1, number == SIGTERM ? "handled\n" : "other\n", 8); }
int main(int argc, char **argv)
{
	void *context;
	struct sigaction own = {.sa_handler = SIG_DFL, .sa_flags = SA_RESTART}, before;
	sigaddset(&own.sa_mask, SIGINT);
	sigaction(SIGTERM, &own, NULL);
	if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0)) return 1;
	show("there");
	own.sa_handler = handle;
	if (argc > 1)
		printf("before %d\n", signal(SIGTERM, handle) == SIG_DFL);
	else
		sigaction(SIGTERM, &own, &before), printf("before %d\n", before.sa_handler == SIG_DFL);
	fflush(stdout);
	raise(SIGTERM);
	show("own");
	printf("before %d\n", signal(SIGTERM, SIG_DFL) == handle);
	fflush(stdout);
	raise(SIGTERM);
	return 7;
}
"""

    def test_the_program_sees_its_own_action(self):
        program = self.compile("actions", self.ACTIONS, f"-L{support.BUILD}/sim", "-lcuda")
        for arguments in ([], ["signal"]):
            plain = self.run_program([program, *arguments], PLAIN)
            self.assertEqual(plain.stdout.splitlines()[0], "there 1 10000000 1")
            self.assertIn("handled\n", plain.stdout)
            result = self.run_program([program, *arguments])
            self.assertEqual((result.returncode, result.stdout), (plain.returncode, plain.stdout))
            self.assertEqual(result.returncode, -signal.SIGTERM)

    def test_a_forked_child_dies_of_it(self):
        code = ("import os, runpy, signal, sys\nsys.argv = ['gpu.py', 'launch=5']\n"
                f"runpy.run_path({GPU[-1]!r}, run_name='__main__')\n"
                "if os.fork() == 0:\n    os.kill(os.getpid(), signal.SIGTERM)\n    os._exit(1)\nprint(os.wait()[1])\n")
        result = self.run_program([support.sys.executable, self.write("fork.py", code)], options=["-o", "t"])
        self.assertEqual((result.returncode, result.stdout.splitlines()[-1]), (0, str(int(signal.SIGTERM))))
        self.assertEqual(self.kernels("t.gpuprof"), 5)

    SMALL_STACK = r"""
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
extern int cuInit(unsigned), cuCtxCreate_v2(void **, unsigned, int);
int main(void)
{
	void *context;
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = {.ss_sp = page + 4096, .ss_size = 4096};
	mprotect(page, 4096, PROT_NONE);
	if (sigaltstack(&stack, NULL) || cuInit(0) || cuCtxCreate_v2(&context, 0, 0)) return 1;
	raise(SIGTERM);
	return 7;
}
"""

    def test_no_alternate_stack_is_too_small(self):
        program = self.compile("small", self.SMALL_STACK, f"-L{support.BUILD}/sim", "-lcuda")
        self.assertEqual(self.run_program([program], GPUSIM_FAULT="flush-hangs").returncode, -signal.SIGTERM)

    def test_a_gpu_that_hangs_holds_it_up_for_the_time_limit_only(self):
        began = time.monotonic()
        result = self.run_program([*GPU, "start=5", f"raise={int(signal.SIGTERM)}"], options=["-o", "t"], GPUSIM_FAULT="flush-hangs")
        self.assertEqual(result.returncode, -signal.SIGTERM)
        self.assertLess(time.monotonic() - began, 10)


class Live(Case):
    """A trace is read while its process runs."""

    def test_a_summary_of_a_running_process(self):
        process = support.subprocess.Popen(
            support.command(BARE, [*GPU, "launch=1000", "start=25", "touch=there", "wait"])[0],
            env=support.environment(LD_PRELOAD=support.LIBRARY, GPUPROF_OUTPUT="live", GPUSIM_KERNEL_NS="2000"),
            cwd=self.folder, stdin=support.subprocess.PIPE, stdout=support.subprocess.DEVNULL,
            stderr=support.subprocess.DEVNULL)
        try:
            while "there" not in self.files() and process.poll() is None:
                pass
            first = self.run_gpuprof("summary", "live.gpuprof")
        finally:
            process.communicate()
        self.assertEqual((first.returncode, process.returncode), (0, 0))
        self.assertRegex(first.stdout, r"INCOMPLETE: pid \d+ still runs; this is its recording so far")
        self.assertRegex(first.stdout, r"it ends [\d.]+[mun]?s after the first recorded CUDA call")
        self.assertRegex(first.stdout, r"\n  (all )?1,025 launches[ ,]")
        self.assertNotIn("INCOMPLETE", self.run_gpuprof("summary", "live.gpuprof").stdout)

    def test_a_running_kernel_is_listed_as_in_flight(self):
        command = [*GPU, "start=25", "touch=there", "wait", "_exit=0"]
        process = support.subprocess.Popen(
            command, env=support.environment(LD_PRELOAD=support.LIBRARY, GPUPROF_OUTPUT="live", GPUSIM_KERNEL_NS=NEVER_NS),
            cwd=self.folder, stdin=support.subprocess.PIPE, stdout=support.subprocess.DEVNULL,
            stderr=support.subprocess.DEVNULL)
        try:
            while "there" not in self.files() and process.poll() is None:
                pass
            summary = self.run_gpuprof("summary", "live.gpuprof").stdout
        finally:
            process.communicate()
        self.assertIn("launches without GPU record: 25", summary)
        self.assertRegex(summary, r"the trace has no GPU records|CUPTI last delivered GPU records .* ago")
        self.assertIn("without kernel record: in flight, or not delivered yet", summary)


class Hangs(Case):
    """A kernel that never ends, or fails, has a name, however the process ends."""

    ROW = re.compile(r"^ *[0-9.]+[mun]?s +[0-9.]+[mun]?s  (never ended|one of these never ended|had not ended|behind it|not known|failed, or never ran) "
                     r".* cuLaunchKernel +step_kernel ", re.M)
    ONE_OF_THREE = ["one of these never ended"] * 3

    def unfinished(self, trace):
        """The states of the launches, in their order"""
        return self.ROW.findall(self.run_gpuprof("summary", "--by", "unfinished", trace).stdout)

    def hang(self, steps, launches=3, **variables):
        """A process that launches kernels, which never end, and that is at work when these are told."""
        process = support.subprocess.Popen(
            [*GPU, *steps], env=support.environment(LD_PRELOAD=support.LIBRARY, GPUPROF_OUTPUT="hung", GPUPROF_CHROME="none",
                                                    GPUPROF_SUMMARY="none", GPUSIM_KERNEL_NS=NEVER_NS, **variables),
            cwd=self.folder, stdin=support.subprocess.PIPE, stdout=support.subprocess.DEVNULL,
            stderr=support.subprocess.PIPE, text=True)
        while "hung.gpuprof" not in self.files() or len(self.unfinished("hung.gpuprof")) < launches:
            self.assertIsNone(process.poll())
        return process

    def end(self, process):
        process.stdin.close()
        status = process.wait(support.LIMIT_S)
        process.stderr.close()
        return status

    def check_killed(self, summary):
        self.assertRegex(summary, r"\n  never ended: at least one of 3 kernels without a record, for at least [0-9.]+s after the first launch\n"
                                  r"    which one is unknown: CUPTI delivers a buffer only after all kernels in it have ended\n"
                                  r"    step_kernel 3; with a name: gpuprof summary --by unfinished FILE\n"
                                  r"    first: step_kernel, launched [0-9.]+[mu]s after the first recorded CUDA call by cuLaunchKernel[^;]*;\s.*\n"
                                  r"    last: step_kernel, launched [0-9.]+[mu]s after the first recorded CUDA call by cuLaunchKernel[^;]*;\s.*\n"
                                  r"  in cuCtxSynchronize for at least ")

    def test_killed(self):
        for number in (signal.SIGKILL, signal.SIGTERM):
            with self.subTest(number):
                process = self.hang(["start=3", "sync"])
                live = self.run_gpuprof("summary", "hung.gpuprof").stdout
                self.assertRegex(live, r"\n  has not ended: at least one of 3 kernels without a record, for [0-9.]+s after the first launch\n")
                process.send_signal(number)
                self.assertEqual(self.end(process), -number)
                self.check_killed(self.run_gpuprof("summary", "hung.gpuprof").stdout)
                self.run_gpuprof("finish", "-q", "--chrome", "none", "hung.gpuprof")
                self.check_killed(self.run_gpuprof("summary", "hung.gpuprof").stdout)
                self.assertEqual(self.unfinished("hung.gpuprof"), self.ONE_OF_THREE)
                self.assertIn("\n  no record of its end: step_kernel, nor of 2 later launches; its launch: gpuprof summary --by unfinished FILE\n",
                              self.run_gpuprof("summary", "--one-pass", "hung.gpuprof").stdout)
                os.unlink(self.path("hung.gpuprof"))

    def test_the_only_kernel_without_a_record(self):
        process = self.hang(["start=1", "sync"], launches=1)
        self.assertRegex(self.run_gpuprof("summary", "hung.gpuprof").stdout, r"\n  has not ended: step_kernel, for [0-9.]+s after its launch\n")
        process.kill()
        self.end(process)
        self.assertRegex(self.run_gpuprof("summary", "hung.gpuprof").stdout,
                         r"\n  never ended: step_kernel, for at least [0-9.]+s after its launch\n"
                         r"    launched [0-9.]+[mu]s after the first recorded CUDA call by cuLaunchKernel[^;]*;\s.*\n"
                         r"  in cuCtxSynchronize for at least ")
        self.assertEqual(self.unfinished("hung.gpuprof"), ["never ended"])

    def test_a_flush_that_waits_for_it(self):
        """So it does where another kernel is launched for the first time behind it."""
        process = support.subprocess.Popen(
            [os.path.join(support.BUILD, "programs", "hang"), "wait"],
            env=support.environment(LD_PRELOAD=support.LIBRARY, GPUPROF_OUTPUT="hung", GPUPROF_CHROME="none", GPUPROF_SUMMARY="none"),
            cwd=self.folder, stdin=support.subprocess.DEVNULL, stdout=support.subprocess.DEVNULL, stderr=support.subprocess.PIPE, text=True)
        states = []
        while len(states) < 3:
            self.assertIsNone(process.poll())
            if "hung.gpuprof" in self.files():
                summary = self.run_gpuprof("summary", "--by", "unfinished", "hung.gpuprof").stdout
                states = re.findall(r"(one of these never ended) .* (k_[a-z]+) ", summary)
        process.kill()
        self.assertEqual((process.wait(support.LIMIT_S), process.stderr.read()), (-signal.SIGKILL, ""))
        process.stderr.close()
        self.assertEqual([name for _, name in states], ["k_spin", "k_after", "k_after"])

    def test_what_was_waited_for_is_not_named(self):
        """A stream hangs, and another one goes on, whose kernels end: CUPTI gives none of them, but calls have waited for them."""
        process = support.subprocess.Popen(
            [os.path.join(support.BUILD, "programs", "hang"), "streams"],
            env=support.environment(LD_PRELOAD=support.LIBRARY, GPUPROF_OUTPUT="hung", GPUPROF_CHROME="none", GPUPROF_SUMMARY="none"),
            cwd=self.folder, stdin=support.subprocess.DEVNULL, stdout=support.subprocess.DEVNULL, stderr=support.subprocess.PIPE, text=True)
        named = []
        while named != ["k_spin"]:
            self.assertIsNone(process.poll())
            if "hung.gpuprof" in self.files():
                table = self.run_gpuprof("summary", "--by", "unfinished", "-F", "json", "hung.gpuprof")
                # The file is there before its first record is, and a reader says so
                if table.returncode:
                    self.assertIn("holds no readable records", table.stderr)
                else:
                    named = [row["Name"] for row in json.loads(table.stdout)["rows"]]
        process.kill()
        self.assertEqual((process.wait(support.LIMIT_S), process.stderr.read()), (-signal.SIGKILL, ""))
        process.stderr.close()
        summary = self.run_gpuprof("summary", "hung.gpuprof").stdout
        self.assertRegex(summary, r"\n  3[0-9] launches, (?:3 with kernel record, )?[0-9]+ without kernel record; ")
        self.assertRegex(summary, r"\n  never ended: k_spin, for at least [0-9.]+s after its launch\n")
        self.assertIn("\n  no record of its end: k_spin; its launch: ", self.run_gpuprof("summary", "--one-pass", "hung.gpuprof").stdout)
        self.assertIn("\nno record of its end: k_spin\n", self.run_gpuprof("top", "--batch", "hung.gpuprof").stdout)

    def test_other_formats(self):
        process = self.hang(["start=3", "sync"])
        process.kill()
        self.end(process)
        self.run_gpuprof("finish", "-q", "--chrome", "none", "hung.gpuprof")
        rows = json.loads(self.run_gpuprof("summary", "--by", "unfinished", "-F", "json", "hung.gpuprof").stdout)
        self.assertEqual([row["Name"] for row in rows["rows"]], ["step_kernel"] * 3)
        self.assertEqual(self.run_gpuprof("trace", "exec", "hung.gpuprof").stdout.count("cuLaunchKernel  step_kernel"), 3)
        self.assertEqual(self.run_gpuprof("export", "-o", "hung.json", "hung.gpuprof").returncode, 0)
        with open(self.path("hung.json"), encoding="utf-8") as file:
            events = [event for event in json.load(file)["traceEvents"] if event.get("args", {}).get("unfinished")]
        self.assertEqual([(event["ph"], event["name"], event["args"]["state"]) for event in events],
                         [("i", "step_kernel", "one of these never ended")] * 3)
        self.assertEqual([rule for rule, cases in chrome_lint.lint(self.path("hung.json")).items() if cases], [])

    def test_beside_another_process(self):
        """It has the GPU that it launched on, though none of its operations is known; and the page says until when its time is."""
        process = self.hang(["start=3", "sync"])
        process.kill()
        self.end(process)
        self.run_program([os.path.join(support.BUILD, "programs", "demo"), "3"], GPUPROF_OUTPUT="demo")
        summary = self.run_gpuprof("summary", "hung.gpuprof", "demo.gpuprof").stdout
        titles, *rows = summary.split("\nProcesses\n")[1].split("\n\n")[0].splitlines()
        self.assertEqual([row[titles.index("  GPU  ") + 2] for row in rows], ["0", "0"], rows)
        for trace, is_open in (("hung.gpuprof", True), ("demo.gpuprof", False)):
            self.assertEqual(self.run_gpuprof("html", "-o", "page.html", trace).returncode, 0)
            self.assertEqual(Page(self.path("page.html")).json("about")["ends_with"], "sign of life" if is_open else "call", trace)

    def test_the_watchdog_ends_it(self):
        process = self.hang(["start=3", "wait", "exit=3"], GPUSIM_FAULT="flush-hangs", GPUPROF_FLUSH_TIMEOUT="1")
        self.assertEqual(self.end(process), 3)
        self.assertEqual(self.unfinished("hung.gpuprof"), self.ONE_OF_THREE)
        self.assertIn("    never ended: at least one of 3 kernels without a record, for at least ", self.run_gpuprof("summary", "hung.gpuprof").stdout)

    def test_an_end_before_it_is_overdue(self):
        """Nothing is known where the watchdog ends the last flush; else that tells what had not ended."""
        for fault, states, line in (
                ("flush-hangs", ["not known"] * 3, r"\n    no record of an end: 3 kernels, for at least [0-9.]+m?s after the first launch\n"),
                ("", ["had not ended", "behind it", "behind it"],
                 r"^UNFINISHED: pid [0-9]+ ended while its GPU was at work\n"
                 r"  had not ended when the process did: step_kernel, for at least [0-9.]+[mu]?s after its launch\n    launched (?:.*\n)+?"
                 r"    queued behind it in its stream: 2 later launches, the next one of step_kernel\n")):
            with self.subTest(fault):
                for _ in range(10):  # a busy machine may take so long that a launch is overdue
                    self.run_program([*GPU, "copy=1", "start=3", "_exit=3"], BARE, GPUPROF_OUTPUT=f"hung{fault}", GPUPROF_CHROME="none",
                                     GPUSIM_KERNEL_NS=NEVER_NS, GPUSIM_FAULT=fault, GPUPROF_FLUSH_TIMEOUT="1")
                    told = self.unfinished(f"hung{fault}.gpuprof")
                    if told == states:
                        break
                    os.unlink(self.path(f"hung{fault}.gpuprof"))
                self.assertEqual(told, states)
                self.assertRegex(self.run_gpuprof("summary", f"hung{fault}.gpuprof").stdout, line)

    def test_a_kernel_that_fails(self):
        """The program aborts when it is told of it: what was launched is in the trace by then."""
        result = self.run_program([*GPU, "start=3", "try_sync", "raise=6"], BARE, GPUSIM_KERNEL_NS=NEVER_NS, GPUSIM_FAULT="kernel-fails",
                                  GPUPROF_OUTPUT="hung", GPUPROF_CHROME="none")
        self.assertIn("status 700", result.stdout)
        self.assertEqual(self.unfinished("hung.gpuprof"), ["failed, or never ran"] * 3)
        self.assertIn("\n  one of those that failed or never ran: step_kernel\n", self.run_gpuprof("summary", "hung.gpuprof").stdout)

    def test_two_threads_learn_of_a_failure(self):
        """The one that does not have it written waits until it is, too."""
        for _ in range(5):
            self.run_program([*GPU, "start=3", "race=9"], BARE, GPUSIM_KERNEL_NS=NEVER_NS, GPUSIM_FAULT="kernel-fails",
                             GPUPROF_OUTPUT="hung", GPUPROF_CHROME="none")
            self.assertEqual(self.unfinished("hung.gpuprof"), ["failed, or never ran"] * 3)
            os.unlink(self.path("hung.gpuprof"))

    def test_kernels_that_end(self):
        """Nothing is told of them, neither while they run nor at the end."""
        result = self.run_program([*GPU, "launch=3", "start=25", "sync", "raise=9"], BARE, GPUSIM_KERNEL_NS="2000", GPUPROF_OUTPUT="ended")
        self.assertEqual(result.returncode, -signal.SIGKILL)
        self.assertEqual(self.unfinished("ended.gpuprof"), [])

    def test_a_module_that_is_gone(self):
        process = self.hang(["start=3", "wait", "unload", "exit=3"], GPUSIM_FAULT="flush-hangs", GPUPROF_FLUSH_TIMEOUT="1")
        self.assertEqual(self.end(process), 3)
        result = self.run_program([*GPU, "start=3", "unload", "exit=3"], BARE, GPUSIM_KERNEL_NS=NEVER_NS, GPUSIM_FAULT="flush-hangs",
                                  GPUPROF_FLUSH_TIMEOUT="1", GPUPROF_OUTPUT="gone", GPUPROF_CHROME="none")
        self.assertEqual(result.returncode, 3)
        self.assertIn("3 without kernel record", self.run_gpuprof("summary", "gone.gpuprof").stdout)


if __name__ == "__main__":
    support.main()
