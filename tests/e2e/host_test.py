"""The program never notices: whatever it does on the GPU, it behaves as without us."""
import os
import shutil
import signal
import subprocess
import unittest

import support
from support import BARE, GPU, LAUNCHED, PLAIN, WAYS, Case, own_lines


def foreign_lines(stderr):
    """The lines up to the first of ours: the summary comes last."""
    lines = stderr.splitlines()
    ours = [number for number, line in enumerate(lines) if line.startswith("gpuprof")]
    return lines[:ours[0]] if ours else lines


UNHEARD = """
#include <signal.h>
#include <sys/time.h>

extern int cuInit(unsigned), cuCtxCreate_v2(void **, unsigned, int);

static void on_alarm(int number)
{
	(void)number;
}

int main(int argc, char **argv)
{
	struct itimerval often = {{0, 50000}, {0, 50000}};
	void *context;

	(void)argv;
	if (argc > 1 && (signal(SIGALRM, on_alarm) == SIG_ERR || setitimer(ITIMER_REAL, &often, 0)))
		return 2;
	return cuInit(0) || cuCtxCreate_v2(&context, 0, 0) ? 1 : 5;
}
"""


# The library comes by dlopen() twice and is closed as often: its thread-local memory and exit handlers are still in use.
CLOSER = """
#include <dlfcn.h>
#include <stdio.h>

extern int cuInit(unsigned), cuCtxCreate_v2(void **, unsigned, int);

int main(int argc, char **argv)
{
	void *context;

	for (int i = 0; i < 2 && argc > 1; i++) {
		void *library = dlopen(argv[1], RTLD_NOW);

		if (!library || dlclose(library))
			return 2;
	}
	if (argc > 1 && !dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD))
		return 3;
	if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0))
		return 4;
	puts("made");
	return 5;
}
"""

# What the loader asks of each library, in a namespace of its own.
AUDIT = """
#define _GNU_SOURCE
#include <link.h>

unsigned la_version(unsigned version)
{
	return version;
}

unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
	(void)map, (void)space, (void)cookie;
	return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}
"""

# In place of gpuprof: it says what is open, and what it was asked to do.
WITNESS = """#!/bin/sh
exec 9> "$WITNESS"
echo "$1" >&9
cd /proc/$$/fd
for fd in *; do echo "$fd $(readlink $fd)" >&9; done
"""

SHELLS = """
import os, subprocess, sys
sys.path.insert(0, sys.argv[1])
import gpu
device = gpu.Device()
device.launch(3)
for close_fds in (True, False):
    print(subprocess.run(["sh", "-c", "cd /proc/$$/fd; echo *"], stdout=subprocess.PIPE, close_fds=close_fds, text=True).stdout, end="")
device.launch(3)
"""


