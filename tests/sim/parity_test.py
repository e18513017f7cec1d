#!/usr/bin/env python3
"""Compare the simulated device with recordings of a real one, call by call and field by field.

    parity_test.py                      run zoo on the simulated device under each CUPTI version
                                        that tests/data/cupti has, and compare
    parity_test.py RECORDING RECORDING  compare two recordings (of tests/sim/recorder.c), the first
                                        one simulated

A difference fails unless the tables below give a reason for it.  Addresses and times, and
everything that depends on them, are not compared.
"""
import os
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("O", os.path.join(ROOT, "build")))
DATA = os.path.join(ROOT, "tests", "data", "cupti")

# recording -> environment of the simulated device
VERSIONS = {
    "11.8": {"GPUSIM_CUPTI_VERSION": "18", "GPUSIM_FAULT": "stuck-correlation", "GPUSIM_JIT_CACHE_WARM": "1"},
    "12.6": {"GPUSIM_CUPTI_VERSION": "26", "GPUSIM_JIT_CACHE_WARM": "1"},
    "12.9": {"GPUSIM_CUPTI_VERSION": "28", "GPUSIM_JIT_CACHE_WARM": "1"},
    "13.0": {"GPUSIM_CUPTI_VERSION": "130001", "GPUSIM_JIT_CACHE_WARM": "1"},
}

# kind -> name, and its fields: (offset, format, name)
KINDS = {
    1: ("MEMCPY", [(4, "B", "copyKind"), (5, "B", "srcKind"), (6, "B", "dstKind"), (7, "B", "flags"),
                   (8, "Q", "bytes"), (32, "I", "device"), (36, "I", "context"), (40, "I", "stream"),
                   (44, "I", "correlation"), (64, "Q", "graphNode"), (72, "I", "graph"), (76, "I", "channel"),
                   (80, "I", "channelType"), (88, "Q", "copyCount")]),
    2: ("MEMSET", [(4, "I", "value"), (8, "Q", "bytes"), (32, "I", "device"), (36, "I", "context"),
                   (40, "I", "stream"), (44, "I", "correlation"), (48, "H", "flags"), (50, "H", "memoryKind"),
                   (64, "Q", "graphNode"), (72, "I", "graph"), (76, "I", "channel"), (80, "I", "channelType")]),
    4: ("DRIVER", [(4, "I", "cbid"), (32, "I", "correlation"), (36, "I", "result")]),
    5: ("RUNTIME", [(4, "I", "cbid"), (32, "I", "correlation"), (36, "I", "result")]),
    8: ("DEVICE", [(8, "Q", "bandwidth"), (24, "I", "constants"), (28, "I", "l2"), (32, "I", "warp"),
                   (36, "I", "clock"), (44, "I", "multiprocessors"), (84, "I", "gridX"), (112, "I", "id")]),
    9: ("CONTEXT", [(4, "I", "context"), (8, "I", "device"), (12, "H", "api"), (14, "H", "nullStream")]),
    10: ("KERNEL", [(6, "H", "registers"), (40, "I", "device"), (44, "I", "context"), (48, "I", "stream"),
                    (52, "3i", "grid"), (64, "3i", "block"), (76, "i", "staticShared"), (80, "i", "dynamicShared"),
                    (84, "I", "localPerThread"), (88, "I", "localTotal"), (92, "I", "correlation"),
                    (96, "q", "gridId"), (136, "B", "launchType"), (140, "I", "sharedExecuted"),
                    (144, "Q", "graphNode"), (156, "I", "graph"), (168, "I", "channel"), (172, "I", "channelType"),
                    (176, "3I", "cluster"), (200, "2I", "clusterLimits"), (208, "B", "deviceLaunched")]),
    17: ("OVERHEAD", [(4, "I", "overheadKind"), (8, "I", "objectKind"), (40, "I", "correlation")]),
    36: ("CUDA_EVENT", [(4, "I", "correlation"), (8, "I", "context"), (12, "I", "stream"), (16, "I", "event")]),
    37: ("STREAM", [(4, "I", "context"), (8, "I", "stream"), (12, "i", "priority"), (16, "I", "flag"),
                    (20, "I", "correlation")]),
    38: ("SYNCHRONIZATION", [(4, "I", "type"), (24, "I", "correlation"), (28, "I", "context"), (32, "I", "stream"),
                             (36, "I", "event")]),
    49: ("MEMORY2", [(4, "I", "operation"), (8, "I", "memoryKind"), (12, "I", "correlation"), (24, "Q", "bytes"),
                     (52, "I", "device"), (56, "I", "context"), (60, "I", "stream"), (72, "I", "async"),
                     (80, "I", "poolType"), (104, "Q", "poolSize"), (112, "Q", "poolUsed")]),
    50: ("MEMORY_POOL", [(4, "I", "operation"), (8, "I", "poolType"), (12, "I", "correlation"), (20, "I", "device")]),
    52: ("JIT", [(4, "I", "entry"), (8, "I", "operation"), (12, "I", "device"), (32, "I", "correlation"), (40, "Q", "operationId"),
               (48, "Q", "cacheSize")]),
}

