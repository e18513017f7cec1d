"""Facts about a program from its Chrome trace, and their comparison with the program's own output.

A program prints what it did as "name count" lines.  These names are compared with the trace:

    kernel.NAME N               kernels whose name has NAME as a word
    kernel.NAME.ATTRIBUTE N     the common value of an attribute: blocks or threads or cluster (the
                                product of three), dynamic_shared, cooperative
    call.NAME N                 API calls of that name
    call.failed N               API calls that returned an error
    launches N                  successful calls that launch one kernel, including captured ones
    graph.launches N            launches of graphs
    copies N                    copies of every kind
    copy.KIND N                 copies, KIND is htod, dtoh, dtod, htoh, ptop, htoa, atoh
    copy.KIND.pinned N          of these, copies from or to pinned memory; pageable likewise
    copy.KIND.bytes N           their bytes in total
    copy.KIND.bytes.B N         copies of B bytes
    sets N, set.bytes N         memsets, their bytes
    device.allocated.bytes N    allocated bytes of device memory, including pools;
                                device.freed.bytes likewise
    leak.bytes N                bytes of device memory that were never freed
    memory.KIND.allocations N   allocations, KIND is a key of MEMORY_KINDS; allocated.bytes,
                                freed.bytes: their bytes

    range.NAME N                pushed or started ranges of that name; mark.NAME N: marks
    range.NAME.operations N     GPU operations that each of them started
    sync.KIND N                 recorded synchronizations, KIND is event, wait, stream, context
    graphs.whole N              launches of graphs that are recorded as a whole
    compilations N              pieces of code that the driver compiled

Other names are for the program's own use.
"""
import collections
import gzip
import json
import math
import re

CALLS = ("cuda_runtime", "cuda_driver")
LAUNCHES = ("cudaLaunchKernel", "cudaLaunchKernelExC", "cudaLaunchCooperativeKernel", "cuLaunchKernel",
            "cuLaunchKernelEx", "cuLaunchCooperativeKernel")
DEVICE_MEMORY = ("device", "device, from a pool")
MEMORY = (*DEVICE_MEMORY, "managed", "array", "physical", "pinned host", "registered host")
MEMORY_KINDS = {"device": "device", "pool": "device, from a pool", "managed": "managed", "pinned": "pinned host",
                "registered": "registered host", "array": "array", "physical": "physical", "ipc": "other process's"}
COPY_KINDS = ("htod", "dtoh", "dtod", "htoh", "ptop", "htoa", "atoh")
SYNC_KINDS = {"event": "Event Sync", "wait": "Stream Wait Event", "stream": "Stream Sync", "context": "Context Sync"}
KERNEL_ATTRIBUTES = {"blocks": "grid", "threads": "block", "cluster": "cluster", "dynamic_shared": "dynamic shared memory",
                     "cooperative": "cooperative"}
CONTEXT_ENDS = ("cudaDeviceReset", "cuDevicePrimaryCtxReset_v2", "cuCtxDestroy_v2")
GRAPH_LAUNCHES = ("cudaGraphLaunch", "cuGraphLaunch")
# The counts that cover prints for the nodes of its graphs. The nodes have no records if graphs are
# recorded as a whole.
NODES_OF_COVER = {"kernel.k_node", "kernel.k_child", "sets", "set.bytes", "copy.dtod.bytes", "copy.dtod.bytes.4096",
                  "copy.dtod.bytes.4104"}
FREES = ("Free", "Release", "Destroy", "Unregister", "IpcClose")


def product(value):
    return math.prod(value) if isinstance(value, list) else value


def is_free(name):
    return any(word in name for word in FREES)


