"""gpuprof summary --by phase: the phases of a training on the simulated device, held against the times that it took
itself, and those of a program without a framework."""
import os
import subprocess
import sys
import unittest

import support
from support import ROOT
from tables_test import Tables

SIM = os.path.join(ROOT, "tests", "programs", "sim.py")
TRUTH = os.path.join(ROOT, "tests", "gpu", "phases_truth")

CUDA = """
import ctypes, time
cuda = ctypes.CDLL("libcudart.so.13")
memory, host = ctypes.c_void_p(), ctypes.create_string_buffer(1 << 16)
cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(1 << 16))
def repeat(count, call):
    for i in range(count):
        call()
        time.sleep(0.001 if i < count - 1 else 0)
def work(count):
    repeat(count, lambda: cuda.cudaMemset(memory, count, ctypes.c_size_t(1 << 12)))
def copy():
    repeat(4, lambda: cuda.cudaMemcpy(memory, host, ctypes.c_size_t(1 << 16), 1))
"""

# By the files of PyTorch that have functions of these phases.
LIBRARY = {
    "torch/utils/data/dataloader.py": "import time\ndef fetch(): time.sleep(0.02)\n",
    "torch/nn/functional.py": "import device\ndef gelu(): device.work(4)\n",
    "torch/_tensor.py": "import device\nclass Tensor:\n    def backward(self): device.work(6)\n",
    "torch/optim/adam.py": "import device, time\nclass Adam:\n"
                           "    def step(self):\n        device.work(8)\n        time.sleep(0.0003)\n",
    "device.py": CUDA,
}

TRAIN = """
import json, sys, time
sys.path.insert(0, "site-packages")
import device
import torch.utils.data.dataloader as data, torch.nn.functional as F, torch._tensor as tensor, torch.optim.adam as optim
windows = []
def phase(name, function):
    start = time.time_ns()
    function()
    windows.append((name, start, time.time_ns()))
def main():
    for step in range(20):
        phase("data loading", data.fetch)
        phase("host-to-device", device.copy)
        phase("forward", F.gelu)
        phase("backward", tensor.Tensor().backward)
        phase("optimizer", optim.Adam().step)
main()
json.dump(windows, open("windows.json", "w"))
"""


class Phases(Tables):

    def write(self, path, text):
        os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
        with open(self.path(path), "w", encoding="utf-8") as file:
            file.write(text)

    def record_python(self, program):
        done = self.run_program([sys.executable, program], options=(
            "--stacks=all", "--host-samples=2", "-o", "run", "--chrome", "none", "--summary", "none"))
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path("run.gpuprof")

    def test_a_training_is_divided_as_it_was(self):
        for path, text in LIBRARY.items():
            self.write(os.path.join("site-packages", path), text)
        self.write("train.py", TRAIN)
        trace = self.record_python("train.py")
        truth = subprocess.run([sys.executable, TRUTH, "--percent=10", support.GPUPROF, trace, self.path("windows.json")],
                               capture_output=True, text=True, check=False)
        self.assertEqual(truth.returncode, 0, truth.stdout)
        tables = self.tables("phase,iteration", trace)
        rows = {row["Phase"]: row for row in tables["phase"] if row["Phase"] != "other"}
        self.assertEqual(set(rows), {"data loading", "host-to-device", "forward", "backward", "optimizer"}, rows)
        self.assertGreaterEqual(len(tables["iteration"]), 18)
        self.assertEqual(rows["forward"]["Steps"], len(tables["iteration"]))
        self.assertEqual(rows["data loading"]["Ops"], 0)

    def test_other_programs_have_lines(self):
        rows = self.tables("phase", self.record_python(SIM))["phase"]
        self.assertEqual({(row["Phase"], row["Ops"], row["Steps"]) for row in rows},
                         {("main (sim.py:30)", 10, 10), ("main (sim.py:31)", 10, 10),
                          ("main (sim.py:32)", 0, 10), ("main (sim.py:33)", 10, 10)})


if __name__ == "__main__":
    unittest.main()