# (kind, field) -> why the simulated device differs; field None: the kind as a whole
EXPECTED = {
    ("MEMCPY", "channel"): "channel numbers are made up",
    ("MEMCPY", "channelType"): "small copies use the compute channel or the copy engine by unknown rules",
    ("MEMSET", "channel"): "channel numbers are made up",
    ("KERNEL", "channel"): "channel numbers are made up",
    ("KERNEL", "gridId"): "the driver's own launches for copies and memsets take grid ids",
    ("KERNEL", "registers"): "compiled code is not read",
    ("KERNEL", "localTotal"): "compiled code is not read",
    ("KERNEL", "cluster"): "compiled code is not read: the size is a compile-time attribute of k_cluster",
    ("KERNEL", "clusterLimits"): "compiled code is not read",
    ("MEMORY2", "device"): "versions before 12.9 give a mapping's record the device 0x7fffffff",
}

# A callback that a version delivers although it does not know its id. No client can have requested
# it.
UNKNOWN_CALL = "?"


class Recording:
    def __init__(self, path):
        self.callbacks = []
        offsets = []
        with open(path + ".txt", encoding="utf-8") as file:
            for line in file:
                words = line.split()
                if words[0] == "cb" and words[2] != UNKNOWN_CALL:
                    # domain, name, site, correlation id, context, symbol, result
                    self.callbacks.append(tuple(words[i] for i in (1, 2, 3, 5, 9, 13, 15)))
                elif words[0] == "rec":
                    offsets.append((int(words[1]), int(words[2][1:])))
        self.records = list(self.split(self.buffers(path + ".buf"), offsets))

    @staticmethod
    def buffers(path):
        with open(path, "rb") as file:
            data = file.read()
        at, found = 0, []
        while at < len(data):
            _, valid = struct.unpack_from("<2Q", data, at)
            if valid:
                found.append(data[at + 32:at + 32 + valid])
            at += 32 + valid
        return found

    @staticmethod
    def split(buffers, offsets):
        which, starts = -1, []
        for kind, at in offsets:
            which += at == 0
            starts.append((which, kind, at))
        for this, after in zip(starts, starts[1:] + [(None, 0, 0)]):
            buffer = buffers[this[0]]
            end = after[2] if after[0] == this[0] else len(buffer)
            yield this[1], buffer[this[2]:end]

    def of_kind(self, kind):
        return [record for k, record in self.records if k == kind]


def compare_callbacks(simulated, real):
    for i, (a, b) in enumerate(zip(simulated.callbacks, real.callbacks)):
        if a != b:
            yield "callbacks", None, f"callback {i}: {' '.join(a)} / {' '.join(b)}"
            return
    if len(simulated.callbacks) != len(real.callbacks):
        yield "callbacks", None, f"{len(simulated.callbacks)} / {len(real.callbacks)} callbacks"


def field_differences(name, fields, i, a, b):
    if len(a) != len(b):
        yield name, "size", f"record {i}: {len(a)} / {len(b)} bytes"
        return
    for offset, form, field in fields:
        if offset + struct.calcsize("<" + form) <= len(a):
            x, y = struct.unpack_from("<" + form, a, offset), struct.unpack_from("<" + form, b, offset)
            if x != y:
                yield name, field, f"record {i}: {x} / {y}"


def compare_records(simulated, real):
    for kind, (name, fields) in KINDS.items():
        a, b = simulated.of_kind(kind), real.of_kind(kind)
        if len(a) != len(b):
            yield name, None, f"{len(a)} / {len(b)} records"
        for i, (x, y) in enumerate(zip(a, b)):
            yield from field_differences(name, fields, i, x, y)


def compare(title, simulated, real):
    """Print the differences without an entry in EXPECTED; return their number."""
    bad = 0
    excused = set()
    for name, field, what in [*compare_callbacks(simulated, real), *compare_records(simulated, real)]:
        if (name, field) in EXPECTED:
            excused.add((name, field))
            continue
        bad += 1
        print(f"{title}: {name} {field or ''}: simulated / real: {what}")
    print(f"{title}: {len(simulated.callbacks)} callbacks, {len(simulated.records)} records, "
          f"{bad} differences, {len(excused)} fields differ as expected")
    return bad


def record(program, out, environment):
    full = dict(os.environ, LD_LIBRARY_PATH=os.path.join(BUILD, "sim"), RECORDER_OUT=out,
                CUDA_INJECTION64_PATH=os.path.join(BUILD, "tests", "sim", "recorder.so"), **environment)
    return subprocess.run([program], env=full, check=True, stdout=subprocess.PIPE, text=True).stdout


def main():
    if len(sys.argv) == 3:
        return compare("recordings", Recording(sys.argv[1]), Recording(sys.argv[2])) != 0
    zoo = os.path.join(BUILD, "programs", "zoo")
    if not os.path.exists(zoo):
        print("skipped: no nvcc to build a program to record")
        return 77
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for version, environment in VERSIONS.items():
            out = os.path.join(folder, version)
            record(zoo, out, environment)
            bad += compare(version, Recording(out), Recording(os.path.join(DATA, version)))
    return bad != 0


sys.exit(main())
