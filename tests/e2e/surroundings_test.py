"""What the program takes away from under us: descriptors, rights, its root folder, /proc and /dev/shm.  It does not notice,
and the trace has all that it did."""
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import unittest

import support
from support import BARE, LAUNCHED, PLAIN, Case

PROGRAM = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

extern int cuInit(unsigned), cuCtxCreate_v2(void **, unsigned, int), cuModuleLoadData(void **, const void *);
extern int cuModuleGetFunction(void **, void *, const char *), cuCtxSynchronize(void);
extern int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry step_kernel() { ret; }\n";
static void *kernel;

static void launch(int times)
{
	for (int i = 0; i < times; i++)
		if (cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL))
			exit(3);
	if (cuCtxSynchronize())
		exit(4);
}

/* No descriptor is left, and those that there are go to files of the program. */
static void use_up(const char *argument)
{
	struct rlimit limit = {64, 64};

	if (setrlimit(RLIMIT_NOFILE, &limit))
		exit(5);
	while (open(argument, O_WRONLY | O_CREAT | O_APPEND, 0600) >= 0)
		;
}

/* Everything above the standard ones is closed, and the numbers are taken again by files of the program's. */
static void close_all(const char *argument)
{
	syscall(SYS_close_range, 3, ~0u, 0);
	for (int i = 0; i < 20; i++)
		if (open(argument, O_WRONLY | O_CREAT | O_APPEND, 0600) < 0)
			exit(6);
}

/* A file of the program's has the number of standard error. */
static void take_stderr(const char *argument)
{
	close(STDERR_FILENO);
	if (open(argument, O_WRONLY | O_CREAT | O_TRUNC, 0600) != STDERR_FILENO)
		exit(13);
}

/* As a daemon does: both are its log. */
static void log_to(const char *argument)
{
	int log = open(argument, O_WRONLY | O_CREAT | O_APPEND, 0600);

	if (dup2(log, STDOUT_FILENO) != STDOUT_FILENO || dup2(log, STDERR_FILENO) != STDERR_FILENO)
		exit(14);
}

/* As Node.js does with all that it has open. */
static void close_with_exec(const char *argument)
{
	(void)argument;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static void change_root(const char *argument)
{
	if (chroot(argument) || chdir("/"))
		exit(7);
}

static void become_nobody(const char *argument)
{
	(void)argument;
	if (setgid(65534) || setuid(65534))
		exit(8);
}

static void change_mask(const char *argument)
{
	(void)argument;
	umask(0777);
}

/* Numbers of calls for which a filter has one action, by all threads or by this one; for all others it has another. */
static void filter(const unsigned *numbers, int count, unsigned long flags, unsigned action, unsigned otherwise)
{
	struct sock_filter code[64] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0)};
	struct sock_fprog program = {count + 3, code};

	for (int i = 0; i < count; i++)
		code[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, numbers[i], count - i, 0);
	code[count + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, otherwise);
	code[count + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_seccomp, 1, flags, &program))
		exit(10);
}

/* No more may be opened, removed or made: then comes the action. */
static void filter_files(unsigned long flags, unsigned action)
{
	static const unsigned numbers[] = {SYS_open, SYS_openat, SYS_creat, SYS_unlink, SYS_unlinkat, SYS_clone, SYS_fork, SYS_vfork,
					   SYS_execve, SYS_pipe, SYS_pipe2, SYS_ftruncate, SYS_fallocate, SYS_readlink, SYS_socket};

	filter(numbers, sizeof(numbers) / sizeof(numbers[0]), flags, action, SECCOMP_RET_ALLOW);
}

/* Nothing may be done but what this program does itself, and what docs/reference/limits.md says that gpuprof goes on doing. */
static void kill_for_the_rest(const char *argument)
{
	static const unsigned numbers[] = {
		SYS_brk, SYS_mremap, SYS_newfstatat, SYS_ioctl, SYS_clock_nanosleep, SYS_exit_group,
		SYS_prctl, SYS_write, SYS_fstat, SYS_close, SYS_mmap, SYS_munmap, SYS_mprotect, SYS_madvise, SYS_futex,
		SYS_getpid, SYS_gettid, SYS_rt_sigprocmask, SYS_rt_sigpending, SYS_exit};

	(void)argument;
	filter(numbers, sizeof(numbers) / sizeof(numbers[0]), SECCOMP_FILTER_FLAG_TSYNC, SECCOMP_RET_ALLOW,
	       SECCOMP_RET_KILL_PROCESS);
}

