"""
The figures of HolisticTraceAnalysis, computed from a Kineto trace by the published definitions (its
documentation, "Analyses").

For tests: plain lists, times in whole ns (HolisticTraceAnalysis rounds to us unless
HTA_DISABLE_NS_ROUNDING is set).
"""
import collections
import decimal
import gzip
import json
import re
import statistics

GPU = ("kernel", "gpu_memcpy", "gpu_memset")
LAUNCHES = ("cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync", "cudaMemsetAsync")
DRIVER_LAUNCHES = ("cuLaunchKernel", "cuLaunchKernelEx")
STEP_NS = 30  # a longer gap between launched kernels is not a "kernel wait"

Event = collections.namedtuple("Event", "name cat start end stream correlation bytes thread")


def nanoseconds(microseconds):
    return int(decimal.Decimal(microseconds) * 1000)


def events(path):
    opened = gzip.open(path) if path.endswith(".gz") else open(path, "rb")
    with opened as file:
        found = json.load(file, parse_float=decimal.Decimal)["traceEvents"]
    for event in found:
        if "dur" in event and "cat" in event:
            args = event.get("args", {})
            start = nanoseconds(event["ts"])
            yield Event(event["name"], event["cat"], start, start + nanoseconds(event["dur"]),
                        int(args.get("stream", -1)), int(args.get("correlation", -1)), int(args.get("bytes", 0)), event["tid"])


def kind(name):
    if re.match(r"nccl|.*ncclKernel", name):
        return "communication"
    return "memory" if re.match(r"Memcpy|Memset", name) else "computation"


def union(spans):
    """The union of spans, as disjoint spans in order."""
    merged = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def length(spans):
    return sum(end - start for start, end in spans)


def common(first, second):
    """Duration of the intersection of two unions."""
    total, i, k = 0, 0, 0
    while i < len(first) and k < len(second):
        total += max(0, min(first[i][1], second[k][1]) - max(first[i][0], second[k][0]))
        if first[i][1] < second[k][1]:
            i += 1
        else:
            k += 1
    return total


