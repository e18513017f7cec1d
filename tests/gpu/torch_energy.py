"""Work whose energy NVML is asked for, too, by this program itself: for tests/gpu/energy.

Prints a JSON object: watts of the idle GPU, of matrix products and of additions; joules and number
of the steps, which are NVTX ranges; the share of the steps after which the power cap lowered the
clocks; by how much launch-bound steps are longer while the launcher samples.
"""
import ctypes
import glob
import json
import os
import signal
import statistics
import time

import torch

POWER_CAP = 4
nvml = ctypes.CDLL("libnvidia-ml.so.1")
gpu = ctypes.c_void_p()
assert nvml.nvmlInit_v2() == 0 and nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(gpu)) == 0


def joules():
    value = ctypes.c_ulonglong()
    assert nvml.nvmlDeviceGetTotalEnergyConsumption(gpu, ctypes.byref(value)) == 0
    return value.value / 1e3


def has_power_cap():
    value = ctypes.c_ulonglong()
    assert nvml.nvmlDeviceGetCurrentClocksThrottleReasons(gpu, ctypes.byref(value)) == 0
    return value.value & POWER_CAP != 0


def repeat(work, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for _ in range(20):
            work()
        torch.cuda.synchronize()


def watts(work, seconds):
    start, before = time.monotonic(), joules()
    work(seconds)
    return (joules() - before) / (time.monotonic() - start)


a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
x, y = (torch.randn(1 << 28, device="cuda") for _ in range(2))
product, total = torch.empty_like(a), torch.empty_like(x)
small = torch.zeros(1024, device="cuda")


def multiply():
    torch.matmul(a, b, out=product)


def add():
    torch.add(x, y, out=total)


repeat(multiply, 0.2)
found = {"idle_watts": watts(time.sleep, 1)}
for _ in range(5):
    repeat(multiply, 0.3)
    time.sleep(0.2)
    repeat(add, 0.3)
    time.sleep(0.2)
found["multiply_watts"] = watts(lambda seconds: repeat(multiply, seconds), 1)
time.sleep(0.3)
found["add_watts"] = watts(lambda seconds: repeat(add, seconds), 1)
time.sleep(0.3)

caps, before = 0, joules()
for step in range(50):
    with torch.cuda.nvtx.range(f"step {step}"):
        repeat(multiply, 0.08)
        caps += has_power_cap()
found.update(step_joules=(joules() - before) / 50, steps=50, cap_share=caps / 50)


def sampler():
    """The process of the launcher that samples; None: there is none."""
    for folder in glob.glob("/proc/[0-9]*"):
        try:
            with open(folder + "/stat", encoding="utf-8") as file:
                pid, name, _, parent = file.read().split()[:4]
        except OSError:
            continue
        if name == "(energy)" and int(parent) == os.getppid():
            return int(pid)
    return None


# while it is stopped and while it runs, alternating
times = {signal.SIGSTOP: [], signal.SIGCONT: []}
for block in range(20):
    number = (signal.SIGSTOP, signal.SIGCONT)[block % 2]
    os.kill(sampler(), number)
    for _ in range(30):
        start = time.monotonic()
        for _ in range(1000):
            small.add_(1)
        torch.cuda.synchronize()
        times[number].append(time.monotonic() - start)
for name, function in (("mean", statistics.mean), ("median", statistics.median)):
    found[name + "_cost"] = function(times[signal.SIGCONT]) / function(times[signal.SIGSTOP]) - 1
print(json.dumps(found))
