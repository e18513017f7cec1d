"""Triton kernels under Proton, which is a CUPTI client with its own libcupti: its counts are the
same whether or not another profiler records.

Runs several sessions; prints the number of kernels in the scope that Proton reports for each.
"""
import json
import os
import tempfile

import torch
import triton
import triton.language as tl
import triton.profiler as proton

LAUNCHES = 100
SESSIONS = 3


@triton.jit
def gpuprof_proton(pointer, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(pointer + offsets, tl.load(pointer + offsets) + 1)


def count(node, name):
    """How often it says that kernels of that name ran, in this frame and those below it."""
    own = node["metrics"].get("count", 0) if node["frame"]["name"] == name else 0
    return own + sum(count(child, name) for child in node.get("children", []))


x = torch.zeros(256, device="cuda")
gpuprof_proton[(1,)](x, BLOCK=256)
with tempfile.TemporaryDirectory() as folder:
    for number in range(SESSIONS):
        path = os.path.join(folder, f"session{number}")
        proton.start(path, backend="cupti", context="shadow")
        with proton.scope("launches"):
            for _ in range(LAUNCHES):
                gpuprof_proton[(1,)](x, BLOCK=256)
        torch.cuda.synchronize()
        proton.finalize()
        with open(path + ".hatchet", encoding="utf-8") as file:
            roots = json.load(file)
        print(f"session {number + 1}: gpuprof_proton", sum(count(root, "gpuprof_proton") for root in roots if "frame" in root))
        gpuprof_proton[(1,)](x, BLOCK=256)
torch.cuda.synchronize()
print("kernel.gpuprof_proton", 1 + SESSIONS * (LAUNCHES + 1))
print("value", float(x[0]))
