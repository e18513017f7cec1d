#!/usr/bin/env python3
"""For bench/gpu: repeat work in one process with a profiler alternately off and on, and write the
durations.

    gpu_child.py --tool TOOL --work WORK,... --out FILE [--rounds N] [--library liboverhead.so]

WORK: loops (of bench/overhead), eager, compiled (a training step of PyTorch), jax (a step of JAX).
FILE (JSON) is rewritten after each round: {row: {"unit": ..., "states": {state: [value, ...]}}}.
The first round of each work is discarded.
"""
import argparse
import ctypes
import json
import os
import statistics
import sys
import tempfile
import time

import gpu_stacks

# mode of bench/overhead: operations in a block (a multiple of 64 per thread), and the name of one
# operation
LOOPS = {"launch": (12288, "kernel launch"), "threads": (12288, "launch, 8 threads at once"),
         "threads16": (12288, "launch, 16 threads at once"), "copy": (12288, "asynchronous copy of 4 KiB"),
         "set": (12288, "memset"), "malloc": (6144, "`cudaMalloc` and `cudaFree`"),
         "malloc_async": (12288, "`cudaMallocAsync` and `cudaFreeAsync`"), "kernel": (1000, "a kernel, by the GPU's own clock"),
         "kernels": (1000, "a kernel, of 1000 in a row"), "graph": (768, "launch of a graph of 100 kernels"),
         "replay": (768, "replay of that graph, to its end")}
SLOW = {"torch", "proton"}  # they take long to export their records: measure a quarter of the operations
STEPS = 5
TURNS = 3
CUPTI_SWITCHES_S = 0.3  # gpuprof switches CUPTI off 0.2 s after a pause begins


# ---- profilers, switched on and off: states[0] is off ----

class Nothing:
    states = ("off",)

    def enter(self, state):
        pass


class Gpuprof:
    """The loaded library records by its options."""
    states = ("off", "on")

    def __init__(self):
        self.library = ctypes.CDLL(None)

    def enter(self, state):
        if state == "off":
            self.library.gpuprof_v1_stop()
            time.sleep(CUPTI_SWITCHES_S)
        else:
            self.library.gpuprof_v1_start()
            time.sleep(0.05)


class GpuprofStacks(Gpuprof):
    """Under --stacks=all: off, on without stacks, on with all stacks."""
    states = ("off", "on", "stacks")

    def __init__(self):
        super().__init__()
        self.word = gpu_stacks.find_stacks_word()

    def enter(self, state):
        super().enter(state)
        self.word.value = state == "stacks"


class Floor:
    states = ("off", "on")

    def __init__(self):
        self.library = ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"])

    def enter(self, state):
        (self.library.floor_stop if state == "off" else self.library.floor_start)()
        time.sleep(0.1)


class TorchProfiler:
    states = ("off", "on", "stacks")

    def __init__(self):
        self.profile = None

    def enter(self, state):
        import torch
        if self.profile:
            self.profile.stop()
            self.profile = None
        if state != "off":
            kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
            self.profile = torch.profiler.profile(activities=kinds, with_stack=state == "stacks")
            self.profile.start()


class InFolder:
    """A profiler that starts with a folder for its output, and stops."""
    states = ("off", "on")

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.is_on = False

    def enter(self, state):
        if self.is_on:
            self.end()
        self.is_on = state == "on"
        if self.is_on:
            self.begin()


class Proton(InFolder):
    def begin(self):
        from triton import profiler
        profiler.start(os.path.join(self.folder.name, "proton"), backend="cupti")

    def end(self):
        from triton import profiler
        profiler.finalize()


class JaxProfiler(InFolder):
    def begin(self):
        import jax
        jax.profiler.start_trace(self.folder.name)

    def end(self):
        import jax
        jax.profiler.stop_trace()


TOOLS = {"none": Nothing, "gpuprof": Gpuprof, "gpuprof-stacks": GpuprofStacks, "floor": Floor, "torch": TorchProfiler,
         "proton": Proton, "jax": JaxProfiler}


# ---- work: each gives a function that does it once and says {row: (value, unit)} ----

def make_loops(options):
    library = ctypes.CDLL(options.library)
    library.overhead_ns.restype = ctypes.c_double
    library.overhead_ns.argtypes = [ctypes.c_char_p, ctypes.c_long]

    share = 4 if options.tool in SLOW else 1

    def run():
        return {name: (library.overhead_ns(mode.encode(), count // share) / (count // share), "ns")
                for mode, (count, name) in LOOPS.items()}
    return run


def timed(name, block):
    def run():
        return {name: (statistics.median(block() for _ in range(TURNS)), "ms")}
    return run


def make_eager(_):
    step, synchronize = gpu_stacks.make_step("each")
    for _ in range(20):
        step()
    return timed("PyTorch step, eager", lambda: gpu_stacks.time_block(step, synchronize))


def make_compiled(_):
    step, synchronize = gpu_stacks.make_step("each", compiled=True)
    for _ in range(10):
        step()
    return timed("PyTorch step, compiled", lambda: gpu_stacks.time_block(step, synchronize))


def make_jax(_):
    import jax
    import jax.numpy as jnp

    def loss(weights, x):
        for first, second in weights:
            x = x + jax.nn.gelu(x @ first) @ second
            x = x / jnp.sqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-6)
        return jnp.square(x).mean()

    def train(weights, x):
        return jax.tree.map(lambda w, g: w - 1e-3 * g, weights, jax.grad(loss)(weights, x))
    train = jax.jit(train)
    weights = [(jnp.full((256, 1024), 0.01), jnp.full((1024, 256), 0.01)) for _ in range(6)]
    x = jnp.ones((512, 256))

    def block():
        nonlocal weights
        start = time.perf_counter()
        for _ in range(10 * STEPS):
            weights = train(weights, x)
        jax.block_until_ready(weights)
        return (time.perf_counter() - start) / (10 * STEPS) * 1e3
    block()
    return timed("JAX step", block)


WORKS = {"loops": make_loops, "eager": make_eager, "compiled": make_compiled, "jax": make_jax}


def write(path, rows):
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        json.dump(rows, file)
    os.rename(path + ".tmp", path)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--tool", choices=TOOLS, required=True)
    arguments.add_argument("--work", required=True)
    arguments.add_argument("--out", required=True)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--library")
    options = arguments.parse_args()
    rows, tool = {}, None
    for work in options.work.split(","):
        run = WORKS[work](options)
        run()  # CUDA and the libraries that are loaded with it are initialized
        tool = tool or TOOLS[options.tool]()
        for number in range(options.rounds + 1):
            for state in tool.states:
                tool.enter(state)
                for name, (value, unit) in run().items():
                    row = rows.setdefault(name, {"unit": unit, "states": {}})
                    if number:
                        row["states"].setdefault(state, []).append(value)
            tool.enter("off")
            write(options.out, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
