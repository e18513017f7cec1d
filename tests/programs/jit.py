"""Allocate through code that is generated at run time and, like a JIT compiler's code, has its name
in a perf map.

jit.py named|unnamed
"""
import ctypes
import mmap
import os
import sys

# sub rsp, 8; mov rax, rdi; mov rdi, rsi; mov rsi, rdx; call rax; add rsp, 8; ret
CODE = bytes.fromhex("4883ec08" "4889f8" "4889f7" "4889d6" "ffd0" "4883c408" "c3")

cuda = ctypes.CDLL("libcuda.so.1")
cuda.cuInit(0)
context = ctypes.c_void_p()
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)

memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
memory.write(CODE)
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
made = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)(address)
path = f"/tmp/perf-{os.getpid()}.map"
if sys.argv[1] == "named":
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{address:x} {len(CODE):x} made_at_run_time\n")


def allocate():
    pointer = ctypes.c_uint64()
    for _ in range(3):
        made(ctypes.cast(cuda.cuMemAlloc_v2, ctypes.c_void_p), ctypes.byref(pointer), 4096)


allocate()
print(path)