class Facts:
    def __init__(self, path):
        with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
            trace = json.load(file)
        self.metadata = trace["metadata"]
        self.cupti_version = trace.get("cupti_version", 0)
        self.slices = collections.defaultdict(list)
        self.ranges, self.marks = [], []
        self.left = {}
        for event in trace["traceEvents"]:
            if event["ph"] == "X":
                self.slices[event["cat"]].append(event)
            if event["ph"] in "Xb" and event["cat"] == "user_annotation":
                self.ranges.append(event)
            elif event["ph"] == "i" and event["cat"] == "user_annotation":
                self.marks.append(event)
            elif event["ph"] == "C" and not event["name"].endswith("all processes"):
                self.left[event["name"], event["pid"]] = event["args"]

    @property
    def kernels(self):
        return self.slices["kernel"]

    @property
    def copies(self):
        return self.slices["gpu_memcpy"]

    @property
    def sets(self):
        return self.slices["gpu_memset"]

    @property
    def graphs(self):
        return self.slices["gpu_graph"]

    def records_whole_graphs(self):
        return self.option("GRAPHS") == "graph"

    def option(self, name):
        """The value of an option in the trace, or the empty text."""
        given = dict(word.split("=", 1) for word in self.metadata.get("options", "").split() if "=" in word)
        return given.get(name, "")

    def records_waits(self):
        return bool({"sync", "event"} & set(self.option("TRACE").split(",")))

    @property
    def calls(self):
        return [call for category in CALLS for call in self.slices[category]]

    def launches(self):
        return [call for call in self.calls if call["name"] in LAUNCHES]

    def copies_of(self, kind):
        return [copy for copy in self.copies if copy["name"].lower().startswith("memcpy " + kind + " ")]

    def memory_calls(self, freed, kinds=None):
        return [call for call in self.calls if call["args"].get("memory") in (kinds or MEMORY)
                and is_free(call["name"]) == freed]

    def memory_bytes(self, freed, kinds=None):
        return sum(call["args"]["bytes"] for call in self.memory_calls(freed, kinds))

    def left_bytes(self, kinds=None):
        return sum(value for counter in self.left.values() for kind, value in counter.items()
                   if kind in (kinds or MEMORY))

    def losses(self):
        """All losses that the trace itself reports."""
        quiet = ("slices left out", "partial", "start in ns", "end in ns")
        return {name: value for name, value in self.metadata.items()
                if isinstance(value, int) and name != "pid" and value != 0 and (name not in quiet or name == "partial")}

    def count(self, name):
        """The value in the trace for one of the names above; None for any other name."""
        words = name.split(".")
        if words[0] == "kernel":
            return self._count_kernels(*words[1:])
        if words[0] == "copy" and words[1:2] and words[1] in COPY_KINDS:
            return self._count_copies(words[1], words[2:])
        if words[0] == "memory" and words[1] in MEMORY_KINDS:
            return self._count_memory([MEMORY_KINDS[words[1]]], words[2])
        if words[0] in ("range", "mark") and words[1:]:
            return self._count_ranges(words[0], *words[1:])
        if name == "sync.context" and self.cupti_version < 130000:
            return None  # these versions do not record a wait by cuCtxSynchronize_v2
        if words[0] == "sync" and not self.records_waits():
            return None
        if words[0] == "sync" and words[1] in SYNC_KINDS:
            return sum(sync["name"] == SYNC_KINDS[words[1]] for sync in self.slices["cuda_sync"])
        if name.startswith("call.") and name != "call.failed":
            return sum(call["name"] == words[1] for call in self.calls)
        return self._count_simple(name)

    def _count_simple(self, name):
        simple = {"call.failed": lambda: sum("status" in call["args"] for call in self.calls),
                  "launches": lambda: sum("status" not in call["args"] for call in self.launches()),
                  "graph.launches": lambda: sum(call["name"] in GRAPH_LAUNCHES for call in self.calls),
                  "copies": lambda: len(self.copies),
                  "sets": lambda: len(self.sets),
                  "graphs.whole": lambda: len(self.slices["gpu_graph"]),
                  "compilations": lambda: sum(one["name"].startswith("compile") for one in self.slices["jit"]),
                  "set.bytes": lambda: sum(one["args"]["bytes"] for one in self.sets),
                  "device.allocated.bytes": lambda: self.memory_bytes(False, DEVICE_MEMORY),
                  "device.freed.bytes": lambda: self.memory_bytes(True, DEVICE_MEMORY),
                  "leak.bytes": lambda: self.left_bytes(DEVICE_MEMORY)}
        return simple[name]() if name in simple else None

    def _count_kernels(self, name, attribute=None):
        """The number of kernels with this name; or the common value of an attribute, or a text with
        the differing values.
        """
        kernels = [kernel for kernel in self.kernels if re.search(rf"\b{name}\b", kernel["name"])]
        if attribute is None:
            return len(kernels)
        values = {product(kernel["args"].get(KERNEL_ATTRIBUTES[attribute])) for kernel in kernels}
        return values.pop() if len(values) == 1 else f"has {sorted(values, key=str)}"

    def _count_ranges(self, kind, name, attribute=None):
        ranges = [one for one in (self.ranges if kind == "range" else self.marks) if one["name"] == name]
        if attribute is None:
            return len(ranges)
        values = {one["args"].get("GPU operations", 0) for one in ranges}
        return values.pop() if len(values) == 1 else f"has {sorted(values)}"

    def _count_memory(self, kinds, what):
        if what == "allocations":
            return len(self.memory_calls(False, kinds))
        return self.memory_bytes(what == "freed", kinds)

    def _count_copies(self, kind, rest):
        copies = self.copies_of(kind)
        sizes = [copy["args"]["bytes"] for copy in copies]
        if not rest:
            return len(sizes)
        if rest[0] != "bytes":
            return sum(rest[0] in copy["name"].lower() for copy in copies)
        return sizes.count(int(rest[1])) if len(rest) == 2 else sum(sizes)


def printed_counts(output):
    """The "name count" lines of a program's output."""
    lines = (line.split() for line in output.splitlines())
    return {words[0]: int(words[1]) for words in lines if len(words) == 2 and words[1].isdigit()}


def differences(facts, output, but=()):
    """A line for each disagreement between program and trace, and for each sum that is wrong in the
    trace. but: names, also of losses, that are not checked.
    """
    wrong = []
    for name, expected in printed_counts(output).items():
        found = None if name in but else facts.count(name)
        if found is not None and found != expected:
            wrong.append(f"{name}: {expected} in the program's output, {found} in the trace")
    wrong += [f"{name}: {value}" for name, value in facts.losses().items() if name not in but]
    if facts.records_whole_graphs() and len(facts.graphs) != facts.count("graph.launches"):
        wrong.append(f"{facts.count('graph.launches')} graph launches, but {len(facts.graphs)} whole graphs")
    balance = facts.memory_bytes(freed=False) - facts.memory_bytes(freed=True)
    # a device reset and the end of a context free memory without a call
    if balance != facts.left_bytes() and not any(call["name"] in CONTEXT_ENDS for call in facts.calls):
        wrong.append(f"allocated - freed = {balance}, but {facts.left_bytes()} bytes are left")
    return wrong
