#!/usr/bin/env python3
"""Allocations through ctypes on libcudart whose call sites are known by the comments at the ends of the lines."""
import ctypes
import sys

cuda = ctypes.CDLL("libcudart.so.13")


def check(result):
    if result:
        sys.exit(f"CUDA error {result}")


def allocate(size):
    pointer = ctypes.c_void_p()
    check(cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)))  # allocate
    return pointer


class Model:
    def __init__(self):
        self.weights = allocate(1 << 20)  # weights

    def step(self):
        scratch = allocate(4096)  # scratch
        check(cuda.cudaFree(scratch))


def main():
    check(cuda.cudaFree(None))
    model = Model()
    for _ in range(10):
        model.step()  # step


main()