static void forbid(const char *argument)
{
	(void)argument;
	filter_files(SECCOMP_FILTER_FLAG_TSYNC, SECCOMP_RET_ERRNO | 1);
}

static void kill_all_threads(const char *argument)
{
	(void)argument;
	filter_files(SECCOMP_FILTER_FLAG_TSYNC, SECCOMP_RET_KILL_PROCESS);
}

static void kill_this_thread(const char *argument)
{
	(void)argument;
	filter_files(0, SECCOMP_RET_KILL_PROCESS);
}

static void *enter_strict(void *unused)
{
	(void)unused;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		exit(11);
	syscall(SYS_exit, 0);
	return NULL;
}

/* A thread that may only read, write and end, and is gone by then. */
static void be_strict(const char *argument)
{
	pthread_t thread;

	(void)argument;
	if (pthread_create(&thread, NULL, enter_strict, NULL) || pthread_join(thread, NULL))
		exit(12);
}

static void clear_environment(const char *argument)
{
	(void)argument;
	clearenv();
}

static void nothing(const char *argument)
{
	(void)argument;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*function)(const char *argument);
	} steps[] = {{"use-up", use_up}, {"close", close_all}, {"chroot", change_root}, {"nobody", become_nobody},
		     {"umask", change_mask}, {"stderr", take_stderr}, {"log", log_to}, {"close-with-exec", close_with_exec}, {"nothing", nothing}, {"clear", clear_environment}, {"forbid", forbid}, {"strict", be_strict},
		     {"kill-all", kill_all_threads}, {"kill-this", kill_this_thread}, {"kill-rest", kill_for_the_rest}};
	void *context, *module;

	if (argc == 4)
		clearenv(); /* by which the driver would find us */
	if (argc < 3 || cuInit(0) || cuCtxCreate_v2(&context, 0, 0) || cuModuleLoadData(&module, ptx) ||
	    cuModuleGetFunction(&kernel, module, "step_kernel"))
		return 1;
	launch(100);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (!strcmp(steps[i].name, argv[1]))
			steps[i].function(argv[2]);
	launch(2900); /* no more than a ring holds: what is here is not about a writer that comes too late */
	printf("launches 3000\n");
	fflush(stdout);
	return 9;
}
"""


def can_unshare():
    return os.geteuid() == 0 and shutil.which("unshare") and subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], check=False,
        stderr=subprocess.DEVNULL).returncode == 0


class Surroundings(Case):

    def setUp(self):
        super().setUp()
        self.program = self.compile("program", PROGRAM, f"-L{support.BUILD}/sim", "-lcuda", "-lpthread", "-include", "sys/stat.h")
        os.mkdir(self.path("own"))

    def run_step(self, step, argument="own/file", before="", **variables):
        """The program's own files are as without us; returns what it printed on stderr under us."""
        results = []
        for way in (PLAIN, BARE):
            line, own = support.command(way, [self.program, step, argument])
            own = " ".join(f"{name}='{value}'" for name, value in own.items())
            script = f"{before} exec env {own} {' '.join(line)}"
            results.append(self.run_program(["sh", "-c", script], PLAIN, GPUPROF_OUTPUT="t", **variables))
            self.check_own_files()
        self.assertEqual((results[0].returncode, results[0].stdout, results[0].stderr), (9, "launches 3000\n", ""))
        self.assertEqual((results[1].returncode, results[1].stdout), (9, "launches 3000\n"), results[1].stderr)
        return results[1].stderr

    def check_own_files(self):
        for name in os.listdir(self.path("own")):
            self.assertEqual(os.path.getsize(self.path("own", name)), 0)

    def check_trace(self):
        """Everything is there, and nothing had to be recovered: the trace was written to its end."""
        summary = self.run_gpuprof("summary", "t.gpuprof")
        self.assertEqual(summary.returncode, 0, summary.stderr)
        self.assertNotIn("INCOMPLETE", summary.stdout)
        self.assertIn("all 3,000 launches have their kernel record", summary.stdout)
        self.assertIn("nothing was dropped", summary.stdout)

    def test_no_descriptor_is_left(self):
        self.run_step("use-up")
        self.check_trace()

    def test_all_descriptors_are_closed_and_used_again(self):
        self.run_step("close")
        self.check_trace()

    def test_a_file_of_the_programs_in_place_of_standard_error(self):
        """What we say is no part of it: the trace is what is left, and the Chrome trace."""
        self.assertEqual(self.run_step("stderr"), "")
        self.assertEqual(self.files(".json"), ["t.json"])
        self.check_trace()

    def test_a_log_of_the_programs_own(self):
        result = self.run_program([self.program, "log", self.path("log")], BARE, GPUPROF_OUTPUT="t", GPUPROF_CHROME="none")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (9, "", ""))
        with open(self.path("log"), encoding="utf-8") as file:
            said = file.read()
        self.assertTrue(said.startswith("launches 3000\n"), said)
        self.assertIn("all 3,000 launches have their kernel record", said)

    def test_a_log_that_is_not_blocking(self):
        """What the program wrote into it stays, and ours comes after it."""
        for way in (BARE, LAUNCHED):
            line, own = support.command(way, [self.program, "nothing", ""])
            with self.subTest(way), open(self.path("log"), "w+", encoding="utf-8") as file:
                os.set_blocking(file.fileno(), False)
                subprocess.run(line, env=support.environment(GPUPROF_OUTPUT="t", GPUPROF_CHROME="none", **own), cwd=self.folder,
                               stdin=subprocess.DEVNULL, stdout=file, stderr=file, timeout=support.LIMIT_S, check=False)
                file.seek(0)
                said = file.read()
                self.assertTrue(said.startswith("launches 3000\n"), said)
                self.assertIn("all 3,000 launches have their kernel record", said)

    def test_standard_descriptors_that_exec_closes(self):
        self.assertIn("all 3,000 launches have their kernel record", self.run_step("close-with-exec"))
        self.check_trace()

    def test_standard_descriptors_that_are_closed_from_the_start(self):
        for closed, is_heard in (("<&- >&-", True), ("<&-", True), ("2>&-", False), ("<&- >&- 2>&-", False)):
            with self.subTest(closed):
                result = self.run_program(["sh", "-c", f"exec env LD_PRELOAD={support.LIBRARY} {self.program} nothing own {closed}"], PLAIN,
                                          GPUPROF_OUTPUT="t", GPUPROF_CHROME="none")
                self.assertEqual(result.returncode, 9, result.stderr)
                self.assertEqual(result.stderr.startswith("gpuprof: "), is_heard, result.stderr)
                self.check_trace()
                os.unlink(self.path("t.gpuprof"))

    def test_a_stack_that_is_small(self):
        """The program's limit is not meant for what makes the summary."""
        for limit in ("-S -s", "-s"):  # the second one for good
            with self.subTest(limit):
                result = self.run_program(["sh", "-c", f"ulimit {limit} 128; exec env LD_PRELOAD={support.LIBRARY} {self.program} nothing own"],
                                          PLAIN, GPUPROF_OUTPUT="t", GPUPROF_HTML="1")
                self.assertEqual((result.returncode, result.stdout), (9, "launches 3000\n"))
                self.assertIn("all 3,000 launches have their kernel record", result.stderr)
                with open(self.path("t.html"), encoding="utf-8") as page:
                    self.assertTrue(page.read().endswith("</body></html>\n"))

    def test_a_mask_that_forbids_everything(self):
        self.run_step("umask")
        self.check_trace()

    def test_an_environment_that_is_cleared(self):
        """What was asked for at the start counts; where the driver does not find us any more, that is said."""
        self.run_step("clear", GPUPROF_CHROME="none", GPUPROF_SUMMARY="said")
        self.check_trace()
        with open(self.path("said"), encoding="utf-8") as file:
            self.assertIn("all 3,000 launches", file.read())
        self.assertEqual(self.files(".json"), [])
        for way in (support.BARE, support.LAUNCHED):
            result = self.run_program([self.program, "nothing", "own", "first"], way)
            self.assertEqual((result.returncode, result.stdout), (9, "launches 3000\n"), result.stderr)
            self.assertIn("the program removed CUDA_INJECTION64_PATH from its environment", result.stderr)
            self.assertEqual(len(result.stderr.splitlines()), 1 if way == BARE else 2, result.stderr)
        self.assertIn("a line above says why", result.stderr)

    def test_calls_that_are_forbidden(self):
        self.run_step("forbid")
        self.check_trace()
        self.run_gpuprof("finish", "-q", "--chrome", "none", "t.gpuprof")  # what could not be removed is now

    def test_calls_that_end_the_process(self):
        """Nothing is done then that a program need not do, and the user is told what to type."""
        for step in ("kill-all", "kill-this", "kill-rest"):
            with self.subTest(step):
                stderr = self.run_step(step)
                self.assert_one_line(stderr, "seccomp", f"gpuprof finish {self.path('t.gpuprof')}")
                self.run_gpuprof("finish", "-q", "--chrome", "none", "t.gpuprof")
                self.check_trace()
                os.unlink(self.path("t.gpuprof"))

    def test_a_strict_thread(self):
        self.run_step("strict")
        self.check_trace()

    def test_little_memory_and_few_descriptors(self):
        """Wherever the program runs without us, it runs."""
        ran = 0
        for limit in ("-v 12000", "-v 20000", "-v 40000", "-v 80000", "-v 120000", "-v 160000", "-v 300000", "-n 3", "-n 4", "-n 5",
                      "-n 8", "-s 64", "-s 200", "-f 0", "-f 1", "-l 0", "-c 0"):
            results = []
            for way in (PLAIN, BARE):
                line, own = support.command(way, [self.program, "nothing", "own"])
                own = " ".join(f"{name}='{value}'" for name, value in own.items())
                script = f"ulimit {limit}; exec env {own} GPUPROF_CHROME=none {' '.join(line)}"
                results.append(self.run_program(["sh", "-c", script], PLAIN))
            if results[0].returncode == 9:
                ran += 1
                self.assertEqual((results[1].returncode, results[1].stdout), (9, "launches 3000\n"),
                                 f"{limit}: {results[1].stderr}")
        self.assertGreater(ran, 8)

    @unittest.skipIf(os.geteuid() != 0, "needs root")
    def test_another_root_folder(self):
        stderr = self.run_step("chroot", "own")
        self.assert_one_line(stderr, "t.gpuprof")
        self.check_trace()

    @unittest.skipIf(os.geteuid() != 0, "needs root")
    def test_rights_that_are_given_up(self):
        self.run_step("nobody")
        self.check_trace()

    @unittest.skipUnless(can_unshare(), "needs the right to mount")
    def test_without_proc_and_shared_memory(self):
        for folders in (["/dev/shm"], ["/proc"], ["/proc", "/dev/shm"]):
            hide = "".join(f"mount -t ramfs -o mode=000 none {folder} && " for folder in folders)
            with self.subTest(folders):
                script = f"{hide} exec env LD_PRELOAD={support.LIBRARY} {self.program} nothing own"
                result = self.run_program(["unshare", "-m", "sh", "-c", script], PLAIN, GPUPROF_OUTPUT="t")
                self.assertEqual((result.returncode, result.stdout), (9, "launches 3000\n"), result.stderr)
                self.check_trace()
                os.unlink(self.path("t.gpuprof"))
                os.unlink(self.path("t.json"))


