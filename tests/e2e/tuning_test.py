#!/usr/bin/env python3
"""What libraries try out is not the program's work, and what compiles while the GPU waits is named: of a Python program whose modules have
the names of those libraries."""
import json
import os
import sys

import support
from tables_test import Tables

STEPS = 12
TRIES = 60

CUDA = """
import ctypes

cuda = ctypes.CDLL("libcuda.so.1")
cuda.cuInit(0)
context = ctypes.c_void_p()
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)


def allocate():
    pointer = ctypes.c_uint64()
    cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(4096))
    return pointer


def fill(pointer):
    cuda.cuMemsetD8Async(pointer, ctypes.c_ubyte(1), ctypes.c_size_t(4096), None)


def copy(to, source):
    cuda.cuMemcpyDtoDAsync_v2(to, source, ctypes.c_size_t(4096), None)
"""

TESTING = f"""
def do_bench(function):
    for _ in range({TRIES}):
        function()
"""

AUTOTUNER = """
from triton import testing


class Autotuner:
    def _bench(self, function):
        testing.do_bench(function)
"""

COMPILER = """
import time
import cuda_calls


def compile_using_nvrtc():
    time.sleep(0.3)
    cuda_calls.allocate()
"""

PROGRAM = f"""
import cuda_calls
from cupy.cuda import compiler
from triton import testing
from triton.runtime import autotuner

one, other = cuda_calls.allocate(), cuda_calls.allocate()


def try_out():
    cuda_calls.fill(one)
    cuda_calls.fill(one)


def step():
    cuda_calls.fill(one)
    cuda_calls.copy(other, one)


autotuner.Autotuner()._bench(try_out)
compiler.compile_using_nvrtc()
for _ in range({STEPS}):
    step()
cuda_calls.cuda.cuCtxSynchronize()
"""


class Tuning(Tables):
    def record_program(self, *options):
        self.write("cuda_calls.py", CUDA)
        self.write_module("triton/testing.py", TESTING)
        self.write_module("triton/runtime/autotuner.py", AUTOTUNER)
        self.write_module("cupy/cuda/compiler.py", COMPILER)
        done = self.run_program([sys.executable, self.write("train.py", PROGRAM)], options=("-q", "-o", "out", "--chrome", "none", *options))
        self.assertEqual(done.returncode, 0, done.stderr)
        return "out.gpuprof"

    def write_module(self, path, text):
        os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
        self.write(path, text)

    def advice(self, trace):
        told = self.run_gpuprof("advice", "--format", "json", trace)
        self.assertEqual(told.returncode, 0, told.stderr)
        return json.loads(told.stdout)

    def test_what_is_tried_out_is_no_step(self):
        trace = self.record_program("--stacks", "all")
        found = self.tables("tuning,iteration,kind", trace)
        counts = {row["Started by"]: row["Count"] for row in found["tuning"]}
        self.assertEqual(counts, {"Triton's benchmarks": 2 * TRIES, "the program itself": 2 * STEPS}, self.run_gpuprof("summary", "--full", trace).stdout)
        self.assertEqual({row["Kind"]: row["Count"] for row in found["kind"]}, {"autotuning": 2 * TRIES, "memset": STEPS, "memcpy": STEPS})
        self.assertEqual(len(found["iteration"]), STEPS)
        page = self.run_gpuprof("summary", trace).stdout
        self.assertIn("tuning    Triton's benchmarks", page)
        self.assertRegex(page, r"Tuning %  Name\n")
        self.assertRegex(page, r" [89]\d\.\d  \[memset\]\n")
        self.assertRegex(page, r" -  \[memcpy DtoD\]\n")

    def test_who_compiles_is_named(self):
        gaps = [one for one in self.advice(self.record_program("--stacks", "all"))["findings"] if one["rule"] == "gpu-gaps"]
        self.assertEqual(len(gaps), 1, gaps)
        self.assertIn("CuPy was compiling or loading compiled code in it", gaps[0]["found"])
        self.assertIn("CUPY_CACHE_DIR", gaps[0]["change"])

    def test_without_stacks_nothing_is_said_of_it(self):
        trace = self.record_program("--stacks", "none", "--host-samples", "0")
        self.assertEqual(self.tables("tuning", trace)["tuning"], [])
        self.assertNotIn("Tuning %", self.run_gpuprof("summary", trace).stdout)
        self.assertIn("no operation is known to be of autotuning", self.summary("--by", "tuning", trace).stderr)
        gaps = [one for one in self.advice(trace)["findings"] if one["rule"] == "gpu-gaps"]
        self.assertEqual(len(gaps), 1, gaps)
        self.assertNotIn("compil", gaps[0]["found"])
        self.assertIn("py-spy record", gaps[0]["change"])

    def test_looks_need_no_stacks_of_calls(self):
        gaps = [one for one in self.advice(self.record_program("--stacks", "none", "--host-samples", "5"))["findings"] if one["rule"] == "gpu-gaps"]
        self.assertEqual(len(gaps), 1, gaps)
        self.assertIn("meanwhile the host was compiling (CuPy) at compile_using_nvrtc (compiler.py:", gaps[0]["found"])


if __name__ == "__main__":
    support.main()
