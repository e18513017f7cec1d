#!/usr/bin/env python3
"""A small program that uses the GPU through the driver API, as the tests need it.

    gpu.py [STEP...]      one after the other:

    launch=N       N launches of one kernel, then a synchronization
    reduce=N       N launches of a collective, each of which is waited for
    start=N        N launches, no synchronization
    iterate=N      N times a copy of 4096 bytes to the device and a launch
    sync           waits for the device          try_sync       does so, and prints what comes of it
    race=N         waits so in two threads: the first that is told ends the process by signal N
    unload         unloads the kernel's module   load=FILE      a library
    copy=N         N copies of 4096 bytes to the device
    leak=N         N allocations of 1024 bytes that are never freed
    say=TEXT       TEXT on standard output      complain=TEXT   on standard error
    status=FILE    a copy of /proc/self/status
    chdir=FOLDER   os.chdir                     touch=FILE      make an empty file
    pump           launches until standard input ends; how many so far is in the file "progress"
    handle=NAME    a handler of SIGNAME that prints send=NAME       SIGNAME to itself
    line           until a line comes on standard input
    wait           until standard input ends    exit=N          exit status N, through the exit handlers
    _exit=N        without the exit handlers    raise=N         end by signal N
    fork           a child that makes CUDA calls and exits with status 0

It prints what it did as "name count" lines.  Without launch, iterate, copy or leak it does not touch CUDA.
"""
import ctypes
import os
import select
import shutil
import signal
import sys
import threading

PTX = b""".version 7.0
.target sm_70
.address_size 64
.visible .entry step_kernel() { ret; }
.visible .entry ncclDevKernel_AllReduce_Sum_f32_RING_LL() { ret; }
"""


class Device:
    """The first device, with a context and one kernel; made at the first use."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.context, self.module, self.kernel = (ctypes.c_void_p() for _ in range(3))
        self.call("cuInit", 0)
        self.call("cuCtxCreate_v2", ctypes.byref(self.context), 0, 0)
        self.call("cuModuleLoadData", ctypes.byref(self.module), PTX)
        self.call("cuModuleGetFunction", ctypes.byref(self.kernel), self.module, b"step_kernel")

    def call(self, name, *arguments):
        status = getattr(self.cuda, name)(*arguments)
        if status:
            sys.exit(f"{name}: CUDA error {status}")

    def allocate(self, size):
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(size))
        return pointer

    def launch(self, times):
        for _ in range(times):
            self.call("cuLaunchKernel", self.kernel, 1, 1, 1, 32, 1, 1, 0, None, None, None)
        self.call("cuCtxSynchronize")
        print("launches", times, flush=True)

    def reduce(self, times):
        kernel = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(kernel), self.module, b"ncclDevKernel_AllReduce_Sum_f32_RING_LL")
        for _ in range(times):
            self.call("cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, None, None, None)
            self.call("cuCtxSynchronize")
        print("reductions", times, flush=True)

    def iterate(self, times):
        pointer, data = self.allocate(4096), bytes(4096)
        for _ in range(times):
            self.call("cuMemcpyHtoD_v2", pointer, data, ctypes.c_size_t(4096))
            self.call("cuLaunchKernel", self.kernel, 1, 1, 1, 32, 1, 1, 0, None, None, None)
        self.call("cuCtxSynchronize")
        print("iterations", times, flush=True)

    def start(self, times):
        for _ in range(times):
            self.call("cuLaunchKernel", self.kernel, 1, 1, 1, 32, 1, 1, 0, None, None, None)
        print("started", times, flush=True)

    def sync(self):
        self.call("cuCtxSynchronize")

    def try_sync(self):
        print("status", self.cuda.cuCtxSynchronize(), flush=True)

    def race(self, number):
        start = threading.Barrier(2)

        def wait():
            self.call("cuCtxSetCurrent", self.context)
            start.wait()
            self.cuda.cuCtxSynchronize()
            end_by(number)
        for thread in [threading.Thread(target=wait) for _ in range(2)]:
            thread.start()

    def unload(self):
        self.call("cuModuleUnload", self.module)

    def pump(self):
        times = 0
        while not select.select([sys.stdin], [], [], 0)[0]:
            for _ in range(1000):
                self.call("cuLaunchKernel", self.kernel, 1, 1, 1, 32, 1, 1, 0, None, None, None)
            self.call("cuCtxSynchronize")
            times += 1000
            with open("progress.new", "w", encoding="utf-8") as file:
                file.write(str(times))
            os.replace("progress.new", "progress")
        print("launches", times, flush=True)

    def copy(self, times):
        pointer, data = self.allocate(4096), bytes(4096)
        for _ in range(times):
            self.call("cuMemcpyHtoD_v2", pointer, data, ctypes.c_size_t(4096))
        self.call("cuMemFree_v2", pointer)
        print("copies", times, flush=True)

    def leak(self, times):
        for _ in range(times):
            self.allocate(1024)
        print("leak.bytes", 1024 * times, flush=True)

    def fork(self):
        pid = os.fork()
        if pid == 0:
            self.cuda.cuCtxSynchronize()
            sys.exit(0)
        print("child", os.waitpid(pid, 0)[1], flush=True)


def end_by(number):
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def handle(name):
    signal.signal(signal.Signals["SIG" + name], lambda number, frame: print("handled", name, flush=True))


HOST_STEPS = {
    "handle": handle,
    "send": lambda name: os.kill(os.getpid(), signal.Signals["SIG" + name]),
    "status": lambda name: shutil.copyfile("/proc/self/status", name),
    "say": lambda text: print(text, flush=True),
    "complain": lambda text: print(text, file=sys.stderr, flush=True),
    "chdir": os.chdir,
    "load": ctypes.CDLL,
    "touch": lambda name: open(name, "w").close(),
    "line": lambda _: sys.stdin.readline(),
    "wait": lambda _: sys.stdin.read(),
    "exit": lambda status: sys.exit(int(status)),
    "_exit": lambda status: os._exit(int(status)),
    "raise": lambda number: end_by(int(number)),
}


def main():
    device = None
    for step in sys.argv[1:]:
        name, _, value = step.partition("=")
        if name in HOST_STEPS:
            HOST_STEPS[name](value)
            continue
        device = device or Device()
        getattr(device, name)(*([int(value)] if value else []))


if __name__ == "__main__":
    main()
