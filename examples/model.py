#!/usr/bin/env python3
"""Train a model that waits for the GPU in each step: a program to profile from Python.

    python -m gpuprof run -o before examples/model.py

Its layers compute nothing. So it needs neither PyTorch nor a GPU: the driver may be the simulated
one of build/sim.
"""
import ctypes

import gpuprof

LAYERS, BATCH_BYTES = 12, 1 << 20
PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry layer() { ret; }
"""


class Model:
    """Twelve layers, on the first GPU."""

    def __init__(self) -> None:
        self._driver = ctypes.CDLL("libcuda.so.1")
        self._layer, self._memory = ctypes.c_void_p(), ctypes.c_uint64()
        context, module = ctypes.c_void_p(), ctypes.c_void_p()
        self._call("cuInit", 0)
        self._call("cuCtxCreate_v2", ctypes.byref(context), 0, 0)
        self._call("cuModuleLoadData", ctypes.byref(module), PTX)
        self._call("cuModuleGetFunction", ctypes.byref(self._layer), module, b"layer")
        self._call("cuMemAlloc_v2", ctypes.byref(self._memory), ctypes.c_size_t(BATCH_BYTES))

    def _call(self, name: str, *arguments: object) -> None:
        if getattr(self._driver, name)(*arguments) != 0:
            raise RuntimeError(f"{name} failed")

    def load(self) -> None:
        """Copy a batch to the GPU."""
        self._call("cuMemcpyHtoD_v2", self._memory, bytes(BATCH_BYTES),
                   ctypes.c_size_t(BATCH_BYTES))

    def forward(self) -> None:
        """Launch the layers."""
        for _ in range(LAYERS):
            self._call("cuLaunchKernel", self._layer, 1, 1, 1, 32, 1, 1, 0, None, None, None)

    def loss(self) -> int:
        """Copy the loss from the GPU, which waits for the layers."""
        value = ctypes.c_int()
        self._call("cuMemcpyDtoH_v2", ctypes.byref(value), self._memory, ctypes.c_size_t(4))
        return value.value


def train(model: Model, steps: int, loss_every: int = 1) -> None:
    """Train for some steps; every so often, read the loss."""
    for step in range(steps):
        with gpuprof.range("step"):
            with gpuprof.range("load"):
                model.load()
            with gpuprof.range("forward"):
                model.forward()
            if step % loss_every == 0:
                with gpuprof.range("loss"):
                    model.loss()


if __name__ == "__main__":
    train(Model(), 300)
