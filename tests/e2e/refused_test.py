"""CUPTI refuses, or somebody else has it: the program is as without us, and one line says why nothing of it is recorded."""
import os
import shlex
import shutil
import unittest

import support
from support import BARE, GPU, LAUNCHED, PLAIN, WAYS, Case, own_lines

STUB = os.path.join(os.environ.get("CUDA_HOME") or "/usr/local/cuda", "lib64", "stubs", "libcuda.so")
BY_NCU = {"NV_NSIGHT_INJECTION_TRANSPORT_TYPE": "uds"}  # of all that it starts
NOTHING = "gpuprof: no GPU activity is recorded: "

UNUSED = """
#include <stdlib.h>
int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		clearenv();
	return 5;
}
"""


@unittest.skipIf(support.ON_GPU, "the simulated device refuses on demand")
class Refused(Case):

    def check(self, *parts, **variables):
        """The program's results agree; what we say is one line, and under the launcher that nothing was recorded besides."""
        results = {way: self.run_program([*GPU, "launch=3", "copy=2", "complain=careful", "exit=6"], way, **variables) for way in WAYS}
        plain = results[PLAIN]
        self.assertEqual((plain.returncode, plain.stderr), (6, "careful\n"))
        for way in (BARE, LAUNCHED):
            result = results[way]
            self.assertEqual((result.returncode, result.stdout), (6, plain.stdout), result.stderr)
            self.assertEqual([line for line in result.stderr.splitlines() if not line.startswith("gpuprof: ")], ["careful"])
            lines = own_lines(result.stderr)
            self.assertEqual(len(lines), 1 if way == BARE else 2, lines)
            self.assertTrue(lines[0].startswith(NOTHING), lines)
            for part in parts:
                self.assertIn(part, lines[0])
            if way == LAUNCHED:
                self.assertIn("nothing was recorded", lines[1])
        self.assertEqual(self.files(".gpuprof") + self.files(".json"), [])

    def test_only_administrators_may(self):
        for fault in ("may-not-subscribe", "may-not-record"):
            with self.subTest(fault):
                self.check("lets only administrators profile", "gpuprof doctor", GPUSIM_FAULT=fault)

    def test_another_profiler_has_it(self):
        self.check("another profiler (nsys, ncu,", GPUSIM_FAULT="subscriber-taken")

    def test_a_driver_that_is_older(self):
        """It has no libcupti, or one that is too new for it."""
        self.check("there is no libcupti for this driver, which is for CUDA 12.8", "--cupti", GPUSIM_DRIVER_VERSION="12080",
                   LD_LIBRARY_PATH=self.driver_alone())
        self.check("the driver is older than this libcupti needs", "gpuprof doctor", GPUSIM_FAULT="old-driver")

    def driver_alone(self):
        folder = self.path("driver")
        os.mkdir(folder)
        self.addCleanup(shutil.rmtree, folder)
        for name in os.listdir(support.LIBRARIES):
            if name.startswith(("libcuda.", "libgpusim", "libnvidia")):
                os.symlink(os.path.join(support.LIBRARIES, name), os.path.join(folder, name))
        return folder

    def test_another_tool_comes_with_the_driver(self):
        """A bare preload says so at the end of a program that loaded the driver, and of no other; the launcher at the start."""
        for way in (PLAIN, BARE, LAUNCHED):
            result = self.run_program([*GPU, "launch=3", "exit=6"], way, CUDA_INJECTION64_PATH="/opt/tool.so")
            self.assertEqual((result.returncode, result.stdout), (6, "launches 3\n"))
            if way != PLAIN:
                self.assert_one_line(result.stderr, "CUDA_INJECTION64_PATH names another tool (/opt/tool.so)", "unset CUDA_INJECTION64_PATH")
        result = self.run_program([*GPU, "say=hello"], BARE, CUDA_INJECTION64_PATH="/opt/tool.so")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "hello\n", ""))
        result = self.run_program([*GPU, "launch=3"], BARE, CUDA_INJECTION64_PATH="/opt/tool.so", GPUPROF_QUIET="1")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(self.files(), [])

    def test_a_program_that_never_uses_the_driver_that_it_is_linked_with(self):
        """Nothing is missing of it, whatever it does to its environment, and whoever names another tool or is around."""
        program = self.compile("program", UNUSED, f"-L{support.BUILD}/sim", "-Wl,--no-as-needed", "-lcuda")
        for variables in ({}, {"CUDA_INJECTION64_PATH": "/opt/tool.so"}, BY_NCU):
            for argument in ([], ["clear"]):
                with self.subTest(variables, argument=argument):
                    result = self.run_program([program, *argument], BARE, **variables)
                    self.assertEqual((result.returncode, result.stderr), (5, ""))

    def test_nsight_compute_is_around(self):
        """It ends a program that has the variable, which is gone then, also where a gpuprof-run further out had set it."""
        show = ["sh", "-c", f"{shlex.join(GPU)} launch=3; echo ${{CUDA_INJECTION64_PATH-none}} ${{NVTX_INJECTION64_PATH-none}}; exit 6"]
        for way, before, variables in ((BARE, (), BY_NCU), (LAUNCHED, (), BY_NCU), (LAUNCHED, ("env", *map("=".join, BY_NCU.items())), {})):
            result = self.run_program([*before, *show], way, **variables)
            self.assertEqual((result.returncode, result.stdout), (6, "launches 3\nnone none\n"))
            lines = own_lines(result.stderr)
            self.assertEqual(len(lines), 1 if way == BARE else 2, lines)
            self.assertIn("nothing was recorded: Nsight Compute (ncu) profiles this program", lines[0])
            self.assertIn("run it without ncu", lines[0])
        self.assertEqual(self.files(), [])

    @unittest.skipUnless(os.path.exists(STUB), "needs the CUDA Toolkit's stub")
    def test_the_toolkits_stub_in_place_of_the_driver(self):
        os.mkdir(self.path("stubs"))
        os.symlink(os.path.realpath(STUB), self.path("stubs", "libcuda.so.1"))
        for way in WAYS:
            result = self.run_program([*GPU, "launch=3"], way, LD_LIBRARY_PATH=self.path("stubs"))
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertEqual([line for line in result.stderr.splitlines() if not line.startswith("gpuprof: ")], ["cuInit: CUDA error 34"])
            self.assertEqual(len(own_lines(result.stderr)), 1 if way == LAUNCHED else 0, result.stderr)


if __name__ == "__main__":
    support.main()
