"""Each call that the preloaded library makes of the C library fails, in whole runs of a program: once, or from then on.

The program ends as without us, and what it loses by that of its recording is said in a line; a trace that is left can be
read.  tests/lib/faults.c makes the calls fail, or come back to us."""
import concurrent.futures
import errno
import os
import subprocess
import sys
import tempfile
import unittest

import support
from support import BUILD, GPUPROF, LIBRARY, LIMIT_S, Case

FAULTS = os.path.join(BUILD, "tests", "lib", "libfaults.so")
COUNTS = os.path.join(BUILD, "tests", "lib", "record_counts")
PROGRAM = os.path.join(BUILD, "programs", os.environ.get("TESTS_FAULTS_IN", "launch"))
ERRORS = (errno.ENOSPC, errno.EPERM, errno.ENOMEM, errno.EIO, errno.EMFILE, errno.ENOSYS)
FOR_GOOD = 1 << 40
MOST_CALLS = 5000
MAGIC_BYTES = 8  # a trace without more than these stays where neither writing nor removing works
MOST_ENTERED, STEP = 450, 5  # calls of a run, and how many of them are passed over
FULL = bool(os.environ.get("TESTS_ALL_FAULTS"))  # each error at each call, instead of the errors by turns


class Run:
    """One run, in a folder of its own."""
    program = [PROGRAM]

    def __init__(self, first=FOR_GOOD, last=FOR_GOOD, error=errno.EIO, enters=False):
        self.name = f"call {first} to {last} fails with {errno.errorcode[error]}"
        self.run(LD_PRELOAD=f"{FAULTS} {LIBRARY}", FAULTS_FIRST=first, FAULTS_LAST=last, FAULTS_ERROR=error,
                 FAULTS_ENTER="1" if enters else None)

    def run(self, **variables):
        with tempfile.TemporaryDirectory(prefix="gpuprof-faults-") as folder:
            self.run_in(folder, **variables)
            self.seen = self.read(folder, "seen")
            traces = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".gpuprof")]
            traces = [trace for trace in traces if os.path.getsize(trace)]
            self.size_bytes = max(map(os.path.getsize, traces), default=0)
            counts = self.outputs([COUNTS], traces)
            # of CUPTI's own overhead there is more or less each time
            self.counts = None if counts is None else [
                line for line in counts.splitlines() if not line.startswith("overheads ")]
            self.summary = self.outputs([GPUPROF, "summary"], traces)

    def run_in(self, folder, **variables):
        variables = support.environment(GPUPROF_OUTPUT=os.path.join(folder, "t%p"), GPUPROF_CHROME="none",
                                        GPUPROF_SUMMARY=os.path.join(folder, "summary"),
                                        FAULTS_SEEN=os.path.join(folder, "seen"), **variables)
        result = subprocess.run(self.program, env=variables, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, timeout=LIMIT_S, universal_newlines=True, check=False)
        self.result = (result.returncode, result.stdout)
        self.lines = result.stderr.splitlines()

    def operations(self):
        """What the GPU did."""
        return [line for line in self.counts if line.startswith(("kernels ", "copies ", "sets "))]

    @staticmethod
    def read(folder, name):
        try:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    @staticmethod
    def outputs(command, traces):
        """None where there is no trace, or one that cannot be read."""
        results = [subprocess.run([*command, trace], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=LIMIT_S,
                                  universal_newlines=True, check=False) for trace in traces]
        return None if not results or any(result.returncode for result in results) else "".join(result.stdout for result in results)


class Faults(Case):

    @classmethod
    def setUpClass(cls):
        plain = subprocess.run([PROGRAM], env=support.environment(), stdout=subprocess.PIPE, timeout=LIMIT_S,
                               universal_newlines=True, check=True)
        cls.result = (plain.returncode, plain.stdout)
        cls.whole = Run()

    def test_nothing_fails_that_should_not(self):
        self.assertEqual((self.whole.result, self.whole.lines, self.whole.seen), (self.result, [], ""))
        self.assertIsNotNone(self.whole.counts)

    def problem(self, run):
        """What is wrong with a run, or None."""
        if run.result != self.result:
            return f"the program ended with {run.result}"
        if not all(line.startswith("gpuprof: ") for line in run.lines):
            return "lines that are not ours"
        if run.size_bytes > MAGIC_BYTES and (run.counts is None or run.summary is None):
            return "a trace that cannot be read"
        if run.counts != self.whole.counts and not run.lines:
            return f"what was lost was not said: {run.counts}"
        return None

    def sweep(self, for_good):
        """What was wrong, and how many calls there were to fail."""
        problems = []
        for first in range(MOST_CALLS):
            errors = ERRORS if FULL else [ERRORS[first % len(ERRORS)]]
            runs = [Run(first, FOR_GOOD if for_good else first, error) for error in errors]
            problems += [f"{run.name} ({run.seen.split()}): {self.problem(run)}: {run.lines}"
                         for run in runs if self.problem(run)]
            if not any(run.seen for run in runs):
                break
        return problems, first

    def test_each_call_fails_once_and_for_good(self):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for problems, calls in pool.map(self.sweep, (False, True)):
                self.assertEqual(problems, [])
                self.assertGreater(calls, 100)
                self.assertLess(calls, MOST_CALLS - 1)


