#!/usr/bin/env python3
"""Measure the cost of call stacks in a training step of PyTorch, on a machine with a GPU.

    bench/gpu_stacks.py [--build FOLDER] [--rounds N] [--processes N] [--nsys PROGRAM]
                        [--optimizer fused|foreach|each]

Prints three tables.  The first two are of a process under `gpuprof-run --stacks=all`, and of one
with default options, which samples the stacks of launches.  It alternates between blocks of steps:
paused, recording without stacks, recording with a native and Python stack at every call, or at
those that are sampled.  The third one is of whole processes: bare, gpuprof with default options,
without stacks of launches (`--stacks=alloc`), and with all stacks, and nsys without stacks if it is
installed.  Values are medians over
the rounds, in ms per step and us per launch.  The last lines are the ratios of gpuprof's added time
to nsys's.  Each process's time is printed when it ends.
"""
import argparse
import ctypes
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import recording

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS = 5
TURNS = 5
STACKS_WORD = 28  # offset of `stacks` in struct gp_process_state; collector/process_state.c asserts it


# ---- the step ----

def make_step(optimizer, compiled=False):
    """A transformer of six layers, so small that the CPU limits the time of a step."""
    import torch
    model = torch.nn.TransformerEncoder(
        torch.nn.TransformerEncoderLayer(256, 4, 512, dropout=0.0, batch_first=True), 6).cuda()
    if compiled:
        for layer in model.layers:  # the layers are equal, so one is compiled
            layer.compile()
    kinds = {"fused": {"fused": True}, "foreach": {"foreach": True}, "each": {"foreach": False}}
    adam = torch.optim.Adam(model.parameters(), lr=1e-4, **kinds[optimizer])
    batch = torch.randn(8, 64, 256, device="cuda")

    def step():
        adam.zero_grad(set_to_none=True)
        model(batch).square().mean().backward()
        adam.step()
    return step, torch.cuda.synchronize


def count_launches(step, synchronize):
    import torch
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        step()
        synchronize()
    return sum(1 for event in profile.events() if event.device_type == torch.autograd.DeviceType.CUDA)


def time_block(step, synchronize):
    """Milliseconds per step."""
    synchronize()
    start = time.perf_counter()
    for _ in range(STEPS):
        step()
    synchronize()
    return (time.perf_counter() - start) / STEPS * 1e3


# ---- in the process ----

