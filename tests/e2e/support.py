"""What the end-to-end tests share: running programs plain, under a bare LD_PRELOAD and under gpuprof-run, on the
simulated device, and reading what they leave."""
import errno
import glob
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("O") or os.path.join(ROOT, "build")
sys.path.insert(0, os.path.join(ROOT, "tests", "lib"))
GPUPROF = os.path.join(BUILD, "gpuprof")
LAUNCHER = os.path.join(BUILD, "gpuprof-run")
LIBRARY = os.path.join(BUILD, "libgpuprof.so")
GPU = [sys.executable, os.path.join(HERE, "gpu.py")]
ON_GPU = bool(os.environ.get("TESTS_ON_GPU"))  # the real one, instead of the simulated device
LIBRARIES = os.environ.get("LD_LIBRARY_PATH", "") if ON_GPU else os.path.join(BUILD, "sim")
LIMIT_S = 60
SKIPPED = 77

PLAIN, BARE, LAUNCHED = "plain", "bare preload", "gpuprof-run"
WAYS = (PLAIN, BARE, LAUNCHED)

# Whoever runs us in the background or under nohup ignores some signals; the programs under test must not.
for _number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, signal.SIG_DFL)


def environment(**changes):
    """The environment of a program on the simulated device, or where TESTS_ON_GPU is set on the real one; a change to None unsets."""
    variables = dict(os.environ, LD_LIBRARY_PATH=LIBRARIES)
    for toolkit in () if ON_GPU else ("CUDA_HOME", "CUDA_PATH"):  # whose libcupti would be taken before the simulated one
        variables.pop(toolkit, None)
    for name, value in changes.items():
        if value is None:
            variables.pop(name, None)
        else:
            variables[name] = str(value)
    return variables


def digests(folder):
    """SHA-256 of each file in a folder, by its name from there."""
    found = {}
    for inside, _, names in os.walk(folder):
        for path in (os.path.join(inside, name) for name in names):
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = hashlib.sha256(file.read()).hexdigest()
    return found


def command(way, arguments, options=()):
    """The command line that runs a program in one of the WAYS, and the variables that belong to it."""
    if way == LAUNCHED:
        return [LAUNCHER, *options, *arguments], {}
    return list(arguments), {"LD_PRELOAD": LIBRARY} if way == BARE else {}


# What compile_named() compiles.
NAMED = """
#define _GNU_SOURCE
#include <sys/prctl.h>
#include "gpuprof/gpuprof.h"

extern int cuInit(unsigned), cuCtxCreate_v2(void **, unsigned, int), cuMemAlloc_v2(unsigned long *, unsigned long);

static const char *const names[] = {%s};

int main(void)
{
	void *context;
	unsigned long memory;

	if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0))
		return 1;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		prctl(PR_SET_NAME, names[i]);
		gpuprof_v1_mark(names[i]);
		gpuprof_v1_range_push(names[i]);
		cuMemAlloc_v2(&memory, 1 << 20);
		gpuprof_v1_range_pop();
	}
	return 0;
}
"""


class Case(unittest.TestCase):
    """A test in a folder of its own, with nothing but what the test leaves there."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="gpuprof-e2e-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_program(self, arguments, way=LAUNCHED, options=(), stdin="", **variables):
        """subprocess.CompletedProcess, with text output."""
        line, own = command(way, arguments, options)
        return subprocess.run(line, env=environment(**{**own, **variables}), cwd=self.folder, input=stdin,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S,
                              universal_newlines=True, check=False)

    def run_gpuprof(self, *arguments):
        return subprocess.run([GPUPROF, *arguments], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=LIMIT_S, universal_newlines=True, check=False)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text, mode=0o644):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(name), mode)
        return self.path(name)

    def files(self, suffix=""):
        return sorted(name for name in os.listdir(self.folder) if name.endswith(suffix))

    def only_trace(self):
        traces = self.files(".gpuprof")
        self.assertEqual(len(traces), 1, traces)
        return self.path(traces[0])

    def compile(self, name, source, *flags):
        """A C program; skips the test where this machine's compiler cannot build it."""
        compiler = flags[0] if flags and not flags[0].startswith("-") else os.environ.get("CC", "cc")
        flags = [flag for flag in flags if flag != compiler]
        if not shutil.which(compiler.split()[0]):
            self.skipTest(f"no {compiler}")
        built = subprocess.run([*compiler.split(), "-x", "c", "-", "-o", self.path(name), *flags], input=source,
                               stderr=subprocess.PIPE, universal_newlines=True, check=False)
        if built.returncode:
            self.skipTest(f"{compiler} {' '.join(flags)} does not work here")
        return self.path(name)

    def compile_to_run(self, name, source, *flags):
        """As compile(); also skips the test if the kernel runs no such programs (32-bit ones)."""
        program = self.compile(name, source, *flags)
        try:
            subprocess.run([program], check=False)
        except OSError as error:
            if error.errno != errno.ENOEXEC:
                raise
            self.skipTest(f"this kernel does not run programs of {' '.join(flags)}")
        return program

    def compile_named(self, name, names):
        """A program that has marks, ranges around an allocation and a thread of these names, which are bytes without a 0."""
        literals = ", ".join('"' + "".join(f"\\{byte:03o}" for byte in text) + '"' for text in names)
        return self.compile(name, NAMED % literals, f"-I{ROOT}/include", "-g", f"-L{BUILD}/sim", "-lcuda")

    def assert_one_line(self, text, *parts):
        """One line of ours that says all the parts."""
        self.assertEqual(len(text.splitlines()), 1, text)
        self.assertTrue(text.startswith("gpuprof: "), text)
        for part in parts:
            self.assertIn(part, text)


def pythons(versions=r"3\.([89]|1\d)"):
    """Every interpreter of the machine of these versions, and those that tests/pythons unpacked."""
    places = (os.path.expanduser("~/.pyenv/versions/*/bin"), "/usr/bin", os.path.join(BUILD, "pythons", "bin"))
    return sorted(path for place in places for path in glob.glob(f"{place}/python3.*") if re.search(versions + "$", path))


def own_lines(stderr):
    return [line for line in stderr.splitlines() if line.startswith("gpuprof: ")]


def main():
    """Run the calling file's tests; exit status 0, 1, or 77 where all were skipped."""
    if not ON_GPU and not os.path.isfile(os.path.join(BUILD, "programs", "demo")):
        sys.exit(f"{BUILD} has no programs to test with: type make all programs")
    result = unittest.main(module="__main__", exit=False, verbosity=1).result
    for test, reason in result.skipped:
        print(f"skipped: {test.id().split('.', 1)[1]}: {reason}")
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(SKIPPED if result.testsRun == len(result.skipped) else 0)