# CLOCK_REALTIME of the host, set by STEP_S when a second and a fifth have passed.
CLOCK = r"""
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{
	static long first;
	long result = syscall(SYS_clock_gettime, clock, now);
	struct timespec passed;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &passed);
	first = first ? first : passed.tv_sec * 10 + passed.tv_nsec / 100000000;
	if (clock == CLOCK_REALTIME && passed.tv_sec * 10 + passed.tv_nsec / 100000000 > first + 12)
		now->tv_sec += atol(getenv("STEP_S"));
	return result;
}
"""


class Clock(Case):

    @unittest.skipIf(support.ON_GPU, "the simulated device's clock is set")
    def test_a_clock_that_is_set(self):
        """An hour ahead or back, in the middle of 250 kernels of 10 ms each."""
        clock = self.compile("clock.so", CLOCK, "-shared", "-fPIC")
        for step in ("3600", "-3600", "-2"):
            for way in (PLAIN, BARE):
                line, own = support.command(way, [*support.GPU, "launch=250"])
                result = self.run_program(
                    ["env", "LD_PRELOAD=" + ":".join([clock, *own.values()]), *line], PLAIN, STEP_S=step,
                    GPUSIM_CLOCK_STEP_S=step, GPUSIM_KERNEL_NS="10000000", GPUPROF_OUTPUT="t", GPUPROF_SUMMARY="none")
                self.assertEqual((result.returncode, result.stdout), (0, "launches 250\n"), result.stderr)
            with open(self.path("t.json"), encoding="utf-8") as file:
                events = json.load(file)["traceEvents"]
            kernels = [event for event in events if event.get("cat") == "kernel"]
            launches = {event["args"]["correlation"]: event for event in events if event.get("name") == "cuLaunchKernel"}
            self.assertEqual((len(kernels), len(launches)), (250, 250))
            for before, kernel in zip([None, *kernels], kernels):
                launch = launches[kernel["args"]["correlation"]]
                self.assertGreaterEqual(kernel["ts"], launch["ts"])
                self.assertAlmostEqual(kernel["dur"], 10000, delta=100)
                if before:
                    self.assertGreater(kernel["ts"], before["ts"] + before["dur"] - 100)
                    self.assertLess(kernel["ts"], max(before["ts"] + before["dur"], launch["ts"] + launch["dur"]) + 100)
            os.unlink(self.path("t.gpuprof"))
            os.unlink(self.path("t.json"))