class Entered(Case):
    """Each call that the library makes comes to a function of the program's, which uses gpuprof and the device itself: nothing waits for itself."""

    def test_each_call_enters_once(self):
        whole, calls = Run(), 0
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for run in pool.map(lambda number: Run(number, number, enters=True), range(0, MOST_ENTERED, 1 if FULL else STEP)):
                calls += bool(run.seen)
                self.assertEqual((run.result, run.lines), (whole.result, []), run.seen)
                self.assertIn("nothing was dropped", run.summary, run.seen)
        self.assertGreater(calls, 200 // (1 if FULL else STEP))

    def test_all_calls_enter(self):
        """So do those of the writer's thread while the recording starts, which the program waits for."""
        whole, run = Run(), Run(0, FOR_GOOD, enters=True)
        self.assertEqual((run.result, run.lines), (whole.result, []))
        self.assertIn("nothing was dropped", run.summary)
        self.assertEqual(run.operations(), whole.operations())
        self.assertGreater(len(run.seen.splitlines()), 200)


# It goes on until both its threads were looked at often: what it prints is the same each time.
PYTHON = """
import sys, threading, time
sys.path.insert(0, sys.argv[1])
import gpu
device = gpu.Device()
device.launch(10)
def spin(until):
    while time.monotonic() < until:
        pass
until = time.monotonic() + 0.5
other = threading.Thread(target=spin, args=(until,))
other.start()
spin(until)
other.join()
"""
LOOKS = {"process_vm_readv": 310, "tgkill": 234, "clock_gettime": 228}  # the calls of a look at another thread, on x86-64


@unittest.skipIf(os.uname().machine != "x86_64", "looks are taken on x86-64 only")
class Looks(Case):
    """The calls by which threads of Python are looked at fail: only the looks suffer."""

    def run_with(self, name, first, last, error):
        seen, trace = self.path("seen"), self.path("t.gpuprof")
        for path in (seen, trace):
            if os.path.exists(path):
                os.unlink(path)
        result = self.run_program([sys.executable, self.write("program.py", PYTHON), support.HERE], support.PLAIN,
                                  LD_PRELOAD=f"{FAULTS} {LIBRARY}", GPUPROF_OUTPUT="t", GPUPROF_SUMMARY="none", GPUPROF_CHROME="none",
                                  GPUPROF_HOST_SAMPLES="5", FAULTS_SEEN=seen, FAULTS_ONLY=f"syscall {LOOKS[name]}",
                                  FAULTS_FIRST=first, FAULTS_LAST=last, FAULTS_ERROR=error)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "launches 10\n", ""))
        summary = self.run_gpuprof("summary", "--full", trace)
        self.assertEqual(summary.returncode, 0, summary.stderr)
        self.assertIn("all 10 launches have their kernel record", summary.stdout)
        return os.path.exists(seen), " ".join(summary.stdout.split())

    def test_each_call_of_a_look(self):
        for name in LOOKS:
            for first, last in ((0, 0), (3, 3), (7, FOR_GOOD), (0, FOR_GOOD)):
                for error in (errno.EPERM, errno.EFAULT):
                    with self.subTest(name, first=first, last=last, error=errno.errorcode[error]):
                        has_failed, _ = self.run_with(name, first, last, error)
                        self.assertTrue(has_failed or (name, first) != ("process_vm_readv", 0))

    def test_that_there_are_no_looks_is_said(self):
        _, summary = self.run_with("process_vm_readv", 0, FOR_GOOD, errno.ENOSYS)
        self.assertIn("the program's Python stacks are not sampled: a process may not copy its own memory here (process_vm_readv)", summary)


if __name__ == "__main__":
    if support.ON_GPU:
        raise unittest.SkipTest("the faults are those of the simulated device's runs")
    support.main()
