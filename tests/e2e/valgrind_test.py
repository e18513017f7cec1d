"""Under valgrind: programs with the preloaded library, all that reads their traces, and unit tests.  Nothing is read that was
not written, or is not there; the readers lose no memory."""
import os
import re
import shutil
import subprocess
import unittest

import support
from support import BUILD, GPUPROF, LIBRARY, Case

LIMIT_S = 250
FOUND = 99
VALGRIND = ["valgrind", "-q", f"--error-exitcode={FOUND}", "--num-callers=30",
            f"--suppressions={os.path.join(support.ROOT, 'tests', 'lib', 'valgrind.supp')}"]
LEAKS = ["--leak-check=full", "--errors-for-leak-kinds=definite"]
READERS = ("summary", "summary --by all --format json", "summary --memory", "export --format chrome -o -",
           "export --format pprof -o -", "trace gpu", "trace nvtx --format csv", "finish")
UNITS = ("collector/arena", "collector/encode", "collector/process_info", "collector/intern", "collector/sys", "collector/text_table",
         "inject/array_bytes", "inject/cupti_decode", "report/codec/pickle", "report/model/payload",
         "report/codec/protobuf", "report/base/text/text", "report/codec/json_write")


@unittest.skipUnless(shutil.which("valgrind"), "no valgrind here: apt-get install valgrind")
@unittest.skipIf(support.ON_GPU, "valgrind does not know the driver")
class Valgrind(Case):

    def run_checked(self, command, *options, folder=None, **variables):
        """The result of a command in which valgrind finds nothing."""
        result = subprocess.run([*VALGRIND, *options, *command], cwd=folder or self.folder, env=support.environment(**variables),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S, errors="replace",
                                universal_newlines=True, check=False)
        self.assertNotIn("\n==", "\n" + result.stderr, f"{command}: {result.stderr[:4000]}")
        self.assertEqual(result.returncode, 0, f"{command}: {result.stderr[:4000]}")
        return result

    def record(self, program):
        """The program's trace, recorded under valgrind."""
        self.run_checked([os.path.join(BUILD, "programs", program)], LD_PRELOAD=LIBRARY, GPUPROF_STACKS="all",
                         GPUPROF_OUTPUT=program, GPUPROF_SUMMARY="none", GPUPROF_CHROME="none")
        return program + ".gpuprof"

    def test_programs_and_their_readers(self):
        traces = [self.record(program) for program in ("ranges", "allocs")]
        for reader in READERS:
            self.run_checked([GPUPROF, *reader.split(), traces[0]], *LEAKS)
        self.run_checked([GPUPROF, "merge", "-o", "merged.json", *traces], *LEAKS)

    def test_the_end_of_a_program(self):
        """Its status stays, though valgrind does not know how we start a process: how to get the summary is said."""
        result = subprocess.run([*VALGRIND, os.path.join(BUILD, "programs", "launch")], cwd=self.folder,
                                env=support.environment(LD_PRELOAD=LIBRARY, GPUPROF_OUTPUT="t"), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, timeout=LIMIT_S, universal_newlines=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("launches 500\n", result.stdout)
        # valgrind's own line about a system call that asks whether memory can be read, as a stack's walk does
        own = re.sub(r"^--[0-9]+-- sigprocmask: unknown 'how' field.*\n", "", result.stderr, flags=re.M)
        self.assertEqual(own, "gpuprof: no process can be started under valgrind; for the summary and the Chrome trace, type: "
                                        f"gpuprof finish {self.path('t.gpuprof')}\n")

    def test_units(self):
        for unit in UNITS:
            self.run_checked([os.path.join(BUILD, "tests", unit + "_test")], folder=support.ROOT)


if __name__ == "__main__":
    support.main()