class Name(Case):

    def test_a_program_whose_name_is_as_long_as_a_name_may_be(self):
        for length in (200, 250):
            shutil.copy(os.path.join(support.BUILD, "programs", "demo"), self.path("n" * length))
            for way in (BARE, LAUNCHED):
                result = self.run_program([self.path("n" * length)], way, GPUPROF_CHROME="none")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertRegex(os.path.basename(self.only_trace()), r"^gpuprof-n{90,}-\d+\.gpuprof$")
                os.unlink(self.only_trace())


# System calls that filters of container engines forbid: those that an engine does not know, and of Docker's own list
# kcmp, perf_event_open, process_vm_readv, process_vm_writev, ptrace, setns, unshare and userfaultfd.
DENIED = r"""
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static const unsigned numbers[] = {312, 298, 310, 311, 101, 308, 272, 323, 334, 434, 436, 437, 438, 439, 441, 452};
	const int count = sizeof(numbers) / sizeof(numbers[0]);
	struct sock_filter code[64] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0)};
	struct sock_fprog program = {count + 3, code};

	for (int i = 0; i < count; i++)
		code[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, numbers[i], count - i, 0);
	code[count + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[count + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 97;
	execvp(argv[1], argv + 1);
	return 98;
}
"""

# Kills the process group of a command as soon as a worker of it has ended, as Ray does.
KILL_GROUP = r"""
import os, signal, subprocess, sys, time
started = subprocess.Popen(sys.argv[2:], start_new_session=True)
while not os.path.exists("ended"):
    time.sleep(0.001)
time.sleep(float(sys.argv[1]))
os.killpg(started.pid, signal.SIGKILL)
print(started.wait())
"""


