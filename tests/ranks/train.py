#!/usr/bin/env python3
"""A rank of a job on the simulated device: steps of a few kernels and one reduction, in which all ranks meet.

    train.py STEPS       RANK or a launcher's variable says which rank this is

LATE_HOST=RANK: it sleeps LATE_S seconds at the beginning of each step.  LATE_GPU=RANK: its kernels take LATE_S, all others
2 us.  KILLED=RANK: it ends by SIGKILL after its last step.
"""
import ctypes
import os
import signal
import sys
import time

RANK = int(next(os.environ[name] for name in ("RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID") if name in os.environ))
KERNELS = 3
PTX = b""".version 7.0
.target sm_70
.address_size 64
.visible .entry step_kernel() { ret; }
.visible .entry ncclDevKernel_AllReduce_Sum_f32_RING_LL() { ret; }
"""


def is_rank(name):
    return os.environ.get(name) == str(RANK)


def load_batch():
    if is_rank("LATE_HOST"):
        time.sleep(float(os.environ["LATE_S"]))


def main():
    os.environ["GPUSIM_NODE"] = str(RANK)  # a GPU of its own
    if is_rank("LATE_GPU"):
        os.environ["GPUSIM_KERNEL_NS"] = str(int(float(os.environ["LATE_S"]) * 1e9))
    cuda = ctypes.CDLL("libcuda.so.1")
    context, module, kernel, reduction = (ctypes.c_void_p() for _ in range(4))
    for status in (cuda.cuInit(0), cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0), cuda.cuModuleLoadData(ctypes.byref(module), PTX),
                   cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"step_kernel"),
                   cuda.cuModuleGetFunction(ctypes.byref(reduction), module, b"ncclDevKernel_AllReduce_Sum_f32_RING_LL")):
        if status:
            sys.exit(f"CUDA error {status}")

    def launch(function):
        cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, None, None)

    for _ in range(int(sys.argv[1])):
        load_batch()
        for _ in range(KERNELS):
            launch(kernel)
        launch(reduction)
        cuda.cuCtxSynchronize()
    if is_rank("KILLED"):
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