def find_symbol(path, name):
    """The value of a symbol, also a hidden one, of a 64-bit ELF file."""
    with open(path, "rb") as file:
        elf = file.read()
    table, = struct.unpack_from("<Q", elf, 40)
    size, count = struct.unpack_from("<HH", elf, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", elf, table + i * size) for i in range(count)]
    for section in sections:
        if section[1] != 2:  # SHT_SYMTAB
            continue
        strings = sections[section[6]][4]
        for at in range(section[4], section[4] + section[5], 24):
            text, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", elf, at)
            end = elf.index(b"\0", strings + text)
            if elf[strings + text:end] == name.encode():
                return value
    sys.exit(f"{path} has no symbol {name}: is it stripped?")


def find_stacks_word():
    """The word of the preloaded library that enables call stacks."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        line = next(line for line in maps if line.rstrip().endswith("libgpuprof.so"))
    base = int(line.split("-")[0], 16)
    path = os.path.realpath(line.split()[-1])
    word = ctypes.c_uint32.from_address(base + find_symbol(path, "gp_process_state") + STACKS_WORD)
    if word.value != 1:
        sys.exit("this gpuprof captures no stacks")
    return word


def measure_inside(step, synchronize, rounds):
    library = ctypes.CDLL(None)
    stacks = find_stacks_word()

    def time_paused():
        library.gpuprof_v1_stop()
        time.sleep(0.5)  # gpuprof switches CUPTI off a little later
        return statistics.median(time_block(step, synchronize) for _ in range(TURNS))

    def time_recording():
        """Measure without and with stacks. Only the word changes in between: neighboring blocks run
        under the same conditions.
        """
        library.gpuprof_v1_start()
        time.sleep(0.1)
        found = {0: [], 1: []}
        for turn in range(2 * TURNS):
            stacks.value = turn % 2
            found[turn % 2].append(time_block(step, synchronize))
        return statistics.median(found[0]), statistics.median(found[1])

    times = {"paused": [], "no stacks": [], "stacks": []}
    for _ in range(rounds):
        times["paused"].append(time_paused())
        without, with_stacks = time_recording()
        times["no stacks"].append(without)
        times["stacks"].append(with_stacks)
    return times


def child(mode, optimizer, rounds, out):
    step, synchronize = make_step(optimizer)
    for _ in range(40):
        step()
    if mode == "count":
        result = count_launches(step, synchronize)
    elif mode == "inside":
        result = measure_inside(step, synchronize, rounds)
    else:
        result = statistics.median(time_block(step, synchronize) for _ in range(20))
    with open(out, "w", encoding="utf-8") as file:
        json.dump(result, file)


# ---- processes ----

def run(prefix, mode, options):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "result")
        command = [part.replace("FOLDER", folder) for part in prefix]
        command += [sys.executable, os.path.abspath(__file__), "--child", mode, "--out", out, "--rounds",
                    str(options.rounds), "--optimizer", options.optimizer]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if not os.path.exists(out):
            sys.exit(f"{' '.join(command)}\n{done.stdout.decode('utf-8', 'replace')[-2000:]}")
        with open(out, encoding="utf-8") as file:
            return json.load(file)


def print_table(title, times, base, launches):
    """Print differences within rounds, not differences of medians."""
    print(f"\n{title}\n{'':<26}{'ms/step':>10}{'added':>9}{'lowest':>9}{'highest':>9}{'us/launch':>13}")
    added = {}
    for name, values in times.items():
        differences = [value - other for value, other in zip(values, times[base])]
        added[name] = statistics.median(differences)
        print(f"{name:<26}{statistics.median(values):10.3f}{added[name]:9.3f}{min(differences):9.3f}"
              f"{max(differences):9.3f}{added[name] * 1e3 / launches:13.3f}", flush=True)
    return added


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    arguments.add_argument("--build", default=os.path.join(os.path.dirname(HERE), "build"))
    arguments.add_argument("--rounds", type=int, default=9)
    arguments.add_argument("--processes", type=int, help="number of each kind; default: a third of the rounds, at least 3")
    arguments.add_argument("--nsys", default=recording.find_nsys(), help="path of nsys, if it is not found")
    arguments.add_argument("--optimizer", choices=("fused", "foreach", "each"), default="each")
    arguments.add_argument("--child", help=argparse.SUPPRESS)
    arguments.add_argument("--out", help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.child:
        child(options.child, options.optimizer, options.rounds, options.out)
        return
    gpuprof = [os.path.join(os.path.abspath(options.build), "gpuprof-run"), "--quiet", "--chrome", "none", "-o", "FOLDER/trace"]
    all_stacks = [*gpuprof, "--stacks=all"]
    launches = run([], "count", options)
    print(f"Python {sys.version.split()[0]}, optimizer {options.optimizer}: {launches} operations per step", flush=True)
    for title, prefix in (("--stacks=all", all_stacks), ("default options", gpuprof)):
        inside = run(prefix, "inside", options)
        print_table(f"one process, {title}, gpuprof on and off:", inside, "paused", launches)
        print_table("the same blocks, time added by stacks:", {name: inside[name] for name in ("no stacks", "stacks")},
                    "no stacks", launches)

    prefixes = {"bare": [], "gpuprof": gpuprof, "gpuprof, --stacks=alloc": [*gpuprof, "--stacks=alloc"],
                "gpuprof, all stacks": all_stacks}
    if options.nsys:
        prefixes["nsys, no stacks"] = recording.nsys_command(options.nsys, "FOLDER/nsys")
    times = {name: [] for name in prefixes}
    for _ in range(options.processes or max(3, options.rounds // 3)):
        for name, prefix in prefixes.items():
            times[name].append(run(prefix, "plain", options))
            print(f"a process, {name}: {times[name][-1]:.3f} ms per step", flush=True)
    added = print_table("separate processes:", times, "bare", launches)
    if not options.nsys:
        print("\nnsys is not installed: no ratios")
        return
    for name, wanted in (("gpuprof", 0.3), ("gpuprof, all stacks", 0.6)):
        rounds = [(ours - bare) / (nsys - bare) for ours, nsys, bare in zip(times[name], times["nsys, no stacks"], times["bare"])]
        print(f"\nratio of the added times, {name} to nsys without stacks: {added[name] / added['nsys, no stacks']:.2f}, "
              f"in the rounds {min(rounds):.2f} to {max(rounds):.2f} (goal: at most {wanted})")


if __name__ == "__main__":
    main()