class Containers(Case):
    """Containers, their managers, and tools that start a program."""

    def check(self, kernels=100, traces=1):
        found = self.files(".gpuprof")
        for trace in found:
            events = self.run_gpuprof("export", "--format", "jsonl", "-o", "-", trace).stdout.splitlines()
            self.assertEqual(sum(json.loads(event)["kind"] == "kernel" for event in events), kernels)
            os.unlink(self.path(trace))
        self.assertEqual(len(found), traces)

    @unittest.skipUnless(os.uname().machine == "x86_64", "the numbers are those of x86-64")
    def test_filters_of_container_engines(self):
        denied = self.compile("denied", DENIED)
        for line, way in (([denied, support.LAUNCHER, *support.GPU], PLAIN), ([denied, *support.GPU], BARE), ([denied, *support.GPU], LAUNCHED)):
            with self.subTest(line):
                result = self.run_program([*line, "launch=100", "exit=3"], way, GPUPROF_CHROME="none")
                self.assertEqual((result.returncode, result.stdout), (3, "launches 100\n"), result.stderr)
                self.check()

    @unittest.skipUnless(can_unshare(), "needs the right to mount")
    def test_a_file_system_that_is_read_only_but_for_a_volume(self):
        script = """mount --bind . /mnt && for place in $(cut -d" " -f5 /proc/self/mountinfo | grep -vE '^/(mnt|proc|dev)'); do
            mount -o remount,bind,ro $place 2>/dev/null; done; ! touch /tmp/x 2>/dev/null && cd / && exec "$@" """
        for line in ([support.LAUNCHER, "-o", "/mnt/t", *support.GPU], ["env", "GPUPROF_OUTPUT=/mnt/t", f"LD_PRELOAD={support.LIBRARY}", *support.GPU]):
            result = self.run_program(["unshare", "-m", "sh", "-c", script, "sh", *line, "launch=100", "exit=3"], PLAIN,
                                      GPUPROF_CHROME="none", PYTHONDONTWRITEBYTECODE="1")
            self.assertEqual((result.returncode, result.stdout), (3, "launches 100\n"), result.stderr)
            self.check()

    def test_a_current_folder_that_was_removed(self):
        script = 'mkdir gone && cd gone && rmdir ../gone && exec env "$@"'
        line = ["sh", "-c", script, "sh", f"LD_PRELOAD={support.LIBRARY}", "GPUPROF_CHROME=none"]
        result = self.run_program([*line, *support.GPU, "launch=100", "exit=3"], PLAIN)
        self.assertEqual((result.returncode, result.stdout), (3, "launches 100\n"))
        self.assert_one_line("\n".join(support.own_lines(result.stderr)), "current folder", "removed", "-o")
        result = self.run_program([*line, f"GPUPROF_OUTPUT={self.path('t')}", *support.GPU, "launch=100", "exit=3"], PLAIN)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.check()

    def test_a_group_that_is_killed_when_its_worker_has_ended(self):
        """The trace is complete, however far the launcher had come; it may have ended before."""
        for after in ("0", "0.05", "0.2"):
            worker = f'{" ".join(support.GPU)} launch=100; touch ended; sleep 0.1'
            result = self.run_program([sys.executable, "-c", KILL_GROUP, after, support.LAUNCHER, "-o", "t", "--html", "sh", "-c", worker], PLAIN)
            self.assertIn(result.stdout, ("launches 100\n-9\n", "launches 100\n0\n"), result.stderr)
            self.check()
            for name in self.files():
                os.unlink(self.path(name))

    @unittest.skipUnless(can_unshare(), "needs the right to mount")
    def test_a_shared_memory_that_the_program_fills(self):
        """Processes that start with little of /dev/shm, and one whose rings cannot grow any more."""
        fill = "cat /dev/zero > /dev/shm/fill 2>/dev/null; "
        for size, before in (("200k", ""), ("1m", ""), ("64m", ""), ("64m", fill)):
            script = (f'mount -t tmpfs -o size={size} none /dev/shm; {before} for i in 1 2 3; do "$@" & done; '
                      f'sleep 0.2; {fill} wait')
            with self.subTest(size, before=before):
                result = self.run_program(["unshare", "-m", "sh", "-c", script, "sh", *support.GPU, "launch=3000"],
                                          options=["-q", "--chrome", "none"])
                self.assertEqual((result.returncode, result.stdout.count("3000")), (0, 3), result.stderr)
                self.check(3000, 3)

    def test_tools_around_a_program(self):
        """Each tool starts the program, preloads its own library, or controls the program."""
        for tool in (["stdbuf", "-oL"], ["fakeroot"], ["faketime", "-f", "-15d"], ["strace", "-f", "-o", "calls"], ["perf", "stat", "-o", "counts"],
                     ["timeout", "60"], ["nohup"], ["setsid", "-w"], ["prlimit", "--nofile=64"], ["env", "-u", "HOME"],
                     ["gdb", "-q", "-batch", "-return-child-result", "-ex", "run", "--args"]):
            if not shutil.which(tool[0]):
                continue
            plain = self.run_program([*tool, *support.GPU, "launch=100", "exit=3"], PLAIN)
            if (plain.returncode, plain.stdout.count("launches 100\n")) != (3, 1):
                continue  # as without us: a debugger may not trace here
            for way in (BARE, LAUNCHED):
                with self.subTest(tool[0], way=way):
                    result = self.run_program([*tool, *support.GPU, "launch=100", "exit=3"], way, GPUPROF_CHROME="none")
                    self.assertEqual((result.returncode, result.stdout.count("launches 100\n")), (3, 1), result.stderr)
                    self.check()