class Host(Case):

    def run_every_way(self, *steps, **variables):
        """The result of each way, with the summary out of the way."""
        results = {}
        for way in WAYS:
            own = {} if way == PLAIN else {"GPUPROF_SUMMARY": "none", "GPUPROF_CHROME": "none"}
            results[way] = self.run_program([*GPU, *steps], way, **{**own, **variables})
        return results

    def check_alike(self, *steps, stderr=True):
        results = self.run_every_way(*steps)
        plain = results[PLAIN]
        for way in (BARE, LAUNCHED):
            self.assertEqual(results[way].returncode, plain.returncode, results[way].stderr)
            self.assertEqual(results[way].stdout, plain.stdout)
            if stderr:
                self.assertEqual(foreign_lines(results[way].stderr), plain.stderr.splitlines())
        return plain

    def test_output_and_exit_status(self):
        plain = self.check_alike("launch=3", "say=done", "complain=careful", "exit=42")
        self.assertEqual((plain.returncode, plain.stdout, plain.stderr), (42, "launches 3\ndone\n", "careful\n"))

    def test_signals_end_it_alike(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT):
            plain = self.check_alike("launch=3", f"raise={int(number)}")
            self.assertEqual(plain.returncode, -number)

    def test_underscore_exit(self):
        self.assertEqual(self.check_alike("launch=3", "_exit=9").returncode, 9)

    def test_a_library_that_is_loaded_and_closed(self):
        program = self.compile("closer", CLOSER, f"-L{support.BUILD}/sim", "-lcuda", "-ldl")
        for way, arguments in ((PLAIN, []), (PLAIN, [support.LIBRARY]), (BARE, [support.LIBRARY])):
            with self.subTest(way, arguments=arguments):
                result = self.run_program([program, *arguments], way)
                self.assertEqual((result.returncode, result.stdout), (5, "made\n"), result.stderr)

    def test_a_library_that_audits_the_loader(self):
        audit = self.compile("audit.so", AUDIT, "-shared", "-fPIC")
        for way, result in self.run_every_way("launch=3", "exit=4", LD_AUDIT=audit).items():
            with self.subTest(way):
                self.assertEqual((result.returncode, result.stdout, foreign_lines(result.stderr)), (4, "launches 3\n", []))

    def test_what_a_subprocess_has_open(self):
        program = self.write("shells.py", SHELLS)
        own = {"GPUPROF_SUMMARY": "none", "GPUPROF_CHROME": "none"}
        results = [self.run_program([support.sys.executable, program, support.HERE], way, **({} if way == PLAIN else own)) for way in WAYS]
        self.assertEqual(results[0].returncode, 0, results[0].stderr)
        for result in results[1:]:
            self.assertEqual((result.returncode, result.stdout, foreign_lines(result.stderr)), (0, results[0].stdout, []))

    def test_who_finishes_the_trace_holds_nothing_of_the_program(self):
        """A shell that waits for the end of the program's output would wait for that, too."""
        os.mkdir(self.path("beside"))
        library = shutil.copy(support.LIBRARY, self.path("beside"))
        self.write("beside/gpuprof", WITNESS, 0o755)
        ends = [os.pipe() for _ in range(2)]  # the program's output, and another that it has open
        result = subprocess.run([*GPU, "launch=3"], stdout=ends[0][1], stderr=subprocess.DEVNULL, cwd=self.folder, check=False,
                                pass_fds=[ends[1][1]], env=support.environment(LD_PRELOAD=library, WITNESS=self.path("seen")))
        self.assertEqual((result.returncode, os.read(ends[0][0], 99)), (0, b"launches 3\n"))
        with open(self.path("seen"), encoding="utf-8") as seen:
            word, *open_files = seen.read().splitlines()
        self.assertEqual((word, "1 /dev/null" in open_files, "2 /dev/null" in open_files), ("finish", True, True), open_files)
        for pipe in ends:
            self.assertNotIn(f"pipe:[{os.fstat(pipe[0]).st_ino}]", " ".join(open_files))
            for end in pipe:
                os.close(end)

    def test_a_child_of_fork(self):
        self.assertIn("child 0", self.check_alike("launch=3", "fork", "launch=2").stdout)

    def test_without_the_gpu(self):
        self.check_alike("say=hello", "exit=3")

    def test_no_child_process_shows(self):
        code = ("import ctypes, os, sys; sys.argv = ['gpu.py', 'launch=1']; "
                "sys.path.insert(0, os.path.dirname(sys.executable)); "
                f"exec(open({GPU[1]!r}).read())\n"
                "import atexit, errno\n"
                "def wait():\n"
                "    try: print('waited', os.waitpid(-1, os.WNOHANG))\n"
                "    except ChildProcessError: print('no child')\n"
                "wait()")
        for way in WAYS:
            result = self.run_program([support.sys.executable, "-c", code], way)
            self.assertEqual(result.stdout, "launches 1\nno child\n", result.stderr)

    def test_a_program_that_ignores_its_children(self):
        ignore = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
        result = self.run_program([support.sys.executable, "-c", ignore, *GPU, "launch=3"], BARE)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(self.files(".json")), 1)
        self.assertNotIn("not finished", result.stderr)

    def test_a_stderr_that_nobody_reads(self):
        program = self.compile("program", UNHEARD, f"-L{support.BUILD}/sim", "-lcuda")
        for way, output in ((PLAIN, None), (BARE, None), (BARE, self.path("missing", "name")), (LAUNCHED, None)):
            reading, writing = os.pipe()
            os.close(reading)
            line, own = support.command(way, [program])
            with self.subTest(way):
                ended = subprocess.run(line, env=support.environment(GPUPROF_OUTPUT=output, **own), cwd=self.folder,
                                       stderr=writing, timeout=support.LIMIT_S, check=False)
                self.assertEqual(ended.returncode, 5)
            os.close(writing)

    def test_a_stderr_that_is_full(self):
        """Nobody empties the pipe: a line waits a second for that, the summary as long as it may; the program's own signals do not end the wait."""
        program = self.compile("program", UNHEARD, f"-L{support.BUILD}/sim", "-lcuda")
        for output, *signals in ((self.path("t"),), (self.path("missing", "name"),), (self.path("missing", "name"), "alarm")):
            reading, writing = os.pipe()
            os.set_blocking(writing, False)
            try:
                while os.write(writing, bytes(4096)):
                    pass
            except BlockingIOError:
                os.set_blocking(writing, True)
            with self.subTest(output, signals=signals):
                ended = subprocess.run([program, *signals], env=support.environment(LD_PRELOAD=support.LIBRARY, GPUPROF_OUTPUT=output,
                                                                          GPUPROF_FINISH_TIMEOUT="1"),
                                       cwd=self.folder, stderr=writing, timeout=15, check=False)
                self.assertEqual(ended.returncode, 5)
            os.close(reading)
            os.close(writing)

    def test_quiet_leaves_stderr_to_the_program(self):
        for way in (BARE, LAUNCHED):
            result = self.run_program([*GPU, "launch=3", "complain=careful"], way, GPUPROF_QUIET="1")
            self.assertEqual((result.returncode, result.stderr), (0, "careful\n"))

    def test_a_process_without_the_gpu_is_left_alone_under_a_bare_preload(self):
        result = self.run_program([*GPU, "say=hello"], BARE)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "hello\n", ""))
        self.assertEqual(self.files(), [])

    def test_an_unwritable_folder_does_not_stop_the_program(self):
        result = self.run_program([*GPU, "launch=3"], BARE, GPUPROF_OUTPUT=self.path("missing", "name"))
        self.assertEqual((result.returncode, result.stdout), (0, "launches 3\n"))
        lines = own_lines(result.stderr)
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertIn(self.path("missing", "name"), lines[0])
        self.assertIn("GPUPROF_OUTPUT", lines[0])


if __name__ == "__main__":
    support.main()
