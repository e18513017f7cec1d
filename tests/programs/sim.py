#!/usr/bin/env python3
"""Allocations, copies, memsets and waits through ctypes on libcudart: CUDA without a compiler, and
no kernels.

Prints "name count" lines of what it did, like the other programs here.
"""
import ctypes
import sys

HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2
COUNT = 10
BYTES = 1 << 16

cuda = ctypes.CDLL("libcudart.so.13")


def check(result):
    if result:
        cuda.cudaGetErrorString.restype = ctypes.c_char_p
        sys.exit(f"sim.py: {cuda.cudaGetErrorString(result).decode()}")


def main():
    memory = ctypes.c_void_p()
    stream = ctypes.c_void_p()
    host = ctypes.create_string_buffer(BYTES)
    check(cuda.cudaStreamCreate(ctypes.byref(stream)))
    check(cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(BYTES)))
    for i in range(COUNT):
        check(cuda.cudaMemcpy(memory, host, ctypes.c_size_t(BYTES), HOST_TO_DEVICE))
        check(cuda.cudaMemsetAsync(memory, i, ctypes.c_size_t(BYTES // 2), stream))
        check(cuda.cudaStreamSynchronize(stream))
        check(cuda.cudaMemcpy(host, memory, ctypes.c_size_t(BYTES), DEVICE_TO_HOST))
    check(cuda.cudaDeviceSynchronize())
    check(cuda.cudaFree(memory))
    check(cuda.cudaStreamDestroy(stream))
    right = host[0] == bytes([COUNT - 1]) and host[BYTES // 2] == b"\0"
    print(f"bytes_are_right {int(right)}")
    print(f"copy.htod.bytes {COUNT * BYTES}")
    print(f"copy.dtoh.bytes {COUNT * BYTES}")
    print(f"set.bytes {COUNT * BYTES // 2}")


main()