# Tells a service manager that it is ready, as sd_notify() does.
NOTIFY = """
import os, socket
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"READY=1", os.environ["NOTIFY_SOCKET"])
"""


class Service(Case):

    def test_the_program_takes_the_sockets_of_a_service_manager(self):
        """As gpuprof-run did not take them; other numbers stay.  The id that goes with the launcher's number does not."""
        script = 'test "$LISTEN_PID" = $$ && echo "$LISTEN_FDS $LISTEN_FDNAMES ${LISTEN_PIDFDID-none} $WATCHDOG_PID $SYSTEMD_EXEC_PID"'
        given = "LISTEN_PIDFDID=7 LISTEN_FDNAMES=web LISTEN_FDS=2 LISTEN_PID=$$"
        for other in ("$$", "1"):
            start = f'{given} WATCHDOG_PID={other} SYSTEMD_EXEC_PID={other} exec "$0" -q sh -c \'{script}\''
            result = self.run_program(["sh", "-c", start, support.LAUNCHER], PLAIN)
            *of_sockets, watchdog, started = result.stdout.split()
            self.assertEqual((result.returncode, of_sockets), (0, ["2", "web", "none"]))
            self.assertEqual((watchdog == "1", started == "1"), (other == "1", other == "1"))

    def test_sockets_that_are_not_the_launchers(self):
        """As without gpuprof: the program sees that they are not its own."""
        script = 'echo "$LISTEN_PID $LISTEN_PIDFDID"'
        result = self.run_program(["sh", "-c", script], LAUNCHED, ["-q"], LISTEN_PID=1, LISTEN_PIDFDID=7)
        self.assertEqual((result.returncode, result.stdout), (0, "1 7\n"))

    def test_a_service_that_says_when_it_is_ready(self):
        """Under gpuprof-run it is a child of the main process, from which systemd takes the message only with NotifyAccess=all."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            manager.bind(self.path("notify"))
            for way in (PLAIN, BARE, LAUNCHED):
                line, own = support.command(way, [sys.executable, "-c", NOTIFY], ["-q"])
                with subprocess.Popen(line, env=support.environment(NOTIFY_SOCKET=self.path("notify"), **own), cwd=self.folder) as main:
                    self.assertEqual(main.wait(support.LIMIT_S), 0)
                text, about, *_ = manager.recvmsg(64, socket.CMSG_SPACE(12), socket.MSG_DONTWAIT)
                sender = struct.unpack("3i", about[0][2])[0]
                self.assertEqual((text, sender == main.pid), (b"READY=1", way != LAUNCHED), way)


# Ranges alone, and processes that fork: of Python, and as daemons do.
FORKS = r"""
import ctypes, os, sys
program = ctypes.CDLL(None)