class Trace:

    def __init__(self, path):
        found = list(events(path))
        self.gpu = sorted((event for event in found if event.cat in GPU), key=lambda event: event.start)
        self.operators = sorted((event for event in found if event.cat == "cpu_op"), key=lambda event: event.start)
        self.calls = {event.correlation: event for event in found
                      if event.cat in ("cuda_runtime", "cuda_driver") and event.name in LAUNCHES + DRIVER_LAUNCHES}

    def spans(self, *kinds):
        return union((event.start, event.end) for event in self.gpu if kind(event.name) in kinds)

    def temporal_breakdown(self):
        """Times from the start of the first kernel to the end of the last: idle, computing, the
        rest.
        """
        busy = self.spans("computation", "communication", "memory")
        total, compute = busy[-1][1] - busy[0][0], length(self.spans("computation"))
        idle = total - length(busy)
        return {"kernel": total, "idle": idle, "compute": compute, "non-compute": total - compute - idle}

    def kernel_types(self):
        """Time with kernels of each type, and with both types."""
        compute, communication = self.spans("computation"), self.spans("communication")
        both = common(compute, communication)
        return {"computation": length(compute) - both, "communication": length(communication) - both, "both": both}

    def overlap(self):
        """The share of communication time that overlaps with computation."""
        communication = self.spans("communication")
        return common(communication, self.spans("computation")) / length(communication) if communication else None

    def kernels(self):
        """{kernel name: sum, max, min, mean}"""
        found = collections.defaultdict(list)
        for event in self.gpu:
            if event.cat == "kernel":
                found[event.name].append(event.end - event.start)
        return {name: (sum(times), max(times), min(times), statistics.mean(times)) for name, times in found.items()}

    def streams(self):
        found = collections.defaultdict(list)
        for event in self.gpu:
            found[event.stream].append(event)
        return found

    def idle_breakdown(self):
        """{stream: idle time between kernels, by cause: host, launching, other}"""
        found = {}
        for stream, row in self.streams().items():
            idle = {"host": 0, "kernel": 0, "other": 0}
            for before, event in zip(row, row[1:]):
                call, gap = self.calls.get(event.correlation), event.start - before.end
                if call and call.start > before.end:
                    idle["host"] += gap
                else:
                    idle["kernel" if gap < STEP_NS else "other"] += gap
            found[stream] = idle
        return found

    def queue_lengths(self):
        """{stream: queue length at each change}"""
        found = {}
        for stream, row in self.streams().items():
            row = [event for event in row if event.correlation in self.calls]
            changes = sorted([(self.calls[event.correlation].start, 0, 1) for event in row] +
                             [(event.start, 1, -1) for event in row])
            lengths, now = [], 0
            for time, _, change in changes:
                now += change
                lengths.append((time, now))
            found[stream] = lengths
        return found

    def blocked(self, most):
        """{stream: time with a queue of at least this length}"""
        return {stream: sum(after[0] - at[0] for at, after in zip(row, row[1:]) if at[1] >= most)
                for stream, row in self.queue_lengths().items()}

    def operator_launches(self):
        """By operator and its launched kernels, for operators without inner ones: the count, and
        the average times from the operator's start to the first call, and from there to the
        kernel.
        """
        rows = {}
        for kernel in sorted((event for event in self.gpu if event.cat == "kernel" and event.correlation in self.calls),
                             key=lambda event: self.calls[event.correlation].start):
            call = self.calls[kernel.correlation]
            around = [operator for operator in self.operators if operator.start <= call.start and operator.end >= call.end]
            if around:
                rows.setdefault((around[-1].name, around[-1].start), []).append((call.start, kernel))
        found = collections.defaultdict(list)
        for (name, start), launched in rows.items():
            found[(name, len(launched))].append((launched[0][0] - start, launched[0][1].start - launched[0][0]))
        return {key: (len(delays), statistics.mean(delay for delay, _ in delays), statistics.mean(delay for _, delay in delays))
                for key, delays in found.items()}

    def operator_sequences(self):
        """By operator and number of launched kernels, for at least two kernels, with inner
        operators: count, time, own time.
        """
        launched = sorted(((self.calls[kernel.correlation], kernel) for kernel in self.gpu
                           if kernel.cat == "kernel" and kernel.correlation in self.calls), key=lambda launch: launch[0].start)
        found = collections.defaultdict(lambda: [0, 0, 0, set()])
        for operator in self.operators:
            kernels = [kernel for call, kernel in launched
                       if call.thread == operator.thread and operator.start <= call.start <= operator.end]
            if len(kernels) > 1:
                row = found[operator.name, len(kernels)]
                row[0] += 1
                row[1] += sum(kernel.end - kernel.start for kernel in kernels)
                row[2] += operator.end - operator.start
                row[3].add(tuple(kernel.name for kernel in kernels))
        return found

    def bandwidth(self):
        """{direction of copies, or memsets: bandwidth in GB/s at each change}"""
        found = collections.defaultdict(list)
        for event in self.gpu:
            if kind(event.name) == "memory" and event.bytes and event.end > event.start:
                rate = event.bytes / (event.end - event.start)
                direction = event.name.split()[1] if event.cat == "gpu_memcpy" else "memset"
                found[direction] += [(event.start, 1, rate), (event.end, 0, -rate)]
        return {direction: [(time, sum(change for _, _, change in sorted(changes)[:i + 1]))
                            for i, (time, _, _) in enumerate(sorted(changes))] for direction, changes in found.items()}

    def launches(self, names):
        """(time in the call, kernel time, launch delay) of each kernel that these functions
        launched.
        """
        found = []
        for event in self.gpu:
            call = self.calls.get(event.correlation)
            if call and call.name in names:
                found.append((call.end - call.start, event.end - event.start, max(0, event.start - call.end)))
        return found