def record(name):
    if hasattr(program, "gpuprof_v1_range_push"):
        program.gpuprof_v1_range_push(name)
        program.gpuprof_v1_range_pop()

for i in range(3):
    record(b"parent")
    if os.fork() == 0:
        record(b"child")
        if os.fork() == 0:
            os._exit(0)
        os.wait()
        os._exit(0)
    print(len(os.listdir("/proc/self/task")), os.wait()[1])
if "many" in sys.argv:
    for i in range(20000):
        record(b"more")
sys.exit(3)
"""


class Forks(Case):

    def check(self, python, way, argument, counts):
        result = self.run_program([python, "-W", "always", "-c", FORKS, argument], way,
                                  GPUPROF_QUIET="1", GPUPROF_OUTPUT="%p", GPUPROF_CHROME="none")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (3, "1 0\n" * 3, ""), (python, way))
        found = []
        for trace in self.files(".gpuprof"):
            events = self.run_gpuprof("export", "--format", "jsonl", "-o", "-", trace).stdout.splitlines()
            found.append(sum(json.loads(event)["kind"] == "range" for event in events))
            os.unlink(self.path(trace))
        self.assertEqual(sorted(found), counts)

    def test_no_thread_of_ours_is_there_at_a_fork(self):
        """Python 3.12 and later warns about a fork with several threads."""
        found = support.pythons(r"3\.1[2-9]")
        for python in found or support.pythons():
            for way, counts in ((PLAIN, []), (BARE, [1, 1, 1, 3]), (LAUNCHED, [1, 1, 1, 3])):
                self.check(python, way, "few", counts)
            self.check(python, BARE, "many", [1, 1, 1, 20003])
        if not found:
            self.skipTest("no Python from 3.12 on is here")


LOCKED = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <sys/mman.h>

extern int cuInit(unsigned), cuDevicePrimaryCtxRetain(void **, int), cuCtxSetCurrent(void *);
extern int cuMemAlloc_v2(unsigned long *, unsigned long);
static void *context;

static void *work(void *unused)
{
	unsigned long memory;

	cuCtxSetCurrent(context);
	for (int i = 0; i < 100; i++)
		cuMemAlloc_v2(&memory, 1 << 10);
	return unused;
}

int main(void)
{
	char line[256];
	pthread_t thread;

	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		return 77;
	if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0))
		return 1;
	for (int i = 0; i < 8; i++)
		if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
			return 2;
	for (FILE *status = fopen("/proc/self/status", "r"); fgets(line, sizeof(line), status);)
		if (!strncmp(line, "VmRSS", 5))
			printf("%d\n", atoi(line + 6));
	return 3;
}
"""


class Locked(Case):
    """A program that locks all its memory, also what is mapped later."""

    def test_tables_take_memory_as_they_fill(self):
        program = self.compile("locked", LOCKED, f"-L{support.BUILD}/sim", "-lcuda", "-lpthread")
        plain = self.run_program([program], PLAIN)
        if plain.returncode == 77:
            self.skipTest("memory may not be locked")
        for way in (BARE, LAUNCHED):
            result = self.run_program([program], way)
            self.assertEqual(result.returncode, 3)
            # 8 MiB of it is a stack of the simulated libcupti, 4 MiB the rings
            self.assertLess(int(result.stdout) - int(plain.stdout), 32 << 10, way)

    def test_a_limit_of_locked_memory(self):
        program = self.compile("locked", LOCKED, f"-L{support.BUILD}/sim", "-lcuda", "-lpthread")
        if os.geteuid() or not shutil.which("setpriv"):
            self.skipTest("root has no such limit, and setpriv is not there")
        os.chmod(self.folder, 0o777)
        line = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c", "ulimit -l 98304; exec $0", program]
        result = self.run_program(line, BARE)
        self.assertIn("ulimit -l unlimited", result.stderr)
        self.assertEqual(result.returncode, self.run_program(line, PLAIN).returncode)


if __name__ == "__main__":
    support.main()
